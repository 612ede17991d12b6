//! Workflows that call workflows, on nested-review.

use crewagent_core::event::{EventKind, Moved, Phase, Reason, StateChange, StateEvent};
use crewagent_core::frame_id::FrameId;
use crewagent_core::run::history::Position;
use crewagent_core::run::machine::{Effect, FrameChange, FrameChanged, Input};
use crewagent_core::settings::{Limits, RunSettings};
use crewagent_core::state::run_state::RunState;

use super::{Play, check_asks, rest};

const CHILD: &str = "document-review";

fn shift(effect: Effect) -> FrameChange {
    match effect {
        Effect::FrameChange(shift) => shift,
        other => panic!("the active workflow does not change: {other:?}"),
    }
}

fn at(node: &str) -> RunState {
    RunState { current_node_id: node.to_owned(), ..RunState::default() }
}

/// Returns a run that has just called the review of the release notes.
fn called() -> Play {
    let mut play = Play::of("nested-review", RunSettings::default());
    play.calls(&[("fs.apply_patch", "{}")]);
    let FrameChange::Enter { frame } = shift(play.moved("call-02-review-notes")) else {
        panic!("nothing is called")
    };
    assert_eq!((frame.workflow_id.as_str(), frame.id), (CHILD, FrameId::new(1)));
    play
}

fn inside() -> Play {
    let mut play = called();
    let asked = play.step(Input::FrameChanged(FrameChanged::Entered(Box::new(at("step-01-read")))));
    check_asks(&asked, 2, Some("step-01-read"), "reviewer");
    play
}

fn left(to: &str) -> Input {
    let moved = Moved { from: String::new(), to: to.to_owned(), label: "next".to_owned() };
    let change = StateChange { state: at(to), moved: Some(moved), ..StateChange::default() };
    Input::FrameChanged(FrameChanged::Left(Box::new(change)))
}

#[test]
fn a_node_that_calls_is_never_shown_to_the_model() {
    let play = inside();
    let directive = play.last_directive();
    assert!(directive.contains("- workflow: document-review\n"), "{directive}");
    assert!(directive.contains("- calledBy: release-readiness; gives back "), "{directive}");
    let sent = play.sent();
    assert_eq!(sent.iter().filter(|line| *line == "RUN_DIRECTIVE").count(), 1, "{sent:?}");
}

#[test]
fn a_complete_child_returns_before_anybody_speaks() {
    let mut play = inside();
    play.calls(&[("fs.apply_patch", "{}")]);
    let FrameChange::Return { frame, attempt, failed } = shift(play.completed()) else {
        panic!("it does not return")
    };
    assert_eq!((frame.id, attempt, failed), (FrameId::new(1), 1, None));
    let asked = play.step(left("step-03-record-notes"));
    check_asks(&asked, 3, Some("step-03-record-notes"), "release-manager");
    assert!(play.machine.callers().is_empty());
    assert!(!play.last_directive().contains("calledBy"));
    // The second call of the same workflow has another number, and counts its own turns.
    play.calls(&[("fs.apply_patch", "{}")]);
    let entered = shift(play.moved("call-04-review-rollback"));
    assert!(matches!(entered, FrameChange::Enter { frame } if frame.id == FrameId::new(2)));
    let asked = play.step(Input::FrameChanged(FrameChanged::Entered(Box::new(at("step-01-read")))));
    assert!(matches!(asked, Effect::AskModel(ask) if ask.node_turn == 1 && ask.turn == 4));
}

#[test]
fn a_failed_child_leaves_its_caller_waiting_and_is_called_again_with_the_users_words() {
    let mut play = inside();
    play.calls(&[("fs.apply_patch", "{}")]);
    let failed =
        RunState { failed: Some("the document is empty".to_owned()), ..at("step-01-read") };
    let shifted = shift(play.changed(StateChange { state: failed, ..StateChange::default() }));
    assert!(matches!(shifted, FrameChange::Return { failed: Some(_), .. }));
    let change = StateChange { state: at("call-02-review-notes"), ..StateChange::default() };
    let waits = rest(play.step(Input::FrameChanged(FrameChanged::Left(Box::new(change)))));
    assert_eq!((waits.phase, waits.reason), (Phase::WaitingUser, Some(Reason::Call)));
    assert!(waits.message.unwrap().contains("the document is empty"));
    // Resuming in another process does not change that.
    let waits = rest(play.step(Input::Resume { place: None, settings: None }));
    assert_eq!(waits.reason, Some(Reason::Call));
    let again = shift(play.user("It is in docs/notes.md."));
    assert!(matches!(again, FrameChange::Enter { frame } if frame.id == FrameId::new(2)));
    let asked = play.step(Input::FrameChanged(FrameChanged::Entered(Box::new(at("step-01-read")))));
    check_asks(&asked, 3, Some("step-01-read"), "reviewer");
    assert_eq!(play.sent().last().unwrap(), "USER_INPUT");
}

