//! Subworkflows in the output of the commands.

use serde_json::{Value as Json, json};

use crate::support::{CliFixture, copy_folder, example, repository};

/// The package nested-review with the scenario and the project of a golden run.
struct Nested {
    world: CliFixture,
    scenario: String,
}

impl Nested {
    fn new(golden: &str) -> Self {
        let world = CliFixture::new();
        let folder = repository().join("crates/engine/tests/golden").join(golden);
        copy_folder(&folder.join("project"), &world.path("project"));
        let scenario = format!("scripted:{}", folder.join("scenario.yaml").display());
        Self { world, scenario }
    }

    fn run(&self, command: &[&str], inputs: &[&str]) -> crate::support::Ran {
        let project = self.world.path("project").display().to_string();
        let mut args = command.to_vec();
        args.extend(["--project", &project, "--model", &self.scenario]);
        args.extend(inputs.iter().flat_map(|input| ["--input", *input]));
        self.world.run(&args)
    }
}

#[test]
fn a_run_shows_which_workflow_is_active_and_where_it_failed() {
    let nested = Nested::new("014-child-fails");
    let ran = nested.run(&["run", &example("nested-review")], &[]);
    assert_eq!(ran.code, 3, "{ran:?}");
    for line in [
        "↳ document-review (call 1)",
        "● 1/4 document-review › step-01-read  Read the document",
        "↰ document-review could not be completed",
        "There is no file docs/lost.md. Say what is to be done",
    ] {
        assert!(ran.out.contains(line), "{line} is missing in\n{}", ran.out);
    }
    let shown = nested.world.run(&["runs", "show"]).out;
    let path = "Path
  ✓ step-01-scope  Scope the release
  ● call-02-review-notes  Review the release notes  (next)
    ↳ document-review (call 1)
      ✗ step-01-read  Read the document
";
    assert!(shown.contains(path), "{shown}");

    // A resumed run says why it waits.
    let ran = nested.run(&["resume", "--no-input"], &[]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.out.contains("could not be completed: There is no file docs/lost.md."),
        "{}",
        ran.out
    );

    // The second call is another branch of the tree, and the run continues behind it.
    let ran = nested.run(&["resume"], &["Take docs/notes.md instead."]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let shown = nested.world.run(&["runs", "show"]).out;
    let path = "    ↳ document-review (call 2)
      ✓ step-01-read  Read the document
      ✓ decide-02-verdict  Decide the verdict  (next)
      ✓ end-99  Write the report  (pass)
  ● step-03-record-notes  Record the first verdict  (next)
";
    assert!(shown.contains(path), "{shown}");
    assert!(shown.contains("document-review/step-01-read"), "the cost by node:\n{shown}");
}

#[test]
fn a_run_that_waits_in_a_call_says_so_in_json() {
    let nested = Nested::new("013-child-waits");
    let ran = nested.run(&["run", &example("nested-review"), "--json"], &[]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let events: Vec<Json> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let entered = events.iter().find(|event| event["type"] == "workflow.entered").unwrap();
    assert_eq!((&entered["workflowId"], &entered["call"]), (&json!("document-review"), &json!(1)));
    let last = events.iter().rfind(|event| event["type"] == "turn.started").unwrap();
    assert_eq!((&last["nodeId"], &last["call"]), (&json!("step-01-read"), &json!(1)));
    let shown: Json =
        serde_json::from_str(&nested.world.run(&["runs", "show", "--json"]).out).unwrap();
    let stack =
        json!([{ "workflowId": "document-review", "nodeId": "call-02-review-notes", "call": 1 }]);
    assert_eq!(shown["callStack"], stack);
    assert_eq!(shown["state"]["currentNodeId"], "step-01-read");
    let inner = json!({ "node": "step-01-read", "label": null, "workflow": "document-review", "call": 1, "depth": 1 });
    assert_eq!(shown["path"][2], inner, "{}", shown["path"]);
    assert_eq!(shown["question"]["kind"], "text");
}
