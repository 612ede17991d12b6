//! Calls behind one that ends a reply are not carried out.

use crewagent_core::event::{Answer, Reason};
use crewagent_core::message::Message;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::run::machine::{Effect, Input};
use crewagent_core::settings::{Mode, RunSettings};
use serde_json::Value;

use super::{Play, check_asks, confirm, job, rest};

const MOVE: (&str, &str) = ("fs.apply_patch", "{}");
const WRITE: (&str, &str) =
    ("fs.write", r#"{"path":"@project/artifacts/context.md","content":"Made up."}"#);

#[test]
fn no_call_of_a_node_is_carried_out_before_its_brief_was_sent() {
    let mut play = Play::new();
    play.calls(&[MOVE, WRITE, ("runtime_complete_node", "{}")]);
    let asked = play.moved("step-02-discover-inputs");
    check_asks(&asked, 2, Some("step-02-discover-inputs"), "sm");
    let why = "the call before it has left the node";
    assert_eq!(play.left_out(), [("c1", why), ("c2", why)]);
    let brief = play.last_brief();
    let line =
        "- notExecuted: 2 calls behind the move (fs_write artifacts/context.md, complete_node)\n";
    assert!(brief.contains(line), "{brief}");
    assert!(!brief.contains("Made up"), "{brief}");
    // It is said once.
    play.calls(&[MOVE]);
    play.moved("step-03-extract-context");
    assert!(!play.last_brief().contains("notExecuted"));
}

#[test]
fn calls_before_a_move_are_carried_out() {
    let mut play = Play::new();
    let first = job(play.calls(&[WRITE, MOVE]));
    assert_eq!(first.call.name, "fs.write");
    assert_eq!(job(play.answered()).call.name, "fs.apply_patch");
    play.moved("step-02-discover-inputs");
    assert!(play.left_out().is_empty());
    assert!(!play.last_brief().contains("notExecuted"));
}

#[test]
fn nothing_happens_behind_the_call_that_completes_the_workflow() {
    let mut play = Play::new();
    play.calls(&[MOVE, WRITE]);
    play.completed();
    assert_eq!(play.left_out(), [("c1", "the workflow is complete")]);
}

#[test]
fn nothing_happens_behind_a_question() {
    let mut play = Play::new();
    play.calls(&[("ui.ask_user", "{}"), WRITE, MOVE]);
    rest(play.step(Input::Asked(confirm("Shall it be short?"))));
    let asked = play.user("yes");
    check_asks(&asked, 2, Some("step-01-select-story"), "sm");
    let why = "the user has answered since";
    assert_eq!(play.left_out(), [("c1", why), ("c2", why)]);
}

#[test]
fn questions_behind_a_question_are_asked_one_after_the_other() {
    let mut play = Play::new();
    play.calls(&[("ui.ask_user", "{}"), ("ui_ask_user", "{}"), WRITE, ("ui.ask_user", "{}")]);
    rest(play.step(Input::Asked(confirm("One?"))));
    assert_eq!(job(play.user("yes")).call.id, "c1");
    rest(play.step(Input::Asked(confirm("Two?"))));
    check_asks(&play.user("no"), 2, Some("step-01-select-story"), "sm");
    let why = "the user has answered since";
    assert_eq!(play.left_out(), [("c2", why), ("c3", why)]);
}

#[test]
fn nothing_happens_behind_a_refused_stop_call() {
    for call in [("ui.ask_user", "{}"), ("runtime.complete_node", "{}")] {
        let mut play = Play::new();
        play.calls(&[call, WRITE]);
        let asked = play.refused(RefusalCode::InvalidArguments);
        check_asks(&asked, 2, Some("step-01-select-story"), "sm");
        assert_eq!(play.left_out(), [("c1", "the call before it was refused")], "{call:?}");
    }
    // A change of the state that was refused says so itself.
    let mut play = Play::new();
    play.calls(&[MOVE, WRITE]);
    let refusal = Refusal::new(RefusalCode::Transition, "There is no such edge.");
    let answer = Answer { ends_reply: true, ..Answer::from(&refusal) };
    check_asks(
        &play.step(Input::Answered { answer, state: None }),
        2,
        Some("step-01-select-story"),
        "sm",
    );
    assert_eq!(play.left_out(), [("c1", "the call before it was refused")]);
}

#[test]
fn a_refused_call_that_ends_nothing_holds_up_no_other() {
    let mut play = Play::new();
    play.calls(&[("fs.read", "{}"), WRITE]);
    assert_eq!(job(play.refused(RefusalCode::NotFound)).call.name, "fs.write");
}

#[test]
fn an_objection_to_a_move_ends_the_reply() {
    let mut play = Play::with(RunSettings { mode: Mode::Guided, ..RunSettings::default() });
    play.calls(&[MOVE, WRITE]);
    let moved = crewagent_core::event::Moved {
        from: "step-01-select-story".to_owned(),
        to: "step-02-discover-inputs".to_owned(),
        label: "next".to_owned(),
    };
    let question = confirm("Go on?");
    rest(play.step(Input::Proposed { moved, files: Vec::new(), question }));
    check_asks(&play.user("ok but shorter"), 2, Some("step-01-select-story"), "sm");
    assert_eq!(play.left_out(), [("c1", "the user has answered since")]);
    let messages = play.machine.context().messages();
    let answers: Vec<&str> = messages
        .iter()
        .filter_map(|message| match &**message {
            Message::Tool { content, .. } => content.inline().map(|text| &**text),
            _ => None,
        })
        .collect();
    let answer: Value = serde_json::from_str(answers[0]).unwrap();
    assert_eq!(
        answer["error"]["message"],
        "The user did not agree to leave step-01-select-story yet and said:\n\"ok but shorter\"\nNothing was written and nothing moved. Do what the user says, then finish the node again."
    );
}

#[test]
fn a_success_beside_a_failing_call_does_not_hide_a_loop() {
    let mut play = Play::new();
    for turn in 2..=4 {
        play.calls(&[("fs.read", r#"{"path":"x"}"#), ("fs.list", r#"{"path":"@project"}"#)]);
        let after = play.refused(RefusalCode::NotFound);
        if turn == 4 {
            assert_eq!(rest(after).reason, Some(Reason::Loop));
            return;
        }
        assert!(matches!(play.answered(), Effect::AskModel(_)));
    }
}
