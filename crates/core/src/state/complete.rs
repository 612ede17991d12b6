//! Completion of a node by a tool of its own. This module derives the change of the document; the guard checks it like
//! any other.

use crewagent_format::condition::Evaluator;
use crewagent_format::package::graph::{Edge, Graph, NodeKind};
use crewagent_format::wording::{cut, joined};
use serde_json::{Map, Value as Json, json};

use super::document::{COMPLETE, ChangeError, FAILED, STATUS, StateDocument};
use super::edits::merge_variables;
use super::gate_visit::GateVisit;
use super::next::{Exit, condition_words, exits};
use super::patch::StateUpdate;
use crate::refusal::{Refusal, RefusalCode};

/// Longest part of a condition that is shown, in characters.
const SHOWN_CHARS: usize = 200;

/// Completion of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeCompletion {
    /// The completed node, if the call names it: it must be the current one.
    pub node: Option<String>,
    /// Label of the edge to take, else the node that it leads to.
    pub next: Option<String>,
    /// Label of the edge to take.
    pub label: Option<String>,
    /// Reason of a choice between several edges.
    pub reason: Option<String>,
    /// Option of the node's gate that the user chose: the edge that is behind it.
    pub gate: Option<String>,
}

impl NodeCompletion {
    /// Returns the update that completes the node in this document, together with the other changes.
    pub fn update(
        &self,
        more: &StateUpdate,
        document: &StateDocument,
        graph: &Graph,
        visit: &GateVisit,
    ) -> Result<StateUpdate, Refusal> {
        if document.is_complete(graph) {
            return Err(Refusal::new(RefusalCode::Transition, "Nothing is left to complete."));
        }
        let current = document.current_node_id(graph);
        if let Some(node) = self.node.as_deref().filter(|node| *node != current) {
            let message = format!("The run is at `{current}`, not at `{node}`.");
            return Err(Refusal::new(RefusalCode::Transition, message)
                .hint(format!("Complete `{current}`, or go on with its step file.")));
        }
        let mut update = more.clone();
        // A workflow that cannot be completed stays where it is.
        if more.variables.get(STATUS).and_then(Json::as_str) == Some(FAILED) {
            return Ok(update);
        }
        let mut variables = document.variables().clone();
        variables.extend(more.variables.clone());
        update.steps_completed.push(current.to_owned());
        let Some(edge) = self.edge(current, graph, &variables, visit)? else {
            update.variables.insert(STATUS.to_owned(), COMPLETE.into());
            return Ok(update);
        };
        update.current_node_id = Some(edge.to.as_str().to_owned());
        let is_chosen = self.label.is_some() || self.gate.is_some();
        if is_chosen || graph.outgoing(current).nth(1).is_some() {
            let mut entry = json!({ "from": current, "to": edge.to, "label": edge.label });
            if let Some(reason) = &self.reason {
                entry["reason"] = reason.as_str().into();
            }
            update.decision_log.push(entry);
        }
        Ok(update)
    }

    /// Returns the edge to take; none from an end. Where there are several, the call names one, or the conditions of the
    /// author leave exactly one. The default edge is never taken by itself, so a misspelt value falls nowhere.
    fn edge<'g>(
        &self,
        current: &str,
        graph: &'g Graph,
        variables: &Map<String, Json>,
        visit: &GateVisit,
    ) -> Result<Option<&'g Edge>, Refusal> {
        let is_named = self.next.is_some() || self.label.is_some() || self.gate.is_some();
        let is_end = graph.node(current).is_some_and(|node| node.kind == NodeKind::End);
        let all: Vec<Exit<'g>> = exits(graph, current, variables);
        if all.is_empty() && is_named && self.gate.is_none() {
            let message = format!("No edge leads on from `{current}`.");
            return Err(Refusal::new(RefusalCode::Transition, message)
                .hint("Leave `next` out to complete it."));
        }
        if all.is_empty() || (is_end && (!is_named || self.gate.is_some())) {
            return Ok(None);
        }
        let named = self.named(&all);
        match named.as_slice() {
            [] => Err(unclear(current, "no edge of the graph fits", &all)),
            [exit] if is_named || all.len() == 1 => Ok(Some(exit.edge)),
            several => {
                let is_behind = |exit: &&&Exit<'g>| {
                    exit.edge.gate.is_some() && visit.opens(exit.edge.gate.as_ref())
                };
                let mut behind = several.iter().filter(is_behind);
                if let (false, Some(exit), None) = (is_named, behind.next(), behind.next()) {
                    return Ok(Some(exit.edge));
                }
                let evaluator = Evaluator::new(variables);
                let holds = |edge: &Edge| {
                    let rule = edge.condition_expr.as_ref();
                    rule.is_some_and(|rule| evaluator.holds(rule).unwrap_or(false))
                };
                let is_chosen =
                    |exit: &&&Exit<'g>| if is_named { exit.open } else { holds(exit.edge) };
                let mut open = several.iter().filter(is_chosen);
                match (open.next(), open.next()) {
                    (Some(exit), None) => Ok(Some(exit.edge)),
                    (None, _) => Err(unclear(current, "no condition of its edges holds", &all)),
                    (Some(_), Some(_)) => {
                        Err(unclear(current, "more than one edge could be meant", &all))
                    }
                }
            }
        }
    }

    /// Returns the edges that the call names, by label, else by node; all if it names none.
    fn named<'e, 'g>(&self, all: &'e [Exit<'g>]) -> Vec<&'e Exit<'g>> {
        let has_label = |exit: &&Exit<'g>| {
            let is_behind = self.gate.is_none() || exit.edge.gate == self.gate;
            is_behind && self.label.as_ref().is_none_or(|label| exit.edge.label == *label)
        };
        let fitting: Vec<&Exit<'g>> = all.iter().filter(has_label).collect();
        let Some(next) = &self.next else { return fitting };
        let labelled: Vec<&Exit<'g>> =
            fitting.iter().copied().filter(|exit| exit.edge.label == *next).collect();
        if labelled.is_empty() {
            fitting.into_iter().filter(|exit| exit.edge.to.as_str() == next).collect()
        } else {
            labelled
        }
    }
}

