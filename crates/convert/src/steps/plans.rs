//! Plans of workflows, made of what was read.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::package::graph::NodeKind;

use crate::plan::{
    CommitPlan, EdgePlan, Evidence, EvidenceClass, GatePlan, MirrorPlan, NodePlan, OptionEffect,
    OptionPlan, SourceRef, WorkflowPlan,
};
use crate::source_tree::{SourceTree, folder_of, name_of};

use super::documents::Save;
use super::effect::ChoiceEffect;
use super::flow::{Goal, StepEdge, StepGraph, StepNode};
use super::resolve::{Meant, stem};
use super::text::StepText;
use super::words::{cut, tidy};

/// Id of the node that ends a workflow.
const END: &str = "end";

/// Id of the node that an entry with work of its own becomes.
const START: &str = "start";

/// Key of the frontmatter that records the steps that are done.
const MIRROR_KEY: &str = "stepsCompleted";

/// Identity of a workflow.
pub(super) struct Identity {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) description: String,
}

/// Makes the plan of a workflow.
pub(super) fn plan(
    tree: &SourceTree<'_>,
    identity: Identity,
    entry: &StepText,
    flow: &StepGraph,
    texts: &BTreeMap<String, StepText>,
) -> WorkflowPlan {
    let maker = PlanMaker { tree, flow, texts, entry, ids: ids(flow) };
    let mut nodes: Vec<NodePlan> = Vec::new();
    let mut edges: Vec<EdgePlan> = Vec::new();
    for stop in &flow.stops {
        let mut node = maker.node(stop);
        let mut own = maker.edges(stop);
        let routes = maker.route(stop, &mut node, &mut own);
        nodes.push(node);
        edges.extend(own);
        for (node, own) in routes {
            nodes.push(node);
            edges.extend(own);
        }
    }
    if edges.iter().any(|edge| edge.to == maker.end_id()) {
        nodes.push(maker.end());
    }
    let mirror = maker.mirror();
    if mirror.is_none() {
        for node in &mut nodes {
            node.mirror_value = None;
        }
    }
    let path = entry.reading.path.clone();
    WorkflowPlan {
        id: identity.id,
        title: identity.title,
        description: identity.description,
        module: tree.module_of(&path).map(str::to_owned),
        entry: whole(tree, &path),
        brief: entry.document.body().to_owned(),
        bindings: maker.entry_bindings(),
        nodes,
        edges,
        mirror,
        files: maker.files(),
    }
}

struct PlanMaker<'a> {
    tree: &'a SourceTree<'a>,
    flow: &'a StepGraph,
    texts: &'a BTreeMap<String, StepText>,
    entry: &'a StepText,
    /// Ids of nodes by path; the entry's own node has the path of the entry.
    ids: BTreeMap<String, String>,
}

