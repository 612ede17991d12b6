//! The interface to runs: start, resume, fork and drive them, and send them messages.

mod adopt;
mod bindings;
mod conversation;
mod error;
mod forecast;
mod fork;
mod open;
mod requests;
mod run;
mod start;
mod unfinished;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crewagent_core::forecast::Forecast;
use crewagent_core::message::Message;
use crewagent_core::policy::Policy;
use crewagent_core::settings::{Mode, RunSettings, TierModel};
use crewagent_core::vpath::VPath;
use crewagent_format::package::step::Tier;
use serde_json::{Map, Value as Json};

pub use self::adopt::Adopt;
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

/// The runtime on a store.
#[derive(Clone, Debug)]
pub struct Runtime<'s> {
    store: &'s Store,
    clock: Clock,
    servers: ToolServers,
}

/// Plan of a new run.
#[derive(Clone, Debug)]
pub struct StartRun {
    /// Id of the run, if the caller announced one already.
    pub id: Option<RunId>,
    pub package: Installed,
    /// Id of the workflow or path of its document; none means the first of the package.
    pub workflow: Option<String>,
    /// None means the first agent whose menu starts the workflow, or else the first agent.
    pub agent: Option<String>,
    /// Folder of the user's project.
    pub project: PathBuf,
    /// Initial variables.
    pub variables: Map<String, Json>,
    pub settings: RunSettings,
    /// User who runs it; may be blank.
    pub user_name: String,
    /// Conversation that the run is started from.
    pub conversation: Option<RunId>,
    /// File that belongs to the user's choice.
    pub data: Option<Data>,
    /// Last messages of the talk that it is started from.
    pub earlier: Vec<Message>,
    /// Treatment of a document that records steps of the workflow already.
    pub adopt: Adopt,
}

/// A file that belongs to a choice of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    pub path: VPath,
    /// Text about it for the model.
    pub text: String,
}

/// Plan of a new conversation.
#[derive(Clone, Debug)]
pub struct StartConversation {
    /// Id of the conversation, if the caller announced one already.
    pub id: Option<RunId>,
    /// Package whose agents the user can talk to.
    pub package: Option<Installed>,
    /// Agent that the user talks to.
    pub agent: Option<String>,
    /// Folder of the user's project.
    pub project: PathBuf,
    pub settings: RunSettings,
}

/// Changed settings of a resumed run. None leaves a setting as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsChange {
    /// Decides if the run asks before each move.
    pub mode: Option<Mode>,
    /// Limit of requests for one input.
    pub turns: Option<u64>,
    /// Limit of seconds for one input.
    pub seconds: Option<u64>,
    /// Limit of tokens for one input.
    pub tokens: Option<u64>,
    /// Limit of money for one input.
    pub cost: Option<f64>,
    pub model: Option<String>,
    /// Models of tiers.
    pub tiers: BTreeMap<Tier, String>,
    /// Makes the run strict; a strict run stays strict.
    pub strict: bool,
    /// Policy added to the one before, which it can only tighten.
    pub policy: Option<Policy>,
}

impl SettingsChange {
    /// Returns the settings with these changes.
    pub fn on(&self, settings: &RunSettings) -> RunSettings {
        let mut changed = settings.clone();
        let limits = &mut changed.limits;
        limits.turns = self.turns.unwrap_or(limits.turns);
        limits.seconds = self.seconds.or(limits.seconds);
        limits.tokens = self.tokens.or(limits.tokens);
        limits.cost = self.cost.or(limits.cost);
        changed.mode = self.mode.unwrap_or(changed.mode);
        changed.model = self.model.clone().or(changed.model);
        for (tier, name) in &self.tiers {
            let window_tokens = changed.window_tokens;
            let model = TierModel { model: name.clone(), window_tokens, given: true };
            changed.tiers.set(*tier, Some(model));
        }
        changed.policy.strict |= self.strict;
        if let Some(policy) = &self.policy {
            changed.policy = changed.policy.and(policy);
        }
        changed
    }
}

impl<'s> Runtime<'s> {
    /// Returns a runtime with the system's clock. Its runs have the tools of these servers.
    pub fn new(store: &'s Store, servers: ToolServers) -> Self {
        Self { store, clock: Clock::system(), servers }
    }

    /// Replaces the clock.
    #[must_use]
    pub fn by(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Returns an id for a new run.
    pub(crate) fn fresh_id(&self) -> RunId {
        RunId::fresh(self.clock.now())
    }

    /// Starts a run, which has no events beyond its start yet.
    pub fn start(&self, plan: &StartRun) -> Result<Run, StartError> {
        self.start_on(&self.host(self.store.runs()), plan)
    }

    /// Returns the forecast of a run without starting it; none for a model that answers from a file.
    pub fn forecast(&self, plan: &StartRun) -> Result<Option<Forecast>, StartError> {
        start::foresee(self.store, plan)
    }

    /// Starts a run on a host, which has no events beyond its start yet.
    pub fn start_on<H: Host>(&self, host: &H, plan: &StartRun) -> Result<Run<H::Log>, StartError> {
        let run = start::start(host, self.store, &self.clock, plan)?;
        Ok(run.with_servers(self.servers.clone()))
    }

    fn host(&self, runs: Runs<'s>) -> LocalHost<'s> {
        LocalHost::new(runs, self.clock.clone())
    }

    /// Creates a run that continues from a visit of another one, which stays untouched. The new run is paused until it
    /// is resumed.
    pub fn fork(&self, plan: &ForkRun) -> Result<Forked, ForkError> {
        fork::prepare(self.store, plan)?.make(self.store, &self.clock, plan)
    }

    /// Describes the run that [`Self::fork`] would create, without creating it.
    pub fn preview_fork(&self, plan: &ForkRun) -> Result<Forked, ForkError> {
        Ok(fork::prepare(self.store, plan)?.report(self.fresh_id()))
    }

    /// Rebuilds the requests of a run from its journal. Changes nothing, and the caller need not own the run.
    pub fn requests(&self, id: &RunId) -> Result<Vec<PastRequest>, ResumeError> {
        requests::requests(self.store, self.store.runs(), id)
    }

    /// Starts a conversation, which has no events beyond its start yet.
    pub fn start_conversation(&self, plan: &StartConversation) -> Result<Run, StartError> {
        let host = self.host(self.store.conversations().runs());
        let run = conversation::begin(&host, self.store, &self.clock, plan)?;
        Ok(run.with_servers(self.servers.clone()))
    }

    /// Resumes a conversation at its position.
    pub fn reopen(&self, id: &RunId, change: &SettingsChange) -> Result<Run, ResumeError> {
        self.resume_on(&self.host(self.store.conversations().runs()), id, change)
    }

    /// Rebuilds the requests of a conversation, without those of the runs started from it.
    pub fn requests_of_conversation(&self, id: &RunId) -> Result<Vec<PastRequest>, ResumeError> {
        requests::requests(self.store, self.store.conversations().runs(), id)
    }

    /// Resumes a run at its position.
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
