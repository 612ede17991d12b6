//! Strict mode: a tool of its own completes a node or updates the state. This module derives the change of the
//! document; the guard checks it like any other.

use crewagent_format::package::graph::{Edge, Graph, NodeKind};
use crewagent_format::wording::ticked;
use serde_json::json;

use super::document::{COMPLETE, StateDocument};
use super::patch::StateUpdate;
use crate::refusal::{Refusal, RefusalCode};

/// Completion of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCompletion {
    pub node: String,
    /// Next node; the only edge's target if absent, none at an end.
    pub next: Option<String>,
    pub decision: Option<BranchChoice>,
}

/// Choice of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchChoice {
    pub label: String,
    pub reason: Option<String>,
}

impl NodeCompletion {
    /// Returns the update that completes the node in this document, together with the other changes.
    pub fn update(
        &self,
        more: &StateUpdate,
        document: &StateDocument,
        graph: &Graph,
    ) -> Result<StateUpdate, Refusal> {
        let current = document.current_node_id(graph);
        if self.node != current {
            let message = format!("The run is at `{current}`, not at `{}`.", self.node);
            return Err(Refusal::new(RefusalCode::Transition, message)
                .hint(format!("Complete `{current}`, or go on with its step file.")));
        }
        let mut update = more.clone();
        update.steps_completed.push(self.node.clone());
        let Some(edge) = self.edge(graph)? else {
            // An end is complete by itself; other nodes without edges need the status.
            if graph.node(current).is_none_or(|node| node.kind != NodeKind::End) {
                update.workflow_status = Some(COMPLETE.to_owned());
            }
            return Ok(update);
        };
        update.current_node_id = Some(edge.to.as_str().to_owned());
        if let Some(decision) = &self.decision {
            let mut entry = json!({ "from": self.node, "to": edge.to, "label": edge.label });
            if let Some(reason) = &decision.reason {
                entry["reason"] = reason.as_str().into();
            }
            update.decision_log.push(entry);
        }
        Ok(update)
    }

    /// Returns the edge to take; none from an end.
    fn edge<'g>(&self, graph: &'g Graph) -> Result<Option<&'g Edge>, Refusal> {
        let label = self.decision.as_ref().map(|decision| decision.label.as_str());
        let is_end = graph.node(&self.node).is_some_and(|node| node.kind == NodeKind::End);
        if is_end && self.next.is_none() && label.is_none() {
            return Ok(None);
        }
        let edges: Vec<&Edge> = graph.outgoing(&self.node).collect();
        let fits = |edge: &&&Edge| {
            self.next.as_deref().is_none_or(|next| edge.to.as_str() == next)
                && label.is_none_or(|label| edge.label == label)
        };
        let fitting: Vec<&&Edge> = edges.iter().filter(fits).collect();
        match (fitting.as_slice(), edges.as_slice()) {
            ([edge], _) => Ok(Some(edge)),
            ([], []) if self.next.is_none() => Ok(None),
            ([], []) => {
                let message = format!("No edge leads on from `{}`.", self.node);
                Err(Refusal::new(RefusalCode::Transition, message)
                    .hint("Leave `next` out to complete it."))
            }
            ([], _) => Err(self.unclear("no edge of the graph fits", &edges)),
            (_, _) => Err(self.unclear("there are several ways on", &edges)),
        }
    }

    fn unclear(&self, why: &str, edges: &[&Edge]) -> Refusal {
        let ways: Vec<String> =
            edges.iter().map(|edge| format!("{} ({})", edge.to, edge.label)).collect();
        let message = format!("`{}` cannot be completed like this: {why}.", self.node);
        let hint = format!("Say in `next` and `decision.label` which of {} it is.", ticked(&ways));
        Refusal::new(RefusalCode::Transition, message).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::fixture;

    fn completion(node: &str, next: Option<&str>, label: Option<&str>) -> NodeCompletion {
        let decision = label.map(|label| BranchChoice { label: label.into(), reason: None });
        NodeCompletion { node: node.into(), next: next.map(str::to_owned), decision }
    }

    fn update(completion: &NodeCompletion, at: &str) -> Result<StateUpdate, Refusal> {
        let workflow = fixture::create_story();
        let text = format!(
            "---\nschemaVersion: \"1.1\"\nworkflowType: t\ncurrentNodeId: {at}\nstepsCompleted: []\n---\n"
        );
        let document = StateDocument::read(text).unwrap();
        completion.update(&StateUpdate::default(), &document, &workflow.graph)
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
        assert_eq!(done.workflow_status, None);
    }

    #[test]
    fn a_node_without_a_way_out_completes_the_workflow() {
        let workflow = fixture::drawn(&[fixture::step("only")], &json!([]));
        let document = StateDocument::read(workflow.document.clone()).unwrap();
        let done = completion("only", None, None);
        let done = done.update(&StateUpdate::default(), &document, &workflow.graph).unwrap();
        assert_eq!(done.steps_completed, ["only"]);
        assert_eq!(done.workflow_status.as_deref(), Some(COMPLETE));
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
        check_refused(&completion(first, None, Some("back")), first, "no edge of the graph fits");
        check_refused(&completion("end-99", Some(first), None), "end-99", "No edge leads on");
    }
}
