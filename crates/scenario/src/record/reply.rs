//! A recorded reply as a line of a scenario.

use crewagent_core::event::{Finish, Reply};
use crewagent_core::message::ToolCall;
use crewagent_core::payload::Payload;
use crewagent_core::refusal::RefusalCode;
use crewagent_core::tool::canonical;
use crewagent_core::usage::Usage;
use crewagent_format::syntax::{Tree, Value, json};
use crewagent_format::wording::{cut, single_spaced};
use serde_json::{Number, Value as Json};

use super::tape::{Passing, TapeReply, is_empty};
use super::write::{CollectionLayout, ListItem, ValueNode};
use super::{RecordError, TextOf};
use crate::scripted::misspelled_tool;

/// Maximum number of values of arguments in YAML; more, or deeper ones, are written as JSON.
const MOST_VALUES: usize = 2_000;
const MOST_DEPTH: usize = 16;
/// Maximum length of a key in YAML.
const LONGEST_KEY: usize = 500;
/// Number of repetitions of a letter from which a template is written.
const LONG_ROW: usize = 256;
/// Maximum number of equal calls in one entry.
const MOST_ALIKE: usize = 10_000;
/// Maximum number of characters of the user's input in a comment.
const QUOTED: usize = 100;
/// Names of the fields that carry thoughts.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// Converter of replies to lines.
pub(super) struct Scribe<'s> {
    pub(super) words: &'s TextOf<'s>,
    pub(super) passing: &'s Passing,
}

impl Scribe<'_> {
    /// Returns the line, with comments for the reader.
    pub(super) fn line(&self, taken: &TapeReply) -> Result<ListItem, RecordError> {
        let reply = &taken.reply;
        let mut arguments =
            ReplyArguments { scribe: self, taken, notes: Vec::new(), answers: None };
        let mut entries = Vec::new();
        if let Some(answers) = expected(taken) {
            let answers =
                ValueNode::Map(vec![("answers".to_owned(), answers)], CollectionLayout::Fit);
            entries.push(("when".to_owned(), answers));
        }
        if let Some(thoughts) = thoughts(reply) {
            entries.push(("think".to_owned(), ValueNode::Text(template(thoughts))));
        }
        match reply.content.as_deref().filter(|words| !words.is_empty()) {
            Some(words) => entries.push(("say".to_owned(), ValueNode::Text(template(words)))),
            None if is_empty(reply) => entries.push(("say".to_owned(), ValueNode::text(""))),
            None => {}
        }
        if !reply.tool_calls.is_empty() {
            let calls = arguments.calls(&reply.tool_calls)?;
            entries.push(("calls".to_owned(), ValueNode::List(calls, CollectionLayout::Open)));
        }
        match reply.finish {
            Finish::Stop => {}
            Finish::Length => entries.push(("finish".to_owned(), ValueNode::text("length"))),
            Finish::Filter => entries.push(("finish".to_owned(), ValueNode::text("filter"))),
        }
        if reply.usage != Usage::default() {
            entries.push(("usage".to_owned(), usage(&reply.usage)));
        }
        let mut notes = self.before(taken)?;
        notes.extend(arguments.notes);
        if let Some(words) = &reply.content
            && self.is_passing(words)
        {
            notes.push(
                "The words have an id or a time in them that another run does not have.".to_owned(),
            );
        }
        Ok(ListItem { notes, node: ValueNode::Map(entries, CollectionLayout::Open) })
    }

    /// Describes the events before the reply.
    fn before(&self, taken: &TapeReply) -> Result<Vec<String>, RecordError> {
        let mut notes = Vec::new();
        if let Some(visit) = taken.visit.filter(|visit| *visit > 1) {
            notes.push(format!("Visit {visit}."));
        }
        for words in &taken.said {
            let words = (self.words)(words)?;
            notes.push(format!("The user: {}", cut(&single_spaced(&words), QUOTED)));
        }
        Ok(notes)
    }

    /// Returns true if a text holds a value that only this run has.
    fn is_passing(&self, text: &str) -> bool {
        let run_id = &self.passing.run_id;
        !run_id.is_empty() && text.contains(run_id.as_str())
            || self.passing.times.iter().any(|time| text.contains(time.as_str()))
    }
}

/// Arguments of the calls of one reply.
struct ReplyArguments<'a> {
    scribe: &'a Scribe<'a>,
    taken: &'a TapeReply,
    notes: Vec<String>,
    /// Answers that a template can reach, with their names. Parsed on first use.
    answers: Option<Vec<(String, Json)>>,
}

