//! The tool policy: one merged value that drives the prompt, the tool list and the enforcement alike.

pub mod names;
pub mod rules;
pub mod survey;
mod tightening;

use crewagent_format::package::agents::AgentTools;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::rules::{PolicyDecision, Rule, RuleSet, Verdict};
pub use self::tightening::Tightening;
use crate::tool::Tool;
use crate::tool::server_tool::ServerName;
use crate::vpath::VPath;

/// Permissions of a model for tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Policy {
    /// File tools.
    pub fs: FsPolicy,
    /// Tools of MCP servers.
    pub mcp: McpPolicy,
    /// Seconds that one call may take.
    pub call_seconds: u64,
    /// True if the state of a run changes only through its own tools.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Rules that allow, ask or deny; one set for each source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleSet>,
    /// True if a model may change the state of a run by editing its document. Then `fs.apply_patch` is understood
    /// whatever the rules say, if only for that.
    #[serde(skip)]
    pub patches_state: bool,
    /// True if a model is told to change the state by editing its document.
    #[serde(skip)]
    pub tells_patches: bool,
    /// True if a model is told how to move and delete files: in a conversation, and where a package speaks of it.
    #[serde(skip)]
    pub tells_moves: bool,
    /// True if the workflow has gates, so that a model is told of drafts and of `ui.gate`.
    #[serde(skip)]
    pub tells_gates: bool,
}

/// Means by which the state of a run changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateTool {
    /// The model is told to patch the state document.
    Patch,
    /// The model is told to call `complete_node`.
    Runtime,
}

/// Permissions of a model for files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FsPolicy {
    /// True if there are file tools.
    pub enabled: bool,
    /// The largest read.
    pub max_read_bytes: u64,
    /// The largest write.
    pub max_write_bytes: u64,
}

/// Permissions of a model for MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct McpPolicy {
    /// True if there are tools of MCP servers.
    pub enabled: bool,
    /// The servers that may be used; all enabled ones when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_servers: Option<Vec<String>>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            fs: FsPolicy::default(),
            mcp: McpPolicy::default(),
            call_seconds: 300,
            strict: false,
            rules: Vec::new(),
            patches_state: false,
            tells_patches: false,
            tells_moves: false,
            tells_gates: false,
        }
    }
}

impl Default for FsPolicy {
    fn default() -> Self {
        Self { enabled: true, max_read_bytes: 524_288, max_write_bytes: 2_097_152 }
    }
}

impl Policy {
    /// Returns the policy that allows only what both allow.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut policy = self.clone();
        policy.fs.enabled &= other.fs.enabled;
        policy.fs.max_read_bytes = policy.fs.max_read_bytes.min(other.fs.max_read_bytes);
        policy.fs.max_write_bytes = policy.fs.max_write_bytes.min(other.fs.max_write_bytes);
        policy.mcp.enabled &= other.mcp.enabled;
        policy.mcp.allowed_servers =
            both(policy.mcp.allowed_servers.take(), other.mcp.allowed_servers.as_ref());
        policy.call_seconds = policy.call_seconds.min(other.call_seconds);
        policy.strict |= other.strict;
        for set in &other.rules {
            if !policy.rules.contains(set) {
                policy.rules.push(set.clone());
            }
        }
        policy
    }

    /// Returns the policy for a run, whose state changes by this means. In strict mode and without file tools there are
    /// no patches.
    #[must_use]
    pub fn with_state(self, told: StateTool) -> Self {
        let strict = self.strict || !self.fs.enabled;
        let tells_patches = told == StateTool::Patch && !strict;
        Self { strict, patches_state: !strict, tells_patches, ..self }
    }

    /// Returns the means by which the state of a run changes.
    pub fn state_tool(&self) -> StateTool {
        if self.tells_patches { StateTool::Patch } else { StateTool::Runtime }
    }

    /// Decides by the rules about these tools about a call that writes or reads these paths, or none; the user `granted`
    /// some rules.
    pub fn decide(&self, granted: &[Rule], tools: &[&str], places: &[&VPath]) -> PolicyDecision {
        rules::decide(&self.rules, granted, tools, places)
    }

    /// Returns true if a model may read a file without asking.
    pub fn may_read(&self, path: &VPath) -> bool {
        self.decide(&[], &[Tool::Read.name()], &[path]).verdict == Verdict::Allow
    }

    /// Decides about a tool before it is called.
    pub fn outlook(&self, tool: &str) -> PolicyDecision {
        rules::outlook(&self.rules, tool)
    }

    /// Returns true if a model may call the tool.
    pub fn allows(&self, tool: Tool) -> bool {
        match tool {
            Tool::Read | Tool::List | Tool::Search | Tool::Write | Tool::Move | Tool::Delete => {
                self.fs.enabled && self.denial(tool).is_none()
            }
            Tool::Patch => self.fs.enabled && (self.patches_state || self.denial(tool).is_none()),
            Tool::AskUser => true,
            Tool::Gate => self.tells_gates,
            // A run understands them in every mode; a conversation has no state.
            Tool::CompleteNode | Tool::UpdateState => self.strict || self.patches_state,
        }
    }

    /// Returns true if a model is told about the tool. Packages and models know some tools that are only understood.
    pub fn offers(&self, tool: Tool) -> bool {
        match tool {
            Tool::CompleteNode => self.state_tool() == StateTool::Runtime && self.allows(tool),
            Tool::UpdateState => false,
            Tool::Patch => self.fs.enabled && (self.tells_patches || self.denial(tool).is_none()),
            Tool::Move | Tool::Delete => self.tells_moves && self.allows(tool),
            Tool::Read | Tool::List | Tool::Search | Tool::Write | Tool::AskUser | Tool::Gate => {
                self.allows(tool)
            }
        }
    }

    /// Returns the rule that denies all of the tool, if there is one.
    pub fn denial(&self, tool: Tool) -> Option<Rule> {
        let outlook = self.outlook(tool.name());
        outlook.rule.filter(|_| outlook.verdict == Verdict::Deny)
    }

    /// Returns the policy for an agent, which can only tighten: booleans AND, numbers min, lists intersect.
    #[must_use]
    pub fn tightened(&self, agent: Option<&AgentTools>) -> Self {
        let mut policy = self.clone();
        let Some(agent) = agent else { return policy };
        if let Some(fs) = &agent.fs {
            policy.fs.enabled &= fs.enabled.unwrap_or(true);
            let least = |own: u64, theirs: Option<u64>| theirs.map_or(own, |other| own.min(other));
            policy.fs.max_read_bytes = least(policy.fs.max_read_bytes, fs.max_read_bytes);
            policy.fs.max_write_bytes = least(policy.fs.max_write_bytes, fs.max_write_bytes);
        }
        if let Some(mcp) = &agent.mcp {
            policy.mcp.enabled &= mcp.enabled.unwrap_or(false);
            policy.mcp.allowed_servers =
                both(policy.mcp.allowed_servers.take(), mcp.allowed_servers.as_ref());
        }
        policy
    }
}

