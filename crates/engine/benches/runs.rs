//! Measures resuming a run with 10,000 journal records, and listing 1,000 runs.
//!
//! `cargo bench -p crewagent-engine --bench runs`. Fails if they take longer than 100 ms and 300 ms.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crewagent_core::event::{Event, EventKind, Reply, RunEvent, RunResumed};
use crewagent_core::message::ToolCall;
use crewagent_core::settings::RunSettings;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::control::Control;
use crewagent_engine::model::{Model, ModelError, ModelErrorKind, Progress, Request, RequestCache};
use crewagent_engine::runtime::{Runtime, SettingsChange, StartRun};
use crewagent_engine::store::{Of, RunId, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_testkit::package::generated;
use crewagent_testkit::report;
use serde_json::{Map, json};

const RECORDS: u64 = 10_000;
const RUNS: usize = 1_000;
const ROUNDS: usize = 15;
const RESUME: Duration = Duration::from_millis(100);
const LIST: Duration = Duration::from_millis(300);
/// Calls in a reply.
const CALLS: u64 = 4;

type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    // `cargo test --all-targets` runs this too, but without the flag, and there is nothing to test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("a goal is missed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("the benchmark cannot run: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Failure> {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let store = Store::open(Some(scratch.path().join("home")))?;
    let id = long_run(&store, scratch.path())?;
    let folder = scratch.path().join("home/projects");
    let journal = find(&folder, "execution.jsonl")?;
    let (records, size) = (lines(&journal)?, fs::metadata(&journal)?.len());
    let mut resumes = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let run =
            Runtime::new(&store, ToolServers::none()).resume(&id, &SettingsChange::default())?;
        resumes.push(start.elapsed());
        let is_whole = |event: &Event| {
            matches!(event.kind, EventKind::Run(RunEvent::Resumed(RunResumed { fresh: false, .. })))
        };
        assert!(run.opening().iter().any(is_whole), "the journal is not gone through again");
    }
    let resume = report::median(&mut resumes);

    copies(&journal, &id)?;
    let mut lists = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let listing = store.runs().list(Of::All)?;
        lists.push(start.elapsed());
        assert!(listing.runs.len() == RUNS && listing.damaged.is_empty());
    }
    let list = report::median(&mut lists);
    let table = format!(
        "| | median of {ROUNDS} | goal |\n|---|--:|--:|\n\
         | `resume`: lock, repair and read {records} records ({} KiB), replay, record | **{}** | ≤ {} |\n\
         | `runs list` of {RUNS} runs: position and phase of each | **{}** | ≤ {} |\n",
        size / 1024,
        report::millis(resume),
        report::millis(RESUME),
        report::millis(list),
        report::millis(LIST),
    );
    report::publish("runs", &table);
    Ok(resume <= RESUME && list <= LIST)
}

/// A model that reads files until the journal is long enough.
struct Reader {
    turns: u64,
}

impl Model for Reader {
    fn name(&self) -> &str {
        "reader"
    }

    fn reply(
        &self,
        request: &Request,
        _: &mut RequestCache,
        _: &mut dyn FnMut(Progress),
        _: &Deadline,
    ) -> Result<Reply, ModelError> {
        let turn = request.place.turn;
        if turn > self.turns {
            return Err(ModelError::new(ModelErrorKind::Network, "it is cut off here"));
        }
        let read = |n: u64| {
            ToolCall {
            id: format!("call_{turn}_{n}"),
            name: "fs.read".to_owned(),
            arguments: json!({ "path": format!("@project/notes-{turn}.md"), "startLine": 10 * n + 1, "endLine": 10 * n + 9 })
                .to_string()
                .into(),
            extra: Map::new(),
        }
        };
        Ok(Reply {
            content: Some("I read on, because there is more to know.".to_owned()),
            tool_calls: (0..CALLS).map(read).collect(),
            ..Reply::default()
        })
    }
}

/// Creates a run whose model failed after this many records.
fn long_run(store: &Store, scratch: &Path) -> Result<RunId, Failure> {
    let (package, project) = (scratch.join("package"), scratch.join("project"));
    for (name, content) in generated(12, 11) {
        let path = package.join(name);
        fs::create_dir_all(path.parent().ok_or("no parent")?)?;
        fs::write(path, content)?;
    }
    fs::create_dir_all(&project)?;
    let line = "A line of notes, as people write them, with a dozen words in it.\n";
    // Each turn has a request, a reply, and two records for each call. A file that was read is not shown again.
    let turns = RECORDS / (2 + 2 * CALLS);
    for turn in 1..=turns {
        fs::write(project.join(format!("notes-{turn}.md")), line.repeat(10 * CALLS as usize))?;
    }
    let installed = store.packages().import(&package, &mut || ())?.installed;
    let mut settings = RunSettings::default();
    settings.limits.turns = RECORDS;
    let mut run = Runtime::new(store, ToolServers::none()).start(&StartRun {
        package: installed,
        workflow: None,
        agent: None,
        project,
        variables: Map::new(),
        settings,
        user_name: String::new(),
        id: None,
        conversation: None,
        data: None,
        earlier: Vec::new(),
        adopt: crewagent_engine::runtime::Adopt::default(),
    })?;
    let model = Reader { turns };
    let driven = run.drive(&model, &Control::default(), &mut |_| ());
    assert!(driven.is_err(), "the model fails at the end");
    Ok(RunId::parse(run.id())?)
}

/// Copies the run under other ids. Lists read only the end of a journal, so the copies have nothing else.
fn copies(journal: &Path, id: &RunId) -> Result<(), Failure> {
    let run = journal.ancestors().nth(3).ok_or("no run")?;
    let runs = run.parent().ok_or("no runs")?;
    let text = fs::read(journal)?;
    let tail = &text[text.len() - 200_000..];
    for number in 1..RUNS {
        let new = format!("20261115-{number:06}-aaaaa");
        let folder = runs.join(&new);
        fs::create_dir_all(folder.join("state/logs"))?;
        fs::create_dir(folder.join("blobs"))?;
        let record = fs::read_to_string(run.join("run.json"))?.replace(id.as_str(), &new);
        fs::write(folder.join("run.json"), record)?;
        fs::copy(run.join("state/workflow.md"), folder.join("state/workflow.md"))?;
        fs::write(folder.join("lock"), "")?;
        fs::write(folder.join("state/logs/execution.jsonl"), tail)?;
    }
    Ok(())
}

fn lines(path: &Path) -> Result<usize, Failure> {
    Ok(fs::read(path)?.iter().filter(|byte| **byte == b'\n').count())
}

fn find(folder: &Path, name: &str) -> Result<std::path::PathBuf, Failure> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == name {
            return Ok(entry.path());
        }
        if entry.file_type()?.is_dir()
            && let Ok(found) = find(&entry.path(), name)
        {
            return Ok(found);
        }
    }
    Err(format!("there is no {name}").into())
}
