//! Colours and characters for the terminal.

use std::fmt;

use anstyle::{AnsiColor, Style};
use crewagent_core::text::is_unsafe_char;

pub(crate) const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const NAME: Style = Style::new().bold();
pub(crate) const QUIET: Style = Style::new().dimmed();

/// Some text in a style.
pub(crate) fn styled(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A text for one line, without characters that could move the cursor, forge a line, or change how others read.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if is_unsafe_char(c) { '\u{fffd}' } else { c }).collect()
}

/// The same for a message that may have several lines.
pub(crate) fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// JSON for people and programs: unsafe characters can only stand inside strings, where an escape means the same.
pub(crate) fn json(value: &serde_json::Value) -> String {
    let mut text = String::new();
    for c in format!("{value:#}").chars() {
        if c != '\n' && is_unsafe_char(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units)
                .iter()
                .for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
        } else {
            text.push(c);
        }
    }
    text
}

/// How many columns there are: the terminal's, or enough for most lines where there is none.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(140, |(width, _)| usize::from(width.0))
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(count)) }
}

/// A number with thin groups of three, so that 100,000 can be read.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(counted(1, "error"), "1 error");
        assert_eq!(counted(100_000, "error"), "100,000 errors");
        assert_eq!(grouped(999), "999");
    }

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\u{202e}c\nd"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}d");
        assert_eq!(printable_lines("a\u{9b}b\nc"), "a\u{fffd}b\nc");
        let value = serde_json::json!({ "x": "a\u{9b}\u{202e}\u{e0041}\n中" });
        let text = json(&value);
        assert!(!text.chars().any(|c| c != '\n' && is_unsafe_char(c)), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
