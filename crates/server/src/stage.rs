//! The runs and conversations that this server is at: each driven by a thread of its own while it works, none while it
//! waits.

mod act;
mod feed;
mod notices;
mod play;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use crewagent_adapters::chat::Client;
use crewagent_core::event::Event;
use crewagent_engine::control::Control;
use crewagent_engine::model::ModelError;
use crewagent_engine::runtime::Run;
use crewagent_engine::store::Store;

pub(crate) use self::act::Task;
use self::act::{Act, Given, Job};
pub(crate) use self::feed::{Feed, Line, Position, Pulled};
use self::notices::Notices;
use crate::limits;
use crate::problem::Problem;
use crate::wire::{Came, Code, Journal};

/// Runs and conversations that may be at work at the same time.
static MAX_THREADS: LazyLock<usize> = LazyLock::new(limits::runs);
/// Feeds that are kept though nobody listens.
const MAX_IDLE_FEEDS: usize = 256;
/// Acts that are remembered though nothing happens in them, with the model that was asked for.
const MAX_IDLE_ACTS: usize = 1024;
/// How long the server waits for its runs when it ends. What is not done by then goes on after the next start.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// What this server is at. Copies are the same stage.
#[derive(Clone, Debug)]
pub(crate) struct Stage(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Arc<Store>,
    client: Mutex<Option<Client>>,
    acts: Mutex<HashMap<Journal, Arc<Act>>>,
    feeds: Mutex<HashMap<Journal, Arc<Feed>>>,
    notices: Mutex<Notices>,
    is_closing: AtomicBool,
    threads: Mutex<usize>,
    all_gone: Condvar,
}

/// Counts a thread as long as it is there.
struct Counted(Stage);

impl Drop for Counted {
    fn drop(&mut self) {
        *lock(&self.0.0.threads) -= 1;
        self.0.0.all_gone.notify_all();
    }
}

