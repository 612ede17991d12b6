//! Drives a conversation for `agent` and `chat`: reads, routes and shows messages until there is no more input.

mod prompt;
mod show;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use crewagent_core::event::Event;
use crewagent_core::menu::Surface;
use crewagent_core::package::Package;
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::RunSettings;
use crewagent_core::state::run_state::RunState;
use crewagent_engine::control::{Control, ControlRequest};
use crewagent_engine::model::Model;
use crewagent_engine::session::{Guest, Mode, Reaction, Session, SessionError};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{RunId, Runs, Store};

use self::prompt::TalkCommand;
use super::run::answers;
use super::session::{Answers, Purse, names_of, print_json};
use crate::again::Again;
use crate::args::Conversation;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::render::names::Names;
use crate::render::run::{Screen, View};
use crate::terminal::desk::{Desk, Said};
use crate::terminal::spinner::Spinner;
use crate::terminal::stage::Stage;
use crate::terminal::{self, Quiet};
use crate::{ask, interrupt, paint};

/// A conversation that one command drives.
pub(crate) struct Talk<'s> {
    session: Session<'s>,
    model: Box<dyn Model>,
    control: Control,
    inputs: VecDeque<String>,
    answers: Answers,
    desk: Option<Desk<TalkCommand>>,
    eyes: Eyes<'s>,
    purse: Purse,
    again: Again,
    /// The outcome of the last request.
    outcome: Outcome,
}

/// The format of events.
enum Eyes<'s> {
    Human(Box<Screens<'s>>),
    /// One JSON object a line.
    Json,
}

/// A screen for the conversation, and one for each run.
struct Screens<'s> {
    setting: Setting<'s>,
    stages: HashMap<String, Stage>,
    /// The screen that printed last.
    last: String,
}

/// The parts of a new screen.
struct Setting<'s> {
    store: &'s Store,
    package: Option<Package>,
    project: PathBuf,
    /// The name of the model.
    model: String,
    spinner: Spinner,
}

impl Screens<'_> {
    fn of(&mut self, event: &Event) -> &mut Stage {
        let id = event.run_id.clone().unwrap_or_default();
        self.last.clone_from(&id);
        self.stages.entry(id).or_insert_with_key(|id| self.setting.stage(id))
    }

    /// Formats the last tool call in full.
    fn last_call(&self) -> String {
        self.stages.get(&self.last).map(Stage::last_call).unwrap_or_default()
    }
}

impl Setting<'_> {
    fn stage(&self, id: &str) -> Stage {
        let (store, package) = (self.store, self.package.as_ref());
        let look = |runs: Runs<'_>| runs.look(&RunId::parse(id).ok()?).ok();
        let (screen, blobs) = match look(store.runs()) {
            Some(run) => {
                let names = names_of(&run.facts, package);
                let agent = run.facts.subject.agent_id().unwrap_or_default();
                let (width, run_state) = (paint::text_width(), RunState::default());
                let screen = Screen::new(View::Live, width, names, run_state, agent)
                    .after(&run.recovered.events);
                (screen, Some(run.blobs))
            }
            None => {
                let talk = look(store.conversations().runs());
                let names = package.map(Names::of_package).unwrap_or_default();
                let screen = Screen::for_talk(View::Live, paint::text_width(), names);
                (screen, talk.map(|talk| talk.blobs))
            }
        };
        match blobs.filter(|_| terminal::is_live()) {
            Some(blobs) => {
                Stage::live(screen, self.spinner.clone(), &self.project, blobs, &self.model)
            }
            None => Stage::plain(screen),
        }
    }
}

/// The user at this terminal.
pub(crate) fn guest(store: &Store, settings: RunSettings) -> Guest {
    Guest { user_name: store.user_name(), surface: Surface::Ide, settings }
}

