//! Drives a run for `run`, `resume` and `demo`: shows its events, answers it, and reports how it ended.

mod prompt;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use crewagent_core::event::{AssistantMessage, Event, EventKind, ModelEvent, Phase, Reason};
use crewagent_core::question::Question;
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::RunSettings;
use crewagent_engine::control::{Control, ControlRequest};
use crewagent_engine::model::Model;
use crewagent_engine::runtime::Run;
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{RunRecord, Store};
use crewagent_format::package::Package;

pub(crate) use self::prompt::{HISTORY, RunPrompt, open_prompt};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, WARNING};
use crate::render::names::DisplayNames;
use crate::render::run::{EventSource, Screen};
use crate::render::summary::{self, RunEnding};
use crate::resume_hint::ResumeHint;
use crate::terminal;
use crate::terminal::Quiet;
use crate::terminal::live_view::LiveView;
use crate::terminal::spinner::Spinner;

/// The source of answers after the inputs of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerSource {
    /// The user at the terminal.
    User,
    /// None: the run is left waiting.
    None,
}

/// The format of events.
#[derive(Debug)]
pub(crate) enum RunOutput {
    Human(Box<LiveView>),
    /// One JSON object a line.
    Json,
}

/// The suggestion at the end of a complete run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Farewell {
    /// Continue the run.
    Resume,
    /// Look at the result, and create a package.
    Tour,
}

/// A run that one command drives.
pub(crate) struct RunDriver {
    pub(crate) run: Run,
    /// Words of the user for the first request.
    pub(crate) opening: Option<String>,
    pub(crate) model: Box<dyn Model>,
    pub(crate) control: Control,
    pub(crate) inputs: VecDeque<String>,
    pub(crate) answers: AnswerSource,
    /// The prompt, if stdin and stdout are a terminal.
    pub(crate) prompt: Option<RunPrompt>,
    pub(crate) output: RunOutput,
    pub(crate) resume_hint: ResumeHint,
    pub(crate) farewell: Farewell,
}

/// The next step at a rest.
enum NextStep {
    Say(String),
    End,
    Interrupted,
}

impl RunDriver {
    /// Drives the run until there is no more input.
    pub(crate) fn drive_to_end(mut self, console: &mut Console) -> anyhow::Result<Outcome> {
        let began = Instant::now();
        let mut cost_warning = CostWarning::of(self.run.settings());
        for event in self.run.opening() {
            self.output.show_event(event, &self.control, console);
        }
        if let Some(words) = self.opening.take()
            && let Err(halt) = self.say(&words, console)
        {
            return Ok(self.halted(halt, console));
        }
        loop {
            let rest = match self.drive(&mut cost_warning, console) {
                Ok(rest) => rest,
                Err(halt) => return Ok(self.halted(halt, console)),
            };
            let outcome = match self.next(&rest, console)? {
                NextStep::Say(words) => match self.say(&words, console) {
                    Ok(()) => continue,
                    Err(halt) => return Ok(self.halted(halt, console)),
                },
                NextStep::End => Outcome::of_rest(rest.phase, rest.reason),
                NextStep::Interrupted => Outcome::Cancelled,
            };
            if let Err(halt) = self.finish(&rest, console) {
                return Ok(self.halted(halt, console));
            }
            self.ending(&rest, began, console);
            return Ok(outcome);
        }
    }

    fn drive(
        &mut self,
        cost_warning: &mut CostWarning,
        console: &mut Console,
    ) -> Result<Rest, Halt> {
        let Self { run, model, control, output, .. } = self;
        let _quiet = output.hide_keys();
        run.drive(&**model, control, &mut |event| {
            output.show_event(event, control, console);
            cost_warning.check(event, console);
        })
    }

    fn say(&mut self, words: &str, console: &mut Console) -> Result<(), Halt> {
        let Self { run, control, output, .. } = self;
        run.say(words, &mut |event| output.show_event(event, control, console))
    }

    fn finish(&mut self, rest: &Rest, console: &mut Console) -> Result<(), Halt> {
        let Self { run, control, output, .. } = self;
        run.finish(rest, &mut |event| output.show_event(event, control, console))
    }