impl Stage {
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self(Arc::new(Shared {
            store,
            client: Mutex::default(),
            acts: Mutex::default(),
            feeds: Mutex::default(),
            notices: Mutex::default(),
            is_closing: AtomicBool::new(false),
            threads: Mutex::default(),
            all_gone: Condvar::new(),
        }))
    }

    /// Gives a run or a conversation something to do, and waits for what comes of it, but not for the model.
    pub(crate) fn ask(
        &self,
        journal: &Journal,
        task: Task,
        model: Option<String>,
    ) -> Result<Came, Problem> {
        let act = self.act(journal)?;
        let (reply, answer) = mpsc::sync_channel(1);
        if act.give(Job { task, model, reply })? == Given::NeedsThread {
            self.start(&act)?;
        }
        answer.recv().unwrap_or_else(|_| {
            Err(Problem::new(
                Code::Internal,
                "the work on it failed inside the program, which is a bug",
            )
            .hint("Nothing that was recorded is lost. Go on with it, and please report the bug."))
        })
    }

    fn start(&self, act: &Arc<Act>) -> Result<(), Problem> {
        let mut threads = lock(&self.0.threads);
        if *threads >= *MAX_THREADS {
            act.abandon();
            return Err(Problem::new(
                Code::Busy,
                format!("{} runs are at work already", *MAX_THREADS),
            )
            .hint("Wait until some of them rest."));
        }
        *threads += 1;
        let counted = Counted(self.clone());
        drop(threads);
        let player = Arc::clone(act);
        let name = format!("{}", act.journal.id);
        let spawned = std::thread::Builder::new().name(name).spawn(move || {
            let Counted(stage) = &counted;
            play::play(stage, &player);
        });
        spawned.map(drop).map_err(|error| {
            act.abandon();
            Problem::new(Code::Internal, format!("no thread could be started: {error}"))
        })
    }

    /// Asks whoever plays it to rest. Says whether somebody was at it. Nothing is read for this: it must always work.
    pub(crate) fn halt(&self, journal: &Journal, how: fn(&Control)) -> bool {
        self.players(journal).iter().fold(false, |was_at_it, act| act.halt(how) | was_at_it)
    }

    /// Makes sure that no thread here has it. Not while it is at work.
    pub(crate) fn release(&self, journal: &Journal) -> Result<(), Problem> {
        self.players(journal).iter().try_for_each(|act| act.release())
    }

    /// What only rests here lets go of what it has.
    pub(crate) fn release_resting(&self) {
        let acts: Vec<Arc<Act>> = lock(&self.0.acts).values().cloned().collect();
        acts.iter().filter(|act| act.has_thread()).for_each(|act| drop(act.release()));
    }

    /// Whether it is at work here, by itself or as the run that a conversation is about.
    pub(crate) fn is_at_work(&self, journal: &Journal) -> bool {
        self.players(journal).iter().any(|act| act.is_at_work())
    }

    /// How many are at work.
    pub(crate) fn at_work(&self) -> usize {
        lock(&self.0.acts).values().filter(|act| act.is_at_work()).count()
    }

    /// Those who play it: itself, or the conversation that it is a part of.
    fn players(&self, journal: &Journal) -> Vec<Arc<Act>> {
        let acts = lock(&self.0.acts);
        acts.values().filter(|act| act.plays(journal)).cloned().collect()
    }

    /// What happens in a journal.
    pub(crate) fn feed(&self, journal: &Journal) -> Arc<Feed> {
        let mut feeds = lock(&self.0.feeds);
        if feeds.len() > MAX_IDLE_FEEDS && !feeds.contains_key(journal) {
            feeds.retain(|_, feed| Arc::strong_count(feed) > 1 || !feed.is_idle());
        }
        let fresh = || Arc::new(Feed::new(journal.clone()));
        Arc::clone(feeds.entry(journal.clone()).or_insert_with(fresh))
    }

    /// How everything is now.
    pub(crate) fn notices(&self) -> MutexGuard<'_, Notices> {
        lock(&self.0.notices)
    }

    /// The store, with its settings as they are now.
    pub(crate) fn store(&self) -> Result<Store, Problem> {
        Ok(self.0.store.reopen()?)
    }

    /// The one way to models over the network.
    pub(crate) fn client(&self) -> Result<Client, ModelError> {
        let mut client = lock(&self.0.client);
        if let Some(client) = &*client {
            return Ok(client.clone());
        }
        let fresh = Client::new()?;
        *client = Some(fresh.clone());
        Ok(fresh)
    }

    /// Everything that is at work is stopped where nothing is lost.
    pub(crate) fn close(&self) {
        self.0.is_closing.store(true, Ordering::SeqCst);
        let acts: Vec<Arc<Act>> = lock(&self.0.acts).values().cloned().collect();
        acts.iter().for_each(|act| act.close());
        let threads = lock(&self.0.threads);
        let _ = self.0.all_gone.wait_timeout_while(threads, PATIENCE, |threads| *threads > 0);
    }

    fn act(&self, journal: &Journal) -> Result<Arc<Act>, Problem> {
        let mut acts = lock(&self.0.acts);
        // Whoever closes the stage looks at the acts after saying so.
        if self.0.is_closing.load(Ordering::SeqCst) {
            return Err(act::closing());
        }
        if acts.len() > MAX_IDLE_ACTS {
            // Somebody else may just be about to give one a job.
            acts.retain(|_, act| act.has_thread() || Arc::strong_count(act) > 1);
        }
        let fresh = || Arc::new(Act::new(journal.clone()));
        Ok(Arc::clone(acts.entry(journal.clone()).or_insert_with(fresh)))
    }

    fn awake(&self, journal: &Journal, run: &Run) {
        self.feed(journal).wake(run.epoch(), run.opening());
        let mut notices = self.notices();
        run.opening().iter().for_each(|event| notices.tell(journal, event));
    }

    fn asleep(&self, journal: &Journal, is_kept: bool) {
        self.feed(journal).sleep(is_kept);
    }

    fn tell(&self, journal: &Journal, event: &Event) {
        self.feed(journal).tell(event);
        if event.part.is_none() {
            self.notices().tell(journal, event);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
