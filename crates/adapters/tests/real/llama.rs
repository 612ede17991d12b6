//! llama.cpp: real streams, real grammars, real gaps. The text is noise; the frames around it are not.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crewagent_core::event::{Finish, Reply};
use crewagent_core::message::Message;
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::ModelErrorKind;
use serde_json::Map;

use crate::ask::{
    arguments, ask, ask_and, at_most, check_cut, conversation, endpoint, forced, plain, whole,
    with_tools,
};
use crate::servers::{impatient_llama, llama};

/// Maximum tokens with which a talkative model nearly always reaches its end.
const ENOUGH: u64 = 2_000;
/// Maximum tokens that are too few for the arguments of any call.
const FEW: u64 = 24;

fn model(name: &str) -> Endpoint {
    endpoint(llama(), name)
}

#[test]
fn words_come_in_pieces_or_at_once() {
    let reply = ask(at_most(model("talker"), ENOUGH), &plain()).reply();
    assert_eq!(reply.tool_calls, []);
    // This server reports token counts only for answers that are not streamed.
    assert!(reply.usage.estimated && reply.usage.input_tokens > 0, "{reply:?}");

    let reply = ask(whole(at_most(model("talker"), ENOUGH)), &plain()).reply();
    let usage = reply.usage;
    assert!(!usage.estimated && usage.input_tokens > 50 && usage.output_tokens > 0, "{usage:?}");
}

#[test]
fn a_reply_that_is_cut_off_says_so() {
    for model in [model("endless"), whole(model("endless"))] {
        let reply = ask(at_most(model, 5), &plain()).reply();
        assert_eq!(reply.finish, Finish::Length);
        assert_eq!(reply.content.unwrap().chars().count(), 5);
    }
}

#[test]
fn a_base_url_needs_no_version() {
    let mut model = at_most(model("talker"), 5);
    model.base_url = model.base_url.strip_suffix("/v1").unwrap().to_owned();
    ask(model, &plain()).reply();
}

fn check_call(model: Endpoint) -> Reply {
    let reply = ask(model, &with_tools()).reply();
    assert!(arguments(&reply)["path"].is_string(), "{reply:?}");
    assert_eq!(reply.tool_calls[0].name, "fs.read");
    assert_eq!(reply.finish, Finish::Stop);
    reply
}

#[test]
fn a_call_comes_in_pieces_or_at_once() {
    check_call(forced(model("caller"), "fs_read"));
    check_call(whole(forced(model("caller"), "fs_read")));
}

/// Without `tool_choice` this server hides the tools from the model, and with it, it does not stream.
#[test]
fn a_model_calls_by_its_own_choice() {
    let mut model = whole(model("caller"));
    model.profile.tool_choice = true;
    let reply = ask(model, &with_tools()).reply();
    assert_eq!(reply.tool_calls.len(), 1, "{reply:?}");
}

/// llama.cpp reports `finish_reason: "tool_calls"`, as if nothing were missing.
#[test]
fn a_cut_call_stays_broken() {
    for model in [model("endless"), whole(model("endless"))] {
        let reply = ask(at_most(forced(model, "fs_write"), FEW), &with_tools()).reply();
        check_cut(&reply);
    }
}

#[test]
fn an_answered_call_can_be_sent_back() {
    for model in [model("caller"), whole(model("caller"))] {
        let reply = check_call(forced(model.clone(), "fs_read"));
        let call = reply.tool_calls[0].id.clone();
        let mut request = conversation(vec![
            Message::system("Be brief."),
            Message::user("Hello"),
            Message::Assistant {
                content: reply.content.map(Into::into),
                tool_calls: reply.tool_calls,
                from: reply.from.map(Into::into),
                extra: Map::new(),
            },
            Message::Tool { tool_call_id: call, content: r#"{"ok":false}"#.into() },
            Message::user("And now?"),
        ]);
        request.tools = with_tools().tools;
        arguments(&ask(forced(model.clone(), "fs_list"), &request).reply());
        ask(at_most(model, FEW), &request).reply();
    }
}

#[test]
fn a_stream_can_be_cancelled() {
    let mut heard = None;
    let said = ask_and(at_most(model("endless"), 50_000), &plain(), &mut |cancel| {
        heard.get_or_insert_with(Instant::now);
        cancel.cancel();
    });
    said.check_error(ModelErrorKind::Cancelled);
    assert!(heard.is_some_and(|heard| heard.elapsed() < Duration::from_secs(5)), "{heard:?}");
    // The server noticed the cancellation too: it serves one request at a time.
    ask(at_most(model("endless"), 5), &plain()).reply();
}

/// By default this server ends a stream when another request arrives: `[DONE]`, without a reason. By the contract that
/// is the end of a reply, so the text up to there counts.
#[test]
fn a_stream_that_another_request_ended_is_the_reply_until_then() {
    let model = at_most(endpoint(impatient_llama(), "endless"), 50_000);
    let (began, begins) = mpsc::channel();
    let said = thread::scope(|scope| {
        let first =
            scope.spawn(|| ask_and(model.clone(), &plain(), &mut |_| began.send(()).unwrap()));
        begins.recv_timeout(Duration::from_secs(60)).unwrap();
        ask(at_most(model.clone(), 5), &plain()).reply();
        first.join().unwrap()
    });
    let words = said.words.clone();
    assert_eq!(said.reply().content.unwrap_or_default().trim(), words.trim());
}
