//! `cargo xtask tidy`: the rules of the architecture that neither the compiler nor clippy checks.

mod dependencies;
mod disk;
mod documents;
mod exceptions;
mod habits;
mod header;
mod limits;
mod machine_paths;
mod names;
mod purity;
mod repo;
mod size;
mod source;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use exceptions::Exceptions;
use limits::Limits;
use repo::Repo;
use source::Sources;

const LIMITS_PATH: &str = "xtask/tidy.toml";
const EXCEPTIONS_PATH: &str = "xtask/size-exceptions.toml";

/// What to do about size exceptions that are larger than they need to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Report them.
    Check,
    /// Lower them in the file, then report the rest.
    Shrink,
}

/// One broken promise, at one place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    rule: Rule,
    /// What is wrong and what to do about it.
    message: String,
}

/// The families of checks; a finding names its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
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
}

impl Rule {
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
        }
    }

    fn at(self, path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_string(), line, rule: self, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, message } = self;
        write!(f, "{path}:{line}: {message} ({})", rule.name())
    }
}

/// Runs every check and lists all findings at once; an error when there are any.
pub(crate) fn run(root: &Path, mode: Mode) -> anyhow::Result<()> {
    let repo = Repo::load(root)?;
    let limits =
        Limits::parse(repo.require(LIMITS_PATH)?).with_context(|| format!("in {LIMITS_PATH}"))?;
    let mut exceptions = Exceptions::parse(repo.require(EXCEPTIONS_PATH)?)
        .with_context(|| format!("in {EXCEPTIONS_PATH}"))?;
    let (sources, mut findings) = Sources::parse(&repo);
    let measured = size::measure(&sources);
    if mode == Mode::Shrink {
        exceptions = shrink(root, &exceptions, &measured, &limits)?;
    }
    findings.extend(size::check(&measured, &limits, &exceptions));
    findings.extend(dependencies::check_trees(root, &limits));
    findings.extend(dependencies::check_manifests(&repo, &limits));
    findings.extend(dependencies::check_lock(&repo, &limits));
    findings.extend(purity::check(&repo, &sources));
    findings.extend(disk::check(&sources));
    findings.extend(header::check(&repo));
    findings.extend(names::check(&sources));
    findings.extend(habits::check(&sources));
    findings.extend(documents::check(&repo, &limits));
    findings.extend(machine_paths::check(&repo));
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

fn shrink(
    root: &Path,
    exceptions: &Exceptions,
    measured: &size::Measured,
    limits: &Limits,
) -> anyhow::Result<Exceptions> {
    let text = exceptions.shrink(measured, limits).render()?;
    fs::write(root.join(EXCEPTIONS_PATH), &text)
        .with_context(|| format!("cannot write {EXCEPTIONS_PATH}"))?;
    Exceptions::parse(&text)
}

/// The 1-based line of a byte offset.
fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Asserts where a check found something: `path:line` for each finding, in order.
#[cfg(test)]
#[track_caller]
fn assert_places(findings: &[Finding], expected: &[&str]) {
    let places: Vec<_> = findings.iter().map(|f| format!("{}:{}", f.path, f.line)).collect();
    assert_eq!(places, expected, "{findings:#?}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_prints_as_place_message_rule() {
        let finding = Rule::MachinePath.at("docs/a.md", 3, "write a relative path");
        assert_eq!(finding.to_string(), "docs/a.md:3: write a relative path (machine-path)");
    }

    #[test]
    fn our_own_limits_and_exceptions_parse() {
        let root = crate::shell::repo_root();
        Limits::parse(&fs::read_to_string(root.join(LIMITS_PATH)).unwrap()).unwrap();
        Exceptions::parse(&fs::read_to_string(root.join(EXCEPTIONS_PATH)).unwrap()).unwrap();
    }

    #[test]
    fn shrinking_rewrites_the_file_with_its_comment() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("xtask")).unwrap();
        let exceptions = "[[exception]]\npath = \"a.rs\"\nlines = 900\n";
        let exceptions = Exceptions::parse(exceptions).unwrap();
        let code = "fn f() {}\n".repeat(600);
        let (sources, _) = Sources::parse(&Repo::of(&[("a.rs", &code)]));
        let measured = size::measure(&sources);
        shrink(root.path(), &exceptions, &measured, &Limits::for_test()).unwrap();
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
