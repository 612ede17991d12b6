//! Shows a conversation beside its events: the header, the menu, help and status.

use crewagent_engine::conversation::{COMMANDS, Mode, Reaction};
use crewagent_format::package::agents::Agent;

use super::{ConversationDriver, ConversationOutput};
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, ACCENT, ERROR, NAME, QUIET};
use crate::render::{menu, summary};

const NO_RUN: &str = "There is no run in this conversation to do that with.";

impl ConversationDriver<'_> {
    /// Prints the header: the agent, and what can be asked.
    pub(super) fn greet(&self, console: &mut Console) {
        if matches!(self.output, ConversationOutput::Json) {
            return;
        }
        let project = self.conversation.own_run().project_folder().display().to_string();
        match self.conversation.agent() {
            Some(agent) => console.text(&menu::greeting(agent, &self.conversation.menu())),
            None => console.line(paint::styled(ACCENT, "Chat")),
        }
        let words = format!("\nProject {}. /help shows what works.", paint::printable(&project));
        console.line(paint::styled(QUIET, words));
        if let Some(run) = self.conversation.run() {
            let words = format!("Your words go to the run {}; /menu leaves it.", run.id());
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
            if let Reaction::Refused { error } = reaction {
                console.error(format_args!("error: {} {}", error.message, error.hint));
            } else if matches!(reaction, Reaction::NoRun) {
                console.error(format_args!("error: {NO_RUN}"));
            }
            return;
        }
        if matches!(reaction, Reaction::Work | Reaction::Nothing) {
            return;
        }
        self.output.end_text(console);
        match reaction {
            Reaction::Work | Reaction::Nothing => {}
            Reaction::Started { run_id } => {
                let words =
                    format!("run {run_id}: your words go to it; /menu leaves it where it is");
                console.line(paint::styled(QUIET, words));
            }
            Reaction::Resumed { run_id } => {
                console.line(paint::styled(QUIET, format_args!("going on with run {run_id}")));
            }
            Reaction::Menu { lines } => {
                console.text(&menu::lines(lines));
                let hint = "Type a number or a word, or just say what you need.";
                console.line(paint::styled(QUIET, hint));
            }
            Reaction::Agents { agents } if agents.is_empty() => console.line(
                "There is no agent here. `crewagent agent PACKAGE` talks to one of a package.",
            ),
            Reaction::Agents { .. } => {
                let agents = self.conversation.package().map(|package| package.agents());
                console.text(&menu::agents(agents.unwrap_or_default()));
                console.line(paint::styled(QUIET, "/agent NAME talks to one of them."));
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
            Reaction::Dismissed => console
                .line("The agent has left; this is plain chat now. /agent NAME brings one back."),
            Reaction::Left { run_id } => {
                let words = format!("The run {run_id} stays where it is; /resume goes on with it.");
                console.line(words);
            }
            Reaction::NoRun => console.line(NO_RUN),
            Reaction::Help => console.text(&self.help()),
            Reaction::Status => console.text(&self.status()),
        }
        console.show();
    }

    /// Prints the help.
    fn help(&self) -> String {
        let words = match self.conversation.mode() {
            Mode::Chat => "What you type goes to the model, which can read and write the project.",
            Mode::Agent => {
                "Type a number or a word of the menu to start something; anything else is talk."
            }
            Mode::Run => "What you type goes to the run, as an answer or as something to do.",
        };
        let mut text = format!("{words}\n\n");
        if let Some(prompt) = &self.prompt {
            return text + &prompt.help();
        }
        for (name, what) in COMMANDS {
            let name = paint::styled(NAME, paint::padded(name, 12));
            text.push_str(&format!("  {name}  {what}\n"));
        }
        text.push_str("\nCtrl-C pauses the work after the call in hand, twice stops it now; at the prompt it leaves, and so does Ctrl-D.\n");
        text
    }

    /// Prints the position of everything, and the cost.
    fn status(&self) -> String {
        let conversation = self.conversation.own_run();
        let mut rows = vec![("conversation", conversation.id().to_owned())];
        let agent =
            self.conversation.agent().map(|agent: &Agent| crate::render::names::full_name(agent));
        rows.push(("agent", agent.unwrap_or_else(|| "none".to_owned())));
        rows.push(("project", conversation.project_folder().display().to_string()));
        let (turns, usage) = conversation.spent();
        rows.push(("talk", summary::spent(turns, &usage, None)));
        if let Some(run) = self.conversation.run() {
            let run_state = run.run_state();
            let place = match run_state.complete {
                true => "complete".to_owned(),
                false => {
                    let callers = run.callers().iter();
                    let way: String =
                        callers.map(|caller| format!("{} › ", caller.frame.workflow_id)).collect();
                    format!("at {way}{}", run_state.current_node_id)
                }
            };
            let (turns, usage) = run.spent();
            rows.push(("run", format!("{}, {place}", run.id())));
            rows.push(("spent", summary::spent(turns, &usage, None)));
        }
        let row = |(name, value): (&str, String)| {
            let name = paint::styled(QUIET, paint::padded(name, 12));
            format!("  {name}  {}\n", paint::printable(&value))
        };
        rows.into_iter().map(row).collect()
    }
}
