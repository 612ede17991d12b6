//! `cargo xtask test`: the named steps, each run whatever the others did, and a summary.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fmt, fs};

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::shell::{self, cargo};
use crate::{fuzz, mcp, tidy, web};

/// One part of `cargo xtask test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Fmt,
    Clippy,
    Test,
    Mcp,
    Web,
    Browser,
    Tidy,
    Doc,
    Deny,
    Fuzz,
}

impl Step {
    const ALL: [Self; 10] = [
        Self::Fmt,
        Self::Clippy,
        Self::Test,
        Self::Mcp,
        Self::Web,
        Self::Browser,
        Self::Tidy,
        Self::Doc,
        Self::Deny,
        Self::Fuzz,
    ];

    pub(crate) fn parse(name: &str) -> anyhow::Result<Self> {
        let Some(step) = Self::ALL.into_iter().find(|step| step.name() == name) else {
            let valid = Self::ALL.map(Self::name).join(", ");
            bail!("unknown step `{name}`; the steps are {valid}");
        };
        Ok(step)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Test => "test",
            Self::Mcp => "mcp",
            Self::Web => "web",
            Self::Browser => "browser",
            Self::Tidy => "tidy",
            Self::Doc => "doc",
            Self::Deny => "deny",
            Self::Fuzz => "fuzz",
        }
    }

    fn purpose(self) -> &'static str {
        match self {
            Self::Fmt => "the code is formatted",
            Self::Clippy => "no compiler or clippy warning",
            Self::Test => "doc tests, unit tests, integration tests",
            Self::Mcp => "MCP servers from npm and PyPI",
            Self::Web => "the web app: types, unit tests, size",
            Self::Browser => "the web app in a real browser",
            Self::Tidy => "the promises of the architecture",
            Self::Doc => "the API documentation builds without a warning",
            Self::Deny => "licences, banned crates, sources",
            Self::Fuzz => "a short run of each fuzz target",
        }
    }

    fn run(self, root: &Path) -> anyhow::Result<()> {
        match self {
            Self::Fmt => check_format(root),
            Self::Clippy => shell::run(&mut cargo(
                root,
                &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
            )),
            Self::Test => run_tests(root),
            Self::Mcp => mcp::run(root),
            Self::Web => web::check(root),
            Self::Browser => web::drive(root),
            Self::Tidy => tidy::run(root, &tidy::Mode::Check),
            Self::Doc => shell::run(
                cargo(root, &["doc", "--workspace", "--no-deps", "--locked"])
                    .env("RUSTDOCFLAGS", "-Dwarnings"),
            ),
            Self::Deny => deny(root, &["bans", "licenses", "sources"]),
            Self::Fuzz => fuzz::run(root, &fuzz::Plan::smoke()),
        }
    }
}

/// Which steps to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection(Vec<Step>);

