//! Names: no type, module or file is named `Manager`, `Util` or alike, and few types share a name.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use super::source::{RustSource, RustSources};
use super::{TidyFinding, TidyRule};

/// Maximum number of definitions of one name; more make it meaningless.
const MAX_DEFINITIONS: usize = 3;
const BANNED: [&str; 6] = ["Manager", "Handler", "Helper", "Util", "Service", "Info"];

pub(super) fn check(sources: &RustSources) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let mut folders = BTreeSet::new();
    let mut definitions = Definitions::new();
    for (path, source) in sources.iter() {
        let mut finder = DeclarationFinder {
            path,
            source,
            findings: &mut findings,
            definitions: &mut definitions,
        };
        finder.visit_file(&source.tree);
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = file.strip_suffix(".rs").unwrap_or(file);
        findings.extend(banned_word(stem).map(|word| found(path, 1, stem, word)));
        folders.insert(folder);
    }
    let parents: BTreeSet<_> = folders.into_iter().flat_map(ancestors).collect();
    findings.extend(parents.into_iter().filter_map(|folder| {
        let name = folder.rsplit_once('/').map_or(folder, |(_, name)| name);
        Some(found(folder, 1, name, banned_word(name)?))
    }));
    findings.extend(shared(&definitions));
    findings
}

/// Path and line of each definition of a type name outside of tests.
type Definitions<'a> = BTreeMap<String, Vec<(&'a str, usize)>>;

/// Returns a finding for every definition of a shared name, and one more for a name with many of them.
fn shared(definitions: &Definitions<'_>) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (name, places) in definitions.iter().filter(|(_, places)| places.len() > 1) {
        let count = places.len();
        for (path, line) in places {
            let message = format!("`{name}` is defined {count} times; name each by what it is");
            findings.push(TidyRule::SharedName.at(path, *line, message));
        }
        if let Some((path, line)) = places.first().filter(|_| count > MAX_DEFINITIONS) {
            let message =
                format!("`{name}` is defined {count} times, {MAX_DEFINITIONS} are allowed");
            findings.push(TidyRule::CrowdedName.at(path, *line, message));
        }
    }
    findings
}

/// Returns `a/b/c`, `a/b` and `a`.
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| Some(folder.rsplit_once('/')?.0))
}

fn found(path: &str, line: usize, name: &str, word: &str) -> TidyFinding {
    let message = format!("`{name}` ends in `{word}`; name it by the noun of the spec that it is");
    TidyRule::Name.at(path, line, message)
}

/// Returns the banned word, or its plural, that a name in `CamelCase` or `snake_case` ends in.
fn banned_word(name: &str) -> Option<&'static str> {
    let last = name.rsplit(['_', '-']).next().unwrap_or(name);
    let singular = last.strip_suffix('s').unwrap_or(last);
    let is = |name: &str, word: &str| name.ends_with(word) || name == word.to_lowercase();
    BANNED.into_iter().find(|word| is(last, word) || is(singular, word))
}

struct DeclarationFinder<'a, 'b> {
    path: &'b str,
    source: &'b RustSource,
    findings: &'a mut Vec<TidyFinding>,
    definitions: &'a mut Definitions<'b>,
}

impl DeclarationFinder<'_, '_> {
    fn add(&mut self, name: &syn::Ident) {
        let text = name.to_string();
        if let Some(word) = banned_word(&text) {
            self.findings.push(found(self.path, name.span().start().line, &text, word));
        }
    }

    fn add_type(&mut self, name: &syn::Ident) {
        self.add(name);
        let line = name.span().start().line;
        if !self.source.is_test(line) {
            self.definitions.entry(name.to_string()).or_default().push((self.path, line));
        }
    }
}

impl<'ast> Visit<'ast> for DeclarationFinder<'_, '_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add_type(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.add_type(&item.ident);
        visit::visit_item_union(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add_type(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // A module in its own file is found by the file.
        if item.content.is_some() {
            self.add(&item.ident);
        }
        visit::visit_item_mod(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;
    use crate::repo::Repo;

    fn check_names(path: &str, text: &str, expected: &[&str]) {
        let (sources, errors) = RustSources::parse(&Repo::of(&[(path, text)]));
        assert_eq!(errors, []);
        assert_places(&check(&sources), expected);
    }

    #[test]
    fn a_type_that_ends_in_a_banned_word_is_found() {
        check_names("a.rs", "struct RunManager;", &["a.rs:1"]);
        check_names("a.rs", "\nenum Utils {}", &["a.rs:2"]);
        check_names("a.rs", "trait PathHelpers {}", &["a.rs:1"]);
        check_names("a.rs", "type HTTPService = u8;", &["a.rs:1"]);
        check_names("a.rs", "fn f() { struct NodeInfo { x: u8 } }", &["a.rs:1"]);
        check_names("a.rs", "mod event_handlers { }", &["a.rs:1"]);
    }

    #[test]
    fn a_file_or_folder_named_so_is_found_once() {
        check_names("crates/a/src/run_manager.rs", "", &["crates/a/src/run_manager.rs:1"]);
        check_names("crates/a/src/utils/path.rs", "", &["crates/a/src/utils:1"]);
        check_names("tests/helpers.rs", "", &["tests/helpers.rs:1"]);
    }

    #[test]
    fn a_shared_name_is_found_at_each_definition_and_a_crowded_one_once_more() {
        check_names("a.rs", "struct A;\nmod b { struct A; }\nstruct C;", &["a.rs:1", "a.rs:2"]);
        let crowd = "struct A;\nmod b { enum A {} }\nmod c { trait A {} }\nmod d { type A = u8; }";
        check_names("a.rs", crowd, &["a.rs:1", "a.rs:2", "a.rs:3", "a.rs:4", "a.rs:1"]);
    }

    #[test]
    fn a_word_that_only_looks_alike_is_no_finding() {
        check_names("crates/a/src/management.rs", "struct Managerial;", &[]);
        check_names("a.rs", "struct Reinfo; struct InfoBox; mod informed {}", &[]);
        check_names("a.rs", "enum Severity { Info, Warning }", &[]);
        check_names("a.rs", "impl tower::Service for X { type Service = u8; }", &[]);
    }
}
