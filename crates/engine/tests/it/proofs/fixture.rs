//! The fixture of the proofs, which plays a piece again and again: a store, a project, and several processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_core::event::{Event, EventKind, Phase, Reason, RunEvent, UserEvent};
use crewagent_core::question::QuestionKind;
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::RunSettings;
use crewagent_core::state::document::StateDocument;
use crewagent_engine::clock::Clock;
use crewagent_engine::control::Control;
use crewagent_engine::disk::Disk;
use crewagent_engine::journal::{self, INLINE_LIMIT, Judged};
use crewagent_engine::runtime::{ResumeError, Run, Runtime, SettingsChange, StartError, StartRun};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{Installed, Of, RunError, Store};
use crewagent_engine::tool_server::ToolServers;
use tempfile::TempDir;

use super::twelve::{AGAIN, COLOUR, CONTINUE, GO_ON, ONCE, Piece, PieceModel, STAY};
use crate::golden_fixture::{ask_about_no_names, tree};
use crate::support::write_all;

/// A piece, and a place to play it.
pub(crate) struct ProofFixture {
    pub(crate) piece: Arc<Piece>,
    scratch: TempDir,
    installed: Installed,
}

/// Reasons why a process ended early, all of them typed.
#[derive(Debug)]
#[allow(dead_code, reason = "they are read by who reads a failure")]
pub(crate) enum Stopped {
    List(RunError),
    /// The store has a run that cannot be read.
    Damaged(String),
    Start(StartError),
    Resume(ResumeError),
    Halt(Halt),
    /// The run waits, and no input would help.
    Rests(Box<Rest>),
}

/// The result of a piece.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) project: BTreeMap<String, Vec<u8>>,
    /// Without ids and times.
    pub(crate) document: String,
    pub(crate) artifacts: Vec<String>,
}

impl Picture {
    /// Panics unless both are the same, and says where they differ.
    pub(crate) fn check(&self, calm: &Self, case: &dyn std::fmt::Debug) {
        let names: BTreeSet<&String> = self.project.keys().chain(calm.project.keys()).collect();
        for name in names {
            let text = |of: &Self| {
                of.project.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            let (found, expected) = (text(self), text(calm));
            assert!(found == expected, "{case:?}: {name} is {found:?}, not {expected:?}");
        }
        assert_eq!(self.document, calm.document, "{case:?}");
        assert_eq!(self.artifacts, calm.artifacts, "{case:?}");
    }
}

/// The work of one process.
pub(crate) struct Process {
    pub(crate) model: PieceModel,
    /// Emitted events, without deltas.
    pub(crate) told: Vec<Event>,
    pub(crate) end: Result<(), Stopped>,
}

impl ProofFixture {
    pub(crate) fn new(piece: Piece) -> Self {
        let scratch = scratch();
        let package = scratch.path().join("package");
        write_all(&package, piece.package.clone());
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        ask_about_no_names(store.home());
        let installed = store.packages().import(&package, &mut || {}).unwrap().installed;
        let fixture = Self { piece: Arc::new(piece), scratch, installed };
        fixture.reset();
        fixture
    }

    /// Restores the initial project, and removes all runs.
    pub(crate) fn reset(&self) {
        self.clear();
        write_all(&self.project(), self.piece.project.clone());
    }

    pub(crate) fn clear(&self) {
        for name in ["project", "home/projects"] {
            let _ = fs::remove_dir_all(self.scratch.path().join(name));
        }
    }