impl Selection {
    /// All steps, or those named by `--only`, less those named by `--skip`.
    pub(crate) fn new(only: &[Step], skip: &[Step]) -> Self {
        let wanted = |step: &Step| (only.is_empty() || only.contains(step)) && !skip.contains(step);
        Self(Step::ALL.into_iter().filter(wanted).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Runs the selected steps; an error when one failed.
pub(crate) fn run(root: &Path, selection: &Selection) -> anyhow::Result<()> {
    let mut summary = Summary::default();
    for step in Step::ALL {
        if !selection.0.contains(&step) {
            summary.rows.push((step, Outcome::Skipped));
            continue;
        }
        println!("\n==> {}: {}", step.name(), step.purpose());
        let start = Instant::now();
        let result = step.run(root);
        let elapsed = start.elapsed();
        let outcome = match result {
            Ok(()) => Outcome::Passed(elapsed),
            Err(error) => {
                eprintln!("error: {error:#}");
                Outcome::Failed(elapsed)
            }
        };
        println!("<== {}: {outcome}", step.name());
        summary.rows.push((step, outcome));
        // After every step, so that a run that is cut short leaves its durations too.
        summary.write_times(&shell::target_dir(root))?;
    }
    println!("\n{summary}");
    match summary.failed().as_slice() {
        [] => Ok(()),
        failed => bail!("failed: {}", failed.join(", ")),
    }
}

/// `cargo xtask advisories`.
pub(crate) fn advisories(root: &Path) -> anyhow::Result<()> {
    deny(root, &["advisories"])
}

fn deny(root: &Path, checks: &[&str]) -> anyhow::Result<()> {
    shell::CARGO_DENY.ensure(root)?;
    let args = ["deny", "--locked", "--workspace", "check", "--hide-inclusion-graph"];
    shell::run(cargo(root, &args).args(checks))
}

fn check_format(root: &Path) -> anyhow::Result<()> {
    let workspace = shell::run(&mut cargo(root, &["fmt", "--all", "--check"]));
    // The fuzz crate is a workspace of its own, so `--all` does not reach it.
    if root.join("fuzz/Cargo.toml").exists() {
        let args = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"];
        shell::run(&mut cargo(root, &args))?;
    }
    workspace
}

fn run_tests(root: &Path) -> anyhow::Result<()> {
    // Before the others: a reader looks for the count of tests in the last lines of a runner.
    let doc_tests = shell::run(&mut cargo(root, &["test", "--doc", "--workspace", "--locked"]));
    if shell::has_subcommand(root, "nextest") {
        shell::run(&mut cargo(
            root,
            &["nextest", "run", "--workspace", "--locked", "--no-fail-fast"],
        ))?;
    } else {
        // Naming the targets leaves the doc tests out.
        let args = ["test", "--workspace", "--locked", "--lib", "--bins", "--tests", "--examples"];
        shell::run(&mut cargo(root, &args))?;
    }
    doc_tests
}

/// Returns a command that runs the proofs of the engine in full.
pub(crate) fn proofs(root: &Path) -> Command {
    let args =
        ["test", "--release", "--locked", "-p", "crewagent-engine", "--test", "it", "proofs::"];
    let mut command = cargo(root, &args);
    command.env("PROOF_SCALE", "full");
    command
}

#[derive(Debug, Clone, Copy)]
enum Outcome {
    Passed(Duration),
    Failed(Duration),
    Skipped,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(elapsed) => write!(f, "passed  {:>7.1} s", elapsed.as_secs_f64()),
            Self::Failed(elapsed) => write!(f, "FAILED  {:>7.1} s", elapsed.as_secs_f64()),
            Self::Skipped => f.write_str("skipped"),
        }
    }
}

/// The closing table, and one line that counts.
#[derive(Default)]
struct Summary {
    rows: Vec<(Step, Outcome)>,
}

impl Summary {
    fn failed(&self) -> Vec<&'static str> {
        let failed = self.rows.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Failed(_)));
        failed.map(|(step, _)| step.name()).collect()
    }

    /// Writes the outcome and the seconds of every step to `ci-times.json` in cargo's target folder.
    fn write_times(&self, target: &Path) -> anyhow::Result<()> {
        let step = |(step, outcome): &(Step, Outcome)| match outcome {
            Outcome::Skipped => None,
            Outcome::Passed(time) => Some((step.name(), "passed", time.as_secs_f64())),
            Outcome::Failed(time) => Some((step.name(), "failed", time.as_secs_f64())),
        };
        let rows: Vec<_> = self.rows.iter().filter_map(step).collect();
        let tenths = |seconds: f64| (seconds * 10.0).round() / 10.0;
        let total: f64 = rows.iter().map(|(.., seconds)| seconds).sum();
        let times = json!({
            "seconds": tenths(total),
            "steps": rows.iter().map(|(step, outcome, seconds)| {
                json!({ "step": step, "outcome": outcome, "seconds": tenths(*seconds) })
            }).collect::<Vec<_>>(),
        });
        let path = target.join("ci-times.json");
        fs::create_dir_all(target)
            .and_then(|()| fs::write(&path, format!("{times:#}\n")))
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut passed = 0;
        let mut skipped = 0;
        for (step, outcome) in &self.rows {
            writeln!(f, "{:<8}{outcome}", step.name())?;
            match outcome {
                Outcome::Passed(_) => passed += 1,
                Outcome::Failed(_) => {}
                Outcome::Skipped => skipped += 1,
            }
        }
        let failed = self.failed().len();
        write!(f, "steps: {passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_and_skip_choose_steps_in_their_order() {
        assert_eq!(Selection::new(&[], &[]).0, Step::ALL);
        assert_eq!(Selection::new(&[Step::Doc, Step::Fmt], &[]).0, [Step::Fmt, Step::Doc]);
        assert_eq!(Selection::new(&[Step::Doc, Step::Fmt], &[Step::Fmt]).0, [Step::Doc]);
    }

    #[test]
    fn every_step_is_found_by_its_name() {
        for step in Step::ALL {
            assert_eq!(Step::parse(step.name()).unwrap(), step);
        }
        assert!(Step::parse("Fmt").is_err());
    }

    #[test]
    fn the_summary_closes_on_a_count() {
        let second = Duration::from_secs(1);
        let rows = vec![
            (Step::Fmt, Outcome::Passed(second)),
            (Step::Clippy, Outcome::Failed(second)),
            (Step::Doc, Outcome::Skipped),
        ];
        let summary = Summary { rows };
        assert_eq!(
            summary.to_string(),
            "fmt     passed      1.0 s\n\
             clippy  FAILED      1.0 s\n\
             doc     skipped\n\
             steps: 1 passed, 1 failed, 1 skipped"
        );
        assert_eq!(summary.failed(), ["clippy"]);
    }

    #[test]
    fn durations_of_the_steps_that_ran_are_kept() {
        let rows = vec![
            (Step::Fmt, Outcome::Passed(Duration::from_millis(1_240))),
            (Step::Clippy, Outcome::Failed(Duration::from_secs(60))),
            (Step::Doc, Outcome::Skipped),
        ];
        let target = tempfile::tempdir().unwrap();
        Summary { rows }.write_times(target.path()).unwrap();
        let text = fs::read_to_string(target.path().join("ci-times.json")).unwrap();
        let expected = json!({
            "seconds": 61.2,
            "steps": [
                { "step": "fmt", "outcome": "passed", "seconds": 1.2 },
                { "step": "clippy", "outcome": "failed", "seconds": 60.0 },
            ],
        });
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), expected);
    }
}
