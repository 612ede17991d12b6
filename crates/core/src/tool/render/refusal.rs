//! Refusals: the message with its code. Details stay in the journal, but for lines of a file that a patch missed.

use super::{Fields, push_line};
use crate::tool::Tool;

/// Code of a call that was not reached; its message is the whole answer.
const NOT_EXECUTED: &str = "E_NOT_EXECUTED";
/// Codes of calls that may have had an effect. The rules tell a model that a refused call has changed nothing.
const FAILURES: [&str; 4] = ["E_TIMEOUT", "E_UNKNOWN_OUTCOME", "E_TOOL_FAILED", "E_INTERNAL"];

/// Returns the message of a refusal; its hint is part of it.
pub(super) fn render(answer: Fields<'_>) -> Option<String> {
    let error = answer.object("error")?;
    let (code, message) = (error.text("code")?, error.text("message")?);
    if code == NOT_EXECUTED {
        return Some(message.to_owned());
    }
    let verb = if FAILURES.contains(&code) { "Failed" } else { "Refused" };
    let mut out = format!("{verb}: {} ({code})", as_offered(message));
    let nearest = error.object("details").and_then(|details| details.object("nearest"));
    if let Some(nearest) = nearest {
        out.push_str("\nThe nearest lines:");
        let start = nearest.number("startLine").unwrap_or(1);
        for (number, line) in (start..).zip(nearest.texts("lines").into_iter().flatten()) {
            push_line(&mut out, number, line);
        }
    }
    Some(out)
}

/// Returns a message with the names of tools as the model was given them. A name that is part of a path stays.
fn as_offered(message: &str) -> String {
    Tool::ALL.into_iter().fold(message.to_owned(), |text, tool| {
        let name = tool.name();
        let mut parts = text.split(name);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let is_inside = out.ends_with(is_name_char) || part.starts_with(is_name_char);
            // A dot at the end of a sentence is no part of a name.
            let is_inside =
                is_inside || part.starts_with(".") && part[1..].starts_with(is_name_char);
            out.push_str(if is_inside { name } else { tool.wire_name() });
            out.push_str(part);
        }
        out
    })
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '/' | '-')
}
