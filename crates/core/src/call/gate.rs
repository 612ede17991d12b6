//! The arguments of `ui.gate`.

use crewagent_format::wording::kind;
use serde_json::{Map, Value as Json, json};

use super::params::{Params, Problems};
use super::{GateCall, Tool};
use crate::draft::DraftName;
use crate::state::patch::StateUpdate;

/// Most drafts that one gate shows.
const MOST_DRAFTS: usize = 16;
/// Maximum size of a note, in bytes.
const MAX_NOTE: usize = 16 * 1024;

pub(super) fn gate(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<GateCall> {
    let params = Params::open(arguments, Tool::Gate.parameters(), problems);
    let text = |key: &str, problems: &mut Problems| {
        let text = params.text(key, problems).map(str::trim).filter(|text| !text.is_empty());
        text.map(str::to_owned)
    };
    let note = text("note", problems);
    if note.as_ref().is_some_and(|note| note.len() > MAX_NOTE) {
        problems.mistake(format!("`note` has more than {MAX_NOTE} bytes"));
    }
    // The user decides, whatever a model would choose.
    text("choose", problems);
    let reason = text("reason", problems);
    let drafts = drafts(&params, problems);
    let update = match params.structure("variables") {
        None => StateUpdate::default(),
        Some(variables) => {
            problems.take(StateUpdate::parse(&json!({ "variables": { "set": variables } })))?
        }
    };
    Some(GateCall { drafts, note, update, reason })
}

/// Reads the names of drafts: a list, or one alone under either key.
fn drafts(params: &Params<'_>, problems: &mut Problems) -> Vec<DraftName> {
    let mut names: Vec<DraftName> = Vec::new();
    for key in ["drafts", "draft"] {
        let items = match params.structure(key).as_deref() {
            None => continue,
            Some(Json::Array(items)) => items.clone(),
            Some(one) => vec![one.clone()],
        };
        for item in items {
            let Some(text) = item.as_str() else {
                let name = params.name(key);
                problems.mistake(format!("{name} must name drafts, but one is {}", kind(&item)));
                continue;
            };
            match DraftName::parse(text) {
                _ if text.trim().is_empty() => {}
                Ok(name) if names.contains(&name) => {}
                Ok(name) => names.push(name),
                Err(why) => problems.mistake(format!("{}: {why}", params.name(key))),
            }
        }
    }
    if names.len() > MOST_DRAFTS {
        problems.mistake(format!("a gate shows at most {MOST_DRAFTS} drafts"));
    }
    names
}
