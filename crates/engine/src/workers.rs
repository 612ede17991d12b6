//! The runs and conversations that are live in this process. Each has a thread while it works, and none while it waits.

mod buffer;
mod error;
mod slot;
mod status;
mod worker_session;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use crewagent_core::event::Event;

pub use self::buffer::{BufferedEvent, EventBuffer, JournalEvent, Offset, Pull};
pub use self::error::{ConnectorError, WorkerError};
pub use self::slot::Task;
use self::slot::{Job, Slot, Submission};
pub use self::status::{RunStatus, RunStatusBoard};
use crate::control::Control;
use crate::conversation::Reaction;
use crate::model::Model;
use crate::runtime::{Run, Runtime};
use crate::store::{JournalId, Store, StoreError};

/// Number of event buffers kept without a subscriber.
const MAX_IDLE_BUFFERS: usize = 256;
/// Number of slots kept without a worker.
const MAX_IDLE_SLOTS: usize = 1024;
/// Time that shutdown waits for the workers. Unfinished work can be resumed after the next start.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// A callback that announces news. It is called with locks held, so it may only wake a reader.
pub type WakeListener = dyn Fn() + Send + Sync;

/// The port through which workers reach models and tool servers. The caller that owns the adapters implements it.
pub trait Connector: fmt::Debug + Send + Sync {
    /// Checks that a name means a model or, without a name, that the settings do.
    fn check_model(&self, name: Option<&str>, store: &Store) -> Result<(), ConnectorError>;

    /// Opens the model that a name means.
    fn open_model(
        &self,
        name: Option<&str>,
        store: &Store,
    ) -> Result<Box<dyn Model>, ConnectorError>;

    /// Returns a runtime whose runs have the tool servers of the settings.
    fn runtime<'s>(&self, store: &'s Store) -> Runtime<'s>;
}

/// The workers of this process. Clones share them.
#[derive(Clone, Debug)]
pub struct Workers(Arc<WorkersState>);

#[derive(Debug)]
struct WorkersState {
    store: Arc<Store>,
    connector: Arc<dyn Connector>,
    /// Number of runs and conversations that may work at the same time.
    max_workers: usize,
    slots: Mutex<HashMap<JournalId, Arc<Slot>>>,
    buffers: Mutex<HashMap<JournalId, Arc<EventBuffer>>>,
    board: Mutex<RunStatusBoard>,
    is_closing: AtomicBool,
    threads: Mutex<usize>,
    all_gone: Condvar,
}

/// A guard that counts a worker thread while it is held.
struct ThreadCount(Workers);

impl Drop for ThreadCount {
    fn drop(&mut self) {
        *lock(&self.0.0.threads) -= 1;
        self.0.0.all_gone.notify_all();
    }
}

impl Workers {
    /// Returns workers, of which at most `max_workers` work at the same time.
    pub fn new(store: Arc<Store>, connector: Arc<dyn Connector>, max_workers: usize) -> Self {
        Self(Arc::new(WorkersState {
            store,
            connector,
            max_workers,
            slots: Mutex::default(),
            buffers: Mutex::default(),
            board: Mutex::default(),
            is_closing: AtomicBool::new(false),
            threads: Mutex::default(),
            all_gone: Condvar::new(),
        }))
    }

    /// Submits a task to a run or a conversation. Waits for the reaction, but not for the model.
    pub fn submit(
        &self,
        journal: &JournalId,
        task: Task,
        model: Option<String>,
    ) -> Result<Reaction, WorkerError> {
        let slot = self.slot(journal)?;
        let (reply, answer) = mpsc::sync_channel(1);
        if slot.submit(Job { task, model, reply })? == Submission::NeedsWorker {
            self.start(&slot)?;
        }
        answer.recv().unwrap_or(Err(WorkerError::Panicked))
    }

    fn start(&self, slot: &Arc<Slot>) -> Result<(), WorkerError> {
        let mut threads = lock(&self.0.threads);
        if *threads >= self.0.max_workers {
            slot.abandon();
            return Err(WorkerError::TooMany(self.0.max_workers));
        }
        *threads += 1;
        let count = ThreadCount(self.clone());
        drop(threads);
        let own = Arc::clone(slot);
        let name = format!("{}", slot.journal.id);
        let spawned = std::thread::Builder::new().name(name).spawn(move || {
            let ThreadCount(workers) = &count;
            worker_session::work(workers, &own);
        });
        spawned.map(drop).map_err(|error| {
            slot.abandon();
            WorkerError::Thread(error)
        })
    }

