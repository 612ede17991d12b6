//! Plans that fit the format: every edge has its ends, every node the type that its edges ask for, one default each.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::package::graph::NodeKind;
use crewagent_format::placeholder;

use crate::plan::{EdgePlan, NodePlan, OptionEffect, WorkflowPlan};

/// Makes a plan fit. `ids` are the ids of workflows by the files that they were made of.
pub(crate) fn settle(plan: &mut WorkflowPlan, ids: &BTreeMap<String, String>) {
    let mut seen = BTreeSet::new();
    plan.nodes.retain(|node| seen.insert(node.id.clone()));
    plan.edges.retain(|edge| seen.contains(&edge.from) && seen.contains(&edge.to));
    keep_reachable(plan);
    for node in &mut plan.nodes {
        let edges: Vec<&mut EdgePlan> =
            plan.edges.iter_mut().filter(|edge| edge.from == node.id).collect();
        settle_node(node, edges, ids);
    }
}

/// Makes the names in paths known. An output with a name that nothing declares, binds or sets is left out; in a file that
/// a gate writes, such a name is a variable that the node sets. Returns those with the index of their node.
pub(crate) fn name_files(
    plan: &mut WorkflowPlan,
    is_declared: &dyn Fn(&str) -> bool,
) -> Vec<(usize, String)> {
    let mut known: BTreeSet<String> =
        plan.nodes.iter().flat_map(|node| &node.sets_variables).cloned().collect();
    known.extend(plan.bindings.keys().chain(plan.files.keys()).cloned());
    let mut added = Vec::new();
    for (index, node) in plan.nodes.iter_mut().enumerate() {
        let bound = |name: &str| is_declared(name) || known.contains(name);
        node.outputs.retain(|output| placeholder::names(output).all(bound));
        let targets = node.gate.iter().flat_map(|gate| &gate.commit).map(|commit| &commit.to);
        let names: BTreeSet<String> = targets
            .flat_map(|path| placeholder::names(path))
            .filter(|name| !is_declared(name) && !node.bindings.contains_key(*name))
            .map(|name| name.split('.').find(|part| !part.is_empty()).unwrap_or(name).to_owned())
            .collect();
        for name in names {
            if known.insert(name.clone()) {
                node.sets_variables.push(name.clone());
                added.push((index, name));
            }
        }
    }
    let is_known = |name: &str| is_declared(name) || known.contains(name);
    plan.mirror =
        plan.mirror.take().filter(|mirror| placeholder::names(&mirror.file).all(is_known));
    added
}

fn keep_reachable(plan: &mut WorkflowPlan) {
    let Some(entry) = plan.nodes.first().map(|node| node.id.clone()) else { return };
    let mut outgoing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for edge in &plan.edges {
        outgoing.entry(&edge.from).or_default().push(&edge.to);
    }
    let (mut reached, mut waiting) = (BTreeSet::new(), vec![entry.as_str()]);
    while let Some(id) = waiting.pop() {
        if reached.insert(id.to_owned()) {
            waiting.extend(outgoing.get(id).into_iter().flatten().copied());
        }
    }
    plan.nodes.retain(|node| reached.contains(&node.id));
    plan.edges.retain(|edge| reached.contains(&edge.from));
}

fn settle_node(node: &mut NodePlan, mut edges: Vec<&mut EdgePlan>, ids: &BTreeMap<String, String>) {
    node.kind = match edges.len() {
        0 => NodeKind::End,
        1 => NodeKind::Step,
        _ if node.kind == NodeKind::Decision => NodeKind::Decision,
        _ => NodeKind::Step,
    };
    node.auto &= node.kind == NodeKind::End;
    if node.title.trim().is_empty() {
        node.title.clone_from(&node.id);
    }
    let defaults = edges.iter().filter(|edge| edge.is_default).count();
    if edges.len() > 1 && defaults != 1 {
        let first = edges.iter().position(|edge| edge.is_default).unwrap_or(0);
        for (at, edge) in edges.iter_mut().enumerate() {
            edge.is_default = at == first;
        }
    }
    let mut labels = BTreeSet::new();
    for edge in &mut edges {
        let base =
            if edge.label.trim().is_empty() { "next".to_owned() } else { edge.label.clone() };
        let mut label = base.clone();
        let mut number = 2;
        while !labels.insert((edge.to.clone(), label.clone())) {
            label = format!("{base} ({number})");
            number += 1;
        }
        edge.label = label;
    }
    let Some(gate) = &mut node.gate else {
        for edge in edges {
            edge.gate = None;
        }
        return;
    };
    // The last handling of a key counts.
    let mut keys = BTreeSet::new();
    gate.options.reverse();
    gate.options.retain(|option| !option.key.trim().is_empty() && keys.insert(option.key.clone()));
    gate.options.reverse();
    for option in &mut gate.options {
        let own = edges.iter_mut().filter(|edge| edge.gate.as_ref() == Some(&option.key));
        let own: Vec<&mut &mut EdgePlan> = own.collect();
        if own.len() > 1 {
            // The user decides to go on, and what the text says decides where to.
            option.does = OptionEffect::Stay;
            node.waits_for_user = true;
            for edge in own {
                edge.gate = None;
            }
        }
        if option.label.trim().is_empty() {
            option.label.clone_from(&option.key);
        }
        let leads_on = edges.iter().any(|edge| edge.gate.as_ref() == Some(&option.key));
        match &option.does {
            OptionEffect::Edge if !leads_on => option.does = OptionEffect::Stay,
            OptionEffect::Call(file) if !ids.contains_key(file) => option.does = OptionEffect::Stay,
            OptionEffect::Edge | OptionEffect::Call(_) | OptionEffect::Stay => {}
        }
    }
    for edge in edges {
        let leads_on = |key: &String| {
            gate.options
                .iter()
                .any(|option| option.key == *key && option.does == OptionEffect::Edge)
        };
        edge.gate = edge.gate.take().filter(leads_on);
    }
    if gate.options.is_empty() {
        node.gate = None;
    }
}
