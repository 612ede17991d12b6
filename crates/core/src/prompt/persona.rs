//! The third layer: the persona of the effective agent.

use crewagent_format::package::agents::{Agent, Principles};

use super::line::{folded, head, listed};

/// Maximum size of the layer, in bytes.
pub const PERSONA_MAX_BYTES: usize = 32 * 1024;

/// Maximum size of a field of the persona, in bytes.
const FIELD_BYTES: usize = 4 * 1024;
/// Maximum size of the name and of the title, in bytes.
const NAME_BYTES: usize = 256;
/// Maximum size of a list of the persona, in bytes.
const LIST_BYTES: usize = 8 * 1024;
/// Note below an agent's prompt that was cut.
const CUT: &str = "\n… (cut by the runtime: this prompt is longer than a persona may be)";

/// Returns the agent's own prompt, else a description of its persona.
pub fn persona(agent: &Agent) -> String {
    let own = agent.system_prompt.as_deref().filter(|prompt| !prompt.trim().is_empty());
    own.map_or_else(|| rendered(agent), bounded)
}

fn bounded(prompt: &str) -> String {
    if prompt.len() <= PERSONA_MAX_BYTES {
        return prompt.to_owned();
    }
    format!("{}{CUT}", head(prompt, PERSONA_MAX_BYTES - CUT.len()))
}

fn rendered(agent: &Agent) -> String {
    let persona = &agent.persona;
    let mut text = format!(
        "You are {} ({}).\nRole: {}\nIdentity: {}\nCommunication style: {}\n",
        folded(&agent.metadata.name, NAME_BYTES),
        folded(&agent.metadata.title, NAME_BYTES),
        folded(&persona.role, FIELD_BYTES),
        folded(&persona.identity, FIELD_BYTES),
        folded(&persona.communication_style, FIELD_BYTES),
    );
    match &persona.principles {
        Principles::Text(principles) => bullets(&mut text, "Principles", principles.lines()),
        Principles::List(principles) => {
            bullets(&mut text, "Principles", principles.iter().map(String::as_str));
        }
    }
    bullets(&mut text, "Critical actions", agent.critical_actions.iter().map(String::as_str));
    text.push_str("Stay in character unless the user dismisses the agent.");
    text
}

/// Appends a list with one item per line. Blank items are left out, and an item that has its own dash keeps one.
fn bullets<'t>(text: &mut String, title: &str, items: impl Iterator<Item = &'t str>) {
    let bare = |item: &'t str| item.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let items = items.map(bare).filter(|item| !item.is_empty());
    let listed = listed(items, |item| format!("- {}", folded(item, FIELD_BYTES)), LIST_BYTES);
    if listed.text.is_empty() && listed.left_out == 0 {
        return;
    }
    text.push_str(title);
    text.push_str(":\n");
    text.push_str(&listed.text);
    if listed.left_out > 0 {
        text.push_str(&format!("… and {} more\n", listed.left_out));
    }
}
