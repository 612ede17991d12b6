//! The last tool call in full: its arguments and its result.

use crewagent_core::event::{
    Answer, AssistantMessage, Event, EventKind, ModelEvent, ToolEvent, ToolFinished,
};
use crewagent_core::message::ToolCall;
use crewagent_core::payload::Payload;
use crewagent_engine::blobs::Blobs;
use serde_json::Value as Json;

use crate::language::text;
use crate::paint::{self, NAME, QUIET};

const LINES: usize = 40;

/// The tool calls of a run that `/last` can show.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The calls of the last reply.
    asked: Vec<ToolCall>,
    last: Option<(String, Option<Payload>, Answer)>,
}

impl Ledger {
    pub(crate) fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) => {
                self.asked.clone_from(&reply.tool_calls);
            }
            EventKind::Tool(ToolEvent::Finished(ToolFinished {
                call_id, tool, answer, ..
            })) => {
                let asked = self.asked.iter().find(|call| call.id == *call_id);
                let arguments = asked.map(|call| call.arguments.clone());
                self.last = Some((tool.clone(), arguments, answer.clone()));
            }
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => {}
        }
    }

    /// Formats the last call, if it happened in this process.
    pub(crate) fn last(&self, blobs: Option<&Blobs>, columns: usize) -> String {
        let Some((tool, arguments, answer)) = &self.last else {
            return text!(
                "  No tool was called since this command began.\n",
                "  这个命令开始以来没有调用过工具。\n",
            )
            .to_owned();
        };
        let text = |payload: &Payload| match (payload.inline(), blobs) {
            (Some(text), _) => Some(text.to_string()),
            (None, Some(blobs)) => blobs.resolve(payload).ok().map(|text| text.to_string()),
            (None, None) => None,
        };
        let mut out = format!("  {}\n", paint::styled(NAME, paint::printable(tool)));
        let arguments = arguments.as_ref().and_then(text);
        for (title, text) in
            [(text!("asked", "请求"), arguments), (text!("answered", "结果"), text(&answer.result))]
        {
            out.push_str(&format!("  {}\n", paint::styled(QUIET, title)));
            out.push_str(&bounded(
                &readable(text.as_deref().unwrap_or(text!("(not at hand)", "（手头没有）"))),
                columns,
            ));
        }
        out
    }
}

fn bounded(lines: &[String], columns: usize) -> String {
    let mut out = String::new();
    for line in lines.iter().take(LINES) {
        let line = paint::printable(&line.replace('\t', "    "));
        out.push_str(&format!("    {}\n", paint::fitted(&line, columns.saturating_sub(5))));
    }
    if let Some(more @ 1..) = lines.len().checked_sub(LINES) {
        let more = format!("… {}", paint::counted(more, ("more line", "行未显示")));
        out.push_str(&format!("    {}\n", paint::styled(QUIET, more)));
    }
    out
}

/// Formats a JSON object line by line: multi-line strings as text, the rest as JSON.
fn readable(text: &str) -> Vec<String> {
    let owned = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let Ok(Json::Object(members)) = serde_json::from_str::<Json>(text) else { return owned(text) };
    let mut lines = Vec::new();
    for (key, value) in &members {
        match value {
            Json::String(text) if text.contains('\n') => {
                lines.push(format!("{key}:"));
                lines.extend(text.lines().map(|line| format!("  {line}")));
            }
            Json::String(text) => lines.push(format!("{key}: {text}")),
            Json::Array(_) | Json::Object(_) => {
                lines.extend(owned(&format!("{key}: {value:#}")));
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => lines.push(format!("{key}: {value}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_lines() {
        let lines = readable(r#"{"ok":true,"content":"a\nb","path":"@project/x","list":[1]}"#);
        assert_eq!(
            lines,
            ["ok: true", "content:", "  a", "  b", "path: @project/x", "list: [", "  1", "]"]
        );
        assert_eq!(readable("no json"), ["no json"]);
    }

    #[test]
    fn what_is_shown_is_bounded_and_harmless() {
        let long: Vec<String> = (0..100).map(|n| format!("{n}\u{1b}[2J")).collect();
        let text = bounded(&long, 40);
        assert_eq!(text.lines().count(), LINES + 1);
        assert!(text.contains("60 more lines") && text.contains("0\u{fffd}[2J"), "{text}");
    }
}
