//! Wording that messages share: quoted values, likely misspellings, kinds of values.

use serde_json::Value as Json;

use crate::text::is_unsafe_char;

/// How many characters [`shown`] shows.
const SHOWN_CHARS: usize = 120;

/// Quotes a value for a message: escaped, and cut when it is long.
pub fn quoted(value: &str) -> String {
    const SHOWN: usize = 60;
    if value.chars().count() <= SHOWN {
        return format!("{value:?}");
    }
    let head: String = value.chars().take(SHOWN).collect();
    format!("{head:?}…")
}

/// Returns the candidate that `word` is most likely a misspelling of. For long lists there is
/// [`crate::diagnostic::Findings`], which limits the work.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Long words are not misspellings, and comparing them costs the product of their lengths.
    const LONGEST: usize = 128;
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    let length = lower.chars().count();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let other_length = other.chars().count();
            let allowed = length.max(other_length) / 3;
            // Two words differ by at least what one is longer than the other.
            (length.abs_diff(other_length) <= allowed).then_some(())?;
            let distance = strsim::osa_distance(&lower, &other);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Cuts a text to one line that can be printed anywhere.
pub fn shown(text: &str) -> String {
    let mut safe = text.trim().chars().map(|c| match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_unsafe_char(c) => '\u{fffd}',
        c => c,
    });
    let mut line: String = safe.by_ref().take(SHOWN_CHARS).collect();
    if safe.next().is_some() {
        line.push('…');
    }
    line
}

/// Names the kind of a JSON value, with its article.
pub fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_a_likely_misspelling_or_none() {
        assert_eq!(nearest("agnets", ["agents", "entry"]), Some("agents"));
        assert_eq!(nearest("AGENTS", ["agents"]), Some("agents"));
        assert_eq!(nearest("x", ["agents", "entry"]), None);
        assert_eq!(nearest(&"a".repeat(200), ["a"]), None);
    }
}
