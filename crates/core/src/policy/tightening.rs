//! Restrictions of one run beyond the settings. They can only tighten.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{RuleSet, Source, ToolPattern, WRITERS};
use super::{FsPolicy, McpPolicy, Policy};

/// Tightening of the policy for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct Tightening {
    /// True if the user is asked before a file is changed.
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<bool>"))]
    pub ask_writes: bool,
    /// Calls that are allowed, as exceptions from the other two.
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<Vec<ToolPattern>>"))]
    pub allow: Vec<ToolPattern>,
    /// Calls that need the user's approval.
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<Vec<ToolPattern>>"))]
    pub ask: Vec<ToolPattern>,
    /// Calls that are denied.
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<Vec<ToolPattern>>"))]
    pub deny: Vec<ToolPattern>,
    /// The largest read.
    pub max_read_bytes: Option<u64>,
    /// The largest write.
    pub max_write_bytes: Option<u64>,
    /// Seconds that one call may take.
    pub call_seconds: Option<u64>,
}

impl Tightening {
    /// Returns the restrictions as a policy that allows everything else.
    pub fn policy(&self) -> Policy {
        let writes = WRITERS.iter().filter(|_| self.ask_writes);
        let writes = writes.filter_map(|tool| tool.parse().ok());
        let rules = RuleSet {
            from: Source::Run,
            allow: self.allow.clone(),
            ask: self.ask.iter().cloned().chain(writes).collect(),
            deny: self.deny.clone(),
        };
        Policy {
            fs: FsPolicy {
                enabled: true,
                max_read_bytes: self.max_read_bytes.unwrap_or(u64::MAX),
                max_write_bytes: self.max_write_bytes.unwrap_or(u64::MAX),
            },
            mcp: McpPolicy { enabled: true, allowed_servers: None },
            call_seconds: self.call_seconds.unwrap_or(u64::MAX),
            rules: Some(rules).filter(|rules| !rules.is_empty()).into_iter().collect(),
            ..Policy::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::rules::Verdict;

    #[test]
    fn it_changes_what_it_names_and_nothing_else() {
        let settings = Policy {
            mcp: McpPolicy { enabled: true, allowed_servers: Some(vec!["a".to_owned()]) },
            ..Policy::default()
        };
        assert_eq!(settings.and(&Tightening::default().policy()), settings);
        let said = r#"{"askWrites": true, "deny": ["fs.search"], "maxReadBytes": 9}"#;
        let said: Tightening = serde_json::from_str(said).unwrap();
        let held = settings.and(&said.policy());
        assert_eq!((held.fs.max_read_bytes, held.mcp.clone()), (9, settings.mcp.clone()));
        let verdicts =
            ["fs.read", "fs.write", "fs.apply_patch", "fs.move", "fs.delete", "fs.search"];
        let expected =
            [Verdict::Allow, Verdict::Ask, Verdict::Ask, Verdict::Ask, Verdict::Ask, Verdict::Deny];
        assert_eq!(verdicts.map(|tool| held.outlook(tool).verdict), expected);
    }
}
