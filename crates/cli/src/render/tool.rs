//! Formats a tool call as one line.

use crewagent_core::event::Answer;
use crewagent_core::refusal::RefusalCode;
use crewagent_source::bytes;
use serde_json::Value as Json;
use unicode_width::UnicodeWidthStr as _;

use super::flow::{Width, indented};
use crate::language::{say, text};
use crate::paint::{self, ERROR, GOOD, QUIET};

/// Maximum width of the reason of a refusal.
const MOST_REASON: usize = 600;
/// Column of a reason below its call.
const REASON_MARGIN: usize = 6;

/// Formats a finished call.
pub(crate) fn line(tool: &str, subject: Option<&str>, answer: &Answer, width: Width) -> String {
    let tool = paint::printable(tool);
    let subject =
        subject.map(|subject| format!(" {}", paint::printable(subject))).unwrap_or_default();
    let used = 4 + tool.width() + subject.width() + 2;
    let room = match width {
        Width::Columns(columns) => columns.saturating_sub(used + 1),
        Width::Endless => usize::MAX,
    };
    let result = answer.result.inline().and_then(|text| serde_json::from_str::<Json>(text).ok());
    match answer.refused {
        Some(code) => {
            let reason = reason(code, result.as_ref(), subject.trim());
            let code = code_of(code);
            let what = paint::fitted(&format!("{code} {reason}"), MOST_REASON);
            let subject = paint::styled(QUIET, subject);
            // A reason that does not fit beside the call stands below it, whole.
            let what = match what.trim_end() {
                what if what.width() <= room => format!("  {}", paint::styled(ERROR, what)),
                what => {
                    let lines = indented(what, REASON_MARGIN, width);
                    let lines = lines.lines().map(|line| paint::styled(ERROR, line.trim_start()));
                    let margin = " ".repeat(REASON_MARGIN);
                    lines.map(|line| format!("\n{margin}{line}")).collect()
                }
            };
            format!("  {} {tool}{subject}{what}\n", paint::styled(ERROR, "✗"))
        }
        None => {
            let detail = detail(&tool, subject.trim(), result.as_ref(), answer);
            let detail = if detail.is_empty() { detail } else { format!("  {detail}") };
            let rest = paint::styled(QUIET, format_args!("{subject}{detail}"));
            format!("  {} {tool}{rest}\n", paint::styled(GOOD, "✓"))
        }
    }
}

/// Returns the code as models and documents write it.
pub(crate) fn code_of(code: RefusalCode) -> String {
    match serde_json::to_value(code) {
        Ok(Json::String(text)) => text,
        Ok(_) | Err(_) => "E_INTERNAL".to_owned(),
    }
}

/// Returns the first sentence of a refusal, without the parts that the line already shows.
fn reason(code: RefusalCode, result: Option<&Json>, subject: &str) -> String {
    if code == RefusalCode::NotFound {
        return text!("not found", "找不到").to_owned();
    }
    let message = result
        .and_then(|result| result["error"]["message"].as_str())
        .map(|text| paint::printable(&text.replace(['\n', '\t'], " ")))
        .unwrap_or_default();
    let first = message.split_inclusive(". ").next().unwrap_or_default().trim();
    let first = first.strip_suffix('.').unwrap_or(first);
    // A sentence that begins with the path also reads well without it.
    first.strip_prefix(&format!("`{subject}` ")).unwrap_or(first).to_owned()
}

/// Summarizes the result in a few words.
fn detail(tool: &str, subject: &str, result: Option<&Json>, answer: &Answer) -> String {
    if answer.repeats {
        return text!("unchanged", "没有变化").to_owned();
    }
    let Some(result) = result else { return bytes(answer.result.bytes()) };
    let number = |key: &str| result[key].as_u64();
    let count = |key: &str| result[key].as_array().map(Vec::len);
    let more = if result["truncated"] == true { "+" } else { "" };
    let text = match tool {
        "fs.read" if is_window(subject) => {
            let lines = result["content"].as_str().map(|text| text.lines().count());
            lines.map(|count| paint::counted(count, ("line", "行")))
        }
        "fs.read" => number("bytes").map(|size| {
            let cut = if more.is_empty() {
                ""
            } else {
                text!(", shown in part", "，只显示一部分")
            };
            format!("{}{cut}", bytes(size))
        }),
        "fs.list" => {
            let entries = count("entries").or_else(|| count("entriesPreview"));
            entries.map(|count| paint::counted(count, ("entry", "个条目")) + more)
        }
        "fs.search" => {
            let files = result["stats"]["filesScanned"].as_u64().unwrap_or(0);
            count("matches").map(|count| {
                let matches = paint::counted(count, ("match", "处匹配")) + more;
                say!(
                    "{matches} in {}",
                    "{matches}，搜索了{}",
                    paint::counted_u64(files, ("file", "个文件"))
                )
            })
        }
        "fs.write" => number("bytesWritten").map(bytes),
        "runtime.complete_node" => {
            let files = result["files"].as_array().filter(|files| !files.is_empty());
            let sizes = files.map(|files| files.iter().filter_map(|file| file["bytes"].as_u64()));
            sizes.map(|sizes| bytes(sizes.sum()))
        }
        server_tool if server_tool.starts_with("mcp.") => {
            let size = number("bytes").unwrap_or_else(|| answer.result.bytes());
            let cut = if more.is_empty() {
                ""
            } else {
                text!(", shown in part", "，只显示一部分")
            };
            Some(format!("{}{cut}", bytes(size)))
        }
        _ => None,
    };
    // A file that was there before is an artifact as well, but not a new one.
    let was_there = ["replacedBytes", "sha256Before", "changed", "moved"];
    let was_there = was_there.iter().any(|key| !result[*key].is_null());
    let new = if answer.created.is_empty() || was_there { "" } else { text!("new", "新建") };
    match text {
        Some(text) if new.is_empty() => text,
        Some(text) => say!("{text}, {new}", "{text}，{new}"),
        None => new.to_owned(),
    }
}

/// Returns true if a subject names lines of a file: `@project/a.md 10-20`.
fn is_window(subject: &str) -> bool {
    let lines = subject.rsplit_once(':').map(|(_, lines)| lines).unwrap_or_default();
    lines.contains('-') && lines.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}
