//! `cargo xtask accept`: writes what tests expect anew from what the code does, and shows the difference.
//!
//! A test file says in its `//!` lines which command accepts its results, such as `cargo xtask accept golden`, so the
//! tests to run follow from the files. On a clean tree of a correct program the command leaves no difference.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use crate::repo::Repo;
use crate::shell::{self, cargo};
use crate::steps;

/// Tells tests what to write; `crewagent_testkit::accept` reads it.
const VARIABLE: &str = "CREWAGENT_ACCEPT";

/// A group of expected results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Suite {
    /// Hostile archives.
    Fixtures,
    Schemas,
    Dialect,
    Golden,
    Types,
    Snapshots,
    /// Figures of proofs and benchmarks in `docs/`. They differ from machine to machine, so they are accepted by name only.
    Docs,
}

impl Suite {
    pub(crate) const ALL: [Self; 7] = [
        Self::Fixtures,
        Self::Schemas,
        Self::Dialect,
        Self::Golden,
        Self::Types,
        Self::Snapshots,
        Self::Docs,
    ];

    pub(crate) fn parse(name: &str) -> anyhow::Result<Self> {
        let Some(suite) = Self::ALL.into_iter().find(|suite| suite.name() == name) else {
            let valid = Self::ALL.map(Self::name).join(", ");
            bail!("unknown suite `{name}`; the suites are {valid}");
        };
        Ok(suite)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fixtures => "fixtures",
            Self::Schemas => "schemas",
            Self::Dialect => "dialect",
            Self::Golden => "golden",
            Self::Types => "types",
            Self::Snapshots => "snapshots",
            Self::Docs => "docs",
        }
    }

    /// Returns true if the tests of this file write results of the suite.
    fn is_written_by(self, path: &str, text: &str) -> bool {
        if self == Self::Snapshots {
            return !path.starts_with("xtask/") && text.contains("insta::assert");
        }
        let command = format!("`cargo xtask accept {}`", self.name());
        text.lines().take_while(|line| line.starts_with("//!")).any(|line| line.contains(&command))
    }
}

/// Accepts what the suites find; all but the documents when none is named.
pub(crate) fn run(root: &Path, suites: &[Suite]) -> anyhow::Result<()> {
    let repo = Repo::load(root)?;
    let is_chosen = |suite: &Suite| match suites {
        [] => *suite != Suite::Docs,
        named => named.contains(suite),
    };
    let chosen: Vec<_> = Suite::ALL.into_iter().filter(is_chosen).collect();
    // Snapshots come last, because some are reports about fixtures.
    let is_own = |suite: &Suite| matches!(suite, Suite::Snapshots | Suite::Docs);
    let (own, others): (Vec<_>, Vec<_>) = chosen.into_iter().partition(is_own);
    if !others.is_empty() {
        accept_tests(root, &repo, &others)?;
    }
    if own.contains(&Suite::Snapshots) {
        accept_tests(root, &repo, &[Suite::Snapshots])?;
    }
    if own.contains(&Suite::Docs) {
        accept_documents(root)?;
    }
    show_difference(root)
}

fn accept_tests(root: &Path, repo: &Repo, suites: &[Suite]) -> anyhow::Result<()> {
    let mut tests = Tests::default();
    for suite in suites {
        let found = Tests::of(repo, |path, text| suite.is_written_by(path, text));
        ensure!(
            !found.filters.is_empty(),
            "no test file names `cargo xtask accept {}`",
            suite.name()
        );
        tests.targets.extend(found.targets);
        tests.filters.extend(found.filters);
    }
    let mut command = tests.command(root, &["test"]);
    command.env(VARIABLE, suites.iter().map(|suite| suite.name()).collect::<Vec<_>>().join(","));
    if suites == [Suite::Snapshots] {
        // insta writes the snapshot and fails the test all the same, unless it is told to pass.
        command.env("INSTA_UPDATE", "always").env("INSTA_FORCE_PASS", "1");
    }
    shell::run(&mut command)
}

/// Tests of some files, as cargo and its test binaries choose them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tests {
    targets: BTreeSet<String>,
    filters: BTreeSet<String>,
}

impl Tests {
    /// Chooses the tests of the files that a predicate picks.
    pub(crate) fn of(repo: &Repo, is_chosen: impl Fn(&str, &str) -> bool) -> Self {
        let mut tests = Self::default();
        for (path, _) in repo.texts_ending(".rs").filter(|(path, text)| is_chosen(path, text)) {
            if let Some((target, filter)) = target_of(path) {
                tests.targets.insert(target);
                tests.filters.insert(filter);
            }
        }
        tests
    }

