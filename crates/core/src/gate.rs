//! Gates: what the user is asked at one, and the change that carries their choice out.
//!
//! A model asks with `ui.gate`; the runtime shows the drafts from disk. An option that leads on becomes one change: the
//! drafts are saved by reference, exactly as they were shown, and the state moves last.

use crewagent_format::integrity::Digest;
use crewagent_format::package::gate::{CommitPlace, Gate, GateOption, OptionAction};
use crewagent_format::package::graph::{Graph, Node};
use crewagent_format::wording::joined;
use serde_json::{Map, Value as Json, json};

use crate::call::{CopyPlace, GateCall, StateCall, TextCopy, WriteCall, WriteMode};
use crate::draft::DraftName;
use crate::event::SavedDraft;
use crate::prompt;
use crate::question::gate::{GateAction, ShownDraft};
use crate::question::{Question, QuestionKind, QuestionOption};
use crate::refusal::{Refusal, RefusalCode};
use crate::state::complete::NodeCompletion;
use crate::state::document::STATE_FILE;
use crate::state::gate_visit::GateVisit;
use crate::state::guard::gates::missing_sections;
use crate::state::output::Output;
use crate::state::project_path::ProjectPath;
use crate::tool::Tool;
use crate::vpath::{VPath, WritablePath};

/// Gate of a node, with the state by which it is judged.
#[derive(Clone, Copy, Debug)]
pub struct GateTerms<'a> {
    pub graph: &'a Graph,
    pub node: &'a Node,
    pub gate: &'a Gate,
    pub visit: &'a GateVisit,
    pub variables: &'a Map<String, Json>,
}

/// Choice of the user that leads on, with the drafts exactly as they were shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateChoice {
    /// Key of the option.
    pub key: String,
    pub label: String,
    pub drafts: Vec<BoundDraft>,
}

/// A draft with the digest of the text that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundDraft {
    pub name: DraftName,
    pub sha256: Digest,
    pub bytes: u64,
}

/// Result of a choice that leads on.
#[derive(Clone, Debug, PartialEq)]
pub struct GateOutcome {
    /// Files that are written, and the move if no section is left.
    pub call: StateCall,
    pub saved: Vec<SavedDraft>,
    /// Sections that the user has not seen yet. As long as there are some, the run stays.
    pub remaining: Vec<String>,
}

impl<'a> GateTerms<'a> {
    /// Returns true if drafts are saved at the gate.
    pub fn saves_drafts(&self) -> bool {
        !self.gate.commit.is_empty() || !self.gate.sections.is_empty()
    }

    /// Returns the options that the user has now.
    pub fn options(&self) -> Vec<QuestionOption> {
        options(self.gate, self.visit)
    }

