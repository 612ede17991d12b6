//! Colours and characters for the terminal.

use std::fmt;

use anstyle::{AnsiColor, Style};
use crewagent_format::text::is_unsafe_char;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::language::{self, Language};
use crate::render::flow::Width;
use crate::terminal;
use crate::terminal::markdown::TerminalWindow;

pub(crate) const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const ACCENT: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const NAME: Style = Style::new().bold();
pub(crate) const QUIET: Style = Style::new().dimmed();

/// Wraps a text in a style.
pub(crate) fn styled(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Returns a text for one line, without characters that could move the cursor, forge a line, or reorder text.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if is_unsafe_char(c) { '\u{fffd}' } else { c }).collect()
}

/// Does the same for a message that may have several lines.
pub(crate) fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Formats a JSON value with unsafe characters escaped: they occur only inside strings, where an escape means the same.
pub(crate) fn json(value: &serde_json::Value) -> String {
    escaped(&format!("{value:#}"))
}

/// Escapes unsafe characters of a JSON text.
pub(crate) fn escaped(json: &str) -> String {
    if !json.chars().any(|c| c != '\n' && is_unsafe_char(c)) {
        return json.to_owned();
    }
    let mut text = String::new();
    for c in json.chars() {
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

/// Cuts a text to a width, with a mark where something is omitted.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut fitted = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        fitted.push(c);
    }
    format!("{}…", fitted.trim_end())
}

/// Pads a text with blanks to a width.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Returns the width of the terminal, or a wide default without one.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(140, |(width, _)| usize::from(width.0))
}

/// Returns the width of running text: the terminal's, up to a readable maximum; unlimited in a pipe.
pub(crate) fn text_width() -> Width {
    const COMFORTABLE: usize = 110;
    match terminal_size::terminal_size_of(std::io::stdout()) {
        Some((width, _)) => Width::Columns(usize::from(width.0).min(COMFORTABLE)),
        None => Width::Endless,
    }
}

/// Returns the current window of the terminal.
pub(crate) fn window() -> TerminalWindow {
    let columns = width();
    let text = match text_width() {
        Width::Columns(text) => text,
        Width::Endless => columns,
    };
    TerminalWindow { text, columns, rows: terminal::rows() }
}

/// Formats a count as `1 file`, `2 files`, `3 matches`, and in Chinese as `2 个文件`: the noun in English, and in Chinese
/// with its measure word.
pub(crate) fn counted(count: usize, (one, chinese): (&str, &str)) -> String {
    if language::current() == Language::Chinese {
        return format!("{} {chinese}", grouped(count));
    }
    let ending = match one.as_bytes() {
        [.., b'c' | b's', b'h'] | [.., b's' | b'x'] => "es",
        _ => "s",
    };
    match (count, one.strip_suffix('y')) {
        (1, _) => format!("1 {one}"),
        (_, Some(stem)) => format!("{} {stem}ies", grouped(count)),
        (_, None) => format!("{} {one}{ending}", grouped(count)),
    }
}

/// Does the same for 64-bit numbers.
pub(crate) fn counted_u64(count: u64, noun: (&str, &str)) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), noun)
}

/// Groups digits by three, as in 100,000.
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
        assert_eq!(counted(1, ("error", "个错误")), "1 error");
        assert_eq!(counted(100_000, ("error", "个错误")), "100,000 errors");
        assert_eq!(grouped(999), "999");
        assert_eq!(counted(2, ("match", "处匹配")), "2 matches");
        assert_eq!(counted(2, ("entry", "个条目")), "2 entries");
    }

    #[test]
    fn a_text_is_cut_by_columns_and_not_by_letters() {
        assert_eq!(fitted("abcdef", 6), "abcdef");
        assert_eq!(fitted("abcdef", 4), "abc…");
        assert_eq!(fitted("一二三四", 6), "一二…");
        assert_eq!(padded("一", 4), "一  ");
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
