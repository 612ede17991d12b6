//! One visit of a node: what is written, asked and set before it is left.

use std::collections::BTreeSet;

use crewagent_core::bindings::Bindings;
use crewagent_core::message::ToolCall;
use crewagent_core::state::output::Output;
use crewagent_format::package::Workflow;
use crewagent_format::package::gate::{Gate, GateOption, OptionAction};
use crewagent_format::package::graph::{Edge, Node};
use crewagent_format::placeholder;
use serde_json::{Map, Value as Json, json};

/// Value of a variable that no condition reads.
const WALKED: &str = "walked";

/// State of the current visit.
#[derive(Debug, Default)]
pub(super) struct WalkedVisit {
    /// True if the user was asked.
    pub(super) has_asked: bool,
    /// Keys of options that were chosen.
    pub(super) chosen: BTreeSet<String>,
    /// Edge that the last call was to take.
    pub(super) edge: Option<usize>,
    /// Refusals so far.
    pub(super) refusals: u32,
}

/// The calls that a visit makes, and what they are made of.
pub(super) struct VisitCalls<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) node: &'a Node,
    pub(super) variables: &'a Map<String, Json>,
    pub(super) bindings: &'a Bindings,
    /// Number of the request, which makes every text new.
    pub(super) turn: u64,
}

impl VisitCalls<'_> {
    /// Returns the call that asks the user for words.
    pub(super) fn ask(&self) -> ToolCall {
        self.call(
            1,
            "ui.ask_user",
            &json!({ "question": format!("What do you say to {}?", self.node.id) }),
        )
    }

    /// Returns the calls that finish the node along an edge; along none at an end.
    pub(super) fn finish(&self, edge: Option<&Edge>, values: Map<String, Json>) -> Vec<ToolCall> {
        let variables = self.variables_with(values);
        let mut calls = self.writes(&variables, &BTreeSet::new());
        let mut arguments = json!({ "nodeId": self.node.id, "variables": variables });
        if let Some(edge) = edge {
            arguments["next"] = json!(edge.to);
            arguments["decision"] = json!({ "label": edge.label, "reason": WALKED });
        }
        calls.push(self.call(calls.len() + 1, "runtime.complete_node", &arguments));
        calls
    }

    /// Returns the calls that write the drafts of a gate and show it.
    pub(super) fn show(&self, gate: &Gate, values: Map<String, Json>) -> Vec<ToolCall> {
        let variables = self.variables_with(values);
        let saved: BTreeSet<String> =
            gate.commit.iter().map(|commit| self.filled(&commit.to)).collect();
        let mut calls = self.writes(&variables, &saved);
        let drafts: Vec<String> = match gate.sections.as_slice() {
            [] => (1..=gate.commit.len()).map(|number| format!("draft-{number}")).collect(),
            sections => sections.iter().map(|section| section.id.clone()).collect(),
        };
        for name in &drafts {
            let path = format!("@state/drafts/{name}.md");
            let arguments = json!({ "path": path, "content": self.text(name) });
            calls.push(self.call(calls.len() + 1, "fs.write", &arguments));
        }
        let mut arguments = json!({ "note": format!("{} is ready.", self.node.id) });
        if !drafts.is_empty() {
            arguments["drafts"] = json!(drafts);
        }
        if !variables.is_empty() {
            arguments["variables"] = json!(variables);
        }
        calls.push(self.call(calls.len() + 1, "ui.gate", &arguments));
        calls
    }

    /// Returns the calls that write all declared outputs.
    pub(super) fn outputs(&self) -> Vec<ToolCall> {
        self.writes(&Map::new(), &BTreeSet::new())
    }

    /// Returns the calls that write the declared outputs, except those that the gate saves.
    fn writes(&self, variables: &Map<String, Json>, saved: &BTreeSet<String>) -> Vec<ToolCall> {
        let mut known = self.variables.clone();
        known.extend(variables.clone());
        let mut calls = Vec::new();
        for declared in &self.node.outputs {
            let declared = self.filled(declared);
            if saved.contains(&declared) {
                continue;
            }
            let path = match Output::of(&declared, &known) {
                Output::File(path) => path.to_string(),
                Output::Pattern(pattern) => {
                    pattern.replace("**", WALKED).replace(['*', '?'], WALKED)
                }
                Output::Open(_) | Output::Outside(_) => continue,
            };
            let path = path.trim_start_matches("@project/");
            let path =
                if path.ends_with('/') { format!("{path}{WALKED}.md") } else { path.to_owned() };
            let arguments =
                json!({ "path": format!("@project/{path}"), "content": self.text(&path) });
            calls.push(self.call(calls.len() + 1, "fs.write", &arguments));
        }
        calls
    }

    /// Adds a value for each variable that the node sets, or that an output is named by.
    fn variables_with(&self, mut values: Map<String, Json>) -> Map<String, Json> {
        let step = self.workflow.steps.get(&self.node.id);
        let declared = step.map(|step| step.front.sets_variables.as_slice()).unwrap_or_default();
        for name in declared {
            if !values.contains_key(name) {
                let value = self.variables.get(name).filter(|value| !is_blank(value));
                values.insert(name.clone(), value.cloned().unwrap_or_else(|| json!(WALKED)));
            }
        }
        let commits = self.node.gate.iter().flat_map(|gate| gate.commit.iter().map(|to| &to.to));
        for path in self.node.outputs.iter().chain(commits) {
            let path = self.filled(path);
            for name in placeholder::names(&path) {
                let is_known = values.contains_key(name) || self.variables.contains_key(name);
                if !is_known && !placeholder::ROOTS.contains(&name) {
                    values.insert(name.to_owned(), json!(WALKED));
                }
            }
        }
        values
    }

    fn filled(&self, text: &str) -> String {
        let step = self.workflow.steps.get(&self.node.id);
        match step {
            Some(step) => self.bindings.with(&step.front.bindings).fill(text).into_owned(),
            None => self.bindings.fill(text).into_owned(),
        }
    }

    fn text(&self, name: &str) -> String {
        format!("Walked: {name} at {}, request {}.\n", self.node.id, self.turn)
    }

    fn call(&self, number: usize, name: &str, arguments: &Json) -> ToolCall {
        ToolCall {
            id: format!("call_{}_{number}", self.turn),
            name: name.to_owned(),
            arguments: arguments.to_string().into(),
            extra: Map::new(),
        }
    }
}

impl WalkedVisit {
    /// Chooses the option of a gate: one that was never chosen, else the one of the edge, else one that leads on.
    pub(super) fn option<'g>(
        &self,
        gate: &'g Gate,
        edge: Option<&Edge>,
        is_covered: &dyn Fn(&str) -> bool,
    ) -> Option<&'g GateOption> {
        let is_there = |option: &&GateOption| {
            option.after.is_empty() || option.after.iter().any(|key| self.chosen.contains(key))
        };
        let there = || gate.options.iter().filter(is_there);
        let leads_on =
            |option: &&GateOption| matches!(option.does, OptionAction::Edge | OptionAction::Yolo);
        let is_new =
            |option: &&GateOption| !is_covered(&option.key) && !self.chosen.contains(&option.key);
        let key = edge.and_then(|edge| edge.gate.as_deref());
        there()
            .find(|option| is_new(option) && !leads_on(option))
            .or_else(|| there().find(|option| is_new(option) && option.does == OptionAction::Yolo))
            .or_else(|| there().find(|option| Some(option.key.as_str()) == key))
            .or_else(|| there().find(leads_on))
            .or_else(|| there().find(|option| !self.chosen.contains(&option.key)))
    }
}

fn is_blank(value: &Json) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}
