//! `cargo xtask test` and `cargo xtask nightly`: named steps, each run whatever the others did, and a summary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fmt, fs};

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::file_tests::FileTests;
use crate::fuzz::FuzzPlan;
use crate::needs::{self, Need};
use crate::repo::Repo;
use crate::shell::{self, cargo};
use crate::{bmad, fuzz, mcp, real_models, tidy, web};

/// Part of `cargo xtask test` or `cargo xtask nightly`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CiStep {
    Fmt,
    Tidy,
    Web,
    Clippy,
    Test,
    Browser,
    Doc,
    Deny,
    Advisories,
    Mcp,
    Bmad,
    Load,
    Pictures,
    Fuzz,
    Proofs,
    RealModels,
    Bench,
}

impl CiStep {
    /// Steps for every commit. The cheap ones come first; `web` precedes those that put the app into the program.
    pub(crate) const TEST: [Self; 6] =
        [Self::Fmt, Self::Tidy, Self::Web, Self::Clippy, Self::Test, Self::Browser];
    /// Steps that take long or need the network.
    pub(crate) const NIGHTLY: [Self; 11] = [
        Self::Doc,
        Self::Deny,
        Self::Advisories,
        Self::Mcp,
        Self::Bmad,
        Self::Load,
        Self::Pictures,
        Self::Fuzz,
        Self::Proofs,
        Self::RealModels,
        Self::Bench,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Tidy => "tidy",
            Self::Web => "web",
            Self::Clippy => "clippy",
            Self::Test => "test",
            Self::Browser => "browser",
            Self::Doc => "doc",
            Self::Deny => "deny",
            Self::Advisories => "advisories",
            Self::Mcp => "mcp",
            Self::Bmad => "bmad",
            Self::Load => "load",
            Self::Pictures => "pictures",
            Self::Fuzz => "fuzz",
            Self::Proofs => "proofs",
            Self::RealModels => "real-models",
            Self::Bench => "bench",
        }
    }

    fn purpose(self) -> &'static str {
        match self {
            Self::Fmt => "the code is formatted",
            Self::Tidy => "the rules of the architecture, licences, banned crates, sources",
            Self::Web => "the web app: types, unit tests, size",
            Self::Clippy => "no compiler or clippy warning",
            Self::Test => "unit tests, integration tests, samples of the proofs",
            Self::Browser => "the web app in a real browser",
            Self::Doc => "the API documentation builds without a warning",
            Self::Deny => "licences, banned crates, sources, by cargo-deny",
            Self::Advisories => "known vulnerabilities",
            Self::Mcp => "MCP servers from npm and PyPI",
            Self::Bmad => "the importer with the public versions of BMAD",
            Self::Load => "the web app under load, and in every theme",
            Self::Pictures => "the pictures of the guide",
            Self::Fuzz => "a minute of each fuzz target",
            Self::Proofs => "the full proofs of reliability",
            Self::RealModels => "the chat adapter against real servers from PyPI",
            Self::Bench => "the goals of docs/performance.md",
        }
    }

    /// Returns the requirements of the step on the machine.
    pub(crate) fn needs(self) -> &'static [Need] {
        match self {
            Self::Fmt => &[Need::Rustfmt],
            Self::Tidy => &[],
            Self::Web => &[Need::Node],
            Self::Clippy => &[Need::Clippy, Need::Compiler],
            Self::Test | Self::Doc | Self::Deny | Self::Advisories => &[Need::Compiler],
            Self::Browser | Self::Load | Self::Pictures => {
                &[Need::Compiler, Need::Node, Need::Browser]
            }
            Self::Mcp => &[Need::Compiler, Need::Node, Need::Python],
            Self::Fuzz => &[Need::Compiler, Need::CppCompiler],
            Self::Bmad | Self::Proofs | Self::Bench => &[Need::Compiler, Need::Node],
            Self::RealModels => &[Need::Compiler, Need::CppCompiler, Need::Python],
        }
    }

    fn run(self, context: &mut CiContext<'_>) -> anyhow::Result<StepFinish> {
        let root = context.root;
        let done = match self {
            Self::Fmt => check_format(root),
            Self::Tidy => tidy::run(root, &tidy::TidyMode::Check),
            Self::Web => web::check(root).map(|dist| context.web_app = Some(dist)),
            Self::Clippy => shell::run(&mut context.cargo(&[
                "clippy",
                "--workspace",
                "--all-targets",
                "--locked",
                "--",
                "-D",
                "warnings",
            ])),
            Self::Test => run_tests(context).map(|()| context.has_program = true),
            Self::Browser => web::drive(context),
            Self::Doc => shell::run(
                context
                    .cargo(&["doc", "--workspace", "--no-deps", "--locked"])
                    .env("RUSTDOCFLAGS", "-Dwarnings"),
            ),
            Self::Deny => deny(root, &["check", "bans", "licenses", "sources"]),
            Self::Advisories => return advisories(root),
            Self::Mcp => mcp::run(context),
            Self::Bmad => bmad::test(context),
            Self::Load => web::load(context),
            Self::Pictures => web::check_pictures(context),
            Self::Fuzz => fuzz::run(root, &FuzzPlan::all()),
            Self::Proofs => run_proofs(root, &[]),
            Self::RealModels => real_models::run(root, &[]),
            Self::Bench => shell::run(&mut cargo(root, &["bench", "--locked"])),
        };
        done.map(|()| StepFinish::Passed)
    }
}

