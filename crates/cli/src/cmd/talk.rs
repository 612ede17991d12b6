//! Drives a conversation for `agent` and `chat`: reads, routes, shows, until nobody says anything more.

mod show;

use std::collections::{HashMap, VecDeque};

use crewagent_core::event::Event;
use crewagent_core::menu::Surface;
use crewagent_core::package::{Package, check};
use crewagent_core::run::machine::Rest;
use crewagent_core::run::settings::RunSettings;
use crewagent_core::state::standing::Standing;
use crewagent_engine::control::{Control, Wish};
use crewagent_engine::model::Model;
use crewagent_engine::runtime::SettingsChange;
use crewagent_engine::runtime_version;
use crewagent_engine::session::{Guest, Heard, Mode, Session, SessionError};
use crewagent_engine::store::{Installed, RunId, Store};
use crewagent_engine::turn::Halt;

use super::run::{answers, user_name};
use super::session::{Answers, names_of};
use crate::again::Again;
use crate::args::Conversation;
use crate::ask;
use crate::console::Console;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::paint;
use crate::render::names::Names;
use crate::render::run::{Screen, View};

/// A conversation that is being driven by one command.
pub(crate) struct Talk<'s> {
    session: Session<'s>,
    model: Box<dyn Model>,
    control: Control,
    inputs: VecDeque<String>,
    answers: Answers,
    eyes: Eyes<'s>,
    again: Again,
    /// How the last thing ended that was asked for.
    outcome: Outcome,
}

/// How events are shown.
enum Eyes<'s> {
    /// For people.
    Human(Box<Screens<'s>>),
    /// One JSON object a line.
    Json,
}

/// A screen for the conversation, and one for each run.
struct Screens<'s> {
    store: &'s Store,
    package: Option<Package>,
    screens: HashMap<String, Screen>,
}

impl Screens<'_> {
    fn of(&mut self, event: &Event) -> &mut Screen {
        let id = event.run_id.as_deref().unwrap_or_default();
        let (store, package) = (self.store, self.package.as_ref());
        self.screens.entry(id.to_owned()).or_insert_with(|| {
            let run = RunId::parse(id).ok().and_then(|id| store.runs().look(&id).ok());
            let width = paint::text_width();
            match run {
                Some(run) => {
                    let names = names_of(&run.facts, package);
                    let agent = run.facts.subject.agent_id().unwrap_or_default();
                    Screen::new(View::Live, width, names, Standing::default(), agent)
                }
                None => {
                    let names = package.map(Names::of_package).unwrap_or_default();
                    Screen::for_talk(View::Live, width, names)
                }
            }
        })
    }
}

/// The user at this terminal.
pub(crate) fn guest(store: &Store, settings: RunSettings) -> Guest {
    Guest { user_name: user_name(store), surface: Surface::Ide, settings }
}

/// A package of the store, if this version of the program finds no errors in it.
pub(crate) fn package_of(installed: &Installed, store: &Store) -> anyhow::Result<Package> {
    let source = store.packages().open(installed)?;
    check(&source, &runtime_version()).package.ok_or_else(|| {
        let reference = installed.reference();
        anyhow::anyhow!(
            "the package {reference} has errors; `crewagent package validate {reference}` explains them"
        )
    })
}

impl<'s> Talk<'s> {
    pub(crate) fn new(
        session: Session<'s>,
        model: Box<dyn Model>,
        conversation: &Conversation,
        again: Again,
        store: &'s Store,
    ) -> anyhow::Result<Self> {
        let control = Control::default();
        interrupt::watch(control.clone())?;
        let eyes = if conversation.json {
            Eyes::Json
        } else {
            let (package, screens) = (session.package().cloned(), HashMap::new());
            Eyes::Human(Box::new(Screens { store, package, screens }))
        };
        Ok(Self {
            session,
            model,
            control,
            inputs: conversation.inputs.clone().into(),
            answers: answers(conversation),
            eyes,
            again,
            outcome: Outcome::Done,
        })
    }

