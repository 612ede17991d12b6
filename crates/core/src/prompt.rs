//! The layers of a prompt, each a pure function from the package and the state of a run to a text.
//!
//! Text from a package, a state document or a model is treated as hostile: a field of one line stays on one line, a
//! quoted text cannot leave its fence, and every layer has a cap in bytes that holds for any input. Layers see values
//! of the package and the run only, so no real path, host name or secret can get into one.

mod configuration;
mod conversation;
mod data;
mod directive;
mod finishing;
mod gate;
mod hand_over;
mod imported;
mod inputs;
mod line;
mod menu;
mod node_brief;
mod node_message;
mod not_executed;
mod nudge;
mod persona;
mod progress;
mod rules;
mod script;
mod state_summary;
mod step_text;
mod tool_policy;
mod user_input;
mod wanted;
mod ways;
mod workflow_brief;

pub use conversation::{SaidExchange, conversation};
pub use data::{DATA_MAX_BYTES, DataContext, data_context};
pub use directive::{DIRECTIVE_MAX_BYTES, Directive, RunIntent, post_run_directive, run_directive};
pub use finishing::{completing_call, finishing_call};
pub use gate::{broken_drafts, draft_waits, saving_call, typed_choice};
pub use hand_over::{RunNote, earlier_words, run_note};
pub use imported::{IMPORTED_MAX_BYTES, imported_rules};
pub use inputs::inputs;
pub use menu::{MENU_MAX_BYTES, menu};
pub use node_brief::{
    BRIEF_MAX_BYTES, Brief, CalledBy, FencedStep, STEP_MAX_BYTES, full_step, node_brief,
};
pub use node_message::{NodeMessage, node_message, post_run_message};
pub use not_executed::{NotExecuted, not_executed};
pub use nudge::{
    GO_ON, NUDGE_MAX_BYTES, OpenNode, REPLY_CUT, empty_reply, finish_now, nothing_done, stalled,
    unreadable_call,
};
pub use persona::{PERSONA_MAX_BYTES, persona};
pub use progress::{WorkflowProgress, progress};
pub use rules::{RULES_MAX_BYTES, RulesFor, rules};
pub use script::{prompt_directive, script_directive};
pub use state_summary::{SUMMARY_MAX_BYTES, SummaryOf, state_summary};
pub use tool_policy::{POLICY_MAX_BYTES, tool_policy};
pub use user_input::{INPUT_SHELL_MAX_BYTES, user_input};
pub use wanted::{WantedInput, wanted_inputs, wanted_patterns};
pub use workflow_brief::{WHOLE_BRIEF_MAX_BYTES, whole_brief, workflow_brief};

use crate::refusal::{Refusal, RefusalCode};

/// Version of the contract with the model: texts, list of tools, rendering, carrying and enforcement.
pub const PROMPT_VERSION: u32 = 2;

/// Default folder of a run's files.
pub const ARTIFACTS_ROOT: &str = "@project/artifacts/";

/// Message to a model that completed a workflow without a word.
pub const LAST_WORDS: &str =
    "The workflow is complete. Tell the user in a few sentences what came of it. Call no tool.";

/// Message to a model after an empty reply in a conversation.
pub const NUDGE_CONVERSATION: &str =
    "Your last reply was empty: answer the user in words, or call a tool.";

/// Message to a model that wrote a call as text where no node is open.
pub const CALL_IN_WORDS: &str = "Your last reply has a tool call written as text, and nothing was executed. Call the tool through the tool interface, with the same arguments.";

/// Returns the message to a model whose reply had more calls than are handled.
pub fn too_many_calls(asked: usize, most: usize) -> String {
    format!(
        "Your last reply had {asked} tool calls; only the first {most} were looked at. Send the others again if they are still needed, a few at a time."
    )
}

/// Returns the message to a model when a workflow is complete and its caller cannot continue.
pub fn return_held(why: &str) -> String {
    format!(
        "RETURN_HELD\nThe workflow is complete, but the run cannot go back to the one that called it: {why}\nPut that right with your tools if you can; it is tried again after your reply. If you cannot, tell the user in words what is needed."
    )
}

/// Returns the answer to a call that was interrupted. The text is always the same, so that a repeated request is
/// identical.
pub fn interrupted() -> String {
    Refusal::new(
        RefusalCode::UnknownOutcome,
        "The run was interrupted before this call was answered, so it is not known whether it took effect.",
    )
    .hint("Look at the current state of the files before you repeat it.")
    .to_json()
    .to_string()
}
