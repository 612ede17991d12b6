//! Module cycles: modules of a crate depend on each other in one direction, except for listed cycles.

use std::collections::{BTreeMap, BTreeSet};

use super::limits::TidyLimits;
use super::source::{RustSource, RustSources, RustToken};
use super::{TidyFinding, TidyRule, crate_source};

/// Top-level modules, each with the modules that it names.
type ModuleGraph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Checks the largest set of mutually dependent modules of each crate.
pub(super) fn check(sources: &RustSources, limits: &TidyLimits) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (name, graph) in graphs(sources) {
        let allowed = limits.knots.get(name).copied().unwrap_or(1);
        let knot = largest_knot(&graph);
        if knot.len() > allowed {
            let message = format!(
                "{} modules of {name} depend on each other, {allowed} may: {}; move what two of them share into a third",
                knot.len(),
                knot.join(", "),
            );
            findings.push(TidyRule::Knot.at(&format!("crates/{name}/src"), 1, message));
        }
    }
    findings
}

/// Returns the size of the largest knot of each crate that has one.
pub(super) fn sizes(sources: &RustSources) -> Vec<(&str, usize)> {
    let size = |(name, graph)| (name, largest_knot(&graph).len());
    graphs(sources).into_iter().map(size).filter(|(_, size)| *size > 1).collect()
}

/// Builds the module graph of every crate in `crates/`, without tests and the crate's root file.
fn graphs(sources: &RustSources) -> BTreeMap<&str, ModuleGraph<'_>> {
    let mut graphs: BTreeMap<&str, ModuleGraph<'_>> = BTreeMap::new();
    for (path, source) in sources.iter() {
        let Some((name, file)) = crate_source(path) else { continue };
        let stem = file.strip_suffix(".rs").unwrap_or(file);
        if matches!(stem, "lib" | "main") {
            continue;
        }
        let module = stem.split('/').next().unwrap_or(stem);
        let uses = graphs.entry(name).or_default().entry(module).or_default();
        uses.extend(names_from_root(source, stem.split('/').count()));
    }
    for graph in graphs.values_mut() {
        let modules: BTreeSet<&str> = graph.keys().copied().collect();
        for (module, uses) in graph.iter_mut() {
            uses.retain(|used| used != module && modules.contains(used));
        }
    }
    graphs
}

/// Returns the first names of paths from the crate's root: after `crate::`, or after one `super::` a level.
fn names_from_root(source: &RustSource, depth: usize) -> Vec<&str> {
    let mut names = Vec::new();
    let tokens = &source.tokens;
    for (index, token) in tokens.iter().enumerate() {
        if source.is_test(token.line) {
            continue;
        }
        if token.is_word("crate") {
            names.extend(heads_after(&tokens[index + 1..]));
        } else if token.is_word("super") && (index == 0 || !tokens[index - 1].is_mark(':')) {
            let levels = super_levels(&tokens[index..]);
            if levels == depth {
                names.extend(heads_after(&tokens[index + 3 * levels - 2..]));
            }
        }
    }
    names
}

/// Counts `super` in `super::super::x`.
fn super_levels(tokens: &[RustToken]) -> usize {
    let is_level = |part: &&[RustToken]| match part {
        [word, first, second] => word.is_word("super") && first.is_mark(':') && second.is_mark(':'),
        _ => false,
    };
    tokens.chunks(3).take_while(is_level).count()
}

/// Returns `a` of `::a::b`, and `a` and `c` of `::{a::b, c}`.
fn heads_after(tokens: &[RustToken]) -> Vec<&str> {
    match tokens {
        [first, second, next, rest @ ..] if first.is_mark(':') && second.is_mark(':') => {
            if next.is_mark('{') {
                RustSource::heads_in_braces(rest).into_iter().map(|(head, _)| head).collect()
            } else {
                next.word().into_iter().collect()
            }
        }
        _ => Vec::new(),
    }
}

/// Returns the largest set of modules that all reach each other; one module if there is no cycle.
fn largest_knot<'a>(graph: &ModuleGraph<'a>) -> Vec<&'a str> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|module| (*module, reachable(graph, module))).collect();
    let knot = |module: &&'a str| -> Vec<&'a str> {
        let back = |other: &&&'a str| {
            *other == module
                || reached[*module].contains(**other) && reached[**other].contains(*module)
        };
        graph.keys().filter(back).copied().collect()
    };
    graph.keys().map(knot).max_by_key(Vec::len).unwrap_or_default()
}

fn reachable<'a>(graph: &ModuleGraph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in graph.get(module).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;
    use crate::repo::Repo;

    fn check_knot(files: &[(&str, &str)], expected: &[&str]) {
        let files: Vec<_> =
            files.iter().map(|(path, text)| (format!("crates/x/src/{path}"), *text)).collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (sources, errors) = RustSources::parse(&Repo::of(&files));
        assert_eq!(errors, []);
        let graphs = graphs(&sources);
        assert_eq!(largest_knot(&graphs["x"]), expected);
    }

    #[test]
    fn a_cycle_through_any_spelling_of_a_path_is_found() {
        check_knot(&[("a.rs", "use crate::b::X;"), ("b.rs", "")], &["b"]);
        check_knot(
            &[("a.rs", "use crate::b::X;"), ("b.rs", "fn f() { crate::a::g(); }")],
            &["a", "b"],
        );
        check_knot(
            &[("a.rs", "use crate::{c, b::X};"), ("b/d.rs", "use super::super::a;")],
            &["a", "b"],
        );
        check_knot(&[("a.rs", "use super::b;"), ("b.rs", "m!(crate::a);")], &["a", "b"]);
    }

    #[test]
    fn a_longer_way_round_is_a_cycle_and_the_largest_is_told() {
        let files = [
            ("a.rs", "use crate::b;"),
            ("b.rs", "use crate::c;"),
            ("c.rs", "use crate::a;"),
            ("d.rs", "use crate::e;"),
            ("e.rs", "use crate::{a, d};"),
        ];
        check_knot(&files, &["a", "b", "c"]);
    }

    #[test]
    fn children_tests_and_the_root_make_no_cycle() {
        check_knot(&[("a.rs", "use crate::a::c;"), ("a/c.rs", "use super::X;")], &["a"]);
        let test = "#[cfg(test)]\nmod tests { use crate::a; }";
        check_knot(&[("a.rs", "use crate::b;"), ("b.rs", test)], &["b"]);
        check_knot(&[("lib.rs", "use crate::a;"), ("a.rs", "pub(crate) struct X;")], &["a"]);
    }

    #[test]
    fn a_listed_knot_may_not_grow() {
        let files =
            [("crates/x/src/a.rs", "use crate::b;"), ("crates/x/src/b.rs", "use crate::a;")];
        let (sources, _) = RustSources::parse(&Repo::of(&files));
        let mut limits = TidyLimits::for_test();
        assert_places(&check(&sources, &limits), &["crates/x/src:1"]);
        limits.knots.insert("x".into(), 2);
        assert_places(&check(&sources, &limits), &[]);
        assert_eq!(sizes(&sources), [("x", 2)]);
    }
}
