//! Runs: start them, send messages, halt them, read them.

mod changes;
mod export;
mod fork;
mod look;
mod requests;

use std::collections::BTreeMap;

use crewagent_core::settings::RunSettings;
use crewagent_engine::control::Control;
use crewagent_engine::conversation::Reaction;
use crewagent_engine::runtime::{Runtime, SettingsChange, StartRun};
use crewagent_engine::store::{JournalId, RunId, Store};
use crewagent_engine::tool_server::ToolServers;

pub(super) use self::look::{page, read_blob};
use super::Id;
use super::projects::project;
use crate::app::App;
use crate::endpoint::{ApiEndpoint, ParsedRequest, delete, get, patch, post};
use crate::problem::Problem;
use crate::wire::{
    Bounds, Halting, NewRun, Nothing, ResumeRequest, RunForecast, StartedRun, UserMessage,
};
use crewagent_engine::workers::Task;

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        get("/api/runs", "Lists runs, the newest first", look::list),
        post("/api/runs", "Starts a run of a workflow", start),
        post("/api/runs/forecast", "Says what a run may cost, without starting it", forecast),
        get("/api/runs/{id}", "Shows a run: where it stands, its way, its graph", look::show),
        patch("/api/runs/{id}", "Gives a run another title", look::rename),
        delete("/api/runs/{id}", "Removes a run; what it wrote into the project stays", remove),
        get("/api/runs/{id}/events", "Reads events of a run", look::events),
        get("/api/runs/{id}/blobs/{sha256}", "Reads a long text of an event", look::blob),
        get("/api/runs/{id}/state", "Reads the state documents of a run", look::state),
        get("/api/runs/{id}/requests", "Lists what the model was asked", requests::list),
        get("/api/runs/{id}/requests/{turn}", "Shows one request by its layers", requests::show),
        get("/api/runs/{id}/changes", "Lists the files that a run changed", changes::list),
        get("/api/runs/{id}/changes/images", "Shows a file before and after", changes::images),
        post("/api/runs/{id}/changes/revert", "Makes a file as it was before", changes::revert),
        get("/api/runs/{id}/changes/hunks", "Compares a file with before", changes::hunks),
        post("/api/runs/{id}/changes/revert-hunk", "Takes one hunk back", changes::revert_hunk),
        get(
            "/api/runs/{id}/changes/back",
            "Says what a step would take back",
            changes::revert_plan,
        ),
        post("/api/runs/{id}/changes/back", "Takes back what a step wrote", changes::revert_step),
        get("/api/runs/{id}/fork", "Says what a fork would begin with", fork::preview),
        post("/api/runs/{id}/fork", "Makes a run that goes on from a node of this", fork::make),
        get("/api/runs/{id}/artifacts", "Lists the files that a run made", changes::artifacts),
        get("/api/runs/{id}/scenario", "Records a run for the scripted model", requests::scenario),
        export::endpoint(),
        post("/api/runs/{id}/say", "Says something to a run, or answers its question", say),
        post("/api/runs/{id}/resume", "Goes on with a run where it stands", resume),
        post("/api/runs/{id}/pause", "Pauses a run after the call in hand", pause),
        post("/api/runs/{id}/stop", "Stops a run, and gives up the request to the model", stop),
    ]
}

fn start(asked: ParsedRequest<(), (), NewRun>) -> Result<StartedRun, Problem> {
    let ParsedRequest { app, body, .. } = asked;
    let id = RunId::fresh(crewagent_engine::clock::now());
    let (model, message) = (body.model.clone(), body.message.clone());
    let plan = Box::new(plan(&app.store()?, Some(id.clone()), body)?);
    let journal = JournalId::run(id);
    app.workers.submit(&journal, Task::StartRun { plan, message }, model)?;
    Ok(StartedRun { run_id: journal.id.to_string() })
}

fn forecast(asked: ParsedRequest<(), (), NewRun>) -> Result<RunForecast, Problem> {
    let ParsedRequest { app, body, .. } = asked;
    let store = app.store()?;
    let model = body.model.clone();
    let mut plan = plan(&store, None, body)?;
    let RunSettings { model, window_tokens, tiers, .. } =
        store.settings().for_runs_with(model.as_deref());
    plan.settings = RunSettings { model, window_tokens, tiers, ..plan.settings };
    Ok(RunForecast { forecast: Runtime::new(&store, ToolServers::none()).forecast(&plan)? })
}

