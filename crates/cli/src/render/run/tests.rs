//! Events in, lines out.

use crewagent_core::event::{
    Answer, AssistantDelta, AssistantMessage, EventKind, ModelNudged, ModelOverflowed,
    ModelRetried, ModelStopped, Moved, NudgeKind, PhaseChanged, RequestSummary, RunEvent,
    RunFailed, RunResumed, StoppedBy, ToolFinished, ToolStarted, TurnStarted, UserAsked, UserInput,
};
use crewagent_core::question::form::Form;
use crewagent_core::question::{QuestionKind, QuestionOption};
use crewagent_core::refusal::{Refusal, RefusalCode};
use serde_json::json;

use super::*;

fn screen(view: EventSource, width: Width) -> Screen {
    let run_state = RunState { current_node_id: "one".into(), ..RunState::default() };
    Screen::new(view, width, DisplayNames::default(), run_state, "bob")
}

fn event(kind: EventKind) -> Event {
    let time = "2026-11-15T08:30:15.000Z".to_owned();
    Event { seq: 1, part: None, time, run_id: None, key: None, kind }
}

fn lines(screen: &mut Screen, events: impl IntoIterator<Item = EventKind>) -> String {
    let mut text: String = events.into_iter().map(|kind| screen.event(&event(kind))).collect();
    text.push_str(&screen.end_text());
    anstream::adapter::strip_str(&text).to_string()
}

#[track_caller]
fn check_lines(events: Vec<EventKind>, expected: &str) {
    assert_eq!(lines(&mut screen(EventSource::Live, Width::Columns(60)), events), expected);
}

fn turn(node: Option<&str>, agent: &str) -> EventKind {
    let request =
        RequestSummary { messages: 1, bytes: 1, sha256: String::new(), added: Vec::new() };
    EventKind::from(TurnStarted {
        turn: 1,
        node_id: node.map(str::to_owned),
        agent_id: Some(agent.into()),
        request,
        ..TurnStarted::default()
    })
}

fn delta(channel: Channel, text: &str) -> EventKind {
    EventKind::from(AssistantDelta { turn: 1, text: text.into(), channel })
}

fn reply(text: &str) -> EventKind {
    let reply = Reply { content: Some(text.into()), ..Reply::default() };
    EventKind::from(AssistantMessage { turn: 1, reply })
}

fn call(tool: &str, subject: &str, answer: Answer) -> [EventKind; 2] {
    let (turn, call_id) = (1, "c".to_owned());
    let subject = Some(subject.to_owned());
    [
        EventKind::from(ToolStarted {
            turn,
            call_id: call_id.clone(),
            tool: tool.into(),
            subject,
            intent: None,
            repaired: Vec::new(),
        }),
        EventKind::from(ToolFinished { turn, call_id, tool: tool.into(), answer }),
    ]
}

fn answer(result: serde_json::Value) -> Answer {
    Answer { result: result.to_string().into(), ..Answer::default() }
}

fn refused(refusal: &Refusal) -> Answer {
    let result = refusal.to_json().to_string().into();
    Answer { result, refused: Some(refusal.code), ..Answer::default() }
}

#[test]
fn words_are_shown_as_they_come_and_only_once() {
    let events = vec![
        turn(Some("one"), "bob"),
        delta(Channel::Text, "Hel"),
        delta(Channel::Text, "lo."),
        reply("Hello."),
    ];
    check_lines(events, "● one\n  Hello.\n");
    check_lines(vec![turn(Some("one"), "bob"), reply("Hello.\n")], "● one\n  Hello.\n");
}

#[test]
fn thoughts_are_marked_even_without_colour() {
    let events = vec![delta(Channel::Thinking, "Hm, let me see."), delta(Channel::Text, "Yes.")];
    check_lines(events, "  ┊ Hm, let me see.\n  Yes.\n");
    let painted =
        screen(EventSource::Live, Width::Endless).event(&event(delta(Channel::Thinking, "Hm. ")));
    assert!(painted.contains("\u{1b}[2m"), "{painted:?}");
}

#[test]
fn a_change_of_agent_is_named() {
    let events = vec![turn(Some("one"), "bob"), turn(Some("two"), "sam"), turn(None, "sam")];
    check_lines(events, "● one\n\n● two  sam\n\n● complete\n");
}

