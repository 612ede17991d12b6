//! Routes the user's messages through the menu of an agent, and carries out what they choose.

use crewagent_core::event::{
    ActiveRunChanged, Choice, CommandResolved, EventKind, ModelInstructed,
};
use crewagent_core::menu::{self, Action, Command, MenuError, Routed};
use crewagent_core::prompt;
use crewagent_core::settings::RunSettings;
use crewagent_core::vpath::VPath;
use serde_json::Map;

use super::command::{GlobalCommand, STARS};
use super::{ActiveRunChoice, Conversation, ConversationError, Launch, Reaction, Tell, data};
use crate::runtime::{Adopt, Data, StartRun};
use crate::store::RunId;

/// Bytes of a file that are read to find out what it is.
const MAX_LOOK: usize = 256 * 1024;

impl Conversation<'_> {
    /// Routes a message through the menu of the agent.
    pub(super) fn choose(
        &mut self,
        words: &str,
        tell: Tell<'_>,
    ) -> Result<Reaction, ConversationError> {
        let Some(agent) = self.agent().cloned() else { return Ok(Reaction::Nothing) };
        let routed = menu::route(&agent, words, self.surface);
        let action = match &routed.command {
            Command::Chat => {
                if let Some(command) = GlobalCommand::of(words, STARS) {
                    return self.command(command, tell);
                }
                self.record(words, &routed, CommandResolved::CHAT, &Reaction::Work, tell)?;
                self.name_after(words)?;
                self.own_run.say(words, tell)?;
                return Ok(Reaction::Work);
            }
            Command::ShowMenu => Ok(Action::ShowMenu),
            Command::Dismiss => Ok(Action::Dismiss),
            Command::Resume => Ok(Action::Resume),
            Command::Clarify { candidates, .. } => {
                let reaction = Reaction::Clarify {
                    reason: routed.reason.clone(),
                    choices: candidates
                        .iter()
                        .map(|one| Choice { answer: one.answer.clone(), label: one.label.clone() })
                        .collect(),
                };
                self.record(words, &routed, "ClarifyChoice", &reaction, tell)?;
                return Ok(reaction);
            }
            Command::Item(target) => match &self.package {
                Some((_, package)) => {
                    menu::resolve(target, &agent, package, &|path| self.text_of(path))
                }
                None => return Ok(Reaction::Nothing),
            },
        };
        let ready = action.and_then(|action| Ok((self.load(&action)?, action)));
        match ready {
            Err(error) => {
                let reaction = Reaction::Refused { error };
                self.record(words, &routed, "Refused", &reaction, tell)?;
                Ok(reaction)
            }
            Ok((data, action)) => {
                let shown =
                    if action == Action::ShowMenu { self.show_menu() } else { Reaction::Work };
                self.record(words, &routed, action.name(), &shown, tell)?;
                self.perform(action, data, &routed, tell)
            }
        }
    }

    /// Carries out a choice.
    fn perform(
        &mut self,
        action: Action,
        data: Option<Data>,
        routed: &Routed,
        tell: Tell<'_>,
    ) -> Result<Reaction, ConversationError> {
        let (subject, first) = match action {
            Action::ShowMenu => return Ok(self.show_menu()),
            Action::Dismiss => return self.dismiss(tell),
            Action::Resume => return self.resume(tell),
            Action::StartWorkflow { workflow, .. } => {
                return self.start(workflow, data, routed, tell);
            }
            Action::Script { path, .. } => {
                (format!("script {path}"), prompt::script_directive(&path))
            }
            Action::Prompt { id, text, .. } => {
                (format!("prompt #{id}"), prompt::prompt_directive(&id, &text))
            }
            Action::Inline { text, .. } => {
                ("instruction".to_owned(), prompt::user_input(&text, None))
            }
        };
        let mut texts = vec![first];
        texts.extend(data.map(|data| data.text));
        texts.extend(routed.details.as_ref().map(|words| prompt::user_input(words, None)));
        let texts = texts.into_iter().map(Into::into).collect();
        self.name_after_item(routed)?;
        self.own_run.choose(EventKind::from(ModelInstructed { subject, texts }), tell)?;
        Ok(Reaction::Work)
    }

    fn start(
        &mut self,
        workflow: usize,
        data: Option<Data>,
        routed: &Routed,
        tell: Tell<'_>,
    ) -> Result<Reaction, ConversationError> {
        let Some((installed, package)) = &self.package else { return Ok(Reaction::Nothing) };
        let document = package.workflows()[workflow].document_path.to_string();
        let plan = StartRun {
            id: Some(self.runtime.fresh_id()),
            package: installed.clone(),
            workflow: Some(document),
            agent: self.agent().map(|agent| agent.id.to_string()),
            project: self.own_run.project_folder().to_owned(),
            variables: Map::new(),
            settings: self.with_own_model(self.settings.clone()),
            user_name: self.user_name.clone(),
            conversation: Some(self.own_run.record().run_id.clone()),
            data,
            earlier: self.own_run.earlier_words(),
            adopt: Adopt::default(),
        };
        let id = self.start_run(&plan, tell)?;
        self.name_after_item(routed)?;
        if let (Some(words), Some(run)) = (&routed.details, &mut self.run) {
            run.say(words, tell)?;
        }
        Ok(Reaction::Started { run_id: id })
    }

    /// Returns the settings with the models of the conversation, which also answers in the runs started from it.
    fn with_own_model(&self, settings: RunSettings) -> RunSettings {
        let RunSettings { model, window_tokens, tiers, .. } = self.own_run.settings().clone();
        RunSettings { model, window_tokens, tiers, ..settings }
    }

    /// Starts a run and makes it the active one.
    fn start_run(&mut self, plan: &StartRun, tell: Tell<'_>) -> Result<RunId, ConversationError> {
        // Record the id first, so that every run belongs to a conversation.
        let noted = plan.id.as_ref().map(ToString::to_string);
        self.own_run.choose(EventKind::from(ActiveRunChanged { id: noted, note: None }), tell)?;
        let run = match self.runtime.start(plan) {
            Ok(run) => run,
            Err(error) => {
                self.own_run
                    .choose(EventKind::from(ActiveRunChanged { id: None, note: None }), tell)?;
                return Err(error.into());
            }
        };
        run.opening().iter().for_each(&mut *tell);
        let id = run.record().run_id.clone();
        self.run = Some(run);
        Ok(id)
    }

    /// Starts a workflow without a menu. An active run keeps its position.
    pub fn launch(
        &mut self,
        launch: Launch,
        tell: Tell<'_>,
    ) -> Result<Reaction, ConversationError> {
        let Launch { package, workflow, agent, variables, settings, message } = launch;
        self.leave(tell, ActiveRunChoice::Nothing)?;
        let name = workflow.clone().unwrap_or_else(|| package.name.clone());
        let plan = StartRun {
            id: Some(self.runtime.fresh_id()),
            package,
            workflow,
            agent,
            project: self.own_run.project_folder().to_owned(),
            variables,
            settings: self.with_own_model(settings),
            user_name: self.user_name.clone(),
            conversation: Some(self.own_run.record().run_id.clone()),
            data: None,
            earlier: self.own_run.earlier_words(),
            adopt: Adopt::default(),
        };
        let id = self.start_run(&plan, tell)?;
        self.name_after(&name)?;
        let words = message.filter(|words| !words.trim().is_empty());
        if let (Some(words), Some(run)) = (words, &mut self.run) {
            run.say(&words, tell)?;
        }
        Ok(Reaction::Started { run_id: id })
    }

    /// Makes this run the active one. It must have been started from this conversation.
    pub fn go_on_with(
        &mut self,
        id: &RunId,
        tell: Tell<'_>,
    ) -> Result<Reaction, ConversationError> {
        if self.run.as_ref().is_some_and(|run| run.record().run_id == *id) {
            return Ok(Reaction::Resumed { run_id: id.clone() });
        }
        let conversation = &self.own_run.record().run_id;
        if !self.store.conversations().runs_of(conversation)?.contains(id) {
            return Ok(Reaction::NoRun);
        }
        self.leave(tell, ActiveRunChoice::Nothing)?;
        let run = self.runtime.resume(id, &self.change)?;
        run.opening().iter().for_each(&mut *tell);
        self.enter(run, tell)?;
        Ok(Reaction::Resumed { run_id: id.clone() })
    }

    /// Loads the data file of an action.
    fn load(&self, action: &Action) -> Result<Option<Data>, MenuError> {
        action.data().map(|data| data::load(self.own_run.mounts(), data)).transpose()
    }

    /// Returns the text of a file up to `MAX_LOOK`.
    fn text_of(&self, path: &VPath) -> Option<String> {
        let content = self.own_run.mounts().read(path, MAX_LOOK).ok()?.ok()?;
        Some(String::from_utf8_lossy(&content.bytes).into_owned())
    }

    fn record(
        &mut self,
        words: &str,
        routed: &Routed,
        command: &str,
        reaction: &Reaction,
        tell: Tell<'_>,
    ) -> Result<(), ConversationError> {
        let error =
            if let Reaction::Refused { error } = reaction { Some(error.clone()) } else { None };
        let kind = EventKind::from(CommandResolved {
            text: words.into(),
            command: command.to_owned(),
            confidence: routed.confidence,
            reason: routed.reason.clone(),
            item: routed.item,
            choices: reaction.choices(),
            error,
        });
        Ok(self.own_run.choose(kind, tell)?)
    }

    /// Names the conversation after these words if it has no title yet.
    pub(super) fn name_after(&self, words: &str) -> Result<(), ConversationError> {
        let (conversations, id) = (self.store.conversations(), &self.own_run.record().run_id);
        if conversations.title(id)?.is_none() {
            conversations.rename(id, words)?;
        }
        Ok(())
    }

    fn name_after_item(&self, routed: &Routed) -> Result<(), ConversationError> {
        let menu = self.menu();
        let item = routed.item.and_then(|number| menu.iter().find(|line| line.number == number));
        let Some(line) = item else { return Ok(()) };
        match without_code(&line.description) {
            "" => self.name_after(line.trigger.as_deref().unwrap_or(&line.description)),
            words => self.name_after(words),
        }
    }
}

/// Returns a description without its leading code in brackets.
fn without_code(description: &str) -> &str {
    let rest = description.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    rest.map_or(description, |(_, words)| words.trim_start())
}
