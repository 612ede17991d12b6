//! Tiers: the model of a tier answers the steps that advise it, and the run's own stands in for it.

use std::fs;
use std::sync::{Arc, Mutex};

use crewagent_core::event::{
    Event, EventKind, ModelEvent, ModelFellBack, Phase, Reply, RunEvent, TurnStarted,
};
use crewagent_core::forecast::Forecast;
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::{RunSettings, TierModel, Tiers};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::{
    Model, ModelError, ModelErrorKind, Progress, Request, RequestCache, RequestOutline, TieredModel,
};
use crewagent_engine::runtime::{Run, Runtime, SettingsChange, StartRun};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{RunId, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_format::package::step::Tier;
use serde_json::Map;
use tempfile::TempDir;

use crate::golden_fixture::{drive, ticking};
use crate::support::{package, scratch, write_all};

/// Names of the models that were asked, in order.
type Asked = Arc<Mutex<Vec<String>>>;

/// A model that asks with its name, or fails.
struct Named {
    name: String,
    asked: Asked,
    fails: Option<ModelErrorKind>,
}

impl Model for Named {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(
        &self,
        _: &Request,
        _: &mut RequestCache,
        _: &mut dyn FnMut(Progress),
        _: &Deadline,
    ) -> Result<Reply, ModelError> {
        self.asked.lock().unwrap().push(self.name.clone());
        match self.fails {
            Some(kind) => Err(ModelError::new(kind, "No.")),
            None => Ok(Reply { content: Some(format!("{}?", self.name)), ..Reply::default() }),
        }
    }

    fn outline(&self, request: &Request, _: &mut RequestCache) -> Option<RequestOutline> {
        let bytes = request.messages.len() as u64;
        Some(RequestOutline { model: self.name.clone(), bytes })
    }
}

struct TiersFixture {
    _scratch: TempDir,
    store: Store,
    run: Run,
    asked: Asked,
}

impl TiersFixture {
    /// Starts a run whose first step advises a fast model.
    fn new() -> Self {
        let scratch = scratch();
        let advise = |(path, text): (String, String)| match path.contains("node-00000") {
            true => (path, text.replacen("type: step", "type: step\nmodel: fast", 1)),
            false => (path, text),
        };
        let files: Vec<(String, String)> = package().into_iter().map(advise).collect();
        write_all(&scratch.path().join("source"), files);
        let project = scratch.path().join("project");
        fs::create_dir(&project).unwrap();
        let home = scratch.path().join("home");
        fs::create_dir(&home).unwrap();
        let models = "[run]\nmodel = \"own\"\n[tiers]\nfast = \"small\"\n[models.own]\nmodel = \"o\"\nbase-url = \"http://127.0.0.1:1\"\n[models.small]\nmodel = \"s\"\nbase-url = \"http://127.0.0.1:1\"\nwindow = 9000\n";
        fs::write(home.join("config.toml"), models).unwrap();
        let store = Store::open(Some(home)).unwrap();
        let source = scratch.path().join("source");
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        let plan = StartRun {
            package: installed,
            workflow: None,
            agent: None,
            project,
            variables: Map::new(),
            settings: store.settings().for_runs_with(None),
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        };
        let run = Runtime::new(&store, ToolServers::none()).by(ticking()).start(&plan).unwrap();
        Self { _scratch: scratch, store, run, asked: Asked::default() }
    }

    fn models(&self, fails: Option<ModelErrorKind>) -> Box<dyn Model> {
        let named = |name: &str, fails| -> Box<dyn Model> {
            Box::new(Named { name: name.to_owned(), asked: self.asked.clone(), fails })
        };
        TieredModel::open(named("own", None), &self.run.settings().tiers, |name| {
            Ok(named(name, fails))
        })
    }

    fn drive(&mut self, fails: Option<ModelErrorKind>) -> (Result<Rest, Halt>, Vec<Event>) {
        let (model, mut events) = (self.models(fails), Vec::new());
        let rest = drive(&mut self.run, &*model, &mut events);
        (rest, events)
    }

    /// Lets another process take the run over.
    fn resumed(self, change: &SettingsChange) -> Self {
        let Self { _scratch, store, run, asked } = self;
        let id = RunId::parse(run.id()).unwrap();
        drop(run);
        let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
        let run = runtime.resume(&id, change).unwrap();
        Self { _scratch, run, asked, store }
    }

    /// Returns the forecast that the start of the run has recorded.
    fn forecast(&self) -> Option<Forecast> {
        self.run.opening().iter().find_map(|event| match &event.kind {
            EventKind::Run(RunEvent::Started(started)) => started.forecast.as_deref().cloned(),
            _ => None,
        })
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn fell_back(events: &[Event]) -> Vec<&ModelFellBack> {
    let found = events.iter().filter_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::FellBack(fell_back)) => Some(fell_back),
        _ => None,
    });
    found.collect()
}

/// Returns tier, model and size of every request.
fn turns(events: &[Event]) -> Vec<(Option<Tier>, &str, bool)> {
    let found = events.iter().filter_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::TurnStarted(TurnStarted {
            tier, model, rendered, ..
        })) => Some((*tier, model.as_deref().unwrap(), rendered.is_some())),
        _ => None,
    });
    found.collect()
}

