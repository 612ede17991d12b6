//! The estimate for a workflow that has never run: the way with most nodes, each loop once, with the sizes of its briefs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crewagent_format::id::AgentId;
use crewagent_format::package::graph::Graph;
use crewagent_format::package::{Package, Workflow};
use jiff::Timestamp;

use super::machine::{Effect, Input, Machine, Subject};
use crate::call::schema;
use crate::prompt::WantedInput;
use crate::settings::RunSettings;
use crate::state::run_state::RunState;

/// Requests of a node: one that works, and one that finishes.
const REQUESTS_PER_NODE: u64 = 2;
/// Tokens that a model writes for an output.
const TOKENS_PER_OUTPUT: u64 = 400;
/// Tokens that it writes at a node without outputs.
const TOKENS_PER_NODE: u64 = 100;
/// Bytes of a token, as with most models.
const TOKEN_BYTES: u64 = 4;

/// Estimate of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// Estimates a run of a workflow. `size_of` returns the size of a file that a brief shows, in bytes.
pub fn estimate(
    subject: &Subject,
    settings: &RunSettings,
    size_of: &dyn Fn(&WantedInput) -> u64,
) -> Estimate {
    let Subject::Workflow { package, workflow, agent, .. } = subject else {
        return Estimate::default();
    };
    let estimator =
        Estimator { package: package.clone(), settings, size_of, known: RefCell::default() };
    estimator.of_workflow(*workflow, agent)
}

struct Estimator<'e> {
    package: Arc<Package>,
    settings: &'e RunSettings,
    size_of: &'e dyn Fn(&WantedInput) -> u64,
    /// Estimates of workflows, by index and agent: many nodes may call the same one.
    known: RefCell<BTreeMap<(usize, AgentId), Estimate>>,
}

impl Estimator<'_> {
    /// Adds up the nodes of the longest way. Workflows cannot call each other in a circle.
    fn of_workflow(&self, at: usize, agent: &AgentId) -> Estimate {
        let Some(workflow) = self.package.workflows().get(at) else { return Estimate::default() };
        let key = (at, agent.clone());
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let subject = Subject::Workflow {
            package: self.package.clone(),
            workflow: at,
            agent: agent.clone(),
            data: None,
            bindings: Arc::default(),
        };
        let machine = Machine::new(subject, self.settings.clone(), RunState::default());
        let mut sum = Estimate::default();
        for id in longest_way(&workflow.graph) {
            let Some(node) = workflow.graph.node(id) else { continue };
            let own = node.agent_id.as_ref().unwrap_or(agent);
            let called = workflow.calls.get(id).and_then(|call| {
                let is_meant =
                    |one: &Workflow| one.id.as_ref().is_some_and(|id| *id == call.workflow);
                self.package.workflows().iter().position(is_meant)
            });
            let part = match called {
                Some(called) => self.of_workflow(called, own),
                None => {
                    let written = node.outputs.len() as u64 * TOKENS_PER_OUTPUT;
                    self.of_node(&machine, id, written.max(TOKENS_PER_NODE))
                }
            };
            sum.requests = sum.requests.saturating_add(part.requests);
            sum.input_tokens = sum.input_tokens.saturating_add(part.input_tokens);
            sum.output_tokens = sum.output_tokens.saturating_add(part.output_tokens);
        }
        self.known.borrow_mut().insert(key, sum);
        sum
    }

    /// Measures the first request of a node. The second one has its reply as well.
    fn of_node(&self, machine: &Machine, id: &str, output_tokens: u64) -> Estimate {
        let state = RunState { current_node_id: id.to_owned(), ..RunState::default() };
        let mut machine = machine.anew_in(state);
        machine.step(Input::Start, Timestamp::UNIX_EPOCH);
        let mut shown = 0;
        if let Effect::Survey(plan) = machine.open() {
            shown =
                plan.inputs.iter().map(self.size_of).filter(|size| *size <= plan.input_bytes).sum();
            shown = shown.min(plan.inputs_bytes);
            machine.step(Input::Surveyed(Box::new(plan.entered)), Timestamp::UNIX_EPOCH);
        }
        let tools = serde_json::to_vec(&schema::tools(&machine.policy()))
            .map_or(0, |json| json.len() as u64);
        let request = (machine.context().bytes() + shown + tools).div_ceil(TOKEN_BYTES);
        Estimate {
            requests: REQUESTS_PER_NODE,
            input_tokens: request * REQUESTS_PER_NODE + output_tokens,
            output_tokens,
        }
    }
}

