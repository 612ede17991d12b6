//! Steps: each belongs to its node and agrees with the graph.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::id::NodeId;
use crate::package::check::{GraphRead, StepDraft};
use crate::package::document::Document;
use crate::package::graph::{EdgeDraft, NodeDraft};
use crate::package::step::{Step, Transition};
use crate::path::PackagePath;
use crate::text::Span;
use crate::wording::quoted;

/// Maximum number of nodes to compare a step with; more graphs that share it would only repeat the findings.
const COMPARED: usize = 100;

pub(super) fn check(graphs: &[&GraphRead], findings: &mut Findings) {
    let mut seen: HashMap<&PackagePath, usize> = HashMap::new();
    for read in graphs {
        let moves = EdgesByNode::new(read);
        let mut names: HashMap<&NodeId, usize> = HashMap::new();
        for id in read.draft.nodes.iter().filter_map(|node| node.id.as_ref()) {
            *names.entry(id).or_default() += 1;
        }
        let mut users: HashMap<&PackagePath, usize> = HashMap::new();
        for file in read.draft.nodes.iter().filter_map(|node| node.file.as_ref()) {
            *users.entry(file).or_default() += 1;
        }
        for (node, draft) in read.draft.nodes.iter().zip(&read.steps) {
            let (Some(file), Some(draft)) = (&node.file, draft) else { continue };
            let Some(step) = &draft.step else { continue };
            let times = seen.entry(file).or_default();
            *times += 1;
            if *times == 1 {
                sections(draft, step, findings);
            }
            // Where two nodes have one id, it is not known which one the step means.
            let Some(id) = node.id.as_ref().filter(|id| names.get(id) == Some(&1)) else {
                continue;
            };
            if step.front.node_id != *id {
                let is_shared = users.get(file).is_some_and(|users| *users > 1);
                mismatch(draft, step, id, is_shared, findings);
            } else if *times <= COMPARED {
                disagreements(&draft.document, node, step, findings);
                if let Some(moves) = &moves {
                    transitions(&draft.document, id, step, moves.from(id), findings);
                }
            }
        }
    }
}

fn mismatch(
    draft: &StepDraft,
    step: &Step,
    node: &NodeId,
    is_shared: bool,
    findings: &mut Findings,
) {
    let stated = &step.front.node_id;
    let (message, help) = if is_shared {
        (
            format!(
                "two nodes of one graph use this step: it belongs to node `{stated}`, but node `{node}` names it too"
            ),
            format!("give node `{node}` a step file of its own"),
        )
    } else {
        (
            format!(
                "this step says that its node is `{stated}`, but node `{node}` of the graph uses it"
            ),
            format!("write `nodeId: {node}`, or correct `file` of that node in the graph"),
        )
    };
    let place = draft.document.place(&["nodeId".into()]);
    findings.push(Diagnostic::new(Code::NodeIdMismatch, place, message).help(help));
}

/// Edges of a graph by the node that they leave. Only for a graph with valid edges: after a mistake there, a step
/// differs from the graph because of that mistake.
struct EdgesByNode<'g>(HashMap<&'g str, Vec<&'g EdgeDraft>>);

impl<'g> EdgesByNode<'g> {
    fn new(read: &'g GraphRead) -> Option<Self> {
        let nodes: HashSet<&NodeId> = read.draft.node_ids()?.into_iter().collect();
        let mut moves = HashMap::<&str, Vec<&EdgeDraft>>::new();
        for ((from, to), edge) in read.draft.ends()?.into_iter().zip(&read.draft.edges) {
            (nodes.contains(from) && nodes.contains(to)).then_some(())?;
            moves.entry(from.as_str()).or_default().push(edge);
        }
        Some(Self(moves))
    }

    fn from(&self, node: &NodeId) -> &[&'g EdgeDraft] {
        self.0.get(node.as_str()).map(Vec::as_slice).unwrap_or_default()
    }
}

fn sections(draft: &StepDraft, step: &Step, findings: &mut Findings) {
    let body = step.body();
    let start = step.body.start + (body.len() - body.trim_start().len());
    let at = start.min(step.text.len());
    let place =
        || Location::at(draft.document.path.as_str(), Span::new(at, at).first_line(&step.text));
    for (title, code, what) in [
        ("goal", Code::NoGoal, "what this step is for"),
        ("instructions", Code::NoInstructions, "what the model has to do"),
    ] {
        if !step.outline.has_section(title) {
            let heading = if title == "goal" { "## Goal" } else { "## Instructions" };
            let found = match step.outline.heading(title) {
                Some((level, span)) => {
                    let message = format!(
                        "this heading has level {level}, so the step has no `{heading}` section"
                    );
                    let place =
                        Location::at(draft.document.path.as_str(), span.first_line(&step.text));
                    Diagnostic::new(code, place, message).help(format!("write `{heading}`"))
                }
                None => {
                    let message = format!("this step has no `{heading}` section");
                    Diagnostic::new(code, place(), message)
                        .help(format!("add a `{heading}` heading and say {what}"))
                }
            };
            findings.push(found);
        }
    }
}