impl PlanMaker<'_> {
    fn text(&self, stop: &StepNode) -> &StepText {
        self.texts.get(&stop.reading.path).filter(|_| !stop.is_entry).unwrap_or(self.entry)
    }

    fn id(&self, path: &str) -> String {
        self.ids.get(path).cloned().unwrap_or_default()
    }

    fn end_id(&self) -> String {
        let mut id = END.to_owned();
        while self.ids.values().any(|known| *known == id) {
            id.push_str("-of-workflow");
        }
        id
    }

    fn node(&self, stop: &StepNode) -> NodePlan {
        let text = self.text(stop);
        let path = &stop.reading.path;
        let targets: BTreeSet<&Goal> = stop.ways.iter().map(|way| &way.to).collect();
        let kind = match targets.len() {
            0 => NodeKind::End,
            1 => NodeKind::Step,
            _ => NodeKind::Decision,
        };
        let creates: Vec<String> = text
            .papers
            .creates
            .iter()
            .filter(|document| self.creator(document) == Some(path))
            .cloned()
            .collect();
        NodePlan {
            id: self.id(path),
            kind,
            title: text.title.clone(),
            goal: text.goal.clone(),
            source: Some(body_of(self.tree, path, &text.document)),
            body: text.document.body().to_owned(),
            bindings: self.bindings(text),
            gate: self.gate(stop, text),
            waits_for_user: false,
            auto: false,
            resume_only: stop.reading.resumes,
            inputs: Vec::new(),
            outputs: if creates.is_empty() { self.first_saved(stop) } else { creates },
            sets_variables: text.papers.sets.clone(),
            calls: self.calls(stop),
            needs: text.needs.iter().map(|(need, _)| *need).collect(),
            mirror_value: if stop.is_entry { None } else { self.mirror_value(stop, text) },
        }
    }

    /// Returns the node that ends the workflow.
    fn end(&self) -> NodePlan {
        NodePlan {
            id: self.end_id(),
            kind: NodeKind::End,
            title: "End".to_owned(),
            goal: "The workflow is over.".to_owned(),
            source: None,
            body: String::new(),
            bindings: BTreeMap::new(),
            gate: None,
            waits_for_user: false,
            auto: true,
            resume_only: false,
            inputs: Vec::new(),
            outputs: Vec::new(),
            sets_variables: Vec::new(),
            calls: Vec::new(),
            needs: Vec::new(),
            mirror_value: None,
        }
    }

    fn calls(&self, stop: &StepNode) -> Vec<String> {
        let mut calls: BTreeSet<String> = stop.reading.calls.iter().cloned().collect();
        for option in &stop.reading.options {
            if let ChoiceEffect::Call(Some(file)) = &option.effect {
                calls.insert(file.clone());
            }
        }
        calls.remove(&self.entry.reading.path);
        calls.into_iter().collect()
    }

    fn edges(&self, stop: &StepNode) -> Vec<EdgePlan> {
        let from = self.id(&stop.reading.path);
        let edge = |way: &StepEdge| {
            let to = match &way.to {
                Goal::Step(path) => self.id(path),
                Goal::End => self.end_id(),
            };
            let label = match (&way.gate, &way.to, &way.condition) {
                (Some(key), ..) => key.clone(),
                (None, Goal::End, _) => "exit".to_owned(),
                (None, Goal::Step(_), Some(condition)) => cut(&tidy(condition), 60),
                (None, Goal::Step(_), None) => "next".to_owned(),
            };
            let at = SourceRef { file: stop.reading.path.clone(), lines: (way.line, way.line) };
            EdgePlan {
                from: from.clone(),
                to,
                label,
                is_default: way.is_default,
                condition_text: way.condition.clone(),
                gate: way.gate.clone(),
                evidence: Evidence { class: way.class, at },
            }
        };
        stop.ways.iter().map(edge).collect()
    }

    /// Gives every option one edge. A resuming step leads on without its option; elsewhere an option with several edges
    /// gets a decision of its own behind it, so that nothing but the option opens them.
    fn route(
        &self,
        stop: &StepNode,
        node: &mut NodePlan,
        edges: &mut Vec<EdgePlan>,
    ) -> Vec<(NodePlan, Vec<EdgePlan>)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for key in edges.iter().filter_map(|edge| edge.gate.clone()) {
            *counts.entry(key).or_default() += 1;
        }
        let several: Vec<String> =
            counts.into_iter().filter(|(_, count)| *count > 1).map(|(key, _)| key).collect();
        let mut routes = Vec::new();
        for key in several {
            let takes = |edge: &EdgePlan| edge.gate.as_deref() == Some(key.as_str());
            let option = node
                .gate
                .as_mut()
                .and_then(|gate| gate.options.iter_mut().find(|option| option.key == key));
            let Some(option) = option else { continue };
            if stop.reading.resumes {
                option.does = OptionEffect::Stay;
                for edge in edges.iter_mut().filter(|edge| takes(edge)) {
                    edge.gate = None;
                    edge.label = cut(edge.condition_text.as_deref().unwrap_or("next"), 60);
                }
                let mut known = BTreeSet::new();
                edges.retain(|edge| edge.gate.is_some() || known.insert(edge.to.clone()));
                continue;
            }
            let (moved, kept): (Vec<EdgePlan>, Vec<EdgePlan>) = edges.drain(..).partition(takes);
            let id = clean(&format!("{}-{key}", node.id));
            let Some(first) = moved.first().cloned() else { continue };
            *edges = kept;
            edges.push(EdgePlan { to: id.clone(), condition_text: None, ..first });
            let mut behind = self.end();
            behind.kind = NodeKind::Decision;
            behind.auto = false;
            behind.title.clone_from(&option.label);
            behind.goal = "Take the edge whose condition holds.".to_owned();
            behind.body = option.text.clone().unwrap_or_default();
            let own = moved.into_iter().enumerate().map(|(index, edge)| EdgePlan {
                from: id.clone(),
                gate: None,
                is_default: index == 0,
                label: cut(edge.condition_text.as_deref().unwrap_or("next"), 60),
                ..edge
            });
            let own = own.collect();
            behind.id = id;
            routes.push((behind, own));
        }
        routes
    }

    fn gate(&self, stop: &StepNode, text: &StepText) -> Option<GatePlan> {
        if stop.reading.options.is_empty() {
            return None;
        }
        let leads_on = |key: &str| stop.ways.iter().any(|way| way.gate.as_deref() == Some(key));
        let options = stop.reading.options.iter().map(|option| {
            let does = match &option.effect {
                _ if leads_on(&option.key) => OptionEffect::Edge,
                ChoiceEffect::Call(Some(file)) => OptionEffect::Call(file.clone()),
                ChoiceEffect::Steps(_)
                | ChoiceEffect::End
                | ChoiceEffect::Call(None)
                | ChoiceEffect::Stay(_)
                | ChoiceEffect::Next
                | ChoiceEffect::Resume => OptionEffect::Stay,
            };
            OptionPlan {
                key: option.key.clone(),
                label: option.label.clone(),
                does,
                text: option.text.clone(),
                at: SourceRef { file: stop.reading.path.clone(), lines: option.lines },
            }
        });
        let options: Vec<OptionPlan> = options.collect();
        let saves =
            text.papers.saves.iter().filter(|save| save.key.as_deref().is_none_or(&leads_on));
        let mut commit: Vec<CommitPlan> = Vec::new();
        for save in saves {
            if let Some(to) = self.save_target(save, text) {
                match commit.iter_mut().find(|known| known.to == to) {
                    Some(known) => known.replace |= save.replace,
                    None => commit.push(CommitPlan { to, replace: save.replace }),
                }
            }
        }
        Some(GatePlan { options, commit })
    }

    /// Returns the document that a save means: the one in its words, else the only one of the text, else of the workflow.
    fn save_target(&self, save: &Save, text: &StepText) -> Option<String> {
        save.to
            .clone()
            .or_else(|| only(text.papers.names.iter().chain(&text.papers.creates)))
            .or_else(|| {
                let direct = text.papers.saves.iter().filter_map(|save| save.to.as_ref());
                only(direct)
            })
            .or_else(|| self.document())
    }

    /// Returns the only document of the workflow.
    fn document(&self) -> Option<String> {
        let texts = || self.flow.stops.iter().map(|stop| self.text(stop)).chain([self.entry]);
        let named = only(texts().flat_map(|text| &text.papers.names));
        let entry = self.entry.papers.names.iter().chain(&self.entry.papers.creates);
        named
            .or_else(|| only(entry))
            .or_else(|| {
                only(
                    texts().flat_map(|text| {
                        text.papers.saves.iter().filter_map(|save| save.to.as_ref())
                    }),
                )
            })
            .or_else(|| only(texts().flat_map(|text| &text.papers.creates)))
    }

    /// Returns the first node that creates a document.
    fn creator(&self, document: &String) -> Option<&String> {
        let creates = |stop: &&StepNode| self.text(stop).papers.creates.contains(document);
        self.flow.stops.iter().find(creates).map(|stop| &stop.reading.path)
    }

    /// Returns the documents that no text creates and that this node is the first to save.
    fn first_saved(&self, stop: &StepNode) -> Vec<String> {
        let saved = |stop: &StepNode| -> BTreeSet<String> {
            let text = self.text(stop);
            text.papers.saves.iter().filter_map(|save| self.save_target(save, text)).collect()
        };
        let mine = saved(stop);
        if mine.is_empty() {
            return Vec::new();
        }
        let earlier =
            self.flow.stops.iter().take_while(|other| other.reading.path != stop.reading.path);
        let before: BTreeSet<String> = earlier.flat_map(saved).collect();
        mine.into_iter()
            .filter(|document| self.creator(document).is_none() && !before.contains(document))
            .collect()
    }

    fn bindings(&self, text: &StepText) -> BTreeMap<String, String> {
        let skip = ["name", "description", "title"];
        text.keys
            .iter()
            .filter(|(name, _)| !skip.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), self.binding(text, name, value)))
            .collect()
    }

    fn entry_bindings(&self) -> BTreeMap<String, String> {
        let mut bindings = self.bindings(self.entry);
        for (name, value) in &self.entry.bullets {
            bindings.entry(name.clone()).or_insert_with(|| self.binding(self.entry, name, value));
        }
        bindings
    }

    /// Returns the value of a binding: a node, a mount path, or the text as it is written.
    fn binding(&self, text: &StepText, name: &str, value: &str) -> String {
        match text.files.get(name) {
            Some(Meant::Step(path)) if self.ids.contains_key(path) => {
                format!("node:{}", self.id(path))
            }
            Some(Meant::Step(path) | Meant::Workflow(path) | Meant::File(path)) => {
                self.tree.mount_path(path).unwrap_or_else(|| value.to_owned())
            }
            None => value.to_owned(),
        }
    }

    /// Returns the data files that the texts name.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for text in self.flow.stops.iter().map(|stop| self.text(stop)).chain([self.entry]) {
            for (name, meant) in &text.files {
                if let Meant::File(path) = meant {
                    files.entry(name.clone()).or_insert_with(|| path.clone());
                }
            }
        }
        files
    }

    /// Returns the list that records the steps, if a text of the workflow keeps one.
    fn mirror(&self) -> Option<MirrorPlan> {
        let keeps = self
            .flow
            .stops
            .iter()
            .any(|stop| !stop.is_entry && self.text(stop).papers.records.is_some());
        let file = self.document().filter(|_| keeps)?;
        Some(MirrorPlan { file, key: MIRROR_KEY.to_owned() })
    }

    /// Returns the value that a node records: that of its text, else its number or name in the style of the workflow.
    fn mirror_value(&self, stop: &StepNode, text: &StepText) -> Option<serde_json::Value> {
        if stop.reading.resumes {
            return None;
        }
        if let Some((value, _)) = &text.papers.records {
            return Some(value.clone());
        }
        // Steps of another workflow that are joined to this one keep no record here.
        let folder = folder_of(&stop.reading.path);
        let beside = || {
            self.flow
                .stops
                .iter()
                .filter(|other| folder_of(&other.reading.path) == folder)
                .filter_map(|other| {
                    self.text(other).papers.records.as_ref().filter(|_| !other.is_entry)
                })
        };
        let all = beside().count();
        let numbers = beside().filter(|(value, _)| value.is_number()).count();
        if all == 0 {
            return None;
        }
        let stem = stem(&stop.reading.path).unwrap_or_default();
        let number = super::documents::step_number(stem);
        if numbers * 2 >= all {
            let number = number?;
            let value = number.parse::<u32>().map(serde_json::Value::from);
            return Some(value.unwrap_or_else(|_| serde_json::Value::from(number)));
        }
        Some(serde_json::Value::from(
            text.keys.get("name").cloned().unwrap_or_else(|| stem.to_owned()),
        ))
    }
}

