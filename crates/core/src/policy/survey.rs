//! The effective policy, tool by tool, with its deciders. It calls the code that enforces.

use crewagent_format::package::agents::AgentTools;
use schemars::JsonSchema;
use serde::Serialize;

use super::rules::{Rule, RuleSet, Source, ToolPattern, Verdict, is_exempt};
use super::{Policy, StateTool};
use crate::tool::Tool;
use crate::tool::server_tool::ServerTool;

/// Policies to merge, each at least as strict as the one before.
#[derive(Clone, Copy, Debug)]
pub struct Layers<'p> {
    /// Policy of the settings.
    pub settings: &'p Policy,
    /// Policy of the settings and the command line.
    pub run: &'p Policy,
    pub agent: Option<&'p AgentTools>,
}

/// Source of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Decider {
    /// The settings, or their defaults.
    Settings,
    /// The command line.
    Run,
    /// The agent.
    Agent,
    /// The runtime: a run needs the tool.
    Runtime,
}

/// Permission of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct Surveyed {
    /// Name; `mcp.*` means the tools of all servers.
    pub tool: String,
    /// General verdict: rules about folders are exceptions from it.
    pub verdict: Verdict,
    /// Source of the verdict.
    pub by: Decider,
    /// The rule that decided it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// True if it may change the state of the run and nothing else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<bool>"))]
    pub state_only: bool,
    /// The most bytes of one call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<Limit>,
}

/// A limit, and who set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Limit {
    /// The limit.
    pub value: u64,
    /// Source of the limit.
    pub by: Decider,
}

/// A rule about writing below a folder, which holds beside those about whole tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FolderRule {
    /// Calls that it applies to.
    pub pattern: ToolPattern,
    /// Verdict for them.
    pub verdict: Verdict,
    /// Source of the rule.
    pub by: Decider,
}

