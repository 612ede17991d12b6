//! Reads bytes to a reply as an adapter does: events by `sse-stream`, replies by the assembler.

use std::convert::Infallible;

use crewagent_core::event::{Channel, Reply};
use crewagent_dialect::assemble::{AnswerLimits, AnswerPiece, Assembler, StreamState};
use crewagent_dialect::fault::{Fault, FaultKind};
use crewagent_dialect::names::ToolNames;
use crewagent_dialect::profile::CallsInText;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::{Value as Json, json};
use sse_stream::{Error, SseByteStream};

/// Text emitted while the answer arrived, and the result.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    told: Vec<(Channel, String)>,
    pub(super) reply: Result<Reply, Fault>,
}

impl Outcome {
    pub(super) fn to_json(&self) -> Json {
        let channel = |channel: &Channel| match channel {
            Channel::Text => "text",
            Channel::Thinking => "thinking",
        };
        let told: Vec<Json> =
            self.told.iter().map(|(of, text)| json!([channel(of), text])).collect();
        let mut json = json!({ "told": told });
        match &self.reply {
            Ok(reply) => json["reply"] = json!(reply),
            Err(fault) => json["fault"] = super::fault_as_json(fault),
        }
        json
    }
}

/// Reads a stream that arrives in these chunks.
pub(super) fn streamed(
    chunks: &[&[u8]],
    limits: AnswerLimits,
    names: &ToolNames,
    calls_in_text: CallsInText,
) -> Outcome {
    let mut told: Vec<(Channel, String)> = Vec::new();
    let mut tell = |AnswerPiece { channel, text }: AnswerPiece<'_>| {
        assert!(!text.is_empty());
        match told.last_mut() {
            Some((last, so_far)) if *last == channel => so_far.push_str(text),
            Some(_) | None => told.push((channel, text.to_owned())),
        }
    };
    let reply = read(chunks, limits, names, calls_in_text, &mut tell);
    Outcome { told, reply }
}

fn read(
    chunks: &[&[u8]],
    limits: AnswerLimits,
    names: &ToolNames,
    calls_in_text: CallsInText,
    tell: &mut dyn FnMut(AnswerPiece<'_>),
) -> Result<Reply, Fault> {
    // Data at the end without a blank line is an event too, if only half of one.
    let chunks = chunks.iter().copied().chain([b"\n\n".as_slice()]);
    let mut events = SseByteStream::new(stream::iter(chunks.map(Ok::<_, Infallible>)));
    let mut assembler = Assembler::new(limits);
    while let Some(event) = events.next().now_or_never().unwrap() {
        match event {
            Ok(event) => match assembler.push(event.data.as_deref().unwrap_or_default(), tell)? {
                StreamState::More => {}
                StreamState::Done => break,
            },
            Err(Error::Utf8Parse(error)) if error.error_len().is_none() => {
                return Err(Fault::new(FaultKind::CutOff));
            }
            Err(_) => return Err(Fault::new(FaultKind::Malformed)),
        }
    }
    assembler.finish(names, calls_in_text)
}

/// Reads a body that arrived as a whole.
pub(super) fn whole(
    body: &[u8],
    limits: AnswerLimits,
    names: &ToolNames,
    calls_in_text: CallsInText,
) -> Outcome {
    Outcome { told: Vec::new(), reply: Assembler::whole(body, limits, names, calls_in_text) }
}

/// Splits bytes into chunks of this size.
pub(super) fn chunks(bytes: &[u8], size: usize) -> Vec<&[u8]> {
    bytes.chunks(size).collect()
}