/// Returns the only different text of a list.
fn only<'t>(mut all: impl Iterator<Item = &'t String>) -> Option<String> {
    let first = all.next()?;
    all.all(|other| other == first).then(|| first.clone())
}

/// Returns ids for the nodes: the stem of the file, with its folder in front where stems repeat.
fn ids(flow: &StepGraph) -> BTreeMap<String, String> {
    let mut stems: BTreeMap<String, usize> = BTreeMap::new();
    for stop in flow.stops.iter().filter(|stop| !stop.is_entry) {
        *stems.entry(clean(stem(&stop.reading.path).unwrap_or_default())).or_default() += 1;
    }
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut ids = BTreeMap::new();
    for stop in &flow.stops {
        let path = &stop.reading.path;
        let mut id = clean(stem(path).unwrap_or_default());
        if stop.is_entry {
            START.clone_into(&mut id);
        } else if stems.get(&id).copied().unwrap_or(0) > 1 {
            id = clean(&format!("{}-{id}", name_of(folder_of(path))));
        }
        let base = id.clone();
        let mut number = 2;
        while !used.insert(id.clone()) {
            id = format!("{base}-{number}");
            number += 1;
        }
        ids.insert(path.clone(), id);
    }
    ids
}

/// Makes a text fit the pattern of ids.
fn clean(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let cleaned: String = text.chars().map(|c| if fits(c) { c } else { '-' }).take(100).collect();
    let cleaned = cleaned.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if cleaned.is_empty() { "step".to_owned() } else { cleaned.to_owned() }
}

fn whole(tree: &SourceTree<'_>, path: &str) -> SourceRef {
    let lines = tree.text(path).map_or(1, |text| text.lines().max(1));
    SourceRef { file: path.to_owned(), lines: (1, lines) }
}

fn body_of(
    tree: &SourceTree<'_>,
    path: &str,
    document: &crate::document::SourceDocument,
) -> SourceRef {
    let SourceRef { file, lines: (_, last) } = whole(tree, path);
    SourceRef { file, lines: (document.body_line.min(last), last) }
}

/// Returns true for an edge that only weak evidence supports.
pub(super) fn is_weak(way: &StepEdge) -> bool {
    way.class == EvidenceClass::Order
}