/// Returns the document as the runtime leaves it: an end that completes itself is complete as soon as it is reached.
pub fn with_auto_end(
    old: &StateDocument,
    new: StateDocument,
    graph: &Graph,
) -> Result<StateDocument, ChangeError> {
    let at = new.current_node_id(graph);
    let is_auto = graph.node(at).is_some_and(|node| node.auto && node.kind == NodeKind::End);
    if !is_auto || at == old.current_node_id(graph) || new.is_complete(graph) {
        return Ok(new);
    }
    let mut complete = Map::new();
    complete.insert(STATUS.to_owned(), COMPLETE.into());
    new.edited(&merge_variables(new.variables(), &complete))
}

/// Returns the refusal of a completion whose edge is not clear, with every edge and its condition.
fn unclear(current: &str, why: &str, all: &[Exit<'_>]) -> Refusal {
    let way = |exit: &Exit<'_>| {
        let Edge { label, to, .. } = exit.edge;
        match condition_words(exit.edge) {
            Some(condition) => format!("`{label}` -> {to} ({})", cut(&condition, SHOWN_CHARS)),
            None => format!("`{label}` -> {to}"),
        }
    };
    if let [only] = all {
        let message = format!("No other way leads on from `{current}` than to {}.", only.edge.to);
        return Refusal::new(RefusalCode::Transition, message)
            .hint("Nothing was changed. Leave `next` out to go there.");
    }
    let message = format!("`{current}` cannot be completed like this: {why}.");
    let ways = joined(all.iter().map(way));
    Refusal::new(RefusalCode::Transition, message).hint(format!(
        "Set the variables that decide, or say the label in `next`. The ways on: {ways}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::fixture;

    fn completion(node: &str, next: Option<&str>, label: Option<&str>) -> NodeCompletion {
        let (next, label) = (next.map(str::to_owned), label.map(str::to_owned));
        NodeCompletion { node: Some(node.to_owned()), next, label, ..NodeCompletion::default() }
    }

    fn update(completion: &NodeCompletion, at: &str) -> Result<StateUpdate, Refusal> {
        let workflow = fixture::create_story();
        let text = format!(
            "---\nschemaVersion: \"1.1\"\nworkflowType: t\ncurrentNodeId: {at}\nstepsCompleted: []\n---\n"
        );
        let document = StateDocument::read(text).unwrap();
        completion.update(&StateUpdate::default(), &document, &workflow.graph, &GateVisit::none())
    }

    #[test]
    fn the_only_way_on_is_taken() {
        let first = "step-01-select-story";
        let done = update(&completion(first, None, None), first).unwrap();
        assert_eq!(done.steps_completed, [first]);
        assert_eq!(done.current_node_id.as_deref(), Some("step-02-discover-inputs"));
        assert!(done.decision_log.is_empty());
        let same = update(&completion(first, Some("step-02-discover-inputs"), None), first);
        assert_eq!(same.unwrap(), done);
        let decided = update(&completion(first, None, Some("next")), first).unwrap();
        assert_eq!(
            decided.decision_log,
            [json!({"from": first, "to": "step-02-discover-inputs", "label": "next"})]
        );
    }

    #[test]
    fn an_end_is_completed_without_a_move() {
        let done = update(&completion("end-99", None, None), "end-99").unwrap();
        assert_eq!((done.steps_completed.len(), done.current_node_id), (1, None));
        assert_eq!(done.variables[STATUS], COMPLETE);
    }

    #[test]
    fn a_node_without_a_way_out_completes_the_workflow() {
        let workflow = fixture::drawn(&[fixture::step("only")], &json!([]));
        let document = StateDocument::read(workflow.document.clone()).unwrap();
        let done = completion("only", None, None);
        let done = done
            .update(&StateUpdate::default(), &document, &workflow.graph, &GateVisit::none())
            .unwrap();
        assert_eq!(done.steps_completed, ["only"]);
        assert_eq!(done.variables[STATUS], COMPLETE);
    }

    fn check_refused(completion: &NodeCompletion, at: &str, says: &str) {
        let refusal = update(completion, at).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Transition);
        let hint = refusal.hint.unwrap_or_default();
        assert!(format!("{} {hint}", refusal.message).contains(says), "{} {hint}", refusal.message);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_ways_there_are() {
        let first = "step-01-select-story";
        check_refused(&completion("end-99", None, None), first, "The run is at");
        check_refused(&completion(first, Some("end-99"), None), first, "step-02-discover-inputs");
        check_refused(&completion(first, None, Some("back")), first, "Leave `next` out");
        check_refused(&completion("end-99", Some(first), None), "end-99", "No edge leads on");
    }

    /// Completes the node that decides in hello-branch.
    fn decide(next: Option<&str>, project_type: Option<&str>) -> Result<StateUpdate, Refusal> {
        let workflow = fixture::hello_branch();
        let text = "---\nschemaVersion: \"1.1\"\nworkflowType: t\ncurrentNodeId: decide-02-project-type\nstepsCompleted: []\n---\n";
        let document = StateDocument::read(text).unwrap();
        let mut more = StateUpdate::default();
        more.variables.extend(project_type.map(|value| ("projectType".to_owned(), value.into())));
        let reason = Some("the brief says so".to_owned());
        let completion =
            NodeCompletion { next: next.map(str::to_owned), reason, ..NodeCompletion::default() };
        completion.update(&more, &document, &workflow.graph, &GateVisit::none())
    }

    #[test]
    fn the_condition_of_the_author_decides_where_nothing_is_named() {
        let update = decide(None, Some("greenfield")).unwrap();
        assert_eq!(update.current_node_id.as_deref(), Some("step-03a-greenfield"));
        let expected = json!({"from": "decide-02-project-type", "to": "step-03a-greenfield", "label": "greenfield", "reason": "the brief says so"});
        assert_eq!(update.decision_log, [expected]);
    }

    #[test]
    fn an_edge_is_named_by_its_label_or_its_node() {
        for next in ["brownfield", "step-03b-brownfield"] {
            let update = decide(Some(next), Some("brownfield")).unwrap();
            assert_eq!(update.current_node_id.as_deref(), Some("step-03b-brownfield"), "{next}");
        }
    }

    #[test]
    fn a_misspelt_value_never_takes_the_default() {
        for value in [None, Some("Greenfield"), Some("")] {
            let refusal = decide(None, value).unwrap_err();
            assert!(refusal.message.contains("no condition of its edges holds"), "{value:?}");
            let hint = refusal.hint.unwrap();
            assert!(hint.contains("`greenfield` -> step-03a-greenfield ("), "{hint}");
        }
        let refusal = decide(Some("bluefield"), None).unwrap_err();
        assert!(refusal.message.contains("no edge of the graph fits"));
    }

    #[test]
    fn nothing_is_left_to_complete_after_the_end() {
        let workflow = fixture::create_story();
        let text = "---\nschemaVersion: \"1.1\"\nworkflowType: t\ncurrentNodeId: end-99\nstepsCompleted: [end-99]\n---\n";
        let document = StateDocument::read(text).unwrap();
        let completion = NodeCompletion::default();
        let refusal = completion
            .update(&StateUpdate::default(), &document, &workflow.graph, &GateVisit::none())
            .unwrap_err();
        assert_eq!(refusal, Refusal::new(RefusalCode::Transition, "Nothing is left to complete."));
    }

    #[test]
    fn a_workflow_that_failed_stays_where_it_is() {
        let workflow = fixture::hello_branch();
        let document = StateDocument::read(workflow.document.clone()).unwrap();
        let mut more = StateUpdate::default();
        more.variables.insert(STATUS.to_owned(), FAILED.into());
        let update = NodeCompletion::default()
            .update(&more, &document, &workflow.graph, &GateVisit::none())
            .unwrap();
        assert_eq!(update, more);
    }
}