    /// Returns a command that runs them. It names the whole workspace, because cargo compiles the libraries anew for a
    /// part of it.
    pub(crate) fn command(&self, root: &Path, verb: &[&str]) -> Command {
        let mut command = cargo(root, verb);
        command.args(["--locked", "--workspace"]);
        command.args(self.targets.iter().flat_map(|target| target.split(' ')));
        command.arg("--").args(&self.filters);
        command
    }
}

/// Returns the kind of test binary that holds a file, and the filter that chooses the file's tests.
fn target_of(path: &str) -> Option<(String, String)> {
    let (name, rest) = path.strip_prefix("crates/")?.split_once('/')?;
    let (kind, file) = rest.strip_suffix(".rs")?.split_once('/')?;
    let (target, module) = match kind {
        "tests" => {
            let (binary, module) = file.split_once('/')?;
            (format!("--test {binary}"), module)
        }
        // A program has no library to test.
        "src" if name == "cli" => ("--bins".to_owned(), file),
        "src" => ("--lib".to_owned(), file),
        _ => return None,
    };
    Some((target, module.replace('/', "::") + "::"))
}

/// Runs the full proofs and all benchmarks, which write their figures into `docs/`.
fn accept_documents(root: &Path) -> anyhow::Result<()> {
    shell::run(steps::proofs(root)?.env(VARIABLE, Suite::Docs.name()))?;
    shell::run(cargo(root, &["bench", "--locked"]).env(VARIABLE, Suite::Docs.name()))
}

/// Prints what differs from the last commit, new files too.
fn show_difference(root: &Path) -> anyhow::Result<()> {
    let git = |args: &[&str]| {
        shell::capture(Command::new("git").current_dir(root).args(args)).context("cannot ask git")
    };
    let changed = git(&["diff", "--stat", "HEAD"])?;
    let new = git(&["ls-files", "--others", "--exclude-standard"])?;
    if changed.is_empty() && new.is_empty() {
        println!("\nnothing differs from the last commit");
    } else {
        println!("\ndiffers from the last commit; read it before you commit it:\n{changed}{new}");
    }
    if new.contains(".pending-snap") {
        println!("an inline snapshot has changed: `cargo insta accept`, or edit it by hand");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_target(path: &str, expected: Option<(&str, &str)>) {
        let expected = expected.map(|(target, filter)| (target.to_owned(), filter.to_owned()));
        assert_eq!(target_of(path), expected, "{path}");
    }

    #[test]
    fn a_test_file_belongs_to_a_binary_and_has_a_filter() {
        check_target("crates/engine/tests/it/golden.rs", Some(("--test it", "golden::")));
        check_target("crates/core/tests/it/chat/a.rs", Some(("--test it", "chat::a::")));
        check_target("crates/core/src/a/tests.rs", Some(("--lib", "a::tests::")));
        check_target("crates/cli/src/a.rs", Some(("--bins", "a::")));
        check_target("crates/core/benches/a.rs", None);
        check_target("xtask/src/a.rs", None);
    }

    #[test]
    fn the_tests_of_several_files_are_one_command() {
        let files =
            [("crates/a/tests/it/b.rs", ""), ("crates/c/src/d.rs", ""), ("crates/c/e.rs", "")];
        let tests = Tests::of(&Repo::of(&files), |_, _| true);
        let line = shell::command_line(&tests.command(&shell::repo_root(), &["test"]));
        assert_eq!(line, "cargo test --locked --workspace --lib --test it -- b:: d::");
    }

    #[test]
    fn a_file_names_its_suite_in_its_first_lines() {
        let text = "//! Runs.\n//! `cargo xtask accept golden` writes them.\nfn f() {}";
        assert!(Suite::Golden.is_written_by("a.rs", text));
        assert!(!Suite::Types.is_written_by("a.rs", text));
        assert!(!Suite::Golden.is_written_by("a.rs", "// `cargo xtask accept golden`"));
        assert!(Suite::Snapshots.is_written_by("a.rs", "fn f() { insta::assert_snapshot!(x); }"));
    }

    #[test]
    fn every_suite_of_this_repository_has_tests() {
        let repo = Repo::load(&shell::repo_root()).unwrap();
        for suite in Suite::ALL.into_iter().filter(|suite| *suite != Suite::Docs) {
            let tests = Tests::of(&repo, |path, text| suite.is_written_by(path, text));
            assert!(!tests.filters.is_empty(), "{}", suite.name());
        }
    }
}
