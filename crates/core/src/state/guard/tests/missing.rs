//! Tests of the rule about declared outputs and variables: enforced, warned about, or off.

use super::*;
use crate::state::fixture::{self, Drawn, drawn, end};

fn first_step() -> Run {
    Run::new(fixture::create_story())
}

fn all_set() -> Json {
    json!({"storyKey": "1-2-login", "epicNum": 1, "storyNum": 2, "storyTitle": "Login", "sprintStatusPath": "none"})
}

fn move_on(variables: Json) -> Json {
    json!({"currentNodeId.set": "step-02-discover-inputs", "variables.set": variables})
}

#[test]
fn every_missing_output_and_variable_is_named_at_once() {
    let refusal = check_refused(
        first_step()
            .patch(move_on(json!({"storyKey": "1-2-login", "epicNum": null, "storyTitle": " "}))),
        RefusalCode::Precondition,
        None,
        &[
            "`step-01-select-story` is not done",
            "missing files: `artifacts/create-story/target.md`",
            "unset variables: `storyNum`, `sprintStatusPath`. epicNum is empty. storyTitle is empty.",
        ],
    );
    assert_eq!(
        refusal.details["missing"],
        json!({
        "outputs": ["artifacts/create-story/target.md"], "variables": ["epicNum", "storyNum", "storyTitle", "sprintStatusPath"]})
    );
    assert!(refusal.hint.unwrap().contains("`variables.set`"));
}

#[test]
fn a_strict_run_is_told_how_its_own_tools_go_on() {
    let mut run = first_step();
    run.tool = StateTool::Runtime;
    let refusal = run.patch(move_on(json!({}))).unwrap_err();
    let hint = refusal.hint.unwrap();
    assert!(hint.ends_with(" Set the variables in `variables` of the same call."), "{hint}");
    let refusal = run.patch(json!({"currentNodeId.set": "end-99"})).unwrap_err();
    let hint = refusal.hint.unwrap();
    assert!(hint.contains("runtime.complete_node moves along one edge to: "), "{hint}");
    let mut run = Run::new(drawn(&[fixture::step("only")], &json!([])));
    run.tool = StateTool::Runtime;
    let hint = run.patch(json!({"currentNodeId.set": "x"})).unwrap_err().hint.unwrap();
    assert!(hint.contains("complete it with runtime.complete_node"), "{hint}");
}

#[test]
fn a_node_is_left_when_everything_is_there() {
    let run = first_step().having(&["artifacts/create-story/target.md"]);
    check_accepted(run.patch(move_on(all_set())));
    check_refused(
        run.patch(move_on(json!({}))),
        RefusalCode::Precondition,
        None,
        &["unset variables"],
    );
    check_refused(
        first_step().patch(move_on(all_set())),
        RefusalCode::Precondition,
        None,
        &["missing files"],
    );
}

#[test]
fn nothing_is_asked_of_a_run_that_stays() {
    check_accepted(first_step().patch(json!({"variables.set": {"storyKey": ""}})));
}

#[test]
fn zero_false_and_empty_lists_are_values() {
    let node = Drawn { id: "a", kind: "step", outputs: &[], sets: &["n", "b", "l"] };
    let run =
        Run::new(drawn(&[node, end("z")], &json!([{"from": "a", "to": "z", "label": "next"}])));
    check_accepted(
        run.patch(
            json!({"currentNodeId.set": "z", "variables.set": {"n": 0, "b": false, "l": []}}),
        ),
    );
}

#[test]
fn the_rule_can_be_a_warning_or_off() {
    let warned =
        check_accepted(first_step().with_missing(MissingRule::Warn).patch(move_on(json!({}))));
    assert_eq!(warned.warnings().len(), 1);
    assert!(
        warned.warnings()[0].contains("`artifacts/create-story/target.md`"),
        "{:?}",
        warned.warnings()
    );
    assert!(warned.warnings()[0].contains("`storyKey`"));
    assert_eq!(json!(warned)["warnings"][0], warned.warnings()[0]);
    let off = check_accepted(first_step().with_missing(MissingRule::Off).patch(move_on(json!({}))));
    assert!(off.warnings().is_empty());
}

#[test]
fn a_warning_does_not_hide_in_a_refusal_for_another_reason() {
    let run = first_step().with_missing(MissingRule::Warn);
    let refusal = run.patch(json!({"currentNodeId.set": "end-99"})).unwrap_err();
    assert!(!refusal.message.contains("not done"), "{}", refusal.message);
}

fn story() -> Run {
    Run::new(fixture::create_story())
        .at("step-04-generate-story")
        .with(json!({"variables.set": {"storyFile": "x"}}))
}

fn leave_story(key: Json) -> Json {
    json!({"currentNodeId.set": "step-05-update-sprint-status", "variables.set": {"storyKey": key}})
}

