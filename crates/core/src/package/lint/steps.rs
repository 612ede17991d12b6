//! Steps: each belongs to its node, and says nothing that the graph does not.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic, Findings, Place};
use crate::package::check::{StepDraft, WorkflowDraft};
use crate::package::document::Document;
use crate::package::graph::{Edge, GraphDraft, Node};
use crate::package::step::Step;
use crate::shape;
use crate::text::Span;

pub(super) fn check(workflow: &WorkflowDraft, findings: &mut Findings) {
    let Some((_, graph)) = &workflow.graph else { return };
    let moves = Moves::new(graph);
    let mut sections_checked = BTreeSet::new();
    for (node, draft) in graph.nodes.iter().zip(&workflow.steps) {
        let (Some(node), Some(draft)) = (node, draft) else { continue };
        let Some(step) = &draft.step else { continue };
        if sections_checked.insert(&node.file) {
            sections(draft, step, findings);
        }
        if step.front.node_id != node.id {
            let message = format!(
                "this step says that its node is `{}`, but node `{}` of the graph uses it",
                step.front.node_id, node.id
            );
            let finding = Diagnostic::new(
                Code::NodeIdMismatch,
                draft.document.place(&["nodeId".into()]),
                message,
            );
            findings.push(finding.help(format!(
                "write `nodeId: {}`, or correct `file` of that node in the graph",
                node.id
            )));
            continue;
        }
        disagreements(&draft.document, node, step, findings);
        if let Some(moves) = &moves {
            transitions(&draft.document, node, step, moves.from(node), findings);
        }
    }
}

/// The edges of a whole graph by the node they leave.
struct Moves<'g>(std::collections::HashMap<&'g str, Vec<&'g Edge>>);

impl<'g> Moves<'g> {
    fn new(graph: &'g GraphDraft) -> Option<Self> {
        let mut moves = std::collections::HashMap::<&str, Vec<&Edge>>::new();
        for edge in &graph.edges {
            let edge = edge.as_ref()?;
            moves.entry(edge.from.as_str()).or_default().push(edge);
        }
        Some(Self(moves))
    }

    fn from(&self, node: &Node) -> &[&'g Edge] {
        self.0.get(node.id.as_str()).map(Vec::as_slice).unwrap_or_default()
    }
}

fn sections(draft: &StepDraft, step: &Step, findings: &mut Findings) {
    let body = step.body();
    let start = step.body.start + (body.len() - body.trim_start().len());
    let at = start.min(step.text.len());
    let place =
        || Place::at(draft.document.path.as_str(), Span::new(at, at).first_line(&step.text));
    for (title, code, what) in [
        ("goal", Code::NoGoal, "what this step is for"),
        ("instructions", Code::NoInstructions, "what the model has to do"),
    ] {
        if step.outline.section(title).is_none() {
            let heading = if title == "goal" { "## Goal" } else { "## Instructions" };
            let message = format!("this step has no `{heading}` section");
            findings.push(
                Diagnostic::new(code, place(), message)
                    .help(format!("add a `{heading}` heading and say {what}")),
            );
        }
    }
}

const GRAPH_WINS: &str = "the graph counts; correct the step, or the graph";

fn disagreements(document: &Document, node: &Node, step: &Step, findings: &mut Findings) {
    let mut report = |code, key: &'static str, message: String| {
        findings
            .push(Diagnostic::new(code, document.place(&[key.into()]), message).help(GRAPH_WINS));
    };
    if step.front.kind != node.kind.word() {
        let message = format!(
            "the step's type is {}, but its node's is `{}`",
            shape::quoted(&step.front.kind),
            node.kind.word()
        );
        report(Code::TypeDisagrees, "type", message);
    }
    let stated = step.front.agent_id.as_deref().map(str::trim).filter(|agent| !agent.is_empty());
    if let Some(stated) = stated {
        let agent = node.agent_id.as_ref().map(|agent| agent.as_str());
        if agent != Some(stated) {
            let other = agent.map_or("no agent".to_owned(), |agent| format!("`{agent}`"));
            report(
                Code::AgentDisagrees,
                "agentId",
                format!("the step's agent is {}, but its node has {other}", shape::quoted(stated)),
            );
        }
    }
    for (code, key, stated, graph) in [
        (Code::InputsDisagree, "inputs", &step.front.inputs, &node.inputs),
        (Code::OutputsDisagree, "outputs", &step.front.outputs, &node.outputs),
    ] {
        let Some(stated) = stated else { continue };
        let (ours, theirs): (BTreeSet<_>, BTreeSet<_>) =
            (stated.iter().collect(), graph.iter().collect());
        if ours != theirs {
            report(
                code,
                key,
                format!("the step's {key} differ from its node's: {}", difference(&ours, &theirs)),
            );
        }
    }
}

fn difference(step: &BTreeSet<&String>, graph: &BTreeSet<&String>) -> String {
    let list = |names: Vec<&&String>| {
        names.iter().take(3).map(|name| shape::quoted(name)).collect::<Vec<_>>().join(", ")
    };
    let only_step = list(step.difference(graph).collect());
    let only_graph = list(graph.difference(step).collect());
    match (only_step.is_empty(), only_graph.is_empty()) {
        (false, false) => format!("only the step has {only_step}, only the graph has {only_graph}"),
        (false, true) => format!("only the step has {only_step}"),
        (true, _) => format!("only the graph has {only_graph}"),
    }
}

fn transitions(
    document: &Document,
    node: &Node,
    step: &Step,
    edges: &[&Edge],
    findings: &mut Findings,
) {
    let Some(stated) = &step.front.transitions else { return };
    let named = |to: &str, label: &str| format!("{to} ({label})");
    let ours: BTreeSet<String> =
        stated.iter().map(|move_| named(move_.to.as_str(), &move_.label)).collect();
    let theirs: BTreeSet<String> =
        edges.iter().map(|edge| named(edge.to.as_str(), &edge.label)).collect();
    let message = if ours == theirs {
        let wrong_default = stated.iter().find(|move_| {
            let edge = edges.iter().find(|edge| edge.to == move_.to && edge.label == move_.label);
            move_
                .is_default
                .is_some_and(|is_default| edge.is_some_and(|edge| edge.is_default != is_default))
        });
        let Some(wrong) = wrong_default else { return };
        let say =
            |is_default: bool| if is_default { "is the default" } else { "is not the default" };
        let stated = wrong.is_default.unwrap_or(false);
        format!(
            "the step says that `{}` {}, the graph says that it {}",
            wrong.label,
            say(stated),
            say(!stated)
        )
    } else {
        let difference = difference(&ours.iter().collect(), &theirs.iter().collect());
        format!("the transitions of `{}` differ from the graph's edges: {difference}", node.id)
    };
    findings.push(
        Diagnostic::new(
            Code::TransitionsDisagree,
            document.place(&["transitions".into()]),
            message,
        )
        .help(GRAPH_WINS),
    );
}
