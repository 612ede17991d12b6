//! Rules about the document itself: it parses, it has the right shape, and protected values stay.

use super::*;
use crate::state::fixture;

fn started() -> Run {
    Run::new(fixture::create_story())
}

/// Returns a run at a later node, with an entry in each of its lists.
fn under_way() -> Run {
    started().at("step-02-discover-inputs").with(json!({
        "stepsCompleted.append": ["step-01-select-story", "step-01-select-story"],
        "decisionLog.append": [{"from": "step-01-select-story", "to": "step-02-discover-inputs", "label": "next", "reason": "r"}],
        "artifacts.append": ["artifacts/a.md", "artifacts/b.md"]
    }))
}

#[test]
fn a_text_that_does_not_parse_is_refused_and_says_where_the_run_is() {
    for text in ["no frontmatter", "---\nunclosed: 1\n", "---\na: [1\n---\n", "---\n- a\n---\n", ""]
    {
        check_refused(
            started().write(text),
            RefusalCode::InvalidFrontmatter,
            None,
            &["cannot be read: line "],
        );
    }
    check_accepted(started().write(started().state.text().clone()));
}

#[test]
fn values_that_the_schema_forbids_are_refused_all_at_once() {
    let text = started()
        .state
        .text()
        .replace("stepsCompleted: []", "stepsCompleted: 3")
        .replace("artifacts: []", "artifacts: [1]");
    check_refused(
        started().write(text),
        RefusalCode::Schema,
        None,
        &["stepsCompleted", "artifacts[0]"],
    );
    let update =
        json!({"decisionLog.append": [{"from": "a", "because": "b"}], "updatedAt.set": "today"});
    check_refused(started().patch(update), RefusalCode::Schema, None, &["because", "updatedAt"]);
    check_accepted(started().replace("variables: {}", "variables:"));
}

#[test]
fn protected_keys_may_not_be_changed() {
    let run = started();
    for (old, new, key) in [
        ("schemaVersion: \"1.1\"", "schemaVersion: \"1.2\"", "`schemaVersion`"),
        ("workflowType: create-story", "workflowType: other", "`workflowType`"),
        ("runId: run-1", "runId: run-2", "`runId`"),
        ("runId: run-1\n", "", "`runId`"),
        ("workflowRef: workflow.md", "workflowRef: x", "`workflowRef`"),
    ] {
        check_breaks(run.replace(old, new), "protected-key", &[key, "may not be changed"]);
    }
    let all = run.state.text().replace("runId: run-1", "runId: x").replace("create-story\n", "y\n");
    check_refused(
        run.write(all),
        RefusalCode::Transition,
        Some("protected-key"),
        &["`runId`", "`workflowType`"],
    );
}

#[test]
fn a_protected_key_may_be_written_another_way_and_other_keys_may_change() {
    let run = started();
    check_accepted(run.replace("schemaVersion: \"1.1\"", "schemaVersion: 1.1"));
    check_accepted(run.replace("runId: run-1", "runId: \"run-1\" # mine"));
    check_accepted(run.replace("inputDocuments: []\n", "note: hello\n"));
    let mut bare = started();
    bare.state = StateDocument::read(bare.workflow.document.clone()).unwrap();
    check_breaks(
        bare.replace("artifacts: []\n", "artifacts: []\nrunId: mine\n"),
        "protected-key",
        &["must stay unset"],
    );
    check_accepted(bare.replace("artifacts: []\n", "artifacts: []\nrunId: \"\"\n"));
}

#[test]
fn nothing_is_removed_from_the_three_lists() {
    let run = under_way();
    for (old, new, list) in [
        ("  - step-01-select-story\n", "", "stepsCompleted"),
        ("    reason: r\n", "    reason: other\n", "decisionLog"),
        ("    label: next\n", "    label: last\n", "decisionLog"),
        ("  - artifacts/a.md\n", "", "artifacts"),
        ("  - artifacts/b.md\n", "", "artifacts"),
        (
            "  - artifacts/a.md\n  - artifacts/b.md\n",
            "  - artifacts/b.md\n  - artifacts/a.md\n",
            "artifacts",
        ),
        ("  - artifacts/b.md\n", "  - artifacts/c.md\n", "artifacts"),
    ] {
        check_breaks(run.replace(old, new), "nothing-removed", &[list, "may only grow"]);
    }
    check_breaks(
        run.replace("artifacts:\n  - artifacts/a.md\n  - artifacts/b.md\n", ""),
        "nothing-removed",
        &["entry 1", "artifacts/a.md"],
    );
}

