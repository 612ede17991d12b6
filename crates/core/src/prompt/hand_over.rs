//! What a talk and a run tell each other: the last words before a workflow, and what became of it.

use std::sync::Arc;

use super::line::{folded, head, joined, line};
use crate::message::Message;

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
    let texts = messages.iter().skip(from).filter_map(|message| match &**message {
        Message::User { content } => Some(Message::user(content.clone())),
        Message::Assistant { content: Some(words), .. } => Some(Message::assistant(words.clone())),
        Message::Assistant { content: None, .. }
        | Message::System { .. }
        | Message::Tool { .. } => None,
    });
    let mut texts: Vec<Message> = texts.collect();
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