impl ReplyArguments<'_> {
    fn calls(&mut self, calls: &[ToolCall]) -> Result<Vec<ListItem>, RecordError> {
        let is_alike = |one: &ToolCall, other: &ToolCall| {
            (&one.name, &one.arguments) == (&other.name, &other.arguments)
        };
        let rows = calls.chunk_by(is_alike).flat_map(|row| row.chunks(MOST_ALIKE));
        rows.map(|row| self.call(&row[0], row.len())).collect()
    }

    fn call(&mut self, call: &ToolCall, times: usize) -> Result<ListItem, RecordError> {
        let name = canonical(&call.name).unwrap_or(&call.name);
        let text = (self.scribe.words)(&call.arguments)?;
        let arguments = object(&text).map(|tree| self.node(&tree));
        let mut entries = match arguments {
            Some(arguments)
                if times == 1
                    && !name.is_empty()
                    && name != "tool"
                    && misspelled_tool(name).is_none() =>
            {
                let entry = vec![(name.to_owned(), arguments)];
                return Ok(ValueNode::Map(entry, CollectionLayout::Open).into());
            }
            Some(arguments) => vec![("arguments".to_owned(), arguments)],
            None => vec![("raw".to_owned(), ValueNode::Text(template(&text)))],
        };
        entries.insert(0, ("tool".to_owned(), ValueNode::text(name)));
        if times > 1 {
            entries.push(("times".to_owned(), ValueNode::number(times as u64)));
        }
        Ok(ValueNode::Map(entries, CollectionLayout::Fit).into())
    }

    fn node(&mut self, tree: &Tree) -> ValueNode {
        match &tree.value {
            Value::Null | Value::Bool(_) | Value::Number(_) => ValueNode::Bare(tree.to_json()),
            Value::String(text) => ValueNode::Text(self.text(text)),
            Value::List(items) => {
                let items = items.iter().map(|item| self.node(item).into());
                ValueNode::List(items.collect(), CollectionLayout::Fit)
            }
            Value::Map(entries) => {
                let entries =
                    entries.iter().map(|entry| (entry.key.clone(), self.node(&entry.tree)));
                ValueNode::Map(entries.collect(), CollectionLayout::Fit)
            }
        }
    }

    /// Renders a text; values that differ from run to run are taken from an answer that has them.
    fn text(&mut self, text: &str) -> String {
        let is_digest = is_digest(text);
        if is_digest || self.scribe.is_passing(text) {
            if let Some(found) = self.found(text) {
                return found;
            }
            let note = if is_digest {
                "The digest is from an earlier answer. It fits as long as that file is the same in every run."
            } else {
                "There is an id or a time in the arguments that another run does not have."
            };
            if !self.notes.iter().any(|known| known == note) {
                self.notes.push(note.to_owned());
            }
        }
        template(text)
    }

    /// Returns the template of the answer that has this value.
    fn found(&mut self, text: &str) -> Option<String> {
        if self.answers.is_none() {
            self.answers = Some(self.reachable());
        }
        let answers = self.answers.as_deref().unwrap_or_default();
        answers.iter().find_map(|(name, answer)| {
            let path = path_to(answer, text)?;
            Some(format!("{{{{{name}.{}}}}}", path.join(".")))
        })
    }

    fn reachable(&self) -> Vec<(String, Json)> {
        let read = |payload: &Payload| {
            let text = (self.scribe.words)(payload).ok()?;
            serde_json::from_str::<Json>(&text).ok()
        };
        let last =
            self.taken.last.as_ref().and_then(read).map(|answer| ("last".to_owned(), answer));
        let answers = self.taken.answers.iter().flatten().enumerate();
        let answers = answers
            .filter_map(|(at, answer)| Some((format!("answers.{at}"), read(&answer.result)?)));
        last.into_iter().chain(answers).collect()
    }
}

/// Returns the answers that the calls of the previous reply need for this one to fit.
fn expected(taken: &TapeReply) -> Option<ValueNode> {
    let answers = taken.answers.as_ref()?;
    let verdicts: Vec<String> = answers
        .iter()
        .map(|answer| match answer.refused {
            None => "ok".to_owned(),
            // Durations differ from run to run.
            Some(RefusalCode::Timeout) => "any".to_owned(),
            Some(code) => match serde_json::to_value(code) {
                Ok(Json::String(code)) => code,
                Ok(_) | Err(_) => "any".to_owned(),
            },
        })
        .collect();
    let first = verdicts.first()?;
    if verdicts.iter().all(|verdict| verdict == first) {
        return Some(ValueNode::text(first));
    }
    let verdicts = verdicts.into_iter().map(|verdict| ValueNode::Text(verdict).into());
    Some(ValueNode::List(verdicts.collect(), CollectionLayout::Fit))
}

