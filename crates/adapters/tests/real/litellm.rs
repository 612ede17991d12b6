//! LiteLLM's proxy: its own answers, and those of the other server through it.

use crewagent_core::event::Finish;

use crate::ask::{arguments, ask, at_most, check_cut, endpoint, forced, plain, whole, with_tools};
use crate::servers::litellm;

const WORDS: &str = "Hello, wörld: 世界 🙂. This text comes in pieces.";

#[test]
fn words_come_in_pieces_or_at_once() {
    let streamed = ask(endpoint(litellm(), "plain"), &plain()).reply();
    let whole = ask(whole(endpoint(litellm(), "plain")), &plain()).reply();
    for reply in [streamed, whole] {
        assert_eq!(reply.content.as_deref(), Some(WORDS));
        assert_eq!(reply.finish, Finish::Stop);
        assert!(!reply.usage.estimated, "{:?}", reply.usage);
        assert!(reply.usage.input_tokens > 0 && reply.usage.output_tokens > 0);
    }
}

/// LiteLLM ends with `stop`, as if there were no call.
#[test]
fn a_call_counts_whatever_the_reason_to_finish() {
    let reply = ask(whole(endpoint(litellm(), "call")), &with_tools()).reply();
    assert_eq!(reply.content.as_deref(), Some("I look into it."));
    assert_eq!(arguments(&reply)["path"], "@project/notes.md");
    assert_eq!(reply.tool_calls[0].name, "fs.read");
}

#[test]
fn a_call_comes_through_the_proxy() {
    let model = forced(endpoint(litellm(), "llama/caller"), "fs_read");
    for model in [model.clone(), whole(model)] {
        let reply = ask(model, &with_tools()).reply();
        assert!(arguments(&reply)["path"].is_string());
        assert_eq!(reply.tool_calls[0].name, "fs.read");
        assert!(!reply.usage.estimated && reply.usage.output_tokens > 0, "{:?}", reply.usage);
    }
}

#[test]
fn a_cut_call_stays_broken_behind_the_proxy() {
    let model = forced(endpoint(litellm(), "llama/endless"), "fs_write");
    for model in [model.clone(), whole(model)] {
        let reply = ask(at_most(model, 24), &with_tools()).reply();
        check_cut(&reply);
    }
}
