//! A conversation with a user: plain chat, talk with an agent, or a run of a workflow.
//!
//! The conversation is a run without a workflow, with the same loop, journal and limits. A workflow that is started
//! from it is a run of its own; while that run is active, the user's messages go to it.

mod choose;
mod command;
mod data;
mod reaction;

use std::sync::Arc;

use crewagent_core::event::{ActiveRunChanged, AgentChanged, CommandResolved, Event, EventKind};
use crewagent_core::menu::{self, Confidence, MenuLine};
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::RunSettings;
use crewagent_format::package::Package;
use crewagent_format::package::agents::Agent;
use crewagent_format::package::agents::Surface;
use serde_json::{Map, Value as Json};

pub use self::command::{COMMANDS, GlobalCommand};
pub use self::reaction::{ConversationError, Reaction};
use crate::control::Control;
use crate::model::Model;
use crate::runtime::{ResumeError, Run, Runtime, SettingsChange, StartConversation};
use crate::step_log::Halt;
use crate::store::{Installed, RunError, RunId, Store};

/// Receiver of the events.
type Tell<'t> = &'t mut dyn FnMut(&Event);

/// A conversation that this process owns.
pub struct Conversation<'s> {
    store: &'s Store,
    runtime: Runtime<'s>,
    own_run: Run,
    run: Option<Run>,
    package: Option<(Installed, Arc<Package>)>,
    /// Settings of the runs started from here, except their model.
    settings: RunSettings,
    user_name: String,
    surface: Surface,
    /// Changed settings of whatever is resumed.
    change: SettingsChange,
    /// True after the user asked for the menu: the next message is for the menu, not for an open question.
    is_menu_up: bool,
    /// Reason why the active run cannot be resumed.
    trouble: Option<String>,
}

/// Everything needed to open a conversation, except the conversation itself.
#[derive(Clone, Debug)]
pub struct Guest {
    /// Name of the user; may be blank.
    pub user_name: String,
    /// Interface that the user sits at.
    pub surface: Surface,
    /// Settings of the runs started from here, except their model, which is that of the conversation.
    pub settings: RunSettings,
}

/// A workflow to start from a conversation.
#[derive(Clone, Debug)]
pub struct Launch {
    pub package: Installed,
    /// Id of the workflow or path of its document; none means the first of the package.
    pub workflow: Option<String>,
    /// None means the first agent whose menu starts the workflow, or else the first agent.
    pub agent: Option<String>,
    /// Initial variables.
    pub variables: Map<String, Json>,
    /// Settings of the run, except its model, which is that of the conversation.
    pub settings: RunSettings,
    /// Words of the user for the first request.
    pub message: Option<String>,
}

/// Receiver of the user's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A model without a persona.
    Chat,
    /// The menu of an agent, and the agent.
    Agent,
    /// A run of a workflow.
    Run,
}

impl<'s> Conversation<'s> {
    /// Starts a conversation.
    pub fn begin(
        store: &'s Store,
        runtime: Runtime<'s>,
        plan: &StartConversation,
        guest: Guest,
    ) -> Result<Self, ConversationError> {
        let own_run = runtime.start_conversation(plan)?;
        Self::of(store, runtime, own_run, guest, SettingsChange::default())
    }

    /// Resumes a conversation, and its active run.
    pub fn reopen(
        store: &'s Store,
        runtime: Runtime<'s>,
        id: &RunId,
        change: &SettingsChange,
        guest: Guest,
    ) -> Result<Self, ConversationError> {
        let active = store.conversations().active_run(id)?;
        let own_run = runtime.reopen(id, change)?;
        let mut session = Self::of(store, runtime, own_run, guest, change.clone())?;
        if let Some(id) = active {
            match session.runtime.resume(&id, change) {
                Ok(run) => session.run = Some(run),
                // The user removed it since.
                Err(ResumeError::Run(RunError::Unknown { .. })) => {}
                // The next messages are meant for the run, and a retry may reach it.
                Err(error) if error.may_pass() => return Err(error.into()),
                // The conversation is usable without it.
                Err(error) => session.trouble = Some(format!("run {id}: {error}")),
            }
        }
        Ok(session)
    }

    fn of(
        store: &'s Store,
        runtime: Runtime<'s>,
        own_run: Run,
        guest: Guest,
        change: SettingsChange,
    ) -> Result<Self, ConversationError> {
        let installed = store.conversations().runs().package(own_run.record())?;
        let package = installed.zip(own_run.package());
        let Guest { user_name, surface, settings } = guest;
        Ok(Self {
            store,
            runtime,
            own_run,
            run: None,
            package,
            settings,
            user_name,
            surface,
            change,
            is_menu_up: false,
            trouble: None,
        })
    }

