//! Reading runs: lists, one run, its events, its state documents.

use crewagent_core::event::Event;
use crewagent_core::run::history;
use crewagent_engine::journal::JournalReader;
use crewagent_engine::store::{
    JournalId, Of, ProjectId, RunId, RunListing, RunRecord, RunSummary, Status, Store,
};
use crewagent_format::integrity::Digest;

use crate::api::packages::picture;
use crate::api::{Blob, Id};
use crate::app::App;
use crate::endpoint::ParsedRequest;
use crate::page_offsets::PageOffset;
use crate::problem::Problem;
use crate::stream::cursor;
use crate::wire::{
    EventPage, EventQuery, FileText, Origin, Picture, RunDetail, RunItem, RunList, RunQuery,
    StateText, StateTexts, Title, Visit,
};
use crewagent_engine::workers::Offset;

/// Default length of a list.
const DEFAULT_RUNS: usize = 200;
/// Default and greatest number of events of a page.
const DEFAULT_EVENTS: usize = 500;
const MAX_EVENTS: usize = 5000;
/// Bytes of a journal that are read at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// A page ends after this size, however few its events are.
const MAX_PAGE_BYTES: u64 = 4 << 20;
/// A longer text is not shown.
const MAX_BLOB_BYTES: u64 = 16 << 20;
/// Bytes that are read to find whether more events follow.
const PEEK_BYTES: usize = 64 << 10;

pub(super) fn list(asked: ParsedRequest<(), RunQuery>) -> Result<RunList, Problem> {
    let ParsedRequest { app, query, .. } = asked;
    let store = app.store()?;
    let project = query.project.as_deref().map(ProjectId::parse).transpose()?;
    let of = project.as_ref().map_or(Of::All, Of::Project);
    let limit = query.limit.map_or(DEFAULT_RUNS, |limit| limit as usize);
    let conversation = query.conversation.as_deref().map(RunId::parse).transpose()?;
    let (mut listing, total) = match (&conversation, query.status) {
        (None, None) => store.runs().newest(of, limit)?,
        // The status is known only after reading the run.
        (None, Some(_)) => (store.runs().list(of)?, 0),
        (Some(id), _) => (started_from(&store, id, of)?, 0),
    };
    let is_filtered = conversation.is_some() || query.status.is_some();
    listing.runs.retain(|run| query.status.is_none_or(|status| status == run.status));
    let total = if is_filtered { listing.runs.len() } else { total };
    let runs = listing.runs.into_iter().take(limit).map(|run| item(&app, run)).collect();
    Ok(RunList { runs, total: u32::try_from(total).unwrap_or(u32::MAX), damaged: listing.damaged })
}

/// Returns the runs that were started from a conversation and still exist, the newest first.
fn started_from(store: &Store, conversation: &RunId, of: Of<'_>) -> Result<RunListing, Problem> {
    let ids = store.conversations().runs_of(conversation)?;
    let mut runs: Vec<RunSummary> =
        ids.iter().filter_map(|id| store.runs().summary(id).ok()).collect();
    runs.retain(|run| match of {
        Of::All => true,
        Of::Project(project) => run.project_id == *project,
    });
    runs.sort_by(|one, other| other.run_id.cmp(&one.run_id));
    Ok(RunListing { runs, damaged: Vec::new() })
}

fn item(app: &App, run: RunSummary) -> RunItem {
    let conversation = run.conversation;
    let journal = JournalId::run(run.run_id.clone());
    let at_work = app.workers.is_working(&journal);
    // The failure of a full disk could not be recorded.
    let (reason, message) = if run.status == Status::Interrupted {
        app.workers.board().failure(&journal).unwrap_or_default()
    } else {
        (run.reason, run.message)
    };
    let holder = run.holder.filter(|holder| holder.pid != Some(std::process::id()));
    RunItem {
        id: run.run_id.to_string(),
        project: run.project_id.to_string(),
        package: run.package,
        workflow: run.workflow,
        agent_id: run.agent_id,
        title: run.title,
        conversation: conversation.map(|id| id.to_string()),
        fork_of: run.fork_of.map(|id| id.to_string()),
        created: run.created.to_string(),
        updated: run.updated.map(|time| time.to_string()),
        status: run.status,
        reason,
        message,
        asks: run.asks,
        asked: run.question,
        current_node: run.current_node,
        steps_completed: u32::try_from(run.steps_completed).unwrap_or(u32::MAX),
        spent: run.spent,
        at_work,
        held_by: holder.map(|holder| holder.to_string()),
        troubles: run.troubles,
    }
}

pub(super) fn show(asked: ParsedRequest<Id>) -> Result<RunDetail, Problem> {
    let ParsedRequest { app, path, .. } = asked;
    let (store, id) = (app.store()?, RunId::parse(&path.id)?);
    let view = store.runs().look(&id)?;
    let item = item(&app, store.runs().summary(&id)?);
    let history = view.history();
    let node = history.visits.first().map(|visit| visit.node.clone());
    Ok(RunDetail {
        item,
        package_sha256: view.record.subject.package().map(|package| package.sha256.to_string()),
        forked_from: history.forked_from.map(|fork| Origin {
            run: fork.run,
            event: fork.event,
            node: node.unwrap_or_default(),
        }),
        path: history.visits.into_iter().map(visit).collect(),
        question: history.question.map(|open| open.question),
        turns: u32::try_from(history.turns).unwrap_or(u32::MAX),
        usage: history.usage,
        state: (!view.recovered.events.is_empty()).then_some(history.position.state),
        graph: graph(&store, &view.record),
        blocked: store.runs().roots(&view.record).err().map(|error| error.to_string()),
    })
}

