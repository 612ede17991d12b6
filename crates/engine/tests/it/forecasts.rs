//! Forecasts: the median of the last completed runs of the same workflow with the same model, else an estimate.

use std::fs;

use crewagent_core::bindings::Bindings;
use crewagent_core::event::{
    AssistantMessage, Event, EventKind, Phase, PhaseChanged, Reply, RequestSummary, RunFinished,
    TurnStarted,
};
use crewagent_core::forecast::Forecast;
use crewagent_core::settings::{Limits, RunSettings};
use crewagent_core::usage::Usage;
use crewagent_engine::runtime::{Runtime, StartRun};
use crewagent_engine::store::{
    Installed, NewRun, Of, RunFolder, RunId, RunPackage, RunSubject, RunWorkflow, Store,
};
use crewagent_engine::tool_server::ToolServers;
use serde_json::Map;
use tempfile::TempDir;

use crate::golden_fixture::ticking;
use crate::support::{package, scratch, write_all};

const MODELS: &str = "[run]\nmodel = \"own\"\n[models.own]\nmodel = \"o\"\nbase-url = \"http://127.0.0.1:1\"\n[models.own.price]\ninput = 1.0\noutput = 2.0\n[models.other]\nmodel = \"x\"\nbase-url = \"http://127.0.0.1:1\"\n";

struct ForecastFixture {
    scratch: TempDir,
    store: Store,
    installed: Installed,
    made: u32,
}

impl ForecastFixture {
    fn new() -> Self {
        let scratch = scratch();
        write_all(&scratch.path().join("source"), package());
        fs::create_dir(scratch.path().join("project")).unwrap();
        let home = scratch.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("config.toml"), MODELS).unwrap();
        let store = Store::open(Some(home)).unwrap();
        let source = scratch.path().join("source");
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        Self { scratch, store, installed, made: 0 }
    }

    fn plan(&self, model: Option<&str>, limits: Limits) -> StartRun {
        let settings = self.store.settings().for_runs_with(model);
        StartRun {
            package: self.installed.clone(),
            workflow: None,
            agent: None,
            project: self.scratch.path().join("project"),
            variables: Map::new(),
            settings: RunSettings { limits, ..settings },
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        }
    }

    fn forecast(&self, model: Option<&str>, limits: Limits) -> Option<Forecast> {
        let runtime = Runtime::new(&self.store, ToolServers::none()).by(ticking());
        runtime.forecast(&self.plan(model, limits)).unwrap()
    }

    /// Writes a run of this model that was left in this phase.
    fn past(&mut self, document: &str, model: &str, phase: Phase, turns: u64) {
        self.made += 1;
        let id = RunId::parse(&format!("20261110-1000{:02}-aaaaa", self.made)).unwrap();
        let usage = Usage {
            input_tokens: turns * 1_000,
            output_tokens: turns * 100,
            cost: Some(turns as f64 / 100.0),
            ..Usage::default()
        };
        let kinds = [
            EventKind::from(TurnStarted {
                turn: 1,
                model: Some(model.to_owned()),
                request: RequestSummary::default(),
                ..TurnStarted::default()
            }),
            EventKind::from(AssistantMessage { turn: 1, reply: Reply::default() }),
            EventKind::from(PhaseChanged { phase, reason: None, message: None }),
            EventKind::from(RunFinished {
                phase,
                reason: None,
                artifacts: Vec::new(),
                turns,
                usage,
            }),
        ];
        let time = "2026-11-10T10:00:00.000Z".to_owned();
        let events = kinds.into_iter().zip(1..).map(|(kind, seq)| Event {
            seq,
            part: None,
            time: time.clone(),
            run_id: Some(id.to_string()),
            key: None,
            kind,
        });
        let project = self.store.projects().of(&self.scratch.path().join("project")).unwrap().id;
        let new = NewRun {
            id: id.clone(),
            project,
            subject: RunSubject::Workflow {
                package: RunPackage::of(&self.installed),
                workflow: RunWorkflow { id: None, document: document.to_owned() },
                agent_id: "author".into(),
            },
            conversation: None,
            bindings: Bindings::default(),
            adopted: None,
            created: "2026-11-10T10:00:00Z".parse().unwrap(),
            documents: vec![(None, "---\nschemaVersion: \"1.1\"\nworkflowType: demo\ncurrentNodeId: a\nstepsCompleted: []\n---\n".to_owned())],
            events: events.collect(),
        };
        let made: RunFolder = self.store.runs().create(new).unwrap();
        drop(made);
    }

    /// Returns the document of the package's workflow.
    fn document(&self) -> String {
        let package = self.store.packages().load_verified(&self.installed).unwrap();
        package.workflows()[0].document_path.to_string()
    }
}

#[test]
fn a_workflow_that_never_ran_is_estimated_with_its_price_and_no_run_is_made() {
    let fixture = ForecastFixture::new();
    let forecast = fixture.forecast(None, Limits { cost: Some(1.5), ..Limits::default() }).unwrap();
    assert!(forecast.text.ends_with("(estimate). Cannot exceed $1.50."), "{}", forecast.text);
    let (sent, received) = (forecast.input_tokens as f64, forecast.output_tokens as f64);
    assert_eq!(forecast.cost, Some((sent + 2.0 * received) / 1e6));
    assert_eq!(fixture.store.runs().count(Of::All).unwrap(), 0);
}

#[test]
fn the_last_ten_completed_runs_of_the_same_workflow_and_model_count() {
    let mut fixture = ForecastFixture::new();
    let document = fixture.document();
    for turns in [500, 9, 10, 11, 12] {
        fixture.past(&document, "own", Phase::Completed, turns);
    }
    fixture.past(&document, "own", Phase::WaitingUser, 900);
    fixture.past(&document, "other", Phase::Completed, 900);
    fixture.past("another.md", "own", Phase::Completed, 900);
    for turns in [13, 14, 15, 16, 17, 18] {
        fixture.past(&document, "own", Phase::Completed, turns);
    }
    let forecast = fixture.forecast(None, Limits::default()).unwrap();
    assert_eq!(
        forecast.text,
        "About 14 requests, 14k tokens in, 1k out, $0.14 (median of 10 runs; most: 18 requests, $0.18). No limit is set."
    );
    let other = fixture.forecast(Some("other"), Limits::default()).unwrap();
    assert_eq!((other.runs, other.requests), (1, 900));
}

#[test]
fn a_model_that_answers_from_a_file_has_no_forecast() {
    let fixture = ForecastFixture::new();
    assert_eq!(fixture.forecast(Some("scripted:x.yaml"), Limits::default()), None);
    assert_eq!(fixture.forecast(Some("replay:x"), Limits::default()), None);
}

#[test]
fn a_forecast_above_a_limit_is_recorded_with_the_start() {
    let fixture = ForecastFixture::new();
    let limits = Limits { turns: 1, ..Limits::default() };
    let runtime = Runtime::new(&fixture.store, ToolServers::none()).by(ticking());
    let run = runtime.start(&fixture.plan(None, limits)).unwrap();
    let started = serde_json::to_value(&run.opening()[0]).unwrap();
    let above = "That is above the limit of 1 request for one input, where the run stops and waits for you.";
    assert_eq!(started["forecast"]["above"], serde_json::json!([above]));
}
