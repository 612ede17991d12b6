//! The replay model: a journal answers. A request that differs from the recorded one is an error with a diff.

mod difference;
mod lines;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crewagent_core::event::{
    AssistantMessage, Channel, Event, EventKind, ModelEvent, PhaseChanged, Reply, RequestSummary,
    RunEvent, RunFailed, ToolEvent, ToolFinished, TurnStarted, UserEvent, UserInput,
};
use crewagent_core::payload::Payload;
use crewagent_format::integrity::Digest;

use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::{
    Delta, Model, ModelError, ModelErrorKind, Progress, Request, RequestCache,
};

/// Function that finds a text by its digest.
type BlobFinder = Box<dyn Fn(Digest) -> Option<Arc<str>> + Send + Sync>;

/// Model that answers as in a recorded run.
pub struct Replay {
    recording: RecordedRun,
    blobs: BlobFinder,
}

/// Requests and answers of a journal.
#[derive(Debug, Default)]
struct RecordedRun {
    /// Turns by their number.
    turns: BTreeMap<u64, RecordedTurn>,
    /// Answers of tools, in order.
    answers: Vec<ToolAnswer>,
    /// Inputs of the user.
    inputs: Vec<Payload>,
}

#[derive(Debug, Default)]
struct RecordedTurn {
    request: Option<RequestSummary>,
    reply: Option<Reply>,
    /// Failure in place of a reply.
    failure: Option<String>,
}

#[derive(Debug)]
struct ToolAnswer {
    turn: u64,
    call_id: String,
    result: Payload,
}

impl Replay {
    /// Reads the answers from the events of one run, in their order. The run may have been resumed any number of times.
    /// `blobs` finds the texts that are not in the events themselves.
    pub fn from_events(
        events: impl IntoIterator<Item = Event>,
        blobs: impl Fn(Digest) -> Option<Arc<str>> + Send + Sync + 'static,
    ) -> Self {
        let mut recording = RecordedRun::default();
        for event in events {
            recording.take(event.kind);
        }
        Self { recording, blobs: Box::new(blobs) }
    }

    /// Returns the number of answered turns.
    pub fn turns(&self) -> usize {
        self.recording.turns.values().filter(|turn| turn.reply.is_some()).count()
    }

    fn recorded(&self, number: u64) -> Result<(&RequestSummary, &Reply), ModelError> {
        let turn = self.recording.turns.get(&number);
        let Some(request) = turn.and_then(|turn| turn.request.as_ref()) else {
            let last = self.recording.turns.keys().next_back().copied().unwrap_or_default();
            return Err(script(format!(
                "The recording has no turn {number}; its last one is turn {last}."
            )));
        };
        let Some(reply) = turn.and_then(|turn| turn.reply.as_ref()) else {
            let failure = turn.and_then(|turn| turn.failure.as_deref());
            let why = failure.map_or("the run was cut off there", |message| message);
            return Err(script(format!("The recording has no reply for turn {number}: {why}")));
        };
        Ok((request, reply))
    }

    /// Returns the reply with all its texts loaded.
    fn whole(&self, reply: &Reply) -> Result<Reply, ModelError> {
        let mut reply = reply.clone();
        for call in &mut reply.tool_calls {
            let name = (call.id.as_str(), call.name.as_str());
            self.load(&mut call.arguments, name)?;
        }
        for call in &mut reply.repaired_calls {
            let Some(original) = reply.tool_calls.get(call.index) else { continue };
            let name = (original.id.as_str(), original.name.as_str());
            call.arguments.as_mut().map_or(Ok(()), |arguments| self.load(arguments, name))?;
        }
        Ok(reply)
    }

    fn load(&self, arguments: &mut Payload, (id, name): (&str, &str)) -> Result<(), ModelError> {
        if let Payload::Blob { sha256, .. } = arguments {
            let text = (self.blobs)(*sha256).ok_or_else(|| {
                script(format!(
                    "The arguments of call `{id}` ({name}) are not in the recording: the blob {sha256} is missing."
                ))
            })?;
            *arguments = Payload::Inline(text);
        }
        Ok(())
    }
}

impl RecordedRun {
    fn take(&mut self, kind: EventKind) {
        match kind {
            EventKind::Model(ModelEvent::TurnStarted(TurnStarted { turn, request, .. })) => {
                self.turns.entry(turn).or_default().request = Some(request);
            }
            EventKind::Model(ModelEvent::Replied(AssistantMessage { turn, reply })) => {
                self.turns.entry(turn).or_default().reply = Some(reply);
            }
            EventKind::Tool(ToolEvent::Finished(ToolFinished {
                turn, call_id, answer, ..
            })) => {
                self.answers.push(ToolAnswer { turn, call_id, result: answer.result });
            }
            EventKind::User(UserEvent::Input(UserInput { text, .. })) => self.inputs.push(text),
            EventKind::Run(RunEvent::Failed(RunFailed { message, .. })) => self.fail(message),
            EventKind::Run(RunEvent::PhaseChanged(PhaseChanged {
                message: Some(message), ..
            })) => self.fail(message),
            EventKind::Run(RunEvent::Started(_) | RunEvent::Resumed(_))
            | EventKind::Conversation(_)
            | EventKind::Frame(_)
            | EventKind::Tool(
                ToolEvent::Listed(_) | ToolEvent::Logged(_) | ToolEvent::Started(_),
            )
            | EventKind::Model(
                ModelEvent::Delta(_)
                | ModelEvent::Retried(_)
                | ModelEvent::Overflowed(_)
                | ModelEvent::FellBack(_)
                | ModelEvent::Stopped(_)
                | ModelEvent::Nudged(_),
            )
            | EventKind::State(_)
            | EventKind::User(UserEvent::Asked(_))
            | EventKind::Run(RunEvent::PhaseChanged(PhaseChanged { message: None, .. }))
            | EventKind::Model(ModelEvent::ContextCut(_))
            | EventKind::Run(RunEvent::Finished(_)) => {}
        }
    }

    /// Records why the last request has no reply, if it has none.
    fn fail(&mut self, message: String) {
        if let Some(turn) = self.turns.values_mut().next_back()
            && turn.reply.is_none()
        {
            turn.failure = Some(message);
        }
    }
}

impl Model for Replay {
    fn name(&self) -> &str {
        "replay"
    }

    fn reply(
        &self,
        request: &Request,
        _cache: &mut RequestCache,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError> {
        let (recorded, reply) = self.recorded(request.place.turn)?;
        if recorded.sha256 != request.sha256 {
            return Err(script(difference::explain(
                &self.recording,
                recorded,
                request,
                &self.blobs,
            )));
        }
        if until.is_over() {
            let message = "The reply was cancelled.".to_owned();
            return Err(ModelError::new(ModelErrorKind::Cancelled, message));
        }
        let reply = self.whole(reply)?;
        let thoughts = reply.extra.get("reasoning_content").and_then(|text| text.as_str());
        let told = [(Channel::Thinking, thoughts), (Channel::Text, reply.content.as_deref())];
        for (channel, text) in told {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                tell(Progress::Delta(Delta { channel, text: text.to_owned() }));
            }
        }
        Ok(reply)
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("recording", &self.recording).finish_non_exhaustive()
    }
}

fn script(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Script, message)
}
