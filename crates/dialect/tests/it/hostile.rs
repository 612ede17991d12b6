//! Tests with answers that demand much memory or much time. They count work: no test reads a clock.

use crewagent_core::event::Reply;
use crewagent_dialect::assemble::{AnswerLimits, AnswerPiece, Assembler, StreamState};
use crewagent_dialect::fault::{Fault, FaultKind};
use crewagent_dialect::profile::CallsInText;
use serde_json::{Value as Json, json};

use super::names;

fn assembled(events: impl IntoIterator<Item = Json>) -> Result<Reply, Fault> {
    let mut assembler = Assembler::new(AnswerLimits::default());
    for event in events {
        assert_eq!(
            assembler.push(&event.to_string(), &mut |_: AnswerPiece<'_>| {})?,
            StreamState::More
        );
    }
    assembler.push("[DONE]", &mut |_| {})?;
    assembler.finish(&names(), CallsInText::All)
}

fn delta(delta: &Json) -> Json {
    json!({ "choices": [{ "delta": delta }] })
}

#[test]
fn two_hundred_parallel_calls_are_two_hundred_calls() {
    let begin = |at: u64| {
        delta(
            &json!({"tool_calls": [{"index": at, "id": format!("c{at}"), "function": {"name": "fs_read", "arguments": "{\"path\":"}}]}),
        )
    };
    let end = |at: u64| {
        let rest = format!("\"@project/{at}\"}}");
        delta(&json!({"tool_calls": [{"index": at, "function": {"arguments": rest}}]}))
    };
    let reply = assembled((0..200).map(begin).chain((0..200).rev().map(end))).unwrap();
    assert_eq!(reply.tool_calls.len(), 200);
    for (at, call) in reply.tool_calls.iter().enumerate() {
        assert_eq!(call.id, format!("c{at}"));
        assert_eq!(&**call.arguments.inline().unwrap(), format!("{{\"path\":\"@project/{at}\"}}"));
    }
}

#[test]
fn five_megabytes_of_arguments_in_small_pieces_are_taken() {
    let piece = "x".repeat(50);
    let more = delta(
        &json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "fs_write", "arguments": piece}}]}),
    );
    let begin = delta(
        &json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "fs_write", "arguments": "{\"content\":\""}}]}),
    );
    let end = delta(&json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"}"}}]}));
    let pieces = std::iter::repeat_n(more, (5 << 20) / 50);
    let reply = assembled([begin].into_iter().chain(pieces).chain([end])).unwrap();
    assert_eq!(reply.tool_calls.len(), 1);
    assert_eq!(reply.tool_calls[0].arguments.bytes(), 14 + (5 << 20) / 50 * 50);
}

#[test]
fn more_than_the_limit_is_too_long_wherever_it_comes() {
    let text = "y".repeat(1 << 20);
    for hostile in [
        json!({"content": text}),
        json!({"content": "\n".repeat(1 << 20)}),
        json!({"content": [{"type": "thinking", "thinking": text}]}),
        json!({"reasoning": text}),
        json!({"tool_calls": [{"function": {"arguments": text}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"name": text}}, {"index": 0, "function": {"name": "z"}}]}),
        json!({"tool_calls": [{"function": {"name": "a", "arguments": {"a": text}}}]}),
        json!({"tool_calls": [{"index": 0, "extra": {"a": text}}]}),
        json!({"other": {"b": [text]}}),
        json!({"reasoning_details": [{"data": text}]}),
        json!({&*text: true}),
    ] {
        let kind = assembled(std::iter::repeat_n(delta(&hostile), 9)).err().map(|fault| fault.kind);
        assert_eq!(kind, Some(FaultKind::TooLong), "{:.60}", hostile.to_string());
    }
    let many =
        (0..2000).map(|at| delta(&json!({"tool_calls": [{"index": at, "id": format!("{at}")}]})));
    assert_eq!(assembled(many).unwrap_err().kind, FaultKind::TooLong);
}

#[test]
fn a_hundred_thousand_blanks_before_the_first_word_cost_little() {
    let blank = delta(&json!({"content": " "}));
    let reply =
        assembled(std::iter::repeat_n(blank, 100_000).chain([delta(&json!({"content": "x"}))]))
            .unwrap();
    assert_eq!(reply.content.unwrap().len(), 100_001);
    let after = std::iter::repeat_n(delta(&json!({"content": "\n"})), 100_000);
    let thoughts = [delta(&json!({"content": "<think>a</think>"}))];
    assert_eq!(assembled(thoughts.into_iter().chain(after)).unwrap().content, None);
}

#[test]
fn nonsense_inside_of_chunks_is_passed_over() {
    for odd in [
        json!(null),
        json!(7),
        json!("text"),
        json!([]),
        json!([[[]]]),
        json!({"choices": 7}),
        json!({"choices": [7, null, "x"]}),
        json!({"choices": [{"delta": 7, "finish_reason": 7}]}),
        json!({"choices": [{"delta": {"content": 7, "tool_calls": 7, "role": 7, "reasoning": 7}}]}),
        json!({"choices": [{"delta": {"tool_calls": [null, 7, "x", [], {"function": 7}, {"index": -1, "id": 7}]}}]}),
        json!({"choices": [{"delta": {"content": [null, 7, {"type": 7}, {"type": "text", "text": 7}]}}]}),
        json!({"usage": 7, "error": false, "choices": []}),
    ] {
        let events = [odd.clone(), delta(&json!({"content": "Hello"}))];
        let reply = assembled(events).unwrap_or_else(|fault| panic!("{odd}: {fault:?}"));
        assert_eq!(reply.content.as_deref(), Some("Hello"), "{odd}");
        assert_eq!(reply.tool_calls, [], "{odd}");
    }
}
