//! The stream of events of one tab: what happens in the journals it follows, and how all runs are, for its lists.
//!
//! Every frame has an id that says how far each journal was followed. A browser that comes back shows the last one and
//! goes on from there, also when the server was killed in between: see `cursor`.

pub(crate) mod cursor;
mod reconcile;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Sse;
use axum::response::sse::{Event as Frame, KeepAlive};
use crewagent_core::event::{EventKind, RunEvent, RunResumed};
use crewagent_engine::journal::Reader;
use crewagent_engine::store::{JournalId, JournalKind};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::Serialize;
use tokio::sync::{Notify, watch};

use self::cursor::Cursor;
use self::reconcile::Reconciliation;
use crate::app::App;
use crate::endpoint::blocking;
use crate::endpoint::query_of;
use crate::gate;
use crate::problem::Problem;
use crate::secret::Secret;
use crate::wire::{Hello, Rewind, Watch};
use crewagent_engine::workers::{BufferedEvent, EventBuffer, Listener, Offset, Pull};

/// Journals that one stream follows.
const MAX_FOLLOWED: usize = 64;
/// Bytes of a journal that are read at a time.
const PIECE: usize = 256 * 1024;
/// How often a journal is looked at that another process may be writing.
const LOOK: Duration = Duration::from_secs(2);
/// A comment is sent when nothing else is, so that both ends notice when the other is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a browser waits before it comes back.
const RETRY: Duration = Duration::from_millis(500);