#[test]
fn a_call_is_one_line_whatever_the_terminal() {
    let read = call("fs.read", "@project/a.md", answer(json!({ "ok": true, "bytes": 3277 })));
    check_lines(read.into(), "  ✓ fs.read @project/a.md  3.2 KiB\n");
    let pointer = answer(json!({ "ok": true, "bytes": 3277, "unchanged": "inputs" }));
    let again = call("fs.read", "@project/a.md", Answer { repeats: true, ..pointer });
    check_lines(again.into(), "  ✓ fs.read @project/a.md  unchanged\n");
    let window = answer(json!({ "ok": true, "bytes": 3277, "content": "a\nb\n" }));
    check_lines(
        call("fs.read", "@project/a.md:3-4", window).into(),
        "  ✓ fs.read @project/a.md:3-4  2 lines\n",
    );
    let found = answer(
        json!({ "ok": true, "matches": [1, 2], "truncated": true, "stats": { "filesScanned": 1 } }),
    );
    check_lines(
        call("fs.search", "tea", found).into(),
        "  ✓ fs.search tea  2 matches+ in 1 file\n",
    );
    let made =
        Answer { created: vec!["x".into()], ..answer(json!({ "ok": true, "bytesWritten": 1 })) };
    check_lines(
        call("fs.write", "@project/x", made).into(),
        "  ✓ fs.write @project/x  1 byte, new\n",
    );
    let changed = json!({ "ok": true, "bytesWritten": 1, "replacedBytes": 2 });
    let changed = Answer { created: vec!["x".into()], ..answer(changed) };
    check_lines(
        call("fs.write", "@project/x", changed).into(),
        "  ✓ fs.write @project/x  1 byte\n",
    );
    let kept = Answer {
        result: Payload::Blob { sha256: Payload::default().digest(), bytes: 70_000 },
        ..Answer::default()
    };
    check_lines(
        call("fs.read", "@project/big", kept).into(),
        "  ✓ fs.read @project/big  68.4 KiB\n",
    );
}

#[test]
fn a_refusal_has_its_code_and_its_whole_reason() {
    let missing = Refusal::new(RefusalCode::NotFound, "There is no `@project/a`.");
    check_lines(
        call("fs.read", "@project/a", refused(&missing)).into(),
        "  ✗ fs.read @project/a  ENOENT not found\n",
    );
    let long = Refusal::new(
        RefusalCode::Transition,
        "There is no edge from `one` to `three` in this workflow. Choose another.",
    );
    check_lines(
        call("fs.apply_patch", "@state/workflow.md", refused(&long)).into(),
        "  ✗ fs.apply_patch @state/workflow.md\n      E_INVALID_TRANSITION There is no edge from `one` to\n      `three` in this workflow\n",
    );
}

#[test]
fn a_move_is_shown_with_its_label_and_what_was_let_pass() {
    let moved = Some(Moved { from: "one".into(), to: "two".into(), label: "next".into() });
    let change = StateChange {
        state: RunState::default(),
        moved,
        kept: vec!["artifacts/b.md".into()],
        warnings: vec!["`artifacts/a.md` is missing".into()],
        ..StateChange::default()
    };
    check_lines(
        vec![EventKind::from(Box::new(change))],
        "  → two (next)\n  = kept artifacts/b.md as it was\n  ! `artifacts/a.md` is missing\n",
    );
}

#[test]
fn a_question_stands_alone_with_what_can_be_answered() {
    let choice = |value: &str, label: Option<&str>, about: Option<&str>| QuestionOption {
        value: value.into(),
        label: label.map(str::to_owned),
        description: about.map(str::to_owned),
        does: None,
    };
    let question = Question {
        question: "Which kind of project is it?".into(),
        kind: QuestionKind::Choice,
        options: vec![
            choice("green", Some("A new one"), Some("nothing is there yet")),
            choice("brown", None, None),
        ],
        ..Question::default()
    };
    let asked = EventKind::from(UserAsked {
        call_id: "c".into(),
        moved: None,
        files: Vec::new(),
        question,
    });
    let said = EventKind::from(UserInput { text: "2".into(), for_node_id: None, call_id: None });
    check_lines(
        vec![reply("Well."), asked, said, reply("Fine.")],
        "  Well.\n\n  ┃ Which kind of project is it?\n  ┃\n  ┃  1  A new one  green  nothing is there yet\n  ┃  2  brown\n  ┃ one of them, by number or name\n\n  › 2\n\n  Fine.\n",
    );
}

#[test]
fn a_form_names_its_fields() {
    let schema = json!({
        "properties": {
            "name": { "type": "string" },
            "size": { "enum": ["S", "L"], "default": "S" },
            "age": { "type": "integer", "minimum": 18 },
        },
        "required": ["name", "size"],
    });
    let question = Question {
        question: "Who?".into(),
        kind: QuestionKind::Form,
        schema: Form::read(&schema).ok(),
        ..Question::default()
    };
    let asked = EventKind::from(UserAsked {
        call_id: "c".into(),
        moved: None,
        files: Vec::new(),
        question,
    });
    check_lines(
        vec![asked],
        "  ┃ Who?\n  ┃\n  ┃ - name: text\n  ┃ - size: one of: 1 S, 2 L, else S\n  ┃ - age: a whole number of at least 18, may be left out\n  ┃ one after the other; with --input as lines such as\n  ┃ `name: value`, or as a JSON object\n",
    );
}

