//! Plans of workflows: what the shapes read, before ids are settled and a package is written.
//!
//! Paths in a plan are those of the source. References between workflows are paths of files, because ids are known only
//! when all workflows are.

use std::collections::BTreeMap;

use crewagent_format::package::graph::NodeKind;
use serde_json::Value as Json;

/// A workflow that was read.
#[derive(Clone, Debug)]
pub(crate) struct WorkflowPlan {
    /// Name as the source writes it. The writer makes a unique id of it.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    /// Code of its module.
    pub(crate) module: Option<String>,
    /// Entry file.
    pub(crate) entry: SourceRef,
    /// Body of the entry, verbatim.
    pub(crate) brief: String,
    pub(crate) bindings: BTreeMap<String, String>,
    /// The first node is the entry node.
    pub(crate) nodes: Vec<NodePlan>,
    pub(crate) edges: Vec<EdgePlan>,
    pub(crate) mirror: Option<MirrorPlan>,
    /// Data files: name → path in the source.
    pub(crate) files: BTreeMap<String, String>,
}

/// A node that was read.
#[derive(Clone, Debug)]
pub(crate) struct NodePlan {
    /// Id that fits the pattern of ids; unique in its workflow.
    pub(crate) id: String,
    pub(crate) kind: NodeKind,
    pub(crate) title: String,
    /// One line.
    pub(crate) goal: String,
    /// `None` for a synthetic node.
    pub(crate) source: Option<SourceRef>,
    /// Text of the source, verbatim.
    pub(crate) body: String,
    pub(crate) bindings: BTreeMap<String, String>,
    pub(crate) gate: Option<GatePlan>,
    pub(crate) waits_for_user: bool,
    pub(crate) auto: bool,
    pub(crate) resume_only: bool,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) sets_variables: Vec<String>,
    /// Files of the source that the node calls as workflows.
    pub(crate) calls: Vec<String>,
    pub(crate) needs: Vec<NodeNeed>,
    pub(crate) mirror_value: Option<Json>,
}

/// Ability that a step asks for and the runtime does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodeNeed {
    Subagent,
    Web,
    Shell,
    Git,
    Script,
    Browser,
}

impl NodeNeed {
    /// Returns the word in a step's frontmatter.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Subagent => "subagent",
            Self::Web => "web",
            Self::Shell => "shell",
            Self::Git => "git",
            Self::Script => "script",
            Self::Browser => "browser",
        }
    }
}

/// Menu of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatePlan {
    pub(crate) options: Vec<OptionPlan>,
    pub(crate) commit: Vec<CommitPlan>,
}

/// Option of a menu.
#[derive(Clone, Debug)]
pub(crate) struct OptionPlan {
    pub(crate) key: String,
    pub(crate) label: String,
    pub(crate) does: OptionEffect,
    /// The option's handling, verbatim.
    pub(crate) text: Option<String>,
    /// Line of the source that says what the option does.
    pub(crate) at: SourceRef,
}

/// Effect of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OptionEffect {
    /// Leaves along the edges whose `gate` is the option's key.
    Edge,
    /// Calls the workflow made of this file of the source. The writer turns it into `Stay` if there is none.
    Call(String),
    Stay,
}

/// Place to which a gate saves its draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitPlan {
    /// Path with bindings.
    pub(crate) to: String,
    /// True to replace the file instead of appending to it.
    pub(crate) replace: bool,
}

/// List in the frontmatter of a document that records the steps that are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MirrorPlan {
    /// Path with bindings.
    pub(crate) file: String,
    /// Key of the list, such as `stepsCompleted`.
    pub(crate) key: String,
}

/// An edge that was read.
#[derive(Clone, Debug)]
pub(crate) struct EdgePlan {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) label: String,
    pub(crate) is_default: bool,
    pub(crate) condition_text: Option<String>,
    /// Key of the option that takes it.
    pub(crate) gate: Option<String>,
    pub(crate) evidence: Evidence,
}

/// Reason for an edge.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) class: EvidenceClass,
    pub(crate) at: SourceRef,
}

/// Class of evidence, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EvidenceClass {
    Option,
    Named,
    Literal,
    Declared,
    Order,
    /// A way out of the workflow.
    Exit,
}

impl EvidenceClass {
    /// Returns the word in the report.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Option => "option",
            Self::Named => "named",
            Self::Literal => "literal",
            Self::Declared => "declared",
            Self::Order => "order",
            Self::Exit => "exit",
        }
    }

    /// Returns the confidence in the report.
    pub(crate) fn confidence(self) -> &'static str {
        match self {
            Self::Option | Self::Named | Self::Literal | Self::Exit => "high",
            Self::Declared => "medium",
            Self::Order => "low",
        }
    }
}

/// Lines of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceRef {
    pub(crate) file: String,
    /// First and last line, counted from 1.
    pub(crate) lines: (u32, u32),
}
