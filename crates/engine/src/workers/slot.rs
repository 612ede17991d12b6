//! The slot of one run or conversation: its current job, and the state of its worker thread.

use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::WorkerError;
use crate::control::Control;
use crate::conversation::{Launch, Reaction};
use crate::runtime::{SettingsChange, StartConversation, StartRun};
use crate::store::{JournalId, RunId};

/// Grace period: a client may send a job before the worker is idle.
const HANDOVER_GRACE: Duration = Duration::from_millis(250);

/// Time within which an idle worker releases its run.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// Work for a run or a conversation.
#[derive(Debug)]
pub enum Task {
    StartRun {
        plan: Box<StartRun>,
        /// Words of the user for the first request.
        message: Option<String>,
    },
    StartConversation(Box<StartConversation>),
    /// Send a message of the user.
    Say {
        text: String,
        /// Call whose question this answers; the worker refuses it if another question is open.
        answers: Option<String>,
    },
    /// Start a workflow from the conversation.
    Launch(Box<Launch>),
    /// Make one of the conversation's runs the active one.
    Enter(RunId),
    /// Resume at the current position, with these changes.
    Resume(SettingsChange),
}

/// A task, and the channel on which the caller waits for the reaction.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) task: Task,
    /// Model from here on; none keeps the current one.
    pub(crate) model: Option<String>,
    pub(crate) reply: SyncSender<Result<Reaction, WorkerError>>,
}

impl Job {
    /// Reports the reaction. The caller may be gone.
    fn reply(self, reaction: Result<Reaction, WorkerError>) {
        let _ = self.reply.try_send(reaction);
    }
}

/// A run or conversation that is live in this process.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) journal: JournalId,
    pub(crate) control: Control,
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    job: Option<Job>,
    state: SlotState,
    /// Journals that the worker holds: the slot's own, and that of the conversation's active run.
    journals: Vec<JournalId>,
    has_worker: bool,
    /// True if the process shuts down, so that no further job is accepted.
    is_closing: bool,
    /// True if the worker must exit as soon as it is idle.
    is_leaving: bool,
}

/// State of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SlotState {
    /// The slot accepts a job.
    #[default]
    Idle,
    /// A job was accepted, and its reaction is not known yet.
    Opening,
    /// The model works.
    Working,
}

/// The result of submitting a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Submission {
    /// The existing worker takes the job.
    Accepted,
    /// The caller must start a worker.
    NeedsWorker,
}

impl Slot {
    pub(crate) fn new(journal: JournalId) -> Self {
        let (control, inner, changed) = (Control::default(), Mutex::default(), Condvar::new());
        Self { journal, control, inner, changed }
    }

    /// Submits a job unless the slot has one. From here on the job can be halted.
    pub(crate) fn submit(&self, job: Job) -> Result<Submission, WorkerError> {
        let is_busy = |inner: &mut Inner| inner.state != SlotState::Idle && !inner.is_closing;
        let (mut inner, _) = self
            .changed
            .wait_timeout_while(self.inner(), HANDOVER_GRACE, is_busy)
            .unwrap_or_else(PoisonError::into_inner);
        if inner.is_closing {
            return Err(WorkerError::Closing);
        }
        if inner.state != SlotState::Idle {
            return Err(WorkerError::Busy);
        }
        self.control.renew();
        (inner.job, inner.state) = (Some(job), SlotState::Opening);
        self.changed.notify_all();
        let had_worker = std::mem::replace(&mut inner.has_worker, true);
        Ok(if had_worker { Submission::Accepted } else { Submission::NeedsWorker })
    }

    /// Waits for the next job until the timeout.
    pub(crate) fn wait_for_job(&self, timeout: Duration) -> Option<Job> {
        let inner = self.inner();
        let waits =
            |inner: &mut Inner| inner.job.is_none() && !inner.is_closing && !inner.is_leaving;
        let (mut inner, _) = self
            .changed
            .wait_timeout_while(inner, timeout, waits)
            .unwrap_or_else(PoisonError::into_inner);
        inner.job.take()
    }

    /// Takes the next job, or unregisters the worker if there is none.
    pub(crate) fn take_job_or_leave(&self) -> Option<Job> {
        let mut inner = self.inner();
        let job = inner.job.take();
        (inner.has_worker, inner.is_leaving) = (job.is_some(), false);
        self.changed.notify_all();
        job
    }

    /// Puts back a job that needs the run to be reopened.
    pub(crate) fn put_back(&self, job: Job) {
        self.inner().job = Some(job);
    }

    /// Unregisters a failed worker, drops its job, and returns the journals that it held.
    pub(crate) fn abandon(&self) -> Vec<JournalId> {
        let mut inner = self.inner();
        (inner.has_worker, inner.state, inner.is_leaving) = (false, SlotState::Idle, false);
        inner.job = None;
        self.changed.notify_all();
        std::mem::take(&mut inner.journals)
    }