pub(super) fn rename(asked: ParsedRequest<Id, (), Title>) -> Result<RunItem, Problem> {
    let (store, id) = (asked.app.store()?, RunId::parse(&asked.path.id)?);
    if asked.body.title.trim().is_empty() {
        return Err(Problem::invalid("a title has at least one letter"));
    }
    store.runs().rename(&id, &asked.body.title)?;
    Ok(item(&asked.app, store.runs().summary(&id)?))
}

fn visit(visit: history::Visit) -> Visit {
    let call = visit.frame_id().and_then(|frame| u32::try_from(frame.number()).ok());
    let number = u32::try_from(visit.number).unwrap_or(u32::MAX);
    Visit { seq: visit.seq, node: visit.node, number, label: visit.label, call }
}

/// Returns the graph of a run's workflow, unless its package is gone or damaged.
fn graph(store: &Store, record: &RunRecord) -> Option<Picture> {
    let installed = store.runs().package(record).ok()??;
    let package = store.packages().load(&installed).ok()?;
    let document = &record.subject.workflow()?.document;
    let mut all = package.workflows().iter();
    let workflow = all.find(|one| one.document_path.as_str() == document)?;
    Some(picture(workflow, &package))
}

pub(super) fn events(asked: ParsedRequest<Id, EventQuery>) -> Result<EventPage, Problem> {
    let id = RunId::parse(&asked.path.id)?;
    let reader = asked.app.store()?.runs().journal(&id)?;
    page(&asked.app, &JournalId::run(id), reader, &asked.query)
}

/// Reads a page of a journal.
pub(in crate::api) fn page(
    app: &App,
    journal: &JournalId,
    mut reader: JournalReader,
    query: &EventQuery,
) -> Result<EventPage, Problem> {
    let after = query.after.unwrap_or_default();
    let limit = query.limit.map_or(DEFAULT_EVENTS, |limit| limit as usize).clamp(1, MAX_EVENTS);
    let mut epoch = 1;
    if let Some(mark) = app.page_offsets.find(journal, after)
        && reader.go_to(&mark.place)?
    {
        epoch = mark.epoch;
    }
    while reader.seq() < after {
        let left = usize::try_from(after - reader.seq()).unwrap_or(usize::MAX);
        let passed = reader.next_few(CHUNK_BYTES, left)?;
        if passed.is_empty() {
            break;
        }
        epoch = last_epoch(&passed).unwrap_or(epoch);
    }
    let (mut events, begin) = (Vec::new(), reader.offset());
    let mut more = false;
    loop {
        if events.len() == limit || reader.offset() - begin >= MAX_PAGE_BYTES {
            if let Some(place) = reader.place() {
                app.page_offsets.insert(journal, PageOffset { place, epoch });
            }
            more = !reader.next_few(PEEK_BYTES, 1)?.is_empty();
            break;
        }
        let next = reader.next_few(CHUNK_BYTES, limit - events.len())?;
        if next.is_empty() {
            break;
        }
        epoch = last_epoch(&next).unwrap_or(epoch);
        events.extend(next);
    }
    let seq = events.last().map_or(after, |event: &Event| event.seq);
    let at = Offset { epoch, seq, part: 0 };
    Ok(EventPage { events, more, cursor: cursor::write(std::iter::once((journal, at))) })
}

/// Returns the last epoch that begins within these events.
fn last_epoch(events: &[Event]) -> Option<u64> {
    events.iter().rev().find_map(|event| event.kind.epoch())
}

pub(super) fn state(asked: ParsedRequest<Id>) -> Result<StateTexts, Problem> {
    let (store, id) = (asked.app.store()?, RunId::parse(&asked.path.id)?);
    let documents = store.runs().documents(&id)?.into_iter().map(|(path, text)| StateText {
        path,
        sha256: Digest::of(text.as_bytes()).to_string(),
        text,
    });
    Ok(StateTexts { documents: documents.collect() })
}

pub(super) fn blob(asked: ParsedRequest<Blob>) -> Result<FileText, Problem> {
    let (store, id) = (asked.app.store()?, RunId::parse(&asked.path.id)?);
    read_blob(&store.runs().blobs(&id)?, &asked.path.sha256)
}

/// Reads a long text that an event refers to.
pub(in crate::api) fn read_blob(
    blobs: &crewagent_engine::blobs::Blobs,
    sha256: &str,
) -> Result<FileText, Problem> {
    let digest = Digest::parse(sha256).ok_or_else(|| Problem::missing("this is not a digest"))?;
    let missing = || Problem::missing("there is no such text");
    let size = blobs.size(digest).ok().flatten().ok_or_else(missing)?;
    let text = match size {
        0..=MAX_BLOB_BYTES => String::from_utf8(blobs.get(digest).map_err(|_| missing())?).ok(),
        _ => None,
    };
    let sha256 = sha256.to_owned();
    Ok(FileText { path: sha256.clone(), sha256, bytes: size, text })
}

#[cfg(test)]
mod tests {
    use crewagent_engine::blobs::Blobs;
    use crewagent_engine::disk::{Disk, Folder};

    use super::*;

    #[test]
    fn a_text_that_is_too_long_to_be_shown_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::new(Folder::root(Disk::default(), folder.path()));
        let short = blobs.put(b"short").unwrap().to_string();
        let shown = read_blob(&blobs, &short).unwrap();
        assert_eq!((shown.bytes, shown.text.as_deref()), (5, Some("short")));
        // A sparse file of one gigabyte, whose digest would be wrong.
        let long = Digest::of(b"long").to_string();
        std::fs::File::create(folder.path().join(&long)).unwrap().set_len(1 << 30).unwrap();
        let shown = read_blob(&blobs, &long).unwrap();
        assert_eq!((shown.bytes, shown.text), (1 << 30, None));
        assert!(read_blob(&blobs, &Digest::of(b"none").to_string()).is_err());
    }
}
