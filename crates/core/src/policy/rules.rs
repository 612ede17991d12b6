//! Rules about tools: some are allowed, some ask the user first, some are denied.
//!
//! Each source, such as the settings or a command line, has a set of rules of its own. Within a set the more precise
//! rule wins, so that a set can make exceptions to itself; between sets the stricter one wins, so that no source can
//! widen what another one allows.

use std::fmt;
use std::str::FromStr;

use crewagent_format::text::folded;
use crewagent_format::wording::{nearest, quoted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::FileKind;
use crate::tool::Tool;
use crate::vpath::{Mount, VPath};

/// Maximum size of a pattern, in bytes.
const MAX_PATTERN: usize = 256;
/// Tools that change files, so that a rule with a folder can match them.
pub(super) const WRITERS: [&str; 4] = ["fs.write", "fs.apply_patch", "fs.move", "fs.delete"];

/// The rules of one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RuleSet {
    /// The place.
    pub from: Source,
    /// Calls that are allowed, as exceptions from the other two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<ToolPattern>,
    /// Calls that need the user's approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<ToolPattern>,
    /// Calls that are denied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<ToolPattern>,
}

/// Source of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Source {
    /// The settings.
    Settings,
    /// The command line of a run.
    Run,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Settings => "the settings",
            Self::Run => "the command line",
        })
    }
}

/// Verdicts of rules, the strictest last.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Verdict {
    /// The tool may be called.
    Allow,
    /// The user is asked first.
    Ask,
    /// The tool may not be called.
    Deny,
}

/// A rule, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Rule {
    /// Calls that it applies to.
    pub pattern: ToolPattern,
    /// Source of the rule.
    pub from: Source,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of {}", self.pattern, self.from)
    }
}

/// Pattern of calls: `fs.write`, `fs.*`, `*`, those that write below a folder, as `fs.*(@project/src)`, or those about a
/// kind of files, as `fs.*(secrets)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(type = "string"))]
pub struct ToolPattern {
    tool: ToolName,
    files: Option<FilePattern>,
}

/// Files that a pattern is limited to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FilePattern {
    Below(VPath),
    Kind(FileKind),
}

/// Tools that a pattern matches, the most precise last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ToolName {
    Any,
    /// Tools whose names begin with this prefix, which ends with a dot.
    Family(String),
    Exactly(String),
}

impl ToolPattern {
    /// Returns true if the pattern matches calls of this tool that write to this path; without a path, the tool as a
    /// whole. A rule that restricts also matches other spellings of its folder, which some file systems do not tell
    /// apart; one that allows does not.
    fn covers(&self, verdict: Verdict, tool: &str, place: Option<&VPath>) -> bool {
        self.names(tool)
            && match (&self.files, place) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(FilePattern::Kind(kind)), Some(place)) => {
                    place.mount() == Mount::Project && kind.covers(place.relative())
                }
                (Some(FilePattern::Below(folder)), Some(place)) => {
                    let (place_name, folder_name) = (place.relative(), folder.relative());
                    place.mount() == folder.mount()
                        && match verdict {
                            Verdict::Allow => is_below(place_name, folder_name),
                            Verdict::Ask | Verdict::Deny => {
                                is_below(&folded(place_name), &folded(folder_name))
                            }
                        }
                }
            }
    }

    fn names(&self, tool: &str) -> bool {
        let is_named = match &self.tool {
            ToolName::Any => true,
            ToolName::Family(start) => tool.starts_with(start),
            ToolName::Exactly(name) => tool == name,
        };
        is_named
            && match &self.files {
                None => true,
                Some(FilePattern::Kind(FileKind::Secrets)) if tool == Tool::Read.name() => true,
                Some(_) => WRITERS.contains(&tool),
            }
    }

    /// Returns true if the pattern is limited to a folder.
    pub fn has_folder(&self) -> bool {
        matches!(self.files, Some(FilePattern::Below(_)))
    }

    /// Returns the pattern of calls that touch this kind of files.
    pub fn about(kind: FileKind) -> Self {
        Self { tool: ToolName::Family("fs.".to_owned()), files: Some(FilePattern::Kind(kind)) }
    }

    /// Returns true if the pattern is limited to a kind of files.
    pub fn has_kind(&self) -> bool {
        matches!(self.files, Some(FilePattern::Kind(_)))
    }

    /// Returns the precision of the pattern: first its folder, then its name.
    fn precision(&self) -> (Option<usize>, &ToolName) {
        let folder = match &self.files {
            Some(FilePattern::Below(folder)) => Some(folder.relative().len()),
            Some(FilePattern::Kind(_)) | None => None,
        };
        (folder, &self.tool)
    }
}