impl Layers<'_> {
    /// Returns the effective policy of a run.
    pub fn policy(&self) -> Policy {
        let policy = self.run.tightened(self.agent).with_state(StateTool::Runtime);
        Policy { tells_moves: true, ..policy }
    }

    /// Returns the maximum seconds of one call.
    pub fn call_seconds(&self) -> Limit {
        self.limit(|policy| policy.call_seconds)
    }

    /// Returns the rules about folders.
    pub fn folders(&self) -> Vec<FolderRule> {
        let sets = self.policy().rules;
        let rules = sets.iter().flat_map(|set| set.rules().map(|rule| (set.from, rule)));
        let about_folders = rules.filter(|(_, (_, pattern))| pattern.has_folder());
        let row = |(from, (verdict, pattern)): (Source, (Verdict, &ToolPattern))| FolderRule {
            pattern: pattern.clone(),
            verdict,
            by: from.into(),
        };
        about_folders.map(row).collect()
    }

    /// Lists every tool that a model may see, and those that were removed. Tools of servers are unknown before these
    /// run: there is a row for each server, for each tool that a rule names, and for each known tool in `offered`.
    pub fn survey(&self, servers: &[String], offered: &[String]) -> Vec<Surveyed> {
        let policy = self.policy();
        let is_there = |tool: &Tool| match tool {
            Tool::CompleteNode | Tool::UpdateState => policy.strict,
            // The workflow decides, and no policy.
            Tool::Gate => false,
            Tool::Read
            | Tool::List
            | Tool::Search
            | Tool::Write
            | Tool::Patch
            | Tool::Move
            | Tool::Delete
            | Tool::AskUser => true,
        };
        let own = Tool::ALL.into_iter().filter(is_there).map(|tool| self.tool(tool, &policy));
        own.chain(self.server_tools(servers, offered, &policy)).collect()
    }

    /// Returns the row of one server tool.
    pub fn server_tool(&self, tool: &ServerTool) -> Surveyed {
        let (name, server) = (tool.name(), tool.server.to_string());
        self.of_servers(&name, &name, Some(&server), &self.policy())
    }

    fn tool(&self, tool: Tool, policy: &Policy) -> Surveyed {
        // The row shows the general decision: a rule about a folder is an exception and listed separately.
        let general = policy.decide(&[], &[tool.name()], &[]);
        let outlook = policy.outlook(tool.name());
        let is_allowed = policy.offers(tool);
        let is_file_tool = tool.name().starts_with("fs.");
        let off = (is_file_tool && !policy.fs.enabled).then(|| self.who(|of| of.fs.enabled));
        let by = match (off, &general.rule) {
            (Some(by), _) => by,
            (None, Some(rule)) => rule.from.into(),
            (None, None) if is_exempt(tool.name()) => Decider::Runtime,
            (None, None) => Decider::Settings,
        };
        let max_bytes = match tool {
            Tool::Read => Some(self.limit(|policy| policy.fs.max_read_bytes)),
            Tool::Write | Tool::Patch => Some(self.limit(|policy| policy.fs.max_write_bytes)),
            Tool::List
            | Tool::Search
            | Tool::Move
            | Tool::Delete
            | Tool::AskUser
            | Tool::Gate
            | Tool::CompleteNode
            | Tool::UpdateState => None,
        };
        Surveyed {
            tool: tool.name().to_owned(),
            verdict: if is_allowed { general.verdict } else { Verdict::Deny },
            by,
            state_only: is_allowed && outlook.verdict == Verdict::Deny,
            rule: general.rule.filter(|_| off.is_none()),
            max_bytes: max_bytes.filter(|_| is_allowed),
        }
    }

    fn server_tools(
        &self,
        servers: &[String],
        offered: &[String],
        policy: &Policy,
    ) -> Vec<Surveyed> {
        let mut rows = vec![self.of_servers("mcp.", "mcp.*", None, policy)];
        if !policy.mcp.enabled {
            return rows;
        }
        for server in servers {
            let prefix = format!("mcp.{server}.");
            rows.push(self.of_servers(&prefix, &format!("{prefix}*"), Some(server), policy));
        }
        let patterns =
            policy.rules.iter().flat_map(RuleSet::rules).map(|(_, rule)| rule.to_string());
        let ruled = patterns.filter(|rule| rule.starts_with("mcp.") && !rule.ends_with('*'));
        for tool in ruled.chain(offered.iter().cloned()) {
            if rows.iter().all(|row| row.tool != tool) {
                let server = tool.split('.').nth(1).map(str::to_owned);
                rows.push(self.of_servers(&tool, &tool, server.as_ref(), policy));
            }
        }
        rows
    }

    /// Returns the row of server tools with this prefix: all, those of one server, or a single tool.
    fn of_servers(
        &self,
        begins: &str,
        tool: &str,
        server: Option<&String>,
        policy: &Policy,
    ) -> Surveyed {
        let outlook = policy.outlook(begins);
        let lets_in = |of: &Policy| {
            let list = of.mcp.allowed_servers.as_ref();
            server.is_none_or(|server| list.is_none_or(|list| list.contains(server)))
        };
        let off = match (policy.mcp.enabled, lets_in(policy)) {
            (false, _) => Some(self.who(|of| of.mcp.enabled)),
            (true, false) => Some(self.who(lets_in)),
            (true, true) => None,
        };
        Surveyed {
            tool: tool.to_owned(),
            verdict: if off.is_some() { Verdict::Deny } else { outlook.verdict },
            by: off
                .or(outlook.rule.as_ref().map(|rule| rule.from.into()))
                .unwrap_or(Decider::Settings),
            rule: outlook.rule.filter(|_| off.is_none()),
            state_only: false,
            max_bytes: None,
        }
    }

    /// Returns the decider that switched a feature off.
    fn who(&self, is_on: impl Fn(&Policy) -> bool) -> Decider {
        if !is_on(self.settings) {
            Decider::Settings
        } else if !is_on(self.run) {
            Decider::Run
        } else {
            Decider::Agent
        }
    }

    fn limit(&self, of: impl Fn(&Policy) -> u64) -> Limit {
        let value = of(&self.policy());
        let by = if value == of(self.settings) {
            Decider::Settings
        } else if value == of(self.run) {
            Decider::Run
        } else {
            Decider::Agent
        };
        Limit { value, by }
    }
}

impl From<Source> for Decider {
    fn from(source: Source) -> Self {
        match source {
            Source::Settings => Self::Settings,
            Source::Run => Self::Run,
        }
    }
}

#[cfg(test)]
mod tests {
    use crewagent_format::package::agents::FileTools;

    use super::*;
    use crate::call::schema::tools;
    use crate::policy::McpPolicy;

    #[test]
    fn what_is_told_is_what_is_enforced() {
        let rule = |text: &str| vec![text.parse().unwrap()];
        let set = RuleSet {
            deny: rule("fs.search"),
            ask: rule("fs.apply_patch"),
            ..RuleSet::none(Source::Settings)
        };
        let settings = Policy { rules: vec![set], ..Policy::default() };
        let command = RuleSet { deny: rule("fs.apply_patch"), ..RuleSet::none(Source::Run) };
        let run =
            settings.and(&Policy { rules: vec![command], call_seconds: 9, ..Policy::default() });
        let files = FileTools { enabled: None, max_read_bytes: Some(5), max_write_bytes: None };
        let agent = AgentTools { fs: Some(files), mcp: None };
        let layers = Layers { settings: &settings, run: &run, agent: Some(&agent) };
        let rows = layers.survey(&[], &[]);
        let row = |name: &str| rows.iter().find(|row| row.tool == name).unwrap();
        assert_eq!(
            (row("fs.search").verdict, row("fs.search").by),
            (Verdict::Deny, Decider::Settings)
        );
        let patch = row("fs.apply_patch");
        assert!(patch.verdict == Verdict::Deny && patch.by == Decider::Run, "{patch:?}");
        assert_eq!(row("fs.read").max_bytes, Some(Limit { value: 5, by: Decider::Agent }));
        assert_eq!(layers.call_seconds(), Limit { value: 9, by: Decider::Run });
        assert_eq!(row("ui.ask_user").by, Decider::Runtime);
        assert_eq!(row("mcp.*").by, Decider::Settings);
        let listed: Vec<String> =
            tools(&layers.policy()).into_iter().map(|tool| tool.name).collect();
        let has_row = |tool: &Tool| !tool.name().starts_with("runtime.") && *tool != Tool::Gate;
        for tool in Tool::ALL.into_iter().filter(has_row) {
            let name = tool.name();
            let is_open = row(name).verdict != Verdict::Deny;
            assert_eq!(listed.iter().any(|tool| tool == name), is_open, "{name}");
        }
    }

