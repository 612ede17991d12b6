//! Drives a conversation for `agent` and `chat`: reads, routes and shows messages until there is no more input.

mod prompt;
mod show;

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

use crewagent_core::event::Event;
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::RunSettings;
use crewagent_core::state::run_state::RunState;
use crewagent_engine::control::{Control, ControlRequest};
use crewagent_engine::conversation::{Conversation, ConversationError, Guest, Mode, Reaction};
use crewagent_engine::model::Model;
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{RunId, Runs, Store};
use crewagent_format::package::Package;
use crewagent_format::package::agents::Surface;

use self::prompt::ConversationCommand;
use super::run::answers;
use super::run_driver::{AnswerSource, CostWarning, names_of, print_json};
use crate::args::ConversationOptions;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::render::names::DisplayNames;
use crate::render::run::{EventSource, Screen};
use crate::resume_hint::ResumeHint;
use crate::terminal::live_view::LiveView;
use crate::terminal::prompt::{CommandPrompt, PromptInput};
use crate::terminal::spinner::Spinner;
use crate::terminal::{self, Quiet};
use crate::{ask, interrupt, paint};

/// A conversation that one command drives.
pub(crate) struct ConversationDriver<'s> {
    conversation: Conversation<'s>,
    model: Box<dyn Model>,
    control: Control,
    inputs: VecDeque<String>,
    answers: AnswerSource,
    prompt: Option<CommandPrompt<ConversationCommand>>,
    output: ConversationOutput<'s>,
    cost_warning: CostWarning,
    resume_hint: ResumeHint,
    /// The outcome of the last request.
    outcome: Outcome,
}

/// The format of events.
enum ConversationOutput<'s> {
    Human(Box<Screens<'s>>),
    /// One JSON object a line.
    Json,
}

/// A screen for the conversation, and one for each run.
struct Screens<'s> {
    setting: ScreenParts<'s>,
    views: HashMap<String, LiveView>,
    /// The screen that printed last.
    last: String,
}

/// The parts of a new screen.
struct ScreenParts<'s> {
    store: &'s Store,
    package: Option<Package>,
    project: PathBuf,
    /// The name of the model.
    model: String,
    spinner: Spinner,
}

impl Screens<'_> {
    fn of(&mut self, event: &Event) -> &mut LiveView {
        let id = event.run_id.clone().unwrap_or_default();
        self.last.clone_from(&id);
        self.views.entry(id).or_insert_with_key(|id| self.setting.view(id))
    }

    /// Formats the last tool call in full.
    fn last_call(&self) -> String {
        self.views.get(&self.last).map(LiveView::last_call).unwrap_or_default()
    }
}

impl ScreenParts<'_> {
    fn view(&self, id: &str) -> LiveView {
        let (store, package) = (self.store, self.package.as_ref());
        let look = |runs: Runs<'_>| runs.look(&RunId::parse(id).ok()?).ok();
        let (screen, blobs) = match look(store.runs()) {
            Some(run) => {
                let names = names_of(&run.record, package);
                let agent = run.record.subject.agent_id().unwrap_or_default();
                let (width, run_state) = (paint::text_width(), RunState::default());
                let screen = Screen::new(EventSource::Live, width, names, run_state, agent)
                    .after(&run.recovered.events);
                (screen, Some(run.blobs))
            }
            None => {
                let conversation = look(store.conversations().runs());
                let names = package.map(DisplayNames::of_package).unwrap_or_default();
                let screen =
                    Screen::for_conversation(EventSource::Live, paint::text_width(), names);
                (screen, conversation.map(|conversation| conversation.blobs))
            }
        };
        match blobs.filter(|_| terminal::is_live()) {
            Some(blobs) => {
                LiveView::live(screen, self.spinner.clone(), &self.project, blobs, &self.model)
            }
            None => LiveView::plain(screen),
        }
    }
}

/// Describes the user at this terminal.
pub(crate) fn guest(store: &Store, settings: RunSettings) -> Guest {
    Guest { user_name: store.user_name(), surface: Surface::Ide, settings }
}

impl<'s> ConversationDriver<'s> {
    pub(crate) fn new(
        conversation: Conversation<'s>,
        model: Box<dyn Model>,
        options: &ConversationOptions,
        resume_hint: ResumeHint,
        store: &'s Store,
        home: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let control = Control::default();
        let is_live = !options.json && terminal::is_live();
        let spinner = if is_live { Spinner::start() } else { Spinner::default() };
        interrupt::watch(control.clone(), spinner.clone())?;
        let output = if options.json {
            ConversationOutput::Json
        } else {
            let setting = ScreenParts {
                store,
                package: conversation.package().cloned(),
                project: conversation.own_run().project_folder().to_owned(),
                model: model.name().to_owned(),
                spinner,
            };
            let (views, last) = (HashMap::new(), String::new());
            ConversationOutput::Human(Box::new(Screens { setting, views, last }))
        };
        let answers = answers(options);
        let prompt = prompt::open_prompt(answers, &conversation, home)?;
        let cost_warning = CostWarning::of(conversation.own_run().settings());
        Ok(Self {
            conversation,
            model,
            control,
            inputs: options.inputs.clone().into(),
            answers,
            prompt,
            output,
            cost_warning,
            resume_hint,
            outcome: Outcome::Done,
        })
    }

