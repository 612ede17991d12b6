//! Wording that messages share: quoted values, lists, single lines, likely misspellings, kinds of values.

use std::fmt::Display;

use serde_json::Value as Json;

use crate::text::is_unsafe_char;

/// Characters of a value that [`quoted`] shows.
const QUOTED_CHARS: usize = 60;
const LINE_CHARS: usize = 120;
/// Items that [`ticked`] and [`joined`] spell out.
const LISTED_ITEMS: usize = 20;

/// Quotes a value for a message: escaped, and cut when it is long.
pub fn quoted(value: &str) -> String {
    quoted_up_to(value, QUOTED_CHARS)
}

/// Quotes a value, and cuts it after this many characters.
pub fn quoted_up_to(value: &str, chars: usize) -> String {
    match value.char_indices().nth(chars) {
        Some((end, _)) => format!("{:?}…", &value[..end]),
        None => format!("{value:?}"),
    }
}

/// Cuts a text after this many characters, and marks the cut.
pub fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Writes blanks and line breaks as one blank each.
pub fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lists names in backticks: `a`, `b` and 3 more.
pub fn ticked<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    ticked_up_to(names, LISTED_ITEMS)
}

/// Lists at most this many names in backticks, and counts the others.
pub fn ticked_up_to<T: Display>(names: impl IntoIterator<Item = T>, most: usize) -> String {
    listed(names, most, |name| format!("`{name}`"))
}

/// Lists texts with commas between them, and counts those that are left out.
pub fn joined<T: Display>(texts: impl IntoIterator<Item = T>) -> String {
    joined_up_to(texts, LISTED_ITEMS)
}

/// Lists at most this many texts with commas between them, and counts the others.
pub fn joined_up_to<T: Display>(texts: impl IntoIterator<Item = T>, most: usize) -> String {
    listed(texts, most, |text| text.to_string())
}

/// Renders the items that are shown, and only counts the others: a list may be long, and may be shown often.
fn listed<T>(
    items: impl IntoIterator<Item = T>,
    most: usize,
    render: impl FnMut(T) -> String,
) -> String {
    let mut items = items.into_iter();
    let shown: Vec<String> = items.by_ref().take(most).map(render).collect();
    match items.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the candidate that `word` most likely misspells. For long lists use [`crate::diagnostic::Findings`], which
/// limits the work.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Long words are not misspellings, and a comparison costs the product of their lengths.
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
            // The distance of two words is at least the difference of their lengths.
            (length.abs_diff(other_length) <= allowed).then_some(())?;
            let distance = strsim::osa_distance(&lower, &other);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the end of a sentence that asks for the word that was probably meant; empty if none is like it.
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Returns true if a key is surely meant to be `key`: it differs in case and separators, or by a slip of the finger.
/// Short words are only the same or other words.
pub fn misspells(written: &str, key: &str) -> bool {
    const LONGEST: usize = 64;
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    if written.len() > LONGEST {
        return false;
    }
    let (written, key) = (plain(written), plain(key));
    let allowed = match written.chars().count().min(key.chars().count()) {
        0..5 => 0,
        5..10 => 1,
        _ => 2,
    };
    strsim::osa_distance(&written, &key) <= allowed
}

/// Counts the letters to insert, remove, replace or swap until one word is the other, for names that users typed.
pub fn distance(one: &str, other: &str) -> usize {
    strsim::damerau_levenshtein(one, other)
}

/// Returns the similarity of two words, from 0 to 1.
pub fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(one, other)
}

/// Cuts a text to one line that can be printed anywhere.
pub fn one_line(text: &str) -> String {
    let mut safe = text.trim().chars().map(|c| match c {
        '\n' | '\r' | '\t' => ' ',
        c if is_unsafe_char(c) => '\u{fffd}',
        c => c,
    });
    let mut line: String = safe.by_ref().take(LINE_CHARS).collect();
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

    #[test]
    fn a_key_is_misspelled_if_only_the_spelling_differs() {
        for (written, key) in [
            ("setVariables", "setsVariables"),
            ("sets_variables", "setsVariables"),
            ("triger", "trigger"),
            ("output", "outputs"),
            ("ide_only", "ide-only"),
        ] {
            assert!(misspells(written, key), "{written}");
        }
        for (written, key) in
            [("mode", "model"), ("data", "date"), ("agent", "agentId"), ("name", "title")]
        {
            assert!(!misspells(written, key), "{written}");
        }
    }

    #[test]
    fn long_lists_are_cut_and_counted() {
        assert_eq!(ticked(["a", "b"]), "`a`, `b`");
        let many: Vec<usize> = (0..25).collect();
        assert!(ticked(&many).ends_with("`19` and 5 more"));
        assert_eq!(ticked([""; 0]), "");
    }

    #[test]
    fn long_texts_are_cut_at_whole_characters() {
        assert_eq!(cut("größe", 3), "grö…");
        assert_eq!(cut("größe", 5), "größe");
        assert_eq!(quoted_up_to("a\nb", 2), "\"a\\n\"…");
        assert_eq!(one_line(" a\nb\u{1b} "), "a b\u{fffd}");
        assert_eq!(single_spaced(" a \n\t b "), "a b");
    }
}