    /// Returns the option with this key.
    pub fn option(&self, key: &str) -> Option<&'a GateOption> {
        self.gate.option(key)
    }

    /// Returns the question to the user.
    pub fn question(&self, call: &GateCall, mut show: Vec<ShownDraft>) -> Question {
        let title = self.node.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        let title = title.unwrap_or(self.node.id.as_str());
        let standard = || format!("How does \"{title}\" go on?");
        for (at, draft) in show.iter_mut().enumerate() {
            let target = self.target(at, &draft.name, &call.update.variables).ok().flatten();
            draft.to = target.map(|(path, _)| path.to_string());
        }
        Question {
            question: call.note.clone().unwrap_or_else(standard),
            kind: QuestionKind::Gate,
            options: self.options(),
            show,
            ..Question::default()
        }
    }

    /// Returns what the user's choice leads to.
    pub fn outcome(&self, call: &GateCall, choice: &GateChoice) -> Result<GateOutcome, Refusal> {
        let mut files: Vec<WriteCall> = Vec::new();
        let mut saved = Vec::new();
        for (at, draft) in choice.drafts.iter().enumerate() {
            let name = draft.name.as_str();
            let Some((path, place)) = self.target(at, name, &call.update.variables)? else {
                continue;
            };
            let copy = TextCopy {
                from: VPath::parse(&draft.name.path())?,
                if_from: Some(draft.sha256),
                place,
            };
            let target = WritablePath::new(path.vpath().clone())?;
            match files.iter_mut().find(|file| file.path == target) {
                Some(file) => file.copies.push(copy),
                None => files.push(WriteCall {
                    path: target,
                    content: String::new(),
                    mode: WriteMode::Overwrite,
                    if_match: None,
                    copies: vec![copy],
                }),
            }
            saved.push(SavedDraft {
                name: name.to_owned(),
                path: path.to_string(),
                sha256: draft.sha256.to_string(),
                bytes: draft.bytes,
            });
        }
        let is_saved =
            |id: &str| self.visit.saved.contains(id) || saved.iter().any(|saved| saved.name == id);
        let remaining: Vec<String> =
            missing_sections(self.gate, is_saved).map(str::to_owned).collect();
        let reason = call.reason.clone();
        let reason =
            reason.unwrap_or_else(|| format!("the user chose {} {}", choice.key, choice.label));
        let completion = remaining.is_empty().then(|| NodeCompletion {
            reason: Some(reason),
            gate: Some(self.key_of_edge(&choice.key)),
            ..NodeCompletion::default()
        });
        let path = WritablePath::new(VPath::parse(STATE_FILE)?)?;
        let call = StateCall { path, completion, update: call.update.clone(), files };
        Ok(GateOutcome { call, saved, remaining })
    }

    /// Returns the key of the edge that an option takes: its own, else that of the option which leads on.
    fn key_of_edge(&self, key: &str) -> String {
        let has_edge = |key: &str| {
            let mut edges = self.graph.outgoing(self.node.id.as_str());
            edges.any(|edge| edge.gate.as_deref() == Some(key))
        };
        if has_edge(key) {
            return key.to_owned();
        }
        let mut others =
            self.gate.options.iter().filter(|option| option.does == OptionAction::Edge);
        let other = others.find(|option| has_edge(&option.key));
        other.map_or(key, |option| option.key.as_str()).to_owned()
    }

    /// Returns the keys that a choice counts for.
    pub fn keys_of(&self, key: &str) -> Vec<String> {
        let is_yolo = self.option(key).is_some_and(|option| option.does == OptionAction::Yolo);
        let edge = is_yolo.then(|| self.key_of_edge(key)).filter(|edge| edge != key);
        std::iter::once(key.to_owned()).chain(edge).collect()
    }

    /// Returns the file and the place that a draft is saved to; none where the gate saves nothing. A section goes to the
    /// file of its own, the other drafts to the files of the gate in order, and what is left to the last one.
    fn target(
        &self,
        at: usize,
        name: &str,
        set: &Map<String, Json>,
    ) -> Result<Option<(ProjectPath, CopyPlace)>, Refusal> {
        let Gate { commit, sections, .. } = self.gate;
        let section = sections.iter().find(|section| section.id == name);
        let entry = commit.get(at).or(commit.last()).filter(|_| section.is_none());
        let to = match (section, entry) {
            (Some(section), _) => section.to.as_ref().or(commit.first().map(|entry| &entry.to)),
            (None, entry) => entry.map(|entry| &entry.to),
        };
        let Some(to) = to else { return Ok(None) };
        let place = match entry.map(|entry| entry.at) {
            None | Some(CommitPlace::Section) => CopyPlace::Section(name.to_owned()),
            Some(CommitPlace::Append) => CopyPlace::End,
            Some(CommitPlace::Replace) => CopyPlace::Whole,
        };
        let mut variables = self.variables.clone();
        variables.extend(set.clone());
        match Output::of(to, &variables) {
            Output::File(path) => Ok(Some((path, place))),
            Output::Open(why) => {
                Err(unsaved(name, &format!("`{to}` is no name of a file yet: there is {why}"))
                    .hint(format!("Set it in `variables` of {}.", Tool::Gate.wire_name())))
            }
            Output::Pattern(pattern) => {
                Err(unsaved(name, &format!("`{pattern}` names no single file")))
            }
            Output::Outside(why) => Err(unsaved(name, why.trim_end_matches('.'))),
        }
    }

    /// Returns the calls by which a model saves these drafts itself.
    pub fn saving_calls(&self, drafts: &[DraftName]) -> Vec<String> {
        let call = |(at, name): (usize, &DraftName)| {
            let (path, place) = self.target(at, name.as_str(), &Map::new()).ok().flatten()?;
            let section = match &place {
                CopyPlace::Section(section) => Some(section.as_str()),
                CopyPlace::Whole | CopyPlace::End => None,
            };
            Some(prompt::saving_call(name, path.as_str(), section, place == CopyPlace::Whole))
        };
        drafts.iter().enumerate().filter_map(call).collect()
    }

    /// Returns the paths that the gate saves to, as far as they can be named.
    pub fn targets(&self) -> Vec<ProjectPath> {
        let places = 0..self.gate.commit.len();
        let named = places.filter_map(|at| self.target(at, "", &Map::new()).ok().flatten());
        named.map(|(path, _)| path).collect()
    }
}

