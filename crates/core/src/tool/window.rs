//! Windows of a text: lines by number, and previews that fit.
//!
//! A line ends at `\n`; a `\r` before it belongs to the ending. The last line may have no ending. So `""` has no
//! line, `"a"` and `"a\n"` have one, and `"a\n\n"` has two.

use std::fmt;

use crate::refusal::{Refusal, RefusalCode};

/// Number of bytes searched for a NUL, as in git and ripgrep.
const SNIFFED: usize = 8 * 1024;

/// Adjacent lines of a text, byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window<'t> {
    /// Lines with their endings.
    pub text: &'t str,
    /// Number of the first line, from 1.
    pub start: usize,
    /// Number of the last line; one less than `start` if the text is empty.
    pub end: usize,
    /// Number of lines in the whole text.
    pub total: usize,
}

impl<'t> Window<'t> {
    /// Returns the lines from `start` to `end`, both counted from 1 and both included.
    ///
    /// Without a start the window begins at the first line, without an end it extends to the last. A start of 0 means
    /// the first line, and an end past the last line means the last line. A start past the last line is refused, and so
    /// is an end before the start; an empty text is an empty window.
    pub fn of(text: &'t str, start: Option<u64>, end: Option<u64>) -> Result<Self, Refusal> {
        let total = line_count(text);
        let (first, last) = bounds(total, start, end)?;
        let from = line_start(text, first - 1);
        let till = from + line_start(&text[from..], (last + 1).saturating_sub(first));
        Ok(Self { text: &text[from..till], start: first, end: last, total })
    }
}

/// Returns the first and the last line that [`Window::of`] shows of a text with this many lines.
pub fn bounds(
    total: usize,
    start: Option<u64>,
    end: Option<u64>,
) -> Result<(usize, usize), Refusal> {
    let first = start.unwrap_or(1).max(1);
    if let Some(end) = end
        && end < first
    {
        let message = format!("endLine {end} is before startLine {first}.");
        let hint = format!("Lines are counted from 1, both ends included; {}.", has(total));
        return Err(refused(message, hint, total));
    }
    if first > total.max(1) as u64 {
        let message = format!("startLine {first} is past the end: {}.", has(total));
        let hint = match total {
            0 => "There is nothing to read.".to_owned(),
            _ => format!("Choose a startLine from 1 to {total}."),
        };
        return Err(refused(message, hint, total));
    }
    let last = end.map_or(total, |end| usize::try_from(end).map_or(total, |end| end.min(total)));
    // The start is at most `total`, which is a `usize`.
    let first = usize::try_from(first).unwrap_or(total);
    Ok((first, last))
}

/// Returns the number of lines in a text.
pub fn line_count(text: &str) -> usize {
    let ended = text.bytes().filter(|byte| *byte == b'\n').count();
    ended + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Returns the beginning of a text, at most `max_bytes` long.
///
/// It ends after a whole line, unless that would leave less than half of what fits: then it ends after a whole
/// character, and never between `\r` and `\n`.
pub fn preview(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let head = &text[..text.floor_char_boundary(max_bytes)];
    let lines = head.rfind('\n').map_or(0, |at| at + 1);
    if lines > 0 && lines >= max_bytes / 2 {
        return &head[..lines];
    }
    let cuts_ending = text[head.len()..].starts_with('\n');
    head.strip_suffix('\r').filter(|_| cuts_ending).unwrap_or(head)
}

/// Reason why bytes are not a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotText {
    /// A NUL byte near the beginning marks a binary file.
    Nul { at: usize },
    NotUtf8 {
        /// Offset of the first byte that is not part of a character.
        at: usize,
    },
}

impl fmt::Display for NotText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nul { at } => write!(f, "binary: byte {at} is NUL"),
            Self::NotUtf8 { at } => {
                write!(f, "not UTF-8 text: byte {at} is not part of a character")
            }
        }
    }
}

/// Decodes `bytes` as text: UTF-8, and without NUL in the first 8 KiB.
pub fn decode(bytes: &[u8]) -> Result<&str, NotText> {
    let head = &bytes[..bytes.len().min(SNIFFED)];
    if let Some(at) = head.iter().position(|byte| *byte == 0) {
        return Err(NotText::Nul { at });
    }
    std::str::from_utf8(bytes).map_err(|error| NotText::NotUtf8 { at: error.valid_up_to() })
}

/// Returns the offset of the line with this index; the end of the text if there is none.
fn line_start(text: &str, index: usize) -> usize {
    match index.checked_sub(1) {
        None => 0,
        Some(before) => text.match_indices('\n').nth(before).map_or(text.len(), |(at, _)| at + 1),
    }
}

fn has(total: usize) -> String {
    match total {
        0 => "the file is empty".to_owned(),
        1 => "the file has 1 line".to_owned(),
        _ => format!("the file has {total} lines"),
    }
}

