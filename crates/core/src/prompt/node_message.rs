//! The one message of a node: everything that the runtime knows and the model needs, with the instructions last.

use super::conversation::{SaidExchange, conversation};
use super::directive::{Directive, RunIntent, post_run_directive, run_directive};
use super::inputs::{inputs, shown_path};
use super::node_brief::{Brief, node_brief};
use super::state_summary::{SummaryOf, state_summary};
use super::workflow_brief::workflow_brief;
use crate::bindings::Bindings;
use crate::event::{InputState, SavedDraft};
use crate::state::run_state::RunState;
use crewagent_format::package::Workflow;

/// Contents of the message of a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeMessage<'a> {
    pub directive: Directive<'a>,
    /// True if the workflow itself is introduced.
    pub introduces: bool,
    pub run_state: &'a RunState,
    /// Return of the workflow that was called last.
    pub last_call: Option<&'a str>,
    /// What was said in earlier nodes.
    pub said: &'a [SaidExchange],
    /// Drafts that the run has saved.
    pub saved: &'a [SavedDraft],
    /// File that came with the start, as the model sees it.
    pub data: Option<&'a str>,
    /// Values that are fixed for the run.
    pub config: Option<&'a Bindings>,
    pub brief: Brief<'a>,
}

/// Renders the message of a node.
pub fn node_message(message: &NodeMessage<'_>) -> String {
    let NodeMessage { directive, run_state, brief, .. } = message;
    let survey = brief.survey;
    let is_shown = |input: &&crate::event::SurveyedInput| input.state != InputState::Missing;
    let shown: Vec<String> =
        survey.inputs.iter().filter(is_shown).map(|input| shown_path(&input.path)).collect();
    let is_end = brief.workflow.graph.outgoing(brief.node.id.as_str()).next().is_none();
    let NodeMessage { last_call, config, saved, .. } = *message;
    let of = SummaryOf { is_end, last_call, shown: &shown, config, saved };
    let sections = [
        Some(run_directive(directive)),
        // A brief for the whole run stands in the system part.
        workflow_brief(brief.workflow)
            .filter(|_| message.introduces && !brief.workflow.front.brief),
        state_summary(run_state, &of),
        conversation(message.said),
        inputs(&survey.inputs),
        message.data.map(str::to_owned),
        Some(node_brief(brief)),
    ];
    joined(sections)
}

/// Renders the message before the first words of the user after completion.
pub fn post_run_message(
    intent: RunIntent,
    workflow: &Workflow,
    run_state: &RunState,
    said: &[SaidExchange],
) -> String {
    joined([
        Some(post_run_directive(intent, workflow)),
        state_summary(run_state, &SummaryOf::default()),
        conversation(said),
    ])
}

fn joined<const N: usize>(sections: [Option<String>; N]) -> String {
    sections.into_iter().flatten().collect::<Vec<String>>().join("\n\n")
}
