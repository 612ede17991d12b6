//! The reaction to a message of the user, and the errors that prevent one.

use crewagent_core::event::Choice;
use crewagent_core::menu::{MenuError, MenuLine};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::runtime::{ResumeError, StartError};
use crate::step_log::Halt;
use crate::store::{RunError, RunId};

/// Reaction to a message of the user.
// After any reaction the caller may call `Conversation::drive`, which does the pending work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Reaction {
    /// The model is working.
    Work,
    /// A run was started, and the user's messages go to it from here on.
    Started {
        /// The run.
        #[schemars(with = "String")]
        #[cfg_attr(feature = "ts", ts(type = "string"))]
        run_id: RunId,
    },
    /// A run was resumed.
    Resumed {
        /// The run.
        #[schemars(with = "String")]
        #[cfg_attr(feature = "ts", ts(type = "string"))]
        run_id: RunId,
    },
    /// The client should show the agent's menu.
    Menu {
        /// Its lines.
        lines: Vec<MenuLine>,
    },
    /// No agent is active; these are available.
    Agents {
        /// Their ids.
        agents: Vec<String>,
    },
    /// The message is ambiguous, or matches nothing.
    Clarify {
        /// Reason why it is unclear.
        reason: String,
        /// Available choices.
        choices: Vec<Choice>,
    },
    /// The choice cannot be carried out.
    Refused {
        /// Reason of the failure.
        #[serde(rename = "message", serialize_with = "as_text")]
        #[schemars(rename = "message", with = "String")]
        #[cfg_attr(feature = "ts", ts(rename = "message", type = "string"))]
        error: MenuError,
    },
    /// Another agent answers from here on.
    Met {
        /// The agent.
        agent_id: String,
    },
    /// The agent left.
    Dismissed,
    /// The run was left where it is.
    Left {
        /// The run.
        #[schemars(with = "String")]
        #[cfg_attr(feature = "ts", ts(type = "string"))]
        run_id: RunId,
    },
    /// There is no run to resume or to leave.
    NoRun,
    /// The client should show the help.
    Help,
    /// The client should show the status.
    Status,
    /// The message was empty.
    Nothing,
}

impl Reaction {
    /// Returns true if the model has work.
    pub fn has_work(&self) -> bool {
        matches!(self, Self::Work | Self::Started { .. } | Self::Resumed { .. } | Self::Nothing)
    }

    /// Returns what the user can choose from now.
    pub(super) fn choices(&self) -> Vec<Choice> {
        match self {
            Self::Menu { lines } => lines
                .iter()
                .map(|line| Choice {
                    answer: line.number.to_string(),
                    label: line.description.clone(),
                })
                .collect(),
            Self::Clarify { choices, .. } => choices.clone(),
            Self::Agents { agents } => agents
                .iter()
                .map(|id| Choice { answer: format!("/agent {id}"), label: id.clone() })
                .collect(),
            Self::Work
            | Self::Started { .. }
            | Self::Resumed { .. }
            | Self::Refused { .. }
            | Self::Met { .. }
            | Self::Dismissed
            | Self::Left { .. }
            | Self::NoRun
            | Self::Help
            | Self::Status
            | Self::Nothing => Vec::new(),
        }
    }
}

fn as_text<S: Serializer>(error: &MenuError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}

/// Reasons why a message cannot be handled. The conversation itself stays usable.
#[derive(Debug, Error)]
pub enum ConversationError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Store(#[from] RunError),
    /// The journal cannot be written, or the model failed.
    #[error(transparent)]
    Halt(#[from] Halt),
}
