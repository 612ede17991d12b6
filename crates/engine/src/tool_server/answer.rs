//! Converts results of a server into answers for the model.

use crewagent_core::event::Answer;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::tool::server_tool::{ServerTool, cleaned};
use crewagent_format::integrity::Digest;
use crewagent_format::syntax::json::ValueCounter;
use serde::Serialize;
use serde_json::Value as Json;

use super::{ResultPart, ServerFault, ToolResult};
use crate::blobs::{BlobError, Blobs};

/// Limit in bytes of a server's message about a failure.
const FAILURE_BYTES: usize = 8 << 10;
/// Limit of attachments that are listed.
const MOST_ATTACHMENTS: usize = 50;
/// JSON-RPC code: the method does not exist.
const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC code: the arguments do not fit.
const INVALID_PARAMS: i64 = -32602;

/// A result as the model receives it, whole or cut.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultReport {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<Attachment>,
    #[serde(flatten)]
    cut: Option<CutResult>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CutResult {
    truncated: bool,
    bytes: usize,
    sha256: String,
    content_preview: String,
    hint: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attachment {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
}

/// Returns the answer for a result. A result longer than `most` is cut, and stored whole in the blobs.
pub(super) fn of(
    tool: &ServerTool,
    output: ToolResult,
    most: usize,
    blobs: &Blobs,
) -> Result<Answer, BlobError> {
    let ToolResult { parts, structured, is_error } = output;
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            ResultPart::Text(text) => texts.push(text),
            ResultPart::Attachment { kind, mime, bytes, uri } => {
                let mime_type = mime.map(|mime| cleaned(&mime, 100));
                let uri = uri.map(|uri| cleaned(&uri, 1000));
                attachments.push(Attachment { kind, mime_type, bytes, uri });
            }
        }
    }
    attachments.truncate(MOST_ATTACHMENTS);
    let text = texts.join("\n");
    if is_error {
        return Ok(Answer::from(&failed(tool, &text, structured.as_ref())));
    }
    // Many servers send the same content twice, as JSON and as text.
    let is_same = structured.as_ref().is_some_and(|structured| {
        !ValueCounter::is_too_much(&text)
            && serde_json::from_str::<Json>(&text).is_ok_and(|read| read == *structured)
    });
    let is_told = is_same || (text.is_empty() && structured.is_some());
    let content = Some(text).filter(|_| !is_told);
    let whole =
        ResultReport { ok: true, content, structured_content: structured, attachments, cut: None };
    let written = written(&whole);
    if written.len() <= most {
        return Ok(Answer { result: written.into(), ..Answer::default() });
    }
    let words = match (whole.content, whole.structured_content) {
        (Some(text), None) => text,
        (text, Some(structured)) => format!("{}{structured}", text.unwrap_or_default()),
        (None, None) => String::new(),
    };
    blobs.put(words.as_bytes())?;
    let cut = CutResult {
        truncated: true,
        bytes: words.len(),
        sha256: Digest::of(words.as_bytes()).to_string(),
        content_preview: front(&words, most),
        hint: "The result is too long and only its beginning is here. Ask for less: a filter, a page, a smaller range.",
    };
    let told = ResultReport {
        ok: true,
        attachments: whole.attachments,
        cut: Some(cut),
        ..ResultReport::default()
    };
    Ok(Answer { result: self::written(&told).into(), ..Answer::default() })
}

fn written(told: &ResultReport) -> String {
    serde_json::to_string(told).unwrap_or_else(|_| r#"{"ok":true}"#.to_owned())
}

/// Returns the beginning of a text, up to a number of bytes.
fn front(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default().to_owned()
}

fn failed(tool: &ServerTool, text: &str, structured: Option<&Json>) -> Refusal {
    let words = match (text.trim(), structured) {
        ("", None) => "it does not say why".to_owned(),
        ("", Some(structured)) => structured.to_string(),
        (text, _) => text.to_owned(),
    };
    let message = format!("`{}` failed: {}", tool.name(), cleaned(&words, FAILURE_BYTES));
    Refusal::new(RefusalCode::ToolFailed, message)
}

/// Returns the refusal for a server that did not complete an order.
pub(super) fn refused(tool: &ServerTool, fault: &ServerFault) -> Refusal {
    let (name, server) = (tool.name(), &tool.server);
    let may_have = "It may have happened or not: look before you repeat it.";
    match fault {
        ServerFault::Unavailable { message, .. } => {
            let message = format!("The MCP server `{server}` is not available: {message}");
            Refusal::new(RefusalCode::ToolNotAvailable, ended(&message))
                .hint("Nothing was done. Try again later, or go on without it.")
        }
        ServerFault::TimedOut => {
            let message = format!("The MCP server `{server}` did not answer `{name}` in time.");
            Refusal::new(RefusalCode::Timeout, message).hint(may_have)
        }
        ServerFault::Stopped => {
            let message = format!("The user stopped the run before `{name}` was answered.");
            Refusal::new(RefusalCode::UnknownOutcome, message).hint(may_have)
        }
        ServerFault::Lost(why) => {
            let message =
                format!("The MCP server `{server}` went away in the middle of the call: {why}");
            Refusal::new(RefusalCode::UnknownOutcome, ended(&message))
                .hint(format!("{may_have} The server is started again with the next call."))
        }
        ServerFault::Refused { code, message } => {
            let message = cleaned(message, FAILURE_BYTES);
            let (kind, words) = match *code {
                INVALID_PARAMS => (RefusalCode::InvalidArguments, "does not take the arguments"),
                METHOD_NOT_FOUND => (RefusalCode::ToolNotAvailable, "does not have the tool"),
                _ => (RefusalCode::ToolFailed, "failed"),
            };
            Refusal::new(kind, ended(&format!("The MCP server `{server}` {words}: {message}")))
        }
        ServerFault::NeedsInput(asked) => {
            let asked = match asked.trim() {
                "" => String::new(),
                asked => format!(" It asks: {asked}"),
            };
            let message = format!(
                "`{name}` is not done: the MCP server `{server}` wants input from the user first, which cannot be passed on.{asked}"
            );
            let hint = "Ask the user what to do, with `ui.ask_user` if you have it. Then call it with arguments that leave nothing open, or go on without it.";
            Refusal::new(RefusalCode::ToolFailed, ended(&message)).hint(hint)
        }
        ServerFault::NoResult(kind) => {
            let message = format!(
                "The MCP server `{server}` gave no result for `{name}`, but something that is not understood: {}",
                cleaned(kind, FAILURE_BYTES)
            );
            Refusal::new(RefusalCode::ToolFailed, ended(&message)).hint(may_have)
        }
    }
}

/// Returns the refusal for a call whose outcome is not recorded.
pub(crate) fn in_doubt(tool: &str) -> Refusal {
    let message = format!("The run was interrupted before `{tool}` was answered.");
    Refusal::new(RefusalCode::UnknownOutcome, message)
        .hint("It may have happened or not, and it was not repeated: look before you do so.")
}

/// Adds the missing period to a sentence.
fn ended(sentence: &str) -> String {
    let sentence = sentence.trim_end();
    match sentence.ends_with(['.', '!', '?', '…']) {
        true => sentence.to_owned(),
        false => format!("{sentence}."),
    }
}