#[test]
fn why_a_run_rests_is_told_where_it_is_not_plain() {
    let phase = |phase, reason, message: Option<&str>| {
        EventKind::Run(RunEvent::PhaseChanged(PhaseChanged {
            phase,
            reason: Some(reason),
            message: message.map(str::to_owned),
        }))
    };
    let limit =
        phase(Phase::WaitingUser, Reason::LimitTurns, Some("The model was asked 50 times."));
    check_lines(vec![limit], "  ! The model was asked 50 times.\n");
    check_lines(vec![phase(Phase::WaitingUser, Reason::StopPoint, None)], "");
    // The driving command reports the failure.
    check_lines(vec![phase(Phase::Failed, Reason::Model, Some("Lost."))], "");
}

#[test]
fn a_record_tells_resumes_and_failures() {
    let resumed = EventKind::from(RunResumed {
        epoch: 2,
        notes: vec!["the last line was torn".into()],
        ..RunResumed::default()
    });
    let failed = EventKind::from(RunFailed {
        message: "The way to the model was lost.".into(),
        partial: None,
    });
    let text = lines(&mut screen(EventSource::Record, Width::Endless), [failed, resumed]);
    assert_eq!(
        text,
        "  ✗ The way to the model was lost.\n\nresumed 2026-11-15T08:30:15.000Z, process 2 of this run\n\n  ! the last line was torn\n"
    );
}

fn retried(attempt: u32, wait_ms: u64, message: &str) -> EventKind {
    EventKind::from(ModelRetried { turn: 1, attempt, wait_ms, message: message.into() })
}

#[test]
fn words_of_a_reply_that_failed_are_dropped_for_all_to_see() {
    let events = vec![
        turn(Some("one"), "bob"),
        delta(Channel::Text, "Hello, I wo"),
        retried(1, 2_000, "The way to the model was lost."),
        retried(2, 0, "HTTP 503"),
        delta(Channel::Text, "Hello."),
        reply("Hello."),
    ];
    check_lines(
        events,
        "● one\n  Hello, I wo…\n  ! The way to the model was lost. What the model said above\n    is dropped. Trying again in 2.0 s (try 2).\n  ! HTTP 503. Trying again (try 3).\n  Hello.\n",
    );
    // The retried reply may arrive whole, and is shown all the same.
    let events =
        vec![delta(Channel::Thinking, "Hm"), retried(1, 12_000, "Busy."), reply("Good morning.")];
    check_lines(
        events,
        "  ┊ Hm…\n  ! Busy. What the model said above is dropped. Trying again\n    in 12 s (try 2).\n  Good morning.\n",
    );
    let quiet = vec![turn(Some("one"), "bob"), retried(1, 500, "Busy."), reply("Hello.")];
    check_lines(quiet, "● one\n  ! Busy. Trying again in 0.5 s (try 2).\n  Hello.\n");
    let overflowed = EventKind::from(ModelOverflowed { turn: 1, message: "Too long.".into() });
    check_lines(vec![overflowed, reply("Hello.")], "  ! Too long.\n  Hello.\n");
    let nudged = EventKind::from(ModelNudged { turn: 1, kind: NudgeKind::NoCall });
    check_lines(
        vec![reply("I will now read it."), nudged, reply("Done.")],
        "  I will now read it.\n  · no tool was called; the model is told to call one\n  Done.\n",
    );
}

#[test]
fn what_came_before_a_failure_is_in_the_record() {
    let failed = EventKind::from(RunFailed {
        message: "The way was lost.".into(),
        partial: Some("Once upon a".into()),
    });
    let live = lines(
        &mut screen(EventSource::Live, Width::Endless),
        [delta(Channel::Text, "Once upon a"), failed.clone()],
    );
    assert_eq!(live, "  Once upon a…\n");
    let record = lines(&mut screen(EventSource::Record, Width::Endless), [failed]);
    assert_eq!(record, "  Once upon a…\n  ✗ The way was lost.\n");
}

#[test]
fn what_came_before_a_stop_is_in_the_record() {
    let (turn, by) = (1, StoppedBy::User);
    let stopped = EventKind::from(ModelStopped { turn, by, partial: Some("Once upon a".into()) });
    let live = [delta(Channel::Text, "Once upon a"), stopped.clone()];
    assert_eq!(lines(&mut screen(EventSource::Live, Width::Endless), live), "  Once upon a…\n");
    assert_eq!(
        lines(&mut screen(EventSource::Record, Width::Endless), [stopped]),
        "  Once upon a…\n"
    );
}

#[test]
fn a_node_counts_from_those_that_are_done() {
    let done = ["one", "two", "one"].map(str::to_owned);
    assert_eq!(place_of("three", &done), 3);
    assert_eq!(place_of("two", &done), 2);
    assert_eq!(place_of("one", &[]), 1);
}