/// Returns the options of a gate that the user has in a visit: some come only after another one was chosen.
pub fn options(gate: &Gate, visit: &GateVisit) -> Vec<QuestionOption> {
    let is_open = |option: &&GateOption| {
        option.after.is_empty() || option.after.iter().any(|key| visit.chosen.contains(key))
    };
    let shown = |option: &GateOption| QuestionOption {
        value: option.key.clone(),
        label: Some(option.label.clone()),
        description: None,
        does: Some(action(option.does)),
    };
    gate.options.iter().filter(is_open).map(shown).collect()
}

fn action(does: OptionAction) -> GateAction {
    match does {
        OptionAction::Edge => GateAction::Edge,
        OptionAction::Call => GateAction::Call,
        OptionAction::Stay => GateAction::Stay,
        OptionAction::Yolo => GateAction::Yolo,
    }
}

fn unsaved(name: &str, why: &str) -> Refusal {
    let message = format!("The draft `{name}` cannot be saved: {why}.");
    Refusal::new(RefusalCode::Precondition, message)
}

/// Returns the refusal of a gate at a node that has none.
pub fn no_gate(node: Option<&Node>) -> Refusal {
    let at = node.map_or_else(|| "This run".to_owned(), |node| format!("`{}`", node.id));
    Refusal::new(RefusalCode::Precondition, format!("{at} has no gate."))
        .hint("Finish the node with its own call, or ask with ui_ask_user.")
}

/// Returns the refusal of a gate without a draft, at a node that saves one.
pub fn no_draft(terms: &GateTerms<'_>) -> Refusal {
    let paths = joined(terms.targets().iter().map(ToString::to_string));
    let place = if paths.is_empty() { String::new() } else { format!(" in {paths}") };
    let message = format!("This gate saves a draft{place}, and there is none in this visit.");
    Refusal::new(RefusalCode::Precondition, message).hint(
        "Put the text into your reply between a line <draft name=\"x\"> and a line </draft>, and call ui_gate behind it.",
    )
}

/// Returns the refusal of a draft that cannot be shown.
pub fn no_such_draft(name: &DraftName, why: &str) -> Refusal {
    let message = format!("There is no draft `{name}`: {why}.");
    Refusal::new(RefusalCode::NotFound, message).hint(
        "Write it between a line <draft name=\"x\"> and a line </draft>, or with fs_write to @state/drafts/x.md.",
    )
}

/// Returns the answer to a model whose user chose an option that does not lead on. `document` is the text of a workflow
/// that the option calls, as a mount path.
pub fn chosen_answer(option: &GateOption, document: Option<&str>) -> Json {
    let mut answer = json!({ "ok": true, "chosen": option.key, "label": option.label });
    if let Some(text) = option.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        answer["text"] = text.into();
    }
    if let (Some(workflow), Some(document)) = (&option.call, document) {
        answer["workflow"] = workflow.as_str().into();
        answer["document"] = document.into();
    }
    answer
}

/// Returns the answer to a model whose user said something else.
pub fn words_answer(words: &str) -> Json {
    json!({ "ok": true, "chosen": null, "words": words })
}

/// Returns the answer to a choice that was carried out, with what the change itself reports.
pub fn outcome_answer(choice: &GateChoice, outcome: &GateOutcome, change: &Json) -> Json {
    let saved: Vec<Json> = outcome
        .saved
        .iter()
        .map(|saved| json!({ "name": saved.name, "path": saved.path, "bytes": saved.bytes }))
        .collect();
    let mut answer =
        json!({ "ok": true, "chosen": choice.key, "label": choice.label, "committed": saved });
    if !outcome.remaining.is_empty() {
        answer["remaining"] = json!(outcome.remaining);
    }
    for key in ["moved", "complete"] {
        if let Some(value) = change.get(key).filter(|value| !value.is_null()) {
            answer[key] = value.clone();
        }
    }
    answer
}
