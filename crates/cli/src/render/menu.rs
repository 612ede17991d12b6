//! Agents and their menus, for people.

use crewagent_core::menu::{Candidate, MenuLine};
use crewagent_core::package::agents::Agent;

use super::names::full_name;
use crate::paint::{self, ACCENT, NAME, QUIET};

/// An agent, and what can be asked of it.
pub(crate) fn greeting(agent: &Agent, menu: &[MenuLine]) -> String {
    let mut text = format!("{}\n", paint::styled(ACCENT, full_name(agent)));
    if let Some(words) = agent.metadata.description.as_deref().map(paint::printable) {
        text.push_str(&format!("{words}\n"));
    }
    text.push('\n');
    text.push_str(&lines(menu));
    text
}

/// The menu, numbered.
pub(crate) fn lines(menu: &[MenuLine]) -> String {
    if menu.is_empty() {
        return "  This agent has no menu; just talk.\n".to_owned();
    }
    let width = menu.len().to_string().len();
    let line = |line: &MenuLine| {
        let number = paint::styled(NAME, format_args!("{:>width$}", line.number));
        let trigger = line.trigger.as_deref().map(paint::printable).unwrap_or_default();
        let trigger = if trigger.is_empty() {
            String::new()
        } else {
            format!("{}  ", paint::styled(ACCENT, trigger))
        };
        format!("  {number}  {trigger}{}\n", paint::printable(&line.description))
    };
    menu.iter().map(line).collect()
}

/// What could be meant, with what to type for each.
pub(crate) fn candidates(reason: &str, candidates: &[Candidate]) -> String {
    let mut text = format!("{}\n", paint::printable(reason));
    for one in candidates {
        let answer = paint::styled(NAME, paint::printable(&one.answer));
        text.push_str(&format!("  {answer}  {}\n", paint::printable(&one.label)));
    }
    text
}

/// The agents of a package, numbered.
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
