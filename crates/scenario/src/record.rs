//! Records a run as a scenario: one good run becomes a test for the scripted model.
//!
//! The scenario holds the model's replies, by node and in order. It is read back before it is returned: the parsed
//! value must equal the written one.

mod reply;
mod tape;
mod write;

use std::sync::Arc;

use crewagent_core::event::Event;
use crewagent_core::payload::Payload;
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_format::integrity::Digest;
use crewagent_format::syntax::yaml;
use crewagent_format::text::is_unsafe_char;
use serde_json::Value as Json;
use thiserror::Error;

use self::reply::Scribe;
use self::tape::{RunStart, Tape};
use self::write::{CollectionLayout, TextForm, ValueNode};
use crate::scripted::Scripted;

/// Function that finds the text of a payload.
type TextOf<'w> = dyn Fn(&Payload) -> Result<Arc<str>, RecordError> + 'w;

/// Reason why a run cannot be recorded as a scenario.
#[derive(Debug, Error)]
pub enum RecordError {
    #[error("the model has not replied yet, so there is nothing to record")]
    Nothing,
    /// A text of the run is missing.
    #[error("a text of the run is missing: the blob {0}")]
    Lost(Digest),
    /// The written text cannot be read as a scenario.
    #[error("the run does not fit into a scenario: {0}")]
    Unfit(String),
}

/// Returns the scenario of a run as text: from all its events, in their order, however often it was resumed. `blobs`
/// finds the texts that are not in the events themselves; `mask` takes out what must not leave this computer.
pub fn scenario(
    title: &str,
    events: &[Event],
    blobs: &dyn Fn(Digest) -> Option<Arc<str>>,
    mask: &dyn Fn(&str) -> String,
) -> Result<String, RecordError> {
    let words = |payload: &Payload| match payload {
        Payload::Inline(text) => Ok(text.clone()),
        Payload::Blob { sha256, .. } => blobs(*sha256).ok_or(RecordError::Lost(*sha256)),
    };
    let tape = Tape::of(events);
    if tape.nodes.is_empty() {
        return Err(RecordError::Nothing);
    }
    let root = root(title, &tape, &words)?;
    let head = head(&tape, &words)?;
    let blocks = write::document(&head, &root, TextForm::Blocks);
    let text = if check(&blocks, &root).is_ok() {
        blocks
    } else {
        let quoted = write::document(&head, &root, TextForm::Quoted);
        check(&quoted, &root)?;
        quoted
    };
    let masked = mask(&text);
    if masked != text {
        parse(&masked)?;
    }
    Ok(masked)
}

/// Returns the contents of the file.
fn root(title: &str, tape: &Tape, words: &TextOf<'_>) -> Result<ValueNode, RecordError> {
    let scribe = Scribe { words, passing: &tape.passing };
    let mut nodes = Vec::new();
    let mut complete = None;
    for (node, replies) in &tape.nodes {
        let lines = replies.iter().map(|taken| scribe.line(taken));
        let lines = ValueNode::List(lines.collect::<Result<_, _>>()?, CollectionLayout::Open);
        match node {
            Some(node) => nodes.push((node.clone(), lines)),
            None => complete = Some(lines),
        }
    }
    let mut entries = vec![("scenario".to_owned(), ValueNode::text(title))];
    if !nodes.is_empty() {
        entries.push(("nodes".to_owned(), ValueNode::Map(nodes, CollectionLayout::Open)));
    }
    entries.extend(complete.map(|lines| ("complete".to_owned(), lines)));
    Ok(ValueNode::Map(entries, CollectionLayout::Open))
}

/// Checks that the text reads back as written, and that the scripted model accepts it.
fn check(text: &str, root: &ValueNode) -> Result<(), RecordError> {
    let unfit = |error: String| RecordError::Unfit(error);
    parse(text)?;
    let found = yaml::parse(text).map_err(|errors| {
        unfit(errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join("; "))
    })?;
    if found.to_json() == root.to_json() {
        return Ok(());
    }
    Err(unfit("it reads back differently; this is a mistake of CrewAgent".to_owned()))
}

fn parse(text: &str) -> Result<(), RecordError> {
    let parsed = Scripted::parse("the recording", text);
    parsed.map(drop).map_err(|error| RecordError::Unfit(error.to_string()))
}

/// Returns the comment at the top: the origin, and the command that plays it.
fn head(tape: &Tape, words: &TextOf<'_>) -> Result<Vec<String>, RecordError> {
    let mut lines = Vec::new();
    if let Some(start) = &tape.start {
        lines.push(format!(
            "Recorded from run {}. To play it on a fresh copy of the project:",
            start.run_id
        ));
        let mut parts = vec![command(start)];
        let settings = settings(&tape.settings);
        if !settings.is_empty() {
            parts.push(settings.join(" "));
        }
        for (name, value) in &start.state.variables {
            parts.push(format!("--var {}", shell(&format!("{name}={}", variable(value)))));
        }
        for input in &tape.inputs {
            parts.push(format!("--input {}", shell(&words(input)?)));
        }
        let last = parts.len() - 1;
        for (at, part) in parts.iter().enumerate() {
            let indent = if at == 0 { "  " } else { "    " };
            let more = if at == last { "" } else { " \\" };
            lines.push(format!("{indent}{part}{more}"));
        }
    }
    lines.extend(tape.notes.iter().map(|note| note.replace('\n', " ")));
    Ok(lines)
}

fn command(start: &RunStart) -> String {
    let RunStart { package, workflow, agent, .. } = start;
    let (package, workflow, agent) = (shell(package), shell(workflow), shell(agent));
    format!("crewagent run {package} --workflow {workflow} --agent {agent} --model scripted:FILE")
}

/// Returns the settings of the run that differ from the defaults.
fn settings(settings: &RunSettings) -> Vec<String> {
    let (limits, usual) = (&settings.limits, RunSettings::default().limits);
    let mut flags = Vec::new();
    match settings.mode {
        Mode::Guided => flags.push("--guided".to_owned()),
        Mode::Autopilot => {}
    }
    if limits.turns != usual.turns {
        flags.push(format!("--max-turns {}", limits.turns));
    }
    flags.extend(limits.seconds.map(|seconds| format!("--timeout {seconds}s")));
    flags.extend(limits.tokens.map(|tokens| format!("--max-tokens {tokens}")));
    flags.extend(limits.cost.map(|cost| format!("--max-cost {cost}")));
    flags
}

/// Returns a value for `--var`: a text unchanged, unless it would be parsed as another type.
fn variable(value: &Json) -> String {
    match value {
        Json::String(text) if serde_json::from_str::<Json>(text).is_err() => text.clone(),
        Json::Null
        | Json::Bool(_)
        | Json::Number(_)
        | Json::String(_)
        | Json::Array(_)
        | Json::Object(_) => value.to_string(),
    }
}

/// Quotes a text as one word of a shell, in one line.
fn shell(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if !text.chars().any(is_unsafe_char) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut word = String::from("$'");
    for c in text.chars() {
        match c {
            '\n' => word.push_str("\\n"),
            '\t' => word.push_str("\\t"),
            '\\' | '\'' => word.extend(['\\', c]),
            c if is_unsafe_char(c) => word.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => word.push(c),
        }
    }
    word.push('\'');
    word
}
