//! `runs fork` and `runs revert`.

use serde_json::Value as Json;

use crate::support::CliFixture;

fn completed() -> CliFixture {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &["--input", "a brief"]);
    world
}

#[test]
fn a_run_goes_on_from_a_node_of_another_one() {
    let world = completed();
    let forked =
        world.run(&["runs", "fork", "latest", "--at", "step-02-write", "--files", "--yes"]);
    assert_eq!(forked.code, 0, "{forked:?}");
    assert!(forked.out.contains("reverted artifacts/brief.md"), "{}", forked.out);
    assert!(forked.out.contains("crewagent resume"), "{}", forked.out);
    assert!(!world.path("project/artifacts/brief.md").exists());
    assert!(world.path("project/artifacts/request.md").exists());
    let shown = world.run(&["runs", "show"]).out;
    assert!(shown.contains("goes on from run ") && shown.contains(" at step-02-write"), "{shown}");
    let ran = world.run(&["resume", "latest", "--model", "scripted:tiny.yaml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(world.path("project/artifacts/brief.md").exists());
    let shown: Json = serde_json::from_str(&world.run(&["runs", "show", "--json"]).out).unwrap();
    assert_eq!(shown["forkedFrom"]["node"], "step-02-write");
    assert_eq!((&shown["turns"], &shown["status"]), (&4.into(), &"completed".into()));
    let runs: Json = serde_json::from_str(&world.run(&["runs", "list", "--json"]).out).unwrap();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn files_change_only_with_a_yes() {
    let world = completed();
    let fork = ["runs", "fork", "latest", "--at", "step-02-write", "--files"];
    for args in [&["runs", "revert", "latest"][..], &fork, &[&fork[..], &["--json"]].concat()] {
        let ran = world.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("add --yes"), "{args:?}: {}", ran.err);
        assert!(world.path("project/artifacts/brief.md").exists());
    }
    assert!(world.run(&["runs", "revert", "latest"]).out.contains("artifacts/brief.md"));
    assert_eq!(world.run(&["runs", "list", "--json"]).out.matches("runId").count(), 1);
}

#[test]
fn a_revert_is_reported_as_json() {
    let world = completed();
    let revert = ["runs", "revert", "latest", "--json"];
    assert_eq!(world.run(&revert).code, 2);
    for (more, outcome) in [("--dry-run", "removed"), ("--yes", "removed"), ("--yes", "unchanged")]
    {
        let ran = world.run(&[&revert[..], &[more]].concat());
        let report: Json = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(report["dryRun"], more == "--dry-run");
        let files = report["files"].as_array().unwrap();
        let brief = files.iter().find(|file| file["path"] == "artifacts/brief.md").unwrap();
        assert_eq!(brief["outcome"], outcome, "{more}: {report}");
    }
    assert!(!world.path("project/artifacts/brief.md").exists());
}

#[test]
fn a_node_that_the_run_did_not_come_to_is_named() {
    let world = completed();
    for name in ["step-03", "step-01-ask#2", ""] {
        let ran = world.run(&["runs", "fork", "latest", "--at", name]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("it came to step-01-ask, step-02-write, end-99"), "{}", ran.err);
    }
    let json = world.run(&["runs", "fork", "latest", "--at", "step-01-ask#1", "--json"]);
    let json: Json = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&json["forkedFrom"]["event"], &json["words"]), (&1.into(), &0.into()));
}

#[test]
fn what_a_run_wrote_is_taken_back_and_what_others_wrote_is_not() {
    let world = completed();
    let dry = world.run(&["runs", "revert", "latest", "--dry-run"]);
    assert!(dry.out.contains("artifacts/brief.md  is removed"), "{}", dry.out);
    assert!(world.path("project/artifacts/brief.md").exists());
    world.write("project/artifacts/request.md", "mine\n");
    let back = world.run(&["runs", "revert", "latest", "--yes"]);
    assert_eq!(back.code, 1, "a file is left: {back:?}");
    assert!(back.out.contains("somebody else has changed it since"), "{}", back.out);
    assert!(!world.path("project/artifacts/brief.md").exists());
    assert!(world.path("project/artifacts/request.md").exists());
    let step = world.run(&["runs", "revert", "latest", "--at", "step-02-write", "--yes"]);
    assert_eq!(step.code, 0, "{step:?}");
    assert!(step.out.contains("is as it was"), "{}", step.out);
}
