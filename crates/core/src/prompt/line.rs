//! Hostile texts in a prompt: kept on one line, cut at a cap, listed up to a cap.

use std::fmt::Write as _;

use crewagent_format::text::is_unsafe_char;

/// Mark at the end of a cut text.
const CUT: char = '…';

/// Returns the beginning of a text: at most this many bytes, and whole characters.
pub(super) fn head(text: &str, cap: usize) -> &str {
    text.get(..text.floor_char_boundary(cap)).unwrap_or_default()
}

/// Renders a text as one line of at most `cap` bytes. Line breaks, invisible and control characters are escaped.
pub(super) fn line(text: &str, cap: usize) -> String {
    escaped(text.trim().chars(), cap, "")
}

/// Renders an author's prose as one line: blanks and line breaks become one blank each.
pub(super) fn folded(text: &str, cap: usize) -> String {
    // The cap is in bytes and every character has at least one, so the rest cannot be shown.
    let words = head(text.trim_start(), cap.saturating_mul(4)).split_whitespace();
    let mut whole = String::new();
    for word in words {
        if !whole.is_empty() {
            whole.push(' ');
        }
        whole.push_str(word);
    }
    escaped(whole.chars(), cap, "")
}

/// Renders a value among others on a line: unchanged if it is unambiguous, else in quotes. At most `cap` bytes.
pub(super) fn value(text: &str, cap: usize) -> String {
    let is_plain = |c: char| !is_unsafe_char(c) && !matches!(c, '"' | '\\' | '(' | ')' | ',' | '=');
    let plain = !text.is_empty()
        && text.len() <= cap
        && text.trim() == text
        && !text.contains("->")
        && text.chars().all(is_plain);
    if plain { text.to_owned() } else { quoted(text, cap) }
}

/// Renders a text in quotes, on one line, with at most `cap` bytes.
pub(super) fn quoted(text: &str, cap: usize) -> String {
    format!("\"{}\"", escaped(text.chars(), cap.saturating_sub(2), "\"\\"))
}

/// Escapes unsafe characters and those of `also`, and marks a cut.
fn escaped(text: impl Iterator<Item = char>, cap: usize, also: &str) -> String {
    let mut shown = String::new();
    // Length of the text that may stay if a mark has to follow it.
    let mut keep = 0;
    for c in text {
        push_escaped(&mut shown, c, also);
        if shown.len() + CUT.len_utf8() <= cap {
            keep = shown.len();
        }
        if shown.len() > cap {
            shown.truncate(keep);
            if keep + CUT.len_utf8() <= cap {
                shown.push(CUT);
            }
            break;
        }
    }
    shown
}

/// Appends a character, escaped if it is unsafe or in `also`.
pub(super) fn push_escaped(shown: &mut String, c: char, also: &str) {
    match c {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        c if also.contains(c) => {
            shown.push('\\');
            shown.push(c);
        }
        c if is_unsafe_char(c) => {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
        c => shown.push(c),
    }
}

/// Renders JSON on one line: characters that `serde_json` leaves unescaped, but that could hide or steer, are escaped
/// as JSON allows.
pub(super) fn json_line(value: &serde_json::Value, cap: usize) -> (String, usize) {
    let text = value.to_string();
    (escaped(text.chars(), cap, ""), text.len())
}

/// Longest row of backticks in a text that is put between fences.
const MOST_BACKTICKS: usize = 64;

/// Returns a row of backticks longer than every one in the text, so that the text cannot close it.
pub(super) fn fence(text: &str) -> Option<String> {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    (longest <= MOST_BACKTICKS).then(|| "`".repeat(longest.max(3) + 1))
}

/// Items of a list that fit, one per line.
pub(super) struct FittingItems {
    /// Lines, each with its line break.
    pub(super) text: String,
    pub(super) left_out: usize,
}

/// Renders lines while they fit into `cap` bytes and counts the others. Once one is left out, all further ones are,
/// without rendering them, so that a long list costs nothing.
pub(super) fn listed<T>(
    items: impl IntoIterator<Item = T>,
    mut line: impl FnMut(T) -> String,
    cap: usize,
) -> FittingItems {
    let mut listed = FittingItems { text: String::new(), left_out: 0 };
    let mut items = items.into_iter();
    for item in items.by_ref() {
        let line = line(item);
        if listed.text.len() + line.len() + 1 > cap {
            listed.left_out = 1;
            break;
        }
        listed.text.push_str(&line);
        listed.text.push('\n');
    }
    listed.left_out += items.count();
    listed
}

/// Joins texts with a separator, as far as they fit into `cap` bytes, and adds a count of the others.
pub(super) fn joined(
    items: impl IntoIterator<Item = String>,
    separator: &str,
    cap: usize,
) -> String {
    let (mut text, mut left_out) = (String::new(), 0_usize);
    for item in items {
        let separator = if text.is_empty() { "" } else { separator };
        if left_out > 0 || text.len() + separator.len() + item.len() > cap {
            left_out += 1;
        } else {
            text.push_str(separator);
            text.push_str(&item);
        }
    }
    if left_out > 0 {
        text.push_str(&format!(" … and {left_out} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_line(text: &str, expected: &str) {
        assert_eq!(line(text, 40), expected, "{text:?}");
    }

    #[test]
    fn a_line_stays_one_line() {
        check_line(" Select the story ", "Select the story");
        check_line("a\n- currentNodeId: b", "a\\n- currentNodeId: b");
        check_line("a\r\nb\tc", "a\\r\\nb\\tc");
        check_line("a\u{2028}b\u{202e}c\u{0}", "a\\u2028b\\u202ec\\u0000");
        check_line("\u{e0041}", "\\udb40\\udc41");
        check_line("中文 🏃", "中文 🏃");
    }

    #[test]
    fn prose_is_folded() {
        assert_eq!(
            folded("Two\n  lines.\n\n- and more\u{200b}", 99),
            "Two lines. - and more\\u200b"
        );
    }

    #[test]
    fn a_value_is_quoted_where_it_could_be_mistaken() {
        for plain in ["next", "artifacts/stories/<storyKey>.md", "a b", "中"] {
            assert_eq!(value(plain, 64), plain);
        }
        assert_eq!(value("x, default=true", 64), "\"x, default=true\"");
        assert_eq!(value("a -> b", 64), "\"a -> b\"");
        assert_eq!(value("say \"hi\"\\", 64), "\"say \\\"hi\\\"\\\\\"");
        assert_eq!(value("", 64), "\"\"");
        assert_eq!(value(" x", 64), "\" x\"");
    }

    #[test]
    fn a_cut_text_says_so_and_keeps_its_cap() {
        assert_eq!(line("abcdefghij", 8), "abcde…");
        assert_eq!(line("abcdefgh", 8), "abcdefgh");
        assert_eq!(quoted("abcdefghij", 8), "\"abc…\"");
        for cap in 0..40 {
            for text in
                ["中文中文中文中文", "\n\n\n\n\n\n\n\n\n\n", "\u{e0041}\u{e0042}abc", "plain"]
            {
                assert!(line(text, cap).len() <= cap, "{text:?} {cap}");
                assert!(folded(text, cap).len() <= cap, "{text:?} {cap}");
                assert!(value(text, cap).len() <= cap.max(2), "{text:?} {cap}");
            }
        }
    }

    #[test]
    fn a_list_counts_what_does_not_fit() {
        let listed = listed(["aa", "bbbb", "c"], str::to_owned, 6);
        assert_eq!((listed.text.as_str(), listed.left_out), ("aa\n", 2));
    }
}
