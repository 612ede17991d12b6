//! Tests of `runs` and `projects`: the runs in the store.

use serde_json::Value as Json;

use crate::support::{CliFixture, FILTERS};

macro_rules! assert_screen {
    ($name:literal, $text:expr) => {
        insta::with_settings!({ filters => FILTERS.to_vec(), omit_expression => true }, {
            insta::assert_snapshot!($name, $text);
        });
    };
}

fn json(world: &CliFixture, args: &[&str]) -> Json {
    let ran = world.run(args);
    assert_eq!(ran.code, 0, "{ran:?}");
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn runs_are_listed_with_where_they_are() {
    let world = CliFixture::with_tiny();
    assert!(world.run(&["runs"]).out.contains("No runs yet"));
    world.run_tiny("tiny.yaml", &[]);
    assert_screen!("runs_list", world.run(&["runs", "list", "--all"]).out);
    let listed = json(&world, &["runs", "list", "--json"]);
    let run = &listed["runs"][0];
    assert_eq!((&run["status"], &run["nodes"]), (&"WaitingUser".into(), &3.into()));
    assert_eq!(run["project"]["name"], "project");
    world.run(&["resume", "--model", "scripted:tiny.yaml", "--input", "x"]);
    assert_screen!("runs_list_completed", world.run(&["runs", "list", "--project", "project"]).out);
    let none = world.run(&["runs", "list", "--project", "tiny"]);
    assert_eq!(none.code, 2, "{none:?}");
}

#[test]
fn a_run_is_shown_on_one_screen() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    assert_screen!("runs_show_waiting", world.run(&["runs", "show"]).out);
    world.run(&["resume", "--model", "scripted:tiny.yaml", "--input", "x"]);
    assert_screen!("runs_show_completed", world.run(&["runs", "show"]).out);
    let shown = json(&world, &["runs", "show", "--json"]);
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["path"].as_array().unwrap().len(), 3);
    assert_eq!(shown["artifacts"][0]["path"], "artifacts/request.md");
}

#[test]
fn what_a_run_cost_is_shown_by_node_and_turn() {
    let world = CliFixture::with_tiny();
    let scenario = "scenario: costs\nnodes:\n  step-01-ask:\n    - say: \"Hello?\"\n      usage: { input: 20000, output: 300, cached: 15000, reasoning: 120, cost: 0.01 }\n    - say: \"Well?\"\n      usage: { input: 10000, output: 100, cost: 0.0023, estimated: true }\n";
    world.write("costs.yaml", scenario);
    let ran = world.run_tiny("costs.yaml", &["--input", "and?"]);
    let spent = "  2 turns, ~30,400 tokens (15,000 cached), ~$0.0123, ";
    assert!(ran.out.contains(spent), "{}", ran.out);
    let shown = world.run(&["runs", "show"]).out;
    let table = "
Usage
  node         turns       in   cached   out  thoughts      cost
  step-01-ask      2  ~30,000  ~15,000  ~400      ~120  ~$0.0123
  ~ an estimate, because the provider did not count
";
    assert!(shown.contains(table), "{shown}");
    let shown = json(&world, &["runs", "show", "--json"]);
    assert_eq!(shown["turns"], 2);
    assert_eq!(shown["usage"]["cachedTokens"], 15_000);
    assert_eq!(shown["usageByNode"][0]["node"], "step-01-ask");
    assert_eq!(shown["usageByNode"][0]["usage"], shown["usage"]);
    let turns = shown["usageByTurn"].as_array().unwrap();
    assert_eq!(turns.len(), 2);
    let first = &turns[0]["usage"];
    assert_eq!((&first["reasoningTokens"], &first["cost"]), (&120.into(), &0.01.into()));
    assert!(first.get("estimated").is_none());
    let logs = world.run(&["runs", "logs", "--json"]).out;
    let last: Json = serde_json::from_str(logs.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["usage"]), (&"run.finished".into(), &shown["usage"]));
}

#[test]
fn a_run_that_failed_says_why() {
    let world = CliFixture::with_tiny();
    world.write("down.yaml", "scenario: down\notherwise: { fault: { fail: network } }\n");
    world.run_tiny("down.yaml", &[]);
    let shown = world.run(&["runs", "show"]).out;
    assert!(shown.contains("The way to the model was lost."), "{shown}");
}

#[test]
fn the_log_tells_the_run_again() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    world.run(&["resume", "--model", "scripted:tiny.yaml", "--input", "x"]);
    assert_screen!("runs_logs", world.run(&["runs", "logs"]).out);
}

#[test]
fn runs_are_removed_all_or_none() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    let id = world.run_id();
    let slip = world.run(&["runs", "rm", &id, "nope", "--yes"]);
    assert_eq!(slip.code, 2);
    assert_eq!(world.run_id(), id);
    let removed = world.run(&["runs", "rm", &id, "--yes"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    assert!(world.run(&["runs", "list", "--all"]).out.contains("No runs yet"));
    assert!(!world.path("project/artifacts/x").exists());
    assert!(world.path("project").is_dir(), "the project is not touched");
}

#[test]
fn a_run_outlives_its_package_in_the_log() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &["--input", "x"]);
    world.run(&["package", "rm", "tiny", "--yes"]);
    for command in ["show", "logs"] {
        let ran = world.run(&["runs", command]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains("step-02-write"), "{}", ran.out);
    }
    let lost = world.run(&["resume", "latest", "--model", "scripted:tiny.yaml"]);
    assert_eq!(lost.code, 2, "{lost:?}");
    assert!(lost.err.contains("crewagent package import"), "{}", lost.err);
}

#[test]
fn projects_are_listed_relinked_and_forgotten() {
    let world = CliFixture::with_tiny();
    assert!(world.run(&["projects"]).out.contains("No projects yet"));
    world.run_tiny("tiny.yaml", &[]);
    assert_screen!("projects_list", world.run(&["projects", "list"]).out);
    std::fs::rename(world.path("project"), world.path("moved")).unwrap();
    let gone = world.run(&["projects"]);
    assert!(gone.out.contains("(gone)") && gone.err.contains("relink"), "{gone:?}");
    assert_eq!(world.run(&["projects", "relink", "project", "nowhere"]).code, 2);
    assert_eq!(world.run(&["projects", "relink", "project", "moved"]).code, 0);
    let listed = json(&world, &["projects", "list", "--json"]);
    assert_eq!(
        (&listed["projects"][0]["exists"], &listed["projects"][0]["runs"]),
        (&true.into(), &1.into())
    );
    let id = listed["projects"][0]["id"].as_str().unwrap();
    assert_eq!(world.run(&["projects", "forget", id, "--yes"]).code, 0);
    assert!(world.run(&["projects"]).out.contains("No projects yet"));
    assert!(world.path("moved").is_dir());
}
