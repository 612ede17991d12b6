//! Fuzzes the bytes of an answer, streamed or whole: it ends in a reply that can be sent again, or in a fault, within
//! its limits, and however the bytes are split.

use std::convert::Infallible;

use crewagent_core::call::schema;
use crewagent_core::event::{Channel, Reply};
use crewagent_core::policy::Policy;
use crewagent_dialect::assemble::{AnswerLimits, AnswerPiece, Assembler, StreamState};
use crewagent_dialect::fault::{Fault, FaultKind};
use crewagent_dialect::names::ToolNames;
use crewagent_dialect::profile::{CallsInText, NameForm};
use crewagent_lenient::calls as leaked;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use sse_stream::SseByteStream;

const LIMITS: AnswerLimits = AnswerLimits { reply_bytes: 64 << 10, calls: 64 };

type Emitted = (String, String);

fn names() -> ToolNames {
    ToolNames::new(NameForm::Plain, &schema::tools(&Policy::default()))
}

fn streamed(bytes: &[u8], size: usize, mode: CallsInText) -> (Result<Reply, Fault>, Emitted) {
    let mut emitted = Emitted::default();
    let mut tell = |AnswerPiece { channel, text }: AnswerPiece<'_>| {
        assert!(!text.is_empty());
        match channel {
            Channel::Text => emitted.0.push_str(text),
            Channel::Thinking => emitted.1.push_str(text),
        }
    };
    let names = names();
    let chunks = bytes.chunks(size).chain([b"\n\n".as_slice()]).map(Ok::<_, Infallible>);
    let mut events = SseByteStream::new(stream::iter(chunks));
    let mut assembler = Assembler::new(LIMITS);
    let reply = loop {
        match events.next().now_or_never().expect("the bytes are there") {
            Some(Ok(event)) => match assembler.push(&event.data.unwrap_or_default(), &mut tell) {
                Ok(StreamState::More) => {}
                Ok(StreamState::Done) => break assembler.finish(&names, mode),
                Err(fault) => break Err(fault),
            },
            Some(Err(_)) => break Err(Fault::new(FaultKind::Malformed)),
            None => break assembler.finish(&names, mode),
        }
    };
    (reply, emitted)
}

fn check(reply: &Result<Reply, Fault>) {
    match reply {
        Ok(reply) => {
            let mut ids: Vec<&str> = reply.tool_calls.iter().map(|call| &*call.id).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), reply.tool_calls.len());
            assert!(
                reply.tool_calls.iter().all(|call| !call.id.is_empty() && !call.name.is_empty())
            );
            assert!(reply.tool_calls.iter().all(|call| call.arguments.bytes() > 0));
            assert!(reply.text_calls <= reply.tool_calls.len());
            assert!(!reply.extra.values().any(serde_json::Value::is_null));
            if let Some(words) = &reply.content {
                assert!(!words.trim().is_empty());
                assert!(words.starts_with(leaked::cut_invented(words)));
                let never = leaked::read(words, CallsInText::Never, &|name| names().offers(name));
                assert_eq!((&never.words, never.calls.len()), (words, 0));
                assert!(never.unreadable.is_some() || !leaked::detect(words));
            }
        }
        Err(fault) => assert!(!fault.advice().is_empty()),
    }
}

/// Checks one input.
pub(crate) fn run(bytes: &[u8]) {
    let plain = CallsInText::Never;
    let whole = streamed(bytes, usize::MAX, plain);
    check(&whole.0);
    assert_eq!(streamed(bytes, 1, plain), whole);
    assert_eq!(streamed(bytes, 7, plain), whole);
    for mode in [CallsInText::Tagged, CallsInText::All] {
        check(&streamed(bytes, usize::MAX, mode).0);
        check(&Assembler::whole(bytes, LIMITS, &names(), mode));
    }
}
