//! Words and phrases in a line. Callers pass lower-case text, so that offsets stay those of the original.

/// Returns the offset of a phrase that stands between word boundaries.
pub(super) fn find(lower: &str, phrase: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = lower.get(from..)?.find(phrase) {
        let start = from + at;
        let end = start + phrase.len();
        let before = lower.get(..start).and_then(|text| text.bytes().next_back());
        let after = lower.as_bytes().get(end).copied();
        if !before.is_some_and(is_word_byte) && !after.is_some_and(is_word_byte) {
            return Some(start);
        }
        from = end.max(start + 1);
    }
    None
}

/// Returns true if a phrase stands in the text.
pub(super) fn has(lower: &str, phrase: &str) -> bool {
    find(lower, phrase).is_some()
}

/// Returns true if one of the phrases stands in the text.
pub(super) fn has_any(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| has(lower, phrase))
}

/// Returns true if the text begins with one of the phrases, as a whole word.
pub(super) fn begins(lower: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| strip(lower, phrase).is_some())
}

/// Returns what follows a phrase with which the text begins, as a whole word.
pub(super) fn strip<'t>(lower: &'t str, phrase: &str) -> Option<&'t str> {
    let rest = lower.strip_prefix(phrase)?;
    (!rest.bytes().next().is_some_and(is_word_byte)).then_some(rest)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the text without the marks of emphasis and code, with single spaces.
pub(super) fn tidy(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !matches!(c, '*' | '`')).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text at a number of characters, at a word if one ends near.
pub(super) fn cut(text: &str, characters: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(characters) else { return text.to_owned() };
    let head = text.get(..end).unwrap_or_default();
    let head = match head.rfind(' ') {
        Some(space) if space * 2 > end => head.get(..space).unwrap_or(head),
        _ => head,
    };
    format!("{}…", head.trim_end_matches([',', ';', ':', '-', '–', '—', ' ']))
}

/// Compares names as people count: numbers by value, letters whatever their case.
pub(super) fn natural(left: &str, right: &str) -> std::cmp::Ordering {
    let (mut one, mut two) = (left, right);
    loop {
        match (one.bytes().next(), two.bytes().next()) {
            (None, None) => return left.cmp(right),
            (None, Some(_)) => return std::cmp::Ordering::Less,
            (Some(_), None) => return std::cmp::Ordering::Greater,
            (Some(a), Some(b)) if a.is_ascii_digit() && b.is_ascii_digit() => {
                let (a, rest_one) = number(one);
                let (b, rest_two) = number(two);
                let order = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
                if order.is_ne() {
                    return order;
                }
                (one, two) = (rest_one, rest_two);
            }
            (Some(a), Some(b)) => {
                let order = a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase());
                if order.is_ne() {
                    return order;
                }
                let (width_one, width_two) = (first_width(one), first_width(two));
                one = one.get(width_one..).unwrap_or_default();
                two = two.get(width_two..).unwrap_or_default();
            }
        }
    }
}

fn first_width(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Splits off the digits at the start, without leading zeros.
fn number(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (digits.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_stands_between_word_boundaries() {
        assert!(has("then exit.", "exit"));
        assert!(!has("existing", "exit"));
        assert!(!has("on_exit", "exit"));
        assert!(has("退出exit吧", "exit"));
        assert_eq!(find("exits exit", "exit"), Some(6));
        assert!(begins("if a: b", &["when", "if"]) && !begins("iffy", &["if"]));
    }

    #[test]
    fn names_are_ordered_as_people_count() {
        let mut names = ["step-10-b", "step-2-a", "Step-01b", "step-1", "step-01"];
        names.sort_by(|one, two| natural(one, two));
        assert_eq!(names, ["step-01", "step-1", "Step-01b", "step-2-a", "step-10-b"]);
    }

    #[test]
    fn a_long_text_is_cut_at_a_word() {
        assert_eq!(cut("short", 10), "short");
        assert_eq!(cut("one two three four", 12), "one two…");
        assert_eq!(cut("ééééé", 3), "ééé…");
    }
}