#[test]
fn an_entry_put_before_the_old_ones_is_one_mistake_and_not_many() {
    let inserted = under_way().replace("stepsCompleted:\n", "stepsCompleted:\n  - end-99\n");
    check_breaks(inserted, "nothing-removed", &["stepsCompleted", "entry 1"]);
}

#[test]
fn the_lists_may_grow_and_be_written_another_way() {
    let run = under_way();
    check_accepted(run.replace("  - artifacts/b.md\n", "  - artifacts/b.md\n  - artifacts/c.md\n"));
    check_accepted(run.replace(
        "  - artifacts/a.md\n  - artifacts/b.md\n",
        "  [ 'artifacts/a.md', artifacts/b.md ]\n",
    ));
    check_accepted(run.replace("    reason: r\n", "    reason: r\n    decidedAt:\n"));
}

#[test]
fn an_artifact_is_named_from_the_root_of_the_project() {
    let run = under_way();
    let named = |path: &str| {
        run.replace("  - artifacts/b.md\n", &format!("  - artifacts/b.md\n  - \"{path}\"\n"))
    };
    check_refused(
        named("@project/artifacts/c.md"),
        RefusalCode::Schema,
        Some("artifact-path"),
        &["write `artifacts/c.md`"],
    );
    for path in ["../c.md", "/etc/passwd", "./artifacts/c.md", "@state/x.md", ""] {
        check_refused(named(path), RefusalCode::Schema, Some("artifact-path"), &[]);
    }
    check_accepted(named("docs/c.md"));
    check_accepted(run.patch(json!({"artifacts.append": ["@project/artifacts/c.md"]})));
}

#[test]
fn a_change_of_the_text_below_the_frontmatter_is_free_and_leaves_no_mark() {
    let run = under_way();
    let text = format!("{}\n## Notes\n", run.state.text());
    let transition = check_accepted(run.write(text.clone()));
    assert_eq!(**transition.text(), text);
    assert!(transition.recorded().is_empty());
    assert_eq!(transition.moved(), None);
}

#[test]
fn variables_may_be_changed_and_removed_while_the_run_stays() {
    let run = started().with(json!({"variables.set": {"a": 1, "b": 2}}));
    check_accepted(run.patch(json!({"variables.set": {"a": null, "c": {"d": []}}})));
    let transition = check_accepted(run.replace("variables:\n  a: 1\n  b: 2\n", "variables: {}\n"));
    assert_eq!(transition.moved(), None);
    assert!(transition.document().variables().is_empty());
}

#[test]
fn a_comment_hides_no_line_from_other_readers() {
    let run = under_way();
    for separator in ["\u{85}", "\u{2028}", "\u{2029}"] {
        let text = run.state.text();
        let line = text.lines().find(|line| line.starts_with("updatedAt")).unwrap();
        let hidden = format!("{line} # x{separator}stepsCompleted: [n.end]");
        let proposed = text.replacen(line, &hidden, 1);
        check_breaks(run.write(proposed), "plain-lines", &["U+2028"]);
        // As a value it is escaped, and below the frontmatter it does no harm.
        let value = format!("one{separator}two");
        let transition = check_accepted(run.patch(json!({"variables.set": {"x": value}})));
        assert_eq!(transition.document().variables()["x"], json!(value));
        check_accepted(run.write(format!("{text}{separator}\n")));
    }
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let run = under_way();
    let text = run
        .state
        .text()
        .replace("runId: run-1", "runId: x")
        .replace("currentNodeId: step-02-discover-inputs", "currentNodeId: end-99")
        .replace("  - artifacts/a.md\n", "");
    let refusal = check_refused(
        run.write(text),
        RefusalCode::Transition,
        Some("edge-exists"),
        &[
            "(1) ",
            "(2) ",
            "(3) ",
            "(4) ",
            "no edge",
            "`runId`",
            "artifacts",
            "unset variables: `epicsPath`",
        ],
    );
    assert_eq!(refusal.details["violations"].as_array().unwrap().len(), 3);
    assert_eq!(refusal.details["missing"]["outputs"], json!(["artifacts/create-story/inputs.md"]));
}

#[test]
fn a_run_that_stands_nowhere_can_only_be_read() {
    let mut run = under_way();
    run.state = StateDocument::read(
        run.state.text().replace("currentNodeId: step-02-discover-inputs", "currentNodeId: gone"),
    )
    .unwrap();
    check_refused(
        run.patch(json!({"variables.set": {"a": 1}})),
        RefusalCode::Transition,
        None,
        &["\"gone\"", "not a node"],
    );
    check_accepted(run.write(format!("{}more\n", run.state.text())));
}
