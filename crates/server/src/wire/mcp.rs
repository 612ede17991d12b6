//! MCP servers, and what tools may do.

use crewagent_core::policy::survey::{FolderRule, Limit, Surveyed};
use crewagent_engine::store::ServerState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CheckStep;

/// Configured MCP servers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct McpServers {
    /// By name.
    pub servers: Vec<McpServerItem>,
    /// True if the policy lets runs use servers at all.
    pub policy_enabled: bool,
}

/// Configured MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct McpServerItem {
    /// Name that the user gave it.
    pub name: String,
    /// Availability to runs.
    pub state: ServerState,
    /// Transport.
    pub way: McpTransport,
    /// The same in one line: the command, or the address.
    pub line: String,
    /// Variables that it needs and that are set nowhere.
    pub unset: Vec<String>,
    /// Time limit until it has listed its tools, such as `1m`; 30 seconds when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub startup_timeout: Option<String>,
    /// Time limit of a call; that of the policy when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<String>,
    /// The result of its last test, since the program started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<McpTestResult>,
}

/// The transport of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    tag = "kind",
    rename_all = "lowercase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum McpTransport {
    /// As a program on this computer, over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// Variables beside the few that every server gets.
        #[serde(default)]
        env: Vec<McpValue>,
        /// The folder it is started in; the home folder when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Over streamable HTTP.
    Http {
        /// Address of the server.
        url: String,
        /// Headers of every request.
        #[serde(default)]
        headers: Vec<McpValue>,
    },
}

/// Variable or header of an MCP server. A secret is written and never returned: `${NAME}` stands for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct McpValue {
    /// Its name.
    pub name: String,
    /// Value. None if it is not shown; in a request, none keeps the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// True if a secret is stored for it. Ignored in a request.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub stored: bool,
}

/// MCP server to add, or its new settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SetMcpServer {
    /// Transport.
    pub way: McpTransport,
    /// True if runs may use it; when absent, unchanged, and false for a new one.
    pub enabled: Option<bool>,
    /// Time limit until it has listed its tools, such as `1m`.
    pub startup_timeout: Option<String>,
    /// Time for one call.
    pub call_timeout: Option<String>,
}

/// A request to enable or disable an MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct McpSwitch {
    /// True if runs may use it.
    pub enabled: bool,
}

/// The settings of another tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct McpFile {
    /// JSON with `mcpServers`.
    pub text: String,
    /// True to save them; else they are only shown.
    pub save: bool,
}

/// Servers of another tool's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct McpImport {
    /// The servers that can be imported.
    pub servers: Vec<McpImportServer>,
    /// Those that cannot, and why.
    pub problems: Vec<String>,
}

/// A server of another tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct McpImportServer {
    /// Name in the other tool.
    pub called: String,
    /// Name in this program.
    pub name: String,
    /// The command, or the address.
    pub line: String,
    /// True if it replaces a configured server of this name.
    pub replaces: bool,
    /// The variables whose values are stored as secrets.
    pub secrets: Vec<String>,
}

/// The connection test of an MCP server, step by step, and what it offers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct McpTestResult {
    /// True if it works.
    pub ok: bool,
    /// The time of the test.
    pub at: String,
    /// `settings`, `start`, `handshake` and `list`.
    pub steps: Vec<CheckStep>,
    /// Its tools, each with what holds for it.
    pub tools: Vec<McpTool>,
    /// Tools that are not offered to models, and why.
    pub left_out: Vec<String>,
    /// Resources that can be read.
    pub resources: Vec<McpResource>,
    /// The last that it logged, and wrote to its standard error.
    pub log: Vec<String>,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct McpTool {
    /// Its name at the server.
    pub name: String,
    /// Description by the server.
    pub description: String,
    /// Permission of the tool, with its source.
    pub rule: Surveyed,
}

/// Resource of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct McpResource {
    /// Its address.
    pub uri: String,
    /// Name for people.
    pub name: String,
}

/// Scope of the permissions to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolQuery {
    /// A package of the store.
    pub package: Option<String>,
    /// An agent of it: its id or its name.
    pub agent: Option<String>,
}

/// The permissions of tools, as they are enforced, and who decided them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolSurvey {
    /// The agent of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Tool by tool, with those of MCP servers that were tested.
    pub tools: Vec<Surveyed>,
    /// The rules about writing below folders.
    pub folders: Vec<FolderRule>,
    /// Seconds that one call may take.
    pub call_seconds: Limit,
}
