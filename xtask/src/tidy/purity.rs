//! Purity: the pure crates do no IO and read no clock. Their sources name none, and their clippy.toml bans the calls.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::source::RustSources;
use super::{TidyFinding, TidyRule};
use crate::repo::Repo;

/// Crates that do no IO, read no clock and start no thread.
const PURE: [&str; 5] = ["convert", "core", "dialect", "draw", "format"];
const ROOT_CLIPPY: &str = "clippy.toml";

/// Modules of `std` with side effects.
const BANNED_MODULES: [&str; 5] = ["fs", "net", "env", "process", "thread"];
/// Types that read a clock, whatever path they are named by.
const BANNED_WORDS: [&str; 2] = ["SystemTime", "Instant"];
/// Paths that clippy must ban, so that a call through a method or an alias is found too.
const BANNED_IN_CLIPPY: [&str; 16] = [
    "std::env::args",
    "std::env::current_dir",
    "std::env::var",
    "std::env::vars",
    "std::fs::File",
    "std::fs::OpenOptions",
    "std::fs::read",
    "std::fs::read_dir",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::UdpSocket",
    "std::process::Command",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
];
const CLIPPY_LISTS: [&str; 2] = ["disallowed-methods", "disallowed-types"];

pub(super) fn check(repo: &Repo, sources: &RustSources) -> Vec<TidyFinding> {
    let mut findings = check_sources(sources);
    findings.extend(PURE.iter().flat_map(|name| check_clippy(repo, name)));
    findings
}

fn check_sources(sources: &RustSources) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (path, source) in sources.iter() {
        let is_inside = |name: &&&str| path.starts_with(&format!("crates/{name}/src/"));
        let Some(pure) = PURE.iter().find(is_inside) else { continue };
        let mut add = |line: usize, name: &str| {
            if !source.is_test(line) {
                let message =
                    format!("{pure} names `{name}`; take the value as an argument instead");
                findings.push(TidyRule::Purity.at(path, line, message));
            }
        };
        for module in BANNED_MODULES {
            for line in source.lines_naming("std", module) {
                add(line, &format!("std::{module}"));
            }
        }
        for word in BANNED_WORDS {
            let lines: BTreeSet<_> =
                source.tokens.iter().filter(|token| token.is_word(word)).map(|t| t.line).collect();
            for line in lines {
                add(line, word);
            }
        }
    }
    findings
}

fn check_clippy(repo: &Repo, name: &str) -> Vec<TidyFinding> {
    let path = format!("crates/{name}/clippy.toml");
    let pure = match parse(repo, &path) {
        Ok(pure) => pure,
        Err(finding) => return vec![finding],
    };
    let root = match parse(repo, ROOT_CLIPPY) {
        Ok(root) => root,
        Err(finding) => return vec![finding],
    };
    let at = |message: String| TidyRule::Purity.at(&path, 1, message);
    let banned = banned_paths(&pure);
    let missing = BANNED_IN_CLIPPY.into_iter().filter(|path| !banned.contains(path));
    let missing = missing.map(|path| at(format!("does not ban `{path}`; add it to a list")));
    // Clippy reads only the nearest file, so that of a pure crate repeats the settings of the root. The lists differ: a
    // pure crate bans the types whose methods the root bans.
    let settings = root.iter().filter(|(key, _)| !CLIPPY_LISTS.contains(&key.as_str()));
    let changed = settings.filter(|(key, value)| pure.get(*key) != Some(*value));
    let changed =
        changed.map(|(key, value)| at(format!("set `{key} = {value}`, as {ROOT_CLIPPY}")));
    missing.chain(changed).collect()
}

fn parse(repo: &Repo, path: &str) -> Result<Table, TidyFinding> {
    let text =
        repo.text(path).ok_or_else(|| TidyRule::Purity.at(path, 1, "is missing; write it"))?;
    text.parse().map_err(|error: toml::de::Error| {
        TidyRule::Parse.at(path, 1, format!("is not TOML: {}", error.message()))
    })
}

