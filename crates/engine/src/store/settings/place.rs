//! Location of a mistake in the file, and its message. A line that may contain a key is never shown.

use toml::de::{DeTable, DeValue};

/// Location in the text of the settings.
pub(super) struct TextPosition {
    /// Counted from 1.
    pub(super) line: usize,
    /// In characters, counted from 1.
    pub(super) column: usize,
    /// Text of the line.
    pub(super) text: String,
}

impl TextPosition {
    pub(super) fn of(at: usize, text: &str) -> Self {
        let before = text.get(..at.min(text.len())).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            text: shown(text[line_start..].lines().next().unwrap_or_default().trim()),
        }
    }
}

/// Hides the value of a line that may hold a key: users put keys where only the source of a key belongs.
fn shown(line: &str) -> String {
    const SECRET: [&str; 5] = ["key", "auth", "secret", "cookie", "bearer"];
    let small = line.to_ascii_lowercase();
    if !SECRET.iter().any(|word| small.contains(word)) {
        return line.to_owned();
    }
    match line.split_once('=') {
        Some((name, _)) => format!("{} = …", name.trim()),
        None => "…".to_owned(),
    }
}

/// Rewords a library's message for users.
pub(super) fn plain(message: &str) -> String {
    message
        .trim()
        .replace('\n', ", ")
        .replace("expected u64", "expected a whole number")
        .replace("expected a nonzero u64", "expected a whole number above zero")
        .replace("expected f64", "expected a number")
}

/// Returns the offset of a key, or of the last of its tables that exists.
pub(super) fn find(key: &[&str], text: &str) -> usize {
    let Ok(root) = DeTable::parse(text) else { return 0 };
    let mut at = 0;
    let mut table = root.get_ref();
    for part in key {
        let Some((name, value)) = table.iter().find(|(name, _)| name.get_ref() == part) else {
            break;
        };
        at = name.span().start;
        let DeValue::Table(inner) = value.get_ref() else { break };
        table = inner;
    }
    at
}
