//! One conversation or run on the stage: what it is to do, and whether a thread is at it.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crewagent_engine::control::Control;
use crewagent_engine::runtime::{SettingsChange, StartRun, StartTalk};
use crewagent_engine::session::Launch;
use crewagent_engine::store::RunId;

use crate::problem::Problem;
use crate::wire::{Came, Code, Journal};

/// Somebody who was just told that it rests may be faster than the thread that told it.
const MOMENT: Duration = Duration::from_millis(250);

/// A thread that rests leaves within this time.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Task {
    /// The run is started.
    StartRun(Box<StartRun>),
    /// The conversation is begun.
    StartTalk(Box<StartTalk>),
    /// The user speaks.
    Say(String),
    /// A workflow is started from the conversation.
    Launch(Box<Launch>),
    /// The conversation goes on with one of its runs.
    Enter(RunId),
    /// It goes on where it stands, with these changes.
    GoOn(SettingsChange),
}

/// A task, and who waits for what comes of it.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) task: Task,
    /// The model from here on; as before when absent.
    pub(crate) model: Option<String>,
    pub(crate) reply: SyncSender<Result<Came, Problem>>,
}

impl Job {
    /// Tells what came of it. Whoever asked may be gone.
    pub(crate) fn answer(self, came: Result<Came, Problem>) {
        let _ = self.reply.try_send(came);
    }
}

/// One conversation or run on the stage.
#[derive(Debug)]
pub(crate) struct Act {
    pub(crate) journal: Journal,
    pub(crate) control: Control,
    desk: Mutex<Desk>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Desk {
    jobs: VecDeque<Job>,
    /// The model that was asked for.
    model: Option<String>,
    has_thread: bool,
    is_at_work: bool,
    /// The server ends: nothing more comes.
    is_closing: bool,
    /// The thread is to leave as soon as it rests.
    is_leaving: bool,
}

/// Whether a job needs a thread of its own.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// The thread that is there has it.
    ToThread,
    /// A thread must be started.
    NeedsThread,
}

impl Act {
    pub(crate) fn new(journal: Journal) -> Self {
        let (control, desk, bell) = (Control::default(), Mutex::default(), Condvar::new());
        Self { journal, control, desk, bell }
    }

    /// Gives it something to do, unless it is at work.
    pub(crate) fn give(&self, job: Job) -> Result<Given, Problem> {
        let rests = |desk: &mut Desk| desk.is_at_work;
        let (mut desk, _) = self
            .bell
            .wait_timeout_while(self.desk(), MOMENT, rests)
            .unwrap_or_else(PoisonError::into_inner);
        if desk.is_at_work || !desk.jobs.is_empty() {
            return Err(busy());
        }
        desk.jobs.push_back(job);
        self.bell.notify_all();
        let had_thread = std::mem::replace(&mut desk.has_thread, true);
        Ok(if had_thread { Given::ToThread } else { Given::NeedsThread })
    }

    /// The next job, if one comes within this time.
    pub(crate) fn next(&self, patience: Duration) -> Option<Job> {
        let desk = self.desk();
        let waits = |desk: &mut Desk| desk.jobs.is_empty() && !desk.is_closing && !desk.is_leaving;
        let (mut desk, _) = self
            .bell
            .wait_timeout_while(desk, patience, waits)
            .unwrap_or_else(PoisonError::into_inner);
        desk.jobs.pop_front()
    }

    /// The next job, if there is one. If not, the thread is gone from here on.
    pub(crate) fn next_or_leave(&self) -> Option<Job> {
        let mut desk = self.desk();
        let job = desk.jobs.pop_front();
        (desk.has_thread, desk.is_leaving) = (job.is_some(), false);
        self.bell.notify_all();
        job
    }

    /// A job that the thread cannot do yet.
    pub(crate) fn put_back(&self, job: Job) {
        self.desk().jobs.push_front(job);
    }

    /// The thread is gone, however it went. Nobody waits for it any more.
    pub(crate) fn abandon(&self) {
        let mut desk = self.desk();
        (desk.has_thread, desk.is_at_work) = (false, false);
        desk.jobs.clear();
    }

    /// Begins or ends work that can be stopped.
    pub(crate) fn set_at_work(&self, is_at_work: bool) {
        let mut desk = self.desk();
        if is_at_work && !desk.is_at_work && !desk.is_closing {
            self.control.renew();
        }
        desk.is_at_work = is_at_work;
        self.bell.notify_all();
    }

    /// Makes the thread leave, so that others can have the run. Not while it is at work.
    pub(crate) fn release(&self) -> Result<(), Problem> {
        let mut desk = self.desk();
        if desk.is_at_work || !desk.jobs.is_empty() {
            return Err(busy());
        }
        desk.is_leaving = desk.has_thread;
        self.bell.notify_all();
        let stays = |desk: &mut Desk| desk.is_leaving;
        let waited = self.bell.wait_timeout_while(desk, PATIENCE, stays);
        let (desk, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if desk.has_thread { Err(busy()) } else { Ok(()) }
    }

    /// The server ends: what is at work is stopped, and nobody waits for more.
    pub(crate) fn close(&self) {
        let mut desk = self.desk();
        desk.is_closing = true;
        self.control.stop();
        self.bell.notify_all();
    }

    /// Whether it is at work.
    pub(crate) fn is_at_work(&self) -> bool {
        self.desk().is_at_work
    }

    /// Whether a thread has it.
    pub(crate) fn has_thread(&self) -> bool {
        self.desk().has_thread
    }

    /// Asks it to rest, if it is at work. Says whether it was.
    pub(crate) fn halt(&self, how: fn(&Control)) -> bool {
        let desk = self.desk();
        if desk.is_at_work {
            how(&self.control);
        }
        desk.is_at_work
    }

    /// The model that was asked for; a new wish replaces the old one.
    pub(crate) fn model(&self, wish: Option<&String>) -> Option<String> {
        let mut desk = self.desk();
        if let Some(wish) = wish {
            desk.model = Some(wish.clone());
        }
        desk.model.clone()
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn busy() -> Problem {
    Problem::new(Code::Busy, "it is at work").hint("Wait until it rests, or stop it first.")
}