/// Returns the banned paths; entries are paths, or tables with a `path`.
fn banned_paths(clippy: &Table) -> BTreeSet<&str> {
    let lists = CLIPPY_LISTS.into_iter().filter_map(|list| clippy.get(list)?.as_array());
    let path_of = |entry| Value::as_str(entry).or_else(|| entry.get("path")?.as_str());
    lists.flatten().filter_map(path_of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;

    fn check_core(text: &str, expected: &[&str]) {
        let (sources, errors) = RustSources::parse(&Repo::of(&[("crates/core/src/a.rs", text)]));
        assert_eq!(errors, []);
        let expected: Vec<_> =
            expected.iter().map(|line| format!("crates/core/src/a.rs:{line}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_places(&check_sources(&sources), &expected);
    }

    #[test]
    fn io_in_the_core_is_found() {
        check_core("use std::fs;", &["1"]);
        check_core("use std::{\n  fmt,\n  net::TcpStream,\n};", &["3"]);
        check_core("fn f() { let x = std::env::var(\"A\"); }", &["1"]);
        check_core("fn f() { std::process::exit(1) }\nuse std::thread::spawn;", &["1", "2"]);
    }

    #[test]
    fn a_clock_in_the_core_is_found() {
        check_core("use std::time::{Duration, Instant};", &["1"]);
        check_core("fn f(now: SystemTime) {}", &["1"]);
    }

    #[test]
    fn tests_comments_and_other_names_are_no_findings() {
        check_core("#[cfg(test)]\nmod tests {\n  use std::fs;\n}\n", &[]);
        check_core("/// Not std::fs, nor an Instant.\nuse std::path::Path;\n", &[]);
        check_core("use std::time::Duration;\nuse crate::process;\nstruct Instants;\n", &[]);
    }

    #[test]
    fn other_crates_may_do_io() {
        let (sources, _) =
            RustSources::parse(&Repo::of(&[("crates/engine/src/a.rs", "use std::fs;")]));
        assert_places(&check_sources(&sources), &[]);
    }

    fn complete_clippy() -> String {
        let (types, methods): (Vec<_>, Vec<_>) = BANNED_IN_CLIPPY
            .into_iter()
            .partition(|path| path.rsplit("::").next().unwrap().starts_with(char::is_uppercase));
        format!("threshold = 80\ndisallowed-methods = {methods:?}\ndisallowed-types = {types:?}\n")
    }

    fn check_clippy_file(text: &str, expected: &[&str]) {
        let repo = Repo::of(&[(ROOT_CLIPPY, "threshold = 80"), ("crates/core/clippy.toml", text)]);
        let messages: Vec<_> = check_clippy(&repo, "core").into_iter().map(|f| f.message).collect();
        assert_eq!(messages.len(), expected.len(), "{messages:?}");
        for (message, expected) in messages.iter().zip(expected) {
            assert!(message.contains(expected), "{messages:?}");
        }
    }

    #[test]
    fn a_complete_clippy_file_is_no_finding() {
        check_clippy_file(&complete_clippy(), &[]);
        let with_table =
            complete_clippy().replace("\"std::env::var\"", "{ path = \"std::env::var\" }");
        check_clippy_file(&with_table, &[]);
    }

    #[test]
    fn a_call_that_clippy_does_not_ban_is_found() {
        let text = complete_clippy().replace("\"std::time::Instant::now\", ", "");
        check_clippy_file(&text, &["std::time::Instant::now"]);
    }

    #[test]
    fn a_setting_that_differs_from_the_root_is_found() {
        check_clippy_file(&complete_clippy().replace("80", "800"), &["threshold = 80"]);
    }

    #[test]
    fn a_missing_clippy_file_is_found() {
        let findings = check_clippy(&Repo::of(&[(ROOT_CLIPPY, "")]), "core");
        assert_places(&findings, &["crates/core/clippy.toml:1"]);
    }
}
