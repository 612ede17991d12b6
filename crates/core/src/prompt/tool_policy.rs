//! The second layer: what the effective agent may do with tools, exactly as it is enforced.

use super::line::{joined, value};
use crate::policy::Policy;

/// The layer has at most this many bytes.
pub const POLICY_MAX_BYTES: usize = 4 * 1024;

/// The names of servers have at most this many bytes together.
const SERVERS_BYTES: usize = 2 * 1024;
/// And this many each.
const SERVER_BYTES: usize = 128;

/// The merged policy in words.
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
    if policy.fs.enabled {
        text.push_str(
            "\n\nPrefer fs.apply_patch for edits. All writes must be under @project or @state; @state/logs is read-only.",
        );
    }
    text
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
