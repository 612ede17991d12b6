//! Rules about completion: where a workflow may be completed, and what is allowed afterwards.

use super::super::Completion;
use super::*;
use crate::state::fixture::{self, Drawn, drawn, end, step};

const SUMMARY: &str = "artifacts/create-story/summary.md";

fn at_end() -> Run {
    Run::new(fixture::create_story()).at("end-99").having(&[SUMMARY])
}

fn completed() -> Run {
    let mut run = at_end();
    let transition = run.accept(json!({"variables.set": {"workflowStatus": "complete"}, "stepsCompleted.append": ["end-99"]}));
    assert_eq!(transition.completion(), Completion::Reached);
    run
}

#[test]
fn a_workflow_is_completed_only_at_its_end() {
    for update in [
        json!({"workflowStatus.set": "complete"}),
        json!({"variables.set": {"workflowStatus": "complete"}}),
    ] {
        check_breaks(
            Run::new(fixture::create_story()).patch(update.clone()),
            "complete-at-the-end",
            &["only on an end node", "`end-99`", "\"step-01-select-story\""],
        );
        let transition = check_accepted(at_end().patch(update));
        assert_eq!(transition.completion(), Completion::Reached);
        assert_eq!(json!(transition)["complete"], true);
        assert_eq!(json!(transition)["allowedNext"], json!([]));
    }
    check_accepted(
        Run::new(fixture::create_story()).patch(json!({"workflowStatus.set": "running"})),
    );
}

#[test]
fn a_node_without_edges_is_an_end_too() {
    let run = Run::new(drawn(
        &[step("a"), step("b"), end("z")],
        &json!([{"from": "a", "to": "b", "label": "next"}]),
    ));
    let done = json!({"currentNodeId.set": "b", "stepsCompleted.append": ["a", "b"]});
    assert_eq!(check_accepted(run.patch(done)).completion(), Completion::Running);
    let status = json!({"currentNodeId.set": "b", "workflowStatus.set": "complete"});
    let transition = check_accepted(run.patch(status));
    assert_eq!(transition.completion(), Completion::Reached);
    assert_eq!(transition.document().front().steps_completed, ["a", "b"]);
}

#[test]
fn the_end_node_is_completed_only_when_its_own_outputs_and_variables_are_there() {
    let run = || Run::new(fixture::create_story()).at("end-99");
    let done = json!({"stepsCompleted.append": ["end-99"]});
    check_refused(run().patch(done.clone()), RefusalCode::Precondition, None, &[SUMMARY]);
    check_refused(
        run().patch(json!({"workflowStatus.set": "complete"})),
        RefusalCode::Precondition,
        None,
        &[SUMMARY],
    );
    // Nobody has to say that the end is the end.
    assert_eq!(check_accepted(at_end().patch(done)).completion(), Completion::Reached);
    check_accepted(run().patch(json!({"variables.set": {"draft": 1}})));
}

#[test]
fn the_end_node_by_itself_completes_a_workflow() {
    let run = Run::new(fixture::draft_review())
        .at("end-99")
        .having(&["artifacts/draft-review/summary.md"]);
    let transition = check_accepted(run.patch(json!({"stepsCompleted.append": ["end-99"]})));
    assert_eq!(transition.completion(), Completion::Reached);
    assert!(transition.document().allowed_next(&run.workflow.graph).is_empty());
}

#[test]
fn the_whole_row_is_walked_to_its_end() {
    let mut run = Run::new(fixture::create_story()).with_missing(MissingRule::Off);
    for node in [
        "step-02-discover-inputs",
        "step-03-extract-context",
        "step-04-generate-story",
        "step-05-update-sprint-status",
        "end-99",
    ] {
        assert_eq!(
            run.accept(json!({"currentNodeId.set": node})).completion(),
            Completion::Running
        );
    }
    assert_eq!(
        run.accept(json!({"stepsCompleted.append": ["end-99"]})).completion(),
        Completion::Reached
    );
    assert_eq!(run.state.front().steps_completed.len(), 6);
    assert!(run.state.front().decision_log.is_empty());
}

