//! The survey of a node: which files are looked at when it is entered.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Effect, Machine, Stance};
use crate::event::NodeEntered;
use crate::policy::Policy;
use crate::prompt::{self, WantedInput};
use crate::state::output::Output;
use crate::state::project_path::ProjectPath;

/// Bytes a token of the window has in an estimate; an eighth of the window may be inputs.
const WINDOW_BYTES_PER_TOKEN: u64 = 3;
/// Part of the window that inputs may take.
const WINDOW_SHARE: u64 = 8;

/// Survey that is due.
#[derive(Clone, Debug)]
pub struct SurveyPlan {
    /// Number of the survey in the run, from 1.
    pub number: u64,
    /// Survey without its files.
    pub entered: NodeEntered,
    pub inputs: Vec<WantedInput>,
    /// Outputs that the node declares, as far as their names are known.
    pub outputs: Vec<ProjectPath>,
    /// Digests of the files that this run wrote last, by path.
    pub written: Arc<BTreeMap<String, String>>,
    /// Policy of the effective agent.
    pub policy: Arc<Policy>,
    /// Largest file that is shown whole, in bytes.
    pub input_bytes: u64,
    /// Size of all shown files together, in bytes.
    pub inputs_bytes: u64,
}

impl Machine {
    /// Returns true if the files of the node must be looked at before the model is asked.
    pub(super) fn needs_survey(&self) -> bool {
        self.needs_node_message() && self.anchor.survey.is_none()
    }

    /// Looks at the files of the node.
    pub(super) fn survey(&mut self, effects: &mut Vec<Effect>) {
        self.stance = Stance::Surveying;
        effects.push(self.open());
    }

    /// Takes the survey, and asks the model.
    pub(super) fn surveyed(
        &mut self,
        entered: NodeEntered,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        if !matches!(self.stance, Stance::Surveying) {
            effects.push(self.open());
            return;
        }
        self.surveys += 1;
        self.files.survey(&entered);
        self.anchor.survey = Some(entered);
        self.ask_model(now, effects);
    }

    /// Returns the survey of the current node; none without a workflow.
    pub(super) fn survey_plan(&self) -> Option<SurveyPlan> {
        let workflow = self.workflow()?;
        let node = workflow.graph.node(&self.run_state.current_node_id)?;
        let variables = &self.run_state.variables;
        let policy = self.policy();
        let mut inputs = prompt::wanted_inputs(workflow, node, variables);
        // Without file tools a model gets what the node declares and nothing else.
        inputs.retain(|input| input.is_declared || policy.fs.enabled);
        let outputs =
            node.outputs.iter().filter_map(|declared| match Output::of(declared, variables) {
                Output::File(path) => Some(path),
                Output::Open(_) | Output::Pattern(_) | Output::Outside(_) => None,
            });
        let progress = prompt::progress(&workflow.graph, &self.run_state);
        let window = self.settings.window_tokens.saturating_mul(WINDOW_BYTES_PER_TOKEN);
        Some(SurveyPlan {
            number: self.surveys + 1,
            entered: NodeEntered {
                node_id: node.id.to_string(),
                visit: self.visit(),
                step: progress.step,
                of: progress.of,
                inputs: Vec::new(),
                outputs: Vec::new(),
            },
            inputs,
            outputs: outputs.collect(),
            written: self.written.clone(),
            policy: policy.into(),
            input_bytes: self.settings.inline_input_bytes,
            inputs_bytes: self.settings.inline_inputs_bytes.min(window / WINDOW_SHARE),
        })
    }

    /// Returns the number of this visit of the current node, from 1.
    fn visit(&self) -> usize {
        let node = &self.run_state.current_node_id;
        self.run_state.steps_completed.iter().filter(|done| *done == node).count() + 1
    }
}
