//! The arguments of `runtime.complete_node` and `runtime.update_state`.

use crewagent_format::wording::kind;
use serde_json::{Map, Value as Json, json};

use super::files::{COPY_PARAMETERS, copy};
use super::params::{Params, Problems};
use super::{StateCall, Tool, WriteCall, WriteMode};
use crate::state::complete::NodeCompletion;
use crate::state::document::STATE_FILE;
use crate::state::output::is_placeholder;
use crate::state::patch::StateUpdate;
use crate::vpath::{VPath, WritablePath};

/// Largest number of files that one call writes.
const MOST_FILES: usize = 16;

pub(super) fn complete_node(
    arguments: &Map<String, Json>,
    problems: &mut Problems,
) -> Option<StateCall> {
    let params = Params::open(arguments, Tool::CompleteNode.parameters(), problems);
    let node = named(&params, "nodeId", problems).or_else(|| named(&params, "node", problems));
    let next = named(&params, "next", problems);
    let (label, decided) = decision(&params, problems);
    let reason = named(&params, "reason", problems).or(decided);
    let files = files(&params, problems);
    let update = update(&params, problems)?;
    let completion = Some(NodeCompletion { node, next, label, reason, gate: None });
    Some(StateCall { path: state(problems)?, completion, update, files: files? })
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
    Some(StateCall { path: state(problems)?, completion: None, update, files: Vec::new() })
}

/// Reads a name; a blank one counts as absent.
fn named(params: &Params<'_>, key: &str, problems: &mut Problems) -> Option<String> {
    let text = params.text(key, problems).map(str::trim);
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Reads the variables, the artifacts and the files to keep like those of `updateFrontmatter`.
fn update(params: &Params<'_>, problems: &mut Problems) -> Option<StateUpdate> {
    let mut update = Map::new();
    if let Some(variables) = params.structure("variables") {
        update.insert("variables".to_owned(), json!({ "set": variables }));
    }
    if let Some(keep) = params.structure("keep") {
        let keep = keep.into_owned();
        let keep = if keep.is_string() { json!([keep]) } else { keep };
        update.insert("keep".to_owned(), keep);
    }
    if let Some(artifacts) = params.structure("artifacts") {
        update.insert("artifacts".to_owned(), json!({ "append": artifacts }));
    }
    if update.is_empty() {
        return Some(StateUpdate::default());
    }
    problems.take(StateUpdate::parse(&Json::Object(update)))
}

/// Reads label and reason of a decision.
fn decision(params: &Params<'_>, problems: &mut Problems) -> (Option<String>, Option<String>) {
    let Some(decision) = params.structure("decision") else { return (None, None) };
    let text = |key: &str| decision.get(key).and_then(Json::as_str).map(str::to_owned);
    let label = text("label").filter(|label| !label.trim().is_empty());
    if label.is_none() {
        problems.mistake("`decision` must be an object with `label` and `reason`");
    }
    (label, text("reason"))
}

/// Reads the files to write: a list of paths and contents, or an object with a content for each path.
fn files(params: &Params<'_>, problems: &mut Problems) -> Option<Vec<WriteCall>> {
    let Some(files) = params.structure("files") else { return Some(Vec::new()) };
    let listed: Vec<Json> = match files.as_ref() {
        Json::Array(files) => files.clone(),
        Json::Object(files) => {
            let file =
                |(path, content): (&String, &Json)| json!({ "path": path, "content": content });
            files.iter().map(file).collect()
        }
        other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => {
            problems.mistake(format!("`files` must be a list, but it is {}", kind(other)));
            return None;
        }
    };
    if listed.len() > MOST_FILES {
        let many = listed.len();
        problems.mistake(format!("`files` has {many} files; one call writes at most {MOST_FILES}"));
        return None;
    }
    let read = listed.iter().enumerate().map(|(at, value)| file(value, at, problems));
    read.collect::<Vec<_>>().into_iter().collect()
}

fn file(value: &Json, at: usize, problems: &mut Problems) -> Option<WriteCall> {
    let known = [&["path", "content"][..], &COPY_PARAMETERS].concat();
    let params = Params::open_inside(value, &format!("files[{at}]"), &known, problems)?;
    let path = params.writable("path", problems);
    let copy = copy(&params, WriteMode::Overwrite, problems);
    let content = match copy {
        Some(_) => "",
        None => params.required_text("content", problems)?,
    };
    let path = path?;
    if path.path().is_state_document() {
        let name = params.name("path");
        problems.mistake(format!(
            "{name} must be a file of the project; this call changes the state itself"
        ));
        return None;
    }
    if copy.is_none() && is_placeholder(content) {
        let name = params.name("content");
        problems.mistake(format!("{name} is a placeholder; send the text of the file"));
        return None;
    }
    Some(WriteCall {
        path,
        content: content.to_owned(),
        mode: WriteMode::Overwrite,
        if_match: None,
        copies: copy.into_iter().collect(),
    })
}

fn state(problems: &mut Problems) -> Option<WritablePath> {
    problems.take(VPath::parse(STATE_FILE).and_then(WritablePath::new))
}