impl McpPolicy {
    /// Returns true if models may use the server.
    pub fn allows(&self, server: &ServerName) -> bool {
        let is_listed = |servers: &Vec<String>| servers.iter().any(|name| name == server.as_str());
        self.enabled && self.allowed_servers.as_ref().is_none_or(is_listed)
    }
}

/// Returns the servers in both lists; an absent list allows all.
fn both(own: Option<Vec<String>>, theirs: Option<&Vec<String>>) -> Option<Vec<String>> {
    match (own, theirs) {
        (None, theirs) => theirs.cloned(),
        (own, None) => own,
        (Some(own), Some(theirs)) => {
            Some(own.into_iter().filter(|server| theirs.contains(server)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crewagent_format::package::agents::{FileTools, McpTools};

    use super::*;

    #[test]
    fn an_agent_can_only_tighten() {
        let system = Policy {
            fs: FsPolicy { enabled: true, max_read_bytes: 100, max_write_bytes: 100 },
            mcp: McpPolicy { enabled: true, allowed_servers: Some(vec!["a".into(), "b".into()]) },
            call_seconds: 5,
            strict: true,
            ..Policy::default()
        };
        let agent = AgentTools {
            fs: Some(FileTools {
                enabled: Some(true),
                max_read_bytes: Some(200),
                max_write_bytes: Some(50),
            }),
            mcp: Some(McpTools {
                enabled: Some(true),
                allowed_servers: Some(vec!["b".into(), "c".into()]),
            }),
        };
        let merged = system.tightened(Some(&agent));
        assert_eq!((merged.fs.max_read_bytes, merged.fs.max_write_bytes), (100, 50));
        assert_eq!(merged.mcp.allowed_servers, Some(vec!["b".to_owned()]));
        let off = Policy { fs: FsPolicy { enabled: false, ..system.fs }, ..system.clone() };
        assert!(!off.tightened(Some(&agent)).fs.enabled);
        assert!(!Policy::default().tightened(Some(&agent)).mcp.enabled);
        assert_eq!(system.tightened(None), system);
        let both = system.and(&Policy::default());
        assert_eq!((both.fs.max_read_bytes, both.mcp.enabled, both.call_seconds), (100, false, 5));
        assert_eq!(both.mcp.allowed_servers, system.mcp.allowed_servers);
        assert!(both.strict && Policy::default().and(&system).strict);
        let denying = |rule: &str| {
            let deny = vec![rule.parse().unwrap()];
            let set = RuleSet { deny, ..RuleSet::none(rules::Source::Settings) };
            Policy { rules: vec![set], ..Policy::default() }
        };
        let both = denying("fs.read").and(&denying("fs.list")).and(&denying("fs.read"));
        assert_eq!(both.rules.len(), 2);
        let verdict = |tool| both.outlook(tool).verdict;
        let expected = [rules::Verdict::Deny, rules::Verdict::Deny, rules::Verdict::Allow];
        assert_eq!(["fs.read", "fs.list", "fs.write"].map(verdict), expected);
    }

    #[test]
    fn a_policy_names_the_servers_that_may_be_used() {
        let server = |name: &str| name.parse::<ServerName>().unwrap();
        let all = McpPolicy { enabled: true, allowed_servers: None };
        let some = McpPolicy { enabled: true, allowed_servers: Some(vec!["a".into()]) };
        assert!(all.allows(&server("a")) && some.allows(&server("a")));
        assert!(!some.allows(&server("b")));
        assert!(!McpPolicy { enabled: false, ..some }.allows(&server("a")));
    }
}
