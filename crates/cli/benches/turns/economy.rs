//! Benchmark of the tokens that a workflow sends, compared with a loop that sends its whole history each time.
//!
//! Both do the same work: the same replies, the same results of tools, the same briefs of nodes. The loop is computed
//! from the requests of the run: each of its requests has the same system messages and tools, and every message that
//! was sent so far, from any node. Messages that a run repeats at each node because it has dropped the rest (directive
//! and summary) are left out of the loop after the first node, in its favour.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, str};

use crewagent_testkit::loopback::{AnswerCall, AnswerPlan, ModelAnswer};
use crewagent_testkit::package::generated;
use crewagent_testkit::report;
use serde_json::{Value as Json, json};

use super::Failure;
use super::fixture::{BenchFixture, copy};
use super::play::{Output, play};
use super::tape::common;

const NODES: usize = 50;
/// Maximum share of the loop's tokens.
const SHARE: f64 = 0.5;
/// Minimum share of a request that the next one of the same node repeats.
const UNCHANGED: f64 = 0.9;
/// Bytes per token of English text, approximately. The shares do not depend on it.
const TOKEN_BYTES: u64 = 4;

/// Bytes that a workflow sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sent {
    requests: usize,
    nodes: usize,
    /// Sent by the run.
    own: u64,
    /// Sent by a loop with the whole history.
    full: u64,
    /// Sent by the run in requests before another one of the same node.
    followed: u64,
    /// Sent by the run in requests after another one of the same node.
    following: u64,
    /// Common prefix of those pairs.
    unchanged: u64,
}

impl Sent {
    fn share(&self) -> f64 {
        self.own as f64 / self.full as f64
    }

    /// Returns the share of a request that the next one of the same node begins with.
    fn unchanged_share(&self) -> f64 {
        self.unchanged as f64 / self.followed as f64
    }

    /// Returns the share of a request that the provider has already read with the previous one.
    fn known_share(&self) -> f64 {
        self.unchanged as f64 / self.following as f64
    }
}

/// Measures, publishes the table, and returns the missed goals.
pub(crate) fn run() -> Result<Vec<String>, Failure> {
    let fixture = BenchFixture::new()?;
    let rows =
        [("create-story-micro", story(&fixture)?), ("generated workflow", row_of_nodes(&fixture)?)];
    let mut table = String::from(
        "| workflow | nodes | requests | tokens sent | with full history | share | unchanged in the next request | repeated from the one before |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut missed = Vec::new();
    for (name, sent) in rows {
        // Writing into a string cannot fail.
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} | {} | **{:.0} %** | **{:.1} %** | {:.1} % |",
            sent.nodes,
            sent.requests,
            sent.own / TOKEN_BYTES,
            sent.full / TOKEN_BYTES,
            sent.share() * 100.0,
            sent.unchanged_share() * 100.0,
            sent.known_share() * 100.0,
        );
        if sent.share() > SHARE {
            missed.push(format!("tokens of {name}"));
        }
        if sent.unchanged_share() < UNCHANGED {
            missed.push(format!("unchanged beginning of {name}"));
        }
    }
    let _ = writeln!(
        table,
        "| goal | | | | | ≤ {:.0} % | ≥ {:.0} % | |",
        SHARE * 100.0,
        UNCHANGED * 100.0
    );
    report::publish("economy", &table);
    Ok(missed)
}

/// Runs the example of the documentation. Its model answers with the scenario of the golden run.
fn story(fixture: &BenchFixture) -> Result<Sent, Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let golden = root.join("crates/engine/tests/golden/001-create-story-micro");
    fixture.import_folder(&root.join("spec/examples/create-story-micro"))?;
    let run = |name: &str, model: &str| -> Result<_, Failure> {
        let project = fixture.folder(name)?;
        copy(&golden.join("project"), &project)?;
        let mut command = fixture.run("create-story-micro", &project);
        command.args(["--json", "--input", "1-2-user-authentication", "--model", model]);
        Ok(command)
    };
    let scenario = golden.join("scenario.yaml");
    let scripted = run("scripted", &format!("scripted:{}", scenario.display()))?.output()?;
    let answers = replies(str::from_utf8(&scripted.stdout)?)?;
    let bodies = fixture.folder("story-bodies")?;
    let plan = AnswerPlan { keep: Some(bodies.clone()), ..AnswerPlan::burst(answers) };
    let played = play(fixture, &plan, run("story", "loopback")?, Output::Kept)?;
    count(&played.output, &bodies)
}

/// Returns the replies of the model in a run.
fn replies(events: &str) -> Result<Vec<ModelAnswer>, Failure> {
    let mut answers = Vec::new();
    for line in events.lines() {
        let event: Json = serde_json::from_str(line)?;
        if event["type"] != "assistant.message" {
            continue;
        }
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let calls = event["toolCalls"].as_array().into_iter().flatten().map(|call| AnswerCall {
            name: text(&call["function"]["name"]),
            arguments: text(&call["function"]["arguments"]),
        });
        answers.push(ModelAnswer {
            content: event["content"].as_str().map(str::to_owned),
            calls: calls.collect(),
            hold: 0,
        });
    }
    Ok(answers)
}