/// Returns the way with most nodes from the entry. An edge back into the way that led to it is not followed, so each loop
/// is counted once.
fn longest_way(graph: &Graph) -> Vec<&str> {
    // Length of the longest way from a node, and the node that follows there.
    let mut best: BTreeMap<&str, (usize, Option<&str>)> = BTreeMap::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut stack = vec![(graph.entry().as_str(), false)];
    while let Some((id, is_done)) = stack.pop() {
        let ways = graph.outgoing(id).map(|edge| edge.to.as_str());
        if is_done {
            let known: Vec<_> = ways.filter_map(|to| Some((best.get(to)?.0, to))).collect();
            // The first of several equally long ways.
            let next = known.into_iter().rev().max_by_key(|(length, _)| *length);
            best.insert(id, (next.map_or(1, |(length, _)| length + 1), next.map(|(_, to)| to)));
            open.remove(id);
        } else if !best.contains_key(id) && open.insert(id) {
            stack.push((id, true));
            stack.extend(ways.filter(|to| !open.contains(to)).map(|to| (to, false)));
        }
    }
    let mut way = Vec::new();
    let mut at = Some(graph.entry().as_str());
    while let Some(id) = at {
        way.push(id);
        at = best.get(id).and_then(|(_, next)| *next);
    }
    way
}

#[cfg(test)]
mod tests {
    use crewagent_testkit::fixture::{checked, example};

    use super::*;

    fn estimated(name: &str, size: u64) -> Estimate {
        let package = Arc::new(checked(&example(name)).package.unwrap());
        let agent = package.agents()[0].id.clone();
        let subject =
            Subject::Workflow { package, workflow: 0, agent, data: None, bindings: Arc::default() };
        estimate(&subject, &RunSettings::default(), &|_| size)
    }

    fn way(name: &str) -> Vec<String> {
        let package = checked(&example(name)).package.unwrap();
        longest_way(&package.workflows()[0].graph).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn the_way_with_most_nodes_is_taken_and_a_loop_once() {
        assert_eq!(way("create-story-micro").len(), 6);
        let branch = way("hello-branch");
        assert_eq!(branch.len(), 4, "one of the two branches: {branch:?}");
    }

    #[test]
    fn each_node_has_two_requests_and_each_output_four_hundred_tokens() {
        let estimate = estimated("create-story-micro", 0);
        assert_eq!(estimate.requests, 12);
        // Five nodes have an output, and the end has none.
        assert_eq!(estimate.output_tokens, 5 * 400 + 100);
        // The first request of this workflow has about 7,000 bytes.
        let per_request = estimate.input_tokens / estimate.requests;
        assert!((1_200..3_000).contains(&per_request), "{per_request}");
    }

    #[test]
    fn inputs_that_a_brief_shows_are_measured() {
        let (without, with) =
            (estimated("create-story-micro", 0), estimated("create-story-micro", 400));
        assert!(with.input_tokens > without.input_tokens);
        let large = estimated("create-story-micro", 1 << 20);
        assert_eq!(large, without, "a large file is only listed");
    }

    #[test]
    fn a_called_workflow_counts_with_its_own_nodes() {
        let nodes = way("nested-review").len() as u64;
        assert!(estimated("nested-review", 0).requests > 2 * nodes);
    }
}