    /// Drives the conversation until there is no more input.
    pub(crate) fn drive_to_end(mut self, console: &mut Console) -> anyhow::Result<Outcome> {
        let id = self.conversation.own_run().id().to_owned();
        let is_mute = self.answers == AnswerSource::None && self.inputs.is_empty();
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
            let is_broken = self.conversation.is_broken();
            // Nothing is retried automatically, and a stopped conversation does not continue.
            if self.answers == AnswerSource::None
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
        let Self { conversation, mut output, control, outcome, resume_hint, .. } = self;
        let is_kept =
            conversation.close(&mut |event| output.show_event(event, &control, console))?;
        if !is_kept && is_mute {
            let words = text!(
                "Nothing was said. Without a terminal, --input says something.",
                "没有说任何话。没有终端时，请用 --input 发言。"
            );
            console.error(paint::styled(paint::QUIET, words));
        }
        if is_kept {
            let words = say!(
                "Go on with it: {}",
                "继续对话：{}",
                resume_hint.command(&format!("chat {id}"))
            );
            console.error(paint::styled(paint::QUIET, words));
        }
        Ok(outcome)
    }

    fn drive(&mut self, console: &mut Console) -> Result<Rest, Halt> {
        if self.control.request() != ControlRequest::Run {
            self.control.renew();
        }
        let Self { conversation, model, control, output, cost_warning, .. } = self;
        let _quiet = output.hide_keys();
        conversation.drive(&**model, control, &mut |event| {
            output.show_event(event, control, console);
            cost_warning.check(event, console);
        })
    }

    fn hear(&mut self, words: &str, console: &mut Console) -> Result<Reaction, ConversationError> {
        let Self { conversation, control, output, .. } = self;
        conversation.hear(words, &mut |event| output.show_event(event, control, console))
    }

    fn show_event(&mut self, event: &Event, console: &mut Console) {
        self.output.show_event(event, &self.control, console);
    }

    /// Opens the conversation again after a failure.
    fn mended(mut self, console: &mut Console) -> anyhow::Result<Self> {
        self.conversation = self.conversation.mended()?;
        self.open(console);
        Ok(self)
    }

    /// Shows the events of opening the conversation.
    fn open(&mut self, console: &mut Console) {
        let runs = [Some(self.conversation.own_run()), self.conversation.run()];
        let opening: Vec<Event> =
            runs.into_iter().flatten().flat_map(|run| run.opening().to_vec()).collect();
        opening.iter().for_each(|event| self.show_event(event, console));
        if let Some(trouble) = self.conversation.trouble() {
            let warning = paint::styled(paint::WARNING, text!("warning:", "警告:"));
            let trouble = paint::printable_lines(trouble);
            console.error(say!(
                "{warning} {trouble}; the conversation goes on without it",
                "{warning}{trouble}；对话在没有它的情况下继续"
            ));
        }
    }

    /// Returns the outcome for the exit code. A conversation without a run is always done.
    fn outcome_of(&self, rest: &Rest) -> Outcome {
        let outcome = Outcome::of_rest(rest.phase, rest.reason);
        let waits = outcome == Outcome::Waiting && rest.question.is_none();
        match self.conversation.mode() {
            Mode::Chat | Mode::Agent if waits => Outcome::Done,
            Mode::Run | Mode::Chat | Mode::Agent => outcome,
        }
    }

    /// Returns the next message: from the command line, or from the user.
    fn next(&mut self, console: &mut Console) -> anyhow::Result<Option<String>> {
        if let Some(words) = self.inputs.pop_front() {
            return Ok(Some(words));
        }
        if self.answers == AnswerSource::None || console.is_gone() {
            return Ok(None);
        }
        self.output.end_text(console);
        let words = self.ask(console)?;
        if words.is_some() {
            let current = self.conversation.run().unwrap_or(self.conversation.own_run());
            self.output.suppress_echo(current.id());
        }
        Ok(words)
    }

    /// Asks the user; none when they leave.
    fn ask(&mut self, console: &mut Console) -> anyhow::Result<Option<String>> {
        let question = self.conversation.rest().and_then(|rest| rest.question);
        let Some(prompt) = &mut self.prompt else {
            return Ok(match ask::text(question.as_ref())? {
                ask::TypedInput::Text(words) => Some(words),
                ask::TypedInput::Leave | ask::TypedInput::Interrupt => None,
            });
        };
        loop {
            return Ok(match prompt.ask(question.as_ref(), console)? {
                PromptInput::Text(words) => Some(words),
                PromptInput::Command(ConversationCommand::Conversation(name), rest) => {
                    Some(format!("{name} {rest}"))
                }
                PromptInput::Command(ConversationCommand::Last, _) => {
                    console.text(&format!("\n{}\n", self.output.last_call()));
                    console.show();
                    continue;
                }
                PromptInput::Leave | PromptInput::Interrupt => None,
            });
        }
    }

    /// Reports an error. Nothing is lost, and the conversation continues.
    fn failed(&mut self, error: anyhow::Error, console: &mut Console) {
        self.output.end_text(console);
        self.outcome = Outcome::of_error(&error, console);
        if self.answers == AnswerSource::User {
            let words = text!(
                "Nothing is lost. Press Enter to try again, or say something else.",
                "没有内容丢失。按 Enter 重试，或说点别的。"
            );
            console.error(paint::styled(paint::QUIET, words));
        }
    }
}

impl ConversationOutput<'_> {
    /// Shows an event. Pauses the work when standard output is closed.
    fn show_event(&mut self, event: &Event, control: &Control, console: &mut Console) {
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
    fn end_text(&mut self, console: &mut Console) {
        if let Self::Human(screens) = self {
            screens.views.values_mut().for_each(|view| view.end_text(console));
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
    fn hide_keys(&self) -> Option<Quiet> {
        match self {
            Self::Human(_) => terminal::is_live().then(Quiet::begin),
            Self::Json => None,
        }
    }

    /// Suppresses the user's next message, which is on the screen already.
    fn suppress_echo(&mut self, id: &str) {
        if let Self::Human(screens) = self
            && let Some(view) = screens.views.get_mut(id)
        {
            view.screen.suppress_echo();
        }
    }
}