    /// Reports the reaction to a job without further work, and accepts the next job.
    pub(crate) fn finish(&self, job: Job, reaction: Result<Reaction, WorkerError>) {
        self.end_work();
        job.reply(reaction);
    }

    /// Marks the model as working, and reports the reaction to the caller.
    pub(crate) fn begin_work(&self, job: Job, reaction: Reaction) {
        self.inner().state = SlotState::Working;
        job.reply(Ok(reaction));
    }

    /// Marks the slot as idle.
    pub(crate) fn end_work(&self) {
        self.inner().state = SlotState::Idle;
        self.changed.notify_all();
    }

    /// Sets the journals that the worker holds, and returns those that it holds no longer.
    pub(crate) fn set_journals(&self, journals: Vec<JournalId>) -> Vec<JournalId> {
        let mut inner = self.inner();
        let before = std::mem::replace(&mut inner.journals, journals);
        before.into_iter().filter(|journal| !inner.journals.contains(journal)).collect()
    }

    /// Makes the worker exit, so that other processes can open the run. Fails while it works.
    pub(crate) fn release(&self) -> Result<(), WorkerError> {
        let mut inner = self.inner();
        if inner.state != SlotState::Idle {
            return Err(WorkerError::Busy);
        }
        inner.is_leaving = inner.has_worker;
        self.changed.notify_all();
        let stays = |inner: &mut Inner| inner.is_leaving;
        let waited = self.changed.wait_timeout_while(inner, RELEASE_TIMEOUT, stays);
        let (inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if inner.has_worker { Err(WorkerError::Busy) } else { Ok(()) }
    }

    /// Stops the work and accepts no further job, because the process shuts down.
    pub(crate) fn close(&self) {
        let mut inner = self.inner();
        inner.is_closing = true;
        self.control.stop();
        self.changed.notify_all();
    }

    /// Returns true if the model works.
    pub(crate) fn is_working(&self) -> bool {
        self.inner().state == SlotState::Working
    }

    /// Returns true if a journal is the slot's own, or that of the run that its worker drives.
    pub(crate) fn holds(&self, journal: &JournalId) -> bool {
        self.journal == *journal || self.inner().journals.contains(journal)
    }

    /// Returns true if a worker thread has the slot.
    pub(crate) fn has_worker(&self) -> bool {
        self.inner().has_worker
    }

    /// Applies a control request if the slot has a job, and returns true if it had one.
    pub(crate) fn halt(&self, request: fn(&Control)) -> bool {
        let inner = self.inner();
        let is_busy = inner.state != SlotState::Idle;
        if is_busy {
            request(&self.control);
        }
        is_busy
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use crate::control::ControlRequest;

    use super::*;

    fn slot() -> Slot {
        let Ok(id) = RunId::parse("a") else { unreachable!("it is an id") };
        Slot::new(JournalId::run(id))
    }

    fn job() -> Job {
        let task = Task::Say { text: String::new(), answers: None };
        Job { task, model: None, reply: mpsc::sync_channel(1).0 }
    }

    #[test]
    fn a_job_can_be_halted_before_its_worker_has_begun() {
        let slot = slot();
        assert!(!slot.halt(Control::stop), "nothing is to be halted");
        assert_eq!(slot.submit(job()).ok(), Some(Submission::NeedsWorker));
        assert!(slot.halt(Control::stop));
        let taken = slot.take_job_or_leave().unwrap();
        slot.begin_work(taken, Reaction::Work);
        assert_eq!(slot.control.request(), ControlRequest::Stop);
        slot.end_work();
        // A new job starts without the old request.
        assert_eq!(slot.submit(job()).ok(), Some(Submission::Accepted));
        assert_eq!(slot.control.request(), ControlRequest::Run);
    }

    #[test]
    fn a_slot_has_one_job_until_its_reaction_is_known() {
        let slot = slot();
        slot.submit(job()).unwrap();
        let taken = slot.take_job_or_leave().unwrap();
        assert!(slot.submit(job()).is_err(), "it is being opened");
        assert!(slot.release().is_err());
        slot.finish(taken, Ok(Reaction::Nothing));
        slot.submit(job()).unwrap();
    }

    #[test]
    fn journals_that_a_worker_no_longer_holds_are_returned() {
        let (slot, other) = (slot(), JournalId::run(RunId::parse("b").unwrap()));
        let own = slot.journal.clone();
        assert!(slot.set_journals(vec![own.clone(), other.clone()]).is_empty());
        assert!(slot.holds(&other));
        assert_eq!(slot.set_journals(vec![own.clone()]), std::slice::from_ref(&other));
        assert!(!slot.holds(&other));
        assert_eq!(slot.abandon(), [own]);
    }
}
