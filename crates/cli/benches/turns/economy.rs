//! Benchmark of the tokens that a workflow sends, compared with two loops that do the same work without a runtime.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, str};

use crewagent_testkit::loopback::{AnswerCall, AnswerPlan, ModelAnswer};
use crewagent_testkit::package::generated;
use crewagent_testkit::report;
use serde_json::{Value as Json, json};

use super::Failure;
use super::fixture::{BenchFixture, copy};
use super::peers::{Exchange, Peers};
use super::play::{Output, play};
use super::tape::common;

const NODES: usize = 50;
/// Maximum share of the tokens of a loop.
const SHARE: f64 = 1.0;
/// Maximum share of the full history's tokens for the long workflow.
const LONG_SHARE: f64 = 0.08;
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
    /// Sent by a loop with the full history.
    full: u64,
    /// Sent by a loop with all steps in its system prompt.
    plain: u64,
    plain_requests: usize,
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

    fn plain_share(&self) -> f64 {
        self.own as f64 / self.plain as f64
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
    let rows = [
        ("create-story-micro", story(&fixture)?, SHARE),
        ("generated workflow", row_of_nodes(&fixture)?, LONG_SHARE),
    ];
    let mut table = String::from(
        "| workflow | nodes | requests | tokens sent | full history | share | goal | plain loop | its requests | share | goal | unchanged in the next request | repeated from the one before |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut missed = Vec::new();
    for (name, sent, goal) in rows {
        // Writing into a string cannot fail.
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} | {} | **{:.1} %** | ≤ {:.0} % | {} | {} | **{:.1} %** | ≤ {:.0} % | **{:.1} %** | {:.1} % |",
            sent.nodes,
            sent.requests,
            sent.own / TOKEN_BYTES,
            sent.full / TOKEN_BYTES,
            sent.share() * 100.0,
            goal * 100.0,
            sent.plain / TOKEN_BYTES,
            sent.plain_requests,
            sent.plain_share() * 100.0,
            SHARE * 100.0,
            sent.unchanged_share() * 100.0,
            sent.known_share() * 100.0,
        );
        if sent.share() > goal || sent.plain_share() > SHARE {
            missed.push(format!("tokens of {name}"));
        }
        if sent.unchanged_share() < UNCHANGED {
            missed.push(format!("unchanged beginning of {name}"));
        }
    }
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

/// Runs a row of nodes. Each reads the note of the previous node, and completes its node with its own.
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
        let files = json!([{ "path": note(node), "content": content }]);
        answers.push(ModelAnswer::call("complete_node", json!({ "files": files })));
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

    /// Returns the texts of the user messages.
    fn users(&self) -> Vec<String> {
        let users = self.rest.iter().filter(|(_, message)| message["role"] == "user");
        users
            .map(|(_, message)| message["content"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    fn prompt(&self) -> String {
        let rest = self.rest.iter().map(|(text, _)| text.as_str());
        let systems = self.systems.iter().map(String::as_str);
        std::iter::once(self.tools.as_str()).chain(systems).chain(rest).collect()
    }
}

/// A request of a run, and the reply to it.
#[derive(Debug, Default)]
struct TurnRecord {
    node: Option<String>,
    exchange: Exchange,
}

/// Counts the sent bytes, from the events of a run and the bodies of its requests.
fn count(events: &str, bodies: &Path) -> Result<Sent, Failure> {
    let mut sent = Sent::default();
    let mut peers = Peers::default();
    let mut before: Option<(Option<String>, String)> = None;
    for (at, turn) in read_turns(events)?.into_iter().enumerate() {
        let request = Request::read(&bodies.join(format!("{:06}.json", at + 1)))?;
        let prompt = request.prompt();
        let moved = before.as_ref().is_none_or(|(node, _)| *node != turn.node);
        let tools = request.tools.len() as u64;
        peers.ask(request.fixed(), tools, &request.users());
        peers.reply(&turn.exchange, tools)?;
        sent.requests += 1;
        sent.nodes += usize::from(moved && turn.node.is_some());
        sent.own += prompt.len() as u64;
        if let Some((_, before)) = before.filter(|_| !moved) {
            sent.followed += before.len() as u64;
            sent.following += prompt.len() as u64;
            sent.unchanged += common(&before, &prompt) as u64;
        }
        before = Some((turn.node, prompt));
    }
    let (full, plain, plain_requests) = (peers.full, peers.plain(), peers.plain_requests);
    Ok(Sent { full, plain, plain_requests, ..sent })
}

/// Returns the node of each request, the reply to it, and the answers to its calls.
fn read_turns(events: &str) -> Result<Vec<TurnRecord>, Failure> {
    let mut turns: Vec<TurnRecord> = Vec::new();
    for line in events.lines() {
        let event: Json = serde_json::from_str(line)?;
        match (event["type"].as_str(), turns.last_mut()) {
            (Some("turn.started"), _) => {
                let node = event["nodeId"].as_str().map(str::to_owned);
                turns.push(TurnRecord { node, exchange: Exchange::default() });
            }
            (Some("assistant.message"), Some(turn)) => turn.exchange = Exchange::new(&event),
            (Some("tool.finished"), Some(turn)) => turn.exchange.answer(&event),
            (_, _) => {}
        }
    }
    Ok(turns)
}