    /// Returns why the active run cannot be resumed, if that is so.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Returns the conversation.
    pub fn own_run(&self) -> &Run {
        &self.own_run
    }

    /// Returns the active run, which receives the user's messages.
    pub fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// Returns the package whose agents the user can talk to.
    pub fn package(&self) -> Option<&Package> {
        self.package.as_ref().map(|(_, package)| &**package)
    }

    /// Returns the agent that the user talks to.
    pub fn agent(&self) -> Option<&Agent> {
        self.own_run.agent()
    }

    /// Returns the receiver of the user's messages.
    pub fn mode(&self) -> Mode {
        match (&self.run, self.agent()) {
            (Some(_), _) => Mode::Run,
            (None, Some(_)) => Mode::Agent,
            (None, None) => Mode::Chat,
        }
    }

    /// Returns the menu of the agent as the interface shows it.
    pub fn menu(&self) -> Vec<MenuLine> {
        self.agent().map(|agent| menu::menu_of(agent, self.surface)).unwrap_or_default()
    }

    /// Returns why the active run or the conversation waits or has ended, if it does.
    pub fn rest(&self) -> Option<Rest> {
        self.current().rest()
    }

    /// Returns the id of the call whose question is open.
    pub fn asking_call(&self) -> Option<&str> {
        self.current().asking_call()
    }

    /// Returns the run that receives the user's messages: the active one, or else the conversation.
    pub fn current(&self) -> &Run {
        self.run.as_ref().unwrap_or(&self.own_run)
    }

    /// Drives the current run until it waits for the user or ends. After an error everything can be resumed.
    pub fn drive(
        &mut self,
        model: &dyn Model,
        control: &Control,
        tell: Tell<'_>,
    ) -> Result<Rest, Halt> {
        self.run.as_mut().unwrap_or(&mut self.own_run).drive(model, control, tell)
    }

    /// Handles a message of the user: a command, a choice from the menu, an answer, or plain talk.
    pub fn hear(&mut self, words: &str, tell: Tell<'_>) -> Result<Reaction, ConversationError> {
        let is_menu_up = std::mem::take(&mut self.is_menu_up);
        let asks_menu = self.mode() == Mode::Agent && (is_menu_up || !self.has_question());
        // While the menu is open, `*` belongs to its triggers.
        let prefixes = if asks_menu { &command::SLASHES[..] } else { command::PREFIXES };
        if let Some(command) = GlobalCommand::of(words, prefixes) {
            return self.command(command, tell);
        }
        if asks_menu {
            return self.choose(words, tell);
        }
        if words.trim().is_empty() {
            return Ok(Reaction::Nothing);
        }
        self.name_after(words)?;
        self.run.as_mut().unwrap_or(&mut self.own_run).say(words, tell)?;
        Ok(Reaction::Work)
    }

    /// Returns true if something failed, so that the conversation must be reopened with [`Self::mended`].
    pub fn is_broken(&self) -> bool {
        self.own_run.is_broken() || self.run.as_ref().is_some_and(Run::is_broken)
    }

    /// Reopens the conversation at its position.
    pub fn mended(self) -> Result<Self, ConversationError> {
        let id = self.own_run.record().run_id.clone();
        let Self { store, runtime, own_run, run, settings, user_name, surface, change, .. } = self;
        // Release the locks before taking them again.
        drop((own_run, run));
        Self::reopen(store, runtime, &id, &change, Guest { user_name, surface, settings })
    }

    /// Releases the conversation, and removes it if it is empty. Returns true if it still exists.
    pub fn close(self, tell: Tell<'_>) -> Result<bool, ConversationError> {
        let (store, id) = (self.store, self.own_run.record().run_id.clone());
        let is_empty = self.release(tell)?;
        if is_empty {
            store.conversations().runs().remove(&id)?;
        }
        Ok(!is_empty)
    }

    /// Releases the conversation for other processes. Returns true if it is empty.
    pub fn release(mut self, tell: Tell<'_>) -> Result<bool, ConversationError> {
        self.leave(tell, ActiveRunChoice::Active)?;
        let id = self.own_run.record().run_id.clone();
        let is_empty = self.store.conversations().is_empty(&id)?;
        if let Some(rest) = self.own_run.rest().filter(|_| !is_empty) {
            self.own_run.finish(&rest, tell)?;
        }
        Ok(is_empty)
    }

    /// Returns true if a question to the user is open.
    fn has_question(&self) -> bool {
        self.rest().is_some_and(|rest| rest.question.is_some())
    }