fn is_below(place: &str, folder: &str) -> bool {
    let below = place.strip_prefix(folder);
    folder.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns true for a tool that no rule can restrict: without it a run could not ask, or not continue.
pub fn is_exempt(tool: &str) -> bool {
    matches!(tool, "ui.ask_user" | "ui.gate") || tool.starts_with("runtime.")
}

impl FromStr for ToolPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > MAX_PATTERN {
            return Err(format!("a rule has at most {MAX_PATTERN} bytes"));
        }
        let (name, files) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((name, folder)) => (name.trim(), Some(files_of(folder)?)),
            None => (text, None),
        };
        let is_name = |name: &str| {
            let is_part = |part: &str| {
                !part.is_empty()
                    && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
            };
            name.split('.').all(is_part)
        };
        let tool = match name.strip_suffix(".*") {
            _ if name == "*" => ToolName::Any,
            Some(family) if is_name(family) => ToolName::Family(format!("{family}.")),
            None if is_name(name) && name.contains('.') => ToolName::Exactly(name.to_owned()),
            Some(_) | None => {
                return Err(format!(
                    "{text:?} is no rule about tools; write one like fs.write, fs.*, mcp.github.*, *, or fs.*(@project/src)"
                ));
            }
        };
        tool.check()?;
        let pattern = Self { tool, files };
        if let ToolName::Exactly(name) | ToolName::Family(name) = &pattern.tool
            && (is_exempt(name) || name == "ui.")
        {
            return Err(format!(
                "there can be no rule about {name}: without it a run could not ask you, or not go on"
            ));
        }
        let mut limited = WRITERS.into_iter().chain([Tool::Read.name()]);
        if pattern.files.is_some() && !limited.any(|tool| pattern.names(tool)) {
            return Err(format!(
                "{text:?}: a folder belongs to rules about fs.write, fs.apply_patch, fs.move, fs.delete or fs.*, which write there"
            ));
        }
        Ok(pattern)
    }
}

impl ToolName {
    /// Refuses a rule about an unknown tool, which would have no effect. Only the tools of servers are unknown in
    /// advance.
    fn check(&self) -> Result<(), String> {
        let is_server = |name: &str| name.starts_with("mcp.");
        let tools = || Tool::ALL.into_iter().map(Tool::name);
        let (written, exists) = match self {
            Self::Any => return Ok(()),
            Self::Family(start) => {
                let exists = is_server(start) || tools().any(|tool| tool.starts_with(start));
                (format!("{start}*"), exists)
            }
            Self::Exactly(name) => {
                (name.clone(), is_server(name) || tools().any(|tool| tool == name))
            }
        };
        if exists {
            return Ok(());
        }
        let ruled = || tools().filter(|tool| !is_exempt(tool));
        let meant = match nearest(&written, ruled().chain(["fs.*", "mcp.*"])) {
            Some(meant) => format!("did you mean {meant}?"),
            None => {
                let tools: Vec<&str> = ruled().collect();
                format!(
                    "rules are about {}, fs.*, *, or tools of servers, such as mcp.github.*",
                    tools.join(", ")
                )
            }
        };
        Err(format!("there is no tool {}; {meant}", quoted(&written)))
    }
}

fn files_of(text: &str) -> Result<FilePattern, String> {
    match FileKind::ALL.into_iter().find(|kind| kind.name() == text.trim()) {
        Some(kind) => Ok(FilePattern::Kind(kind)),
        None => folder_of(text).map(FilePattern::Below),
    }
}

