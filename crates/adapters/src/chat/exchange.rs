//! One request and its answer.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use crewagent_core::event::{Channel, Reply};
use crewagent_dialect::assemble::{AnswerLimits, AnswerPiece, Assembler, StreamState};
use crewagent_dialect::fault::{Fault, FaultKind};
use crewagent_dialect::names::ToolNames;
use crewagent_dialect::profile::CallsInText;
use crewagent_dialect::retry::retry_after;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::clock::Clock;
use crewagent_engine::model::Endpoint;
use futures_util::{Stream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use secrecy::ExposeSecret as _;
use sse_stream::SseByteStream;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::failure::{Failure, Timer};
use super::meter::{Broken, Meter, Metered};
use super::speaker::Speaker;

/// Maximum number of bytes read of an answer that is no reply.
const COMPLAINT: usize = 64 << 10;

/// Delay before the first check for progress.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// Parts of a request on its way.
pub(super) struct Exchange {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) http: reqwest::Client,
    pub(super) url: reqwest::Url,
    /// Calls in the text that count.
    pub(super) calls_in_text: CallsInText,
    pub(super) names: Arc<ToolNames>,
    pub(super) body: Bytes,
    pub(super) is_streamed: bool,
}

/// Failure, and the text received before it.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) failure: Failure,
    pub(super) partial: String,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self { failure, partial: String::new() }
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Failure::Fault(fault).into()
    }
}

impl Exchange {
    /// Sends the request and reads the answer, unless it is cancelled before.
    pub(super) async fn run(
        self,
        speaker: &mut Speaker,
        until: &Deadline,
    ) -> Result<Reply, Failed> {
        tokio::select! {
            biased;
            () = until.over() => Err(Failure::Cancelled.into()),
            result = self.answer(speaker) => result,
        }
    }

    async fn answer(&self, speaker: &mut Speaker) -> Result<Reply, Failed> {
        let timeouts = &self.endpoint.timeouts;
        let begun = Instant::now();
        let first_byte = begun + timeouts.first_byte;
        let sent = timeout_at(first_byte, self.request().send()).await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Failure::of_request(&error).into()),
            Err(_) => return Err(Failure::Silent(Timer::FirstByte).into()),
        };
        let head = AnswerHead::of(&response);
        let meter = Meter::new(begun);
        let bytes = Metered::new(response.bytes_stream(), meter.clone());
        let watch =
            AnswerTimeouts { meter, first_byte, idle: timeouts.idle, end: begun + timeouts.call };
        if !head.is_fine() {
            let body = watch.collect(bytes, COMPLAINT).await.unwrap_or_default();
            return Err(head.fault(&body).into());
        }
        if self.is_streamed && head.is_stream() {
            self.stream(bytes, watch, &head, speaker).await
        } else {
            let body = watch.collect(bytes, usize::MAX).await?;
            let reply =
                Assembler::whole(&body, AnswerLimits::default(), &self.names, self.calls_in_text);
            let reply = reply.map_err(|fault| Failed::from(head.explain(fault, &body)))?;
            let text = reply.content.as_deref().unwrap_or_default();
            speaker.say(AnswerPiece { channel: Channel::Text, text }, Instant::now());
            Ok(reply)
        }
    }

    fn request(&self) -> reqwest::RequestBuilder {
        let accept = if self.is_streamed { "text/event-stream" } else { "application/json" };
        let mut request = self
            .http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, accept)
            .body(self.body.clone());
        if let Some(key) = &self.endpoint.key {
            request = request.bearer_auth(key.expose_secret());
        }
        for (name, value) in &self.endpoint.headers {
            request = request.header(name, value.expose_secret());
        }
        request
    }

    async fn stream(
        &self,
        bytes: impl Stream<Item = Result<Bytes, Broken>> + Unpin,
        watch: AnswerTimeouts,
        head: &AnswerHead,
        speaker: &mut Speaker,
    ) -> Result<Reply, Failed> {
        let mut events = SseByteStream::new(bytes);
        let mut assembler = Assembler::new(AnswerLimits::default());
        let mut alarm = pin!(sleep_until(Instant::now() + watch.idle.min(FIRST_LOOK)));
        let result = loop {
            tokio::select! {
                biased;
                event = events.next() => {
                    let event = match event {
                        None => break Ok(()),
                        Some(Err(error)) => break Err(broken(&error)),
                        Some(Ok(event)) => event,
                    };
                    watch.meter.event();
                    let now = Instant::now();
                    let Some(data) = &event.data else { continue };
                    match assembler.push(data, &mut |piece| speaker.say(piece, now)) {
                        Ok(StreamState::More) => {}
                        Ok(StreamState::Done) => break Ok(()),
                        Err(fault) => break Err(Failure::Fault(fault)),
                    }
                    if let Some(due) = speaker.due() && due < alarm.deadline() {
                        alarm.as_mut().reset(due);
                    }
                }
                () = &mut alarm => {
                    let now = Instant::now();
                    speaker.flush_due(now);
                    match watch.next_look(now) {
                        Ok(next) => alarm.as_mut().reset(speaker.due().map_or(next, |due| due.min(next))),
                        Err(timer) => break Err(Failure::Silent(timer)),
                    }
                }
            }
        };
        let partial = assembler.words().to_owned();
        let reply = match result {
            Ok(()) => assembler.finish(&self.names, self.calls_in_text).map_err(Failure::Fault),
            Err(failure) => Err(failure),
        };
        reply.map_err(|failure| Failed { failure: head.with_status(failure), partial })
    }
}

