//! Corrections of a user: how a person changes the reading of a source without changing the source.
//!
//! A list of `{workflow, node?, option?, edge?, set|add|remove}`. `edge` names an edge by `from`, `to` and, if several
//! lead there, `label`.

use std::collections::BTreeMap;

use crewagent_format::code::Code;
use crewagent_format::package::graph::NodeKind;
use crewagent_format::syntax::yaml;
use serde_json::Value as Json;

use crate::plan::{
    EdgePlan, Evidence, EvidenceClass, GatePlan, OptionEffect, OptionPlan, SourceRef, WorkflowPlan,
};
use crate::recorder::ImportRecorder;
use crate::source_text::SourceText;

/// Name of the file in findings.
const FILE: &str = "overrides";
/// Most corrections.
const MAX_RULES: usize = 10_000;

/// Corrections that were read.
#[derive(Debug, Default)]
pub(crate) struct Overrides {
    rules: Vec<Override>,
    agents: BTreeMap<(String, String), String>,
}

/// One correction.
#[derive(Debug)]
struct Override {
    line: u32,
    json: Json,
    /// `None` until it matched something.
    problem: Option<String>,
}

impl Overrides {
    /// Reads the file; one that is no list of corrections is a finding.
    pub(crate) fn read(bytes: Option<&[u8]>, recorder: &mut ImportRecorder) -> Self {
        let Some(bytes) = bytes else { return Self::default() };
        let mut problem = |message: String| {
            let help = "write a list of corrections, each with `workflow` and one of `set`, `add`, `remove`";
            recorder.file(Code::OverrideWithoutMatch, FILE, message, help);
        };
        let Some(source) = SourceText::decode(bytes) else {
            problem("the corrections are no text".to_owned());
            return Self::default();
        };
        match yaml::parse(source.text()) {
            Ok(root) => {
                let items = root.as_list().unwrap_or_default();
                if items.is_empty() {
                    problem("the corrections are no list, or an empty one".to_owned());
                }
                let rules = items.iter().take(MAX_RULES).map(|item| Override {
                    line: source.line_of(item.span.start),
                    json: item.to_json(),
                    problem: None,
                });
                Self { rules: rules.collect(), agents: BTreeMap::new() }
            }
            Err(errors) => {
                let reason = errors.first().map(|error| error.message.clone()).unwrap_or_default();
                problem(format!("the corrections cannot be read: {reason}"));
                Self::default()
            }
        }
    }

    /// Applies all corrections in their order.
    pub(crate) fn apply(&mut self, workflows: &mut [(String, WorkflowPlan)]) {
        let ids: BTreeMap<String, String> =
            workflows.iter().map(|(id, plan)| (id.clone(), plan.entry.file.clone())).collect();
        for rule in &mut self.rules {
            let result = apply(&rule.json, rule.line, workflows, &ids, &mut self.agents);
            rule.problem = result.err();
        }
    }

    /// Reports corrections that matched nothing.
    pub(crate) fn report(&self, recorder: &mut ImportRecorder) {
        for rule in &self.rules {
            let Some(problem) = &rule.problem else { continue };
            let message = format!("the correction in line {} was not made: {problem}", rule.line);
            let help = "compare its names with `package graph`, or remove it";
            recorder.file(Code::OverrideWithoutMatch, FILE, message, help);
        }
    }

    /// Returns the agents of nodes.
    pub(crate) fn into_agents(self) -> BTreeMap<(String, String), String> {
        self.agents
    }
}

type NodeAgents = BTreeMap<(String, String), String>;

fn text<'j>(json: &'j Json, key: &str) -> Option<&'j str> {
    json.get(key).and_then(Json::as_str)
}

fn apply(
    rule: &Json,
    line: u32,
    workflows: &mut [(String, WorkflowPlan)],
    ids: &BTreeMap<String, String>,
    agents: &mut NodeAgents,
) -> Result<(), String> {
    let id = text(rule, "workflow").ok_or("it names no workflow")?;
    let found = workflows.iter_mut().find(|(own, _)| own == id);
    let (_, plan) = found.ok_or_else(|| format!("there is no workflow `{id}`"))?;
    if let Some(add) = rule.get("add") {
        return self::add(plan, rule, add, line, ids);
    }
    let removes = rule.get("remove") == Some(&Json::Bool(true));
    let set = rule.get("set");
    if removes == set.is_some() {
        return Err("it has none of `set`, `add` and `remove: true`, or several".to_owned());
    }
    if let Some(edge) = rule.get("edge") {
        return change_edge(plan, edge, set);
    }
    let node = text(rule, "node").ok_or("it names neither a node nor an edge")?;
    let found = plan.nodes.iter_mut().find(|own| own.id == node);
    let found = found.ok_or_else(|| format!("there is no node `{node}`"))?;
    if let Some(key) = text(rule, "option") {
        let gate = found.gate.as_mut().ok_or_else(|| format!("the node `{node}` has no gate"))?;
        let at = gate.options.iter().position(|option| option.key == key);
        let at = at.ok_or_else(|| format!("the gate of `{node}` has no option `{key}`"))?;
        match set {
            Some(set) => {
                gate.options.get_mut(at).map_or(Ok(()), |option| set_option(option, set, ids))?
            }
            None => drop(gate.options.remove(at)),
        }
        return Ok(());
    }
    let Some(set) = set else {
        let node = node.to_owned();
        plan.nodes.retain(|own| own.id != node);
        plan.edges.retain(|edge| edge.from != node && edge.to != node);
        return Ok(());
    };
    if let Some(title) = text(set, "title") {
        title.clone_into(&mut found.title);
    }
    if let Some(goal) = text(set, "goal") {
        goal.clone_into(&mut found.goal);
    }
    if let Some(waits) = set.get("waitsForUser").and_then(Json::as_bool) {
        found.waits_for_user = waits;
    }
    match text(set, "type") {
        Some("decision") => found.kind = NodeKind::Decision,
        Some("step" | "end") => found.kind = NodeKind::Step,
        Some(other) => return Err(format!("there is no type `{other}`")),
        None => {}
    }
    if let Some(agent) = text(set, "agent") {
        agents.insert((id.to_owned(), node.to_owned()), agent.to_owned());
    }
    Ok(())
}