    /// Goes on until nobody says anything more.
    pub(crate) fn play(mut self, console: &mut Console) -> anyhow::Result<Outcome> {
        let id = self.session.talk().id().to_owned();
        let opening = self.session.talk().opening().to_vec();
        opening.iter().for_each(|event| self.tell(event, console));
        self.greet(console);
        // After a failure nothing is tried again by itself.
        let mut is_retry = false;
        loop {
            if !is_retry {
                match self.drive(console) {
                    Ok(rest) => self.outcome = self.outcome.max(self.outcome_of(&rest)),
                    Err(halt) => self.failed(halt.into(), console),
                }
            }
            is_retry = false;
            if self.session.is_broken() {
                self = self.mended(console)?;
                is_retry = true;
            }
            if self.answers == Answers::Nobody && is_retry {
                break;
            }
            let Some(words) = self.next(console)? else { break };
            self.outcome = Outcome::Done;
            match self.hear(&words, console) {
                Ok(heard) => self.show(&heard, console),
                Err(error) => self.failed(error.into(), console),
            }
        }
        let Self { session, mut eyes, control, outcome, again, .. } = self;
        let is_kept = session.close(&mut |event| eyes.tell(event, &control, console))?;
        if is_kept && matches!(eyes, Eyes::Human(_)) {
            let words = format!("Go on with it: {}", again.command(&format!("chat {id}")));
            console.error(paint::styled(paint::QUIET, words));
        }
        Ok(outcome)
    }

    fn drive(&mut self, console: &mut Console) -> Result<Rest, Halt> {
        if self.control.wish() != Wish::Run {
            self.control.renew();
        }
        let Self { session, model, control, eyes, .. } = self;
        session.drive(&**model, control, &mut |event| eyes.tell(event, control, console))
    }

    fn hear(&mut self, words: &str, console: &mut Console) -> Result<Heard, SessionError> {
        let Self { session, control, eyes, .. } = self;
        session.hear(words, &mut |event| eyes.tell(event, control, console))
    }

    fn tell(&mut self, event: &Event, console: &mut Console) {
        self.eyes.tell(event, &self.control, console);
    }

    /// After a failure the conversation is taken up anew, where it stands.
    fn mended(mut self, console: &mut Console) -> anyhow::Result<Self> {
        self.session = self.session.mended(&SettingsChange::default())?;
        let runs = [Some(self.session.talk()), self.session.run()];
        let opening: Vec<Event> =
            runs.into_iter().flatten().flat_map(|run| run.opening().to_vec()).collect();
        opening.iter().for_each(|event| self.tell(event, console));
        Ok(self)
    }

    /// How it ended, for whoever looks at the exit code. Plain talk is always done.
    fn outcome_of(&self, rest: &Rest) -> Outcome {
        let outcome = Outcome::of_rest(rest.phase, rest.reason);
        let waits = outcome == Outcome::Waiting && rest.question.is_none();
        match self.session.mode() {
            Mode::Chat | Mode::Agent if waits => Outcome::Done,
            Mode::Run | Mode::Chat | Mode::Agent => outcome,
        }
    }

    /// The next words: from the command line, or from the person.
    fn next(&mut self, console: &mut Console) -> anyhow::Result<Option<String>> {
        if let Some(words) = self.inputs.pop_front() {
            return Ok(Some(words));
        }
        if self.answers == Answers::Nobody || console.is_gone() {
            return Ok(None);
        }
        self.eyes.hush(console);
        let question = self.session.rest().and_then(|rest| rest.question);
        match ask::words(question.as_ref())? {
            ask::Heard::Words(words) => {
                let current = self.session.run().unwrap_or(self.session.talk());
                self.eyes.typed(current.id());
                Ok(Some(words))
            }
            ask::Heard::Leave | ask::Heard::Interrupt => Ok(None),
        }
    }

    /// Something cannot be done now. Nothing is lost, and the conversation goes on.
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
    /// Shows an event as it happens. When nobody reads any more, the work is paused.
    fn tell(&mut self, event: &Event, control: &Control, console: &mut Console) {
        match self {
            Self::Human(screens) => console.text(&screens.of(event).event(event)),
            Self::Json => match serde_json::to_string(event) {
                Ok(line) => console.line(paint::escaped(&line)),
                Err(error) => console.error(format_args!("error: an event is not JSON: {error}")),
            },
        }
        console.show();
        if console.is_gone() {
            control.pause();
        }
    }

    /// Makes room for something that is not an event.
    fn hush(&mut self, console: &mut Console) {
        if let Self::Human(screens) = self {
            for screen in screens.screens.values_mut() {
                console.text(&screen.hush());
            }
            console.line("");
        }
        console.show();
    }

    /// The user's next words stand on the screen already.
    fn typed(&mut self, id: &str) {
        if let Self::Human(screens) = self
            && let Some(screen) = screens.screens.get_mut(id)
        {
            screen.typed();
        }
    }
}
