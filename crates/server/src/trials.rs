//! MCP servers that are tried out: one trial of each at a time, and what came of the last.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crewagent_adapters::mcp::{Checkup, checkup};
use crewagent_core::tool::served::ServerName;
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::store::{Secrets, ServerSettings};
use jiff::Timestamp;

/// A trial ends within this time, whatever the settings of the server say: somebody waits for it.
const LONGEST: Duration = Duration::from_secs(120);

/// What came of the trials since the program started.
#[derive(Debug, Default)]
pub(crate) struct Trials(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    running: BTreeSet<ServerName>,
    last: BTreeMap<ServerName, Arc<Trial>>,
}

/// What came of one.
#[derive(Debug)]
pub(crate) struct Trial {
    settings: ServerSettings,
    pub(crate) found: Checkup,
    pub(crate) at: Timestamp,
}

impl Trials {
    /// Tries out a server and waits for it. There is none while another one of the same server goes on.
    pub(crate) fn run(
        &self,
        name: &ServerName,
        settings: &ServerSettings,
        secrets: Secrets,
        cancel: &Cancel,
    ) -> Option<Arc<Trial>> {
        let _turn = Turn::of(self, name)?;
        let deadline = Deadline::after(LONGEST, cancel);
        let found = checkup(name.clone(), settings.clone(), secrets, &deadline);
        let trial = Trial { settings: settings.clone(), found, at: Timestamp::now() };
        let trial = Arc::new(trial);
        self.known().last.insert(name.clone(), Arc::clone(&trial));
        Some(trial)
    }

    /// What came of the last trial of a server that is reached as it was then.
    pub(crate) fn last(&self, name: &ServerName, settings: &ServerSettings) -> Option<Arc<Trial>> {
        let known = self.known();
        known.last.get(name).filter(|trial| trial.settings.way == settings.way).cloned()
    }

    /// A server is not what it was: its secrets are others, or it is gone.
    pub(crate) fn forget(&self, name: &ServerName) {
        self.known().last.remove(name);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn to try out a server. It ends with the value.
struct Turn<'t> {
    trials: &'t Trials,
    name: &'t ServerName,
}

impl<'t> Turn<'t> {
    fn of(trials: &'t Trials, name: &'t ServerName) -> Option<Self> {
        let is_free = trials.known().running.insert(name.clone());
        is_free.then(|| Self { trials, name })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.trials.known().running.remove(self.name);
    }
}