#[test]
fn placeholders_are_filled_from_the_new_variables() {
    let run = story().having(&["artifacts/stories/1-2-login.md"]);
    check_accepted(run.patch(leave_story(json!("1-2-login"))));
    check_refused(
        run.patch(leave_story(json!("1-3-logout"))),
        RefusalCode::Precondition,
        None,
        &["`artifacts/stories/1-3-logout.md`"],
    );
}

#[test]
fn an_output_whose_placeholder_has_no_value_is_missing() {
    for key in [json!(null), json!(["x"]), json!(""), json!("<storyKey>")] {
        check_refused(
            story().patch(leave_story(key)),
            RefusalCode::Precondition,
            None,
            &["artifacts/stories/<storyKey>.md has no name yet: no simple value for `storyKey`."],
        );
    }
}

#[test]
fn a_variable_that_leads_out_of_the_project_never_finds_a_file() {
    let mut run = story();
    for key in ["../../secret", "/etc/passwd", "../stories/1-2-login"] {
        run.files = vec![
            format!("artifacts/stories/{key}.md"),
            "secret.md".to_owned(),
            "etc/passwd.md".to_owned(),
        ];
        check_refused(
            run.patch(leave_story(json!(key))),
            RefusalCode::Precondition,
            None,
            &["artifacts/stories/<storyKey>.md"],
        );
    }
}

#[test]
fn leaving_and_completing_in_one_write_needs_what_both_nodes_declare() {
    let nodes = [
        Drawn { id: "a", kind: "step", outputs: &["artifacts/a.md"], sets: &["x"] },
        Drawn { id: "z", kind: "end", outputs: &["artifacts/z.md"], sets: &["y"] },
    ];
    let edges = json!([{"from": "a", "to": "z", "label": "next"}]);
    let both = json!({"currentNodeId.set": "z", "stepsCompleted.append": ["a", "z"]});
    let run = Run::new(drawn(&nodes, &edges));
    let refusal = check_refused(
        run.patch(both.clone()),
        RefusalCode::Precondition,
        None,
        &["`a` is not done", "`z` is not done", "`artifacts/z.md`", "`y`"],
    );
    assert_eq!(
        refusal.details["missing"],
        json!({"outputs": ["artifacts/a.md", "artifacts/z.md"], "variables": ["x", "y"]})
    );
    let run = run.having(&["artifacts/a.md"]).with(json!({"variables.set": {"x": 1}}));
    check_refused(run.patch(both.clone()), RefusalCode::Precondition, None, &["`z` is not done"]);
    check_accepted(run.patch(json!({"currentNodeId.set": "z"})));
    let run = run.having(&["artifacts/z.md"]).with(json!({"variables.set": {"y": 1}}));
    check_accepted(run.patch(both));
}

/// Run at the node of a loop, which has been visited once and has left its verdict.
fn second_round() -> Run {
    let mut run = Run::new(fixture::draft_review())
        .with(json!({"variables.set": {"reviewVerdict": "revise", "revisionCount": 1}}))
        .with(json!({"stepsCompleted.append": ["step-01-draft", "decide-02-review", "step-03-revise"]}))
        .at("decide-02-review")
        .having(&["artifacts/draft-review/review.md"]);
    run.set.clear();
    run
}

#[test]
fn a_variable_of_an_earlier_visit_is_set_anew() {
    let back = |variables: Json| json!({"currentNodeId.set": "step-03-revise", "variables.set": variables});
    check_refused(
        second_round().patch(back(json!({}))),
        RefusalCode::Precondition,
        None,
        &["reviewVerdict is from the last visit (\"revise\"). Set it anew."],
    );
    let transition = check_accepted(second_round().patch(back(json!({"reviewVerdict": "revise"}))));
    assert_eq!(transition.set(), ["reviewVerdict"], "the same value counts when it is named");
    // A call before, in the same visit, counts as well.
    let mut run = second_round();
    run.set.insert("reviewVerdict".to_owned());
    check_accepted(run.patch(back(json!({}))));
}

#[test]
fn a_variable_of_another_node_does_not_count() {
    let mut run = first_step()
        .with(json!({"variables.set": all_set()}))
        .having(&["artifacts/create-story/target.md"]);
    run.set.remove("storyKey");
    check_refused(
        run.patch(move_on(json!({}))),
        RefusalCode::Precondition,
        None,
        &["storyKey is from another node (\"1-2-login\"). Set it anew."],
    );
}

#[test]
fn a_text_edit_sets_what_it_alters() {
    let run = second_round();
    let text = run.state.text().replace("reviewVerdict: revise", "reviewVerdict: again");
    assert_eq!(check_accepted(run.write(text)).set(), ["reviewVerdict"]);
}

#[test]
fn a_placeholder_that_was_copied_is_empty() {
    for value in ["<1-2-user-authentication>", "…", " "] {
        let mut variables = all_set();
        variables["storyKey"] = value.into();
        check_refused(
            first_step().having(&["artifacts/create-story/target.md"]).patch(move_on(variables)),
            RefusalCode::Precondition,
            None,
            &["storyKey is empty."],
        );
    }
}