/// Runs a row of nodes. Each reads the note of the previous node, writes its own, and moves on.
fn row_of_nodes(fixture: &BenchFixture) -> Result<Sent, Failure> {
    fixture.import(&generated(NODES, NODES - 1))?;
    let project = fixture.folder("row")?;
    let mut answers = Vec::new();
    for node in 0..NODES {
        let note = |node: usize| format!("@project/artifacts/notes/node-{node:05}.md");
        if let Some(before) = node.checked_sub(1) {
            answers.push(ModelAnswer::call("fs_read", json!({ "path": note(before) })));
        }
        let line = "What was done here, why, and what the next one has to know about it.\n";
        let content = format!("# Node {node}\n\n{}", line.repeat(14));
        answers
            .push(ModelAnswer::call("fs_write", json!({ "path": note(node), "content": content })));
        let mut update = json!({ "stepsCompleted": { "append": [format!("node-{node:05}")] } });
        if node + 1 < NODES {
            update["currentNodeId"] = json!({ "set": format!("node-{:05}", node + 1) });
        }
        let path = "@state/workflow.md";
        let change = json!({ "path": path, "operation": "updateFrontmatter", "update": update });
        answers.push(ModelAnswer::call("fs_apply_patch", change));
    }
    answers.push(ModelAnswer::words("The work is done."));
    let bodies = fixture.folder("row-bodies")?;
    let plan = AnswerPlan { keep: Some(bodies.clone()), ..AnswerPlan::burst(answers) };
    let mut command = fixture.run("generated", &project);
    command.args(["--json", "--model", "loopback"]);
    let played = play(fixture, &plan, command, Output::Kept)?;
    count(&played.output, &bodies)
}

/// Request as a model reads it.
struct Request {
    /// Tools, which a model reads first wherever they are in the body.
    tools: String,
    systems: Vec<String>,
    rest: Vec<(String, Json)>,
}

impl Request {
    fn read(path: &PathBuf) -> Result<Self, Failure> {
        let body: Json = serde_json::from_slice(&fs::read(path)?)?;
        let messages = body["messages"].as_array().ok_or("a request has messages")?;
        let is_system =
            |message: &&Json| message["role"] == "system" || message["role"] == "developer";
        Ok(Self {
            tools: body["tools"].to_string(),
            systems: messages.iter().filter(is_system).map(Json::to_string).collect(),
            rest: messages
                .iter()
                .filter(|message| !is_system(message))
                .map(|message| (message.to_string(), message.clone()))
                .collect(),
        })
    }

    /// Returns the bytes that our request and one with the whole history have in common.
    fn fixed(&self) -> u64 {
        (self.tools.len() + self.systems.iter().map(String::len).sum::<usize>()) as u64
    }

    fn prompt(&self) -> String {
        let rest = self.rest.iter().map(|(text, _)| text.as_str());
        let systems = self.systems.iter().map(String::as_str);
        std::iter::once(self.tools.as_str()).chain(systems).chain(rest).collect()
    }
}

/// Events between two requests.
#[derive(Debug, Default)]
struct TurnRecord {
    node: Option<String>,
    /// Reply and the results of its calls, as messages.
    exchange: Vec<String>,
}

/// Counts the sent bytes, from the events of a run and the bodies of its requests.
fn count(events: &str, bodies: &Path) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    let mut history = 0;
    let mut known: HashMap<String, ()> = HashMap::new();
    let mut before: Option<(Option<String>, String)> = None;
    for (at, told) in read_turns(events)?.into_iter().enumerate() {
        let request = Request::read(&bodies.join(format!("{:06}.json", at + 1)))?;
        let prompt = request.prompt();
        let moved = before.as_ref().is_none_or(|(node, _)| *node != told.node);
        // The reply before this request and the results of its tools, which a run drops when it moves on.
        history += told.exchange.iter().map(|message| message.len() as u64).sum::<u64>();
        for (text, message) in &request.rest {
            let is_new = message["role"] == "user" && known.insert(text.clone(), ()).is_none();
            if is_new && (at == 0 || !is_repeated(message)) {
                history += text.len() as u64;
            }
        }
        sent.requests += 1;
        sent.nodes += usize::from(moved && told.node.is_some());
        sent.own += prompt.len() as u64;
        sent.full += request.fixed() + history;
        if let Some((_, before)) = before.filter(|_| !moved) {
            sent.followed += before.len() as u64;
            sent.following += prompt.len() as u64;
            sent.unchanged += common(&before, &prompt) as u64;
        }
        before = Some((told.node, prompt));
    }
    Ok(sent)
}

/// Returns true if a message only repeats what a loop with the whole history has.
fn is_repeated(message: &Json) -> bool {
    let text = message["content"].as_str().unwrap_or_default();
    ["RUN_DIRECTIVE", "STATE_SUMMARY"].iter().any(|mark| text.starts_with(mark))
}

/// Returns the node of each request, and the events before it.
fn read_turns(events: &str) -> Result<Vec<TurnRecord>, Failure> {
    let mut all = Vec::new();
    let mut told = TurnRecord::default();
    for line in events.lines() {
        let event: Json = serde_json::from_str(line)?;
        match event["type"].as_str() {
            Some("assistant.message") => {
                let (content, calls) = (&event["content"], &event["toolCalls"]);
                let message =
                    json!({ "role": "assistant", "content": content, "tool_calls": calls });
                told.exchange.push(message.to_string());
            }
            Some("tool.finished") => {
                let (id, content) = (&event["callId"], &event["result"]);
                let message = json!({ "role": "tool", "tool_call_id": id, "content": content });
                told.exchange.push(message.to_string());
            }
            Some("turn.started") => {
                told.node = event["nodeId"].as_str().map(str::to_owned);
                all.push(std::mem::take(&mut told));
            }
            _ => {}
        }
    }
    Ok(all)
}
