//! Bad input at the command line and from the model: one clear sentence, the right exit code, a run that can be
//! resumed.

use crate::support::{CliFixture, example};

fn check_refused(world: &CliFixture, args: &[&str], says: &[&str]) {
    let ran = world.run(args);
    assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
    for text in says {
        assert!(ran.err.contains(text), "{args:?}: {} has no {text:?}", ran.err);
    }
    assert_eq!(ran.err.lines().count(), 1, "{args:?}: {}", ran.err);
}

#[test]
fn what_is_not_there_is_named_with_what_there_is() {
    let world = CliFixture::with_tiny();
    let model = ["--model", "scripted:tiny.yaml"];
    let run = |more: &[&str], says: &[&str]| {
        check_refused(&world, &[&["run"], more, &model].concat(), says);
    };
    run(&["nosuch"], &["there is no package `nosuch`", "crewagent package"]);
    run(&["./nosuch"], &["`./nosuch` does not exist"]);
    run(&["tiny", "--workflow", "nope"], &["no workflow `nope`", "workflow.md"]);
    run(&["tiny", "--agent", "nope"], &["no agent `nope`", "guide"]);
    run(&["tiny", "--project", "nowhere"], &["`nowhere` does not exist", "--project"]);
    run(&["tiny", "--project", "tiny.yaml"], &["`tiny.yaml` is not a folder"]);
    let many = example("multi-workflows");
    run(&[&many, "--workflow", "nope"], &["hello-linear", "draft-review"]);
    check_refused(&world, &["resume", "nope", "--model", "scripted:tiny.yaml"], &["no run `nope`"]);
    check_refused(&world, &["runs", "show", "nope"], &["no run `nope`", "crewagent runs list"]);
    check_refused(&world, &["runs", "rm", "nope"], &["no run `nope`"]);
    check_refused(&world, &["projects", "forget", "nope"], &["no project `nope`"]);
    assert!(world.run(&["runs", "list", "--all"]).out.contains("No runs yet"));
}

#[test]
fn a_scenario_that_cannot_be_used_is_refused_before_anything_is_made() {
    let world = CliFixture::with_tiny();
    world.write("bad.yaml", "scenario: x\nnodes: 5\n");
    let ran = world.run_tiny("bad.yaml", &[]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("bad.yaml:2"), "{}", ran.err);
    assert_eq!(world.run_tiny("missing.yaml", &[]).code, 2);
    assert!(world.run(&["runs", "list", "--all"]).out.contains("No runs yet"));
}

#[test]
fn a_package_with_errors_is_explained_and_not_run() {
    let world = CliFixture::with_tiny();
    let graph = std::fs::read_to_string(world.path("tiny/workflow.graph.json")).unwrap();
    world.write(
        "tiny/workflow.graph.json",
        graph.replace("\"to\": \"end-99\"", "\"to\": \"end-98\""),
    );
    let ran = world.run_tiny("tiny.yaml", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("BM503"), "{}", ran.err);
}

#[test]
fn a_bad_value_on_the_command_line_is_bad_usage() {
    let world = CliFixture::with_tiny();
    for more in [
        ["--max-turns", "0"],
        ["--max-tokens", "many"],
        ["--max-cost", "-1"],
        ["--timeout", "soon"],
        ["--var", "novalue"],
    ] {
        let ran = world.run_tiny("tiny.yaml", &more);
        assert_eq!(ran.code, 2, "{more:?}: {ran:?}");
    }
}

/// Checks that a run continues after the model made a mistake and apologized.
fn check_goes_on(call: &str, code: &str) {
    let world = CliFixture::with_tiny();
    world.write(
        "silly.yaml",
        format!("scenario: silly\nnodes:\n  step-01-ask:\n    - calls:\n        - {call}\n    - when: {{ refused: {code} }}\n      say: Sorry. What now?\n"),
    );
    let ran = world.run_tiny("silly.yaml", &[]);
    assert_eq!(ran.code, 3, "{call}: {ran:?}");
    assert!(ran.out.contains("Sorry."), "{call}: {}", ran.out);
    assert!(ran.out.contains("✗ ") && ran.out.contains(code), "{call}: {}", ran.out);
    let shown = world.run(&["runs", "show"]);
    assert!(shown.out.contains("Waiting for you"), "{}", shown.out);
}

