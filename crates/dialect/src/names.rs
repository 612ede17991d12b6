//! Names of tools in the form of a provider: `fs.read` is sent as `fs_read` and comes back as `fs.read`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crewagent_core::tool::{self, Tool, ToolSpec};
use crewagent_format::integrity::Digest;

use super::profile::NameForm;

/// Maximum length of a name that all providers accept.
const LONGEST: usize = 64;
/// Number of digits of the digest after a name that would be too long or taken.
const DIGITS: usize = 8;

/// Names of one list of tools, in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolNames(Arc<NamePairs>);

#[derive(Debug, PartialEq, Eq)]
struct NamePairs {
    form: NameForm,
    wire: BTreeMap<String, String>,
    canonical: BTreeMap<String, String>,
}

impl ToolNames {
    /// Builds the names of these tools. No two share a wire name, and the order of the tools does not matter.
    pub fn new(form: NameForm, tools: &[ToolSpec]) -> Self {
        let names: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        let mut shared = BTreeMap::<String, usize>::new();
        for name in &names {
            *shared.entry(legal(form, name)).or_default() += 1;
        }
        let mut pairs = NamePairs { form, wire: BTreeMap::new(), canonical: BTreeMap::new() };
        // Legal names stay, whatever others would become.
        let (legal_names, others): (Vec<&str>, Vec<&str>) =
            names.into_iter().partition(|name| is_legal(form, name));
        for name in legal_names {
            pairs.insert(name, name.to_owned());
        }
        for name in others {
            let wire = legal(form, name);
            let is_alone = shared.get(&wire).is_none_or(|count| *count == 1);
            let wire = if is_alone && !pairs.canonical.contains_key(&wire) {
                wire
            } else {
                pairs.distinct(name)
            };
            pairs.insert(name, wire);
        }
        Self(Arc::new(pairs))
    }

    /// Returns the wire name. A name that is none of the tools is made legal, and differs from all of them.
    pub fn wire<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        let pairs = &*self.0;
        if let Some(wire) = pairs.wire.get(name) {
            return wire.into();
        }
        if is_legal(pairs.form, name) {
            return name.into();
        }
        let wire = legal(pairs.form, name);
        if pairs.canonical.contains_key(&wire) { pairs.distinct(name).into() } else { wire.into() }
    }

    /// Returns the tool of a wire name. A name that is none of the tools is returned unchanged.
    pub fn canonical<'a>(&'a self, wire: &'a str) -> &'a str {
        self.0.canonical.get(wire).map_or(wire, String::as_str)
    }

    /// Returns true if a name means one of the tools, in any spelling that the runtime knows.
    pub fn offers(&self, name: &str) -> bool {
        let NamePairs { wire, canonical, .. } = &*self.0;
        canonical.contains_key(name)
            || wire.contains_key(name)
            || tool::canonical(name).is_some_and(|name| wire.contains_key(name))
    }
}

impl NamePairs {
    fn insert(&mut self, name: &str, wire: String) {
        self.canonical.insert(wire.clone(), name.to_owned());
        self.wire.insert(name.to_owned(), wire);
    }

    /// Returns a legal name that none of the tools has.
    fn distinct(&self, name: &str) -> String {
        let stem = flat(self.form, name);
        let mut wire = digested(&stem, name);
        let mut seed = name.to_owned();
        while self.canonical.contains_key(&wire) {
            seed.push('\n');
            wire = digested(&stem, &seed);
        }
        wire
    }
}

/// Returns the wire name that a tool of the runtime has whatever its canonical name is.
fn given(name: &str) -> Option<&'static str> {
    let tool = Tool::named(name).filter(|tool| *tool == Tool::CompleteNode && tool.name() == name);
    tool.map(Tool::wire_name)
}

fn is_legal(form: NameForm, name: &str) -> bool {
    if given(name).is_some() {
        return false;
    }
    let first = name.chars().next();
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && name.len() <= LONGEST
        && name.chars().all(|c| is_taken(form, c))
}

fn is_taken(form: NameForm, c: char) -> bool {
    let dot = match form {
        NameForm::Plain => false,
        NameForm::Dotted => c == '.',
    };
    c.is_ascii_alphanumeric() || c == '_' || c == '-' || dot
}

/// Returns a legal name that resembles this one.
fn legal(form: NameForm, name: &str) -> String {
    if let Some(given) = given(name) {
        return given.to_owned();
    }
    let flat = flat(form, name);
    if flat.len() <= LONGEST { flat } else { digested(&flat, name) }
}

/// Replaces illegal characters, at any length. The parts of `mcp.server.tool` stay separate, as is common.
fn flat(form: NameForm, name: &str) -> String {
    let mut flat = String::with_capacity(name.len() + 2);
    let mut parts = if name.starts_with("mcp.") { 2 } else { 0 };
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        flat.push('_');
    }
    for c in name.chars() {
        match c {
            taken if is_taken(form, taken) => flat.push(taken),
            '.' if parts > 0 => {
                parts -= 1;
                flat.push_str("__");
            }
            _ => flat.push('_'),
        }
    }
    flat
}

/// Returns the front of a name and a digest of all of it.
fn digested(flat: &str, name: &str) -> String {
    let digest = Digest::of(name.as_bytes()).to_string();
    let digest = digest.get(..DIGITS).unwrap_or_default();
    let front = flat.get(..LONGEST - DIGITS - 1).unwrap_or(flat);
    format!("{front}_{digest}")
}