fn refused(message: String, hint: String, total: usize) -> Refusal {
    Refusal::new(RefusalCode::InvalidArguments, message).hint(hint).detail("totalLines", total)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config as ProptestConfig, RngSeed};

    use super::*;

    fn check_count(text: &str, expected: usize) {
        assert_eq!(line_count(text), expected, "{text:?}");
    }

    #[track_caller]
    fn check_window(text: &str, start: Option<u64>, end: Option<u64>, expected: &str) {
        let window = Window::of(text, start, end).unwrap();
        let line = format!("{}-{}/{} {}", window.start, window.end, window.total, window.text);
        assert_eq!(line, expected);
    }

    #[track_caller]
    fn check_refused(text: &str, start: Option<u64>, end: Option<u64>, expected: &str) {
        let refusal = Window::of(text, start, end).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArguments);
        assert_eq!(format!("{} {}", refusal.message, refusal.hint.unwrap()), expected);
    }

    #[track_caller]
    fn check_preview(text: &str, max_bytes: usize, expected: &str) {
        assert_eq!(preview(text, max_bytes), expected);
    }

    #[test]
    fn a_line_is_counted_with_or_without_its_ending() {
        check_count("", 0);
        check_count("a", 1);
        check_count("a\n", 1);
        check_count("\n", 1);
        check_count("a\n\n", 2);
        check_count("a\r\nb", 2);
        check_count("a\rb", 1);
    }

    #[test]
    fn a_window_is_the_exact_bytes_of_its_lines() {
        let text = "one\ntwo\r\nthree";
        check_window(text, None, None, "1-3/3 one\ntwo\r\nthree");
        check_window(text, Some(1), Some(1), "1-1/3 one\n");
        check_window(text, Some(2), Some(2), "2-2/3 two\r\n");
        check_window(text, Some(2), None, "2-3/3 two\r\nthree");
        check_window(text, None, Some(2), "1-2/3 one\ntwo\r\n");
        check_window(text, Some(3), Some(3), "3-3/3 three");
        check_window("中\né\n", Some(2), Some(2), "2-2/2 é\n");
        check_window("\n\n\n", Some(2), Some(3), "2-3/3 \n\n");
    }

    #[test]
    fn a_window_is_clamped_to_the_text() {
        check_window("a\nb\n", Some(0), Some(1), "1-1/2 a\n");
        check_window("a\nb\n", Some(2), Some(99), "2-2/2 b\n");
        check_window("a\nb\n", None, Some(u64::MAX), "1-2/2 a\nb\n");
        check_window("", None, None, "1-0/0 ");
        check_window("", Some(1), Some(50), "1-0/0 ");
    }

    #[test]
    fn a_window_that_cannot_be_says_how_many_lines_there_are() {
        check_refused(
            "a\nb\n",
            Some(3),
            None,
            "startLine 3 is past the end: the file has 2 lines. Choose a startLine from 1 to 2.",
        );
        check_refused(
            "a",
            Some(u64::MAX),
            Some(u64::MAX),
            "startLine 18446744073709551615 is past the end: the file has 1 line. Choose a startLine from 1 to 1.",
        );
        check_refused(
            "",
            Some(2),
            None,
            "startLine 2 is past the end: the file is empty. There is nothing to read.",
        );
        check_refused(
            "a\nb\n",
            Some(2),
            Some(1),
            "endLine 1 is before startLine 2. Lines are counted from 1, both ends included; the file has 2 lines.",
        );
        check_refused(
            "a\n",
            None,
            Some(0),
            "endLine 0 is before startLine 1. Lines are counted from 1, both ends included; the file has 1 line.",
        );
    }

    #[test]
    fn a_preview_ends_after_a_line_or_else_after_a_character() {
        check_preview("abc", 3, "abc");
        check_preview("ab\ncd\nef", 7, "ab\ncd\n");
        check_preview("ab\ncd\n", 5, "ab\n");
        check_preview("ab\r\ncd", 4, "ab\r\n");
        check_preview("ab\r\ncd", 3, "ab");
        check_preview("ab\rcd", 3, "ab\r");
        check_preview("abcdef", 4, "abcd");
        check_preview("aé中", 2, "a");
        check_preview("中", 2, "");
        check_preview("abc", 0, "");
        check_preview("a\nbcdefghijklmnop", 10, "a\nbcdefghi");
    }

    #[test]
    fn bytes_are_text_when_they_are_utf8_without_an_early_nul() {
        assert_eq!(decode("é\n".as_bytes()), Ok("é\n"));
        assert_eq!(decode(b""), Ok(""));
        assert_eq!(decode(b"a\0b"), Err(NotText::Nul { at: 1 }));
        assert_eq!(decode(b"ab\xff"), Err(NotText::NotUtf8 { at: 2 }));
        let late = [vec![b'a'; SNIFFED], vec![0]].concat();
        assert!(decode(&late).is_ok());
        assert_eq!(NotText::Nul { at: 1 }.to_string(), "binary: byte 1 is NUL");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn neighbouring_windows_are_the_text(text in "([a-c\r\né]|\r\n){0,40}", cut in 1_u64..20) {
            let total = line_count(&text) as u64;
            prop_assume!(cut < total);
            let head = Window::of(&text, None, Some(cut)).unwrap();
            let tail = Window::of(&text, Some(cut + 1), None).unwrap();
            prop_assert_eq!(format!("{}{}", head.text, tail.text), text.as_str());
            prop_assert_eq!(line_count(head.text) as u64, cut);
        }

        #[test]
        fn a_preview_is_a_head_that_fits(text in "([a-c\r\n中]|\r\n){0,40}", max in 0_usize..60) {
            let head = preview(&text, max);
            prop_assert!(head.len() <= max && text.starts_with(head));
        }
    }
}
