//! Location of a mistake in the file, and its message. A line that may contain a key is never shown.

use crewagent_format::wording::{did_you_mean, ticked_up_to};
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
    let message = message.trim().replace('\n', ", ");
    let reworded = wrong_type(&message).or_else(|| wrong_name(&message));
    reworded.unwrap_or(message)
}

/// Rewords `invalid type: string "a", expected f64`.
fn wrong_type(message: &str) -> Option<String> {
    let rest = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .or_else(|| message.strip_prefix("invalid length "))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let expected = match expected {
        "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => "a whole number above zero",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "str" => "a text in quotes",
        "a sequence" => "a list, such as [\"a\", \"b\"]",
        other if other == "a map" || other.starts_with("struct ") => "a table",
        other => other,
    };
    let found = match found.split_once(' ') {
        Some(("string", text)) => format!("the text {text}"),
        Some(("integer", number)) => format!("the number {}", number.trim_matches('`')),
        Some(("floating", number)) => {
            format!("the number {}", number.trim_start_matches("point").trim_matches([' ', '`']))
        }
        Some(("boolean", value)) => value.trim_matches('`').to_owned(),
        _ => match found {
            "sequence" => "a list".to_owned(),
            "map" => "a table".to_owned(),
            other => other.to_owned(),
        },
    };
    Some(format!("expected {expected}, not {found}"))
}

/// Rewords ``unknown field `a`, expected one of `b`, `c` `` and its kin, with the name that was probably meant.
fn wrong_name(message: &str) -> Option<String> {
    if let Some(name) = message.strip_prefix("missing field ") {
        return Some(format!("{name} is missing"));
    }
    let (what, rest) = match message.strip_prefix("unknown field ") {
        Some(rest) => ("setting", rest),
        None => ("value", message.strip_prefix("unknown variant ")?),
    };
    let (name, known) = rest.split_once(", ").unwrap_or((rest, ""));
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let near = did_you_mean(name.trim_matches('`'), known.iter().copied());
    let there = match known.is_empty() {
        true => String::new(),
        false => format!("; there are {}", ticked_up_to(known, usize::MAX)),
    };
    Some(format!("there is no {what} {name}{near}{there}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_library_are_not_the_users() {
        for (message, expected) in [
            (
                "invalid type: string \"abc\", expected a sequence",
                "expected a list, such as [\"a\", \"b\"], not the text \"abc\"",
            ),
            (
                "invalid type: floating point `1.5`, expected u64",
                "expected a whole number, not the number 1.5",
            ),
            (
                "invalid value: integer `0`, expected a nonzero u64",
                "expected a whole number above zero, not the number 0",
            ),
            ("invalid type: sequence, expected struct RunDefaults", "expected a table, not a list"),
            (
                "unknown variant `fast`, expected `autopilot` or `guided`",
                "there is no value `fast`; there are `autopilot`, `guided`",
            ),
            (
                "unknown field `modle`, expected one of `model`, `mode`",
                "there is no setting `modle`; did you mean `model`?; there are `model`, `mode`",
            ),
            ("missing field `model`", "`model` is missing"),
            ("a price is zero or more", "a price is zero or more"),
        ] {
            assert_eq!(plain(message), expected);
        }
    }
}
