//! The worker thread of a slot: opens its run or conversation, does the jobs, drives the model until the run waits, and
//! exits when no further job comes.

use std::collections::BTreeMap;
use std::time::Duration;

use crewagent_core::event::Event;
use crewagent_core::settings::{RunSettings, Tiers};
use crewagent_format::package::agents::Surface;

use super::slot::{Job, Slot, Task};
use super::{ConnectorError, WorkerError, Workers};
use crate::conversation::{Conversation, Guest, Launch, Reaction};
use crate::model::{Model, TieredModel};
use crate::runtime::{Run, Runtime, SettingsChange};
use crate::store::{JournalId, JournalKind, RunId, Store};

/// Time that an idle worker waits for the next job. Then it releases the run for other processes.
const WORKER_IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The subject of a worker: a run by itself, or a conversation with its active run.
enum Driven<'s> {
    Run(Box<Run>),
    Conversation(Box<Conversation<'s>>),
}

/// The end of a worker session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SessionEnding {
    /// All emitted events are in the journal.
    Clean,
    /// Something failed, so the last emitted events may be lost.
    Failed,
}

/// A guard that releases the slot if its worker panics.
struct PanicGuard<'s>(&'s Workers, &'s Slot);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for journal in self.1.abandon() {
                self.0.close_buffer(&journal, false);
                self.0.board().set_working(&journal, false);
            }
        }
    }
}

/// Does the jobs of a slot until none is left.
pub(super) fn work(workers: &Workers, slot: &Slot) {
    let _guard = PanicGuard(workers, slot);
    while let Some(job) = slot.take_job_or_leave() {
        let store = match workers.store() {
            Ok(store) => store,
            Err(error) => {
                slot.finish(job, Err(error.into()));
                continue;
            }
        };
        let mut session = WorkerSession { workers, slot, store: &store, model: None };
        match session.open(&job) {
            Err(error) => slot.finish(job, Err(error)),
            Ok(driven) => session.run_jobs(driven, job),
        }
    }
}

/// An open model, with its requested name and tiers.
struct OpenModel {
    name: Option<String>,
    tiers: Tiers,
    model: Box<dyn Model>,
}

/// One period during which a worker has a run or conversation open.
struct WorkerSession<'s> {
    workers: &'s Workers,
    slot: &'s Slot,
    store: &'s Store,
    /// Model of the current job once it is needed.
    model: Option<OpenModel>,
}