fn change_edge(plan: &mut WorkflowPlan, edge: &Json, set: Option<&Json>) -> Result<(), String> {
    let (from, to) = (text(edge, "from"), text(edge, "to"));
    let label = text(edge, "label");
    let at = plan.edges.iter().position(|own| {
        Some(own.from.as_str()) == from
            && Some(own.to.as_str()) == to
            && label.is_none_or(|label| own.label == label)
    });
    let at = at.ok_or("there is no such edge")?;
    let Some(set) = set else {
        plan.edges.remove(at);
        return Ok(());
    };
    let target = text(set, "to").map(str::to_owned);
    if let Some(target) = &target
        && !plan.nodes.iter().any(|node| node.id == *target)
    {
        return Err(format!("there is no node `{target}`"));
    }
    let becomes_default = set.get("default").and_then(Json::as_bool);
    if becomes_default == Some(true) {
        let from = from.unwrap_or_default().to_owned();
        plan.edges.iter_mut().filter(|own| own.from == from).for_each(|own| own.is_default = false);
    }
    let Some(own) = plan.edges.get_mut(at) else { return Ok(()) };
    own.is_default = becomes_default.unwrap_or(own.is_default);
    own.to = target.unwrap_or_else(|| own.to.clone());
    if let Some(label) = text(set, "label") {
        label.clone_into(&mut own.label);
    }
    if let Some(condition) = text(set, "conditionText") {
        own.condition_text = Some(condition.to_owned());
    }
    if let Some(gate) = text(set, "gate") {
        own.gate = Some(gate.to_owned());
    }
    Ok(())
}

fn add(
    plan: &mut WorkflowPlan,
    rule: &Json,
    add: &Json,
    line: u32,
    ids: &BTreeMap<String, String>,
) -> Result<(), String> {
    let at = SourceRef { file: FILE.to_owned(), lines: (line, line) };
    if let Some(edge) = add.get("edge") {
        let end = |key: &str| {
            let id = text(edge, key).ok_or_else(|| format!("the edge has no `{key}`"))?;
            let is_there = plan.nodes.iter().any(|node| node.id == id);
            if is_there { Ok(id.to_owned()) } else { Err(format!("there is no node `{id}`")) }
        };
        let plain = |key: &str| text(edge, key).map(str::to_owned);
        let edge = EdgePlan {
            from: end("from")?,
            to: end("to")?,
            label: plain("label").unwrap_or_else(|| "next".to_owned()),
            is_default: edge.get("default").and_then(Json::as_bool).unwrap_or_default(),
            condition_text: plain("conditionText"),
            gate: plain("gate"),
            evidence: Evidence { class: EvidenceClass::Declared, at },
        };
        plan.edges.push(edge);
        return Ok(());
    }
    let option = add.get("option").ok_or("it adds neither an edge nor an option")?;
    let node = text(rule, "node").ok_or("it names no node for the option")?;
    let found = plan.nodes.iter_mut().find(|own| own.id == node);
    let found = found.ok_or_else(|| format!("there is no node `{node}`"))?;
    let key = text(option, "key").ok_or("the option has no `key`")?;
    let mut new = OptionPlan {
        key: key.to_owned(),
        label: key.to_owned(),
        does: OptionEffect::Stay,
        text: None,
        at,
    };
    set_option(&mut new, option, ids)?;
    found.gate.get_or_insert_with(GatePlan::default).options.push(new);
    Ok(())
}

fn set_option(
    option: &mut OptionPlan,
    set: &Json,
    ids: &BTreeMap<String, String>,
) -> Result<(), String> {
    if let Some(label) = text(set, "label") {
        label.clone_into(&mut option.label);
    }
    if let Some(words) = text(set, "text") {
        option.text = Some(words.to_owned());
    }
    match text(set, "does") {
        Some("edge") => option.does = OptionEffect::Edge,
        Some("stay") => option.does = OptionEffect::Stay,
        Some("call") => {
            let id = text(set, "call").ok_or("an option that calls needs `call`")?;
            let file = ids.get(id).ok_or_else(|| format!("there is no workflow `{id}`"))?;
            option.does = OptionEffect::Call(file.clone());
        }
        Some(other) => return Err(format!("an option cannot do `{other}`")),
        None => {}
    }
    Ok(())
}