#[test]
fn a_return_that_is_held_is_told_to_the_model_once_and_then_to_the_user() {
    let held = || {
        Input::FrameChanged(FrameChanged::Held("`artifacts/reviews/x.md` is missing.".to_owned()))
    };
    let mut play = inside();
    play.calls(&[("fs.apply_patch", "{}")]);
    shift(play.completed());
    let asked = play.step(held());
    check_asks(&asked, 3, None, "reviewer");
    assert_eq!(play.sent().last().unwrap(), "RETURN_HELD");
    // The model lists files, the return is retried, and the model stays in the called workflow.
    play.calls(&[("fs.list", "{}")]);
    assert!(matches!(shift(play.answered()), FrameChange::Return { attempt: 2, .. }));
    check_asks(&play.step(held()), 4, None, "reviewer");
    assert_eq!(play.sent().iter().filter(|line| *line == "RETURN_HELD").count(), 1);
    // The model does nothing more, and the return fails again.
    assert!(matches!(shift(play.says("I cannot.")), FrameChange::Return { attempt: 3, .. }));
    let waits = rest(play.step(held()));
    assert_eq!((waits.phase, waits.reason), (Phase::WaitingUser, Some(Reason::Call)));
    // The user's message reaches the model with the reason, if the return is still held.
    assert!(matches!(
        shift(play.user("Write it yourself.")),
        FrameChange::Return { attempt: 4, .. }
    ));
    // No node is active, so the agent of the calling node answers for the workflow.
    check_asks(&play.step(held()), 5, None, "release-manager");
    let sent = play.sent();
    assert_eq!(sent[sent.len() - 2..], ["USER_INPUT", "RETURN_HELD"], "{sent:?}");
    // Text without calls leads to another attempt, which succeeds this time.
    assert!(matches!(shift(play.says("Done.")), FrameChange::Return { attempt: 5, .. }));
    check_asks(
        &play.step(left("step-03-record-notes")),
        6,
        Some("step-03-record-notes"),
        "release-manager",
    );
}

#[test]
fn words_on_the_way_are_said_where_the_run_arrives() {
    let mut play = called();
    play.step(Input::Resume { place: None, settings: None });
    let open = play.user("Mind the gap.");
    assert!(matches!(open, Effect::FrameChange(_)), "{open:?}");
    play.step(Input::FrameChanged(FrameChanged::Entered(Box::new(at("step-01-read")))));
    assert_eq!(play.sent().last().unwrap(), "USER_INPUT");
}

#[test]
fn what_the_documents_say_counts_also_about_calls() {
    let mut play = inside();
    let place = Position {
        state: at("decide-02-verdict"),
        callers: play.machine.callers().to_vec(),
        calls: 7,
    };
    let asked = play.step(Input::Resume { place: Some(place), settings: None });
    check_asks(&asked, 2, Some("decide-02-verdict"), "reviewer");
    let place = Position { calls: 7, ..Position::from(at("call-04-review-rollback")) };
    let entered = shift(play.step(Input::Resume { place: Some(place), settings: None }));
    assert!(matches!(entered, FrameChange::Enter { frame } if frame.id == FrameId::new(8)));
}

#[test]
fn state_changes_say_which_call_they_are_of() {
    let mut play = inside();
    play.told.clear();
    play.calls(&[("fs.apply_patch", "{}")]);
    play.moved("decide-02-verdict");
    let of_call = |kind: &EventKind| matches!(kind, EventKind::State(StateEvent::Changed(change)) if change.frame == Some(FrameId::new(1)));
    assert!(play.told.iter().any(of_call), "{:?}", play.told);
}

/// Frames can follow each other without a request; the limit stops them too.
#[test]
fn calls_are_bounded_like_turns() {
    let limits = Limits { turns: 3, ..Limits::default() };
    let mut play = Play::of("nested-review", RunSettings { limits, ..RunSettings::default() });
    play.calls(&[("fs.apply_patch", "{}")]);
    let mut open = play.moved("call-02-review-notes");
    let complete = || RunState { complete: true, ..at("end-99") };
    for _ in 0..3 {
        assert!(matches!(shift(open), FrameChange::Enter { .. }));
        let back = play.step(Input::FrameChanged(FrameChanged::Entered(Box::new(complete()))));
        assert!(matches!(shift(back), FrameChange::Return { .. }));
        open = play.step(left("call-04-review-rollback"));
    }
    assert!(matches!(shift(open), FrameChange::Enter { .. }));
    let waits = rest(play.step(Input::FrameChanged(FrameChanged::Entered(Box::new(complete())))));
    assert_eq!(waits.reason, Some(Reason::LimitTurns), "{waits:?}");
    assert!(waits.message.unwrap().contains("4 workflows were called"));
}
