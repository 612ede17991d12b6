//! Formats agents and their menus.

use crewagent_core::event::Choice;
use crewagent_core::menu::MenuLine;
use crewagent_format::package::agents::Agent;

use unicode_width::UnicodeWidthStr as _;

use super::names::full_name;
use crate::language::text;
use crate::paint::{self, ACCENT, NAME, QUIET};

/// Maximum width of the column of triggers.
const WIDEST: usize = 24;

/// Formats an agent and its menu.
pub(crate) fn greeting(agent: &Agent, menu: &[MenuLine]) -> String {
    let mut text = format!("{}\n", paint::styled(ACCENT, full_name(agent)));
    if let Some(words) = agent.metadata.description.as_deref().map(paint::printable) {
        text.push_str(&format!("{words}\n"));
    }
    text.push('\n');
    text.push_str(&lines(menu));
    text
}

/// Formats the menu, numbered.
pub(crate) fn lines(menu: &[MenuLine]) -> String {
    if menu.is_empty() {
        return text!(
            "  This agent has no menu; just talk.\n",
            "  这个智能体没有菜单，直接说就行。\n",
        )
        .to_owned();
    }
    let width = menu.len().to_string().len();
    let trigger =
        |line: &MenuLine| line.trigger.as_deref().map(paint::printable).unwrap_or_default();
    let column = menu.iter().map(|line| trigger(line).width()).max().unwrap_or(0).min(WIDEST);
    let line = |line: &MenuLine| {
        let number = paint::styled(NAME, format_args!("{:>width$}", line.number));
        let trigger = paint::styled(ACCENT, paint::padded(&trigger(line), column));
        format!("  {number}  {trigger}  {}\n", paint::printable(&line.description))
    };
    menu.iter().map(line).collect()
}

/// Lists the possible meanings of a message, with the text to type for each.
pub(crate) fn choices(reason: &str, choices: &[Choice]) -> String {
    let mut text = format!("{}\n", paint::printable(reason));
    for one in choices {
        let answer = paint::styled(NAME, paint::printable(&one.answer));
        text.push_str(&format!("  {answer}  {}\n", paint::printable(&one.label)));
    }
    text
}

/// Formats the agents of a package, numbered.
pub(crate) fn agents(agents: &[Agent]) -> String {
    let mut text = String::new();
    for (at, agent) in agents.iter().enumerate() {
        let number = paint::styled(NAME, at + 1);
        let id = paint::styled(QUIET, format_args!("({})", agent.id));
        text.push_str(&format!("  {number}  {} {id}\n", full_name(agent)));
        if let Some(words) = agent.metadata.description.as_deref().map(paint::printable) {
            text.push_str(&format!("     {}\n", paint::styled(QUIET, words)));
        }
    }
    text
}