fn folder_of(text: &str) -> Result<VPath, String> {
    let clean = text.trim().trim_end_matches("**").trim_end_matches('/');
    let folder = VPath::parse(clean).ok().filter(|folder| folder.mount() == Mount::Project);
    match folder.filter(|_| clean.starts_with('@') && !clean.contains(['*', '?', '['])) {
        Some(folder) => Ok(folder),
        None => Err(format!(
            "{text:?} is no folder of the project; write one like @project/src, which means everything below it, or a kind of files: runs-later or secrets"
        )),
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            ToolName::Any => f.write_str("*")?,
            ToolName::Family(start) => write!(f, "{start}*")?,
            ToolName::Exactly(name) => f.write_str(name)?,
        }
        match &self.files {
            Some(FilePattern::Below(folder)) => write!(f, "({folder})"),
            Some(FilePattern::Kind(kind)) => write!(f, "({})", kind.name()),
            None => Ok(()),
        }
    }
}

impl TryFrom<String> for ToolPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ToolPattern> for String {
    fn from(pattern: ToolPattern) -> Self {
        pattern.to_string()
    }
}

impl JsonSchema for ToolPattern {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ToolPattern".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Which calls a rule is about, such as `fs.write`, `fs.*`, `*` or `fs.*(@project/src)`.",
            "type": "string"
        })
    }
}

/// Decision of the rules about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDecision {
    pub verdict: Verdict,
    /// Rule that decided; none if no rule matches the call.
    pub rule: Option<Rule>,
}

impl PolicyDecision {
    const ALLOW: Self = Self { verdict: Verdict::Allow, rule: None };

    /// Returns the decision after the user granted these rules.
    fn granted(self, granted: &[Rule]) -> Self {
        match &self.rule {
            Some(rule) if self.verdict == Verdict::Ask && granted.contains(rule) => {
                Self { verdict: Verdict::Allow, ..self }
            }
            Some(_) | None => self,
        }
    }

    /// Returns the stricter of two decisions.
    fn or_stricter(self, other: Self) -> Self {
        if other.verdict > self.verdict || self.rule.is_none() { other } else { self }
    }
}

impl RuleSet {
    /// Returns an empty set.
    pub fn none(from: Source) -> Self {
        Self { from, allow: Vec::new(), ask: Vec::new(), deny: Vec::new() }
    }

    /// Returns true if the set has no rules.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.ask.is_empty() && self.deny.is_empty()
    }

    /// Returns all rules of the set.
    pub fn rules(&self) -> impl Iterator<Item = (Verdict, &ToolPattern)> {
        let allow = self.allow.iter().map(|pattern| (Verdict::Allow, pattern));
        let ask = self.ask.iter().map(|pattern| (Verdict::Ask, pattern));
        let deny = self.deny.iter().map(|pattern| (Verdict::Deny, pattern));
        allow.chain(ask).chain(deny)
    }

    /// Decides by the most precise rule; of two equally precise ones, by the stricter.
    fn decide(&self, tool: &str, place: Option<&VPath>) -> PolicyDecision {
        let covering =
            self.rules().filter(|(verdict, pattern)| pattern.covers(*verdict, tool, place));
        let decisive = covering
            .max_by(|(one, a), (other, b)| a.precision().cmp(&b.precision()).then(one.cmp(other)));
        decisive.map_or(PolicyDecision::ALLOW, |(verdict, pattern)| self.decision(verdict, pattern))
    }

    /// Decides by the rules about the tool and about `fs.write`, if these apply to it: the stricter wins. Of two that are
    /// equally strict the tool's own wins, so that the user grants one rule, not two.
    fn decide_by_all(&self, tool: &str, place: Option<&VPath>) -> PolicyDecision {
        let decisions = ruled_as(tool).map(|name| self.decide(name, place));
        decisions.fold(PolicyDecision::ALLOW, PolicyDecision::or_stricter)
    }

    /// Decides about a tool before its arguments are known: it is denied if every call would be.
    fn outlook(&self, tool: &str) -> PolicyDecision {
        let whole = self.decide(tool, None);
        if whole.verdict != Verdict::Deny {
            return whole;
        }
        let parts = self.rules().filter(|(_, rule)| rule.has_folder() && rule.names(tool));
        let open = parts.filter(|(verdict, _)| *verdict != Verdict::Deny);
        open.min_by_key(|(verdict, _)| *verdict)
            .map_or(whole, |(verdict, pattern)| self.decision(verdict, pattern))
    }

    fn decision(&self, verdict: Verdict, pattern: &ToolPattern) -> PolicyDecision {
        PolicyDecision { verdict, rule: Some(Rule { pattern: pattern.clone(), from: self.from }) }
    }
}

