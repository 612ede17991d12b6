//! Reads a scenario file, YAML or JSON.

mod call;
mod condition;

pub(crate) use call::misspelled_tool;

use std::time::Duration;

use crewagent_core::event::Finish;
use crewagent_core::usage::Usage;
use crewagent_engine::model::ModelErrorKind;
use crewagent_format::syntax::{Entry, Tree, Value, json, yaml};

use super::error::ScriptProblem;
use super::pace::Pace;
use super::reading::ScriptReader;
use super::scenario::{ConditionalReply, ReplyFault, Scenario, ScriptLine, ScriptTurn};
use super::when::ReplyCondition;

const FILE: [&str; 6] = ["scenario", "pace", "nodes", "complete", "chat", "otherwise"];
const LINE: [&str; 7] = ["say", "think", "calls", "finish", "usage", "fault", "pace"];

/// Parses the scenario, or returns all its mistakes.
pub(super) fn scenario(text: &str) -> Result<Scenario, Vec<ScriptProblem>> {
    let mut reading = ScriptReader::new(text);
    // YAML includes JSON, but a JSON parser gives clearer messages for a JSON text.
    let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with('{');
    let parsed = if is_json { json::parse(text) } else { yaml::parse(text) };
    let tree = match parsed {
        Ok(tree) => tree,
        Err(errors) => {
            for error in errors {
                let help = error.help.map(|help| format!("; {help}")).unwrap_or_default();
                reading.wrong::<()>(error.span, format!("{}{help}", error.message));
            }
            return reading.finish(None);
        }
    };
    let scenario = file(&mut reading, &tree);
    reading.finish(scenario)
}

