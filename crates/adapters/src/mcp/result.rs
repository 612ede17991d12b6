//! Results of servers, read leniently: unknown parts are left out and are no error. What is no result is a fault.

use rmcp::model::ServerResult;
use serde_json::Value as Json;

use super::veil::Veil;
use crewagent_core::tool::server_tool::cleaned;
use crewagent_engine::tool_server::{ResultPart, ServerFault, ToolResult};

/// Maximum size of the questions of a server that are passed on, in bytes.
const QUESTIONS_BYTES: usize = 1000;
/// Maximum size of an unknown type of result that is passed on, in bytes.
const KIND_BYTES: usize = 60;

/// Returns the result of a tool call, or of reading a resource. Newer servers may answer with something that only leads to
/// one, such as a question; it must never look like success.
pub(super) fn output(result: &ServerResult, veil: &Veil) -> Result<ToolResult, ServerFault> {
    let result = serde_json::to_value(result).unwrap_or_default();
    match result["resultType"].as_str() {
        None | Some("complete") => {}
        Some("input_required") => return Err(ServerFault::NeedsInput(questions(&result, veil))),
        Some(kind) => return Err(ServerFault::NoResult(cleaned(kind, KIND_BYTES))),
    }
    let items: Vec<_> =
        ["content", "contents"].into_iter().filter_map(|key| result[key].as_array()).collect();
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    if items.is_empty() && structured.is_none() {
        return Err(ServerFault::NoResult("no content".to_owned()));
    }
    Ok(ToolResult {
        parts: items.into_iter().flatten().filter_map(|item| part(item, veil)).collect(),
        structured: structured.map(|value| veiled(value, veil)),
        is_error: result["isError"] == true,
    })
}

/// Returns what a server asks the user.
fn questions(result: &Json, veil: &Veil) -> String {
    let requests = result["inputRequests"].as_object().into_iter().flat_map(|it| it.values());
    let asked: Vec<&str> =
        requests.filter_map(|request| request["params"]["message"].as_str()).collect();
    cleaned(&veil.over(&asked.join("; ")), QUESTIONS_BYTES)
}

fn part(item: &Json, veil: &Veil) -> Option<ResultPart> {
    let text = |key: &str| item[key].as_str().map(str::to_owned);
    let attachment = |kind: &'static str, data: Option<&str>| ResultPart::Attachment {
        kind,
        mime: text("mimeType"),
        bytes: data.map(decoded_size).or_else(|| item["size"].as_u64()),
        uri: text("uri"),
    };
    match item["type"].as_str() {
        Some("image") => Some(attachment("image", item["data"].as_str())),
        Some("audio") => Some(attachment("audio", item["data"].as_str())),
        Some("resource_link") => Some(attachment("link", None)),
        // A resource inside a result is the same as one that was read.
        Some("resource") => part(&item["resource"], veil),
        Some(_) | None => match (item["text"].as_str(), item["blob"].as_str()) {
            (Some(text), _) => Some(ResultPart::Text(veil.over(text))),
            (None, Some(blob)) => Some(attachment("resource", Some(blob))),
            (None, None) => None,
        },
    }
}

/// Returns the decoded size of base64 data.
fn decoded_size(data: &str) -> u64 {
    let digits = data.trim_end_matches('=').len() as u64;
    digits * 3 / 4
}

fn veiled(value: &Json, veil: &Veil) -> Json {
    let text = value.to_string();
    let hidden = veil.over(&text);
    if hidden == text { value.clone() } else { serde_json::from_str(&hidden).unwrap_or_default() }
}