impl<'s> Talk<'s> {
    pub(crate) fn new(
        session: Session<'s>,
        model: Box<dyn Model>,
        conversation: &Conversation,
        again: Again,
        store: &'s Store,
        home: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let control = Control::default();
        let is_live = !conversation.json && terminal::is_live();
        let spinner = if is_live { Spinner::start() } else { Spinner::default() };
        interrupt::watch(control.clone(), spinner.clone())?;
        let eyes = if conversation.json {
            Eyes::Json
        } else {
            let setting = Setting {
                store,
                package: session.package().cloned(),
                project: session.talk().project_folder().to_owned(),
                model: model.name().to_owned(),
                spinner,
            };
            let (stages, last) = (HashMap::new(), String::new());
            Eyes::Human(Box::new(Screens { setting, stages, last }))
        };
        let answers = answers(conversation);
        let desk = prompt::desk(answers, &session, home)?;
        let purse = Purse::of(session.talk().settings());
        Ok(Self {
            session,
            model,
            control,
            inputs: conversation.inputs.clone().into(),
            answers,
            desk,
            eyes,
            purse,
            again,
            outcome: Outcome::Done,
        })
    }

    /// Drives the conversation until there is no more input.
    pub(crate) fn play(mut self, console: &mut Console) -> anyhow::Result<Outcome> {
        let id = self.session.talk().id().to_owned();
        let is_mute = self.answers == Answers::Nobody && self.inputs.is_empty();
        self.open(console);
        self.greet(console);
        let mut has_work = true;
        loop {
            if has_work {
                match self.drive(console) {
                    Ok(rest) => self.outcome = self.outcome.max(self.outcome_of(&rest)),
                    Err(halt) => self.failed(halt.into(), console),
                }
            }
            let is_broken = self.session.is_broken();
            // Nothing is retried automatically, and a stopped conversation does not continue.
            if self.answers == Answers::Nobody
                && (is_broken || self.control.request() != ControlRequest::Run)
            {
                break;
            }
            if is_broken {
                self = self.mended(console)?;
            }
            let Some(words) = self.next(console)? else { break };
            self.outcome = Outcome::Done;
            match self.hear(&words, console) {
                Ok(reaction) => {
                    self.show(&reaction, console);
                    // Paused work continues with a message or an empty line.
                    has_work = reaction.has_work();
                }
                Err(error) => {
                    self.failed(error.into(), console);
                    has_work = false;
                }
            }
        }
        let Self { session, mut eyes, control, outcome, again, .. } = self;
        let is_kept = session.close(&mut |event| eyes.tell(event, &control, console))?;
        if !is_kept && is_mute {
            let words = "Nothing was said. Without a terminal, --input says something.";
            console.error(paint::styled(paint::QUIET, words));
        }
        if is_kept {
            let words = format!("Go on with it: {}", again.command(&format!("chat {id}")));
            console.error(paint::styled(paint::QUIET, words));
        }
        Ok(outcome)
    }

    fn drive(&mut self, console: &mut Console) -> Result<Rest, Halt> {
        if self.control.request() != ControlRequest::Run {
            self.control.renew();
        }
        let Self { session, model, control, eyes, purse, .. } = self;
        let _quiet = eyes.work();
        session.drive(&**model, control, &mut |event| {
            eyes.tell(event, control, console);
            purse.look(event, console);
        })
    }

    fn hear(&mut self, words: &str, console: &mut Console) -> Result<Reaction, SessionError> {
        let Self { session, control, eyes, .. } = self;
        session.hear(words, &mut |event| eyes.tell(event, control, console))
    }

    fn tell(&mut self, event: &Event, console: &mut Console) {
        self.eyes.tell(event, &self.control, console);
    }

    /// Opens the conversation again after a failure.
    fn mended(mut self, console: &mut Console) -> anyhow::Result<Self> {
        self.session = self.session.mended()?;
        self.open(console);
        Ok(self)
    }

