//! The catalogue of tools, and the parts of tools that need no disk.

pub mod overwriting;
pub mod render;
pub mod server_tool;
pub mod text_patch;
pub mod window;

use serde::Serialize;
use serde_json::Value as Json;

/// Tool as described to a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Canonical name, such as `fs.read`.
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Json,
}

/// Tool of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    Read,
    List,
    Search,
    Write,
    /// `fs.apply_patch`.
    Patch,
    /// `fs.move`.
    Move,
    /// `fs.delete`.
    Delete,
    /// `ui.ask_user`.
    AskUser,
    /// `ui.gate`: shows the work of a node to the user, who decides how it continues.
    Gate,
    /// `runtime.complete_node`: finishes a node.
    CompleteNode,
    /// `runtime.update_state`: sets variables without leaving the node; understood, not offered.
    UpdateState,
}

/// Entry of the catalogue.
struct ToolEntry {
    name: &'static str,
    wire_name: &'static str,
    is_write: bool,
    /// Documented parameters, the required ones first.
    parameters: &'static [&'static str],
    /// Shortest valid arguments.
    example: &'static str,
}

/// The catalogue, in the order of [`Tool`].
const CATALOGUE: [ToolEntry; 11] = [
    ToolEntry {
        name: "fs.read",
        wire_name: "fs_read",
        is_write: false,
        parameters: &["path", "startLine", "endLine"],
        example: r#"{"path":"@project/README.md"}"#,
    },
    ToolEntry {
        name: "fs.list",
        wire_name: "fs_list",
        is_write: false,
        parameters: &["path", "depth"],
        example: r#"{"path":"@project"}"#,
    },
    ToolEntry {
        name: "fs.search",
        wire_name: "fs_search",
        is_write: false,
        parameters: &[
            "query",
            "path",
            "globs",
            "regex",
            "caseSensitive",
            "before",
            "after",
            "maxMatches",
        ],
        example: r#"{"query":"login","path":"@project"}"#,
    },
    ToolEntry {
        name: "fs.write",
        wire_name: "fs_write",
        is_write: true,
        parameters: &["path", "content", "mode", "ifMatchSha256"],
        example: r##"{"path":"@project/artifacts/notes.md","content":"# Notes\n"}"##,
    },
    ToolEntry {
        name: "fs.apply_patch",
        wire_name: "fs_apply_patch",
        is_write: true,
        parameters: &["path", "operation", "update", "edits", "diff", "ifMatchSha256"],
        example: r#"{"path":"@project/artifacts/notes.md","edits":[{"old":"draft","new":"final"}]}"#,
    },
    ToolEntry {
        name: "fs.move",
        wire_name: "fs_move",
        is_write: true,
        parameters: &["path", "to", "ifMatchSha256"],
        example: r#"{"path":"@project/artifacts/draft.md","to":"@project/artifacts/final.md"}"#,
    },
    ToolEntry {
        name: "fs.delete",
        wire_name: "fs_delete",
        is_write: true,
        parameters: &["path", "ifMatchSha256"],
        example: r#"{"path":"@project/artifacts/draft.md"}"#,
    },
    ToolEntry {
        name: "ui.ask_user",
        wire_name: "ui_ask_user",
        is_write: false,
        parameters: &["question", "options", "fields", "kind", "multi", "schema"],
        example: r#"{"question":"Which topic?"}"#,
    },
    ToolEntry {
        name: "ui.gate",
        wire_name: "ui_gate",
        is_write: false,
        parameters: &["drafts", "note", "variables", "draft", "choose", "reason"],
        example: r#"{"drafts":["vision"],"note":"The vision is ready."}"#,
    },
    ToolEntry {
        name: "runtime.complete_node",
        wire_name: "complete_node",
        is_write: true,
        parameters: &[
            "variables",
            "files",
            "next",
            "reason",
            "nodeId",
            "node",
            "decision",
            "artifacts",
            "keep",
        ],
        example: r##"{"variables":{"topic":"x"},"files":[{"path":"artifacts/notes.md","content":"# Notes\n"}]}"##,
    },
    ToolEntry {
        name: "runtime.update_state",
        wire_name: "runtime_update_state",
        is_write: true,
        parameters: &["variables", "artifacts"],
        example: r#"{"variables":{"topic":"x"}}"#,
    },
];

/// Names of our tools in other programs.
const ALIASES: [(&str, Tool); 13] = [
    ("read_file", Tool::Read),
    ("write_file", Tool::Write),
    ("create_file", Tool::Write),
    ("list_dir", Tool::List),
    ("ls", Tool::List),
    ("grep", Tool::Search),
    ("search_files", Tool::Search),
    ("edit_file", Tool::Patch),
    ("str_replace", Tool::Patch),
    ("ask_user", Tool::AskUser),
    ("finish_node", Tool::CompleteNode),
    ("next_step", Tool::CompleteNode),
    ("complete_step", Tool::CompleteNode),
];
/// Prefix that some models put before every name.
const PREFIX: &str = "functions.";

impl Tool {
    /// All tools, in the order in which models see them.
    pub const ALL: [Self; 11] = [
        Self::Read,
        Self::List,
        Self::Search,
        Self::Write,
        Self::Patch,
        Self::Move,
        Self::Delete,
        Self::AskUser,
        Self::Gate,
        Self::CompleteNode,
        Self::UpdateState,
    ];

    fn entry(self) -> &'static ToolEntry {
        &CATALOGUE[self as usize]
    }

    /// Finds the tool of this name, canonical (`fs.read`) or in wire form (`fs_read`).
    pub fn named(name: &str) -> Option<Self> {
        let found =
            Self::ALL.into_iter().find(|tool| tool.name() == name || tool.wire_name() == name);
        // The wire name follows from the canonical one for all tools but this.
        found.or_else(|| (name == "runtime_complete_node").then_some(Self::CompleteNode))
    }

    /// Finds the tool that a model means: by a name of its own, or by one that other programs use. If `is_taken` says
    /// that a tool of a server has that name, it is ambiguous and means none.
    pub fn resolve(name: &str, is_taken: impl Fn(&str) -> bool) -> Option<Self> {
        let name = without_prefix(name);
        Self::named(name).or_else(|| Self::alias(name).filter(|_| !is_taken(name)))
    }

    /// Finds the tool that other programs call by this name.
    pub(crate) fn alias(name: &str) -> Option<Self> {
        ALIASES.into_iter().find(|(alias, _)| *alias == name).map(|(_, tool)| tool)
    }

    /// Returns the canonical name.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the name for providers that take no dot.
    pub fn wire_name(self) -> &'static str {
        self.entry().wire_name
    }

    /// Returns true if the tool changes files.
    pub fn is_write(self) -> bool {
        self.entry().is_write
    }

    /// Returns the documented parameters, the required ones first.
    pub fn parameters(self) -> &'static [&'static str] {
        self.entry().parameters
    }

    /// Returns the shortest valid arguments.
    pub fn example(self) -> &'static str {
        self.entry().example
    }
}

/// Returns a name without blanks around it and without the prefix that some models put before it.
pub(crate) fn without_prefix(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// Returns the canonical name of a tool, in either spelling.
pub fn canonical(name: &str) -> Option<&'static str> {
    Tool::named(name).map(Tool::name)
}
