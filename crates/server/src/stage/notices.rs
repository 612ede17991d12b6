//! How runs and conversations are now, for lists that are kept live.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use crewagent_core::event::{
    Event, EventKind, FrameEntered, FrameEvent, FrameLeft, ModelEvent, Phase, PhaseChanged,
    RunEvent, RunFinished, RunStarted, StateEvent, TurnStarted, UserAsked, UserEvent,
};
use crewagent_core::state::standing::Standing;
use tokio::sync::Notify;

use crate::wire::{Journal, Notice};

/// Notices that are kept; lists are fetched anew now and then anyway.
const MAX_NOTICES: usize = 4096;

/// The last notice of each run and conversation of this server.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    version: u64,
    notices: BTreeMap<Journal, (u64, Notice)>,
    listeners: Vec<Weak<Notify>>,
}

impl Notices {
    /// Rings when one changes.
    pub(crate) fn listen(&mut self, bell: &Arc<Notify>) -> u64 {
        self.listeners.retain(|bell| bell.strong_count() > 0);
        self.listeners.push(Arc::downgrade(bell));
        self.version
    }

    /// How many listen.
    pub(crate) fn listeners(&self) -> usize {
        self.listeners.iter().filter(|bell| bell.strong_count() > 0).count()
    }

    /// Those that changed since, and up to when they are known.
    pub(crate) fn since(&self, version: u64) -> (Vec<Notice>, u64) {
        let changed = self.notices.values().filter(|(at, _)| *at > version);
        (changed.map(|(_, notice)| notice.clone()).collect(), self.version)
    }

    /// Something happened; it may matter to lists.
    pub(crate) fn tell(&mut self, journal: &Journal, event: &Event) {
        let notice = self.notice(journal);
        let kind = &event.kind;
        if let EventKind::Run(RunEvent::Started(RunStarted { state, .. }))
        | EventKind::Frame(FrameEvent::Entered(FrameEntered { state, .. })) = kind
        {
            stands(notice, state);
        } else if let EventKind::State(StateEvent::Changed(change))
        | EventKind::Frame(FrameEvent::Left(FrameLeft { change, .. })) = kind
        {
            stands(notice, &change.state);
        } else if let EventKind::Model(ModelEvent::TurnStarted(TurnStarted { turn, .. })) = kind {
            notice.turns = u32::try_from(*turn).ok();
            notice.phase = Some(Phase::Running);
            (notice.reason, notice.message, notice.asks) = (None, None, None);
        } else if let EventKind::User(UserEvent::Asked(UserAsked { question, .. })) = kind {
            // The wait for the answer comes next.
            notice.asks = Some(question.kind);
            return;
        } else if let EventKind::Run(RunEvent::PhaseChanged(PhaseChanged {
            phase,
            reason,
            message,
        })) = kind
        {
            notice.phase = Some(*phase);
            notice.reason = *reason;
            notice.message.clone_from(message);
        } else if let EventKind::Run(RunEvent::Finished(RunFinished { phase, turns, .. })) = kind {
            notice.phase = Some(*phase);
            notice.turns = u32::try_from(*turns).ok();
        } else {
            return;
        }
        notice.time.clone_from(&event.time);
        self.touch(journal);
    }

    /// Whether a thread is at work on it.
    pub(crate) fn at_work(&mut self, journal: &Journal, is_at_work: bool) {
        self.notice(journal).at_work = is_at_work;
        self.touch(journal);
    }

    /// Something is wrong with it, in words.
    pub(crate) fn trouble(&mut self, journal: &Journal, words: &str) {
        self.notice(journal).message = Some(words.to_owned());
        self.touch(journal);
    }

    /// It is no longer there.
    pub(crate) fn removed(&mut self, journal: &Journal) {
        let notice = self.notice(journal);
        (notice.removed, notice.at_work, notice.phase) = (true, false, None);
        self.touch(journal);
    }

    fn notice(&mut self, journal: &Journal) -> &mut Notice {
        if self.notices.len() >= MAX_NOTICES && !self.notices.contains_key(journal) {
            let oldest = self.notices.iter().min_by_key(|(_, (at, _))| *at);
            if let Some(oldest) = oldest.map(|(journal, _)| journal.clone()) {
                self.notices.remove(&oldest);
            }
        }
        let fresh = || (0, fresh(journal));
        &mut self.notices.entry(journal.clone()).or_insert_with(fresh).1
    }

    fn touch(&mut self, journal: &Journal) {
        self.version += 1;
        if let Some((at, _)) = self.notices.get_mut(journal) {
            *at = self.version;
        }
        self.listeners.iter().filter_map(Weak::upgrade).for_each(|bell| bell.notify_one());
    }
}

fn fresh(journal: &Journal) -> Notice {
    Notice {
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

/// Where the workflow stands that is active.
fn stands(notice: &mut Notice, state: &Standing) {
    notice.current_node = Some(state.current_node_id.clone());
    notice.steps_completed = u32::try_from(state.steps_completed.len()).ok();
}