fn file(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<Scenario> {
    let entries = reading.map(tree, "the file", &FILE)?;
    let mut scenario = Scenario::default();
    let mut is_named = false;
    for Entry { key, tree, .. } in entries {
        match key.as_str() {
            "scenario" => {
                is_named = true;
                scenario.title = reading.text(tree, "`scenario`").unwrap_or_default().to_owned();
            }
            "pace" => scenario.pace = pace(reading, tree),
            "nodes" => {
                for node in reading.any_map(tree, "`nodes`").unwrap_or_default() {
                    let turns = turns(reading, &node.tree, &format!("node `{}`", node.key));
                    scenario.nodes.insert(node.key.clone(), turns);
                }
            }
            "complete" => scenario.complete = turns(reading, tree, "`complete`"),
            "chat" => scenario.chat = turns(reading, tree, "`chat`"),
            "otherwise" => scenario.otherwise = otherwise(reading, tree),
            _ => {}
        }
    }
    if !is_named {
        return reading.wrong(tree.span, "the file must say in `scenario` what it is about");
    }
    Some(scenario)
}

fn turns(reading: &mut ScriptReader<'_>, tree: &Tree, what: &str) -> Vec<ScriptTurn> {
    let items = reading.list(tree, what).unwrap_or_default();
    items.iter().filter_map(|item| turn(reading, item)).collect()
}

/// Reads a reply, or `any` with alternatives for one; `times` is the number of requests it answers.
fn turn(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<ScriptTurn> {
    let mut times = 1;
    if let Some(entry) = tree.get("times") {
        times = reading.times(&entry.tree, "`times`").unwrap_or(1);
    }
    let choices = match tree.get("any") {
        None => vec![choice(reading, tree, &["times"])?],
        Some(any) => {
            reading.map(tree, "a reply with `any`", &["any", "times"])?;
            let items = reading.list(&any.tree, "`any`")?;
            if items.is_empty() {
                return reading.wrong(any.tree.span, "`any` must have an alternative");
            }
            items.iter().filter_map(|item| choice(reading, item, &[])).collect()
        }
    };
    Some(ScriptTurn { line: reading.line(tree.span), times, choices })
}

fn choice(reading: &mut ScriptReader<'_>, tree: &Tree, also: &[&str]) -> Option<ConditionalReply> {
    let known: Vec<&str> = LINE.iter().chain(&["when"]).chain(also).copied().collect();
    let when = match tree.get("when") {
        Some(entry) => condition::when(reading, &entry.tree)?,
        None => ReplyCondition::default(),
    };
    Some(ConditionalReply { when, line: line(reading, tree, &known)? })
}

fn otherwise(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<ScriptLine> {
    line(reading, tree, &LINE)
}

fn line(reading: &mut ScriptReader<'_>, tree: &Tree, known: &[&str]) -> Option<ScriptLine> {
    let entries = reading.map(tree, "a reply", known)?;
    let mut line = ScriptLine { line: reading.line(tree.span), ..ScriptLine::default() };
    for Entry { key, tree, .. } in entries {
        match key.as_str() {
            "say" => line.say = reading.template(tree, "`say`"),
            "think" => line.think = reading.template(tree, "`think`"),
            "calls" => line.calls = call::calls(reading, tree),
            "finish" => {
                let words = [
                    ("stop", Finish::Stop),
                    ("length", Finish::Length),
                    ("filter", Finish::Filter),
                ];
                line.finish = reading.word(tree, "`finish`", &words).unwrap_or_default();
            }
            "usage" => line.usage = usage(reading, tree),
            "fault" => line.fault = fault(reading, tree),
            "pace" => line.pace = pace(reading, tree),
            _ => {}
        }
    }
    let is_blank = !entries.iter().any(|entry| LINE.contains(&entry.key.as_str()));
    if is_blank {
        let message = "a reply must do something; write `say: \"\"` for an empty one";
        return reading.wrong(tree.span, message);
    }
    Some(line)
}

fn pace(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<Pace> {
    let entries = reading.map(tree, "`pace`", &["characters", "milliseconds"])?;
    let mut pace = Pace { characters: 1, delay: Duration::ZERO };
    for Entry { key, tree, .. } in entries {
        match key.as_str() {
            "characters" => {
                let characters = reading.times(tree, "`characters`")?;
                pace.characters = usize::try_from(characters).unwrap_or(usize::MAX);
            }
            "milliseconds" => {
                pace.delay = Duration::from_millis(reading.number(tree, "`milliseconds`")?);
            }
            _ => {}
        }
    }
    Some(pace)
}

fn usage(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<Usage> {
    let known = ["input", "output", "cached", "reasoning", "cost", "estimated"];
    let entries = reading.map(tree, "`usage`", &known)?;
    let mut usage = Usage::default();
    for Entry { key, tree, .. } in entries {
        match (key.as_str(), &tree.value) {
            ("input", _) => usage.input_tokens = reading.number(tree, "`input`")?,
            ("output", _) => usage.output_tokens = reading.number(tree, "`output`")?,
            ("cached", _) => usage.cached_tokens = reading.number(tree, "`cached`")?,
            ("reasoning", _) => usage.reasoning_tokens = reading.number(tree, "`reasoning`")?,
            ("cost", Value::Number(cost)) => usage.cost = cost.as_f64(),
            ("cost", _) => return reading.wrong(tree.span, "`cost` must be a number"),
            ("estimated", Value::Bool(estimated)) => usage.estimated = *estimated,
            ("estimated", _) => {
                return reading.wrong(tree.span, "`estimated` must be true or false");
            }
            (_, _) => {}
        }
    }
    Some(usage)
}

/// Kinds of failure, each with its default message.
const FAILURES: [(&str, (ModelErrorKind, &str)); 6] = [
    ("auth", (ModelErrorKind::Auth, "The model refused the key.")),
    ("rate", (ModelErrorKind::Rate, "The model has had too many requests.")),
    ("window", (ModelErrorKind::Window, "The request does not fit the model's window.")),
    ("timeout", (ModelErrorKind::Timeout, "The model did not answer in time.")),
    ("network", (ModelErrorKind::Network, "The way to the model was lost.")),
    ("malformed", (ModelErrorKind::Malformed, "The model's answer makes no sense.")),
];

fn fault(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<ReplyFault> {
    reading.map(tree, "`fault`", &["fail", "message", "hang"])?;
    match (tree.get("fail"), tree.get("hang"), tree.get("message")) {
        (Some(fail), None, message) => {
            let (kind, words) = reading.word(&fail.tree, "`fail`", &FAILURES)?;
            let message = match message {
                Some(entry) => reading.text(&entry.tree, "`message`")?,
                None => words,
            };
            Some(ReplyFault::Fail { kind, message: message.to_owned() })
        }
        (None, Some(hang), None) if hang.tree.value == Value::Bool(true) => Some(ReplyFault::Hang),
        (_, _, _) => {
            let message = "`fault` must have either `fail` with a kind, or `hang: true`";
            reading.wrong(tree.span, message)
        }
    }
}
