//! The one door to runs: start one, take one over, drive it, speak to it.

mod error;
mod fork;
mod open;
mod requests;
mod run;
mod start;
mod talk;

use std::path::PathBuf;

use crewagent_core::policy::Policy;
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_core::vpath::VPath;
use serde_json::{Map, Value as Json};

pub use self::error::{ForkError, ResumeError, StartError};
pub use self::fork::{ForkRun, Forked};
pub use self::requests::PastRequest;
pub use self::run::Run;
pub use self::start::default_agent;
use crate::clock::Clock;
pub use crate::documents::NoDocument;
use crate::host::{Host, LocalHost};
use crate::store::{Installed, RunId, Runs, Store};
use crate::tool_server::ToolServers;

/// Runs on a store.
#[derive(Clone, Debug)]
pub struct Runtime<'s> {
    store: &'s Store,
    clock: Clock,
    servers: ToolServers,
}

/// What is to be run.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// Its id, where others know it already.
    pub id: Option<RunId>,
    /// The package.
    pub package: Installed,
    /// The workflow: its id, or the path of its document; the package's first when absent.
    pub workflow: Option<String>,
    /// The agent; when absent the first whose menu starts the workflow, else the first.
    pub agent: Option<String>,
    /// The user's project.
    pub project: PathBuf,
    /// Variables that are known from the start.
    pub variables: Map<String, Json>,
    /// What it runs with.
    pub settings: RunSettings,
    /// Who runs it; may be blank.
    pub user_name: String,
    /// The conversation that it is started from.
    pub conversation: Option<RunId>,
    /// A file that comes with it.
    pub data: Option<Data>,
}

/// A file that the user's choice brings along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Where it is.
    pub path: VPath,
    /// What the model is told of it.
    pub text: String,
}

/// What a conversation begins with.
#[derive(Clone, Debug)]
pub struct StartTalk {
    /// Its id, where others know it already.
    pub id: Option<RunId>,
    /// The package whose agents can be talked to.
    pub package: Option<Installed>,
    /// The agent that is talked to.
    pub agent: Option<String>,
    /// The user's project.
    pub project: PathBuf,
    /// What it runs with.
    pub settings: RunSettings,
}

/// What changes when a run is taken over. Absent means: as before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsChange {
    /// Whether it asks before each move.
    pub mode: Option<Mode>,
    /// Requests for one input.
    pub turns: Option<u64>,
    /// Seconds for one input.
    pub seconds: Option<u64>,
    /// Tokens for one input.
    pub tokens: Option<u64>,
    /// Money for one input.
    pub cost: Option<f64>,
    /// The model that is asked for.
    pub model: Option<String>,
    /// Whether it is strict from here on; what was strict stays so.
    pub strict: bool,
    /// What tools may do from here on, besides what held before; it can only be tightened.
    pub policy: Option<Policy>,
}

impl SettingsChange {
    /// The settings with these changes.
    pub fn on(&self, settings: &RunSettings) -> RunSettings {
        let mut changed = settings.clone();
        let limits = &mut changed.limits;
        limits.turns = self.turns.unwrap_or(limits.turns);
        limits.seconds = self.seconds.or(limits.seconds);
        limits.tokens = self.tokens.or(limits.tokens);
        limits.cost = self.cost.or(limits.cost);
        changed.mode = self.mode.unwrap_or(changed.mode);
        changed.model = self.model.clone().or(changed.model);
        changed.policy.strict |= self.strict;
        if let Some(policy) = &self.policy {
            changed.policy = changed.policy.and(policy);
        }
        changed
    }
}

impl<'s> Runtime<'s> {
    /// Returns a runtime on this store, by the system's clock. Its runs have the tools of these servers.
    pub fn new(store: &'s Store, servers: ToolServers) -> Self {
        Self { store, clock: Clock::system(), servers }
    }

    /// The same, by another clock.
    #[must_use]
    pub fn by(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// An id for a run that is to be started.
    pub(crate) fn fresh_id(&self) -> RunId {
        RunId::fresh(self.clock.now())
    }

    /// Starts a run. Nothing has happened in it when this returns.
    pub fn start(&self, plan: &StartRun) -> Result<Run, StartError> {
        self.start_on(&self.host(self.store.runs()), plan)
    }

    /// Starts a run on a host. Nothing has happened in it when this returns.
    pub fn start_on<H: Host>(&self, host: &H, plan: &StartRun) -> Result<Run<H::Log>, StartError> {
        let run = start::start(host, self.store, &self.clock, plan)?;
        Ok(run.with_servers(self.servers.clone()))
    }

    fn host(&self, runs: Runs<'s>) -> LocalHost<'s> {
        LocalHost::new(runs, self.clock.clone())
    }

    /// Makes a run that goes on from a moment of another one, which is not touched. It rests until it is taken over.
    pub fn fork(&self, plan: &ForkRun) -> Result<Forked, ForkError> {
        fork::prepare(self.store, plan)?.make(self.store, &self.clock, plan)
    }

    /// What such a run would begin with. Nothing is made.
    pub fn preview_fork(&self, plan: &ForkRun) -> Result<Forked, ForkError> {
        Ok(fork::prepare(self.store, plan)?.told(self.fresh_id()))
    }

    /// The requests of a run, made again from its journal. Nothing is changed, and nobody needs to own it.
    pub fn requests(&self, id: &RunId) -> Result<Vec<PastRequest>, ResumeError> {
        requests::requests(self.store, self.store.runs(), id)
    }

    /// Begins a conversation. Nothing has happened in it when this returns.
    pub fn talk(&self, plan: &StartTalk) -> Result<Run, StartError> {
        let host = self.host(self.store.conversations().runs());
        let talk = talk::begin(&host, self.store, &self.clock, plan)?;
        Ok(talk.with_servers(self.servers.clone()))
    }

    /// Takes over a conversation where it stands.
    pub fn reopen(&self, id: &RunId, change: &SettingsChange) -> Result<Run, ResumeError> {
        self.resume_on(&self.host(self.store.conversations().runs()), id, change)
    }

    /// The requests of a conversation, but for those of the runs that were started from it.
    pub fn requests_of_talk(&self, id: &RunId) -> Result<Vec<PastRequest>, ResumeError> {
        requests::requests(self.store, self.store.conversations().runs(), id)
    }

    /// Takes over a run where it stands.
    pub fn resume(&self, id: &RunId, change: &SettingsChange) -> Result<Run, ResumeError> {
        self.resume_on(&self.host(self.store.runs()), id, change)
    }

    /// Resumes a run of a host at its position.
    pub fn resume_on<H: Host>(
        &self,
        host: &H,
        id: &RunId,
        change: &SettingsChange,
    ) -> Result<Run<H::Log>, ResumeError> {
        let run = open::resume(host, self.store, &self.clock, id, change)?;
        Ok(run.with_servers(self.servers.clone()))
    }
}
