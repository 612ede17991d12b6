//! Loops without a runtime that do the same work, computed from the requests and events of a run.
//!
//! Where a loop could do better than the run, it is taken to do so:
//!
//! - The *full history* has the same system messages and tools. Of a node's message it keeps the brief and the files that
//!   it has not seen or written before.
//! - The *plain loop* has all steps that are visited in its system prompt, and neither rules, personas nor ways on. It
//!   writes files where the run completes nodes, makes no requests that only move, and reads files without a request of
//!   their own.

use std::collections::HashSet;

use crewagent_core::tool::render::render;
use serde_json::{Value as Json, json};

use super::Failure;

/// Tool that completes a node, as events name it.
const COMPLETE: &str = "complete_node";

/// A reply, and the answers to its calls.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    content: Json,
    calls: Vec<Json>,
    /// Results by the id of the call.
    results: Vec<(String, String)>,
}

impl Exchange {
    /// Reads a reply from its event.
    pub(super) fn new(event: &Json) -> Self {
        let calls = event["toolCalls"].as_array().cloned().unwrap_or_default();
        Self { content: event["content"].clone(), calls, results: Vec::new() }
    }

    /// Adds the answer to a call.
    pub(super) fn answer(&mut self, event: &Json) {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        self.results.push((text("callId"), text("result")));
    }

    /// Returns the size of the messages, with the answers as a model reads them.
    fn bytes(&self) -> u64 {
        let answers = self.calls.iter().map(|call| tool_message(call, &self.answer_to(call)));
        let reply =
            json!({ "role": "assistant", "content": self.content, "tool_calls": self.calls });
        answers.map(|answer| size(&answer)).sum::<u64>() + size(&reply)
    }

    /// Returns the same reply with files that are written instead of nodes that are completed; none if nothing is left.
    fn plain(&self) -> Result<Option<Self>, Failure> {
        let mut plain = Self { content: self.content.clone(), ..Self::default() };
        for call in &self.calls {
            let function = &call["function"];
            if !function["name"].as_str().is_some_and(|name| name.ends_with(COMPLETE)) {
                plain.results.push((id_of(call), self.answer_to(call)));
                plain.calls.push(call.clone());
                continue;
            }
            let arguments: Json =
                serde_json::from_str(function["arguments"].as_str().unwrap_or("{}"))?;
            for file in arguments["files"].as_array().into_iter().flatten() {
                let id = format!("{}-{}", id_of(call), plain.calls.len());
                let function = json!({ "name": "fs_write", "arguments": file.to_string() });
                plain.calls.push(json!({ "id": id, "type": "function", "function": function }));
                plain.results.push((id, format!("Wrote {}.", file["path"])));
            }
        }
        let is_empty = plain.calls.is_empty() && plain.content.is_null();
        Ok(Some(plain).filter(|_| !is_empty))
    }

    fn answer_to(&self, call: &Json) -> String {
        let id = id_of(call);
        let result = self.results.iter().find(|(of, _)| *of == id);
        let function = &call["function"];
        let text = |key: &str| function[key].as_str().unwrap_or_default();
        let result = result.map_or("", |(_, result)| result.as_str());
        render(text("name"), text("arguments"), result).into_owned()
    }
}

fn id_of(call: &Json) -> String {
    call["id"].as_str().unwrap_or_default().to_owned()
}

fn tool_message(call: &Json, content: &str) -> Json {
    json!({ "role": "tool", "tool_call_id": id_of(call), "content": content })
}

fn size(message: &Json) -> u64 {
    message.to_string().len() as u64
}

/// Sections of a node's message.
#[derive(Clone, Copy)]
struct NodeSections<'m> {
    inputs: &'m str,
    brief: &'m str,
    step: &'m str,
}

impl<'m> NodeSections<'m> {
    fn read(message: &'m str) -> Option<Self> {
        let at =
            message.starts_with("RUN_DIRECTIVE").then(|| message.find("\n\nNODE_BRIEF\n"))??;
        let (before, brief) = message.split_at(at);
        let inputs = before.split_once("\n\nINPUTS\n").map_or("", |(_, inputs)| inputs);
        let fenced = brief.split_once(", in full:\n").map_or("", |(_, rest)| rest);
        let (fence, rest) = fenced.split_once('\n').unwrap_or_default();
        let step = rest.split_once(&format!("\n{fence}\n")).map_or("", |(step, _)| step);
        Some(Self { inputs, brief, step })
    }

    /// Returns the shown files, each with its path.
    fn files(&self) -> impl Iterator<Item = (&'m str, &'m str)> {
        let blocks = self.inputs.split("--- ").filter(|block| !block.starts_with("missing:"));
        blocks.filter_map(|block| Some((block.split_once(" (")?.0, block)))
    }
}

/// Bytes of both loops so far.
#[derive(Debug, Default)]
pub(super) struct Peers {
    /// Sent by the loop with the full history.
    pub(super) full: u64,
    /// Requests of the plain loop; those of the other are the run's.
    pub(super) plain_requests: usize,
    history: u64,
    plain_history: u64,
    /// Bytes that the plain loop sends beside its system prompt.
    plain: u64,
    /// Text of all replies, and the paths of all files that were shown.
    known: String,
    steps: HashSet<String>,
    messages: HashSet<String>,
}

impl Peers {
    /// Takes a request of the run: the size of its system messages and tools, and its user messages.
    pub(super) fn ask(&mut self, fixed: u64, tools: u64, users: &[String]) {
        for text in users {
            if !self.messages.insert(text.clone()) {
                continue;
            }
            match NodeSections::read(text) {
                Some(node) => self.enter(text, node),
                None => self.add(size(&json!({ "role": "user", "content": text }))),
            }
        }
        self.full += fixed + self.history;
        self.plain += tools + self.plain_history;
        self.plain_requests += 1;
    }

    fn enter(&mut self, text: &str, node: NodeSections<'_>) {
        let mut news = String::new();
        for (_, block) in node.files().filter(|(path, _)| !self.known.contains(path)) {
            news.push_str(block);
            self.plain_history += size(&json!({ "role": "tool", "content": block }));
        }
        for (path, _) in node.files() {
            self.known.push_str(path);
            self.known.push('\n');
        }
        let is_first = self.history == 0;
        let kept = if is_first { text.to_owned() } else { format!("{news}{}", node.brief) };
        self.history += size(&json!({ "role": "user", "content": kept }));
        self.steps.insert(node.step.to_owned());
    }

    fn add(&mut self, bytes: u64) {
        self.history += bytes;
        self.plain_history += bytes;
    }

    /// Takes the reply to the last request.
    pub(super) fn reply(&mut self, exchange: &Exchange, tools: u64) -> Result<(), Failure> {
        self.history += exchange.bytes();
        match exchange.plain()? {
            Some(plain) => self.plain_history += plain.bytes(),
            None => {
                self.plain -= tools + self.plain_history;
                self.plain_requests -= 1;
            }
        }
        for call in &exchange.calls {
            self.known.push_str(&call.to_string());
        }
        Ok(())
    }

    /// Returns the bytes that the plain loop sends: the steps are a part of each request.
    pub(super) fn plain(&self) -> u64 {
        let steps: u64 = self.steps.iter().map(|step| size(&json!(step))).sum();
        self.plain + steps * self.plain_requests as u64
    }
}
