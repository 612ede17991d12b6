//! Forks: runs that start from a node of another one.

use crewagent_engine::runtime::{ForkRun, Forked, Runtime, SettingsChange};
use crewagent_engine::store::{JournalId, RunId, Store};
use crewagent_engine::tool_server::ToolServers;

use super::driver_of;
use crate::api::Id;
use crate::app::App;
use crate::endpoint::ParsedRequest;
use crate::problem::Problem;
use crate::wire::{Code, ForkPreview, ForkQuery, NewFork, StartedRun};
use crewagent_engine::workers::Task;

pub(super) fn preview(asked: ParsedRequest<Id, ForkQuery>) -> Result<ForkPreview, Problem> {
    let ParsedRequest { app, path, query, .. } = asked;
    let store = app.store()?;
    let plan = plan(&app, &store, &path, query.event)?;
    let Forked { visit, place, documents, words, .. } =
        Runtime::new(&store, ToolServers::none()).preview_fork(&plan)?;
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Ok(ForkPreview {
        node: visit.node,
        number: count(visit.number),
        callers: place.callers.into_iter().map(|caller| caller.frame.node_id).collect(),
        steps_completed: place.state.steps_completed,
        variables: place.state.variables,
        decisions: count(place.state.decisions),
        artifacts: place.state.artifacts,
        documents: count(documents),
        words: count(words.len()),
        complete: place.state.complete,
    })
}

pub(super) fn make(asked: ParsedRequest<Id, (), NewFork>) -> Result<StartedRun, Problem> {
    let ParsedRequest { app, path, body, .. } = asked;
    let store = app.store()?;
    let id = RunId::fresh(crewagent_engine::clock::now());
    let plan = ForkRun { id: Some(id.clone()), ..plan(&app, &store, &path, body.event)? };
    Runtime::new(&store, ToolServers::none()).fork(&plan)?;
    let journal = JournalId::run(id);
    app.workers.board().set_working(&journal, false);
    if body.start.unwrap_or_default() {
        app.workers.submit(&journal, Task::Resume(SettingsChange::default()), body.model)?;
    }
    Ok(StartedRun { run_id: journal.id.to_string() })
}

/// Returns the fork that a request asks for. A run that works cannot be forked: it writes the files that the new run
/// would work on.
fn plan(app: &App, store: &Store, path: &Id, event: u64) -> Result<ForkRun, Problem> {
    let run = RunId::parse(&path.id)?;
    store.runs().record(&run)?;
    if app.workers.is_working(&driver_of(app, path)?) {
        return Err(Problem::new(Code::Busy, format!("run {run} is at work"))
            .hint("Pause or stop it, or wait until it rests. Then fork it."));
    }
    Ok(ForkRun { id: None, run, event })
}