/// Decides by all sets, and by the rules about all these tools, about a call that writes or reads these paths, or none. A
/// rule that the user `granted` no longer asks. No rule can deny changes of the run's state: the guard decides about
/// them.
pub fn decide(
    sets: &[RuleSet],
    granted: &[Rule],
    tools: &[&str],
    places: &[&VPath],
) -> PolicyDecision {
    let tools: Vec<&str> = tools.iter().copied().filter(|tool| !is_exempt(tool)).collect();
    let judged = |place: Option<&VPath>| {
        let said = tools.iter().flat_map(|tool| {
            sets.iter().map(|set| set.decide_by_all(tool, place).granted(granted))
        });
        said.fold(PolicyDecision::ALLOW, PolicyDecision::or_stricter)
    };
    let writes = tools.iter().any(|tool| WRITERS.contains(tool)) || tools.is_empty();
    let whole = if writes && !places.is_empty() { PolicyDecision::ALLOW } else { judged(None) };
    let open = places.iter().filter(|place| place.mount() != Mount::State);
    open.map(|place| judged(Some(place))).fold(whole, PolicyDecision::or_stricter)
}

/// Decides by all sets about a tool before it is called.
pub fn outlook(sets: &[RuleSet], tool: &str) -> PolicyDecision {
    if is_exempt(tool) {
        return PolicyDecision::ALLOW;
    }
    let said = ruled_as(tool).flat_map(|name| sets.iter().map(move |set| set.outlook(name)));
    said.fold(PolicyDecision::ALLOW, PolicyDecision::or_stricter)
}

