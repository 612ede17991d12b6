//! Tests with answers in pieces. Recordings of many servers are in `tests/corpus/`.

use std::collections::HashSet;

use serde_json::json;

use super::*;
use crate::profile::NameForm;

fn names() -> ToolNames {
    ToolNames::new(NameForm::Plain, &[])
}

/// Pushes data and finishes. Returns the result, and the text emitted on the way.
fn assembled(data: &[&str]) -> (Result<Reply, Fault>, String) {
    let mut assembler = Assembler::new(AnswerLimits::default());
    let mut told = String::new();
    for data in data {
        if let Err(fault) = assembler.push(data, &mut |piece| told.push_str(piece.text)) {
            return (Err(fault), told);
        }
    }
    (assembler.finish(&names(), CallsInText::All), told)
}

fn check_fault(data: &[&str], expected: FaultKind) {
    assert_eq!(assembled(data).0.map_err(|fault| fault.kind), Err(expected), "{data:?}");
}

fn check_words(data: &[&str], expected: &str) {
    let (reply, told) = assembled(data);
    assert_eq!(reply.unwrap().content.as_deref(), Some(expected), "{data:?}");
    assert_eq!(told, expected, "{data:?}");
}

const HELLO: &str = r#"{"choices":[{"delta":{"content":"Hello"}}]}"#;
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
const CUT: &str = r#"{"choices":[{"delta":{"content":"Hel"#;

#[test]
fn an_answer_is_whole_when_its_server_says_so() {
    check_words(&[HELLO, STOP], "Hello");
    check_words(&[HELLO, "[DONE]"], "Hello");
    check_words(&[HELLO, STOP, "[DONE]", "[DONE]", HELLO, CUT], "Hello");
    check_fault(&[HELLO], FaultKind::CutOff);
    check_fault(&[], FaultKind::CutOff);
    check_fault(&["[DONE]"], FaultKind::CutOff);
}

#[test]
fn data_that_cannot_be_read_is_judged_by_what_follows() {
    check_fault(&[HELLO, CUT], FaultKind::CutOff);
    check_fault(&[HELLO, CUT, HELLO], FaultKind::Malformed);
    check_fault(&[HELLO, CUT, "[DONE]"], FaultKind::Malformed);
    check_fault(&[HELLO, "oops"], FaultKind::Malformed);
    check_words(&[HELLO, STOP, CUT], "Hello");
    check_words(&[HELLO, STOP, "oops"], "Hello");
    check_words(&[HELLO, STOP, "oops", "[DONE]"], "Hello");
    check_fault(&[HELLO, STOP, STOP, CUT], FaultKind::CutOff);
}

#[test]
fn the_words_so_far_are_there_when_it_fails() {
    let mut assembler = Assembler::new(AnswerLimits::default());
    assembler.push(HELLO, &mut |_| {}).unwrap();
    assert!(assembler.push(r#"{"error":"no"}"#, &mut |_| {}).is_err());
    assert_eq!(assembler.words(), "Hello");
}

#[test]
fn a_limit_holds_for_everything_together() {
    let limits = AnswerLimits { reply_bytes: 12, calls: 9 };
    let mut assembler = Assembler::new(limits);
    assembler.push(HELLO, &mut |_| {}).unwrap();
    let thought = json!({"choices": [{"delta": {"reasoning": "Hm."}}]}).to_string();
    assembler.push(&thought, &mut |_| {}).unwrap();
    let fault = assembler.push(HELLO, &mut |_| {}).unwrap_err();
    assert_eq!(fault.kind, FaultKind::TooLong);
}

#[test]
fn an_event_and_a_body_have_a_budget_of_values() {
    let values = "1,".repeat(500_000);
    let text = format!(r#"{{"choices":[{{"message":{{"x":[{values}1]}}}}]}}"#);
    let mut assembler = Assembler::new(AnswerLimits::default());
    assert_eq!(assembler.push(&text, &mut |_| {}).unwrap_err().kind, FaultKind::TooLong);
    let limits = AnswerLimits::default();
    let whole = Assembler::whole(text.as_bytes(), limits, &names(), CallsInText::All);
    assert_eq!(whole.unwrap_err().kind, FaultKind::TooLong);
}

#[test]
fn a_reply_has_room_for_the_ids_and_names_of_its_calls() {
    let call = |index: usize, id: &str, name: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": "{}"}});
    let calls: Vec<_> = (0..64).map(|at| call(at, &format!("{at:020000}"), "fs_read")).collect();
    let long = [call(0, &"i".repeat(1 << 20), &"n".repeat(1 << 20)), call(1, "short", "fs_read")];
    for calls in [calls, long.to_vec()] {
        let data = json!({"choices": [{"delta": {"tool_calls": calls}, "finish_reason": "stop"}]});
        let calls = assembled(&[&data.to_string()]).0.unwrap().tool_calls;
        let ids: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids.len(), calls.len());
        assert!(ids.iter().map(|id| id.len()).sum::<usize>() <= 16 << 10);
        assert!(calls.iter().all(|call| call.name.len() <= 256));
        assert_eq!(calls[1].id == "short", calls.len() == 2);
    }
}
