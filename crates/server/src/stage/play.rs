//! The thread behind an act: opens it, does what it is told, drives it until it rests, and leaves soon after.

use std::time::Duration;

use crewagent_adapters::mcp::tool_servers;
use crewagent_adapters::names::{NamedError, NamedModel};
use crewagent_core::event::Event;
use crewagent_core::menu::Surface;
use crewagent_core::settings::RunSettings;
use crewagent_engine::model::Model;
use crewagent_engine::runtime::{Run, Runtime, SettingsChange};
use crewagent_engine::session::{Guest, Heard, Launch, Session};
use crewagent_engine::store::{RunId, Store};

use super::Stage;
use super::act::{Act, Job, Task};
use crate::problem::Problem;
use crate::wire::{Came, Code, Journal, Kind, MenuItem, Suggestion};

/// A thread stays this long for the next words. Then the run is free for other processes, and costs nothing.
const LINGER: Duration = Duration::from_secs(5);

/// Somebody who plays: a run by itself, or a conversation with the run it is about.
enum Player<'s> {
    Solo(Box<Run>),
    Talk(Box<Session<'s>>),
}

/// How a player was left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// All that was told is in the journal.
    Kept,
    /// Something failed; what was told last may be lost.
    Lost,
}

/// Gives the act back, also when the thread dies of a bug.
struct Presence<'s>(&'s Stage, &'s Act);

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for journal in self.1.abandon() {
                self.0.asleep(&journal, false);
                self.0.notices().at_work(&journal, false);
            }
        }
    }
}

/// Does what the act is given, until nothing comes any more.
pub(super) fn play(stage: &Stage, act: &Act) {
    let _presence = Presence(stage, act);
    while let Some(job) = act.next_or_leave() {
        let store = match stage.store() {
            Ok(store) => store,
            Err(problem) => {
                act.answer(job, Err(problem));
                continue;
            }
        };
        let mut scene = Scene { stage, act, store: &store, model: None };
        match scene.open(&job) {
            Err(problem) => act.answer(job, Err(problem)),
            Ok(player) => scene.perform(player, job),
        }
    }
}

/// One opening of an act.
struct Scene<'s> {
    stage: &'s Stage,
    act: &'s Act,
    store: &'s Store,
    /// The model of the job in hand, when it was needed, by the name that was asked for.
    model: Option<(Option<String>, Box<dyn Model>)>,
}

