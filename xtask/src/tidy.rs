//! `cargo xtask tidy`: the rules of the architecture that neither the compiler nor clippy checks.

mod commit;
mod crates;
mod dependencies;
mod disk;
mod docs;
mod documents;
mod exceptions;
mod habits;
mod header;
mod knots;
mod libraries;
mod licences;
mod limits;
mod machine_paths;
mod names;
mod purity;
mod ratchet;
mod script;
mod size;
mod source;
mod words;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use exceptions::Exceptions;
use limits::TidyLimits;
use ratchet::Ratchet;
use source::RustSources;
use words::Glossary;

use crate::repo::Repo;

const LIMITS_PATH: &str = "xtask/tidy.toml";
const EXCEPTIONS_PATH: &str = "xtask/size-exceptions.toml";

/// Action beside the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TidyMode {
    Check,
    /// Lower the size exceptions and the ratchet to the current counts first.
    Shrink,
    /// Only list the findings that the ratchet counts for this rule.
    List(String),
}

/// Violation of a rule, at one place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TidyFinding {
    path: String,
    line: usize,
    rule: TidyRule,
    /// Violation and advice.
    message: String,
}

/// Kinds of checks; a finding names its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TidyRule {
    Parse,
    Purity,
    Disk,
    Layers,
    Size,
    Header,
    Name,
    Dependency,
    Lock,
    Habit,
    Document,
    MachinePath,
    Knot,
    CrateSize,
    Library,
    Licence,
    Commit,
    Binary,
    Ratchet,
    Word,
    SharedName,
    CrowdedName,
    EventMatch,
    Doc,
    DocOpening,
}

impl TidyRule {
    fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Purity => "purity",
            Self::Disk => "disk",
            Self::Layers => "layers",
            Self::Size => "size",
            Self::Header => "header",
            Self::Name => "name",
            Self::Dependency => "dependency",
            Self::Lock => "lock",
            Self::Habit => "habit",
            Self::Document => "document",
            Self::MachinePath => "machine-path",
            Self::Knot => "knot",
            Self::CrateSize => "crate-size",
            Self::Library => "library",
            Self::Licence => "licence",
            Self::Commit => "commit",
            Self::Binary => "binary",
            Self::Ratchet => "ratchet",
            Self::Word => "word",
            Self::SharedName => "shared-name",
            Self::CrowdedName => "crowded-name",
            Self::EventMatch => "event-match",
            Self::Doc => "doc",
            Self::DocOpening => "doc-opening",
        }
    }

    /// Returns true if findings of the rule are counted by the ratchet instead of reported.
    fn is_counted(self) -> bool {
        self >= Self::Word
    }

    fn at(self, path: &str, line: usize, message: impl Into<String>) -> TidyFinding {
        TidyFinding { path: path.to_string(), line, rule: self, message: message.into() }
    }
}

impl fmt::Display for TidyFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, message } = self;
        write!(f, "{path}:{line}: {message} ({})", rule.name())
    }
}

/// Runs every check and lists all findings at once. Fails if there are any.
pub(crate) fn run(root: &Path, mode: &TidyMode) -> anyhow::Result<()> {
    let repo = Repo::load(root)?;
    let limits = parse(&repo, LIMITS_PATH, TidyLimits::parse)?;
    let mut exceptions = parse(&repo, EXCEPTIONS_PATH, Exceptions::parse)?;
    let mut ratchet = parse(&repo, ratchet::PATH, Ratchet::parse)?;
    let glossary = parse(&repo, words::PATH, Glossary::parse)?;
    let (sources, mut findings) = RustSources::parse(&repo);
    findings.extend(glossary.check(&repo, &sources));
    findings.extend(docs::check(&sources));
    findings.extend(names::check(&sources));
    findings.extend(habits::check(&sources));
    let (counted, mut findings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.rule.is_counted());
    if let TidyMode::List(rule) = mode {
        return list(counted, rule);
    }
    let counts = Ratchet::count(&counted);
    let measured = size::measure(&sources);
    if *mode == TidyMode::Shrink {
        exceptions = shrink(root, &exceptions, &measured, &limits)?;
        ratchet = ratchet.lowered(&counts);
        write(root, ratchet::PATH, &ratchet.render()?)?;
    }
    findings.extend(ratchet.check(&counts));
    findings.extend(size::check(&measured, &limits, &exceptions));
    findings.extend(dependencies::check_trees(root, &limits));
    findings.extend(dependencies::check_manifests(&repo, &limits));
    findings.extend(dependencies::check_lock(&repo, &limits));
    findings.extend(knots::check(&sources, &limits));
    findings.extend(libraries::check(&repo, &sources));
    findings.extend(licences::check(root, &repo)?);
    findings.extend(purity::check(&repo, &sources));
    findings.extend(disk::check(&sources));
    findings.extend(header::check(&repo));
    findings.extend(documents::check(&repo, &limits));
    findings.extend(machine_paths::check(&repo));
    findings.extend(commit::check(root));
    let crates = crates::measure(&sources);
    findings.extend(crates::check(&crates, &limits));
    findings.extend(crates::check_binary(root, &limits));
    println!("{}", crates::summary(&crates));
    for (name, size) in knots::sizes(&sources) {
        println!("{name}: {size} modules depend on each other");
    }
    for line in ratchet.summary(&counts) {
        println!("{line}");
    }
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("{} files are tidy", repo.len());
            Ok(())
        }
        count => bail!("{count} tidy findings"),
    }
}

