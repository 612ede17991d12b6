//! What a policy comes to, tool by tool, and who decided it. It asks the code that enforces.

use serde::Serialize;

use super::call::Tool;
use crate::package::agents::AgentTools;
use crate::policy::Policy;
use crate::policy::rules::{Rule, RuleSet, Source, Verdict, is_exempt};

/// The policies that are merged, each of them as strict as the one before or stricter.
#[derive(Clone, Copy, Debug)]
pub struct Layers<'p> {
    /// What the settings say.
    pub settings: &'p Policy,
    /// That, and what the command line says.
    pub run: &'p Policy,
    /// What the agent says.
    pub agent: Option<&'p AgentTools>,
}

/// Who decided something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// The settings, or their defaults.
    Settings,
    /// The command line.
    Run,
    /// The agent.
    Agent,
    /// Nobody can: a run needs it.
    Runtime,
}

/// What holds for one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Surveyed {
    /// Its name; `mcp.*` stands for the tools of all servers.
    pub tool: String,
    /// Whether it may be called.
    pub verdict: Verdict,
    /// Who decided that.
    pub by: Decider,
    /// The rule that decided it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// Whether it may change the state of the run and nothing else.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub state_only: bool,
    /// The most bytes of one call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<Limit>,
}

/// A limit, and who set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// The limit.
    pub value: u64,
    /// Who set it.
    pub by: Decider,
}

impl Layers<'_> {
    /// What holds in a run.
    pub fn policy(&self) -> Policy {
        let policy = self.run.tightened(self.agent);
        Policy { patches_state: !policy.strict, ..policy }
    }

    /// Seconds that one call may take.
    pub fn call_seconds(&self) -> Limit {
        self.limit(|policy| policy.call_seconds)
    }

    /// Every tool that a model may hear of, and those that were taken away. Tools of servers are not known before these run:
    /// there is a row for each server, and one for each tool that a rule names.
    pub fn survey(&self, servers: &[String]) -> Vec<Surveyed> {
        let policy = self.policy();
        let is_there =
            |tool: &Tool| policy.strict || !matches!(tool, Tool::CompleteNode | Tool::UpdateState);
        let own = Tool::ALL.into_iter().filter(is_there).map(|tool| self.tool(tool, &policy));
        own.chain(self.served(servers, &policy)).collect()
    }

    fn tool(&self, tool: Tool, policy: &Policy) -> Surveyed {
        let outlook = policy.outlook(tool.name());
        let is_allowed = tool.is_allowed(policy);
        let is_file_tool = tool.name().starts_with("fs.");
        let off = (is_file_tool && !policy.fs.enabled).then(|| self.who(|of| of.fs.enabled));
        let by = match (off, &outlook.rule) {
            (Some(by), _) => by,
            (None, Some(rule)) => by(rule),
            (None, None) if is_exempt(tool.name()) => Decider::Runtime,
            (None, None) => Decider::Settings,
        };
        let max_bytes = match tool {
            Tool::Read => Some(self.limit(|policy| policy.fs.max_read_bytes)),
            Tool::Write | Tool::Patch => Some(self.limit(|policy| policy.fs.max_write_bytes)),
            Tool::List | Tool::Search | Tool::AskUser | Tool::CompleteNode | Tool::UpdateState => {
                None
            }
        };
        Surveyed {
            tool: tool.name().to_owned(),
            verdict: if is_allowed { outlook.verdict } else { Verdict::Deny },
            by,
            state_only: is_allowed && outlook.verdict == Verdict::Deny,
            rule: outlook.rule.filter(|_| off.is_none()),
            max_bytes: max_bytes.filter(|_| is_allowed),
        }
    }

    fn served(&self, servers: &[String], policy: &Policy) -> Vec<Surveyed> {
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
        for tool in patterns.filter(|rule| rule.starts_with("mcp.") && !rule.ends_with('*')) {
            if rows.iter().all(|row| row.tool != tool) {
                let server = tool.split('.').nth(1).map(str::to_owned);
                rows.push(self.of_servers(&tool, &tool, server.as_ref(), policy));
            }
        }
        rows
    }

    /// What holds for tools of servers that begin like this: of all, of one, or a single tool.
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
            by: off.or(outlook.rule.as_ref().map(by)).unwrap_or(Decider::Settings),
            rule: outlook.rule.filter(|_| off.is_none()),
            state_only: false,
            max_bytes: None,
        }
    }

    /// Who switched something off.
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

fn by(rule: &Rule) -> Decider {
    match rule.from {
        Source::Settings => Decider::Settings,
        Source::Run => Decider::Run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::agents::FileTools;
    use crate::policy::McpPolicy;
    use crate::tool::schema::tools;

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
        let rows = layers.survey(&[]);
        let row = |name: &str| rows.iter().find(|row| row.tool == name).unwrap();
        assert_eq!(
            (row("fs.search").verdict, row("fs.search").by),
            (Verdict::Deny, Decider::Settings)
        );
        let patch = row("fs.apply_patch");
        assert!(patch.state_only && patch.by == Decider::Run, "{patch:?}");
        assert_eq!(row("fs.read").max_bytes, Some(Limit { value: 5, by: Decider::Agent }));
        assert_eq!(layers.call_seconds(), Limit { value: 9, by: Decider::Run });
        assert_eq!(row("ui.ask_user").by, Decider::Runtime);
        assert_eq!(row("mcp.*").by, Decider::Settings);
        let listed: Vec<String> =
            tools(&layers.policy()).into_iter().map(|tool| tool.name).collect();
        for name in ["fs.read", "fs.list", "fs.search", "fs.write", "fs.apply_patch", "ui.ask_user"]
        {
            let is_open = row(name).verdict != Verdict::Deny || row(name).state_only;
            assert_eq!(listed.iter().any(|tool| tool == name), is_open, "{name}");
        }
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
        let rows = layers.survey(&servers);
        let row = |name: &str| {
            let row = rows.iter().find(|row| row.tool == name).unwrap();
            (row.verdict, row.by)
        };
        assert_eq!(row("mcp.*"), (Verdict::Allow, Decider::Settings));
        assert_eq!(row("mcp.open.*"), (Verdict::Allow, Decider::Settings));
        assert_eq!(row("mcp.shut.*"), (Verdict::Deny, Decider::Run));
        assert_eq!(row("mcp.out.*"), (Verdict::Deny, Decider::Settings));
        assert_eq!(row("mcp.open.pay"), (Verdict::Ask, Decider::Run));
        // Without servers at all there is one row that says so.
        let off = Policy::default();
        let layers = Layers { settings: &off, run: &off, agent: None };
        let names: Vec<String> = layers.survey(&servers).into_iter().map(|row| row.tool).collect();
        assert_eq!(names.iter().filter(|name| name.starts_with("mcp.")).count(), 1, "{names:?}");
    }
}
