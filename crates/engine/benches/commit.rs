//! A state change from the model's call to the disk, against the bare durable write of the same bytes.
//!
//! `cargo bench -p crewagent-engine --bench commit` prints the table and fails when the goal is missed;
//! with `UPDATE_DOCS=1` it also writes the table into `docs/performance.md`.
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a benchmark says what it missed, and stops at the first surprise"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crewagent_core::package::{Package, check};
use crewagent_core::policy::Policy;
use crewagent_core::run::machine::Moves;
use crewagent_core::state::document::{RunFacts, StateDocument};
use crewagent_core::state::guard::{Confirmation, MissingRule};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::tool::call::Call;
use crewagent_engine::mounts::{Mounts, Roots};
use crewagent_engine::tools::{Occasion, Plan, Tools};
use crewagent_testkit::package::MemoryFiles;
use crewagent_testkit::report;

const GOAL: f64 = 1.3;
const ROUNDS: usize = 401;

const MOVE: &str = r#"{"path": "@state/workflow.md", "operation": "updateFrontmatter", "update": {
    "variables": {"set": {"storyKey": "1-2-login", "epicNum": 1, "storyNum": 2, "storyTitle": "Login", "sprintStatusPath": "none"}},
    "stepsCompleted": {"append": ["step-01-select-story"]},
    "currentNodeId": {"set": "step-02-discover-inputs"}}}"#;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let package = package();
    let workflow = &package.workflows()[0];
    let roots = ["project/artifacts/create-story", "package", "state"]
        .map(|name| scratch.path().join(name));
    roots.iter().for_each(|root| fs::create_dir_all(root).unwrap());
    let project = scratch.path().join("project");
    fs::write(project.join("artifacts/create-story/target.md"), "# Target\n").unwrap();
    let state = roots[2].clone();
    let mounts =
        Mounts::open(&Roots { project, package: roots[1].clone(), state: state.clone() }).unwrap();
    let facts = RunFacts { run_id: "run".into(), ..RunFacts::default() };
    let before = StateDocument::start(workflow, &facts).unwrap();
    let artifacts = ProjectPath::parse("artifacts").unwrap();
    let tools = Tools { mounts: &mounts, workflow, artifacts: &artifacts };
    let call = Call::parse("fs.apply_patch", MOVE, &Policy::default()).unwrap();

    let (mut commits, mut floors) = (Vec::new(), Vec::new());
    let mut after = Vec::new();
    for _ in 0..ROUNDS {
        fs::write(state.join("workflow.md"), before.text().as_bytes()).unwrap();
        commits.push(commit(&tools, &call));
        after = fs::read(state.join("workflow.md")).unwrap();
        assert!(after != before.text().as_bytes());
        fs::write(state.join("workflow.md"), before.text().as_bytes()).unwrap();
        floors.push(bare(&state, &after));
    }
    let (commit, floor) = (report::median(&mut commits), report::median(&mut floors));
    let ratio = commit.as_secs_f64() / floor.as_secs_f64();
    let table = format!(
        "| a state document of {} bytes | median of {ROUNDS} | ratio | goal |\n|---|--:|--:|--:|\n\
         | bare durable write | {} | 1 | |\n| patch, guard, books, commit | {} | **{ratio:.2}** | ≤ {GOAL} |\n",
        after.len(),
        micros(floor),
        micros(commit)
    );
    report::publish("commit", &table);
    if ratio <= GOAL {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "a state change takes {ratio:.2} times as long as its bare write; the goal is {GOAL}"
    );
    ExitCode::FAILURE
}

fn micros(time: Duration) -> String {
    format!("{:.0} µs", time.as_secs_f64() * 1e6)
}

fn package() -> Package {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/examples/create-story-micro");
    let files = MemoryFiles::from_folder(&folder).unwrap();
    check(&files, &semver::Version::new(0, 1, 0)).package.unwrap()
}

fn commit(tools: &Tools<'_>, call: &Call) -> Duration {
    let cancel = AtomicBool::new(false);
    let policy = Policy::default();
    let occasion = Occasion {
        policy: &policy,
        created: &[],
        now: "2026-11-15T09:00:00Z",
        missing: MissingRule::Enforce,
        confirmation: Confirmation::Needed,
        moves: Moves::Free,
        cancel: &cancel,
    };
    let start = Instant::now();
    let Plan::Change(change) = tools.plan(call, &occasion).unwrap() else {
        panic!("the change is refused")
    };
    let outcome = tools.carry_out(call, &change.intent, Some(&change), &occasion).unwrap();
    let took = start.elapsed();
    assert!(outcome.answer.refused.is_none(), "{outcome:?}");
    took
}

/// Temp file, flush, rename, flush of the folder.
fn bare(folder: &Path, bytes: &[u8]) -> Duration {
    let start = Instant::now();
    let temp = folder.join("workflow.md.tmp");
    let mut file = File::create(&temp).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
    fs::rename(&temp, folder.join("workflow.md")).unwrap();
    File::open(folder).unwrap().sync_all().unwrap();
    start.elapsed()
}
