//! The event stream of one browser tab: events of the journals it follows, and status changes of all runs.
//!
//! Every frame has an id that holds the offset in each journal. A browser that reconnects sends the last id and resumes
//! from there, also when the server was killed in between: see `cursor`.

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

use crewagent_engine::journal::JournalReader;
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
use crewagent_engine::workers::{BufferedEvent, EventBuffer, Offset, Pull, WakeListener};

/// Journals that one stream follows.
const MAX_FOLLOWED: usize = 64;
/// Bytes of a journal that are read at a time.
const CHUNK_BYTES: usize = 256 * 1024;
/// Poll interval for a journal that another process may be writing.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Interval of comments on an idle stream, so that both ends notice a lost connection.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// Time after which a browser reconnects.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Opens a stream.
pub(crate) async fn open(
    State(app): State<Arc<App>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, Problem> {
    let watch: Watch = query_of(&uri)?;
    let shown = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let cursor = shown.or(watch.after.as_deref()).map(Cursor::parse).unwrap_or_default();
    let mut stream = EventStream::new(app, gate::cookies(&headers));
    for name in watch.watch.as_deref().unwrap_or_default().split(',').filter(|it| !it.is_empty()) {
        let journal = JournalId::parse(name).ok_or_else(|| {
            Problem::invalid(format!("`{name}` is not `run/<id>` or `conversation/<id>`"))
        })?;
        stream.follow(journal, &cursor)?;
    }
    // A browser that reconnects by itself also followed the runs of its conversation.
    for journal in cursor.journals().filter(|_| shown.is_some()) {
        stream.follow(journal.clone(), &cursor)?;
    }
    let frames =
        unfold(stream, async |mut stream| stream.next().await.map(|frame| (Ok(frame), stream)));
    Ok(Sse::new(frames).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_INTERVAL)))
}

/// A journal that the stream follows.
struct Followed {
    journal: JournalId,
    buffer: Arc<EventBuffer>,
    /// The offset of the last frame that was sent.
    sent: Offset,
    /// The offset of the last frame that is queued.
    at: Offset,
    /// True once the browser's events were compared with the journal.
    is_reconciled: bool,
    /// A position in the journal, once it was read.
    reader: Option<JournalReader>,
    /// The epoch at that position.
    epoch: u64,
}

/// A frame that is queued.
struct QueuedFrame {
    name: &'static str,
    data: Arc<str>,
    /// The journal and the offset that sending this frame leads to.
    advances: Option<(usize, Offset)>,
}

/// The state of one stream.
struct EventStream {
    app: Arc<App>,
    /// The cookies of the browser. When they expire, the stream ends; a browser with a newer cookie reconnects by itself.
    cookies: String,
    followed: Vec<Followed>,
    queue: VecDeque<QueuedFrame>,
    bell: Arc<Notify>,
    /// Rings the bell; buffers and the board call it until it is dropped.
    listener: Arc<WakeListener>,
    /// The version of the last status that was sent.
    status_version: u64,
    closing: watch::Receiver<bool>,
    is_over: bool,
}

