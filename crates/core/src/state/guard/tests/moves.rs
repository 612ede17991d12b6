//! Rules about moves: along one open edge, with consistent records.

use super::*;
use crate::state::fixture::{self, Drawn, drawn, end, step};

const DECIDE: &str = "decide-02-project-type";

/// Returns a run of the workflow a → b → c → z.
fn row() -> Run {
    let edges = json!([
        {"from": "a", "to": "b", "label": "next"},
        {"from": "b", "to": "c", "label": "next"},
        {"from": "c", "to": "z", "label": "next"}
    ]);
    Run::new(drawn(&[step("a"), step("b"), step("c"), end("z")], &edges))
}

fn branch() -> Run {
    Run::new(fixture::hello_branch()).at(DECIDE)
}

/// Returns a run whose review has read the draft, with this verdict and number of revisions.
fn review(verdict: &str, revisions: u32) -> Run {
    let variables =
        json!({"variables.set": {"reviewVerdict": verdict, "revisionCount": revisions}});
    let files = ["artifacts/draft-review/draft.md", "artifacts/draft-review/review.md"];
    Run::new(fixture::draft_review()).at("decide-02-review").with(variables).having(&files)
}

#[track_caller]
fn check_moved(
    result: Result<StateTransition, Refusal>,
    from: &str,
    to: &str,
    label: &str,
) -> StateTransition {
    let transition = check_accepted(result);
    let moved = transition.moved().expect("it should have moved");
    assert_eq!((moved.from.as_str(), moved.to.as_str(), moved.label.as_str()), (from, to, label));
    transition
}

#[test]
fn a_move_leads_to_a_node_of_the_graph() {
    check_breaks(
        row().patch(json!({"currentNodeId.set": "bb"})),
        "node-exists",
        &["\"bb\" is not a node"],
    );
    check_breaks(
        Run::new(fixture::create_story())
            .with_missing(MissingRule::Off)
            .patch(json!({"currentNodeId.set": "step-02-discover-input"})),
        "node-exists",
        &["Did you mean `step-02-discover-inputs`?"],
    );
    check_moved(row().patch(json!({"currentNodeId.set": "b"})), "a", "b", "next");
}

#[test]
fn a_move_follows_an_edge() {
    for target in ["c", "z"] {
        check_breaks(
            row().patch(json!({"currentNodeId.set": target})),
            "edge-exists",
            &["no edge from `a`"],
        );
    }
    let refusal = row().at("b").patch(json!({"currentNodeId.set": "a"})).unwrap_err();
    assert_eq!(
        refusal.details["allowedNext"],
        json!([{"to": "c", "label": "next", "default": false, "open": true}])
    );
    assert_eq!(refusal.details["currentNodeId"], "b");
    assert!(
        refusal.hint.unwrap().contains("may stay, or move along one edge to: `c` (label `next`)")
    );
    check_moved(row().at("b").patch(json!({"currentNodeId.set": "c"})), "b", "c", "next");
}

#[test]
fn a_blank_node_is_the_entry_node() {
    let blank = || row().with(json!({"currentNodeId.set": ""}));
    assert_eq!(check_accepted(blank().patch(json!({"currentNodeId.set": "a"}))).moved(), None);
    assert_eq!(check_accepted(blank().patch(json!({"variables.set": {"x": 1}}))).moved(), None);
    let transition =
        check_moved(blank().patch(json!({"currentNodeId.set": "b"})), "a", "b", "next");
    assert_eq!(transition.document().front().steps_completed, ["a"]);
    check_breaks(
        blank().patch(json!({"currentNodeId.set": "c"})),
        "edge-exists",
        &["from `a` to `c`"],
    );
    assert_eq!(check_accepted(row().patch(json!({"currentNodeId.set": ""}))).moved(), None);
    check_breaks(
        row().at("c").patch(json!({"currentNodeId.set": ""})),
        "edge-exists",
        &["blank currentNodeId means the entry node"],
    );
}

#[test]
fn one_write_makes_one_move() {
    let two = json!({"currentNodeId.set": "b", "stepsCompleted.append": ["a", "b"]});
    check_breaks(row().patch(two), "one-move", &["at most one move", "\"a\", \"b\""]);
    let decisions = json!({"currentNodeId.set": "b", "decisionLog.append": [
        {"from": "a", "to": "b", "label": "next"}, {"from": "b", "to": "c", "label": "next"}]});
    check_breaks(row().patch(decisions), "one-move", &["decisionLog gains 2 entries"]);
    let twice = json!({"currentNodeId.set": "b", "stepsCompleted.append": ["a", "a"]});
    check_breaks(row().patch(twice), "one-move", &[]);
    let jump = json!({"currentNodeId.set": "c", "stepsCompleted.append": ["a", "b"]});
    check_refused(
        row().patch(jump),
        RefusalCode::Transition,
        Some("one-move"),
        &["no edge from `a` to `c`"],
    );
}