/// Outcome of a step that did not fail.
enum StepFinish {
    Passed,
    /// It could not run here, for this reason.
    Skipped(String),
}

/// State shared by the steps of one run.
pub(crate) struct CiContext<'a> {
    pub(crate) root: &'a Path,
    /// Built web app, once the step `web` has passed.
    web_app: Option<PathBuf>,
    /// True once the step `test` has built the program, with the app in it if there is one.
    has_program: bool,
}

impl CiContext<'_> {
    /// Returns true if npm has installed the dependencies of the web app, and the app is built.
    pub(crate) fn has_web_app(&self) -> bool {
        self.web_app.is_some()
    }

    /// Returns true if the program is built with the app in it. A separate build would recompile most crates, because
    /// tests enable other features.
    pub(crate) fn has_program(&self) -> bool {
        self.has_program && self.has_web_app()
    }

    /// Returns a command of cargo that puts the app into the program, once it is built. All steps use the same
    /// settings, so that cargo does not recompile the server for each of them.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo(self.root, args);
        if let Some(dist) = &self.web_app {
            command.env("CREWAGENT_WEB", "require").env("CREWAGENT_WEB_DIST", dist);
        }
        command
    }
}

/// Selected steps of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    all: &'static [CiStep],
    chosen: Vec<CiStep>,
}

impl Selection {
    /// Selects all steps, or those named by `--only`, without those named by `--skip`.
    pub(crate) fn new(all: &'static [CiStep], only: &[CiStep], skip: &[CiStep]) -> Self {
        let is_chosen =
            |step: &&CiStep| (only.is_empty() || only.contains(step)) && !skip.contains(step);
        Self { all, chosen: all.iter().filter(is_chosen).copied().collect() }
    }

    /// Finds a step of the command by its name.
    pub(crate) fn step(all: &[CiStep], name: &str) -> anyhow::Result<CiStep> {
        let Some(step) = all.iter().find(|step| step.name() == name) else {
            let valid: Vec<_> = all.iter().map(|step| step.name()).collect();
            bail!("unknown step `{name}`; the steps are {}", valid.join(", "));
        };
        Ok(*step)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }
}

/// Runs the selected steps. Fails if one failed.
pub(crate) fn run(root: &Path, selection: &Selection) -> anyhow::Result<()> {
    needs::ensure(&selection.chosen)?;
    let mut summary = Summary::default();
    let mut context = CiContext { root, web_app: None, has_program: false };
    for step in selection.all.iter().copied() {
        if !selection.chosen.contains(&step) {
            summary.rows.push((step, StepOutcome::Skipped));
            continue;
        }
        println!("\n==> {}: {}", step.name(), step.purpose());
        let start = Instant::now();
        let result = step.run(&mut context);
        let elapsed = start.elapsed();
        let outcome = match result {
            Ok(StepFinish::Passed) => StepOutcome::Passed(elapsed),
            Ok(StepFinish::Skipped(reason)) => {
                println!("skipped: {reason}");
                StepOutcome::Skipped
            }
            Err(error) => {
                eprintln!("error: {error:#}");
                StepOutcome::Failed(elapsed)
            }
        };
        println!("<== {}: {outcome}", step.name());
        summary.rows.push((step, outcome));
        // Written after every step, so that an interrupted run leaves its durations too.
        summary.write_times(&shell::target_dir(root))?;
    }
    println!("\n{summary}");
    match summary.failed().as_slice() {
        [] => Ok(()),
        failed => bail!("failed: {}", failed.join(", ")),
    }
}

/// Searches for known vulnerabilities; skipped without a database.
fn advisories(root: &Path) -> anyhow::Result<StepFinish> {
    if let Err(error) = deny(root, &["fetch", "db"]) {
        return Ok(StepFinish::Skipped(format!(
            "the advisory database cannot be fetched: {error:#}"
        )));
    }
    deny(root, &["check", "--disable-fetch", "advisories"]).map(|()| StepFinish::Passed)
}

fn deny(root: &Path, args: &[&str]) -> anyhow::Result<()> {
    shell::CARGO_DENY.ensure(root)?;
    shell::run(cargo(root, &["deny", "--locked", "--workspace"]).args(args))
}

fn check_format(root: &Path) -> anyhow::Result<()> {
    let workspace = shell::run(&mut cargo(root, &["fmt", "--all", "--check"]));
    // The fuzz crate is a separate workspace, so `--all` does not reach it.
    if root.join("fuzz/Cargo.toml").exists() {
        let args = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"];
        shell::run(&mut cargo(root, &args))?;
    }
    workspace
}