fn thoughts(reply: &Reply) -> Option<&str> {
    let texts = THOUGHTS.iter().filter_map(|name| reply.extra.get(*name)?.as_str());
    texts.into_iter().find(|text| !text.is_empty())
}

fn usage(usage: &Usage) -> ValueNode {
    let number = |name: &str, tokens: u64| (name.to_owned(), ValueNode::number(tokens));
    let mut entries =
        vec![number("input", usage.input_tokens), number("output", usage.output_tokens)];
    if usage.cached_tokens > 0 {
        entries.push(number("cached", usage.cached_tokens));
    }
    if usage.reasoning_tokens > 0 {
        entries.push(number("reasoning", usage.reasoning_tokens));
    }
    if let Some(cost) = usage.cost.and_then(Number::from_f64) {
        entries.push(("cost".to_owned(), ValueNode::Bare(cost.into())));
    }
    if usage.estimated {
        entries.push(("estimated".to_owned(), ValueNode::Bare(true.into())));
    }
    ValueNode::Map(entries, CollectionLayout::Fit)
}

/// Parses arguments that YAML can express: an object, no key twice, not too large.
fn object(text: &str) -> Option<Tree> {
    let tree = json::parse(text).ok()?;
    let is_small = tree.count() <= MOST_VALUES && fits(&tree, MOST_DEPTH);
    // A byte order mark is not part of the object, and not every reader skips it.
    let is_object = tree.as_map().is_some() && !text.starts_with('\u{feff}');
    (is_small && is_object).then_some(tree)
}

fn fits(tree: &Tree, depth: usize) -> bool {
    match &tree.value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        Value::List(items) => depth > 0 && items.iter().all(|item| fits(item, depth - 1)),
        Value::Map(entries) => {
            let is_short = |key: &str| key.len() <= LONGEST_KEY;
            depth > 0
                && entries.iter().all(|entry| is_short(&entry.key) && fits(&entry.tree, depth - 1))
        }
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the path of a text in an answer, as a template writes it.
fn path_to(answer: &Json, text: &str) -> Option<Vec<String>> {
    match answer {
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
        Json::String(found) => (found == text).then(Vec::new),
        Json::Array(items) => {
            let mut found = items.iter().enumerate();
            found.find_map(|(at, item)| Some(step(at.to_string(), path_to(item, text)?)))
        }
        Json::Object(entries) => {
            let is_name = |name: &str| !name.is_empty() && name.chars().all(char::is_alphanumeric);
            let mut found = entries.iter().filter(|(name, _)| is_name(name));
            found.find_map(|(name, value)| Some(step(name.clone(), path_to(value, text)?)))
        }
    }
}

fn step(name: String, mut path: Vec<String>) -> Vec<String> {
    path.insert(0, name);
    path
}

/// Escapes a text so that its template gives it back.
fn template(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // True if the last letter is one brace, which would join those of a template.
    let mut is_brace = false;
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let after = rest.trim_start_matches(letter);
        let bytes = rest.len() - after.len();
        let times = bytes / letter.len_utf8();
        rest = after;
        if bytes >= LONG_ROW {
            if is_brace {
                out.pop();
                out.push_str("{{repeat:{:1}}");
            }
            out.push_str(&format!("{{{{repeat:{letter}:{times}}}}}"));
            is_brace = false;
        } else if letter == '{' {
            out.push_str(&"{{braces}}".repeat(times / 2));
            is_brace = times % 2 == 1;
            if is_brace {
                out.push('{');
            }
        } else {
            out.extend(std::iter::repeat_n(letter, times));
            is_brace = false;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_so_that_its_template_gives_it_back() {
        assert_eq!(template("plain"), "plain");
        assert_eq!(template("{{x}}"), "{{braces}}x}}");
        assert_eq!(template("a{{{b{c}}}"), "a{{braces}}{b{c}}}");
        assert_eq!(template(&"é".repeat(300)), "{{repeat:é:300}}");
        assert_eq!(template(&format!("{{{}", "x".repeat(256))), "{{repeat:{:1}}{{repeat:x:256}}");
        assert_eq!(template(&"-".repeat(80)), "-".repeat(80));
    }

    #[test]
    fn a_value_is_found_where_an_answer_has_it() {
        let answer = serde_json::json!({ "ok": true, "a.b": "x", "files": [{ "sha256": "x" }] });
        assert_eq!(path_to(&answer, "x").unwrap(), ["files", "0", "sha256"]);
        assert_eq!(path_to(&answer, "y"), None);
    }
}