/// Parses a file of the repository that the checks need.
fn parse<T>(
    repo: &Repo,
    path: &str,
    parse: impl FnOnce(&str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    parse(repo.require(path)?).with_context(|| format!("in {path}"))
}

/// Prints the findings of one rule.
fn list(counted: Vec<TidyFinding>, rule: &str) -> anyhow::Result<()> {
    let mut listed: Vec<_> =
        counted.into_iter().filter(|finding| finding.rule.name() == rule).collect();
    listed.sort();
    for finding in &listed {
        println!("{finding}");
    }
    println!("{} findings", listed.len());
    Ok(())
}

fn write(root: &Path, path: &str, text: &str) -> anyhow::Result<()> {
    fs::write(root.join(path), text).with_context(|| format!("cannot write {path}"))
}

/// Returns the crate of a path: `core` of `crates/core/…`, else the first folder.
fn area(path: &str) -> &str {
    let inside = path.strip_prefix("crates/").unwrap_or(path);
    inside.split('/').next().unwrap_or(inside)
}

/// Returns `core` and `a/b.rs` of `crates/core/src/a/b.rs`.
fn crate_source(path: &str) -> Option<(&str, &str)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    Some((name, rest.strip_prefix("src/")?))
}

fn shrink(
    root: &Path,
    exceptions: &Exceptions,
    measured: &size::MeasuredSizes,
    limits: &TidyLimits,
) -> anyhow::Result<Exceptions> {
    let text = exceptions.shrink(measured, limits).render()?;
    write(root, EXCEPTIONS_PATH, &text)?;
    Exceptions::parse(&text)
}

/// Returns the 1-based line of a byte offset.
fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Asserts the places of findings: `path:line` for each, in order.
#[cfg(test)]
#[track_caller]
fn assert_places(findings: &[TidyFinding], expected: &[&str]) {
    let places: Vec<_> = findings.iter().map(|f| format!("{}:{}", f.path, f.line)).collect();
    assert_eq!(places, expected, "{findings:#?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_prints_as_place_message_rule() {
        let finding = TidyRule::MachinePath.at("docs/a.md", 3, "write a relative path");
        assert_eq!(finding.to_string(), "docs/a.md:3: write a relative path (machine-path)");
    }

    #[test]
    fn our_own_lists_parse() {
        let root = crate::shell::repo_root();
        TidyLimits::parse(&fs::read_to_string(root.join(LIMITS_PATH)).unwrap()).unwrap();
        Exceptions::parse(&fs::read_to_string(root.join(EXCEPTIONS_PATH)).unwrap()).unwrap();
        Ratchet::parse(&fs::read_to_string(root.join(ratchet::PATH)).unwrap()).unwrap();
        Glossary::parse(&fs::read_to_string(root.join(words::PATH)).unwrap()).unwrap();
    }

    #[test]
    fn a_path_belongs_to_a_crate() {
        assert_eq!(area("crates/core/src/a.rs"), "core");
        assert_eq!(area("xtask/src/a.rs"), "xtask");
        assert_eq!(crate_source("crates/core/src/a/b.rs"), Some(("core", "a/b.rs")));
        assert_eq!(crate_source("crates/core/tests/a.rs"), None);
        assert_eq!(crate_source("web/src/a.ts"), None);
    }

    #[test]
    fn shrinking_rewrites_the_file_with_its_comment() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("xtask")).unwrap();
        let exceptions = "[[exception]]\npath = \"a.rs\"\nlines = 900\n";
        let exceptions = Exceptions::parse(exceptions).unwrap();
        let code = "fn f() {}\n".repeat(600);
        let (sources, _) = RustSources::parse(&Repo::of(&[("a.rs", &code)]));
        let measured = size::measure(&sources);
        shrink(root.path(), &exceptions, &measured, &TidyLimits::for_test()).unwrap();
        let text = fs::read_to_string(root.path().join(EXCEPTIONS_PATH)).unwrap();
        assert!(text.starts_with("# Files and functions over the limits"), "{text}");
        assert!(text.ends_with("[[exception]]\npath = \"a.rs\"\nlines = 600\n"), "{text}");
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(line_at("a\nb\n", 0), 1);
        assert_eq!(line_at("a\nb\n", 2), 2);
    }
}
