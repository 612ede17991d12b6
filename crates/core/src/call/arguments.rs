//! Arguments as text: one JSON object, in any wrapping that models put around it.

use crewagent_format::code::Code;
use crewagent_format::syntax::{SyntaxError, json};
use crewagent_format::text::LineIndex;
use crewagent_format::wording::quoted;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use crate::policy::Policy;
use crate::refusal::{Refusal, RefusalCode};
use crate::tool::Tool;

/// Number of bytes that arguments may always have.
const ALWAYS: u64 = 8 << 20;
/// Bytes that arguments may have beyond twice the largest write, because escapes make a text longer.
const SLACK: u64 = 1 << 20;
/// Number of characters shown around a mistake.
const AROUND: usize = 20;

/// Parses the arguments of a call. Blank arguments are an empty object, and a doubly encoded text is unwrapped once.
pub(super) fn read(tool: Tool, text: &str, policy: &Policy) -> Result<Map<String, Json>, Refusal> {
    let limit = policy.fs.max_write_bytes.saturating_mul(2).saturating_add(SLACK).max(ALWAYS);
    if text.len() as u64 > limit {
        return Err(too_long(tool, text.len(), limit));
    }
    let whole = object(text).map_err(|why| refused(tool, &why))?;
    match whole {
        Json::Object(object) => Ok(object),
        Json::Null => Ok(Map::new()),
        other @ (Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) => {
            let why = format!(
                "they must be one JSON object, but this is {}",
                crewagent_format::wording::kind(&other)
            );
            Err(refused(tool, &why))
        }
    }
}

/// Parses a structured value that a model sent as text.
pub(super) fn unwrapped(text: &str) -> Option<Json> {
    let text = text.trim();
    text.starts_with(['{', '[']).then(|| parse(text).ok()).flatten()
}

/// Parses the JSON of arguments, unwrapped; blank arguments are null.
pub(super) fn object(text: &str) -> Result<Json, String> {
    if text.trim().is_empty() {
        return Ok(Json::Null);
    }
    let whole = parse(text)?;
    match whole.as_str() {
        Some(inner) if inner.trim().is_empty() => Ok(Json::Null),
        Some(inner) => {
            parse(inner).map_err(|why| format!("inside the string that they are, {why}"))
        }
        None => Ok(whole),
    }
}

/// Parses JSON of bounded depth and size. The error describes the mistake and its position.
fn parse(text: &str) -> Result<Json, String> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str::<&RawValue>(body).map_err(|error| broken(body, &error))?;
    let errors = match json::parse(body) {
        Ok(tree) => return Ok(tree.to_json()),
        Err(errors) => errors,
    };
    let told: Vec<String> = errors.iter().take(5).map(|error| describe(body, error)).collect();
    Err(told.join("; "))
}

fn describe(text: &str, error: &SyntaxError) -> String {
    let place = LineIndex::new(text).position(text, error.span.start);
    let help = error.help.as_ref().filter(|_| error.code == Code::JsonSyntax);
    let help = help.map(|help| format!(" ({help})"));
    let help = help.unwrap_or_default();
    format!("at line {}, column {}: {}{help}", place.line, place.column, error.message)
}

/// Translates a parser error for an author who writes JSON by hand.
fn broken(text: &str, error: &serde_json::Error) -> String {
    const WORDS: &[(&str, &str)] = &[
        (
            "EOF while parsing a string",
            "a string is never closed; if the call was cut off, send it again in smaller pieces",
        ),
        (
            "EOF",
            "they end too early: a `}` or `]` is missing; if the call was cut off, send it again in smaller pieces",
        ),
        (
            "control character",
            "a line break or another control character stands in a string; write \\n for a line break and \\t for a tab",
        ),
        (
            "invalid escape",
            "this is not an escape that JSON knows; a backslash itself is written as \\\\",
        ),
        ("trailing comma", "there is a comma after the last item; remove it"),
        ("trailing characters", "something follows the object; send exactly one"),
        ("key must be a string", "a key must stand in double quotes"),
        ("expected `:`", "a colon is missing after the key"),
        (
            "expected `,` or `}`",
            "a comma or `}` is expected here; a double quote inside a string is written as \\\"",
        ),
        ("expected `,` or `]`", "a comma or `]` is expected here"),
        (
            "expected ident",
            "this word is not a value; texts stand in double quotes, and true, false, null are written small",
        ),
        ("expected value", "a value is expected here"),
    ];
    let before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (before + error.column().saturating_sub(1)).min(text.len());
    let at = text.floor_char_boundary(at);
    let head: String = {
        let tail: Vec<char> = text[..at].chars().rev().take(AROUND).collect();
        tail.into_iter().rev().collect()
    };
    let tail: String = text[at..].chars().take(AROUND).collect();
    let mut said = error.to_string();
    if text[at..].starts_with(['}', ']']) && text[..at].trim_end().ends_with(',') {
        said = "trailing comma".to_owned();
    }
    let words = WORDS.iter().find(|(part, _)| said.contains(part)).map(|(_, words)| *words);
    let words = words.unwrap_or(&said);
    let near = quoted(&format!("{head}{tail}"));
    format!(
        "they are not JSON: at line {}, column {}, near {near}: {words}",
        error.line(),
        error.column()
    )
}

fn refused(tool: Tool, why: &str) -> Refusal {
    let message = format!("The arguments of {} cannot be read: {why}.", tool.name());
    Refusal::new(RefusalCode::InvalidArguments, message)
        .hint(format!("Send one JSON object. Example: {}.", tool.example()))
}

fn too_long(tool: Tool, size: usize, limit: u64) -> Refusal {
    let code =
        if tool.is_write() { RefusalCode::WriteLimit } else { RefusalCode::InvalidArguments };
    let message = format!(
        "The arguments of {} have {size} bytes; {limit} are allowed. Nothing was done.",
        tool.name()
    );
    let hint = if tool.is_write() {
        "Write the file in several pieces, with mode `append`, or several files."
    } else {
        "Send less."
    };
    Refusal::new(code, message).hint(hint).detail("limitBytes", limit)
}