/// Returns the tools whose rules apply to a tool: a model that may not write a file may neither move nor delete it.
fn ruled_as(tool: &str) -> impl Iterator<Item = &str> {
    let as_write = matches!(tool, "fs.move" | "fs.delete").then_some("fs.write");
    [Some(tool), as_write].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(from: Source, allow: &[&str], ask: &[&str], deny: &[&str]) -> RuleSet {
        let read = |rules: &[&str]| rules.iter().map(|rule| rule.parse().unwrap()).collect();
        RuleSet { from, allow: read(allow), ask: read(ask), deny: read(deny) }
    }

    #[track_caller]
    fn check(sets: &[RuleSet], tool: &str, place: Option<&str>, expected: Verdict, rule: &str) {
        let place = place.map(|place| VPath::parse(place).unwrap());
        let places: Vec<&VPath> = place.iter().collect();
        let decision = decide(sets, &[], &[tool], &places);
        let by = decision.rule.map(|rule| rule.pattern.to_string()).unwrap_or_default();
        assert_eq!((decision.verdict, by.as_str()), (expected, rule), "{tool} {place:?}");
    }

    #[test]
    fn in_one_place_the_more_precise_rule_wins() {
        let sets = [set(
            Source::Settings,
            &["fs.read", "fs.*(@project/artifacts)"],
            &["fs.write"],
            &["*", "mcp.*"],
        )];
        check(&sets, "fs.read", None, Verdict::Allow, "fs.read");
        check(&sets, "fs.list", None, Verdict::Deny, "*");
        check(&sets, "mcp.github.search", None, Verdict::Deny, "mcp.*");
        check(&sets, "fs.write", Some("@project/a.md"), Verdict::Ask, "fs.write");
        let below = "fs.*(@project/artifacts)";
        check(&sets, "fs.write", Some("@project/artifacts/a.md"), Verdict::Allow, below);
        check(&sets, "fs.write", Some("@project/artifacts-2/a.md"), Verdict::Ask, "fs.write");
        check(&sets, "fs.apply_patch", Some("@project/a.md"), Verdict::Deny, "*");
        // A run needs these to ask and to continue.
        check(&sets, "ui.ask_user", None, Verdict::Allow, "");
        check(&sets, "runtime.complete_node", None, Verdict::Allow, "");
        check(&sets, "fs.apply_patch", Some("@state/workflow.md"), Verdict::Allow, "");
        assert_eq!(outlook(&sets, "fs.apply_patch").verdict, Verdict::Allow);
        assert_eq!(outlook(&sets, "fs.list").verdict, Verdict::Deny);
        assert_eq!(outlook(&sets, "fs.write").verdict, Verdict::Ask);
    }

    #[test]
    fn between_places_the_stricter_wins() {
        let settings = set(Source::Settings, &[], &["fs.write"], &["fs.search"]);
        let run = set(Source::Run, &["*"], &["fs.search"], &["fs.list"]);
        for sets in [[settings.clone(), run.clone()], [run, settings]] {
            check(&sets, "fs.write", Some("@project/x"), Verdict::Ask, "fs.write");
            check(&sets, "fs.search", None, Verdict::Deny, "fs.search");
            check(&sets, "fs.list", None, Verdict::Deny, "fs.list");
            check(&sets, "fs.read", None, Verdict::Allow, "*");
        }
    }

    #[test]
    fn a_call_is_judged_by_the_strictest_of_its_places() {
        let sets =
            [set(Source::Run, &[], &["fs.*(@project/src)"], &["fs.*(@project/src/keys/**)"])];
        let places = ["@project/a", "@project/src/b", "@state/workflow.md"];
        let places = places.map(|place| VPath::parse(place).unwrap());
        let judge = |places: &[&VPath]| decide(&sets, &[], &["fs.apply_patch"], places).verdict;
        assert_eq!(judge(&[&places[0]]), Verdict::Allow);
        assert_eq!(judge(&[&places[0], &places[1], &places[2]]), Verdict::Ask);
        let rule = decide(&sets, &[], &["fs.write"], &[&places[1]]).rule.unwrap();
        assert_eq!(decide(&sets, &[rule], &["fs.write"], &[&places[1]]).verdict, Verdict::Allow);
        let key = VPath::parse("@project/src/keys/id").unwrap();
        assert_eq!(judge(&[&places[1], &key]), Verdict::Deny);
    }

    #[test]
    fn a_restricting_rule_holds_for_every_spelling_of_its_folder_and_an_allowing_one_for_one() {
        let sets = [set(
            Source::Settings,
            &["fs.*(@project/Straße/Café)"],
            &["fs.write(@project/docs)"],
            &["fs.*(@project/Straße)"],
        )];
        let deny = "fs.*(@project/Straße)";
        for place in ["@project/Straße/a", "@project/STRASSE/a", "@project/straße/b/c"] {
            check(&sets, "fs.write", Some(place), Verdict::Deny, deny);
        }
        check(&sets, "fs.write", Some("@project/DOCS/a"), Verdict::Ask, "fs.write(@project/docs)");
        let allowed = "fs.*(@project/Straße/Café)";
        check(&sets, "fs.write", Some("@project/Straße/Café/x"), Verdict::Allow, allowed);
        check(&sets, "fs.write", Some("@project/Straße/CAFÉ/x"), Verdict::Deny, deny);
        check(&sets, "fs.write", Some("@project/Straßen/x"), Verdict::Allow, "");
    }

    #[test]
    fn a_rule_about_a_kind_of_files_restricts_and_never_widens() {
        let kinds = set(Source::Settings, &[], &["fs.*(runs-later)", "fs.*(secrets)"], &[]);
        let asked = std::slice::from_ref(&kinds);
        for tool in ["fs.write", "fs.apply_patch", "fs.move", "fs.delete"] {
            check(asked, tool, Some("@project/web/package.json"), Verdict::Ask, "fs.*(runs-later)");
            check(asked, tool, Some("@project/.env"), Verdict::Ask, "fs.*(secrets)");
            check(asked, tool, Some("@project/src/main.rs"), Verdict::Allow, "");
        }
        check(asked, "fs.read", Some("@project/.env"), Verdict::Ask, "fs.*(secrets)");
        check(asked, "fs.read", Some("@project/package.json"), Verdict::Allow, "");
        check(asked, "fs.read", Some("@pkg/.env"), Verdict::Allow, "");
        assert_eq!(outlook(asked, "fs.read").verdict, Verdict::Allow);
        let denying = set(Source::Settings, &[], &[], &["fs.write", "fs.read"]);
        let both = [denying, kinds];
        check(&both, "fs.write", Some("@project/Makefile"), Verdict::Deny, "fs.write");
        check(&both, "fs.read", Some("@project/.env"), Verdict::Deny, "fs.read");
        check(&both, "fs.read", Some("@state/workflow.md"), Verdict::Deny, "fs.read");
        assert_eq!(outlook(&both, "fs.write").verdict, Verdict::Deny);
    }

    #[test]
    fn a_rule_about_writing_holds_for_moving_and_deleting() {
        let below = "fs.write(@project/artifacts)";
        let sets = [set(Source::Settings, &[below], &["fs.move"], &["fs.write"])];
        for tool in ["fs.move", "fs.delete"] {
            check(&sets, tool, Some("@project/a.md"), Verdict::Deny, "fs.write");
        }
        check(&sets, "fs.delete", Some("@project/artifacts/a.md"), Verdict::Allow, below);
        check(&sets, "fs.move", Some("@project/artifacts/a.md"), Verdict::Ask, "fs.move");
        // The other way round it does not.
        let sets = [set(Source::Settings, &[], &[], &["fs.delete"])];
        check(&sets, "fs.write", Some("@project/a.md"), Verdict::Allow, "");
        assert_eq!(outlook(&sets, "fs.delete").verdict, Verdict::Deny);
    }

    #[test]
    fn one_grant_is_enough_for_a_tool_that_two_rules_ask_about() {
        let sets = [set(Source::Run, &[], &["fs.write", "fs.move", "fs.apply_patch"], &[])];
        let place = VPath::parse("@project/a.md").unwrap();
        let judge = |granted: &[Rule], tools: &[&str]| decide(&sets, granted, tools, &[&place]);
        let rule = judge(&[], &["fs.move"]).rule.unwrap();
        assert_eq!(rule.pattern.to_string(), "fs.move");
        assert_eq!(judge(&[rule], &["fs.move"]).verdict, Verdict::Allow);
        // A grant for patches is none for patches that move files.
        let rule = judge(&[], &["fs.apply_patch"]).rule.unwrap();
        let both = ["fs.apply_patch", "fs.move"];
        assert_eq!(judge(std::slice::from_ref(&rule), &both[..1]).verdict, Verdict::Allow);
        assert_eq!(judge(&[rule], &both).verdict, Verdict::Ask);
    }

    #[test]
    fn a_rule_is_written_back_as_it_was_read() {
        for text in [
            "*",
            "fs.*",
            "fs.write",
            "mcp.my-server.*",
            "fs.*(@project/src)",
            "*(@project)",
            "fs.*(secrets)",
        ] {
            assert_eq!(text.parse::<ToolPattern>().unwrap().to_string(), text);
        }
        let folder: ToolPattern = " fs.write(@project/src/**) ".parse().unwrap();
        assert_eq!(folder.to_string(), "fs.write(@project/src)");
    }

    #[test]
    fn what_is_no_rule_says_why() {
        let check = |text: &str, says: &str| {
            let error = text.parse::<ToolPattern>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        };
        for text in ["", "write", "fs.", "fs.w*", "fs write", ".*", "fs.write(@project"] {
            check(text, "is no rule about tools");
        }
        for text in ["ui.ask_user", "ui.*", "runtime.*", "runtime.complete_node"] {
            check(text, "there can be no rule about");
        }
        for (text, meant) in [
            ("FS.WRITE", "fs.write"),
            ("fs.wirte", "fs.write"),
            ("fs.wirte(@project/src)", "fs.write"),
            ("fs.aply_patch", "fs.apply_patch"),
            ("FS.*", "fs.*"),
            ("mpc.*", "mcp.*"),
        ] {
            check(text, &format!("did you mean {meant}?"));
        }
        for text in ["shell.run", "shell.*", "fs.read.*", "runtime.stop"] {
            check(text, "there");
        }
        check(
            "shell.run",
            "rules are about fs.read, fs.list, fs.search, fs.write, fs.apply_patch,",
        );
        check("fs.read(@project/a)", "a folder belongs to rules about");
        check("fs.list(secrets)", "belongs to rules about");
        check("fs.read(runs-later)", "belongs to rules about");
        for text in [
            "fs.write(@pkg/x)",
            "fs.write(src)",
            "fs.write(@project/*.md)",
            "fs.write(@project/../x)",
        ] {
            check(text, "is no folder of the project");
        }
        check(&"x".repeat(300), "at most 256 bytes");
    }
}