const GRAPH_WINS: &str = "the graph counts; correct the step, or the graph";

fn disagreements(document: &Document, node: &NodeDraft, step: &Step, findings: &mut Findings) {
    let mut report = |code, key: &'static str, message: String| {
        findings
            .push(Diagnostic::new(code, document.place(&[key.into()]), message).help(GRAPH_WINS));
    };
    if let Some(kind) = node.kind.filter(|kind| step.front.kind != kind.word()) {
        let message = format!(
            "the step's type is {}, but its node's is `{}`",
            quoted(&step.front.kind),
            kind.word()
        );
        report(Code::TypeDisagrees, "type", message);
    }
    let stated = step.front.agent_id.as_deref().map(str::trim).filter(|agent| !agent.is_empty());
    if let (Some(stated), Some(agent)) = (stated, &node.agent_id) {
        let agent = agent.as_ref().map(|agent| agent.as_str());
        if agent != Some(stated) {
            let other = agent.map_or("no agent".to_owned(), |agent| format!("`{agent}`"));
            report(
                Code::AgentDisagrees,
                "agentId",
                format!("the step's agent is {}, but its node has {other}", quoted(stated)),
            );
        }
    }
    for (code, key, stated, graph) in [
        (Code::InputsDisagree, "inputs", &step.front.inputs, &node.inputs),
        (Code::OutputsDisagree, "outputs", &step.front.outputs, &node.outputs),
    ] {
        let (Some(stated), Some(graph)) = (stated, graph) else { continue };
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
        names.iter().take(3).map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
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
    node: &NodeId,
    step: &Step,
    edges: &[&EdgeDraft],
    findings: &mut Findings,
) {
    let Some(stated) = &step.front.transitions else { return };
    let by_name: Option<HashMap<(&str, &str), &EdgeDraft>> = edges
        .iter()
        .map(|edge| Some(((edge.to.as_ref()?.as_str(), edge.label.as_deref()?), *edge)))
        .collect();
    // The name of an edge was unreadable.
    let Some(by_name) = by_name else { return };
    let named = |(to, label): (&str, &str)| format!("{to} ({label})");
    let ours: BTreeSet<String> = stated.iter().map(|move_| named(name_of(move_))).collect();
    let theirs: BTreeSet<String> = by_name.keys().copied().map(named).collect();
    let message = if ours == theirs {
        let said = stated
            .iter()
            .find_map(|move_| contradiction(move_, by_name.get(&name_of(move_)).copied()?));
        let Some(said) = said else { return };
        said
    } else {
        let difference = difference(&ours.iter().collect(), &theirs.iter().collect());
        format!("the transitions of `{node}` differ from the graph's edges: {difference}")
    };
    let place = document.place(&["transitions".into()]);
    findings.push(Diagnostic::new(Code::TransitionsDisagree, place, message).help(GRAPH_WINS));
}

fn name_of(move_: &Transition) -> (&str, &str) {
    (move_.to.as_str(), move_.label.as_str())
}

/// Describes a contradiction between a step's move and its edge. A statement that only one of them makes is none.
fn contradiction(move_: &Transition, edge: &EdgeDraft) -> Option<String> {
    let label = quoted(&move_.label);
    if let (Some(stated), Some(Some(graph))) = (move_.is_default, edge.is_default)
        && stated != graph
    {
        let say =
            |is_default: bool| if is_default { "is the default" } else { "is not the default" };
        return Some(format!(
            "the step says that {label} {}, the graph says that it {}",
            say(stated),
            say(graph)
        ));
    }
    let (Some(stated), Some(Some(graph))) = (&move_.condition_text, &edge.condition_text) else {
        return None;
    };
    let differ = stated.trim() != graph.trim() && !stated.trim().is_empty();
    differ.then(|| {
        format!(
            "the step's condition for {label} is {}, the graph's is {}",
            quoted(stated),
            quoted(graph)
        )
    })
}
