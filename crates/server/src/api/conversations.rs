//! Conversations: begin them, send messages, read them.

use crewagent_core::menu::{MenuLine, menu_of};
use crewagent_engine::control::Control;
use crewagent_engine::conversation::Launch;
use crewagent_engine::conversation::Reaction;
use crewagent_engine::runtime::StartConversation;
use crewagent_engine::store::{self, JournalId, Of, ProjectId, RunId, RunView, Store};
use crewagent_format::package::agents::Surface;

use super::packages::agent;
use super::projects::project;
use super::runs::{bounded, change, page, read_blob};
use super::{Blob, Id};
use crate::app::App;
use crate::endpoint::{ApiEndpoint, ParsedRequest, delete, get, patch, post};
use crate::problem::Problem;
use crate::wire::{
    Agent, Conversation, ConversationDetail, ConversationList, ConversationMode, ConversationQuery,
    EnterRun, EventPage, EventQuery, FileText, Halting, LaunchRun, NewConversation, Nothing,
    RemovedConversation, ResumeRequest, StartedConversation, Title, UserMessage,
};
use crewagent_engine::workers::Task;

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        get("/api/conversations", "Lists or searches conversations", list),
        post("/api/conversations", "Begins a conversation", begin),
        get("/api/conversations/{id}", "Shows a conversation", show),
        patch("/api/conversations/{id}", "Gives a conversation another title", rename),
        delete("/api/conversations/{id}", "Removes a conversation and its runs", remove),
        get("/api/conversations/{id}/events", "Reads events of a conversation", events),
        get("/api/conversations/{id}/blobs/{sha256}", "Reads a long text of an event", blob),
        post(
            "/api/conversations/{id}/say",
            "Says something: a command such as `/menu`, a choice, an answer, or just words",
            say,
        ),
        post("/api/conversations/{id}/runs", "Starts a workflow from a conversation", launch),
        post("/api/conversations/{id}/enter", "Goes on with a run of a conversation", enter),
        post("/api/conversations/{id}/resume", "Goes on where it stands", resume),
        post("/api/conversations/{id}/pause", "Pauses it after the call in hand", pause),
        post("/api/conversations/{id}/stop", "Stops it, and gives up the request", stop),
    ]
}

/// Default length of a list.
const DEFAULT_LIMIT: usize = 200;
/// Bytes of journals that a search reads at most.
const MAX_SEARCH_BYTES: u64 = 256 << 20;

fn journal(path: &Id) -> Result<JournalId, Problem> {
    Ok(JournalId::conversation(RunId::parse(&path.id)?))
}

fn list(asked: ParsedRequest<(), ConversationQuery>) -> Result<ConversationList, Problem> {
    let ParsedRequest { app, query, .. } = asked;
    let store = app.store()?;
    let project = query.project.as_deref().map(ProjectId::parse).transpose()?;
    let of = project.as_ref().map_or(Of::All, Of::Project);
    let limit = query.limit.map_or(DEFAULT_LIMIT, |limit| limit as usize);
    if let Some(words) = query.words.as_deref().map(str::trim).filter(|words| !words.is_empty()) {
        let searched = app.searches.run(|is_wanted| {
            Ok(store.conversations().search_some(of, words, MAX_SEARCH_BYTES, is_wanted)?)
        })?;
        let more = !searched.is_whole || searched.found.len() > limit;
        let found = searched.found.into_iter().take(limit);
        let conversations = found
            .map(|(one, place)| Conversation { found: Some(place), ..item(&app, one) })
            .collect();
        return Ok(ConversationList { conversations, more, damaged: Vec::new() });
    }
    let (listing, total) = store.conversations().newest(of, limit)?;
    Ok(ConversationList {
        conversations: listing.conversations.into_iter().map(|one| item(&app, one)).collect(),
        more: total > limit,
        damaged: listing.damaged,
    })
}

fn item(app: &App, stored: store::ConversationSummary) -> Conversation {
    let holder = stored.holder.filter(|holder| holder.pid != Some(std::process::id()));
    Conversation {
        at_work: app.workers.is_working(&JournalId::conversation(stored.id.clone())),
        id: stored.id.to_string(),
        project: stored.project_id.to_string(),
        title: stored.title,
        package: stored.package,
        agent_id: stored.agent_id,
        created: stored.created.to_string(),
        updated: stored.updated.map(|time| time.to_string()),
        phase: stored.phase,
        asks: stored.asks,
        held_by: holder.map(|holder| holder.to_string()),
        found: None,
    }
}

fn begin(asked: ParsedRequest<(), (), NewConversation>) -> Result<StartedConversation, Problem> {
    let ParsedRequest { app, body, .. } = asked;
    let store = app.store()?;
    let id = RunId::fresh(crewagent_engine::clock::now());
    let package = body.package.as_deref();
    let plan = StartConversation {
        id: Some(id.clone()),
        package: package.map(|reference| store.packages().find(reference)).transpose()?,
        agent: body.agent,
        project: project(&store, &body.project)?.folder()?.to_owned(),
        settings: bounded(&store, &body.bounds),
    };
    let journal = JournalId::conversation(id);
    app.workers.submit(&journal, Task::StartConversation(Box::new(plan)), body.model)?;
    Ok(StartedConversation { id: journal.id.to_string() })
}

