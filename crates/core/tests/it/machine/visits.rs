//! Variables that count as set in a visit of a node.

use crewagent_core::event::{Moved, StateChange};
use crewagent_core::run::machine::{CallJob, FrameChanged, Input};
use crewagent_core::settings::RunSettings;
use crewagent_core::state::run_state::RunState;
use serde_json::{Map, json};

use super::{Play, job};

const CALL: (&str, &str) = ("fs.apply_patch", "{}");

fn set(job: &CallJob) -> Vec<&str> {
    job.set.iter().map(String::as_str).collect()
}

/// Answers the current call with a change that sets these variables and may move.
fn change(play: &mut Play, names: &[&str], to: Option<&str>) {
    let mut state = play.machine.run_state().clone();
    let from = state.current_node_id.clone();
    state.variables.extend(names.iter().map(|name| ((*name).to_owned(), json!(1))));
    let moved = to.map(|to| {
        state.steps_completed.push(from.clone());
        state.current_node_id = to.to_owned();
        Moved { from, to: to.to_owned(), label: "next".to_owned() }
    });
    let set = names.iter().map(|name| (*name).to_owned()).collect();
    play.changed(StateChange { state, moved, set, ..StateChange::default() });
}

#[test]
fn what_a_call_sets_counts_until_the_node_is_left() {
    let mut play = Play::new();
    assert!(set(&job(play.calls(&[CALL]))).is_empty());
    change(&mut play, &["storyKey"], None);
    assert_eq!(set(&job(play.calls(&[CALL]))), ["storyKey"]);
    change(&mut play, &["epicNum"], Some("step-02-discover-inputs"));
    assert!(set(&job(play.calls(&[CALL]))).is_empty());
}

#[test]
fn what_the_user_gave_counts_at_the_first_visit_of_each_node() {
    let mut play = Play::starting("create-story-micro", RunSettings::default(), &["storyKey"]);
    assert_eq!(set(&job(play.calls(&[CALL]))), ["storyKey"]);
    change(&mut play, &[], Some("step-02-discover-inputs"));
    assert_eq!(set(&job(play.calls(&[CALL]))), ["storyKey"]);
    change(&mut play, &[], Some("step-01-select-story"));
    assert!(set(&job(play.calls(&[CALL]))).is_empty(), "it was here before");
}

#[test]
fn a_called_workflow_has_what_its_caller_passed_and_the_caller_what_it_had() {
    let mut play = Play::starting("nested-review", RunSettings::default(), &["releaseName"]);
    play.calls(&[CALL]);
    change(&mut play, &["docKey"], Some("call-02-review-notes"));
    let variables: Map<_, _> = [("docPath".to_owned(), json!("x"))].into_iter().collect();
    let current_node_id = "step-01-read".to_owned();
    let child = RunState { current_node_id, variables, ..RunState::default() };
    play.step(Input::FrameChanged(FrameChanged::Entered(Box::new(child))));
    assert_eq!(set(&job(play.calls(&[CALL]))), ["docPath"]);
    let state = RunState { complete: true, ..play.machine.run_state().clone() };
    play.changed(StateChange { state, ..StateChange::default() });
    let current_node_id = "step-03-record-notes".to_owned();
    let state = RunState { current_node_id, ..RunState::default() };
    let back = StateChange { state, ..StateChange::default() };
    play.step(Input::FrameChanged(FrameChanged::Left(Box::new(back))));
    assert_eq!(set(&job(play.calls(&[CALL]))), ["releaseName"]);
}
