//! One conversation or run on the stage: what it is to do, and whether a thread is at it.

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
    Say {
        words: String,
        /// The call whose question is answered; words for another one are refused.
        answers: Option<String>,
    },
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
    fn answer(self, came: Result<Came, Problem>) {
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
    job: Option<Job>,
    hands: Hands,
    /// The journals that the thread has: the act's own, and that of the run that a conversation is about.
    cast: Vec<Journal>,
    has_thread: bool,
    /// The server ends: nothing more comes.
    is_closing: bool,
    /// The thread is to leave as soon as it rests.
    is_leaving: bool,
}

/// What an act is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hands {
    /// Nothing: it takes the next job.
    #[default]
    Free,
    /// It was given a job, and nobody knows yet what comes of it.
    Taken,
    /// The model is at work.
    AtWork,
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

    /// Gives it something to do, unless it has something. From here on it can be halted.
    pub(crate) fn give(&self, job: Job) -> Result<Given, Problem> {
        let is_busy = |desk: &mut Desk| desk.hands != Hands::Free && !desk.is_closing;
        let (mut desk, _) = self
            .bell
            .wait_timeout_while(self.desk(), MOMENT, is_busy)
            .unwrap_or_else(PoisonError::into_inner);
        if desk.is_closing {
            return Err(closing());
        }
        if desk.hands != Hands::Free {
            return Err(busy());
        }
        self.control.renew();
        (desk.job, desk.hands) = (Some(job), Hands::Taken);
        self.bell.notify_all();
        let had_thread = std::mem::replace(&mut desk.has_thread, true);
        Ok(if had_thread { Given::ToThread } else { Given::NeedsThread })
    }

    /// The next job, if one comes within this time.
    pub(crate) fn next(&self, patience: Duration) -> Option<Job> {
        let desk = self.desk();
        let waits = |desk: &mut Desk| desk.job.is_none() && !desk.is_closing && !desk.is_leaving;
        let (mut desk, _) = self
            .bell
            .wait_timeout_while(desk, patience, waits)
            .unwrap_or_else(PoisonError::into_inner);
        desk.job.take()
    }

    /// The next job, if there is one. If not, the thread is gone from here on.
    pub(crate) fn next_or_leave(&self) -> Option<Job> {
        let mut desk = self.desk();
        let job = desk.job.take();
        (desk.has_thread, desk.is_leaving) = (job.is_some(), false);
        self.bell.notify_all();
        job
    }

    /// A job that the thread cannot do yet.
    pub(crate) fn put_back(&self, job: Job) {
        self.desk().job = Some(job);
    }

    /// The thread is gone, however it went. Nobody waits for it any more. Says what it had.
    pub(crate) fn abandon(&self) -> Vec<Journal> {
        let mut desk = self.desk();
        (desk.has_thread, desk.hands, desk.is_leaving) = (false, Hands::Free, false);
        desk.job = None;
        self.bell.notify_all();
        std::mem::take(&mut desk.cast)
    }

    /// Nothing is left to do for a job: tells what came of it, and takes the next one.
    pub(crate) fn answer(&self, job: Job, came: Result<Came, Problem>) {
        self.rest();
        job.answer(came);
    }

    /// The model gets to work, and whoever asked knows that.
    pub(crate) fn work(&self, job: Job, came: Came) {
        self.desk().hands = Hands::AtWork;
        job.answer(Ok(came));
    }

    /// The work is done.
    pub(crate) fn rest(&self) {
        self.desk().hands = Hands::Free;
        self.bell.notify_all();
    }

    /// The thread has these journals now. Those that it had before and has no longer are given back.
    pub(crate) fn recast(&self, cast: Vec<Journal>) -> Vec<Journal> {
        let mut desk = self.desk();
        let before = std::mem::replace(&mut desk.cast, cast);
        before.into_iter().filter(|journal| !desk.cast.contains(journal)).collect()
    }

    /// Makes the thread leave, so that others can have the run. Not while it is at work.
    pub(crate) fn release(&self) -> Result<(), Problem> {
        let mut desk = self.desk();
        if desk.hands != Hands::Free {
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

    /// Whether the model is at work.
    pub(crate) fn is_at_work(&self) -> bool {
        self.desk().hands == Hands::AtWork
    }

    /// Whether a journal is its own, or that of the run that it plays.
    pub(crate) fn plays(&self, journal: &Journal) -> bool {
        self.journal == *journal || self.desk().cast.contains(journal)
    }

    /// Whether a thread has it.
    pub(crate) fn has_thread(&self) -> bool {
        self.desk().has_thread
    }

    /// Asks it to rest, if it is at something. Says whether it was.
    pub(crate) fn halt(&self, how: fn(&Control)) -> bool {
        let desk = self.desk();
        let is_busy = desk.hands != Hands::Free;
        if is_busy {
            how(&self.control);
        }
        is_busy
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing more is begun.
pub(super) fn closing() -> Problem {
    Problem::new(Code::Closing, "the server ends").hint("Start `crewagent` again.")
}

fn busy() -> Problem {
    Problem::new(Code::Busy, "it is at work").hint("Wait until it rests, or stop it first.")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use crewagent_engine::control::Wish;

    use super::*;

    fn act() -> Act {
        let Ok(id) = RunId::parse("a") else { unreachable!("it is an id") };
        Act::new(Journal::run(id))
    }

    fn job() -> Job {
        let task = Task::Say { words: String::new(), answers: None };
        Job { task, model: None, reply: mpsc::sync_channel(1).0 }
    }

    #[test]
    fn a_job_can_be_halted_before_anybody_has_begun_with_it() {
        let act = act();
        assert!(!act.halt(Control::stop), "nothing is to be halted");
        assert_eq!(act.give(job()).ok(), Some(Given::NeedsThread));
        assert!(act.halt(Control::stop));
        let taken = act.next_or_leave().unwrap();
        act.work(taken, Came::Work);
        assert_eq!(act.control.wish(), Wish::Stop);
        act.rest();
        // The next job is another story.
        assert_eq!(act.give(job()).ok(), Some(Given::ToThread));
        assert_eq!(act.control.wish(), Wish::Run);
    }

    #[test]
    fn there_is_one_job_at_a_time_until_it_is_known_what_came_of_it() {
        let act = act();
        act.give(job()).unwrap();
        let taken = act.next_or_leave().unwrap();
        assert!(act.give(job()).is_err(), "it is being opened");
        assert!(act.release().is_err());
        act.answer(taken, Ok(Came::Nothing));
        act.give(job()).unwrap();
    }

    #[test]
    fn what_a_thread_no_longer_has_is_given_back() {
        let (act, other) = (act(), Journal::run(RunId::parse("b").unwrap()));
        let own = act.journal.clone();
        assert!(act.recast(vec![own.clone(), other.clone()]).is_empty());
        assert!(act.plays(&other));
        assert_eq!(act.recast(vec![own.clone()]), std::slice::from_ref(&other));
        assert!(!act.plays(&other));
        assert_eq!(act.abandon(), [own]);
    }
}