    /// Applies a control request to the worker of a journal, and returns true if it had a job. Never reads the disk, so
    /// that it always works.
    pub fn halt(&self, journal: &JournalId, request: fn(&Control)) -> bool {
        self.slots_of(journal).iter().fold(false, |was_busy, slot| slot.halt(request) | was_busy)
    }

    /// Makes sure that no worker holds a journal. Fails while a worker works on it.
    pub fn release(&self, journal: &JournalId) -> Result<(), WorkerError> {
        self.slots_of(journal).iter().try_for_each(|slot| slot.release())
    }

    /// Makes all idle workers release their runs.
    pub fn release_idle(&self) {
        let slots: Vec<Arc<Slot>> = lock(&self.0.slots).values().cloned().collect();
        slots.iter().filter(|slot| slot.has_worker()).for_each(|slot| drop(slot.release()));
    }

    /// Returns true if a worker works on a journal, by itself or as the active run of a conversation.
    pub fn is_working(&self, journal: &JournalId) -> bool {
        self.slots_of(journal).iter().any(|slot| slot.is_working())
    }

    /// Returns the number of slots that work.
    pub fn working(&self) -> usize {
        lock(&self.0.slots).values().filter(|slot| slot.is_working()).count()
    }

    /// Returns the slots that hold a journal: its own, or that of the conversation that it is a part of.
    fn slots_of(&self, journal: &JournalId) -> Vec<Arc<Slot>> {
        let slots = lock(&self.0.slots);
        slots.values().filter(|slot| slot.holds(journal)).cloned().collect()
    }

    /// Returns the event buffer of a journal.
    pub fn buffer(&self, journal: &JournalId) -> Arc<EventBuffer> {
        let mut buffers = lock(&self.0.buffers);
        if buffers.len() > MAX_IDLE_BUFFERS && !buffers.contains_key(journal) {
            buffers.retain(|_, buffer| Arc::strong_count(buffer) > 1 || !buffer.is_idle());
        }
        let fresh = || Arc::new(EventBuffer::new(journal.clone()));
        Arc::clone(buffers.entry(journal.clone()).or_insert_with(fresh))
    }

    /// Locks the current status of every run and conversation.
    pub fn board(&self) -> MutexGuard<'_, RunStatusBoard> {
        lock(&self.0.board)
    }

    /// Opens the store with its current settings.
    fn store(&self) -> Result<Store, StoreError> {
        self.0.store.reopen()
    }

    fn connector(&self) -> &dyn Connector {
        &*self.0.connector
    }

    /// Stops all work at the next safe point, and waits for the workers.
    pub fn close(&self) {
        self.0.is_closing.store(true, Ordering::SeqCst);
        let slots: Vec<Arc<Slot>> = lock(&self.0.slots).values().cloned().collect();
        slots.iter().for_each(|slot| slot.close());
        let threads = lock(&self.0.threads);
        let _ =
            self.0.all_gone.wait_timeout_while(threads, SHUTDOWN_TIMEOUT, |threads| *threads > 0);
    }

    fn slot(&self, journal: &JournalId) -> Result<Arc<Slot>, WorkerError> {
        let mut slots = lock(&self.0.slots);
        // `close` sets the flag before it takes this lock, so that it sees every slot created before.
        if self.0.is_closing.load(Ordering::SeqCst) {
            return Err(WorkerError::Closing);
        }
        if slots.len() > MAX_IDLE_SLOTS {
            // Another request may be about to submit a job to one of them.
            slots.retain(|_, slot| slot.has_worker() || Arc::strong_count(slot) > 1);
        }
        let fresh = || Arc::new(Slot::new(journal.clone()));
        Ok(Arc::clone(slots.entry(journal.clone()).or_insert_with(fresh)))
    }

    fn open_buffer(&self, journal: &JournalId, run: &Run) {
        self.buffer(journal).open(run.epoch(), run.opening());
        let mut board = self.board();
        run.opening().iter().for_each(|event| board.take(journal, event));
    }

    fn close_buffer(&self, journal: &JournalId, is_written: bool) {
        self.buffer(journal).close(is_written);
    }

    fn emit(&self, journal: &JournalId, event: &Event) {
        self.buffer(journal).push(event);
        if event.part.is_none() {
            self.board().take(journal, event);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
