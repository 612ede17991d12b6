//! Gates: the menu at which a user decides how a node is left, and what is saved when they do.

use schemars::JsonSchema;
use serde::Serialize;

use super::agents::not_empty;
use super::blank::NonBlank;
use crate::diagnostic::Code;
use crate::id::WorkflowId;
use crate::shape::{self, Object, ShapeReader};
use crate::syntax::Tree;

/// Menu of a node. The user chooses; the runtime does what was chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, deny_unknown_fields)]
pub struct Gate {
    /// The ways that a user has.
    #[schemars(length(min = 1))]
    pub options: Vec<GateOption>,
    /// Files into which the draft goes when an option leads on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub commit: Vec<Commit>,
    /// Parts of a document that are shown and saved one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub sections: Vec<GateSection>,
}

/// One way at a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GateOption {
    /// Text that chooses it, such as `C`.
    #[schemars(length(min = 1))]
    pub key: String,
    /// Name for people.
    #[schemars(length(min = 1))]
    pub label: String,
    /// Effect of the option.
    pub does: OptionAction,
    /// The workflow that is called; required with `call` and only there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<WorkflowId>,
    /// Instructions for the model when the option is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Keys of options of which one must have been chosen before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Vec<NonBlank>")]
    pub after: Vec<String>,
}

/// Effects of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum OptionAction {
    /// Drafts are saved and the node is left along the edge with this key.
    Edge,
    /// Another workflow works on the draft; then the gate is asked again.
    Call,
    /// The model works on and asks again.
    Stay,
    /// The node is left, and no further gate of this workflow asks.
    Yolo,
}

impl OptionAction {
    const WORDS: &[(&str, OptionAction)] = &[
        ("edge", OptionAction::Edge),
        ("call", OptionAction::Call),
        ("stay", OptionAction::Stay),
        ("yolo", OptionAction::Yolo),
    ];

    /// Returns the word of the format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Edge => "edge",
            Self::Call => "call",
            Self::Stay => "stay",
            Self::Yolo => "yolo",
        }
    }
}

/// File into which a draft goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Commit {
    /// Path from the root of the project; it may name bindings and variables in braces.
    #[schemars(length(min = 1))]
    pub to: String,
    /// Place in the file; at its end when absent.
    #[serde(skip_serializing_if = "CommitPlace::is_default")]
    #[schemars(default)]
    pub at: CommitPlace,
}

/// Place of a draft in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum CommitPlace {
    /// At the end.
    #[default]
    Append,
    /// Instead of the whole content.
    Replace,
    /// Where the file has the placeholder of the draft's name.
    Section,
}

impl CommitPlace {
    const WORDS: &[(&str, CommitPlace)] = &[
        ("append", CommitPlace::Append),
        ("replace", CommitPlace::Replace),
        ("section", CommitPlace::Section),
    ];

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::Append
    }
}

/// Part of a document with a draft of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GateSection {
    /// Name of the draft, and of the placeholder in the file.
    #[schemars(length(min = 1))]
    pub id: String,
    /// Path from the root of the project; that of `commit` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NonBlank>")]
    pub to: Option<String>,
    /// Condition in prose; such a section may be left out with a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

impl Gate {
    /// Returns the option with this key.
    pub fn option(&self, key: &str) -> Option<&GateOption> {
        self.options.iter().find(|option| option.key == key)
    }

    pub(super) fn read(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Self> {
        let mut object = Object::open(tree, reader)?;
        let options = object.required("options", reader, |tree, reader| {
            let options = shape::list(tree, reader, option)?;
            not_empty(tree, &options, "an option", reader)?;
            Some(options)
        });
        let commit = object.list("commit", reader, commit);
        let sections = object.list("sections", reader, section);
        object.close(reader);
        Some(Self { options: options?, commit: commit?, sections: sections? })
    }
}

fn option(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<GateOption> {
    let mut object = Object::open(tree, reader)?;
    let key = object.required("key", reader, shape::text);
    let label = object.required("label", reader, shape::text);
    let does = object.required("does", reader, shape::choice(OptionAction::WORDS));
    let call = if does == Some(OptionAction::Call) {
        object.required("call", reader, shape::id(WorkflowId::new)).map(Some)
    } else {
        object.optional("call", reader, |tree, reader| {
            // Without a readable effect nothing is known about the name.
            if does.is_some() {
                reader.report(
                    Code::UnknownKey,
                    tree.span,
                    "an option that does not call a workflow may not have the key `call`",
                    "set `does` to \"call\", or remove `call`",
                );
            }
            None::<WorkflowId>
        })
    };
    let text = object.optional("text", reader, shape::string);
    let after = object.list("after", reader, shape::text);
    object.close(reader);
    Some(GateOption {
        key: key?,
        label: label?,
        does: does?,
        call: call?,
        text: text?,
        after: after?,
    })
}

fn commit(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Commit> {
    let mut object = Object::open(tree, reader)?;
    let to = object.required("to", reader, shape::text);
    let at = object.optional("at", reader, shape::choice(CommitPlace::WORDS));
    object.close(reader);
    Some(Commit { to: to?, at: at?.unwrap_or_default() })
}

fn section(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<GateSection> {
    let mut object = Object::open(tree, reader)?;
    let id = object.required("id", reader, shape::text);
    let to = object.optional("to", reader, shape::text);
    let when = object.optional("when", reader, shape::string);
    object.close(reader);
    Some(GateSection { id: id?, to: to?, when: when? })
}