    #[test]
    fn rules_about_folders_are_told_beside_the_tools() {
        let set = RuleSet {
            allow: vec!["fs.*(@project/artifacts)".parse().unwrap()],
            ask: vec!["fs.write".parse().unwrap()],
            ..RuleSet::none(Source::Run)
        };
        let run = Policy { rules: vec![set], ..Policy::default() };
        let layers = Layers { settings: &Policy::default(), run: &run, agent: None };
        let [only] = layers.folders().try_into().unwrap();
        let FolderRule { pattern, verdict, by } = only;
        assert_eq!(pattern.to_string(), "fs.*(@project/artifacts)");
        assert_eq!((verdict, by), (Verdict::Allow, Decider::Run));
    }

    #[test]
    fn a_rule_about_a_folder_does_not_change_what_holds_in_general() {
        let rule = |text: &str| vec![text.parse().unwrap()];
        let set = RuleSet {
            ask: rule("fs.write(@project/src)"),
            deny: rule("fs.write"),
            ..RuleSet::none(Source::Settings)
        };
        let settings = Policy { rules: vec![set], ..Policy::default() };
        let layers = Layers { settings: &settings, run: &settings, agent: None };
        let rows = layers.survey(&[], &[]);
        let write = rows.iter().find(|row| row.tool == "fs.write").unwrap();
        let by = write.rule.as_ref().map(|rule| rule.pattern.to_string());
        assert_eq!((write.verdict, by.as_deref()), (Verdict::Deny, Some("fs.write")));
        assert!(!write.state_only);
        // The model still sees the tool: it may ask to write there.
        assert!(tools(&layers.policy()).iter().any(|tool| tool.name == "fs.write"));
        assert_eq!(layers.folders().len(), 1);
    }

    #[test]
    fn servers_and_tools_of_servers_have_rows_of_their_own() {
        let rule = |text: &str| vec![text.parse().unwrap()];
        let set = RuleSet {
            deny: rule("mcp.shut.*"),
            ask: rule("mcp.open.pay"),
            ..RuleSet::none(Source::Run)
        };
        let servers = ["open", "shut", "out"].map(str::to_owned);
        let allowed_servers = Some(vec!["open".to_owned(), "shut".to_owned()]);
        let mcp = McpPolicy { enabled: true, allowed_servers };
        let settings = Policy { mcp, ..Policy::default() };
        let run = settings.and(&Policy { rules: vec![set], ..settings.clone() });
        let layers = Layers { settings: &settings, run: &run, agent: None };
        let offered = ["mcp.open.pay", "mcp.open.look", "mcp.shut.look"].map(str::to_owned);
        let rows = layers.survey(&servers, &offered);
        let row = |name: &str| {
            let row = rows.iter().find(|row| row.tool == name).unwrap();
            (row.verdict, row.by)
        };
        assert_eq!(row("mcp.*"), (Verdict::Allow, Decider::Settings));
        assert_eq!(row("mcp.open.*"), (Verdict::Allow, Decider::Settings));
        assert_eq!(row("mcp.shut.*"), (Verdict::Deny, Decider::Run));
        assert_eq!(row("mcp.out.*"), (Verdict::Deny, Decider::Settings));
        assert_eq!(row("mcp.open.pay"), (Verdict::Ask, Decider::Run));
        assert_eq!(row("mcp.open.look"), (Verdict::Allow, Decider::Settings));
        assert_eq!(row("mcp.shut.look"), (Verdict::Deny, Decider::Run));
        assert_eq!(rows.iter().filter(|row| row.tool == "mcp.open.pay").count(), 1);
        // Without any servers there is one row that says so.
        let off = Policy::default();
        let layers = Layers { settings: &off, run: &off, agent: None };
        let names: Vec<String> =
            layers.survey(&servers, &offered).into_iter().map(|row| row.tool).collect();
        assert_eq!(names.iter().filter(|name| name.starts_with("mcp.")).count(), 1, "{names:?}");
    }
}
