//! Assembles a reply from the pieces of an answer.
//!
//! Servers disagree about nearly everything in a stream, so a missing field is no error and a repeated one counts once.
//! An answer is complete when its server gives a reason for the end, or declares the end.

mod budget;
mod calls;
mod ended;
mod extra;
#[cfg(test)]
mod tests;
mod think;

use crewagent_core::event::{Channel, Finish, Reply};
use crewagent_lenient::calls as leaked;
use serde_json::{Map, Value as Json};

use self::budget::Budget;
use self::calls::CallAssembly;
use self::ended::Ended;
use self::think::Splitter;
use super::fault::{Fault, FaultKind};
use super::json;
use super::names::ToolNames;
use super::profile::CallsInText;
use super::usage::TokenTally;

/// Names of the fields that carry thoughts. If there are several, they are copies of each other.
const THOUGHTS: &[&str] = &["reasoning_content", "reasoning", "reasoning_text"];
/// Number of quoted characters of malformed data.
const QUOTED: usize = 200;

/// Limits of an answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerLimits {
    /// Maximum bytes of text, thoughts, calls and everything else together.
    pub reply_bytes: usize,
    pub calls: usize,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        Self { reply_bytes: 8 << 20, calls: 1024 }
    }
}

/// Part of the answer to show while it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerPiece<'p> {
    pub channel: Channel,
    /// Text; never empty.
    pub text: &'p str,
}

/// State of the stream after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamState {
    More,
    /// The server declared the end.
    Done,
}

/// Answer that is being received.
#[derive(Debug)]
pub struct Assembler {
    budget: Budget,
    content: String,
    splitter: Splitter,
    calls: CallAssembly,
    extra: Map<String, Json>,
    usage: TokenTally,
    /// Reason why the answer ended, if the server gave one.
    ended: Option<Ended>,
    /// Number of pieces that gave such a reason.
    endings: u32,
    /// True after the first piece of an answer.
    has_begun: bool,
    /// True after the server declared the end.
    is_done: bool,
    /// Data that could not be parsed. Only the next piece shows what it was.
    doubt: Option<Doubt>,
}

/// Hints that a piece holds more than text and calls. Most do not, and a search takes longer than parsing them.
struct Hints {
    may_be_error: bool,
    may_count: bool,
}

impl Hints {
    fn of(data: &str) -> Self {
        // A server may write a letter as an escape.
        let is_odd = data.contains("\\u00");
        Self {
            may_be_error: is_odd || data.contains("error") || data.contains("base_resp"),
            may_count: is_odd || data.contains("usage"),
        }
    }
}

/// Data that could not be parsed.
#[derive(Debug)]
struct Doubt {
    /// True if it may be the beginning of valid data.
    is_cut: bool,
    fault: Fault,
}

impl Assembler {
    /// Creates an answer without any pieces.
    pub fn new(limits: AnswerLimits) -> Self {
        Self {
            budget: Budget::new(limits.reply_bytes),
            content: String::new(),
            splitter: Splitter::default(),
            calls: CallAssembly::new(limits.calls),
            extra: Map::new(),
            usage: TokenTally::default(),
            ended: None,
            endings: 0,
            has_begun: false,
            is_done: false,
            doubt: None,
        }
    }