impl<'s> WorkerSession<'s> {
    /// Opens the run or the conversation. Reports errors before it creates anything.
    fn open(&mut self, job: &Job) -> Result<Driven<'s>, WorkerError> {
        let model = job.model.as_deref();
        if model.is_some() {
            let connector = self.workers.connector();
            connector.check_model(model, self.store).map_err(WorkerError::Model)?;
        }
        let runtime = self.workers.connector().runtime(self.store);
        let driven = match &job.task {
            Task::StartRun { plan, .. } => {
                let mut plan = plan.clone();
                self.set_model(&mut plan.settings, model);
                self.open_model(&plan.settings).map_err(WorkerError::Model)?;
                Driven::Run(Box::new(runtime.start(&plan)?))
            }
            Task::StartConversation(plan) => {
                let mut plan = plan.clone();
                self.set_model(&mut plan.settings, model);
                let guest = self.guest(plan.settings.clone());
                Driven::Conversation(Box::new(Conversation::begin(
                    self.store, runtime, &plan, guest,
                )?))
            }
            Task::Say { .. } | Task::Enter(_) | Task::Launch(_) => {
                self.reopen(runtime, SettingsChange::default(), model)?
            }
            Task::Resume(change) => self.reopen(runtime, change.clone(), model)?,
        };
        for run in driven.runs() {
            self.workers.open_buffer(&self.journal_of(run.record().run_id.as_str()), run);
        }
        self.update_journals(&driven);
        Ok(driven)
    }

    fn reopen(
        &self,
        runtime: Runtime<'s>,
        change: SettingsChange,
        model: Option<&str>,
    ) -> Result<Driven<'s>, WorkerError> {
        let id = &self.slot.journal.id;
        let change = SettingsChange { model: model.map(str::to_owned), ..change };
        Ok(match self.slot.journal.kind {
            JournalKind::Run => Driven::Run(Box::new(runtime.resume(id, &change)?)),
            JournalKind::Conversation => {
                let guest = self.guest(change.on(&self.store.settings().for_runs()));
                let session = Conversation::reopen(self.store, runtime, id, &change, guest)?;
                self.check_active_run(&session)?;
                Driven::Conversation(Box::new(session))
            }
        })
    }

    /// Refuses the job while another process holds the run that the user's message is for. A run that cannot be resumed
    /// at all is dropped from the conversation, and lists show why.
    fn check_active_run(&self, session: &Conversation<'s>) -> Result<(), WorkerError> {
        let Some(trouble) = session.trouble() else { return Ok(()) };
        let active = self.store.conversations().active_run(&self.slot.journal.id)?;
        let holder = active.and_then(|run| self.store.runs().holder(&run).ok().flatten());
        if holder.is_some() {
            return Err(WorkerError::RunInUse(trouble.to_owned()));
        }
        self.workers.board().set_message(&self.slot.journal, trouble);
        Ok(())
    }

    fn guest(&self, settings: RunSettings) -> Guest {
        Guest { user_name: self.store.user_name(), surface: Surface::Ide, settings }
    }

    fn set_model(&self, settings: &mut RunSettings, model: Option<&str>) {
        settings.model = model.map(str::to_owned);
        settings.window_tokens = self.store.settings().window(model);
        settings.tiers = self.store.settings().tiers_of(model, &BTreeMap::new());
    }

    /// Does a job and those after it, until none comes or the run must be reopened with other settings.
    fn run_jobs(&mut self, mut driven: Driven<'s>, first: Job) {
        let mut job = first;
        let ending = loop {
            if let Err(ending) = self.run_job(&mut driven, job) {
                break ending;
            }
            self.update_journals(&driven);
            // The user may change keys and scripts between two jobs.
            self.model = None;
            job = match self.slot.wait_for_job(WORKER_IDLE_TIMEOUT) {
                Some(next) if self.is_outdated(&driven, &next) => {
                    self.slot.put_back(next);
                    break SessionEnding::Clean;
                }
                Some(next) => next,
                None => break SessionEnding::Clean,
            };
        };
        self.close(driven, ending);
    }

    /// Returns true if a job needs other settings than the run was opened with.
    fn is_outdated(&self, driven: &Driven<'s>, job: &Job) -> bool {
        let names_other_model = job.model.is_some() && job.model.as_deref() != driven.model();
        let is_changed =
            matches!(&job.task, Task::Resume(change) if *change != SettingsChange::default());
        names_other_model
            || is_changed
            || self.workers.store().is_ok_and(|now| now.settings() != self.store.settings())
    }

    /// Registers the journals that the worker holds now, and releases a run that its conversation has left.
    fn update_journals(&self, driven: &Driven<'s>) {
        let journals = driven.runs().map(|run| self.journal_of(run.record().run_id.as_str()));
        for journal in self.slot.set_journals(journals.collect()) {
            self.workers.board().set_working(&journal, false);
            self.workers.close_buffer(&journal, true);
        }
    }

    fn run_job(&mut self, driven: &mut Driven<'s>, job: Job) -> Result<(), SessionEnding> {
        // A message to a run always needs the model. Without one the message is refused before it is recorded, so that
        // the user can send it again.
        let needs_model = match &job.task {
            Task::Say { .. } => matches!(driven, Driven::Run(_)),
            Task::Launch(_) => true,
            Task::StartRun { .. }
            | Task::StartConversation(_)
            | Task::Enter(_)
            | Task::Resume(_) => false,
        };
        if needs_model && let Err(error) = self.open_model(driven.settings()) {
            self.slot.finish(job, Err(WorkerError::Model(error)));
            return Ok(());
        }
        let reaction = match &job.task {
            Task::Say { text, answers } => {
                driven.check_question(answers.as_deref()).and_then(|()| self.say(driven, text))
            }
            Task::Launch(launch) => self.launch(driven, launch),
            Task::Enter(id) => self.enter(driven, id),
            Task::StartRun { message: Some(words), .. } => self.say(driven, words),
            Task::StartRun { message: None, .. } | Task::Resume(_) => Ok(Reaction::Work),
            Task::StartConversation(_) => Ok(Reaction::Status),
        };
        let reaction = match reaction {
            Ok(reaction) => reaction,
            Err(error) => {
                self.slot.finish(job, Err(error));
                return if driven.is_broken() { Err(SessionEnding::Failed) } else { Ok(()) };
            }
        };
        if !reaction.has_work() {
            self.slot.finish(job, Ok(reaction));
            return Ok(());
        }
        if let Err(error) = self.open_model(driven.settings()) {
            let error = match job.task {
                Task::Say { .. } => WorkerError::ModelAfterMessage(error),
                Task::StartRun { .. }
                | Task::StartConversation(_)
                | Task::Launch(_)
                | Task::Enter(_)
                | Task::Resume(_) => WorkerError::Model(error),
            };
            self.slot.finish(job, Err(error));
            return Ok(());
        }
        self.update_journals(driven);
        self.publish_working(driven, true);
        self.slot.begin_work(job, reaction);
        let ending = self.drive(driven);
        self.update_journals(driven);
        // A client that is told so and looks must find it so.
        self.slot.end_work();
        self.publish_working(driven, false);
        ending
    }

    /// Reports to lists that a conversation and its active run work, or no longer do.
    fn publish_working(&self, driven: &Driven<'s>, is_working: bool) {
        for run in driven.runs() {
            let journal = self.journal_of(run.record().run_id.as_str());
            self.workers.board().set_working(&journal, is_working);
        }
    }

    fn say(&self, driven: &mut Driven<'s>, text: &str) -> Result<Reaction, WorkerError> {
        let mut emit = |event: &Event| self.emit(event);
        Ok(match driven {
            Driven::Run(_) if text.trim().is_empty() => Reaction::Work,
            Driven::Run(run) => {
                run.say(text, &mut emit)?;
                Reaction::Work
            }
            Driven::Conversation(session) => session.hear(text, &mut emit)?,
        })
    }

    fn launch(&self, driven: &mut Driven<'s>, launch: &Launch) -> Result<Reaction, WorkerError> {
        let Driven::Conversation(session) = driven else { return Ok(Reaction::NoRun) };
        Ok(session.launch(launch.clone(), &mut |event| self.emit(event))?)
    }

    fn enter(&self, driven: &mut Driven<'s>, id: &RunId) -> Result<Reaction, WorkerError> {
        let Driven::Conversation(session) = driven else { return Ok(Reaction::NoRun) };
        Ok(session.go_on_with(id, &mut |event| self.emit(event))?)
    }

    fn drive(&self, driven: &mut Driven<'s>) -> Result<(), SessionEnding> {
        let Some(OpenModel { model, .. }) = &self.model else { return Ok(()) };
        let control = &self.slot.control;
        let mut emit = |event: &Event| self.emit(event);
        let rest = match driven {
            Driven::Run(run) => run.drive(&**model, control, &mut emit),
            Driven::Conversation(session) => session.drive(&**model, control, &mut emit),
        };
        // The failure was emitted, and the next job reopens the run.
        rest.map(drop).map_err(|_| SessionEnding::Failed)
    }

    /// Opens the models that these settings name unless they are open.
    fn open_model(&mut self, settings: &RunSettings) -> Result<(), ConnectorError> {
        let RunSettings { model: name, tiers, .. } = settings;
        let is_open = |open: &OpenModel| open.name == *name && open.tiers == *tiers;
        if !self.model.as_ref().is_some_and(is_open) {
            let open = |name: Option<&str>| self.workers.connector().open_model(name, self.store);
            let of_tier = |name: &str| open(Some(name)).map_err(|error| error.to_string());
            let model = TieredModel::open(open(name.as_deref())?, tiers, of_tier);
            self.model = Some(OpenModel { name: name.clone(), tiers: tiers.clone(), model });
        }
        Ok(())
    }

    fn close(&self, driven: Driven<'s>, ending: SessionEnding) {
        let mut emit = |event: &Event| self.emit(event);
        let is_written = match driven {
            _ if ending == SessionEnding::Failed => false,
            Driven::Run(mut run) => match run.rest() {
                Some(rest) => run.finish(&rest, &mut emit).is_ok(),
                None => true,
            },
            Driven::Conversation(session) => session.release(&mut emit).is_ok(),
        };
        for journal in self.slot.set_journals(Vec::new()) {
            self.workers.close_buffer(&journal, is_written);
        }
    }

    fn emit(&self, event: &Event) {
        let id = event.run_id.as_deref().unwrap_or_default();
        self.workers.emit(&self.journal_of(id), event);
    }

    /// Returns the journal with this id: the slot's own, or that of a run of its conversation.
    fn journal_of(&self, id: &str) -> JournalId {
        let own = &self.slot.journal;
        match RunId::parse(id) {
            Ok(id) if id != own.id => JournalId::run(id),
            Ok(_) | Err(_) => own.clone(),
        }
    }
}

impl Driven<'_> {
    fn runs(&self) -> impl Iterator<Item = &Run> {
        let (one, other) = match self {
            Self::Run(run) => (Some(&**run), None),
            Self::Conversation(session) => (Some(session.own_run()), session.run()),
        };
        one.into_iter().chain(other)
    }

    /// Returns the settings of the run that gets the user's next message.
    fn settings(&self) -> &RunSettings {
        let run = match self {
            Self::Run(run) => run,
            Self::Conversation(session) => session.current(),
        };
        run.settings()
    }

    /// Returns the name of the model that answers the user's next message.
    fn model(&self) -> Option<&str> {
        self.settings().model.as_deref()
    }

    /// Refuses an answer whose question is no longer open, so that it does not answer the next one.
    fn check_question(&self, answers: Option<&str>) -> Result<(), WorkerError> {
        let asking = match self {
            Self::Run(run) => run.asking_call(),
            Self::Conversation(session) => session.asking_call(),
        };
        if answers.is_some() && answers != asking {
            return Err(WorkerError::QuestionClosed);
        }
        Ok(())
    }

    fn is_broken(&self) -> bool {
        match self {
            Self::Run(run) => run.is_broken(),
            Self::Conversation(session) => session.is_broken(),
        }
    }
}
