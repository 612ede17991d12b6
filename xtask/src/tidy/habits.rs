//! Small rules: no `mod.rs`, no ignored or sleeping test, no unfinished code, no event matched by `if let`.

use super::source::{RustSource, RustSources, RustToken};
use super::{TidyFinding, TidyRule};

/// Macros that mark unfinished code.
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Types of events; a reader that matches one variant silently skips a new one.
const EVENT_TYPES: [&str; 2] = ["EventKind", "Fact"];

pub(super) fn check(sources: &RustSources) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (path, source) in sources.iter() {
        if path == "mod.rs" || path.ends_with("/mod.rs") {
            findings.push(TidyRule::Habit.at(
                path,
                1,
                "is a `mod.rs`; move `foo/mod.rs` to `foo.rs`",
            ));
        }
        for line in ignored_tests(&source.tokens) {
            let message = "ignores a test; make it fast and hermetic, or remove it";
            findings.push(TidyRule::Habit.at(path, line, message));
        }
        // A benchmark may pace its load.
        let is_bench = path.split('/').any(|part| part == "benches");
        for line in sleeping_tests(source).filter(|_| !is_bench) {
            let message = "sleeps in a test; wait for the event itself, or make the clock a port";
            findings.push(TidyRule::Habit.at(path, line, message));
        }
        for line in event_matches(&source.tokens).filter(|line| !source.is_test(*line)) {
            let message = "picks an event by `if let`; match all of its group";
            findings.push(TidyRule::EventMatch.at(path, line, message));
        }
        for (line, name) in unfinished(&source.tokens) {
            findings.push(TidyRule::Habit.at(
                path,
                line,
                format!("has a `{name}!`; finish or remove it"),
            ));
        }
    }
    findings
}

/// Returns the lines of `#[ignore…]` and `#[cfg_attr(…, ignore…)]`.
fn ignored_tests(tokens: &[RustToken]) -> Vec<usize> {
    let mut lines = Vec::new();
    for (index, window) in tokens.windows(3).enumerate() {
        let [pound, open, name] = window else { continue };
        if !(pound.is_mark('#') && open.is_mark('[')) {
            continue;
        }
        let attribute = tokens[index + 2..].iter().take_while(|token| !token.is_mark(']'));
        let ignores = name.is_word("ignore")
            || name.is_word("cfg_attr")
                && attribute.into_iter().any(|token| token.is_word("ignore"));
        if ignores {
            lines.push(pound.line);
        }
    }
    lines
}

fn sleeping_tests(source: &RustSource) -> impl Iterator<Item = usize> {
    source.lines_naming("thread", "sleep").into_iter().filter(|line| source.is_test(*line))
}

/// Returns the lines of `if let` and `&& let` whose pattern names a variant of the event types.
fn event_matches(tokens: &[RustToken]) -> impl Iterator<Item = usize> {
    tokens.windows(2).enumerate().filter_map(|(index, window)| {
        let [before, word] = window else { return None };
        if !word.is_word("let") || !(before.is_word("if") || before.is_mark('&')) {
            return None;
        }
        let mut pattern = tokens[index + 2..].iter().take_while(|token| !token.is_mark('='));
        let is_event = |token: &RustToken| EVENT_TYPES.iter().any(|name| token.is_word(name));
        pattern.any(is_event).then_some(word.line)
    })
}

fn unfinished(tokens: &[RustToken]) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for window in tokens.windows(3) {
        let [word, bang, next] = window else { continue };
        // `todo != x` is a comparison.
        if bang.is_mark('!') && !next.is_mark('=') {
            let name = UNFINISHED.into_iter().find(|name| word.is_word(name));
            found.extend(name.map(|name| (word.line, name)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;
    use crate::repo::Repo;

    fn check_habits(path: &str, text: &str, expected: &[&str]) {
        let (sources, errors) = RustSources::parse(&Repo::of(&[(path, text)]));
        assert_eq!(errors, []);
        assert_places(&check(&sources), expected);
    }

    #[test]
    fn a_mod_rs_is_found() {
        check_habits("crates/a/src/b/mod.rs", "", &["crates/a/src/b/mod.rs:1"]);
        check_habits("crates/a/src/commod.rs", "", &[]);
    }

    #[test]
    fn an_ignored_test_is_found() {
        check_habits("a.rs", "#[test]\n#[ignore]\nfn f() {}", &["a.rs:2"]);
        check_habits("a.rs", "#[ignore = \"slow\"]\n#[test]\nfn f() {}", &["a.rs:1"]);
        check_habits("a.rs", "#[cfg_attr(windows, ignore)]\n#[test]\nfn f() {}", &["a.rs:1"]);
        check_habits("a.rs", "proptest! {\n#[test]\n#[ignore]\nfn f(x in 0..1) {} }", &["a.rs:3"]);
    }

    #[test]
    fn the_word_ignore_elsewhere_is_no_finding() {
        check_habits("a.rs", "// #[ignore]\nfn ignore() { let s = \"#[ignore]\"; }", &[]);
    }

    #[test]
    fn a_sleeping_test_is_found() {
        check_habits("tests/a.rs", "fn f() { std::thread::sleep(d); }", &["tests/a.rs:1"]);
        check_habits("tests/a.rs", "use std::thread::{sleep, spawn};", &["tests/a.rs:1"]);
        check_habits(
            "a.rs",
            "#[cfg(test)]\nmod tests {\n  use std::thread::sleep;\n}",
            &["a.rs:3"],
        );
    }

    #[test]
    fn sleeping_outside_a_test_is_no_finding() {
        check_habits("a.rs", "fn f() { std::thread::sleep(d); }", &[]);
        check_habits("benches/a.rs", "fn f() { std::thread::sleep(d); }", &[]);
    }

    #[test]
    fn unfinished_code_is_found() {
        check_habits(
            "a.rs",
            "fn f() {\n todo!()\n}\nfn g() { unimplemented!(); }",
            &["a.rs:2", "a.rs:4"],
        );
        check_habits("a.rs", "fn f() { vec![dbg!(1)]; }", &["a.rs:1"]);
    }

    #[test]
    fn an_event_that_is_picked_is_found() {
        check_habits("a.rs", "fn f() { if let Fact::A(x) = y {} }", &["a.rs:1"]);
        check_habits("a.rs", "fn f() { if a\n&& let Some(EventKind::A) = y {} }", &["a.rs:2"]);
        check_habits(
            "a.rs",
            "fn f() { match y { Fact::A => 1, _ => 2 }; if let Some(x) = Fact::A {} }",
            &[],
        );
        check_habits("tests/a.rs", "fn f() { if let Fact::A(x) = y {} }", &[]);
    }

    #[test]
    fn a_comparison_with_todo_is_no_finding() {
        check_habits("a.rs", "fn f(todo: u8) -> bool { todo != 1 }", &[]);
    }
}
