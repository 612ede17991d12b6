//! Lines about the gate of a node, and messages about drafts.

use crewagent_format::package::gate::{Commit, CommitPlace, Gate, OptionAction};
use crewagent_format::package::graph::Node;

use super::line::{folded, joined, line, value};
use crate::draft::DraftName;
use crate::event::SavedDraft;
use crate::tool::Tool;
use crate::tool::render::counted;

/// Maximum size of a key, a label or a path, in bytes.
const NAME_BYTES: usize = 512;
/// Maximum size of a list, in bytes.
const LIST_BYTES: usize = 4 * 1024;
/// Maximum size of a reason, in bytes.
const WHY_BYTES: usize = 512;
/// Largest number of saved drafts that are named.
const MOST_SAVED: usize = 10;

/// Renders the lines about the gate of a node; nothing where it has none.
pub(super) fn gate_lines(node: &Node) -> String {
    let mut text = String::new();
    if let Some(gate) = &node.gate {
        let option = |option: &crewagent_format::package::gate::GateOption| {
            format!("{} {}", value(&option.key, NAME_BYTES), line(&option.label, NAME_BYTES))
        };
        let options = joined(gate.options.iter().map(option), ", ", LIST_BYTES);
        text.push_str(&format!("- gate: the user chooses {options}\n"));
        text.push_str(&draft_line(gate));
    }
    if node.waits_for_user {
        text.push_str(
            "- waitsForUser: the user must have said something in this visit before you leave\n",
        );
    }
    text
}

/// Tells how a draft is written, and where it goes.
fn draft_line(gate: &Gate) -> String {
    let place = |Commit { to, at }: &Commit| {
        let how = match at {
            CommitPlace::Append => "at its end",
            CommitPlace::Replace => "as the whole file",
            CommitPlace::Section => "at the placeholder of its name",
        };
        format!("{} ({how})", value(to, NAME_BYTES))
    };
    let sections = gate.sections.iter().map(|section| {
        let when = section.when.as_deref().map(|when| format!(" (if {})", folded(when, WHY_BYTES)));
        format!("{}{}", value(&section.id, NAME_BYTES), when.unwrap_or_default())
    });
    let sections = joined(sections, ", ", LIST_BYTES);
    if gate.commit.is_empty() && sections.is_empty() {
        return String::new();
    }
    let places = joined(gate.commit.iter().map(place), ", then ", LIST_BYTES);
    let keys = gate
        .options
        .iter()
        .filter(|option| matches!(option.does, OptionAction::Edge | OptionAction::Yolo));
    let keys = joined(keys.map(|option| value(&option.key, NAME_BYTES)), ", ", LIST_BYTES);
    let mut text = String::from(
        "- draft: put the text to be saved into your reply, between a line <draft name=\"x\"> and a line </draft>, once and in no call",
    );
    if !places.is_empty() {
        text.push_str(&format!("; {keys} saves it to {places}"));
    }
    if !sections.is_empty() {
        text.push_str(&format!("; sections, each a draft of its name: {sections}"));
    }
    text.push('\n');
    text
}

/// Renders the drafts that the run has saved, the newest ones; nothing if there are none.
pub(super) fn saved_line(saved: &[SavedDraft]) -> String {
    let more = saved.len().saturating_sub(MOST_SAVED);
    let shown = saved.iter().skip(more).map(|saved| {
        let (name, path) = (value(&saved.name, NAME_BYTES), value(&saved.path, NAME_BYTES));
        format!("{name} in {path} ({})", counted(saved.bytes, "byte"))
    });
    let shown = joined(shown, ", ", LIST_BYTES);
    if more > 0 { format!("{shown} and {more} older ones") } else { shown }
}

/// Returns the message to a model some of whose drafts were not written.
pub fn broken_drafts(reasons: &[String]) -> String {
    let reasons = joined(reasons.iter().map(|why| line(why, WHY_BYTES)), "; ", LIST_BYTES);
    format!(
        "No draft was made: {reasons}. A draft stands between a line <draft name=\"x\"> and a line </draft>, each alone on its line. Send it again."
    )
}

/// Returns the message to a model that wrote a draft and did not ask the user about it.
pub fn draft_waits(call: &str) -> String {
    format!("The draft is kept. Show it to the user, and do not write it again: {call}")
}

/// Returns the message to a model whose user typed a choice at a stop point. The calls save the drafts and leave the
/// node.
pub fn typed_choice(key: &str, label: &str, calls: &[String]) -> String {
    let (key, label) = (value(key, NAME_BYTES), line(label, NAME_BYTES));
    format!(
        "The user chose {key} {label}. Go on with these calls, in one reply: {}",
        joined(calls.iter().cloned(), "; ", LIST_BYTES)
    )
}

/// Returns the call that saves a draft.
pub fn saving_call(name: &DraftName, path: &str, section: Option<&str>, is_whole: bool) -> String {
    let mut arguments = serde_json::json!({ "path": path, "from": name.path() });
    match section {
        Some(section) => arguments["section"] = section.into(),
        None if !is_whole => arguments["mode"] = "append".into(),
        None => {}
    }
    super::finishing::written(Tool::Write, &arguments)
}
