//! What a talk and a run tell each other: the last words before a workflow, and what became of it.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value as Json;

use super::line::{folded, head, joined, line};
use super::user_input::user_input;
use crate::message::{Message, ToolCall};
use crate::payload::Payload;
use crate::tool::Tool;

/// Largest number of messages that a run is told of.
const MOST_MESSAGES: usize = 6;
/// Maximum size of these messages, in bytes.
const EARLIER_BYTES: usize = 4 * 1024;
/// Size to which the model's words are cut first, in bytes.
const CUT_BYTES: usize = 256;
/// Maximum size of a name or path, in bytes.
const NAME_BYTES: usize = 512;
/// Maximum size of the list of files, in bytes.
const LIST_BYTES: usize = 2 * 1024;
/// Maximum size of the last words, in bytes.
const WORDS_BYTES: usize = 512;
/// Beginning of a note.
const NOTE: &str = "RUN_NOTE";
/// Beginnings of instructions from a menu.
const DIRECTIVES: [&str; 2] = ["PROMPT_DIRECTIVE", "SCRIPT_DIRECTIVE"];

/// State of a run that is left.
#[derive(Clone, Copy, Debug)]
pub struct RunNote<'a> {
    pub workflow: &'a str,
    pub run: &'a str,
    /// Current node; none if the workflow is complete.
    pub node: Option<&'a str>,
    pub wrote: &'a [String],
    /// Last words of the model.
    pub last_words: Option<&'a str>,
}

/// Renders the note to the model of a conversation whose user left a run.
pub fn run_note(note: &RunNote<'_>) -> String {
    let (workflow, run) = (line(note.workflow, NAME_BYTES), line(note.run, NAME_BYTES));
    let state = match note.node {
        Some(node) => format!("at {}, waiting", line(node, NAME_BYTES)),
        None => "complete".to_owned(),
    };
    let mut text = format!("{NOTE}\n- workflow: {workflow} (run {run}), {state}");
    let wrote = joined(note.wrote.iter().map(|path| line(path, NAME_BYTES)), ", ", LIST_BYTES);
    if !wrote.is_empty() {
        text.push_str(&format!("\n- wrote: {wrote}"));
    }
    if let Some(words) = note.last_words.map(|words| folded(words, WORDS_BYTES)) {
        text.push_str(&format!("\n- last words: \"{words}\""));
    }
    text
}

/// Returns the last messages of a talk since the last run, for the run that begins now. Where they are too long, the
/// model's words are cut first, then the oldest are left out.
pub fn earlier_words(messages: &[Arc<Message>]) -> Vec<Message> {
    let is_note = |message: &Arc<Message>| matches!(&**message, Message::User { content } if content.starts_with(NOTE));
    let from = messages.iter().rposition(is_note).map_or(0, |at| at + 1);
    let mut asked: HashSet<&str> = HashSet::new();
    let mut texts: Vec<Message> = Vec::new();
    for message in messages.iter().skip(from) {
        match &**message {
            // An instruction of the menu holds for the talk, not for the run.
            Message::User { content }
                if DIRECTIVES.iter().any(|name| content.starts_with(name)) => {}
            Message::User { content } => texts.push(Message::user(content.clone())),
            Message::Assistant { content, tool_calls, .. } => {
                texts.extend(content.iter().cloned().map(Message::assistant));
                for call in tool_calls.iter().filter(|call| is_question(call)) {
                    asked.insert(&call.id);
                    texts.extend(question_of(call).map(Message::assistant));
                }
            }
            Message::Tool { tool_call_id, content } if asked.contains(tool_call_id.as_str()) => {
                texts.extend(answer_of(content).map(|said| Message::user(user_input(&said, None))));
            }
            Message::System { .. } | Message::Tool { .. } => {}
        }
    }
    texts.drain(..texts.len().saturating_sub(MOST_MESSAGES));
    let size = |texts: &[Message]| texts.iter().map(Message::bytes).sum::<u64>();
    if size(&texts) > EARLIER_BYTES as u64 {
        for text in &mut texts {
            if let Message::Assistant { content: Some(words), .. } = text
                && words.len() > CUT_BYTES
            {
                *text = Message::assistant(format!("{}…", head(words, CUT_BYTES)));
            }
        }
    }
    while size(&texts) > EARLIER_BYTES as u64 && texts.len() > 1 {
        texts.remove(0);
    }
    if let [Message::User { content }] = texts.as_slice()
        && content.len() > EARLIER_BYTES
    {
        texts = vec![Message::user(format!("{}…", head(content, EARLIER_BYTES)))];
    }
    texts
}

fn is_question(call: &ToolCall) -> bool {
    Tool::named(&call.name) == Some(Tool::AskUser)
}

/// Returns the text of a question that a call asks.
fn question_of(call: &ToolCall) -> Option<String> {
    let arguments: Json = serde_json::from_str(call.arguments.inline()?).ok()?;
    arguments.get("question")?.as_str().map(str::to_owned)
}

/// Returns what the user said to a question; none if the question was refused.
fn answer_of(answer: &Payload) -> Option<String> {
    let answer: Json = serde_json::from_str(answer.inline()?).ok()?;
    match answer.get("answer")? {
        Json::String(text) => Some(text.clone()),
        Json::Null => answer.get("words")?.as_str().map(str::to_owned),
        value @ (Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_)) => {
            Some(value.to_string())
        }
    }
}
