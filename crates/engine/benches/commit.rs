//! Measures the guard and the commit of a state change, and the whole call around them, against a bare durable write of
//! the same bytes.
//!
//! `cargo bench -p crewagent-engine --bench commit` prints the table and fails if the goal is missed; `cargo xtask
//! accept docs` also writes the table into `docs/performance.md`.
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a benchmark says what it missed, and stops at the first surprise"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crewagent_core::call::{Call, Operation};
use crewagent_core::policy::{Policy, StateTool};
use crewagent_core::run::machine::Moves;
use crewagent_core::state::document::{InitialValues, Proposed, STATE_FILE, StateDocument};
use crewagent_core::state::gate_visit::GateVisit;
use crewagent_core::state::guard::{self, Confirmation, MissingRule, Proposal};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::visit_files::{OutputRule, VisitFiles};
use crewagent_core::vpath::{VPath, WritablePath};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::mounts::{Before, Mounts, Roots};
use crewagent_engine::tools::{CallContext, CallFiles, CallPlan, Recent, Tools};
use crewagent_format::integrity::Digest;
use crewagent_format::package::{Package, check};
use crewagent_testkit::package::MemoryFiles;
use crewagent_testkit::report;

const GOAL: f64 = 1.3;
const ROUNDS: usize = 401;
const NOW: &str = "2026-11-15T09:00:00Z";

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
    let record = InitialValues { run_id: "run".into(), ..InitialValues::default() };
    let before = StateDocument::start(workflow, &record).unwrap();
    let recent = Recent::new();
    let artifacts = ProjectPath::parse("artifacts").unwrap();
    let tools = Tools {
        mounts: &mounts,
        workflow: Some(workflow),
        artifacts: std::slice::from_ref(&artifacts),
        recent: &recent,
    };
    let call = Call::parse("fs.apply_patch", MOVE, &Policy::default()).unwrap();

    let proposed = proposed(&call, &before);

    let (mut commits, mut calls, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    let file = state.join("workflow.md");
    let mut after = Vec::new();
    for _ in 0..ROUNDS {
        fs::write(&file, before.text().as_bytes()).unwrap();
        commits.push(commit(&tools, &before, &proposed));
        after = fs::read(&file).unwrap();
        fs::write(&file, before.text().as_bytes()).unwrap();
        // In a run the document was written or read before, so it is cached.
        recent.keep(before.clone());
        calls.push(whole_call(&tools, &call));
        assert_eq!(fs::read(&file).unwrap(), after);
        fs::write(&file, before.text().as_bytes()).unwrap();
        floors.push(bare(&state, &after));
    }
    assert!(after != before.text().as_bytes());
    let floor = report::median(&mut floors);
    let [(commit, ratio), (call, whole)] = [&mut commits, &mut calls].map(|times| {
        let median = report::median(times);
        (micros(median), median.as_secs_f64() / floor.as_secs_f64())
    });
    let table = format!(
        "| a state document of {} bytes | median of {ROUNDS} | ratio | goal |\n|---|--:|--:|--:|\n\
         | bare durable write | {} | 1 | |\n| guard, bookkeeping, commit | {commit} | **{ratio:.2}** | ≤ {GOAL} |\n\
         | the whole call: read, patch, guard, bookkeeping, commit, answer | {call} | {whole:.2} | |\n",
        after.len(),
        micros(floor),
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

/// Returns the document that the call proposes.
fn proposed(call: &Call, before: &StateDocument) -> Proposed {
    let Call::Patch(call) = call else { panic!("not a patch") };
    let Operation::UpdateFrontmatter(update) = &call.patches[0].operation else {
        panic!("not an update")
    };
    StateDocument::from_frontmatter(update.apply(before).unwrap())
}

fn commit(tools: &Tools<'_>, before: &StateDocument, proposed: &Proposed) -> Duration {
    let path = WritablePath::new(VPath::parse(STATE_FILE).unwrap()).unwrap();
    let expected = Before::Sha256(Digest::of(before.text().as_bytes()));
    let start = Instant::now();
    let transition = guard::check(&Proposal {
        old: before,
        new: proposed,
        workflow: tools.workflow.unwrap(),
        exists: &|path| Some(tools.mounts.exists(path.vpath()).unwrap() == Ok(true)),
        created: &[],
        now: NOW,
        missing: MissingRule::Enforce,
        outputs: guard::VisitOutputs {
            rule: OutputRule::Changed,
            visit: &VisitFiles::default(),
            look: &|_| None,
            keep: &[],
        },
        variables: guard::VisitVariables::none(),
        confirmation: Confirmation::Needed,
        gate: &GateVisit::none(),
        author: guard::Author::Model(StateTool::Patch),
    })
    .unwrap();
    tools.mounts.replace(&path, transition.text().as_bytes(), expected).unwrap().unwrap();
    start.elapsed()
}

fn whole_call(tools: &Tools<'_>, call: &Call) -> Duration {
    let deadline = Deadline::default();
    let policy = Policy::default();
    let set = std::collections::BTreeSet::new();
    let files = VisitFiles::default();
    let context = CallContext {
        policy: &policy,
        created: &[],
        now: NOW,
        missing: MissingRule::Enforce,
        outputs: OutputRule::Changed,
        files: &files,
        set: &set,
        known: &CallFiles::default(),
        confirmation: Confirmation::Needed,
        moves: Moves::Free,
        gate: &GateVisit::none(),
        saved: &[],
        agreed: None,
        deadline: &deadline,
    };
    let start = Instant::now();
    let CallPlan::Change(change) = tools.plan(call, &context).unwrap() else {
        panic!("the change is refused")
    };
    let outcome = tools.carry_out(call, &change.intent, Some(&change), &context).unwrap();
    let took = start.elapsed();
    assert!(outcome.answer.refused.is_none(), "{outcome:?}");
    took
}

/// Writes durably: temp file, flush, rename, flush of the folder.
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
