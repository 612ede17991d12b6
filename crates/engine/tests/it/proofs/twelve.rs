//! The run that the proofs disturb: twelve nodes, every kind of call, files that are moved and deleted, a node that is
//! completed with its files, a branch, a question, a stop point, and texts that become blobs. Also a short one of the same kind, for proofs that need many runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crewagent_core::event::Reply;
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::policy::rules::{RuleSet, Source};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::{Model, ModelError, Progress, Request, RequestCache, TurnPosition};
use crewagent_testkit::package::generated;
use serde_json::{Map, Value as Json, json};

/// The user's answer to the question for a colour.
pub(crate) const COLOUR: &str = "blue";
/// The user's answer to an approval.
pub(crate) const ONCE: &str = "once";
/// The user's answers at gates: to a note that asks to stay, and to others.
pub(crate) const STAY: &str = "A";
pub(crate) const CONTINUE: &str = "C";
/// The user's message at a stop point.
pub(crate) const GO_ON: &str = "go on";
/// The user's message after the model gave up.
pub(crate) const AGAIN: &str = "try again";

/// A package, a project, and the model's replies at each node.
pub(crate) struct Piece {
    pub(crate) package: Vec<(String, String)>,
    pub(crate) project: Vec<(String, String)>,
    nodes: BTreeMap<String, Vec<Reaction>>,
    /// Rules by which the user is asked before a write.
    pub(crate) rules: Vec<RuleSet>,
}

impl Piece {
    /// Returns a piece. Nodes of subworkflows are named with their workflow, such as `review/read`.
    pub(super) fn new(
        package: Vec<(String, String)>,
        project: Vec<(String, String)>,
        nodes: BTreeMap<String, Vec<Reaction>>,
    ) -> Self {
        Self { package, project, nodes, rules: Vec::new() }
    }

    /// Sets the replies at a node.
    pub(super) fn replace(&mut self, node: &str, reactions: Vec<Reaction>) {
        self.nodes.insert(node.to_owned(), reactions);
    }

    fn reactions(&self, place: &TurnPosition) -> &[Reaction] {
        let node = place.node_id.as_deref().unwrap_or_default();
        let of_workflow = place.workflow.as_ref();
        let named = of_workflow.and_then(|workflow| self.nodes.get(&format!("{workflow}/{node}")));
        named.unwrap_or_else(|| &self.nodes[node])
    }
}