fn show(asked: ParsedRequest<Id>) -> Result<ConversationDetail, Problem> {
    let ParsedRequest { app, path, .. } = asked;
    let (store, id) = (app.store()?, RunId::parse(&path.id)?);
    let conversations = store.conversations();
    let view = conversations.runs().look(&id)?;
    let (agent, menu) = active_agent(&store, &view).unzip();
    let active_run = view.active_run().map(|run| run.to_string());
    Ok(ConversationDetail {
        item: item(&app, conversations.get(&id)?),
        mode: match (&active_run, &agent) {
            (Some(_), _) => ConversationMode::Workflow,
            (None, Some(_)) => ConversationMode::Agent,
            (None, None) => ConversationMode::Chat,
        },
        agent,
        menu: menu.unwrap_or_default(),
        runs: view.runs().iter().map(ToString::to_string).collect(),
        active_run,
        blocked: conversations.runs().roots(&view.record).err().map(|error| error.to_string()),
    })
}

/// Returns the active agent, with its menu.
fn active_agent(store: &Store, view: &RunView) -> Option<(Agent, Vec<MenuLine>)> {
    let id = view.history().agent_id;
    let installed = store.conversations().runs().package(&view.record).ok()??;
    let package = store.packages().load(&installed).ok()?;
    let found = package.agents().iter().find(|agent| Some(agent.id.as_str()) == id.as_deref())?;
    let menu = menu_of(found, Surface::Ide);
    Some((agent(found), menu))
}

fn rename(asked: ParsedRequest<Id, (), Title>) -> Result<Conversation, Problem> {
    let (store, id) = (asked.app.store()?, RunId::parse(&asked.path.id)?);
    if asked.body.title.trim().is_empty() {
        return Err(Problem::invalid("a title has at least one letter"));
    }
    store.conversations().rename(&id, &asked.body.title)?;
    Ok(item(&asked.app, store.conversations().get(&id)?))
}

fn remove(asked: ParsedRequest<Id>) -> Result<RemovedConversation, Problem> {
    let journal = journal(&asked.path)?;
    let store = asked.app.store()?;
    asked.app.workers.release(&journal)?;
    for run in store.conversations().runs_of(&journal.id)? {
        asked.app.workers.release(&JournalId::run(run))?;
    }
    let runs = store.conversations().remove(&journal.id)?;
    let mut board = asked.app.workers.board();
    board.remove(&journal);
    runs.iter().for_each(|run| board.remove(&JournalId::run(run.clone())));
    Ok(RemovedConversation { runs: runs.iter().map(ToString::to_string).collect() })
}

fn events(asked: ParsedRequest<Id, EventQuery>) -> Result<EventPage, Problem> {
    let journal = journal(&asked.path)?;
    let reader = asked.app.store()?.conversations().runs().journal(&journal.id)?;
    page(&asked.app, &journal, reader, &asked.query)
}

fn blob(asked: ParsedRequest<Blob>) -> Result<FileText, Problem> {
    let (store, id) = (asked.app.store()?, RunId::parse(&asked.path.id)?);
    read_blob(&store.conversations().runs().blobs(&id)?, &asked.path.sha256)
}

fn say(asked: ParsedRequest<Id, (), UserMessage>) -> Result<Reaction, Problem> {
    let ParsedRequest { app, path, body, .. } = asked;
    let said = Task::Say { text: body.text, answers: body.answers };
    Ok(app.workers.submit(&journal(&path)?, said, body.model)?)
}

fn launch(asked: ParsedRequest<Id, (), LaunchRun>) -> Result<Reaction, Problem> {
    let ParsedRequest { app, path, body, .. } = asked;
    let store = app.store()?;
    let launch = Launch {
        package: store.packages().find(&body.package)?,
        workflow: body.workflow,
        agent: body.agent,
        variables: body.variables.into_iter().collect(),
        settings: bounded(&store, &body.bounds),
        message: body.message,
    };
    Ok(app.workers.submit(&journal(&path)?, Task::Launch(Box::new(launch)), body.model)?)
}

fn enter(asked: ParsedRequest<Id, (), EnterRun>) -> Result<Reaction, Problem> {
    let ParsedRequest { app, path, body, .. } = asked;
    let (journal, run) = (journal(&path)?, RunId::parse(&body.run)?);
    // An idle worker of its own may still hold the run.
    if !app.workers.is_working(&JournalId::run(run.clone())) {
        app.workers.release(&JournalId::run(run.clone()))?;
    }
    Ok(app.workers.submit(&journal, Task::Enter(run), body.model)?)
}

fn resume(asked: ParsedRequest<Id, (), ResumeRequest>) -> Result<Reaction, Problem> {
    let ParsedRequest { app, path, body, .. } = asked;
    Ok(app.workers.submit(&journal(&path)?, Task::Resume(change(&body.bounds)), body.model)?)
}

fn pause(asked: ParsedRequest<Id, (), Nothing>) -> Result<Halting, Problem> {
    let was_at_work = asked.app.workers.halt(&journal(&asked.path)?, Control::pause);
    Ok(Halting { was_at_work })
}

fn stop(asked: ParsedRequest<Id, (), Nothing>) -> Result<Halting, Problem> {
    let was_at_work = asked.app.workers.halt(&journal(&asked.path)?, Control::stop);
    Ok(Halting { was_at_work })
}
