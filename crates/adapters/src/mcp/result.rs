//! Results of servers, read leniently: unknown parts are left out and are no error.

use rmcp::model::ServerResult;
use serde_json::Value as Json;

use super::veil::Veil;
use crewagent_engine::tool_server::{ResultPart, ToolResult};

/// Returns the result of a tool call, or of reading a resource.
pub(super) fn output(result: &ServerResult, veil: &Veil) -> ToolResult {
    let result = serde_json::to_value(result).unwrap_or_default();
    let items = ["content", "contents"].into_iter().filter_map(|key| result[key].as_array());
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    ToolResult {
        parts: items.flatten().filter_map(|item| part(item, veil)).collect(),
        structured: structured.map(|value| veiled(value, veil)),
        is_error: result["isError"] == true,
    }
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