/// Opens a stream.
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, Problem> {
    let watch: Watch = query_of(&uri)?;
    let shown = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let cursor = shown.or(watch.after.as_deref()).map(Cursor::parse).unwrap_or_default();
    let mut tail = Tail::new(app, gate::cookies(&headers));
    for name in watch.watch.as_deref().unwrap_or_default().split(',').filter(|it| !it.is_empty()) {
        let journal = JournalId::parse(name).ok_or_else(|| {
            Problem::invalid(format!("`{name}` is not `run/<id>` or `conversation/<id>`"))
        })?;
        tail.follow(journal, &cursor)?;
    }
    // A browser that comes back by itself followed the runs of its conversation, too.
    for journal in cursor.journals().filter(|_| shown.is_some()) {
        tail.follow(journal.clone(), &cursor)?;
    }
    let frames = unfold(tail, async |mut tail| tail.next().await.map(|frame| (Ok(frame), tail)));
    Ok(Sse::new(frames).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// One journal that is followed.
struct Followed {
    journal: JournalId,
    buffer: Arc<EventBuffer>,
    /// How far what was sent goes.
    sent: Offset,
    /// How far what is on its way goes.
    at: Offset,
    /// Whether it was made sure that what the browser has is true.
    is_settled: bool,
    /// A place in the journal, once it was read.
    reader: Option<Reader>,
    /// The process that wrote what is read there.
    epoch: u64,
}

/// A frame that is on its way.
struct Ready {
    name: &'static str,
    data: Arc<str>,
    /// How far which journal was followed when this one is sent.
    moves: Option<(usize, Offset)>,
}

/// What one stream is at.
struct Tail {
    app: Arc<App>,
    /// What the browser showed. When that no longer lets it in, the stream ends; a browser with a newer cookie comes back
    /// by itself.
    cookies: String,
    followed: Vec<Followed>,
    ready: VecDeque<Ready>,
    bell: Arc<Notify>,
    /// Rings the bell; buffers call it as long as it is here.
    listener: Arc<Listener>,
    /// The version of the last status that was sent.
    status_version: u64,
    closing: watch::Receiver<bool>,
    is_over: bool,
}

impl Tail {
    fn new(app: Arc<App>, cookies: String) -> Self {
        let bell = Arc::new(Notify::new());
        let ring = Arc::clone(&bell);
        let listener: Arc<Listener> = Arc::new(move || ring.notify_one());
        let status_version = app.workers.board().subscribe(&listener);
        let closing = app.closing.clone();
        let hello = Hello { version: env!("CARGO_PKG_VERSION").to_owned(), server: life() };
        let ready = VecDeque::from([ready("hello", &hello)]);
        let followed = Vec::new();
        Self {
            app,
            cookies,
            followed,
            ready,
            bell,
            listener,
            status_version,
            closing,
            is_over: false,
        }
    }

    fn follow(&mut self, journal: JournalId, cursor: &Cursor) -> Result<(), Problem> {
        if self.followed.iter().any(|one| one.journal == journal) {
            return Ok(());
        }
        if self.followed.len() >= MAX_FOLLOWED {
            return Err(Problem::invalid(format!(
                "a stream follows at most {MAX_FOLLOWED} journals"
            )));
        }
        let buffer = self.app.workers.buffer(&journal);
        buffer.subscribe(&self.listener);
        let at = cursor.offset(&journal);
        self.followed.push(Followed {
            journal,
            buffer,
            sent: at,
            at,
            is_settled: at.is_start(),
            reader: None,
            epoch: 1,
        });
        Ok(())
    }

    /// The next frame; none when the stream is over.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(self.frame(&ready));
            }
            if self.is_over || !self.app.access.admits(&self.cookies) {
                return None;
            }
            if *self.closing.borrow() {
                self.is_over = true;
                self.ready.push_back(Ready { name: "bye", data: "{}".into(), moves: None });
                continue;
            }
            self.gather().await;
            if self.ready.is_empty() {
                let (bell, closing) = (Arc::clone(&self.bell), &mut self.closing);
                tokio::select! {
                    () = bell.notified() => {}
                    () = tokio::time::sleep(LOOK) => {}
                    _ = closing.changed() => {}
                }
            }
        }
    }

    fn frame(&mut self, ready: &Ready) -> Frame {
        if let Some((at, position)) = ready.moves {
            self.followed[at].sent = position;
        }
        let places = self.followed.iter().map(|one| (&one.journal, one.sent));
        let frame = Frame::default().event(ready.name).data(&*ready.data).id(cursor::write(places));
        if ready.name == "hello" { frame.retry(RETRY) } else { frame }
    }

    /// Gets ready what there is to send.
    async fn gather(&mut self) {
        let (statuses, version) = self.app.workers.board().since(self.status_version);
        self.status_version = version;
        self.ready.extend(statuses.iter().map(|status| ready("notice", status)));
        let mut at = 0;
        // What a conversation brings is followed at once.
        while at < self.followed.len() {
            if self.pull(at).await.is_err() {
                // Removed, or the disk failed: nothing comes from it until something wakes it.
            }
            at += 1;
        }
    }

    /// Gets ready what one journal has.
    async fn pull(&mut self, at: usize) -> Result<(), Problem> {
        let one = &self.followed[at];
        match one.buffer.pull(one.at) {
            Pull::Empty => self.followed[at].is_settled = true,
            Pull::Events(events) => {
                self.followed[at].is_settled = true;
                self.queue(at, events);
                self.bell.notify_one();
            }
            Pull::Unconfirmed { epoch } => self.reconcile(at, Some(epoch)).await?,
            Pull::Behind { before, epoch } => self.read(at, before, Some(epoch)).await?,
            Pull::Closed if !one.is_settled => self.reconcile(at, None).await?,
            Pull::Closed => self.read(at, u64::MAX, None).await?,
        }
        Ok(())
    }

    /// Makes sure that what the browser has is what the journal has.
    async fn reconcile(&mut self, at: usize, epoch: Option<u64>) -> Result<(), Problem> {
        let mut reader = self.reader(at).await?;
        let (journal, reader) =
            blocking(move || Ok((Reconciliation::read(&mut reader)?, reader))).await?;
        drop(reader);
        let one = &mut self.followed[at];
        let seen = one.at;
        let seq = journal.common(seen);
        one.at = Offset { epoch: epoch.unwrap_or(journal.last_epoch()), seq, part: 0 };
        (one.is_settled, one.reader) = (true, None);
        if seq < seen.seq || seen.part > 0 {
            let rewind = Rewind { journal: one.journal.clone(), seq };
            let moves = Some((at, one.at));
            self.ready.push_back(Ready { moves, ..ready("rewind", &rewind) });
        }
        self.bell.notify_one();
        Ok(())
    }

    /// Reads what the journal has behind what was sent, but nothing from this event on.
    async fn read(&mut self, at: usize, before: u64, epoch: Option<u64>) -> Result<(), Problem> {
        let mut reader = self.reader(at).await?;
        let (behind, mut writer) = (self.followed[at].at.seq, self.followed[at].epoch);
        let (events, writer, reader) = blocking(move || {
            let mut found = Vec::new();
            // A reader that is new begins at the front.
            while found.is_empty() && reader.seq() + 1 < before {
                let events = reader.next(PIECE)?;
                if events.is_empty() {
                    break;
                }
                for event in events {
                    if let EventKind::Run(RunEvent::Resumed(RunResumed { epoch, .. })) = &event.kind
                    {
                        writer = *epoch;
                    }
                    if (behind + 1..before).contains(&event.seq) {
                        found.push((event, writer));
                    }
                }
            }
            Ok((found, writer, reader))
        })
        .await?;
        let one = &mut self.followed[at];
        let lines: Vec<BufferedEvent> = events
            .into_iter()
            .map(|(event, writer)| BufferedEvent::new(&one.journal, event, epoch.unwrap_or(writer)))
            .collect();
        let end = reader.seq();
        one.epoch = writer;
        // The reader may have passed what comes from memory.
        one.reader = (end < before).then_some(reader);
        if !lines.is_empty() {
            self.queue(at, lines);
            self.bell.notify_one();
        } else if end < behind && epoch.is_none() {
            // What was told last did not come into the journal.
            self.followed[at].is_settled = false;
            self.bell.notify_one();
        }
        Ok(())
    }

    async fn reader(&mut self, at: usize) -> Result<Reader, Problem> {
        let one = &mut self.followed[at];
        if let Some(reader) = one.reader.take() {
            return Ok(reader);
        }
        one.epoch = 1;
        let (app, journal) = (Arc::clone(&self.app), one.journal.clone());
        blocking(move || {
            let store = app.store()?;
            Ok(match journal.kind {
                JournalKind::Run => store.runs().journal(&journal.id)?,
                JournalKind::Conversation => store.conversations().runs().journal(&journal.id)?,
            })
        })
        .await
    }

    fn queue(&mut self, at: usize, events: Vec<BufferedEvent>) {
        for event in events {
            self.followed[at].at = event.at;
            self.ready.push_back(Ready {
                name: "event",
                data: event.text,
                moves: Some((at, event.at)),
            });
            if let Some(run) = event.entered_run {
                // One too many is followed when the browser asks for it.
                let _ = self.follow(JournalId::run(run), &Cursor::default());
            }
        }
    }
}

fn ready(name: &'static str, data: &impl Serialize) -> Ready {
    Ready { name, data: serde_json::to_string(data).unwrap_or_default().into(), moves: None }
}

/// Tells this life of the server from others.
fn life() -> String {
    static LIFE: OnceLock<String> = OnceLock::new();
    LIFE.get_or_init(|| Secret::fresh().digest().short()).clone()
}