fn run_tests(context: &CiContext<'_>) -> anyhow::Result<()> {
    // Naming the targets leaves the doc tests out; there are none.
    const CARGO_TEST: [&str; 8] = [
        "test",
        "--workspace",
        "--locked",
        "--lib",
        "--bins",
        "--tests",
        "--examples",
        "--no-fail-fast",
    ];
    const NEXTEST: [&str; 5] = ["nextest", "run", "--workspace", "--locked", "--no-fail-fast"];
    if !shell::has_subcommand(context.root, "nextest") {
        return shell::run(&mut context.cargo(&CARGO_TEST));
    }
    // Many tests wait for a process or a timeout most of their time.
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    shell::run(context.cargo(&NEXTEST).arg(format!("--test-threads={}", 2 * cores)))
}

/// Runs every proof in full: the tests of all files that report one.
pub(crate) fn run_proofs(root: &Path, variables: &[(&str, &str)]) -> anyhow::Result<()> {
    let proofs = FileTests::of(&Repo::load(root)?, |path, text| {
        path.contains("/tests/") && text.contains("proven(")
    });
    let variables = [&[("PROOF_SCALE", "full")], variables].concat();
    proofs.run(root, &["--release"], &variables)
}

#[derive(Debug, Clone, Copy)]
enum StepOutcome {
    Passed(Duration),
    Failed(Duration),
    Skipped,
}

impl fmt::Display for StepOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(elapsed) => write!(f, "passed  {:>7.1} s", elapsed.as_secs_f64()),
            Self::Failed(elapsed) => write!(f, "FAILED  {:>7.1} s", elapsed.as_secs_f64()),
            Self::Skipped => f.write_str("skipped"),
        }
    }
}

/// Final table, and one line of totals.
#[derive(Default)]
struct Summary {
    rows: Vec<(CiStep, StepOutcome)>,
}

impl Summary {
    fn failed(&self) -> Vec<&'static str> {
        let failed =
            self.rows.iter().filter(|(_, outcome)| matches!(outcome, StepOutcome::Failed(_)));
        failed.map(|(step, _)| step.name()).collect()
    }

    /// Writes the outcome and the seconds of every step to `ci-times.json` in cargo's target folder.
    fn write_times(&self, target: &Path) -> anyhow::Result<()> {
        let step = |(step, outcome): &(CiStep, StepOutcome)| match outcome {
            StepOutcome::Skipped => None,
            StepOutcome::Passed(time) => Some((step.name(), "passed", time.as_secs_f64())),
            StepOutcome::Failed(time) => Some((step.name(), "failed", time.as_secs_f64())),
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
            writeln!(f, "{:<12}{outcome}", step.name())?;
            match outcome {
                StepOutcome::Passed(_) => passed += 1,
                StepOutcome::Failed(_) => {}
                StepOutcome::Skipped => skipped += 1,
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
        let chosen =
            |only: &[CiStep], skip: &[CiStep]| Selection::new(&CiStep::TEST, only, skip).chosen;
        assert_eq!(chosen(&[], &[]), CiStep::TEST);
        assert_eq!(chosen(&[CiStep::Test, CiStep::Fmt], &[]), [CiStep::Fmt, CiStep::Test]);
        assert_eq!(chosen(&[CiStep::Test, CiStep::Fmt], &[CiStep::Fmt]), [CiStep::Test]);
    }

    #[test]
    fn every_step_is_found_by_its_name() {
        for all in [&CiStep::TEST[..], &CiStep::NIGHTLY] {
            for step in all {
                assert_eq!(Selection::step(all, step.name()).unwrap(), *step);
            }
        }
        assert!(Selection::step(&CiStep::TEST, "deny").is_err());
    }

    #[test]
    fn steps_after_web_put_the_built_app_into_the_program() {
        let root = shell::repo_root();
        let mut context = CiContext { root: &root, web_app: None, has_program: false };
        assert_eq!(context.cargo(&["build"]).get_envs().count(), 0);
        context.web_app = Some(PathBuf::from("dist"));
        let named = |name| context.cargo(&["build"]).get_envs().any(|(key, _)| key == name);
        assert!(named("CREWAGENT_WEB_DIST") && named("CREWAGENT_WEB"));
    }

    #[test]
    fn the_summary_closes_on_a_count() {
        let second = Duration::from_secs(1);
        let rows = vec![
            (CiStep::Fmt, StepOutcome::Passed(second)),
            (CiStep::Clippy, StepOutcome::Failed(second)),
            (CiStep::Doc, StepOutcome::Skipped),
        ];
        let summary = Summary { rows };
        assert_eq!(
            summary.to_string(),
            "fmt         passed      1.0 s\n\
             clippy      FAILED      1.0 s\n\
             doc         skipped\n\
             steps: 1 passed, 1 failed, 1 skipped"
        );
        assert_eq!(summary.failed(), ["clippy"]);
    }

    #[test]
    fn durations_of_the_steps_that_ran_are_kept() {
        let rows = vec![
            (CiStep::Fmt, StepOutcome::Passed(Duration::from_millis(1_240))),
            (CiStep::Clippy, StepOutcome::Failed(Duration::from_secs(60))),
            (CiStep::Doc, StepOutcome::Skipped),
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