    /// Shows the events of opening the conversation.
    fn open(&mut self, console: &mut Console) {
        let runs = [Some(self.session.talk()), self.session.run()];
        let opening: Vec<Event> =
            runs.into_iter().flatten().flat_map(|run| run.opening().to_vec()).collect();
        opening.iter().for_each(|event| self.tell(event, console));
        if let Some(trouble) = self.session.trouble() {
            let warning = paint::styled(paint::WARNING, "warning:");
            let trouble = paint::printable_lines(trouble);
            console.error(format_args!("{warning} {trouble}; the conversation goes on without it"));
        }
    }

    /// Returns the outcome for the exit code. A conversation without a run is always done.
    fn outcome_of(&self, rest: &Rest) -> Outcome {
        let outcome = Outcome::of_rest(rest.phase, rest.reason);
        let waits = outcome == Outcome::Waiting && rest.question.is_none();
        match self.session.mode() {
            Mode::Chat | Mode::Agent if waits => Outcome::Done,
            Mode::Run | Mode::Chat | Mode::Agent => outcome,
        }
    }

    /// Returns the next message: from the command line, or from the user.
    fn next(&mut self, console: &mut Console) -> anyhow::Result<Option<String>> {
        if let Some(words) = self.inputs.pop_front() {
            return Ok(Some(words));
        }
        if self.answers == Answers::Nobody || console.is_gone() {
            return Ok(None);
        }
        self.eyes.hush(console);
        let words = self.ask(console)?;
        if words.is_some() {
            let current = self.session.run().unwrap_or(self.session.talk());
            self.eyes.typed(current.id());
        }
        Ok(words)
    }

    /// Asks the user; none when they leave.
    fn ask(&mut self, console: &mut Console) -> anyhow::Result<Option<String>> {
        let question = self.session.rest().and_then(|rest| rest.question);
        let Some(desk) = &mut self.desk else {
            return Ok(match ask::words(question.as_ref())? {
                ask::Heard::Words(words) => Some(words),
                ask::Heard::Leave | ask::Heard::Interrupt => None,
            });
        };
        loop {
            return Ok(match desk.ask(question.as_ref(), console)? {
                Said::Words(words) => Some(words),
                Said::Command(TalkCommand::Session(name), rest) => Some(format!("{name} {rest}")),
                Said::Command(TalkCommand::Last, _) => {
                    console.text(&format!("\n{}\n", self.eyes.last_call()));
                    console.show();
                    continue;
                }
                Said::Leave | Said::Interrupt => None,
            });
        }
    }

    /// Reports an error. Nothing is lost, and the conversation continues.
    fn failed(&mut self, error: anyhow::Error, console: &mut Console) {
        self.eyes.hush(console);
        self.outcome = Outcome::of_error(&error, console);
        if self.answers == Answers::Person {
            let words = "Nothing is lost. Press Enter to try again, or say something else.";
            console.error(paint::styled(paint::QUIET, words));
        }
    }
}

impl Eyes<'_> {
    /// Shows an event. Pauses the work when standard output is closed.
    fn tell(&mut self, event: &Event, control: &Control, console: &mut Console) {
        match self {
            Self::Human(screens) => screens.of(event).event(event, console),
            Self::Json => print_json(event, console),
        }
        console.show();
        if console.is_gone() {
            control.pause();
        }
    }

    /// Ends the current text before something is printed that is not an event.
    fn hush(&mut self, console: &mut Console) {
        if let Self::Human(screens) = self {
            screens.stages.values_mut().for_each(|stage| stage.hush(console));
            console.line("");
        }
        console.show();
    }

    /// Formats the last tool call in full.
    fn last_call(&self) -> String {
        match self {
            Self::Human(screens) => screens.last_call(),
            Self::Json => String::new(),
        }
    }

    /// Hides typed keys during work.
    fn work(&self) -> Option<Quiet> {
        match self {
            Self::Human(_) => terminal::is_live().then(Quiet::begin),
            Self::Json => None,
        }
    }

    /// Suppresses the user's next message, which is on the screen already.
    fn typed(&mut self, id: &str) {
        if let Self::Human(screens) = self
            && let Some(stage) = screens.stages.get_mut(id)
        {
            stage.screen.typed();
        }
    }
}
