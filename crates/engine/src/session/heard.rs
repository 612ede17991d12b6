//! What comes of the user's words, and why nothing may come of them.

use crewagent_core::event::Choice;
use crewagent_core::id::AgentId;
use crewagent_core::menu::{Candidate, MenuError, MenuLine};
use thiserror::Error;

use crate::runtime::{ResumeError, StartError};
use crate::store::{RunError, RunId};
use crate::turn::Halt;

/// What came of the user's words. Whatever it is, [`Session::drive`](super::Session::drive) may be called: it does what is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// There is something to do.
    Work,
    /// A run was started, and there is something to do.
    Started(RunId),
    /// A run is gone on with.
    Resumed(RunId),
    /// The menu is to be shown.
    Menu(Vec<MenuLine>),
    /// There is nobody who has a menu; these agents can be talked to.
    Agents(Vec<AgentId>),
    /// Several things are meant, or nothing that is there.
    Clarify {
        /// What is unclear.
        reason: String,
        /// What can be chosen.
        candidates: Vec<Candidate>,
    },
    /// The command cannot be carried out.
    Refused(MenuError),
    /// Another agent is talked to.
    Met(AgentId),
    /// The agent left.
    Dismissed,
    /// The run was left where it is.
    Left(RunId),
    /// There is no run to go on with, or to leave.
    NoRun,
    /// What works is to be shown.
    Help,
    /// Where everything stands is to be shown.
    Status,
    /// Nothing was said.
    Nothing,
}

impl Heard {
    /// Whether there is something to do, or to go on with.
    pub fn has_work(&self) -> bool {
        matches!(self, Self::Work | Self::Started(_) | Self::Resumed(_) | Self::Nothing)
    }

    /// What the user can choose from now.
    pub(super) fn choices(&self) -> Vec<Choice> {
        match self {
            Self::Menu(lines) => lines
                .iter()
                .map(|line| Choice {
                    answer: line.number.to_string(),
                    label: line.description.clone(),
                })
                .collect(),
            Self::Clarify { candidates, .. } => candidates
                .iter()
                .map(|one| Choice { answer: one.answer.clone(), label: one.label.clone() })
                .collect(),
            Self::Agents(agents) => agents
                .iter()
                .map(|id| Choice { answer: format!("/agent {id}"), label: id.to_string() })
                .collect(),
            Self::Work
            | Self::Started(_)
            | Self::Resumed(_)
            | Self::Refused(_)
            | Self::Met(_)
            | Self::Dismissed
            | Self::Left(_)
            | Self::NoRun
            | Self::Help
            | Self::Status
            | Self::Nothing => Vec::new(),
        }
    }
}

/// Why a session cannot go on as asked. The conversation itself is not harmed.
#[derive(Debug, Error)]
pub enum SessionError {
    /// A run or a conversation cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A run or a conversation cannot be taken over.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] RunError),
    /// The journal cannot be written.
    #[error(transparent)]
    Halt(#[from] Halt),
}
