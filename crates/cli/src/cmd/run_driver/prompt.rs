//! The prompt of a run and its commands.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use crewagent_core::run::machine::Rest;
use crewagent_engine::runtime::Run;
use crewagent_engine::store::{RunPackage, Store};

use super::{AnswerSource, NextStep, RunDriver, RunOutput};
use crate::ask::{self, TypedInput};
use crate::console::Console;
use crate::language::text;
use crate::outcome::Outcome;
use crate::paint::{self, NAME, QUIET};
use crate::render::run::place_of;
use crate::render::summary;
use crate::terminal::commands::{Commands, PromptCommand};
use crate::terminal::prompt::{CommandPrompt, PromptInput};

/// The history file in the store.
pub(crate) const HISTORY: &str = "history";

pub(crate) type RunPrompt = CommandPrompt<RunCommand>;

/// The action of a command of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunCommand {
    Help,
    Status,
    Last,
    Pause,
    Stop,
}

fn commands() -> [PromptCommand<RunCommand>; 5] {
    [
        row("/help", text!("what works now", "现在可以做什么"), RunCommand::Help),
        row(
            "/status",
            text!("where the run is, and what it took", "运行的位置和用量"),
            RunCommand::Status,
        ),
        row(
            "/last",
            text!("the last call of a tool, in full", "最近一次工具调用的完整内容"),
            RunCommand::Last,
        ),
        row(
            "/pause",
            text!(
                "leaves the run waiting for you, and says how to go on",
                "离开，运行继续等你；并告诉你如何继续"
            ),
            RunCommand::Pause,
        ),
        row(
            "/stop",
            text!("the same, as Ctrl-C does it", "同样离开，相当于 Ctrl-C"),
            RunCommand::Stop,
        ),
    ]
}

fn row(name: &'static str, help: &'static str, action: RunCommand) -> PromptCommand<RunCommand> {
    PromptCommand { name, takes: "", help, action }
}

/// Opens the prompt of a run, if stdin and stdout are a terminal. The store keeps its history.
pub(crate) fn open_prompt(
    answers: AnswerSource,
    run: &Run,
    home: Option<PathBuf>,
) -> anyhow::Result<Option<RunPrompt>> {
    let is_possible = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if answers == AnswerSource::None || !is_possible {
        return Ok(None);
    }
    let history = home.map_or_else(Store::default_home, Ok)?.join(HISTORY);
    let project = Some(run.project_folder().to_owned());
    CommandPrompt::open(Commands::new(commands()), Some(&history), Vec::new(), project).map(Some)
}

impl RunDriver {
    /// Asks the user for the next message to the run.
    pub(super) fn ask(&mut self, rest: &Rest, console: &mut Console) -> anyhow::Result<NextStep> {
        let Some(mut prompt) = self.prompt.take() else {
            return Ok(match ask::text(rest.question.as_ref())? {
                TypedInput::Text(words) => NextStep::Say(words),
                TypedInput::Leave => NextStep::End,
                TypedInput::Interrupt => NextStep::Interrupted,
            });
        };
        let next = loop {
            let command = match prompt.ask(rest.question.as_ref(), console)? {
                PromptInput::Text(words) => break NextStep::Say(words),
                PromptInput::Leave => break NextStep::End,
                PromptInput::Interrupt => break NextStep::Interrupted,
                PromptInput::Command(command, _) => command,
            };
            let text = match command {
                RunCommand::Help => prompt.help(),
                RunCommand::Status => self.status(rest),
                RunCommand::Last => match &self.output {
                    RunOutput::Human(view) => view.last_call(),
                    RunOutput::Json => String::new(),
                },
                RunCommand::Pause => break NextStep::End,
                RunCommand::Stop => break NextStep::Interrupted,
            };
            console.text(&format!("\n{text}\n"));
            console.show();
        };
        self.prompt = Some(prompt);
        Ok(next)
    }

    /// Formats the position and usage of the run.
    fn status(&self, rest: &Rest) -> String {
        let (run_state, record) = (self.run.run_state(), self.run.record());
        let (turns, usage) = self.run.spent();
        let node = &run_state.current_node_id;
        let place = match run_state.complete {
            true => text!("complete", "已完成").to_owned(),
            false => {
                let total = self.run.workflow().map_or(0, |workflow| workflow.graph.nodes().len());
                let callers = self.run.callers().iter();
                let way: String =
                    callers.map(|caller| format!("{} › ", caller.frame.workflow_id)).collect();
                format!("{}/{total} {way}{node}", place_of(node, &run_state.steps_completed))
            }
        };
        let rows = [
            (text!("run", "运行"), self.run.id().to_owned()),
            (
                text!("package", "包"),
                record.subject.package().map(RunPackage::reference).unwrap_or_default(),
            ),
            (
                text!("state", "状态"),
                format!("{:?}", Outcome::of_rest(rest.phase, rest.reason)).to_lowercase(),
            ),
            (text!("node", "节点"), place),
            (text!("model", "模型"), self.model.name().to_owned()),
            (text!("spent", "用量"), summary::spent(turns, &usage, None)),
            (text!("project", "项目"), self.run.project_folder().display().to_string()),
        ];
        let row = |(name, value): &(&str, String)| {
            let name = paint::styled(QUIET, paint::padded(name, 8));
            format!("  {name} {}\n", paint::styled(NAME, paint::printable(value)))
        };
        rows.iter().map(row).collect()
    }
}
