//! The second layer: the tool permissions of the effective agent, exactly as enforced.

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

/// Describes the merged policy.
pub fn tool_policy(policy: &Policy) -> String {
    let mut text = String::from("Tool policy:\n");
    if policy.fs.enabled {
        text.push_str(&format!(
            "- fs: enabled (maxReadBytes={}, maxWriteBytes={})\n",
            policy.fs.max_read_bytes, policy.fs.max_write_bytes
        ));
    } else {
        text.push_str("- fs: disabled\n");
    }
    text.push_str(&format!("- mcp: {}\n", mcp(policy)));
    text.push_str(&format!("- time: at most {} seconds a call", policy.call_seconds));
    if policy.strict {
        text.push_str(
            "\n- state: strict (runtime.complete_node and runtime.update_state only; @state/workflow.md is not written directly)",
        );
    }
    rules(policy, &mut text);
    if policy.fs.enabled {
        text.push_str(
            "\n\nPrefer fs.apply_patch for edits. All writes must be under @project or @state; @state/logs is read-only.",
        );
    }
    text
}

/// Appends the rules, those of one kind on a line. If they differ, the stricter applies.
fn rules(policy: &Policy, text: &mut String) {
    type PatternSelector = fn(&RuleSet) -> &Vec<ToolPattern>;
    let kinds: [(&str, PatternSelector, &str); 3] = [
        ("deny", |set| &set.deny, ""),
        ("ask", |set| &set.ask, " (the user is asked first)"),
        ("allow", |set| &set.allow, " (exceptions from deny and ask)"),
    ];
    for (name, of, note) in kinds {
        let mut patterns: Vec<String> =
            policy.rules.iter().flat_map(of).map(ToolPattern::to_string).collect();
        patterns.dedup();
        if !patterns.is_empty() {
            let patterns = joined(patterns, ", ", RULES_BYTES);
            text.push_str(&format!("\n- {name}: {patterns}{note}"));
        }
    }
}

fn mcp(policy: &Policy) -> String {
    if !policy.mcp.enabled {
        return "disabled".to_owned();
    }
    let Some(servers) = &policy.mcp.allowed_servers else {
        return "enabled (all configured servers)".to_owned();
    };
    if servers.is_empty() {
        return "disabled (no server is allowed)".to_owned();
    }
    let names = servers.iter().map(|server| value(server, SERVER_BYTES));
    format!("enabled (allowedServers: {})", joined(names, ", ", SERVERS_BYTES))
}