#[test]
fn only_the_node_that_is_left_is_done() {
    let staying = row().patch(json!({"stepsCompleted.append": ["a"]}));
    check_breaks(staying, "node-is-done", &["currentNodeId is still `a`", "leaving it"]);
    let other = row().patch(json!({"currentNodeId.set": "b", "stepsCompleted.append": ["c"]}));
    check_breaks(other, "node-is-done", &["\"c\"", "only `a`, the node being left"]);
    let entered = row().patch(json!({"currentNodeId.set": "b", "stepsCompleted.append": ["b"]}));
    check_breaks(entered, "node-is-done", &["\"b\""]);
    let unknown = row().patch(json!({"stepsCompleted.append": ["x"]}));
    check_breaks(unknown, "node-is-done", &["\"x\", which is not a node"]);
    let transition = check_moved(
        row().patch(json!({"currentNodeId.set": "b", "stepsCompleted.append": ["a"]})),
        "a",
        "b",
        "next",
    );
    assert_eq!(transition.document().front().steps_completed, ["a"]);
}

#[test]
fn an_end_node_may_be_entered_and_completed_in_one_write() {
    for steps in [json!(["c", "z"]), json!(["z"])] {
        let update = json!({"currentNodeId.set": "z", "stepsCompleted.append": steps});
        let transition = check_moved(row().at("c").patch(update), "c", "z", "next");
        let done = &transition.document().front().steps_completed;
        assert!(done.iter().any(|id| id == "c") && done.iter().any(|id| id == "z"), "{done:?}");
        assert_eq!(transition.completion(), super::super::Completion::Reached);
    }
}

#[test]
fn a_closed_edge_is_not_taken() {
    let take = |variables: Json, target: &str| {
        branch().patch(json!({"variables.set": variables, "currentNodeId.set": target}))
    };
    check_breaks(
        take(json!({"projectType": "brownfield"}), "step-03a-greenfield"),
        "condition-holds",
        &["`projectType` is \"brownfield\"", "edge `greenfield` needs \"projectType is greenfield"],
    );
    check_moved(
        take(json!({"projectType": "greenfield"}), "step-03a-greenfield"),
        DECIDE,
        "step-03a-greenfield",
        "greenfield",
    );
    check_breaks(
        take(json!({"projectType": "greenfield"}), "step-03b-brownfield"),
        "condition-holds",
        &["edge `brownfield`"],
    );
    check_moved(
        take(json!({"projectType": "brownfield"}), "step-03b-brownfield"),
        DECIDE,
        "step-03b-brownfield",
        "brownfield",
    );
}

#[test]
fn an_edge_whose_condition_takes_too_much_work_stays_closed() {
    let list = json!((0..100).collect::<Vec<u32>>());
    let nested =
        (0..6).fold(json!(false), |body, _| json!({"some": [{"var": ["list", &list]}, body]}));
    let edges = json!([
        {"from": "a", "to": "b", "label": "nested", "conditionExpr": {"and": [{"var": "ready"}, nested]}},
        {"from": "a", "to": "z", "label": "else", "isDefault": true}
    ]);
    let run = Run::new(drawn(&[step("a"), step("b"), end("z")], &edges));
    check_breaks(
        run.patch(json!({"variables.set": {"ready": true}, "currentNodeId.set": "b"})),
        "condition-holds",
        &["edge `nested` stays closed: its condition takes more than 1000000 operations"],
    );
    check_moved(
        run.patch(json!({"variables.set": {"ready": true}, "currentNodeId.set": "z"})),
        "a",
        "z",
        "else",
    );
}

#[test]
fn the_new_variables_decide() {
    let run = branch().with(json!({"variables.set": {"projectType": "brownfield"}}));
    let turn = json!({"variables.set": {"projectType": "greenfield"}, "currentNodeId.set": "step-03a-greenfield"});
    check_moved(run.patch(turn), DECIDE, "step-03a-greenfield", "greenfield");
    check_breaks(
        run.patch(json!({"currentNodeId.set": "step-03a-greenfield"})),
        "condition-holds",
        &[],
    );
}

#[test]
fn the_default_edge_is_open_when_no_other_condition_holds() {
    let take = |value: &str| {
        branch().patch(json!({"variables.set": {"projectType": value}, "currentNodeId.set": "step-03b-brownfield"}))
    };
    check_moved(take("unclear"), DECIDE, "step-03b-brownfield", "brownfield");
    check_breaks(take("greenfield"), "condition-holds", &[]);
    let unset = branch().patch(json!({"currentNodeId.set": "step-03b-brownfield"}));
    check_refused(unset, RefusalCode::Precondition, None, &["unset variables: `projectType`"]);
}

#[test]
fn the_open_one_of_several_edges_between_two_nodes_is_taken() {
    let to_end = json!({"currentNodeId.set": "end-99"});
    check_moved(
        review("approved", 1).patch(to_end.clone()),
        "decide-02-review",
        "end-99",
        "approved",
    );
    check_moved(review("revise", 3).patch(to_end.clone()), "decide-02-review", "end-99", "limit");
    check_breaks(
        review("revise", 1).patch(to_end),
        "condition-holds",
        &["edge `approved`", "edge `limit`", "`revisionCount` is 1"],
    );
}