impl<'s> Scene<'s> {
    /// Takes the run or the conversation. What is wrong is told before anything is made.
    fn open(&mut self, job: &Job) -> Result<Player<'s>, Problem> {
        let wish = job.model.as_deref();
        if wish.is_some() {
            NamedModel::of(wish, self.store).map_err(NamedError::from)?;
        }
        let runtime = Runtime::new(self.store, tool_servers(self.store));
        let player = match &job.task {
            Task::StartRun(plan) => {
                self.ready(wish)?;
                let mut plan = plan.clone();
                self.choose(&mut plan.settings, wish);
                Player::Solo(Box::new(runtime.start(&plan)?))
            }
            Task::StartTalk(plan) => {
                let mut plan = plan.clone();
                self.choose(&mut plan.settings, wish);
                let guest = self.guest(plan.settings.clone());
                Player::Talk(Box::new(Session::begin(self.store, runtime, &plan, guest)?))
            }
            Task::Say { .. } | Task::Enter(_) | Task::Launch(_) => {
                self.reopen(runtime, SettingsChange::default(), wish)?
            }
            Task::GoOn(change) => self.reopen(runtime, change.clone(), wish)?,
        };
        for run in player.runs() {
            self.stage.awake(&self.journal_of(run.facts().run_id.as_str()), run);
        }
        self.recast(&player);
        Ok(player)
    }

    fn reopen(
        &self,
        runtime: Runtime<'s>,
        change: SettingsChange,
        wish: Option<&str>,
    ) -> Result<Player<'s>, Problem> {
        let id = &self.act.journal.id;
        let change = SettingsChange { model: wish.map(str::to_owned), ..change };
        Ok(match self.act.journal.kind {
            Kind::Run => Player::Solo(Box::new(runtime.resume(id, &change)?)),
            Kind::Conversation => {
                let guest = self.guest(change.on(&self.store.settings().for_runs()));
                let session = Session::reopen(self.store, runtime, id, &change, guest)?;
                self.check_trouble(&session)?;
                Player::Talk(Box::new(session))
            }
        })
    }

    /// The words of the user must not go to the conversation while the run that they are meant for is elsewhere. A run
    /// that cannot be gone on with at all is left behind, and lists say so.
    fn check_trouble(&self, session: &Session<'s>) -> Result<(), Problem> {
        let Some(trouble) = session.trouble() else { return Ok(()) };
        let active = self.store.conversations().active_run(&self.act.journal.id)?;
        let holder = active.and_then(|run| self.store.runs().holder(&run).ok().flatten());
        if holder.is_some() {
            return Err(Problem::new(Code::InUse, trouble));
        }
        self.stage.notices().trouble(&self.act.journal, trouble);
        Ok(())
    }

    fn guest(&self, settings: RunSettings) -> Guest {
        Guest { user_name: self.store.user_name(), surface: Surface::Ide, settings }
    }

    /// This model is asked for.
    fn choose(&self, settings: &mut RunSettings, model: Option<&str>) {
        settings.model = model.map(str::to_owned);
        settings.window_tokens = self.store.settings().window(model);
    }

    /// Does a job and those that follow it, until nothing comes or the player must be opened anew.
    fn perform(&mut self, mut player: Player<'s>, first: Job) {
        let mut job = first;
        let left = loop {
            if let Err(left) = self.task(&mut player, job) {
                break left;
            }
            self.recast(&player);
            // Keys and scripts may change between two jobs.
            self.model = None;
            job = match self.act.next(LINGER) {
                Some(next) if self.is_outdated(&player, &next) => {
                    self.act.put_back(next);
                    break Left::Kept;
                }
                Some(next) => next,
                None => break Left::Kept,
            };
        };
        self.leave(player, left);
    }

    /// Whether a job needs other settings than the player was opened with.
    fn is_outdated(&self, player: &Player<'s>, job: &Job) -> bool {
        let has_wish = job.model.is_some() && job.model.as_deref() != player.model();
        let is_changed =
            matches!(&job.task, Task::GoOn(change) if *change != SettingsChange::default());
        has_wish
            || is_changed
            || self.stage.store().is_ok_and(|now| now.settings() != self.store.settings())
    }

    /// What the thread has now. A run that a conversation has left is free for others.
    fn recast(&self, player: &Player<'s>) {
        let cast = player.runs().map(|run| self.journal_of(run.facts().run_id.as_str()));
        for journal in self.act.recast(cast.collect()) {
            self.stage.notices().at_work(&journal, false);
            self.stage.asleep(&journal, true);
        }
    }

    fn task(&mut self, player: &mut Player<'s>, job: Job) -> Result<(), Left> {
        // Words to a run are always for its model. Without one they are not taken, so that nobody has to say them again.
        let is_for_model = match &job.task {
            Task::Say { .. } => matches!(player, Player::Solo(_)),
            Task::Launch(_) => true,
            Task::StartRun(_) | Task::StartTalk(_) | Task::Enter(_) | Task::GoOn(_) => false,
        };
        if is_for_model && let Err(problem) = self.ready(player.model()) {
            self.act.answer(job, Err(problem));
            return Ok(());
        }
        let heard = match &job.task {
            Task::Say { words, answers } => {
                player.check_question(answers.as_deref()).and_then(|()| self.hear(player, words))
            }
            Task::Launch(launch) => self.launch(player, launch),
            Task::Enter(id) => self.enter(player, id),
            Task::StartRun(_) | Task::GoOn(_) => Ok(Heard::Work),
            Task::StartTalk(_) => Ok(Heard::Status),
        };
        let heard = match heard {
            Ok(heard) => heard,
            Err(problem) => {
                self.act.answer(job, Err(problem));
                return if player.is_broken() { Err(Left::Lost) } else { Ok(()) };
            }
        };
        if !heard.has_work() {
            self.act.answer(job, Ok(came(heard)));
            return Ok(());
        }
        if let Err(problem) = self.ready(player.model()) {
            let problem = match job.task {
                Task::Say { .. } => {
                    problem.hint("What was said is kept. Set up a model, then go on.")
                }
                Task::StartRun(_)
                | Task::StartTalk(_)
                | Task::Launch(_)
                | Task::Enter(_)
                | Task::GoOn(_) => problem,
            };
            self.act.answer(job, Err(problem));
            return Ok(());
        }
        self.recast(player);
        self.note_work(player, true);
        self.act.work(job, came(heard));
        let driven = self.drive(player);
        self.note_work(player, false);
        self.recast(player);
        self.act.rest();
        driven
    }

    /// Lists show whether a conversation, and the run it is about, are at work.
    fn note_work(&self, player: &Player<'s>, is_at_work: bool) {
        for run in player.runs() {
            let journal = self.journal_of(run.facts().run_id.as_str());
            self.stage.notices().at_work(&journal, is_at_work);
        }
    }

    fn hear(&self, player: &mut Player<'s>, words: &str) -> Result<Heard, Problem> {
        let mut tell = |event: &Event| self.tell(event);
        Ok(match player {
            Player::Solo(_) if words.trim().is_empty() => Heard::Work,
            Player::Solo(run) => {
                run.say(words, &mut tell)?;
                Heard::Work
            }
            Player::Talk(session) => session.hear(words, &mut tell)?,
        })
    }

    fn launch(&self, player: &mut Player<'s>, launch: &Launch) -> Result<Heard, Problem> {
        let Player::Talk(session) = player else { return Ok(Heard::NoRun) };
        Ok(session.launch(launch.clone(), &mut |event| self.tell(event))?)
    }

    fn enter(&self, player: &mut Player<'s>, id: &RunId) -> Result<Heard, Problem> {
        let Player::Talk(session) = player else { return Ok(Heard::NoRun) };
        Ok(session.go_on_with(id, &mut |event| self.tell(event))?)
    }

    fn drive(&self, player: &mut Player<'s>) -> Result<(), Left> {
        let Some((_, model)) = &self.model else { return Ok(()) };
        let control = &self.act.control;
        let mut tell = |event: &Event| self.tell(event);
        let driven = match player {
            Player::Solo(run) => run.drive(&**model, control, &mut tell),
            Player::Talk(session) => session.drive(&**model, control, &mut tell),
        };
        // What failed has been told; it is taken over anew when it is to go on.
        driven.map(drop).map_err(|_| Left::Lost)
    }

    /// Gets the model ready that is asked for.
    fn ready(&mut self, name: Option<&str>) -> Result<(), Problem> {
        if self.model.as_ref().is_none_or(|(ready, _)| ready.as_deref() != name) {
            let named = NamedModel::of(name, self.store).map_err(NamedError::from)?;
            let model = named.open(self.store, || self.stage.client())?;
            self.model = Some((name.map(str::to_owned), model));
        }
        Ok(())
    }

    fn leave(&self, player: Player<'s>, left: Left) {
        let mut tell = |event: &Event| self.tell(event);
        let is_kept = match player {
            _ if left == Left::Lost => false,
            Player::Solo(mut run) => match run.rest() {
                Some(rest) => run.finish(&rest, &mut tell).is_ok(),
                None => true,
            },
            Player::Talk(session) => session.release(&mut tell).is_ok(),
        };
        for journal in self.act.recast(Vec::new()) {
            self.stage.asleep(&journal, is_kept);
        }
    }

    fn tell(&self, event: &Event) {
        let id = event.run_id.as_deref().unwrap_or_default();
        self.stage.tell(&self.journal_of(id), event);
    }

    /// The journal of this id: that of the act itself, or of a run of its conversation.
    fn journal_of(&self, id: &str) -> Journal {
        let own = &self.act.journal;
        match RunId::parse(id) {
            Ok(id) if id != own.id => Journal::run(id),
            Ok(_) | Err(_) => own.clone(),
        }
    }
}

