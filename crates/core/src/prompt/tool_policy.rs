//! Permissions of the effective agent, where they differ from the default. The list of tools tells the rest.

use super::line::{joined, value};
use crate::policy::Policy;
use crate::policy::rules::{RuleSet, ToolPattern};

/// Maximum size of the layer, in bytes.
pub const POLICY_MAX_BYTES: usize = 4 * 1024;

/// Maximum size of all server names together, in bytes.
const SERVERS_BYTES: usize = 2 * 1024;
/// Maximum size of one server name, in bytes.
const SERVER_BYTES: usize = 128;
/// Maximum size of all rules of one kind together, in bytes.
const RULES_BYTES: usize = 256;
/// Limit below which a limit of bytes is told.
const SMALL_BYTES: u64 = 65_536;

/// Describes the merged policy; none if it is the default.
pub fn tool_policy(policy: &Policy) -> Option<String> {
    let mut parts = rules(policy);
    if policy.fs.enabled && policy.fs.max_read_bytes < SMALL_BYTES {
        parts.push(format!("a read gives at most {} bytes", policy.fs.max_read_bytes));
    }
    if policy.fs.enabled && policy.fs.max_write_bytes < SMALL_BYTES {
        parts.push(format!("a file has at most {} bytes", policy.fs.max_write_bytes));
    }
    parts.extend(servers(policy));
    (!parts.is_empty()).then(|| format!("Tool policy: {}.", parts.join("; ")))
}

/// Returns the rules, those of one kind together. If they differ, the stricter applies.
fn rules(policy: &Policy) -> Vec<String> {
    type PatternSelector = fn(&RuleSet) -> &Vec<ToolPattern>;
    let kinds: [(PatternSelector, &str); 3] = [
        (|set| &set.deny, "denied"),
        (|set| &set.ask, "asks the user first"),
        (|set| &set.allow, "allowed without asking"),
    ];
    let told = kinds.into_iter().filter_map(|(of, verdict)| {
        // Rules about kinds of files are told to the model when it touches one.
        let patterns = policy.rules.iter().flat_map(of).filter(|pattern| !pattern.has_kind());
        let mut patterns: Vec<String> = patterns.map(ToolPattern::to_string).collect();
        patterns.dedup();
        let patterns = joined(patterns, ", ", RULES_BYTES);
        (!patterns.is_empty()).then(|| format!("{patterns}: {verdict}"))
    });
    told.collect()
}

fn servers(policy: &Policy) -> Option<String> {
    let servers = policy.mcp.allowed_servers.as_ref().filter(|_| policy.mcp.enabled)?;
    let names = servers.iter().map(|server| value(server, SERVER_BYTES));
    let names = joined(names, ", ", SERVERS_BYTES);
    (!names.is_empty()).then(|| format!("MCP: {names}"))
}