    pub(crate) fn root(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    pub(crate) fn store(&self, disk: Disk) -> Store {
        Store::open(Some(self.scratch.path().join("home"))).unwrap().on(disk)
    }

    pub(crate) fn plan(&self) -> StartRun {
        let mut settings = RunSettings::default();
        settings.policy.rules.clone_from(&self.piece.rules);
        StartRun {
            package: self.installed.clone(),
            workflow: None,
            agent: None,
            project: self.project(),
            variables: serde_json::Map::new(),
            settings,
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        }
    }

    /// Returns the folder of the run, if there is one.
    pub(crate) fn run_folder(&self) -> Option<PathBuf> {
        let projects = fs::read_dir(self.scratch.path().join("home/projects")).ok()?;
        let runs = projects.map(|entry| entry.unwrap().path().join("runs"));
        let folders = runs.filter_map(|runs| fs::read_dir(runs).ok()).flatten();
        let mut found = folders
            .map(|entry| entry.unwrap().path())
            .filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
        let first = found.next();
        assert_eq!(found.next(), None, "there are two runs");
        first
    }

    pub(crate) fn journal_path(&self) -> Option<PathBuf> {
        Some(self.run_folder()?.join("state/logs/execution.jsonl"))
    }

    /// Reads the current journal; a missing one is empty.
    pub(crate) fn judged(&self) -> Judged {
        let bytes = self.journal_path().and_then(|path| fs::read(path).ok());
        journal::recover(&bytes.unwrap_or_default())
    }

    /// Starts or resumes the run in a process that drives it until the workflow is complete.
    pub(crate) fn process(&self, disk: Disk, clock: &Clock) -> Process {
        self.observe(disk, clock, &mut |_| ())
    }

    /// Does the same, and passes `hear` the number of the last event whenever the user may rely on it.
    pub(crate) fn observe(&self, disk: Disk, clock: &Clock, hear: &mut dyn FnMut(u64)) -> Process {
        let model = PieceModel::new(self.piece.clone());
        let mut told = Vec::new();
        let end = self.play(disk, clock, &model, &mut told, hear);
        Process { model, told, end }
    }

    fn play(
        &self,
        disk: Disk,
        clock: &Clock,
        model: &PieceModel,
        told: &mut Vec<Event>,
        hear: &mut dyn FnMut(u64),
    ) -> Result<(), Stopped> {
        let store = self.store(disk);
        let runtime = Runtime::new(&store, ToolServers::none()).by(clock.clone());
        let listing = store.runs().list(Of::All).map_err(Stopped::List)?;
        if let Some(flaw) = listing.damaged.first() {
            return Err(Stopped::Damaged(flaw.reason.clone()));
        }
        let mut run = match listing.runs.first() {
            Some(run) if !run.status.is_unfinished() => return Ok(()),
            Some(run) => {
                runtime.resume(&run.run_id, &SettingsChange::default()).map_err(Stopped::Resume)?
            }
            None => runtime.start(&self.plan()).map_err(Stopped::Start)?,
        };
        told.extend(run.opening().iter().cloned());
        conduct(&mut run, model, told, hear)
    }

    /// Returns the current result.
    pub(crate) fn picture(&self) -> Picture {
        let run = self.run_folder().expect("there is a run");
        let id = run.file_name().unwrap().to_string_lossy().into_owned();
        let own = fs::read_to_string(run.join("state/workflow.md")).unwrap();
        let artifacts = StateDocument::read(own.as_str()).unwrap().front().artifacts.clone();
        let calls = tree(&run.join("state/calls"));
        let calls = calls
            .iter()
            .map(|(name, text)| format!("\n== {name}\n{}", String::from_utf8_lossy(text)));
        let text: String = std::iter::once(own).chain(calls).collect();
        Picture {
            project: tree(&self.project()),
            document: without_times(&text.replace(&id, "RUN")),
            artifacts,
        }
    }

    /// Returns true if a list shows the run as completed.
    pub(crate) fn is_complete(&self) -> bool {
        let store = self.store(Disk::real());
        let listing = store.runs().list(Of::All).unwrap();
        matches!(&listing.runs[..], [run] if !run.status.is_unfinished())
    }
}

/// Drives a run until the workflow is complete, and answers every question as the user would.
pub(crate) fn conduct(
    run: &mut Run,
    model: &PieceModel,
    told: &mut Vec<Event>,
    hear: &mut dyn FnMut(u64),
) -> Result<(), Stopped> {
    let mut timeouts = 8;
    loop {
        let mut tell = |event: &Event| {
            if event.part.is_none() {
                told.push(event.clone());
            }
        };
        let rest = run.drive(model, &Control::default(), &mut tell).map_err(Stopped::Halt)?;
        hear(told.last().map_or(0, |event| event.seq));
        let mut tell = |event: &Event| told.push(event.clone());
        if rest.phase == Phase::Completed {
            run.finish(&rest, &mut tell).map_err(Stopped::Halt)?;
            hear(told.last().map_or(0, |event| event.seq));
            return Ok(());
        }
        let words = match (&rest.question, rest.reason) {
            (Some(question), _) if question.approval.is_some() => ONCE,
            (Some(question), _) if question.kind == QuestionKind::Gate => {
                if question.question == "Stay?" { STAY } else { CONTINUE }
            }
            (Some(_), _) => COLOUR,
            (None, Some(Reason::StopPoint)) => GO_ON,
            (None, Some(Reason::Loop)) => AGAIN,
            _ => return Err(Stopped::Rests(Box::new(rest))),
        };
        timeouts -= 1;
        if timeouts == 0 {
            return Err(Stopped::Rests(Box::new(rest)));
        }
        run.say(words, &mut tell).map_err(Stopped::Halt)?;
        hear(told.last().map_or(0, |event| event.seq));
    }
}

/// Returns a scratch folder in memory if there is one, because flushes cost nothing there.
fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    match tempfile::tempdir_in(memory) {
        Ok(folder) => folder,
        Err(_) => tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
    }
}

/// Returns a clock for the process with this number; each starts a day later.
pub(crate) fn clock(process: usize) -> Clock {
    let start = format!("2026-11-{:02}T09:00:00Z", 15 + process);
    Clock::stepping(start.parse().unwrap(), 250)
}

/// Replaces every time in a text by the same word.
fn without_times(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("2026-11-") {
        masked.push_str(&rest[..at]);
        masked.push_str("TIME");
        let time = &rest[at..];
        let end = time.find(|c: char| !c.is_ascii_digit() && !"-:TZ.".contains(c));
        rest = &time[end.unwrap_or(time.len())..];
    }
    masked + rest
}

/// Returns the events that must survive the end of a process: everything up to the last result or signal. Derived
/// events are emitted before they are written.
pub(crate) fn durable(told: &[Event]) -> &[Event] {
    let is_kept = |event: &Event| {
        event.key.is_some()
            || matches!(
                event.kind,
                EventKind::Run(RunEvent::Started(_) | RunEvent::Resumed(_))
                    | EventKind::User(UserEvent::Input(_))
            )
    };
    let last = told.iter().rposition(is_kept);
    &told[..last.map_or(0, |at| at + 1)]
}

/// Panics unless the journal has every emitted event that must survive.
pub(crate) fn check_kept(told: &[Event], judged: &Judged, case: &dyn std::fmt::Debug) {
    for event in durable(told) {
        let at = usize::try_from(event.seq).unwrap() - 1;
        let found = judged.events.get(at);
        let is_long = || serde_json::to_string(event).unwrap().len() > INLINE_LIMIT;
        let same = found.is_some_and(|found| {
            found == event || (found.key == event.key && found.time == event.time && is_long())
        });
        assert!(same, "{case:?}: event {} was told and is lost: {found:?}", event.seq);
    }
}
