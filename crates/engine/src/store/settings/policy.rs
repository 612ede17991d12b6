//! `[policy]` table: what tools may do. Packages can only tighten it.

use crewagent_core::policy::names::FileKind;
use crewagent_core::policy::rules::{RuleSet, Source, ToolPattern, Verdict};
use crewagent_core::policy::{FsPolicy, McpPolicy, Policy};
use serde::{Deserialize, Serialize};

/// Permissions of tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PolicySettings {
    /// Timeout of one call, in seconds.
    pub call_seconds: u64,
    /// True if the state of a run changes only through its own tools.
    pub strict: bool,
    /// Exceptions from `ask` and `deny`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<ToolPattern>,
    /// Tools that need approval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<ToolPattern>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<ToolPattern>,
    /// Verdict for changes of files that other programs run later.
    pub runs_later: Verdict,
    /// Verdict for reading and changing files that usually hold secrets.
    pub secrets: Verdict,
    pub fs: FsSettings,
    pub mcp: McpSettings,
}

/// Permissions of file tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FsSettings {
    pub enabled: bool,
    pub max_read_bytes: u64,
    pub max_write_bytes: u64,
}

/// Permissions of tools of MCP servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct McpSettings {
    pub enabled: bool,
    /// All enabled servers when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_servers: Option<Vec<String>>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        let Policy { fs, mcp, call_seconds, strict, .. } = Policy::default();
        let (allow, ask, deny) = (Vec::new(), Vec::new(), Vec::new());
        let (runs_later, secrets) = (Verdict::Ask, Verdict::Ask);
        let (fs, mcp) = (fs.into(), mcp.into());
        Self { call_seconds, strict, allow, ask, deny, runs_later, secrets, fs, mcp }
    }
}

impl Default for FsSettings {
    fn default() -> Self {
        FsPolicy::default().into()
    }
}

impl Default for McpSettings {
    fn default() -> Self {
        McpPolicy::default().into()
    }
}

impl From<FsPolicy> for FsSettings {
    fn from(FsPolicy { enabled, max_read_bytes, max_write_bytes }: FsPolicy) -> Self {
        Self { enabled, max_read_bytes, max_write_bytes }
    }
}

impl From<McpPolicy> for McpSettings {
    fn from(McpPolicy { enabled, allowed_servers }: McpPolicy) -> Self {
        Self { enabled, allowed_servers }
    }
}

impl From<&PolicySettings> for Policy {
    fn from(settings: &PolicySettings) -> Self {
        let FsSettings { enabled, max_read_bytes, max_write_bytes } = settings.fs;
        let McpSettings { enabled: mcp_enabled, allowed_servers } = settings.mcp.clone();
        let (allow, ask, deny) =
            (settings.allow.clone(), settings.ask.clone(), settings.deny.clone());
        let rules = RuleSet { from: Source::Settings, allow, ask, deny };
        // A set of its own, so that it never widens what the others restrict.
        let mut kinds = RuleSet::none(Source::Settings);
        let verdicts =
            [(FileKind::RunsLater, settings.runs_later), (FileKind::Secrets, settings.secrets)];
        for (kind, verdict) in verdicts {
            match verdict {
                Verdict::Allow => {}
                Verdict::Ask => kinds.ask.push(ToolPattern::about(kind)),
                Verdict::Deny => kinds.deny.push(ToolPattern::about(kind)),
            }
        }
        Self {
            fs: FsPolicy { enabled, max_read_bytes, max_write_bytes },
            mcp: McpPolicy { enabled: mcp_enabled, allowed_servers },
            call_seconds: settings.call_seconds,
            strict: settings.strict,
            rules: [rules, kinds].into_iter().filter(|rules| !rules.is_empty()).collect(),
            patches_state: false,
            tells_patches: false,
            tells_moves: false,
            tells_gates: false,
        }
    }
}