    /// Adds one `data:` of the stream. `tell` receives text and thoughts as they arrive.
    pub fn push(
        &mut self,
        data: &str,
        tell: &mut dyn FnMut(AnswerPiece<'_>),
    ) -> Result<StreamState, Fault> {
        if self.is_done {
            return Ok(StreamState::Done);
        }
        let data = data.trim();
        if data.is_empty() {
            return Ok(StreamState::More);
        }
        match self.doubt.take() {
            // After the end, some servers send a closing line in a form of their own.
            Some(doubt) if self.ended.is_none() => return Err(doubt.fault),
            Some(_) | None => {}
        }
        if data.eq_ignore_ascii_case("[done]") {
            self.is_done = true;
            return Ok(StreamState::Done);
        }
        match json::parse_piece(data) {
            Ok(event) => self.event(&event, &Hints::of(data), tell)?,
            Err(error) if json::has_too_much(&error) => {
                return Err(Fault::new(FaultKind::TooLong));
            }
            Err(error) => {
                self.doubt = Some(Doubt { is_cut: error.is_eof(), fault: nonsense(data) })
            }
        }
        Ok(StreamState::More)
    }

    /// Finishes the answer after the stream has ended. Without a reason of the end and without `[DONE]`, it was cut
    /// off. Calls in the text count if `calls_in_text` says so, they are of tools with these names, and there are no
    /// others.
    pub fn finish(mut self, names: &ToolNames, calls_in_text: CallsInText) -> Result<Reply, Fault> {
        match self.doubt.take() {
            // A single ending is reliable; servers that send it all the time mean nothing by it.
            Some(doubt) if doubt.is_cut && self.endings != 1 => {
                return Err(Fault::new(FaultKind::CutOff));
            }
            Some(doubt) if self.ended.is_none() => return Err(doubt.fault),
            Some(_) | None => {}
        }
        if !self.has_begun || (self.ended.is_none() && !self.is_done) {
            return Err(Fault::new(FaultKind::CutOff));
        }
        let ended = self.ended.unwrap_or(Ended::Stop);
        if let Ended::Failed(kind) = ended {
            return Err(Fault::new(kind));
        }
        let mut content = std::mem::take(&mut self.content);
        content.push_str(&self.splitter.rest());
        if let Some((thoughts, words)) = think::closed_only(&content) {
            extra::append(&mut self.extra, THOUGHTS[0], thoughts);
            content = words.to_owned();
        }
        let mut found = self.calls.drafts();
        let (mut text_calls, mut unreadable_call) = (0, None);
        if found.is_empty() {
            let read = leaked::read(&content, calls_in_text, &|name| names.offers(name));
            text_calls = read.calls.len();
            let whole = |(name, arguments)| calls::CallDraft::whole(name, arguments);
            found.extend(read.calls.into_iter().map(whole));
            content = read.words;
            unreadable_call = read.unreadable.filter(|_| text_calls == 0);
        }
        let tool_calls = calls::named(found, names);
        let content = Some(content).filter(|content| !content.trim().is_empty());
        let finish = match ended {
            Ended::Length => Finish::Length,
            Ended::Filter if !tool_calls.is_empty() => Finish::Stop,
            Ended::Filter if content.is_none() => return Err(Fault::new(FaultKind::Filter)),
            Ended::Filter => Finish::Filter,
            Ended::Stop | Ended::Failed(_) => Finish::Stop,
        };
        Ok(Reply {
            content,
            tool_calls,
            broken_calls: Vec::new(),
            text_calls,
            unreadable_call,
            repaired_calls: Vec::new(),
            drafts: Vec::new(),
            broken_drafts: Vec::new(),
            finish,
            usage: self.usage.usage(),
            from: None,
            extra: self.extra,
        })
    }

    /// Returns the text so far.
    pub fn words(&self) -> &str {
        &self.content
    }

    /// Parses an answer that arrived as a whole.
    pub fn whole(
        body: &[u8],
        limits: AnswerLimits,
        names: &ToolNames,
        calls_in_text: CallsInText,
    ) -> Result<Reply, Fault> {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        let mut assembler = Self::new(limits);
        let mut tell = |_: AnswerPiece<'_>| {};
        if ["data:", "event:", "id:", ":"].iter().any(|start| text.starts_with(start)) {
            // The server streamed although no stream was requested.
            for data in text.lines().filter_map(|line| line.strip_prefix("data:")) {
                assembler.push(data, &mut tell)?;
            }
            return assembler.finish(names, calls_in_text);
        }
        let event = match json::parse(text) {
            Ok(event) => event,
            Err(error) if error.is_eof() => return Err(Fault::new(FaultKind::CutOff)),
            Err(error) if json::has_too_much(&error) => {
                return Err(Fault::new(FaultKind::TooLong));
            }
            Err(_) => return Err(Fault::of_response(200, None, None, body)),
        };
        assembler.event(&event, &Hints::of(text), &mut tell)?;
        if !assembler.has_begun {
            return Err(nonsense(text));
        }
        assembler.is_done = true;
        assembler.finish(names, calls_in_text)
    }

    fn event(
        &mut self,
        event: &Json,
        hints: &Hints,
        tell: &mut dyn FnMut(AnswerPiece<'_>),
    ) -> Result<(), Fault> {
        if let Json::Array(events) = event {
            return events.iter().try_for_each(|event| self.event(event, hints, tell));
        }
        let choice = first_choice(event);
        if (choice.is_none() || hints.may_be_error)
            && let Some(fault) = Fault::in_stream(event)
        {
            return Err(fault);
        }
        if hints.may_count {
            self.usage.take(event, choice);
        }
        let Some(choice) = choice else { return Ok(()) };
        if let Some(ended) = Ended::of(&choice["finish_reason"]) {
            self.ended = Some(ended.and(self.ended));
            self.endings += 1;
        }
        if let Some(delta) = choice["delta"].as_object().filter(|delta| !delta.is_empty()) {
            self.message(delta, tell)?;
        } else if let Some(message) = choice["message"].as_object().filter(|_| self.is_empty()) {
            // Some servers repeat the whole answer at the end.
            self.message(message, tell)?;
        }
        self.has_begun = true;
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.content.is_empty()
            && self.splitter.is_empty()
            && self.calls.is_empty()
            && self.extra.is_empty()
    }

    /// Adds a message, or a piece of one.
    fn message(
        &mut self,
        message: &Map<String, Json>,
        tell: &mut dyn FnMut(AnswerPiece<'_>),
    ) -> Result<(), Fault> {
        let thought = |name: &str| message.get(name)?.as_str().filter(|text| !text.is_empty());
        if let Some((name, text)) = THOUGHTS.iter().find_map(|name| Some((name, thought(name)?))) {
            self.think(name, text, tell)?;
        }
        let calls = message.get("tool_calls").and_then(Json::as_array);
        let has_calls = calls.is_some_and(|calls| !calls.is_empty());
        for (key, value) in message {
            match key.as_str() {
                // Not a field of the message itself; `from` is ours.
                "role" | "usage" | "error" | "from" => {}
                "content" | "refusal" => self.content(value, tell)?,
                "tool_calls" => self.calls.take(value, &mut self.budget)?,
                // The older form of a call; some servers send it as a copy.
                "function_call" if !has_calls => self.calls.take_single(value, &mut self.budget)?,
                "function_call" => {}
                key if THOUGHTS.contains(&key) && value.is_string() => {}
                key => extra::merge(&mut self.extra, key, value, &mut self.budget)?,
            }
        }
        Ok(())
    }

    /// Adds content: a text, or a list of parts some of which may be thoughts.
    fn content(
        &mut self,
        content: &Json,
        tell: &mut dyn FnMut(AnswerPiece<'_>),
    ) -> Result<(), Fault> {
        match content {
            Json::String(text) => self.speak(text, tell),
            Json::Array(parts) => parts.iter().try_for_each(|part| self.content(part, tell)),
            Json::Object(part) => match part.get("type").and_then(Json::as_str) {
                Some("thinking" | "reasoning") => {
                    let inner = ["thinking", "reasoning", "text", "content"];
                    let inner = inner.iter().find_map(|key| part.get(*key));
                    inner.map_or(Ok(()), |inner| self.think_parts(inner, tell))
                }
                Some(_) | None => {
                    let inner = ["text", "content", "refusal", "value"];
                    let inner = inner.iter().find_map(|key| part.get(*key));
                    inner.map_or(Ok(()), |inner| self.content(inner, tell))
                }
            },
            Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
        }
    }

    fn think_parts(
        &mut self,
        parts: &Json,
        tell: &mut dyn FnMut(AnswerPiece<'_>),
    ) -> Result<(), Fault> {
        match parts {
            Json::String(text) => self.think(THOUGHTS[0], text, tell),
            Json::Array(parts) => parts.iter().try_for_each(|part| self.think_parts(part, tell)),
            Json::Object(part) => {
                part.get("text").map_or(Ok(()), |inner| self.think_parts(inner, tell))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
        }
    }

    fn think(
        &mut self,
        name: &str,
        text: &str,
        tell: &mut dyn FnMut(AnswerPiece<'_>),
    ) -> Result<(), Fault> {
        self.budget.spend(text.len())?;
        extra::append(&mut self.extra, name, text);
        if !text.is_empty() {
            tell(AnswerPiece { channel: Channel::Thinking, text });
        }
        Ok(())
    }

    fn speak(&mut self, text: &str, tell: &mut dyn FnMut(AnswerPiece<'_>)) -> Result<(), Fault> {
        self.budget.spend(text.len())?;
        let (content, extra) = (&mut self.content, &mut self.extra);
        self.splitter.push(text, &mut |channel, text| {
            match channel {
                Channel::Text => content.push_str(text),
                Channel::Thinking => extra::append(extra, THOUGHTS[0], text),
            }
            tell(AnswerPiece { channel, text });
        });
        Ok(())
    }
}

/// Returns the first choice. Others exist only if several were requested.
fn first_choice(event: &Json) -> Option<&Json> {
    let is_first = |choice: &&Json| match &choice["index"] {
        Json::Number(index) => index.as_f64() == Some(0.0),
        Json::String(index) => index == "0",
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => choice.is_object(),
    };
    match &event["choices"] {
        Json::Array(choices) => choices.iter().find(is_first),
        choice @ Json::Object(_) => Some(choice).filter(is_first),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
    }
}

/// Returns the fault for malformed data.
fn nonsense(data: &str) -> Fault {
    let end = data.char_indices().nth(QUOTED).map_or(data.len(), |(end, _)| end);
    let quoted = Fault::of_response(200, None, None, &data.as_bytes()[..end]).said;
    Fault { said: quoted, ..Fault::new(FaultKind::Malformed) }
}