/// Returns the plan of a run, without its model.
fn plan(store: &Store, id: Option<RunId>, body: NewRun) -> Result<StartRun, Problem> {
    Ok(StartRun {
        id,
        package: store.packages().find(&body.package)?,
        workflow: body.workflow,
        agent: body.agent,
        project: project(store, &body.project)?.folder()?.to_owned(),
        variables: body.variables.into_iter().collect(),
        settings: bounded(store, &body.bounds),
        user_name: store.user_name(),
        conversation: None,
        data: None,
        earlier: Vec::new(),
        adopt: crewagent_engine::runtime::Adopt::default(),
    })
}

fn say(asked: ParsedRequest<Id, (), UserMessage>) -> Result<Reaction, Problem> {
    let ParsedRequest { app, path, body, .. } = asked;
    let said = Task::Say { text: body.text, answers: body.answers };
    Ok(app.workers.submit(&driver_of(&app, &path)?, said, body.model)?)
}

fn resume(asked: ParsedRequest<Id, (), ResumeRequest>) -> Result<Reaction, Problem> {
    let ParsedRequest { app, path, body, .. } = asked;
    Ok(app.workers.submit(
        &driver_of(&app, &path)?,
        Task::Resume(change(&body.bounds)),
        body.model,
    )?)
}

fn pause(asked: ParsedRequest<Id, (), Nothing>) -> Result<Halting, Problem> {
    halt(&asked, Control::pause)
}

fn stop(asked: ParsedRequest<Id, (), Nothing>) -> Result<Halting, Problem> {
    halt(&asked, Control::stop)
}

/// Halts a run. A run costs money and must stop whatever else fails, so the store is read only if no worker here has
/// it: then a conversation may be about to resume it.
fn halt(asked: &ParsedRequest<Id, (), Nothing>, request: fn(&Control)) -> Result<Halting, Problem> {
    let workers = &asked.app.workers;
    let was_at_work = workers.halt(&JournalId::run(RunId::parse(&asked.path.id)?), request)
        || driver_of(&asked.app, &asked.path).is_ok_and(|driver| workers.halt(&driver, request));
    Ok(Halting { was_at_work })
}

fn remove(asked: ParsedRequest<Id>) -> Result<Nothing, Problem> {
    let journal = JournalId::run(RunId::parse(&asked.path.id)?);
    let store = asked.app.store()?;
    asked.app.workers.release(&driver_of(&asked.app, &asked.path)?)?;
    asked.app.workers.release(&journal)?;
    store.runs().remove(&journal.id)?;
    asked.app.workers.board().remove(&journal);
    Ok(Nothing {})
}

/// Returns the journal whose slot drives a run: that of the conversation that it is active in, else its own.
fn driver_of(app: &App, path: &Id) -> Result<JournalId, Problem> {
    let (store, id) = (app.store()?, RunId::parse(&path.id)?);
    // A run that cannot be read can still be removed.
    let conversation = store.runs().record(&id).ok().and_then(|record| record.conversation);
    if let Some(conversation) = conversation
        && store.conversations().active_run(&conversation).ok().flatten().as_ref() == Some(&id)
    {
        return Ok(JournalId::conversation(conversation));
    }
    Ok(JournalId::run(id))
}

/// Returns the settings with the changes of a request.
pub(super) fn bounded(store: &Store, bounds: &Bounds) -> RunSettings {
    change(bounds).on(&store.settings().for_runs())
}

/// Returns the changes of a request.
pub(super) fn change(bounds: &Bounds) -> SettingsChange {
    let Bounds { mode, strict, max_turns, max_seconds, max_tokens, max_cost, tools } = bounds;
    SettingsChange {
        mode: *mode,
        turns: max_turns.map(u64::from),
        seconds: max_seconds.map(u64::from),
        tokens: *max_tokens,
        cost: *max_cost,
        model: None,
        tiers: BTreeMap::new(),
        strict: *strict,
        policy: Some(tools.policy()),
    }
}
