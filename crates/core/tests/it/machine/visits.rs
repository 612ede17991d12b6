//! Variables that count as set in a visit of a node, and files that count as written.

use std::sync::Arc;

use crewagent_core::event::{
    Answer, Moved, NodeEntered, Reply, StateChange, SurveyedOutput, WrittenDigest,
};
use crewagent_core::run::history::Position;
use crewagent_core::run::machine::{CallJob, Effect, FrameChanged, Input, Machine, Subject};
use crewagent_core::settings::RunSettings;
use crewagent_core::state::run_state::RunState;
use crewagent_testkit::fixture::{checked, example};
use jiff::Timestamp;
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

fn changed(job: &CallJob) -> Vec<&str> {
    job.files.changed.iter().map(String::as_str).collect()
}

/// Answers the current call, which wrote these files; one without a digest was removed.
fn write(play: &mut Play, files: &[(&str, Option<&str>)]) {
    let written = |(path, sha256): &(&str, Option<&str>)| WrittenDigest {
        path: (*path).to_owned(),
        sha256: sha256.map(str::to_owned),
        foreign: false,
    };
    let wrote = files.iter().map(written).collect();
    let answer = Answer { result: r#"{"ok":true}"#.into(), wrote, ..Answer::default() };
    play.step(Input::Answered { answer, state: None });
}

#[test]
fn what_a_run_writes_counts_until_the_node_is_left_and_what_it_removed_stays_removed() {
    let mut play = Play::new();
    let since = job(play.calls(&[CALL])).files.since;
    write(&mut play, &[("a.md", Some("1")), ("b.md", None)]);
    let files = job(play.calls(&[CALL])).files;
    assert!(files.has_changed("a.md") && files.removed.contains("b.md"));
    change(&mut play, &[], Some("step-02-discover-inputs"));
    let next = job(play.calls(&[CALL]));
    assert!(changed(&next).is_empty() && next.files.removed.contains("b.md"));
    assert!(next.files.since > since);
    // The same bytes again are no change, and a file that is written again is there.
    write(&mut play, &[("a.md", Some("1")), ("b.md", Some("2"))]);
    let files = job(play.calls(&[CALL])).files;
    assert!(!files.has_changed("a.md") && files.has_changed("b.md") && files.removed.is_empty());
}

#[test]
fn within_one_visit_the_first_look_at_an_output_counts() {
    let mut play = Play::new();
    play.calls(&[CALL]);
    let survey = |sha256: &str| {
        let output = SurveyedOutput {
            path: "a.md".to_owned(),
            exists: true,
            own: false,
            bytes: 1,
            sha256: Some(sha256.to_owned()),
        };
        Input::Surveyed(Box::new(NodeEntered { outputs: vec![output], ..NodeEntered::default() }))
    };
    let digest = |job: &CallJob| job.files.outputs.get("a.md").and_then(|one| one.sha256.clone());
    change(&mut play, &[], None);
    // The user edits the document by hand: the node is looked at again, in the same visit.
    for expected in ["1", "1"] {
        let state = play.machine.run_state().clone();
        let place = Position { state, callers: Vec::new(), calls: 0 };
        play.one_step(Input::Resume { place: Some(place), settings: None });
        play.one_step(survey(expected));
        let job = job(play.calls(&[CALL]));
        assert_eq!(digest(&job).as_deref(), Some("1"));
        play.answered();
    }
    let place = Position { state: play.machine.run_state().clone(), callers: Vec::new(), calls: 0 };
    play.one_step(Input::Resume { place: Some(place), settings: None });
    play.one_step(survey("2"));
    assert_eq!(digest(&job(play.calls(&[CALL]))).as_deref(), Some("1"));
}

#[test]
fn what_a_called_workflow_writes_is_written_in_the_visit_of_its_caller() {
    let mut play = Play::starting("nested-review", RunSettings::default(), &[]);
    play.calls(&[CALL]);
    write(&mut play, &[("before.md", Some("1"))]);
    play.calls(&[CALL]);
    change(&mut play, &[], Some("call-02-review-notes"));
    let current_node_id = "step-01-read".to_owned();
    let child = RunState { current_node_id, ..RunState::default() };
    play.step(Input::FrameChanged(FrameChanged::Entered(Box::new(child))));
    play.calls(&[CALL]);
    write(&mut play, &[("child.md", Some("2"))]);
    play.calls(&[CALL]);
    change(&mut play, &[], Some("decide-02-verdict"));
    assert!(changed(&job(play.calls(&[CALL]))).is_empty(), "the child is at another node");
    let files = play.machine.files_of_caller();
    assert!(files.has_changed("child.md") && !files.has_changed("before.md"));
}

#[test]
fn a_run_that_starts_in_the_middle_has_set_nothing() {
    let package = Arc::new(checked(&example("create-story-micro")).package.unwrap());
    let agent = package.agents()[0].id.clone();
    let subject =
        Subject::Workflow { package, workflow: 0, agent, data: None, bindings: Arc::default() };
    let state = |done: &[&str]| RunState {
        current_node_id: "step-01-select-story".to_owned(),
        steps_completed: done.iter().map(|id| (*id).to_owned()).collect(),
        variables: [("storyKey".to_owned(), "1-2-x".into())].into_iter().collect(),
        ..RunState::default()
    };
    // A fork begins with what earlier nodes have set, a new run with what the user gave.
    for (done, is_given) in [(&["step-05-update-sprint-status"][..], false), (&[][..], true)] {
        let mut machine = Machine::new(subject.clone(), RunSettings::default(), state(done));
        machine.step(Input::Start, Timestamp::UNIX_EPOCH);
        let Effect::Survey(plan) = machine.open() else { panic!("it is not surveyed") };
        machine.step(Input::Surveyed(Box::new(plan.entered)), Timestamp::UNIX_EPOCH);
        let call = json!({ "id": "c", "type": "function", "function": { "name": "fs_list", "arguments": "{}" } });
        let reply =
            Reply { tool_calls: vec![serde_json::from_value(call).unwrap()], ..Reply::default() };
        machine.step(Input::Replied(reply), Timestamp::UNIX_EPOCH);
        let Effect::Perform(job) = machine.open() else { panic!("nothing is performed") };
        assert_eq!(job.set.contains("storyKey"), is_given, "{done:?}");
    }
}
