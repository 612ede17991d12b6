//! The menu of an agent, behind its persona in a conversation: an agent knows what it can be asked for.

use crewagent_format::package::agents::{Agent, Surface};

use super::line::{folded, value};
use crate::menu::{self, Work};

/// Maximum size of the layer, in bytes.
pub const MENU_MAX_BYTES: usize = 2 * 1024;

/// Maximum size of a word, in bytes.
const WORD_BYTES: usize = 64;
/// Maximum size of a description, in bytes.
const DESCRIPTION_BYTES: usize = 256;

const OPENING: &str = "Menu. The user starts an item by typing its number or word; you cannot start one. When the user wants what an item does, name it instead of doing it yourself.";

/// Renders the visible items; none if there is none. Items of the program itself, such as the one that shows the menu, are
/// left out.
pub fn menu(agent: &Agent) -> Option<String> {
    let mut text = OPENING.to_owned();
    let mut left_out = 0_usize;
    for (line, work) in menu::items_of(agent, Surface::Ide) {
        let Some(kind) = kind(&work) else { continue };
        let word = line.trigger.as_deref().map(|word| format!("{}: ", value(word, WORD_BYTES)));
        let description = folded(&line.description, DESCRIPTION_BYTES);
        let row = format!("\n{}. {}{description} ({kind})", line.number, word.unwrap_or_default());
        if left_out > 0 || text.len() + row.len() > MENU_MAX_BYTES - 32 {
            left_out += 1;
        } else {
            text.push_str(&row);
        }
    }
    if left_out > 0 {
        text.push_str(&format!("\n… and {left_out} more"));
    }
    (text.len() > OPENING.len()).then_some(text)
}

/// Says who does the work of an item; none for the program itself.
fn kind(work: &Work) -> Option<&'static str> {
    match work {
        Work::Workflow(_) => Some("starts a workflow"),
        Work::Exec(path) if path.ends_with("workflow.md") => Some("starts a workflow"),
        Work::Exec(_) => Some("you do it"),
        Work::Action(action) => match action.as_str() {
            "menu.show" | "agent.dismiss" | "run.resume" => None,
            _ => Some("you do it"),
        },
    }
}