#[test]
fn of_several_open_edges_between_two_nodes_the_decision_says_which() {
    let edges = json!([
        {"from": "a", "to": "z", "label": "good"}, {"from": "a", "to": "z", "label": "bad"}, {"from": "a", "to": "b", "label": "more"},
        {"from": "b", "to": "z", "label": "same"}, {"from": "b", "to": "z", "label": "same"}
    ]);
    let run = Run::new(drawn(&[step("a"), step("b"), end("z")], &edges));
    check_breaks(
        run.patch(json!({"currentNodeId.set": "z"})),
        "label-known",
        &["`good`, `bad`", "decisionLog entry"],
    );
    let decided = |label: &str| {
        run.patch(json!({"currentNodeId.set": "z", "decisionLog.append": [{"from": "a", "to": "z", "label": label}]}))
    };
    check_moved(decided("bad"), "a", "z", "bad");
    check_breaks(decided("more"), "decision-fits", &["the label \"more\"", "`good`, `bad`"]);
    check_moved(run.at("b").patch(json!({"currentNodeId.set": "z"})), "b", "z", "same");
}

#[test]
fn the_decisions_label_must_be_that_of_an_open_edge() {
    let decided = |label: &str| {
        review("approved", 1).patch(json!({"currentNodeId.set": "end-99",
        "decisionLog.append": [{"from": "decide-02-review", "to": "end-99", "label": label}]}))
    };
    check_moved(decided("approved"), "decide-02-review", "end-99", "approved");
    check_breaks(decided("limit"), "condition-holds", &["edge `limit`"]);
    check_breaks(decided("Approved"), "decision-fits", &["`approved`, `limit`"]);
}

#[test]
fn a_decision_entry_tells_of_the_move_that_is_made() {
    let decided = |from: &str, to: &str| {
        row().patch(json!({"currentNodeId.set": "b", "decisionLog.append": [{"from": from, "to": to, "label": "next"}]}))
    };
    check_moved(decided("a", "b"), "a", "b", "next");
    check_breaks(
        decided("a", "c"),
        "decision-fits",
        &["from \"a\" to \"c\"", "the move is from `a` to \"b\""],
    );
    check_breaks(decided("x", "b"), "decision-fits", &[]);
    let without_move =
        row().patch(json!({"decisionLog.append": [{"from": "a", "to": "b", "label": "next"}]}));
    check_breaks(
        without_move,
        "decision-fits",
        &["the run stays on `a`", "same write that sets currentNodeId"],
    );
}

#[test]
fn a_loop_may_be_walked_again_and_again() {
    let mut run = Run::new(fixture::draft_review()).with_missing(MissingRule::Off);
    run.accept(json!({"currentNodeId.set": "decide-02-review", "variables.set": {"revisionCount": 0, "reviewVerdict": "revise"}}));
    for round in 1..=3 {
        run.accept(json!({"currentNodeId.set": "step-03-revise"}));
        run.accept(json!({"currentNodeId.set": "decide-02-review", "variables.set": {"revisionCount": round}}));
    }
    check_breaks(run.patch(json!({"currentNodeId.set": "step-03-revise"})), "condition-holds", &[]);
    run.accept(json!({"currentNodeId.set": "end-99"}));
    let front = run.state.front();
    assert_eq!(front.steps_completed.len(), 8);
    assert_eq!(front.decision_log.len(), 4);
    assert_eq!(front.decision_log[3].label, "limit");
}

#[test]
fn an_edge_back_to_the_same_node_is_taken_by_its_books() {
    let edges = json!([{"from": "a", "to": "a", "label": "again"}, {"from": "a", "to": "z", "label": "on"}]);
    let run = Run::new(drawn(&[step("a"), end("z")], &edges));
    let transition =
        check_moved(run.patch(json!({"stepsCompleted.append": ["a"]})), "a", "a", "again");
    assert_eq!(transition.document().front().decision_log.len(), 1);
    check_moved(
        run.patch(json!({"decisionLog.append": [{"from": "a", "to": "a", "label": "again"}]})),
        "a",
        "a",
        "again",
    );
    assert_eq!(check_accepted(run.patch(json!({"variables.set": {"x": 1}}))).moved(), None);
}

#[test]
fn a_node_is_left_only_once_its_variables_are_there_even_along_a_round_edge() {
    let node = Drawn { id: "a", kind: "step", outputs: &[], sets: &["count"] };
    let edges = json!([{"from": "a", "to": "a", "label": "again"}, {"from": "a", "to": "z", "label": "on"}]);
    let run = Run::new(drawn(&[node, end("z")], &edges));
    check_refused(
        run.patch(json!({"stepsCompleted.append": ["a"]})),
        RefusalCode::Precondition,
        None,
        &["`count`"],
    );
}
