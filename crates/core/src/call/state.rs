//! The arguments of `runtime.complete_node` and `runtime.update_state`.

use serde_json::{Map, Value as Json, json};

use super::params::{Params, Problems};
use super::{StateCall, Tool};
use crate::state::complete::{BranchChoice, NodeCompletion};
use crate::state::document::STATE_FILE;
use crate::state::patch::StateUpdate;
use crate::vpath::{VPath, WritablePath};

pub(super) fn complete_node(
    arguments: &Map<String, Json>,
    problems: &mut Problems,
) -> Option<StateCall> {
    let params = Params::open(arguments, Tool::CompleteNode.parameters(), problems);
    let node = params.required_text("nodeId", problems);
    let next = params.text("next", problems).filter(|next| !next.trim().is_empty());
    let decision = decision(&params, problems);
    let update = update(&params, problems)?;
    let completion = NodeCompletion {
        node: node?.trim().to_owned(),
        next: next.map(|next| next.trim().to_owned()),
        decision,
    };
    Some(StateCall { path: state(problems)?, completion: Some(completion), update })
}

pub(super) fn update_state(
    arguments: &Map<String, Json>,
    problems: &mut Problems,
) -> Option<StateCall> {
    let params = Params::open(arguments, Tool::UpdateState.parameters(), problems);
    let update = update(&params, problems)?;
    if update == StateUpdate::default() {
        problems.mistake("neither `variables` nor `artifacts` is given");
    }
    Some(StateCall { path: state(problems)?, completion: None, update })
}

/// Reads the variables and the artifacts like those of `updateFrontmatter`.
fn update(params: &Params<'_>, problems: &mut Problems) -> Option<StateUpdate> {
    let mut update = Map::new();
    if let Some(variables) = params.structure("variables") {
        update.insert("variables".to_owned(), json!({ "set": variables }));
    }
    if let Some(artifacts) = params.structure("artifacts") {
        update.insert("artifacts".to_owned(), json!({ "append": artifacts }));
    }
    if update.is_empty() {
        return Some(StateUpdate::default());
    }
    problems.take(StateUpdate::parse(&Json::Object(update)))
}

fn decision(params: &Params<'_>, problems: &mut Problems) -> Option<BranchChoice> {
    let decision = params.structure("decision")?;
    let text = |key: &str| decision.get(key).and_then(Json::as_str).map(str::to_owned);
    let label = text("label").filter(|label| !label.trim().is_empty());
    if label.is_none() {
        problems.mistake("`decision` must be an object with `label` and `reason`");
    }
    Some(BranchChoice { label: label?, reason: text("reason") })
}

fn state(problems: &mut Problems) -> Option<WritablePath> {
    problems.take(VPath::parse(STATE_FILE).and_then(WritablePath::new))
}