#[cfg(test)]
mod tests {
    use crewagent_core::tool::Tool;
    use crewagent_core::tool::server_tool::{ServerTool, ServerToolList, ToolOffer};
    use proptest::prelude::*;
    use proptest::test_runner::{Config as ProptestConfig, RngSeed};
    use serde_json::json;

    use super::*;

    fn names(form: NameForm, names: &[&str]) -> ToolNames {
        let tool = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: json!({}),
        };
        ToolNames::new(form, &names.iter().map(tool).collect::<Vec<_>>())
    }

    fn check_wire(tools: &[&str], name: &str, expected: &str) {
        let names = names(NameForm::Plain, tools);
        assert_eq!(names.wire(name), expected);
        if tools.contains(&name) {
            assert_eq!(names.canonical(expected), name);
        }
    }

    #[test]
    fn our_tools_travel_under_the_names_that_calls_are_parsed_by() {
        for tool in Tool::ALL {
            check_wire(&[tool.name()], tool.name(), tool.wire_name());
        }
    }

    #[test]
    fn illegal_names_become_legal() {
        check_wire(&["mcp.git.log"], "mcp.git.log", "mcp__git__log");
        check_wire(&["mcp.git.log.all"], "mcp.git.log.all", "mcp__git__log_all");
        check_wire(&["2fa"], "2fa", "_2fa");
        check_wire(&["größe messen"], "größe messen", "gr__e_messen");
        check_wire(&[""], "", "_");
        check_wire(&["-x"], "-x", "_-x");
    }

    #[test]
    fn long_names_end_in_a_digest() {
        let long = format!("mcp.server.{}", "x".repeat(80));
        let names = names(NameForm::Plain, &[&long]);
        let wire = names.wire(&long);
        assert_eq!(wire.len(), 64);
        assert!(wire.starts_with("mcp__server__xxx"), "{wire}");
        assert_eq!(names.canonical(&wire), long);
    }

    #[test]
    fn a_legal_name_stays_and_the_other_one_gives_way() {
        let names = names(NameForm::Plain, &["fs.read", "fs_read", "fs read"]);
        assert_eq!(names.wire("fs_read"), "fs_read");
        let (dotted, spaced) = (names.wire("fs.read"), names.wire("fs read"));
        assert!(
            dotted.starts_with("fs_read_") && spaced.starts_with("fs_read_"),
            "{dotted} {spaced}"
        );
        assert_ne!(dotted, spaced);
    }

    #[test]
    fn names_that_are_no_tools_are_made_legal_and_are_not_taken_for_one() {
        check_wire(&["fs.read"], "fs.write", "fs_write");
        check_wire(&["fs.read"], "fs_read", "fs_read");
        let names = names(NameForm::Plain, &["fs.read"]);
        assert!(names.wire("fs/read").starts_with("fs_read_"));
        assert_eq!(names.canonical("fs_write"), "fs_write");
        assert_eq!(names.canonical("fs.read"), "fs.read");
    }

    #[test]
    fn odd_names_of_server_tools_travel_and_come_back() {
        let odd = ["get.all", "get_all", "get all", "größe", &"x".repeat(128), "get-all"];
        let offer = |name: &str| Ok(ToolOffer { name: name.to_owned(), ..ToolOffer::default() });
        let listed = ServerToolList::of(&"s".parse().unwrap(), odd.map(offer).into(), None);
        assert_eq!(listed.tools.len(), odd.len());
        let specs: Vec<ToolSpec> = listed.tools.iter().map(ServerTool::spec).collect();
        let names = ToolNames::new(NameForm::Plain, &specs);
        let mut wires = BTreeSet::new();
        for spec in &specs {
            let wire = names.wire(&spec.name).into_owned();
            assert!(wire.len() <= 64 && wire.starts_with("mcp__s__"), "{wire}");
            assert_eq!(names.canonical(&wire), spec.name);
            wires.insert(wire);
        }
        assert_eq!(wires.len(), odd.len());
    }

    #[test]
    fn tools_are_offered_under_every_name_of_theirs() {
        let names = names(NameForm::Plain, &["fs.read", "mcp.git.log"]);
        for name in ["fs.read", "fs_read", "mcp.git.log", "mcp__git__log"] {
            assert!(names.offers(name), "{name}");
        }
        for name in ["fs.write", "fs_write", "read", "log", ""] {
            assert!(!names.offers(name), "{name}");
        }
    }

    #[test]
    fn dots_stay_where_they_are_taken() {
        let names = names(NameForm::Dotted, &["fs.read", ".x"]);
        assert_eq!(names.wire("fs.read"), "fs.read");
        assert_eq!(names.wire(".x"), "_.x");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn names_are_legal_distinct_and_come_back(
            list in proptest::collection::vec("(mcp\\.)?[a._ \\-2é]{0,3}(x{63,70})?", 0..12),
            dotted: bool,
        ) {
            let form = if dotted { NameForm::Dotted } else { NameForm::Plain };
            let list: Vec<&str> = list.iter().map(String::as_str).collect();
            let all = names(form, &list);
            for name in &list {
                let wire = all.wire(name).into_owned();
                prop_assert!(is_legal(form, &wire), "{}", wire);
                prop_assert_eq!(all.canonical(&wire), *name);
            }
            let backwards: Vec<&str> = list.iter().rev().copied().collect();
            prop_assert_eq!(all, names(form, &backwards));
        }

        #[test]
        fn any_name_becomes_legal(name in "\\PC{0,80}") {
            let names = names(NameForm::Plain, &["fs.read"]);
            prop_assert!(is_legal(NameForm::Plain, &names.wire(&name)));
        }
    }
}