    /// Returns the next input, if the run accepts one and there is one.
    fn next(&mut self, rest: &Rest, console: &mut Console) -> anyhow::Result<NextStep> {
        if self.control.request() != ControlRequest::Run || rest.phase == Phase::Paused {
            // A completed run stays completed, even if Ctrl-C came with its last reply.
            let is_over = rest.phase == Phase::Completed;
            return Ok(if is_over { NextStep::End } else { NextStep::Interrupted });
        }
        let listens = match Outcome::of_rest(rest.phase, rest.reason) {
            Outcome::Waiting | Outcome::Done => true,
            Outcome::Limited
            | Outcome::Invalid
            | Outcome::ModelFailed
            | Outcome::Failed
            | Outcome::Cancelled => false,
        };
        if !listens {
            return Ok(NextStep::End);
        }
        if let Some(words) = self.inputs.pop_front() {
            return Ok(NextStep::Say(words));
        }
        if rest.phase == Phase::Completed || self.answers == AnswerSource::None {
            return Ok(NextStep::End);
        }
        self.output.pause(console);
        let next = self.ask(rest, console)?;
        if let (NextStep::Say(_), RunOutput::Human(view)) = (&next, &mut self.output) {
            view.screen.suppress_echo();
        }
        Ok(next)
    }

    /// Prints the last lines: the result and how to continue.
    fn ending(&self, rest: &Rest, began: Instant, console: &mut Console) {
        let (turns, usage) = self.run.spent();
        let run_state = self.run.run_state();
        let next = self.advice(rest);
        let ending = RunEnding {
            phase: rest.phase,
            reason: rest.reason,
            node: Some(run_state.current_node_id.as_str()).filter(|_| !run_state.complete),
            spent: summary::spent(turns, &usage, Some(began.elapsed())),
            project: self.run.project_folder(),
            artifacts: &self.run.artifacts(),
            next: (&next.0, next.1),
        };
        match self.output {
            RunOutput::Human(_) => console.text(&summary::ending(&ending)),
            RunOutput::Json => console.error(summary::next(ending.next.0, &ending.next.1).trim()),
        }
    }

    /// Returns a hint and the commands for it.
    fn advice(&self, rest: &Rest) -> (String, Vec<String>) {
        let (id, resume_hint) = (self.run.id(), &self.resume_hint);
        if let Some(reason) = rest.reason.filter(|_| rest.phase == Phase::WaitingUser)
            && let Some(words) = summary::room(reason, &self.run.settings().limits)
        {
            return (words, vec![resume_hint.resume(id)]);
        }
        let (words, commands) = self.common_advice(rest);
        (words.to_owned(), commands)
    }

    fn common_advice(&self, rest: &Rest) -> (&'static str, Vec<String>) {
        let (id, resume_hint) = (self.run.id(), &self.resume_hint);
        match (rest.phase, rest.reason) {
            (Phase::Completed, _) if self.farewell == Farewell::Tour => (
                text!(
                    "Look at what happened, or make a package of your own:",
                    "看看发生了什么，或做一个自己的包："
                ),
                vec![
                    resume_hint.command(&format!("runs show {id}")),
                    resume_hint.command(&format!("runs logs {id}")),
                    "crewagent package new my-workflow".to_owned(),
                ],
            ),
            (Phase::Completed, _) => (
                text!("To change something, say what:", "要修改什么，直接说："),
                vec![resume_hint.answer(id, text!("what to change", "要修改的内容"))],
            ),
            (Phase::WaitingUser, Some(Reason::Question)) => {
                let is_approval = |question: &Question| question.approval.is_some();
                let answer = match rest.question.as_ref().is_some_and(is_approval) {
                    true => text!("once, run, or deny: why", "once、run，或 deny: 原因"),
                    false => text!("your answer", "你的回答"),
                };
                (
                    text!("Go on with your answer:", "用你的回答继续："),
                    vec![resume_hint.answer(id, answer)],
                )
            }
            (Phase::WaitingUser, _) => (
                text!("Go on by telling it what to do:", "告诉它接下来做什么："),
                vec![resume_hint.answer(id, text!("your words", "你的话"))],
            ),
            (Phase::Running | Phase::Paused | Phase::Failed, _) => (
                text!("Nothing is lost. Go on with:", "没有内容丢失。继续："),
                vec![resume_hint.resume(id)],
            ),
        }
    }