#[test]
fn a_tool_argument_of_fifty_megabytes_is_refused_and_the_run_goes_on() {
    check_goes_on(
        r#"{ tool: fs.write, arguments: { path: "@project/big", content: "{{repeat:x:52428800}}" } }"#,
        "E_WRITE_LIMIT",
    );
}

#[test]
fn an_unknown_tool_is_refused_and_the_run_goes_on() {
    check_goes_on(r#"{ tool: shell.exec, arguments: { command: ls } }"#, "E_TOOL_NOT_AVAILABLE");
}

#[test]
fn arguments_that_are_not_json_are_refused_and_the_run_goes_on() {
    check_goes_on(r#"{ tool: fs.read, raw: "path=@project/a" }"#, "E_INVALID_ARGS");
}

#[test]
fn a_path_that_leads_out_is_refused_and_the_run_goes_on() {
    check_goes_on(r#"fs.read: { path: "@project/../secret" }"#, "E_SANDBOX_VIOLATION");
}

#[test]
fn a_model_that_fails_ends_the_command_and_not_the_run() {
    let world = CliFixture::with_tiny();
    world.write("down.yaml", "scenario: down\notherwise: { fault: { fail: network } }\n");
    let ran = world.run_tiny("down.yaml", &["--input", "a flyer"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("error: The way to the model was lost."), "{}", ran.err);
    assert!(ran.err.trim_end().ends_with("--model scripted:down.yaml"), "{}", ran.err);
    let more = world.run(&["resume", "--model", "scripted:tiny.yaml", "--input", "a flyer"]);
    assert_eq!(more.code, 0, "{more:?}");
}

#[test]
fn a_project_that_moved_is_found_again_after_a_relink() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    std::fs::rename(world.path("project"), world.path("moved")).unwrap();
    let resume = ["resume", "latest", "--model", "scripted:tiny.yaml", "--input", "x"];
    let lost = world.run(&resume);
    assert_eq!(lost.code, 2, "{lost:?}");
    assert!(lost.err.contains("crewagent projects relink"), "{}", lost.err);
    assert_eq!(world.run(&["projects", "relink", "project", "moved"]).code, 0);
    let found = world.run(&resume);
    assert_eq!(found.code, 0, "{found:?}");
    assert!(world.path("moved/artifacts/brief.md").is_file());
}

#[cfg(unix)]
#[test]
fn a_project_that_cannot_be_written_is_told_at_once_and_the_run_can_go_on_later() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = CliFixture::with_tiny();
    let set = |path: &str, mode| {
        std::fs::set_permissions(world.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir(world.path("store")).unwrap();
    set("store", 0o777);
    set("project", 0o555);
    let start = ["run", "tiny", "--project", "project", "--model", "scripted:tiny.yaml"];
    let refused = world.run_without_privileges(&start);
    assert_eq!((refused.code, refused.out.as_str()), (1, ""), "{refused:?}");
    let says = "the project folder `project` cannot be written: Permission denied";
    assert!(refused.err.contains(says), "{}", refused.err);
    set("project", 0o777);
    assert_eq!(world.run_without_privileges(&start).code, 3);
    set("project", 0o555);
    let resume = ["resume", "latest", "--model", "scripted:tiny.yaml", "--input", "x"];
    let refused = world.run_without_privileges(&resume);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("crewagent resume"), "{}", refused.err);
    set("project", 0o777);
    let done = world.run_without_privileges(&resume);
    assert_eq!(done.code, 0, "{done:?}");
}