#[test]
fn a_step_is_answered_by_the_model_of_its_tier() {
    let mut played = TiersFixture::new();
    let expected = TierModel { model: "small".to_owned(), window_tokens: 9000, given: false };
    assert_eq!(
        played.run.settings().tiers.get(Tier::Fast),
        Some(&expected),
        "resolved at the start"
    );
    let (rest, events) = played.drive(None);
    assert_eq!(rest.unwrap().phase, Phase::WaitingUser);
    assert_eq!(played.asked(), ["small"]);
    assert_eq!(turns(&events), [(Some(Tier::Fast), "small", true)]);
    assert!(fell_back(&events).is_empty());
}

#[test]
fn the_run_s_model_stands_in_for_one_that_fails_for_good() {
    for kind in [ModelErrorKind::Auth, ModelErrorKind::Rejected] {
        let mut played = TiersFixture::new();
        let (rest, events) = played.drive(Some(kind));
        assert_eq!(rest.unwrap().phase, Phase::WaitingUser);
        assert_eq!(played.asked(), ["small", "own"]);
        assert_eq!(turns(&events), [(Some(Tier::Fast), "small", true), (None, "own", true)]);
        let [noted] = fell_back(&events)[..] else { panic!("once") };
        assert_eq!(
            (noted.turn, noted.tier, noted.model.as_deref()),
            (1, Tier::Fast, Some("small"))
        );
        assert_eq!(noted.message.as_deref(), Some("No."));
        // A word more goes to the run's model at once.
        played.run.say("Go on.", &mut |_| ()).unwrap();
        played.drive(Some(kind)).0.unwrap();
        assert_eq!(played.asked(), ["small", "own", "own"]);
    }
}

#[test]
fn another_process_replays_the_fall_and_tries_the_tier_again() {
    let mut played = TiersFixture::new();
    played.drive(Some(ModelErrorKind::Auth)).0.unwrap();
    let mut played = played.resumed(&SettingsChange::default());
    let is_fresh = |event: &Event| matches!(&event.kind, EventKind::Run(RunEvent::Resumed(resumed)) if resumed.fresh || !resumed.notes.is_empty());
    assert!(!played.run.opening().iter().any(is_fresh), "{:?}", played.run.opening());
    played.run.say("Go on.", &mut |_| ()).unwrap();
    played.drive(None).0.unwrap();
    assert_eq!(played.asked(), ["small", "own", "small"]);
}

#[test]
fn a_failure_that_may_pass_is_no_reason_to_ask_another_model() {
    for kind in [ModelErrorKind::Network, ModelErrorKind::Rate, ModelErrorKind::Timeout] {
        let mut played = TiersFixture::new();
        let (rest, events) = played.drive(Some(kind));
        assert!(matches!(rest, Err(Halt::Model(_))), "{kind:?}");
        assert_eq!(played.asked(), ["small"]);
        assert!(fell_back(&events).is_empty());
    }
}

#[test]
fn a_model_that_cannot_be_opened_fails_its_first_request() {
    let mut played = TiersFixture::new();
    let own = Named { name: "own".to_owned(), asked: played.asked.clone(), fails: None };
    let model = TieredModel::open(Box::new(own), &played.run.settings().tiers.clone(), |_| {
        Err("it has no key".to_owned())
    });
    let mut events = Vec::new();
    drive(&mut played.run, &*model, &mut events).unwrap();
    let [noted] = fell_back(&events)[..] else { panic!("once") };
    assert_eq!(noted.message.as_deref(), Some("it has no key"));
    assert_eq!(played.asked(), ["own"]);
}

#[test]
fn a_resume_that_names_a_model_switches_tiers_off_unless_it_names_them() {
    let mut played = TiersFixture::new();
    played.drive(None).0.unwrap();
    let model = Some("own".to_owned());
    let played = played.resumed(&SettingsChange { model, ..SettingsChange::default() });
    assert_eq!(played.run.settings().tiers, Tiers::default());
    let tiers = [(Tier::Review, "small".to_owned())].into_iter().collect();
    let played = played.resumed(&SettingsChange { tiers, ..SettingsChange::default() });
    let expected = TierModel { model: "small".to_owned(), window_tokens: 9000, given: true };
    assert_eq!(
        played.run.settings().tiers,
        Tiers { review: Some(Box::new(expected)), ..Tiers::default() }
    );
    let again = played.resumed(&SettingsChange::default());
    assert!(again.run.settings().tiers.review.is_some(), "named for this run");
}

#[test]
fn a_run_without_a_past_has_an_estimate_at_its_start() {
    let played = TiersFixture::new();
    let forecast = played.forecast().unwrap();
    assert_eq!(forecast.runs, 0);
    assert!(forecast.text.ends_with("(estimate). No limit is set."), "{}", forecast.text);
    assert_eq!(forecast.cost, None, "the price is not known");
    let nodes = played.run.workflow().unwrap().graph.nodes().len() as u64;
    assert!(forecast.requests <= 2 * nodes && forecast.input_tokens > 1_000, "{forecast:?}");
}

#[test]
fn a_model_without_tiers_answers_for_all_of_them() {
    let mut played = TiersFixture::new();
    let own = Named { name: "own".to_owned(), asked: played.asked.clone(), fails: None };
    let mut events = Vec::new();
    drive(&mut played.run, &own, &mut events).unwrap();
    assert_eq!(played.asked(), ["own"]);
    assert_eq!(RunSettings::default().tiers, Tiers::default());
}
