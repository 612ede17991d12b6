//! The journal of a run in a store passes the suite of step logs.

use crewagent_core::bindings::Bindings;
use crewagent_core::event::Event;
use crewagent_engine::clock::Clock;
use crewagent_engine::disk::Disk;
use crewagent_engine::host::{Host as _, LocalHost};
use crewagent_engine::step_log::StepLog;
use crewagent_engine::step_log::conformance::StepLogFixture;
use crewagent_engine::store::{NewRun, RunId, RunPackage, RunSubject, RunWorkflow, Store};
use tempfile::TempDir;

use crate::disk_hook::{Fault, Recorder};
use crate::support::{package, scratch, write_all};

crewagent_engine::step_log_conformance!(JournalFixture);

/// The journal of a run in a store.
struct JournalFixture {
    scratch: TempDir,
    id: RunId,
}

impl JournalFixture {
    fn store(&self, disk: Disk) -> Store {
        Store::open(Some(self.scratch.path().join("home"))).unwrap().on(disk)
    }

    fn on<R>(&self, disk: Disk, work: impl FnOnce(&mut dyn StepLog) -> R) -> Option<R> {
        let store = self.store(disk);
        let clock = Clock::stepping("2026-11-15T09:00:00Z".parse().unwrap(), 250);
        let mut opened = LocalHost::new(store.runs(), clock).open(&self.id).ok()?;
        opened.log.queue(opened.events);
        Some(work(&mut opened.log))
    }
}

impl StepLogFixture for JournalFixture {
    fn new() -> Self {
        let scratch = scratch();
        let project = scratch.path().join("project");
        std::fs::create_dir(&project).unwrap();
        write_all(&scratch.path().join("source"), package());
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        let source = scratch.path().join("source");
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        let id = RunId::parse("20261115-090000-aaaaa").unwrap();
        let run = store.runs().create(NewRun {
            project: store.projects().of(&project).unwrap().id,
            subject: RunSubject::Workflow {
                package: RunPackage::of(&installed),
                workflow: RunWorkflow { id: None, document: "workflow.md".into() },
                agent_id: "worker".into(),
            },
            conversation: None,
            bindings: Bindings::default(),
            adopted: None,
            created: "2026-11-15T09:00:00Z".parse().unwrap(),
            documents: vec![(None, "---\nschemaVersion: \"1.1\"\n---\n".into())],
            events: Vec::new(),
            id: id.clone(),
        });
        run.unwrap().close();
        Self { scratch, id }
    }

    fn process<R>(&self, work: impl FnOnce(&mut dyn StepLog) -> R) -> R {
        self.on(Disk::real(), work).unwrap()
    }

    fn dying<R>(&self, operation: usize, work: impl FnOnce(&mut dyn StepLog) -> R) -> Option<R> {
        self.on(Recorder::new(Fault::Crash(operation)).disk(), work)
    }

    fn recorded(&self) -> Vec<Event> {
        self.store(Disk::real()).runs().look(&self.id).unwrap().recovered.events
    }
}
