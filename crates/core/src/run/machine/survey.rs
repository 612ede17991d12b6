//! The survey of a node: which files are looked at when it is entered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crewagent_format::version::Minor;
use jiff::Timestamp;

use super::anchor::ShownPosition;
use super::{Effect, Machine, Stance};
use crate::event::{NodeEntered, SurveyedInput};
use crate::policy::Policy;
use crate::prompt::{self, WantedInput};
use crate::state::output::Output;
use crate::state::project_path::ProjectPath;
use crate::vpath::{Mount, VPath};

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
    /// Inputs that name several files.
    pub patterns: Vec<String>,
    /// True if a folder with an index stands for a file that is not there.
    pub finds_folders: bool,
    /// Folders of the package that stand for folders of the project.
    pub aliases: BTreeMap<String, String>,
    /// Outputs that the node declares, as far as their names are known.
    pub outputs: Vec<ProjectPath>,
    /// Digests of the files that this run wrote last, by path.
    pub written: Arc<BTreeMap<String, String>>,
    /// Files that the model knows, as mount path and digest; they are left out. A file that is missing has no digest.
    pub known: BTreeSet<(String, Option<String>)>,
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
        match &self.anchor.survey {
            None => self.needs_node_message(),
            // The user may have changed them before speaking.
            Some(survey) => {
                let is_here =
                    self.anchor.shown == ShownPosition::Node && self.node_name().is_some();
                self.anchor.is_stale && is_here && !survey.inputs.is_empty()
            }
        }
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
        self.anchor.is_stale = false;
        if !entered.again {
            self.renew_visit(now);
        }
        match self.anchor.survey.as_mut().filter(|_| entered.again) {
            None => {
                self.files.survey(&entered);
                self.anchor.survey = Some(entered);
            }
            Some(survey) => {
                for input in &entered.inputs {
                    let known = survey.inputs.iter_mut().filter(|known| known.path == input.path);
                    known.for_each(|known| *known = input.clone());
                }
                self.anchor.changed_inputs = entered.inputs;
            }
        }
        self.ask_model(now, effects);
    }

    /// Returns the survey of the current node; none without a workflow. A node that was surveyed already is asked for
    /// the inputs that have changed since.
    pub(super) fn survey_plan(&self) -> Option<SurveyPlan> {
        let plan = self.first_survey_plan()?;
        let Some(survey) = &self.anchor.survey else { return Some(plan) };
        let again = |input: &SurveyedInput| {
            Some(WantedInput { path: VPath::parse(&input.path).ok()?, is_declared: true })
        };
        let surveyed = survey.inputs.iter().map(|input| (input.path.clone(), input.sha256.clone()));
        let seen = self.known.seen().iter();
        let seen = seen.map(|(path, sha256)| (path.clone(), Some(sha256.clone())));
        let own = self.written.iter().filter_map(|(path, sha256)| {
            let path = VPath::new(Mount::Project, path)?;
            Some((path.to_string(), Some(sha256.clone())))
        });
        Some(SurveyPlan {
            entered: NodeEntered { again: true, ..plan.entered },
            inputs: survey.inputs.iter().filter_map(again).collect(),
            patterns: Vec::new(),
            finds_folders: false,
            outputs: Vec::new(),
            known: surveyed.chain(seen).chain(own).collect(),
            ..plan
        })
    }

    fn first_survey_plan(&self) -> Option<SurveyPlan> {
        let workflow = self.workflow()?;
        let node = workflow.graph.node(&self.run_state.current_node_id)?;
        let variables = &self.run_state.variables;
        let policy = self.policy();
        let mut inputs = prompt::wanted_inputs(workflow, node, variables);
        // Without file tools a model gets what the node declares and nothing else.
        inputs.retain(|input| input.is_declared || policy.fs.enabled);
        let finds_folders = workflow.graph.schema_version().minor() >= Minor::V1_3;
        let patterns = match finds_folders {
            true => prompt::wanted_patterns(node, variables),
            false => Vec::new(),
        };
        let aliases = self.package().map(|package| package.manifest().aliases.clone());
        let progress = prompt::progress(&workflow.graph, &self.run_state);
        let window = self.window().saturating_mul(WINDOW_BYTES_PER_TOKEN);
        Some(SurveyPlan {
            number: self.surveys + 1,
            entered: NodeEntered {
                node_id: node.id.to_string(),
                visit: self.visit(),
                step: progress.step,
                of: progress.of,
                inputs: Vec::new(),
                outputs: Vec::new(),
                again: false,
            },
            inputs,
            patterns,
            finds_folders,
            aliases: aliases.unwrap_or_default(),
            outputs: self.declared_outputs(),
            written: self.written.clone(),
            known: BTreeSet::new(),
            policy: policy.into(),
            input_bytes: self.settings.inline_input_bytes,
            inputs_bytes: self.settings.inline_inputs_bytes.min(window / WINDOW_SHARE),
        })
    }

    /// Returns the declared outputs whose size and origin the brief has told.
    pub(super) fn surveyed_outputs(&self) -> Vec<ProjectPath> {
        let survey = self.anchor.survey.iter().flat_map(|survey| &survey.outputs);
        survey.filter_map(|output| ProjectPath::parse(&output.path).ok()).collect()
    }

    /// Returns the outputs that the current node declares, as far as their names are known.
    pub(super) fn declared_outputs(&self) -> Vec<ProjectPath> {
        let node = self.workflow().zip(self.node_name());
        let node = node.and_then(|(workflow, name)| workflow.graph.node(name));
        let declared = node.map(|node| node.outputs.as_slice()).unwrap_or_default();
        let outputs =
            declared.iter().filter_map(|name| match Output::of(name, &self.run_state.variables) {
                Output::File(path) => Some(path),
                Output::Open(_) | Output::Pattern(_) | Output::Outside(_) => None,
            });
        outputs.collect()
    }

    /// Returns the number of this visit of the current node, from 1.
    fn visit(&self) -> usize {
        let node = &self.run_state.current_node_id;
        self.run_state.steps_completed.iter().filter(|done| *done == node).count() + 1
    }
}