/// Returns the failure that broke a stream of events.
fn broken(error: &sse_stream::Error) -> Failure {
    let mut fault = Fault::new(FaultKind::Malformed);
    if let sse_stream::Error::Body(body) = error {
        match body.downcast_ref::<Broken>() {
            Some(Broken::TooLong) => fault.kind = FaultKind::TooLong,
            Some(Broken::Lost(_)) | None => {
                fault.kind = FaultKind::CutOff;
                fault.said = Some(body.to_string());
            }
        }
    } else if let sse_stream::Error::Utf8Parse(utf8) = error
        && utf8.error_len().is_none()
    {
        // The stream ended inside a character.
        fault.kind = FaultKind::CutOff;
    }
    Failure::Fault(fault)
}

/// Timeouts of an answer.
struct AnswerTimeouts {
    meter: Meter,
    first_byte: Instant,
    idle: Duration,
    end: Instant,
}

impl AnswerTimeouts {
    /// Returns the time of the next check, or the timeout that expired.
    fn next_look(&self, now: Instant) -> Result<Instant, Timer> {
        let (timer, over) = match self.meter.last() {
            None => (Timer::FirstByte, self.first_byte),
            Some(last) => (Timer::Idle, last + self.idle),
        };
        if now >= self.end {
            Err(Timer::Call)
        } else if now >= over {
            Err(timer)
        } else {
            Ok(over.min(self.end).min(now + self.idle))
        }
    }

    /// Reads the whole body, up to a limit.
    async fn collect(
        &self,
        mut bytes: impl Stream<Item = Result<Bytes, Broken>> + Unpin,
        limit: usize,
    ) -> Result<Bytes, Failure> {
        let mut body = BytesMut::new();
        let mut deadline = self.first_byte.min(self.end);
        loop {
            match timeout_at(deadline, bytes.next()).await {
                Err(_) if Instant::now() >= self.end => return Err(Failure::Silent(Timer::Call)),
                Err(_) if body.is_empty() => return Err(Failure::Silent(Timer::FirstByte)),
                Err(_) => return Err(Failure::Silent(Timer::Idle)),
                Ok(None) => return Ok(body.freeze()),
                Ok(Some(Ok(more))) => {
                    self.meter.event();
                    body.extend_from_slice(&more);
                    deadline = (Instant::now() + self.idle).min(self.end);
                    if body.len() >= limit {
                        body.truncate(limit);
                        return Ok(body.freeze());
                    }
                }
                Ok(Some(Err(Broken::TooLong))) => {
                    return Err(Failure::Fault(Fault::new(FaultKind::TooLong)));
                }
                Ok(Some(Err(Broken::Lost(why)))) => {
                    let said = Some(why);
                    return Err(Failure::Fault(Fault { said, ..Fault::new(FaultKind::CutOff) }));
                }
            }
        }
    }
}

/// Head of an answer.
struct AnswerHead {
    status: u16,
    content_type: Option<String>,
    location: Option<String>,
    retry_after: Option<Duration>,
}

impl AnswerHead {
    fn of(response: &reqwest::Response) -> Self {
        let headers = response.headers();
        let text =
            |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Self {
            status: response.status().as_u16(),
            content_type: text("content-type"),
            location: text("location"),
            retry_after: wait(headers),
        }
    }

    fn is_fine(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns true if events follow. A server that omits the type of its answer may send events as well.
    fn is_stream(&self) -> bool {
        let kind = self.content_type.as_deref().unwrap_or("text/event-stream");
        !kind.contains("json") && !kind.contains("html")
    }

    fn fault(&self, body: &[u8]) -> Fault {
        let kind = self.content_type.as_deref();
        let mut fault = Fault::of_response(self.status, self.retry_after, kind, body);
        if (300..400).contains(&self.status) {
            fault.kind = FaultKind::NoEndpoint;
            let to = self.location.as_deref().unwrap_or("nowhere");
            fault.said = Some(format!("it points to {to}, which is not followed"));
        }
        fault
    }

    /// Replaces the fault of an unreadable body by the error message in it, if there is one.
    fn explain(&self, fault: Fault, body: &[u8]) -> Fault {
        if fault.kind == FaultKind::Malformed {
            return self.fault(body);
        }
        Fault { status: fault.status.or(Some(self.status)), ..fault }
    }

    fn with_status(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Fault(fault) => {
                let retry_after = fault.retry_after.or(self.retry_after);
                Failure::Fault(Fault { retry_after, ..fault })
            }
            Failure::Unreachable { .. } | Failure::Silent(_) | Failure::Cancelled => failure,
        }
    }
}

fn wait(headers: &HeaderMap) -> Option<Duration> {
    let mut headers =
        headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    retry_after(&mut headers, Clock::system().now())
}
