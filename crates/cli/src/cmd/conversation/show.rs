//! Shows a conversation beside its events: the header, the menu, help and status.

use crewagent_engine::conversation::{COMMANDS, Mode, Reaction};
use crewagent_format::package::agents::Agent;

use super::{ConversationDriver, ConversationOutput, prompt};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, ACCENT, ERROR, NAME, QUIET};
use crate::render::{menu, summary};

/// Returns the answer to a command for a run that is not there.
fn no_run() -> &'static str {
    text!("There is no run in this conversation to do that with.", "这个对话里没有可供操作的运行。",)
}

/// Prints a refusal beside events in JSON.
fn refusal_aside(reaction: &Reaction, console: &mut Console) {
    if let Reaction::Refused { error } = reaction {
        console.error(say!("error: {} {}", "错误：{} {}", error.message, error.hint));
    } else if matches!(reaction, Reaction::NoRun) {
        console.error(say!("error: {}", "错误：{}", no_run()));
    }
}

impl ConversationDriver<'_> {
    /// Prints the header: the agent, and what can be asked.
    pub(super) fn greet(&self, console: &mut Console) {
        if matches!(self.output, ConversationOutput::Json) {
            return;
        }
        let project = self.conversation.own_run().project_folder().display().to_string();
        match self.conversation.agent() {
            Some(agent) => console.text(&menu::greeting(agent, &self.conversation.menu())),
            None => console.line(paint::styled(ACCENT, text!("Chat", "对话"))),
        }
        let words = say!(
            "\nProject {}. /help shows what works.",
            "\n项目 {}。/help 查看可用的命令。",
            paint::printable(&project)
        );
        console.line(paint::styled(QUIET, words));
        if let Some(run) = self.conversation.run() {
            let words = say!(
                "Your words go to the run {}; /menu leaves it.",
                "你说的话会发给运行 {}；/menu 离开它。",
                run.id()
            );
            console.line(paint::styled(QUIET, words));
        }
        console.show();
    }

    /// Shows the reaction to the user's message.
    pub(super) fn show(&mut self, reaction: &Reaction, console: &mut Console) {
        if matches!(reaction, Reaction::Refused { .. } | Reaction::NoRun) {
            self.outcome = Outcome::Invalid;
        } else if matches!(reaction, Reaction::Clarify { .. }) {
            // The next message makes the choice; until then it stays open.
            self.outcome = Outcome::Waiting;
        }
        if matches!(self.output, ConversationOutput::Json) {
            return refusal_aside(reaction, console);
        }
        if matches!(reaction, Reaction::Work | Reaction::Nothing) {
            return;
        }
        self.output.end_text(console);
        match reaction {
            Reaction::Work | Reaction::Nothing => {}
            Reaction::Started { run_id } => {
                let words = say!(
                    "run {run_id}: your words go to it; /menu leaves it where it is",
                    "运行 {run_id}：你说的话会发给它；/menu 可离开，运行停在原处"
                );
                console.line(paint::styled(QUIET, words));
            }
            Reaction::Resumed { run_id } => {
                console.line(paint::styled(
                    QUIET,
                    say!("going on with run {run_id}", "继续运行 {run_id}"),
                ));
            }
            Reaction::Menu { lines } => {
                console.text(&menu::lines(lines));
                let hint = text!(
                    "Type a number or a word, or just say what you need.",
                    "输入编号或触发词，或直接说明需要。"
                );
                console.line(paint::styled(QUIET, hint));
            }
            Reaction::Agents { agents } if agents.is_empty() => console.line(text!(
                "There is no agent here. `crewagent agent PACKAGE` talks to one of a package.",
                "这里没有智能体。用 `crewagent agent PACKAGE` 与包中的智能体对话。"
            )),
            Reaction::Agents { .. } => {
                let agents = self.conversation.package().map(|package| package.agents());
                console.text(&menu::agents(agents.unwrap_or_default()));
                console.line(paint::styled(
                    QUIET,
                    text!("/agent NAME talks to one of them.", "用 /agent NAME 与其中一个对话。"),
                ));
            }
            Reaction::Clarify { reason, choices } => {
                console.text(&menu::choices(reason, choices));
            }
            Reaction::Refused { error } => {
                let what = paint::printable_lines(&error.message);
                console.line(format_args!("{} {what}", paint::styled(ERROR, "✗")));
                let hint = format!("  {}", paint::printable_lines(&error.hint));
                console.line(paint::styled(QUIET, hint));
            }
            Reaction::Met { .. } => {
                if let Some(agent) = self.conversation.agent() {
                    console.text(&menu::greeting(agent, &self.conversation.menu()));
                }
            }
            Reaction::Dismissed => console.line(text!(
                "The agent has left; this is plain chat now. /agent NAME brings one back.",
                "智能体已离开，现在直接与模型对话。/agent NAME 可再请来一个。"
            )),
            Reaction::Left { run_id } => {
                let words = say!(
                    "The run {run_id} stays where it is; /resume goes on with it.",
                    "运行 {run_id} 停在原处；/resume 继续。"
                );
                console.line(words);
            }
            Reaction::NoRun => console.line(no_run()),
            Reaction::Help => console.text(&self.help()),
            Reaction::Status => console.text(&self.status()),
        }
        console.show();
    }

    /// Prints the help.
    fn help(&self) -> String {
        let words = match self.conversation.mode() {
            Mode::Chat => text!(
                "What you type goes to the model, which can read and write the project.",
                "你输入的内容会发给模型，模型可以读写项目文件。"
            ),
            Mode::Agent => {
                text!(
                    "Type a number or a word of the menu to start something; anything else is talk.",
                    "输入菜单的编号或触发词来启动；其他内容都是对话。"
                )
            }
            Mode::Run => text!(
                "What you type goes to the run, as an answer or as something to do.",
                "你输入的内容会发给运行：作为回答，或作为要做的事。"
            ),
        };
        let mut text = format!("{words}\n\n");
        if let Some(prompt) = &self.prompt {
            return text + &prompt.help();
        }
        for (name, what) in COMMANDS {
            let what = text!(*what, prompt::help_of(name.split(' ').next().unwrap_or_default()));
            let name = paint::styled(NAME, paint::padded(name, 12));
            text.push_str(&format!("  {name}  {what}\n"));
        }
        text.push_str(text!("\nCtrl-C pauses the work after the call in hand, twice stops it now; at the prompt it leaves, and so does Ctrl-D.\n", "\nCtrl-C：当前调用完成后暂停，按两次立即停止；在提示符下按 Ctrl-C 或 Ctrl-D 离开。\n"));
        text
    }

    /// Prints the position of everything, and the cost.
    fn status(&self) -> String {
        let conversation = self.conversation.own_run();
        let mut rows = vec![(text!("conversation", "对话"), conversation.id().to_owned())];
        let agent =
            self.conversation.agent().map(|agent: &Agent| crate::render::names::full_name(agent));
        rows.push((
            text!("agent", "智能体"),
            agent.unwrap_or_else(|| text!("none", "无").to_owned()),
        ));
        rows.push((text!("project", "项目"), conversation.project_folder().display().to_string()));
        let (turns, usage) = conversation.spent();
        rows.push((text!("talk", "对话用量"), summary::spent(turns, &usage, None)));
        if let Some(run) = self.conversation.run() {
            let run_state = run.run_state();
            let place = match run_state.complete {
                true => text!("complete", "已完成").to_owned(),
                false => {
                    let callers = run.callers().iter();
                    let way: String =
                        callers.map(|caller| format!("{} › ", caller.frame.workflow_id)).collect();
                    say!("at {way}{}", "位于 {way}{}", run_state.current_node_id)
                }
            };
            let (turns, usage) = run.spent();
            rows.push((text!("run", "运行"), format!("{}, {place}", run.id())));
            rows.push((text!("spent", "用量"), summary::spent(turns, &usage, None)));
        }
        let row = |(name, value): (&str, String)| {
            let name = paint::styled(QUIET, paint::padded(name, 12));
            format!("  {name}  {}\n", paint::printable(&value))
        };
        rows.into_iter().map(row).collect()
    }
}