    fn command(
        &mut self,
        command: GlobalCommand,
        tell: Tell<'_>,
    ) -> Result<Reaction, ConversationError> {
        let reaction = self.obey(&command, tell)?;
        if let Some(name) = command.recorded() {
            let kind = EventKind::from(CommandResolved {
                text: command.to_string().into(),
                command: name.to_owned(),
                confidence: Confidence::Exact,
                reason: format!("command `{command}`"),
                item: None,
                choices: reaction.choices(),
                error: None,
            });
            self.own_run.choose(kind, tell)?;
        }
        Ok(reaction)
    }

    fn obey(
        &mut self,
        command: &GlobalCommand,
        tell: Tell<'_>,
    ) -> Result<Reaction, ConversationError> {
        match command {
            GlobalCommand::Menu => {
                self.leave(tell, ActiveRunChoice::Nothing)?;
                self.is_menu_up = true;
                Ok(self.show_menu())
            }
            GlobalCommand::Pause | GlobalCommand::Stop => {
                let left = self.leave(tell, ActiveRunChoice::Nothing)?;
                Ok(left.map_or(Reaction::NoRun, |run_id| Reaction::Left { run_id }))
            }
            GlobalCommand::Resume => self.resume(tell),
            GlobalCommand::Dismiss => self.dismiss(tell),
            GlobalCommand::Help => Ok(Reaction::Help),
            GlobalCommand::Status => Ok(Reaction::Status),
            GlobalCommand::Agent(name) => self.meet(name, tell),
        }
    }

    fn show_menu(&self) -> Reaction {
        match self.agent() {
            Some(_) => Reaction::Menu { lines: self.menu() },
            None => self.agents(),
        }
    }

    fn agents(&self) -> Reaction {
        let agents = self.package().map(Package::agents).unwrap_or_default();
        Reaction::Agents { agents: agents.iter().map(|agent| agent.id.to_string()).collect() }
    }

    /// Switches to another agent of the package.
    fn meet(&mut self, name: &str, tell: Tell<'_>) -> Result<Reaction, ConversationError> {
        let meant = self.package().and_then(|package| package.agent_named(name));
        let Some(id) = meant.map(|agent| agent.id.clone()) else { return Ok(self.agents()) };
        self.leave(tell, ActiveRunChoice::Nothing)?;
        self.own_run
            .choose(EventKind::from(AgentChanged { agent_id: Some(id.to_string()) }), tell)?;
        Ok(Reaction::Met { agent_id: id.to_string() })
    }

    fn dismiss(&mut self, tell: Tell<'_>) -> Result<Reaction, ConversationError> {
        self.leave(tell, ActiveRunChoice::Nothing)?;
        if self.agent().is_none() {
            return Ok(self.show_menu());
        }
        self.own_run.choose(EventKind::from(AgentChanged { agent_id: None }), tell)?;
        Ok(Reaction::Dismissed)
    }

    /// Resumes the run that was left last.
    fn resume(&mut self, tell: Tell<'_>) -> Result<Reaction, ConversationError> {
        if let Some(run) = &self.run {
            return Ok(Reaction::Resumed { run_id: run.record().run_id.clone() });
        }
        let conversation = self.own_run.record().run_id.clone();
        for id in self.store.conversations().runs_of(&conversation)?.into_iter().rev() {
            match self.runtime.resume(&id, &self.change) {
                Ok(run) => {
                    run.opening().iter().for_each(&mut *tell);
                    self.enter(run, tell)?;
                    return Ok(Reaction::Resumed { run_id: id });
                }
                Err(ResumeError::Run(RunError::Unknown { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Reaction::NoRun)
    }

    /// Makes a run the active one.
    pub(super) fn enter(&mut self, run: Run, tell: Tell<'_>) -> Result<(), ConversationError> {
        self.own_run.choose(
            EventKind::from(ActiveRunChanged { id: Some(run.id().to_owned()), note: None }),
            tell,
        )?;
        self.run = Some(run);
        Ok(())
    }

    /// Makes the conversation receive the user's messages again. The run keeps its position.
    fn leave(
        &mut self,
        tell: Tell<'_>,
        keep: ActiveRunChoice,
    ) -> Result<Option<RunId>, ConversationError> {
        let Some(mut run) = self.run.take() else { return Ok(None) };
        if let Some(rest) = run.rest() {
            run.finish(&rest, tell)?;
        }
        if keep == ActiveRunChoice::Nothing {
            let note = Some(run.note());
            self.own_run.choose(EventKind::from(ActiveRunChanged { id: None, note }), tell)?;
        }
        Ok(Some(run.record().run_id.clone()))
    }
}

/// Choice of the run that is active again when the conversation is reopened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ActiveRunChoice {
    Active,
    Nothing,
}