impl EventStream {
    fn new(app: Arc<App>, cookies: String) -> Self {
        let bell = Arc::new(Notify::new());
        let ring = Arc::clone(&bell);
        let listener: Arc<WakeListener> = Arc::new(move || ring.notify_one());
        let status_version = app.workers.board().subscribe(&listener);
        let closing = app.closing.clone();
        let hello = Hello { version: env!("CARGO_PKG_VERSION").to_owned(), server: instance_id() };
        let queue = VecDeque::from([frame_of("hello", &hello)]);
        let followed = Vec::new();
        Self {
            app,
            cookies,
            followed,
            queue,
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
            is_reconciled: at.is_start(),
            reader: None,
            epoch: 1,
        });
        Ok(())
    }

    /// Waits for the next frame. Returns none when the stream is over.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(queued) = self.queue.pop_front() {
                return Some(self.frame(&queued));
            }
            if self.is_over || !self.app.access.admits(&self.cookies) {
                return None;
            }
            if *self.closing.borrow() {
                self.is_over = true;
                self.queue.push_back(QueuedFrame {
                    name: "bye",
                    data: "{}".into(),
                    advances: None,
                });
                continue;
            }
            self.gather().await;
            if self.queue.is_empty() {
                let (bell, closing) = (Arc::clone(&self.bell), &mut self.closing);
                tokio::select! {
                    () = bell.notified() => {}
                    () = tokio::time::sleep(POLL_INTERVAL) => {}
                    _ = closing.changed() => {}
                }
            }
        }
    }

    fn frame(&mut self, queued: &QueuedFrame) -> Frame {
        if let Some((at, offset)) = queued.advances {
            self.followed[at].sent = offset;
        }
        let offsets = self.followed.iter().map(|one| (&one.journal, one.sent));
        let frame =
            Frame::default().event(queued.name).data(&*queued.data).id(cursor::write(offsets));
        if queued.name == "hello" { frame.retry(RETRY_PAUSE) } else { frame }
    }

    /// Queues all frames that are available.
    async fn gather(&mut self) {
        let (statuses, version) = self.app.workers.board().since(self.status_version);
        self.status_version = version;
        self.queue.extend(statuses.iter().map(|status| frame_of("notice", status)));
        let mut at = 0;
        // The list grows when a conversation enters a run.
        while at < self.followed.len() {
            if self.pull(at).await.is_err() {
                // It was removed, or the disk failed: nothing comes from it until a worker opens it.
            }
            at += 1;
        }
    }

    /// Queues the next frames of one journal.
    async fn pull(&mut self, at: usize) -> Result<(), Problem> {
        let one = &self.followed[at];
        match one.buffer.pull(one.at) {
            Pull::Empty => self.followed[at].is_reconciled = true,
            Pull::Events(events) => {
                self.followed[at].is_reconciled = true;
                self.enqueue(at, events);
                self.bell.notify_one();
            }
            Pull::Unconfirmed { epoch } => self.reconcile(at, Some(epoch)).await?,
            Pull::Behind { before, epoch } => self.read(at, before, Some(epoch)).await?,
            Pull::Closed if !one.is_reconciled => self.reconcile(at, None).await?,
            Pull::Closed => self.read(at, u64::MAX, None).await?,
        }
        Ok(())
    }

    /// Compares the browser's events with the journal, and rewinds it where they differ.
    async fn reconcile(&mut self, at: usize, epoch: Option<u64>) -> Result<(), Problem> {
        let mut reader = self.reader(at).await?;
        let (journal, reader) =
            blocking(move || Ok((Reconciliation::read(&mut reader)?, reader))).await?;
        drop(reader);
        let one = &mut self.followed[at];
        let seen = one.at;
        let seq = journal.common(seen);
        one.at = Offset { epoch: epoch.unwrap_or(journal.last_epoch()), seq, part: 0 };
        (one.is_reconciled, one.reader) = (true, None);
        if seq < seen.seq || seen.part > 0 {
            let rewind = Rewind { journal: one.journal.clone(), seq };
            let advances = Some((at, one.at));
            self.queue.push_back(QueuedFrame { advances, ..frame_of("rewind", &rewind) });
        }
        self.bell.notify_one();
        Ok(())
    }

    /// Reads events from the journal, after those that were queued and before this one.
    async fn read(&mut self, at: usize, before: u64, epoch: Option<u64>) -> Result<(), Problem> {
        let mut reader = self.reader(at).await?;
        let (behind, mut writer) = (self.followed[at].at.seq, self.followed[at].epoch);
        let (events, writer, reader) = blocking(move || {
            let mut found = Vec::new();
            // A new reader begins at the start of the journal.
            while found.is_empty() && reader.seq() + 1 < before {
                let events = reader.next(CHUNK_BYTES)?;
                if events.is_empty() {
                    break;
                }
                for event in events {
                    writer = event.kind.epoch().unwrap_or(writer);
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
        // The reader may have passed events that come from the buffer.
        one.reader = (end < before).then_some(reader);
        if !lines.is_empty() {
            self.enqueue(at, lines);
            self.bell.notify_one();
        } else if end < behind && epoch.is_none() {
            // The last events that were sent are not in the journal.
            self.followed[at].is_reconciled = false;
            self.bell.notify_one();
        }
        Ok(())
    }

    async fn reader(&mut self, at: usize) -> Result<JournalReader, Problem> {
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

    fn enqueue(&mut self, at: usize, events: Vec<BufferedEvent>) {
        for event in events {
            self.followed[at].at = event.at;
            self.queue.push_back(QueuedFrame {
                name: "event",
                data: event.text,
                advances: Some((at, event.at)),
            });
            if let Some(run) = event.entered_run {
                // A journal beyond the limit is followed when the browser asks for it.
                let _ = self.follow(JournalId::run(run), &Cursor::default());
            }
        }
    }
}

fn frame_of(name: &'static str, data: &impl Serialize) -> QueuedFrame {
    QueuedFrame {
        name,
        data: serde_json::to_string(data).unwrap_or_default().into(),
        advances: None,
    }
}

/// Returns the id of this server process.
fn instance_id() -> String {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| Secret::fresh().digest().short()).clone()
}