/// One reply. It is done when all of its calls have succeeded.
#[derive(Clone, Debug)]
pub(super) enum Reaction {
    Calls(Vec<(&'static str, Json)>),
    /// Text with calls behind it.
    Shown(&'static str, Vec<(&'static str, Json)>),
    /// Text without a call, so that the user has to answer.
    Text(&'static str),
}

fn node(number: usize) -> String {
    format!("node-{number:05}")
}

/// Returns a text that is long enough to become a blob.
fn long(seed: &str) -> String {
    (0..1100).map(|line| format!("{seed} line {line:05} of a long text\n")).collect()
}

pub(super) fn write(path: &str, content: &str, mode: &str) -> (&'static str, Json) {
    ("fs.write", json!({ "path": path, "content": content, "mode": mode }))
}

fn read(path: &str) -> (&'static str, Json) {
    ("fs.read", json!({ "path": path }))
}

fn edit(path: &str, old: &str, new: &str) -> Json {
    json!({ "path": path, "operation": "replace", "edits": [{ "old": old, "new": new }] })
}

pub(super) fn update(update: Json) -> (&'static str, Json) {
    let path = "@state/workflow.md";
    ("fs.apply_patch", json!({ "path": path, "operation": "updateFrontmatter", "update": update }))
}

fn next(from: usize, to: usize) -> Reaction {
    Reaction::Calls(vec![update(json!({
        "stepsCompleted": { "append": [node(from)] },
        "currentNodeId": { "set": node(to) },
    }))])
}

/// Completes a node with three files: a new artifact, a file that is there, and a long text.
fn completed_with_files(from: usize, to: usize) -> Reaction {
    let files = json!([
        { "path": "artifacts/half.md", "content": "# Half\n" },
        { "path": "notes/new.md", "content": "- going\n- gone\n" },
        { "path": "artifacts/all.md", "content": long("all") },
    ]);
    // A user may send the run back to this node: then the outputs are there, and are right.
    let keep = ["artifacts/half.md", "artifacts/all.md"];
    let arguments = json!({ "nodeId": node(from), "next": node(to), "files": files, "keep": keep });
    Reaction::Calls(vec![("runtime.complete_node", arguments)])
}

pub(super) fn calls(calls: impl IntoIterator<Item = (&'static str, Json)>) -> Reaction {
    Reaction::Calls(calls.into_iter().collect())
}

fn project() -> Vec<(String, String)> {
    let file = |name: &str, content: &str| (name.to_owned(), content.to_owned());
    vec![
        file("README.md", "# A project\n\nIt has a plan.\n"),
        file("notes/plan.md", "# Plan\n\n- first\n- second\n"),
        file("notes/log.md", "# Log\n"),
        file("notes/long.md", &long("given")),
    ]
}

/// Returns a piece of twelve nodes, from a package of thirteen; the branch leaves one out.
pub(crate) fn twelve() -> Piece {
    let nodes = first_half().into_iter().chain(second_half());
    let nodes = nodes.map(|(number, reactions)| (node(number), reactions)).collect();
    Piece { package: surveyed(generated(13, 13)), project: project(), nodes, rules: Vec::new() }
}

/// Returns the package with files that are looked at when a node is entered: outputs that the node creates, and one that
/// another node has written and that it changes.
fn surveyed(package: Vec<(String, String)>) -> Vec<(String, String)> {
    let declare = |(name, text): (String, String)| {
        if name != "workflow.graph.json" {
            return (name, text);
        }
        let mut graph: Json = serde_json::from_str(&text).unwrap();
        graph["nodes"][4]["inputs"] = json!(["notes/plan.md", "notes/long.md", "notes/none.md"]);
        graph["nodes"][4]["outputs"] = json!(["artifacts/half.md", "artifacts/all.md"]);
        graph["nodes"][5]["outputs"] = json!(["artifacts/made.md"]);
        (name, graph.to_string())
    };
    package.into_iter().map(declare).collect()
}

const PLAN: &str = "@project/notes/plan.md";
const LOG: &str = "@project/notes/log.md";
/// Moves the plan and changes a line of it.
const MOVED: &str = "*** Begin Patch\n*** Update File: notes/plan.md\n*** Move to: notes/done.md\n@@\n-- done\n+- all done\n*** End Patch\n";

fn first_half() -> BTreeMap<usize, Vec<Reaction>> {
    let made = "@project/artifacts/made.md";
    let mut nodes = BTreeMap::new();
    let mut at = |number: usize, reactions: Vec<Reaction>| nodes.insert(number, reactions);
    at(
        0,
        vec![
            calls([
                ("fs.list", json!({ "path": "@project", "depth": 2 })),
                read("@project/README.md"),
            ]),
            calls([update(json!({
                "variables": { "set": { "kind": "short", "count": 1 } },
                "decisionLog": { "append": [{
                    "from": node(0), "to": node(2), "label": "skip-1", "reason": "There is nothing to set up.",
                }] },
                "stepsCompleted": { "append": [node(0)] },
                "currentNodeId": { "set": node(2) },
            }))]),
        ],
    );
    at(2, vec![calls([write(made, "# Made\n\n- one\n", "create")]), next(2, 3)]);
    at(3, vec![calls([write(PLAN, "# Plan\n\n- first\n- third\n", "overwrite")]), next(3, 4)]);
    at(
        4,
        vec![
            calls([
                write(LOG, "- begun\n", "append"),
                write("@project/notes/new.md", "- going\n", "append"),
            ]),
            calls([write(LOG, "- going\n", "append")]),
            completed_with_files(4, 5),
        ],
    );
    at(
        5,
        vec![
            calls([(
                "fs.apply_patch",
                json!({ "patches": [
                    edit(made, "- one", "- one\n- two"),
                    edit(PLAN, "- third", "- third, changed"),
                    edit("@project/README.md", "It has a plan.", "It has a plan and a log."),
                ] }),
            )]),
            next(5, 6),
        ],
    );
    nodes
}

fn second_half() -> BTreeMap<usize, Vec<Reaction>> {
    let mut nodes = BTreeMap::new();
    let mut at = |number: usize, reactions: Vec<Reaction>| nodes.insert(number, reactions);
    at(
        6,
        vec![
            calls([("ui.ask_user", json!({ "question": "Which colour?" }))]),
            calls([write("@project/artifacts/colour.md", "It is {answer}.\n", "create")]),
            calls([update(json!({ "variables": { "set": { "colour": "{answer}" } } }))]),
            next(6, 7),
        ],
    );
    at(7, vec![calls([read("@project/notes/long.md")]), next(7, 8)]);
    at(
        8,
        vec![calls([write("@project/artifacts/long.md", &long("written"), "create")]), next(8, 9)],
    );
    at(
        9,
        vec![
            Reaction::Text("Half of it is done. Shall I go on?"),
            calls([write(LOG, "- agreed\n", "append")]),
            next(9, 10),
        ],
    );
    at(
        10,
        vec![
            calls([
                ("fs.search", json!({ "query": "third", "path": "@project/notes" })),
                write("@project/artifacts/deep/er/found.md", "Found.\n", "create"),
                (
                    "fs.apply_patch",
                    edit("@project/artifacts/deep/er/found.md", "Found", "Found it"),
                ),
                read("@project/artifacts/deep/er/found.md"),
            ]),
            next(10, 11),
        ],
    );
    at(
        11,
        vec![
            calls([update(json!({ "variables": { "set": { "count": 2 } } }))]),
            calls([write(PLAN, "# Plan\n\n- done\n", "overwrite")]),
            calls([
                (
                    "fs.move",
                    json!({ "path": "@project/notes/new.md", "to": "@project/notes/old/er.md" }),
                ),
                ("fs.delete", json!({ "path": LOG })),
                ("fs.apply_patch", json!({ "path": PLAN, "operation": "diff", "diff": MOVED })),
            ]),
            next(11, 12),
        ],
    );
    at(
        12,
        vec![
            calls([
                read("@state/workflow.md"),
                write("@project/artifacts/summary.md", "Done.\n", "create"),
            ]),
            calls([update(json!({ "stepsCompleted": { "append": [node(12)] } }))]),
        ],
    );
    nodes
}

/// Returns a piece of three nodes: a write, a patch of two files, a question.
pub(crate) fn three() -> Piece {
    let mut nodes = BTreeMap::new();
    let mut at = |number: usize, reactions: Vec<Reaction>| nodes.insert(node(number), reactions);
    at(
        0,
        vec![
            calls([
                write("@project/artifacts/made.md", "# Made\n", "create"),
                write("@project/notes/log.md", "- begun\n", "append"),
            ]),
            next(0, 1),
        ],
    );
    at(
        1,
        vec![
            calls([("ui.ask_user", json!({ "question": "Which colour?" }))]),
            calls([(
                "fs.apply_patch",
                json!({ "patches": [
                    edit("@project/notes/log.md", "- begun", "- begun\n- {answer}"),
                    edit("@project/README.md", "It has a plan.", "It has a log."),
                ] }),
            )]),
            next(1, 2),
        ],
    );
    at(2, vec![calls([update(json!({ "stepsCompleted": { "append": [node(2)] } }))])]);
    let project = project().into_iter().filter(|(name, _)| !name.contains("long")).collect();
    Piece { package: generated(3, 2), project, nodes, rules: Vec::new() }
}

/// Returns the same piece for a model that finds the work of its second node done.
pub(crate) fn rest_of_three() -> Piece {
    let mut piece = three();
    piece.nodes.insert(node(1), vec![next(1, 2)]);
    piece
}

/// Returns the same piece with rules by which the user has to approve every write.
pub(crate) fn three_asking() -> Piece {
    let ask = ["fs.write", "fs.apply_patch"].map(|tool| tool.parse().unwrap()).into();
    Piece { rules: vec![RuleSet { ask, ..RuleSet::none(Source::Settings) }], ..three() }
}

/// The model that plays a piece. Its replies follow from the request alone, and it repeats a refused call.
pub(crate) struct PieceModel {
    piece: Arc<Piece>,
    /// Turns of the received requests.
    asked: Mutex<Vec<u64>>,
}

impl PieceModel {
    pub(crate) fn new(piece: Arc<Piece>) -> Self {
        Self { piece, asked: Mutex::default() }
    }

    pub(crate) fn asked(&self) -> Vec<u64> {
        self.asked.lock().unwrap().clone()
    }
}

/// Returns the successful calls as `name arguments`, and the user's last answer.
fn seen(request: &Request) -> (Vec<String>, String) {
    let (mut open, mut good, mut answer) = (BTreeMap::new(), Vec::new(), String::new());
    for message in request.messages.iter() {
        match &**message {
            Message::System { .. } | Message::User { .. } => {}
            Message::Assistant { tool_calls, .. } => {
                for call in tool_calls {
                    let arguments = call.arguments.inline().unwrap();
                    open.insert(call.id.clone(), format!("{} {arguments}", call.name));
                }
            }
            Message::Tool { tool_call_id, content } => {
                let content: Json = serde_json::from_str(content.inline().unwrap()).unwrap();
                if content["ok"] == true {
                    good.extend(open.remove(tool_call_id));
                    if let Some(words) = content["answer"].as_str() {
                        words.clone_into(&mut answer);
                    }
                }
            }
        }
    }
    (good, answer)
}

impl Model for PieceModel {
    fn name(&self) -> &str {
        "player"
    }

    fn reply(
        &self,
        request: &Request,
        _: &mut RequestCache,
        _: &mut dyn FnMut(Progress),
        _: &Deadline,
    ) -> Result<Reply, ModelError> {
        let place = &request.place;
        self.asked.lock().unwrap().push(place.turn);
        let (good, answer) = seen(request);
        let words = |text: &str| Reply { content: Some(text.to_owned()), ..Reply::default() };
        if place.node_id.is_none() {
            return Ok(words("It is done."));
        }
        let key = place.variables.get("docKey").and_then(Json::as_str).unwrap_or_default();
        for reaction in self.piece.reactions(place) {
            match reaction {
                Reaction::Text(text) => {
                    let input = place.input.as_deref();
                    if input != Some(GO_ON) && input != Some(AGAIN) {
                        return Ok(words(text));
                    }
                }
                Reaction::Calls(calls) | Reaction::Shown(_, calls) => {
                    let due: Vec<(&str, String)> = calls
                        .iter()
                        .map(|(name, arguments)| {
                            let arguments = arguments.to_string();
                            (*name, arguments.replace("{answer}", &answer).replace("{docKey}", key))
                        })
                        .filter(|(name, arguments)| !good.contains(&format!("{name} {arguments}")))
                        .collect();
                    if !due.is_empty() {
                        let text = match reaction {
                            Reaction::Shown(text, _) => Some((*text).to_owned()),
                            Reaction::Calls(_) | Reaction::Text(_) => None,
                        };
                        return Ok(Reply { content: text, ..made(place.turn, due) });
                    }
                }
            }
        }
        Ok(words("There is nothing left to do here."))
    }
}

fn made(turn: u64, calls: Vec<(&str, String)>) -> Reply {
    let call = |(at, (name, arguments)): (usize, (&str, String))| ToolCall {
        id: format!("call_{turn}_{at}"),
        name: name.to_owned(),
        arguments: arguments.into(),
        extra: Map::new(),
    };
    Reply { tool_calls: calls.into_iter().enumerate().map(call).collect(), ..Reply::default() }
}