impl Player<'_> {
    fn runs(&self) -> impl Iterator<Item = &Run> {
        let (one, other) = match self {
            Self::Solo(run) => (Some(&**run), None),
            Self::Talk(session) => (Some(session.talk()), session.run()),
        };
        one.into_iter().chain(other)
    }

    /// The model that whoever hears the words has asked for.
    fn model(&self) -> Option<&str> {
        let run = match self {
            Self::Solo(run) => run,
            Self::Talk(session) => session.current(),
        };
        run.settings().model.as_deref()
    }

    /// Words that are meant for a question must not become the answer to the next one.
    fn check_question(&self, answers: Option<&str>) -> Result<(), Problem> {
        let asking = match self {
            Self::Solo(run) => run.asking_call(),
            Self::Talk(session) => session.asking_call(),
        };
        if answers.is_some() && answers != asking {
            return Err(Problem::new(Code::Changed, "this question waits for no answer any more")
                .hint("Look at what has happened since, and answer what is asked now."));
        }
        Ok(())
    }

    fn is_broken(&self) -> bool {
        match self {
            Self::Solo(run) => run.is_broken(),
            Self::Talk(session) => session.is_broken(),
        }
    }
}

fn came(heard: Heard) -> Came {
    let run = |id: RunId| id.to_string();
    match heard {
        Heard::Work => Came::Work,
        Heard::Started(id) => Came::Started { run_id: run(id) },
        Heard::Resumed(id) => Came::Resumed { run_id: run(id) },
        Heard::Menu(lines) => Came::Menu { lines: lines.into_iter().map(MenuItem::from).collect() },
        Heard::Agents(ids) => {
            Came::Agents { agents: ids.into_iter().map(|id| id.to_string()).collect() }
        }
        Heard::Clarify { reason, candidates } => Came::Clarify {
            reason,
            choices: candidates
                .into_iter()
                .map(|one| Suggestion { answer: one.answer, label: one.label })
                .collect(),
        },
        Heard::Refused(error) => Came::Refused { message: error.to_string() },
        Heard::Met(agent) => Came::Met { agent_id: agent.to_string() },
        Heard::Dismissed => Came::Dismissed,
        Heard::Left(id) => Came::Left { run_id: run(id) },
        Heard::NoRun => Came::NoRun,
        Heard::Help => Came::Help,
        Heard::Status => Came::Status,
        Heard::Nothing => Came::Nothing,
    }
}