#[test]
fn a_completed_workflow_changes_only_with_the_users_word() {
    let mut run = completed();
    let change = json!({"variables.set": {"note": "x"}});
    let refusal = run.patch(change.clone()).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::ConfirmationRequired);
    assert_eq!(refusal.details["changes"], json!(["variables"]));
    assert!(refusal.hint.unwrap().contains("ui.ask_user"));
    let text = format!("{}more\n", run.state.text());
    assert_eq!(run.write(text).unwrap_err().code, RefusalCode::ConfirmationRequired);
    run.confirmation = Confirmation::Given;
    let transition = check_accepted(run.patch(change));
    assert_eq!(transition.completion(), Completion::Kept);
}

#[test]
fn a_write_that_changes_nothing_needs_no_confirmation_and_records_nothing() {
    let mut run = completed();
    run.created = vec![ProjectPath::parse("artifacts/late.md").unwrap()];
    let transition = check_accepted(run.write(run.state.text().clone()));
    assert_eq!(transition.text(), run.state.text());
}

#[test]
fn nobody_is_asked_about_a_change_that_would_be_refused_anyway() {
    let run = completed();
    check_breaks(run.replace("runId: run-1", "runId: x"), "protected-key", &[]);
}

#[test]
fn a_confirmed_change_can_open_the_workflow_again_but_never_rewrites_its_history() {
    let mut run = at_end().with(json!({"variables.set": {"workflowStatus": "complete"}}));
    run.confirmation = Confirmation::Given;
    let opened = check_accepted(run.patch(json!({"variables.set": {"workflowStatus": "running"}})));
    assert_eq!(opened.completion(), Completion::Running);
    let mut run = completed();
    run.confirmation = Confirmation::Given;
    check_breaks(
        run.replace("stepsCompleted:\n  - end-99\n", "stepsCompleted: []\n"),
        "nothing-removed",
        &[],
    );
}

#[test]
fn coming_back_to_an_end_node_that_is_done_completes_the_workflow_again() {
    let edges = json!([{"from": "a", "to": "z", "label": "next"}, {"from": "z", "to": "a", "label": "again"}]);
    let mut run = Run::new(drawn(&[step("a"), end("z")], &edges));
    run.accept(json!({"currentNodeId.set": "z"}));
    let left = run.accept(json!({"currentNodeId.set": "a"}));
    assert_eq!(left.completion(), Completion::Running);
    assert_eq!(run.accept(json!({"currentNodeId.set": "z"})).completion(), Completion::Reached);
}

#[test]
fn a_node_without_edges_is_done_only_when_its_outputs_are_there() {
    let last = Drawn { id: "b", kind: "step", outputs: &["artifacts/b.md"], sets: &[] };
    let run =
        Run::new(drawn(&[step("a"), last], &json!([{"from": "a", "to": "b", "label": "next"}])));
    let done = json!({"currentNodeId.set": "b", "stepsCompleted.append": ["a", "b"]});
    check_refused(run.patch(done.clone()), RefusalCode::Precondition, None, &["`b` is not done"]);
    check_accepted(run.having(&["artifacts/b.md"]).patch(done));
}

#[test]
fn a_completed_workflow_that_goes_on_to_another_end_needs_its_outputs() {
    let last = Drawn { id: "y", kind: "end", outputs: &["artifacts/y.md"], sets: &[] };
    let edges = json!([{"from": "z", "to": "y", "label": "more"}]);
    let mut run =
        Run::new(drawn(&[end("z"), last], &edges)).with(json!({"workflowStatus.set": "complete"}));
    run.confirmation = Confirmation::Given;
    let on = json!({"currentNodeId.set": "y"});
    check_refused(run.patch(on.clone()), RefusalCode::Precondition, None, &["`y` is not done"]);
    check_accepted(run.having(&["artifacts/y.md"]).patch(on));
}

#[test]
fn an_end_node_with_an_edge_back_to_itself_is_completed_unless_a_decision_says_otherwise() {
    let edges = json!([{"from": "z", "to": "z", "label": "again"}]);
    let run = Run::new(drawn(&[end("z")], &edges));
    let done = check_accepted(run.patch(json!({"stepsCompleted.append": ["z"]})));
    assert_eq!((done.moved(), done.completion()), (None, Completion::Reached));
    let decision = json!([{"from": "z", "to": "z", "label": "again"}]);
    let round = check_accepted(
        run.patch(json!({"stepsCompleted.append": ["z"], "decisionLog.append": decision})),
    );
    assert!(round.moved().is_some());
    let twice =
        run.patch(json!({"stepsCompleted.append": ["z", "z"], "decisionLog.append": decision}));
    check_breaks(twice, "one-move", &[]);
}
