//! The current status of runs and conversations, pushed to lists.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use crewagent_core::event::{
    Event, EventKind, FrameEvent, ModelEvent, Phase, Reason, RunEvent, StateEvent, UserEvent,
};
use crewagent_core::question::QuestionKind;
use crewagent_core::state::run_state::RunState;
use schemars::JsonSchema;
use serde::Serialize;

use super::WakeListener;
use crate::store::JournalId;

/// Number of entries; clients fetch whole lists again from time to time anyway.
const MAX_STATUSES: usize = 4096;

/// The data of a frame `notice`: how a run or a conversation is now, for lists.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunStatus {
    /// Conversation or run.
    pub journal: JournalId,
    /// Its phase; none when it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Reason why it is idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Reason as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Kind of the open question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<QuestionKind>,
    /// Current node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_node: Option<String>,
    /// Number of completed nodes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_completed: Option<u32>,
    /// Requests to the model, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// Time of the status.
    pub time: String,
    /// True if a process is working on it.
    pub at_work: bool,
    /// True if it was removed.
    pub removed: bool,
}

/// The latest status of each run and conversation of this process.
#[derive(Debug, Default)]
pub struct RunStatusBoard {
    version: u64,
    statuses: BTreeMap<JournalId, (u64, RunStatus)>,
    listeners: Vec<Weak<WakeListener>>,
}

impl RunStatusBoard {
    /// Calls a listener after every change, until it is dropped, and returns the current version.
    pub fn subscribe(&mut self, listener: &Arc<WakeListener>) -> u64 {
        self.listeners.retain(|listener| listener.strong_count() > 0);
        self.listeners.push(Arc::downgrade(listener));
        self.version
    }

    /// Returns the number of listeners.
    pub fn listeners(&self) -> usize {
        self.listeners.iter().filter(|listener| listener.strong_count() > 0).count()
    }

    /// Returns the entries that changed since a version, and the current version.
    pub fn since(&self, version: u64) -> (Vec<RunStatus>, u64) {
        let changed = self.statuses.values().filter(|(at, _)| *at > version);
        (changed.map(|(_, status)| status.clone()).collect(), self.version)
    }

    /// Updates a status from an event.
    pub(super) fn take(&mut self, journal: &JournalId, event: &Event) {
        let status = self.status(journal);
        match &event.kind {
            EventKind::Run(RunEvent::Started(started)) => set_position(status, &started.state),
            EventKind::Run(RunEvent::PhaseChanged(changed)) => {
                status.phase = Some(changed.phase);
                status.reason = changed.reason;
                status.message.clone_from(&changed.message);
            }
            EventKind::Run(RunEvent::Finished(finished)) => {
                status.phase = Some(finished.phase);
                status.turns = u32::try_from(finished.turns).ok();
            }
            EventKind::Frame(FrameEvent::Entered(entered)) => set_position(status, &entered.state),
            EventKind::Frame(FrameEvent::Left(left)) => set_position(status, &left.change.state),
            EventKind::State(StateEvent::Changed(change)) => set_position(status, &change.state),
            EventKind::Model(ModelEvent::TurnStarted(started)) => {
                status.turns = u32::try_from(started.turn).ok();
                status.phase = Some(Phase::Running);
                (status.reason, status.message, status.asks) = (None, None, None);
            }
            // The phase change that waits for the answer follows.
            EventKind::User(UserEvent::Asked(asked)) => {
                status.asks = Some(asked.question.kind);
                return;
            }
            EventKind::Run(RunEvent::Resumed(_) | RunEvent::Failed(_))
            | EventKind::Frame(FrameEvent::Planned(_) | FrameEvent::Held(_))
            | EventKind::User(UserEvent::Input(_))
            | EventKind::State(StateEvent::Entered(_))
            | EventKind::Model(_)
            | EventKind::Conversation(_)
            | EventKind::Tool(_) => return,
        }
        status.time.clone_from(&event.time);
        self.touch(journal);
    }

    /// Returns why a run or conversation last failed in this process. After a failure of the disk its journal does not
    /// say it.
    pub fn failure(&self, journal: &JournalId) -> Option<(Option<Reason>, Option<String>)> {
        let (_, status) = self.statuses.get(journal)?;
        (status.phase == Some(Phase::Failed)).then(|| (status.reason, status.message.clone()))
    }

    /// Marks a run or conversation as worked on, or not.
    pub fn set_working(&mut self, journal: &JournalId, is_working: bool) {
        self.status(journal).at_work = is_working;
        self.touch(journal);
    }

    /// Sets the message of a run that cannot be resumed.
    pub(super) fn set_message(&mut self, journal: &JournalId, message: &str) {
        self.status(journal).message = Some(message.to_owned());
        self.touch(journal);
    }

    /// Marks a run or conversation as removed.
    pub fn remove(&mut self, journal: &JournalId) {
        let status = self.status(journal);
        (status.removed, status.at_work, status.phase) = (true, false, None);
        self.touch(journal);
    }

    fn status(&mut self, journal: &JournalId) -> &mut RunStatus {
        if self.statuses.len() >= MAX_STATUSES && !self.statuses.contains_key(journal) {
            let oldest = self.statuses.iter().min_by_key(|(_, (at, _))| *at);
            if let Some(oldest) = oldest.map(|(journal, _)| journal.clone()) {
                self.statuses.remove(&oldest);
            }
        }
        let fresh = || (0, fresh(journal));
        &mut self.statuses.entry(journal.clone()).or_insert_with(fresh).1
    }

    fn touch(&mut self, journal: &JournalId) {
        self.version += 1;
        if let Some((at, _)) = self.statuses.get_mut(journal) {
            *at = self.version;
        }
        self.listeners.iter().filter_map(Weak::upgrade).for_each(|listener| listener());
    }
}

fn fresh(journal: &JournalId) -> RunStatus {
    RunStatus {
        journal: journal.clone(),
        phase: None,
        reason: None,
        message: None,
        asks: None,
        current_node: None,
        steps_completed: None,
        turns: None,
        time: String::new(),
        at_work: false,
        removed: false,
    }
}

fn set_position(status: &mut RunStatus, state: &RunState) {
    status.current_node = Some(state.current_node_id.clone());
    status.steps_completed = u32::try_from(state.steps_completed.len()).ok();
}
