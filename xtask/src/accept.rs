//! `cargo xtask accept`: rewrites the expectations of tests from the results of the code, and shows the difference.
//!
//! A test file names in its `//!` lines the command that accepts its results, such as `cargo xtask accept golden`; the
//! tests to run are found by it. On a clean tree of a correct program the command leaves no difference.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::file_tests::FileTests;
use crate::repo::Repo;
use crate::shell::{self, cargo};
use crate::steps;

/// Environment variable that names the suites to tests; `crewagent_testkit::accept` reads it.
const VARIABLE: &str = "CREWAGENT_ACCEPT";

/// Group of expected results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Suite {
    /// Hostile archives.
    Fixtures,
    Schemas,
    Dialect,
    Golden,
    Types,
    /// Pages of `docs/` that follow from the code.
    Reference,
    Snapshots,
    /// Figures of proofs and benchmarks in `docs/`. They differ from machine to machine, so they are accepted by name only.
    Docs,
}

impl Suite {
    pub(crate) const ALL: [Self; 8] = [
        Self::Fixtures,
        Self::Schemas,
        Self::Dialect,
        Self::Golden,
        Self::Types,
        Self::Reference,
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
            Self::Reference => "reference",
            Self::Snapshots => "snapshots",
            Self::Docs => "docs",
        }
    }

    /// Returns true if the tests of this file write results of the suite.
    fn is_written_by(self, path: &str, text: &str) -> bool {
        if self == Self::Snapshots {
            return !path.starts_with("xtask/") && text.contains("insta::assert");
        }
        // The command may be wrapped over two lines.
        let header = text.lines().map_while(|line| line.strip_prefix("//!"));
        let header = header.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        header.contains(&format!("`cargo xtask accept {}`", self.name()))
    }
}

/// Accepts the results of the suites; all but the documents when none is named.
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
    let tests = FileTests::of(repo, |path, text| {
        suites.iter().any(|suite| suite.is_written_by(path, text))
    });
    let names: Vec<_> = suites.iter().map(|suite| suite.name()).collect();
    let names = names.join(",");
    let mut variables = vec![(VARIABLE, names.as_str())];
    if suites == [Suite::Snapshots] {
        // insta writes the snapshot and still fails the test, unless it is forced to pass.
        variables.extend([("INSTA_UPDATE", "always"), ("INSTA_FORCE_PASS", "1")]);
    }
    tests.run(root, &[], &variables)
}

/// Runs the full proofs and all benchmarks, which write their figures into `docs/`.
fn accept_documents(root: &Path) -> anyhow::Result<()> {
    steps::run_proofs(root, &[(VARIABLE, Suite::Docs.name())])?;
    shell::run(cargo(root, &["bench", "--locked"]).env(VARIABLE, Suite::Docs.name()))
}

/// Prints the difference to the last commit, new files included.
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
    let pending = ["ls-files", "--others", "--ignored", "--exclude-standard", "*.pending-snap"];
    if !git(&pending)?.is_empty() {
        println!("an inline snapshot has changed: `cargo insta accept`, or edit it by hand");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_names_its_suite_in_its_first_lines() {
        let text = "//! Runs.\n//! `cargo xtask accept golden` writes them.\nfn f() {}";
        assert!(Suite::Golden.is_written_by("a.rs", text));
        assert!(!Suite::Types.is_written_by("a.rs", text));
        let wrapped = "//! Runs; `cargo xtask\n//! accept golden` writes them.";
        assert!(Suite::Golden.is_written_by("a.rs", wrapped));
        assert!(!Suite::Golden.is_written_by("a.rs", "// `cargo xtask accept golden`"));
        assert!(Suite::Snapshots.is_written_by("a.rs", "fn f() { insta::assert_snapshot!(x); }"));
    }

    #[test]
    fn every_suite_of_this_repository_has_tests() {
        let repo = Repo::load(&shell::repo_root()).unwrap();
        for suite in Suite::ALL.into_iter().filter(|suite| *suite != Suite::Docs) {
            let tests = FileTests::of(&repo, |path, text| suite.is_written_by(path, text));
            assert!(!tests.is_empty(), "{}", suite.name());
        }
    }
}