    /// Reports a halt: the run cannot continue now.
    fn halted(&mut self, halt: Halt, console: &mut Console) -> Outcome {
        let rest = Rest {
            phase: Phase::Failed,
            reason: Some(halt.reason()),
            message: Some(halt.to_string()),
            question: None,
        };
        // The disk may be the cause; then the end is shown and not stored.
        let _ = self.finish(&rest, console);
        self.output.pause(console);
        let outcome = Outcome::of_error(&halt.into(), console);
        let (words, commands) = self.advice(&rest);
        console.error(summary::next(&words, &commands).trim_end());
        outcome
    }
}

/// Prints one event as JSON.
pub(crate) fn print_json(event: &Event, console: &mut Console) {
    match serde_json::to_string(event) {
        Ok(line) => console.line(paint::escaped(&line)),
        Err(error) => console
            .error(say!("error: an event is not JSON: {error}", "错误：事件不是 JSON：{error}")),
    }
}

impl RunOutput {
    /// Shows an event. Pauses the run when standard output is closed.
    fn show_event(&mut self, event: &Event, control: &Control, console: &mut Console) {
        match self {
            Self::Human(view) => view.event(event, console),
            Self::Json => print_json(event, console),
        }
        console.show();
        if console.is_gone() {
            control.pause();
        }
    }

    /// Ends the current text before something is printed that is not an event.
    fn pause(&mut self, console: &mut Console) {
        if let Self::Human(view) = self {
            view.end_text(console);
            console.line("");
        }
        console.show();
    }

    /// Hides typed keys while the run works.
    fn hide_keys(&self) -> Option<Quiet> {
        match self {
            Self::Human(view) => view.hide_keys(),
            Self::Json => None,
        }
    }
}

/// Warns once that a cost limit cannot be enforced, because the model reports no price.
pub(crate) struct CostWarning {
    watch: WatchSwitch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchSwitch {
    /// There is a limit, and the warning was not printed yet.
    On,
    Off,
}

impl CostWarning {
    pub(crate) fn of(settings: &RunSettings) -> Self {
        let watch = if settings.limits.cost.is_some() { WatchSwitch::On } else { WatchSwitch::Off };
        Self { watch }
    }

    /// Prints the warning, once.
    pub(crate) fn check(&mut self, event: &Event, console: &mut Console) {
        let EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) = &event.kind
        else {
            return;
        };
        let is_unknown = reply.usage.tokens() > 0 && reply.usage.cost.is_none();
        if self.watch == WatchSwitch::Off || !is_unknown {
            return;
        }
        self.watch = WatchSwitch::Off;
        let words = text!(
            "the price of this model is not known, so --max-cost cannot stop the run; say what it costs with `crewagent models add NAME --price IN,OUT`, or set --max-tokens N",
            "不知道这个模型的价格，--max-cost 无法让运行停下；请用 `crewagent models add NAME --price IN,OUT` 给出价格，或设置 --max-tokens N"
        );
        console
            .error(format_args!("{} {words}", paint::styled(WARNING, text!("warning:", "警告:"))));
    }
}

/// Returns the package of a run, if it is still in the store and valid.
pub(crate) fn package_of(record: &RunRecord, store: &Store) -> Option<Arc<Package>> {
    let installed = store.runs().package(record).ok()??;
    store.packages().load(&installed).ok()
}

/// Returns the display names of a run, as far as its package has them.
pub(crate) fn names_of(record: &RunRecord, package: Option<&Package>) -> DisplayNames {
    let document = record.subject.workflow().map(|workflow| workflow.document.as_str());
    let workflow = package.and_then(|package| {
        let mut workflows = package.workflows().iter();
        workflows.find(|workflow| Some(workflow.document_path.as_str()) == document)
    });
    match (package, workflow) {
        (Some(package), Some(workflow)) => DisplayNames::new(package, workflow),
        (_, _) => DisplayNames::default(),
    }
}

/// Creates the view of a driven run: live if standard output is a terminal.
pub(crate) fn live_view(
    run: &Run,
    names: DisplayNames,
    spinner: Spinner,
    store: &Store,
    model: &str,
) -> Box<LiveView> {
    let run_state = run.run_state().clone();
    let agent = run.record().subject.agent_id().unwrap_or_default();
    let screen = Screen::new(EventSource::Live, paint::text_width(), names, run_state, agent)
        .inside(run.callers());
    let view = terminal::is_live().then(|| store.runs().look(&run.record().run_id));
    Box::new(match view {
        Some(Ok(view)) => LiveView::live(screen, spinner, run.project_folder(), view.blobs, model),
        Some(Err(_)) | None => LiveView::plain(screen),
    })
}
