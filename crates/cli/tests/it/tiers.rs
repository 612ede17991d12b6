//! Tiers, limits of a node, and the forecast, as users and scripts meet them.

use crate::support::CliFixture;

/// Adds a line to the frontmatter of the first step of the tiny package.
fn advise(world: &CliFixture, line: &str) {
    let step = "tiny/steps/step-01-ask.md";
    let text = std::fs::read_to_string(world.path(step)).unwrap();
    let advised = text.replacen("type: step\n", &format!("type: step\n{line}\n"), 1);
    assert_ne!(text, advised);
    world.write(step, advised);
}

/// Sets up two models that are nowhere, so that a request to one would fail.
fn models(world: &CliFixture) {
    for (name, more) in [("own", ["--price", "1,2"].as_slice()), ("small", &[])] {
        let add = ["models", "add", name, "--model", "m", "--base-url", "http://127.0.0.1:9/v1"];
        let ran = world.run(&[&add, ["--no-key"].as_slice(), more].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[test]
fn a_limit_of_a_node_ends_with_code_4_and_is_renewed_by_a_word() {
    let world = CliFixture::with_tiny();
    advise(&world, "limits: { turns: 1 }");
    world.write(
        "asks.yaml",
        "scenario: asks\notherwise: { calls: [{ fs.list: { path: \"@project\" } }] }\n",
    );
    let ran = world.run_tiny("asks.yaml", &[]);
    assert_eq!((ran.code, ran.err.as_str()), (4, ""), "{ran:?}");
    let message = "The node `step-01-ask` has reached its limit of 1 request for one visit.";
    assert!(ran.out.contains(message), "{}", ran.out);
    assert!(ran.out.contains("! Stopped by the limit of a node"), "{}", ran.out);
    assert!(
        ran.out.contains("The step sets this limit. Go on with the same again:"),
        "{}",
        ran.out
    );
    let more = world.run(&["resume", "--model", "scripted:asks.yaml", "--input", "on", "--json"]);
    assert_eq!(more.code, 4, "{more:?}");
    assert!(more.out.contains("\"reason\":\"limit-node\""), "{}", more.out);
}

#[test]
fn a_tier_that_is_not_set_is_noted_once() {
    let world = CliFixture::with_tiny();
    advise(&world, "model: fast");
    world.run(&["config", "set", "run.model", "scripted:tiny.yaml"]);
    let ran = world.run(&["run", "tiny", "--project", "project", "--input", "a flyer"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let note = "no model is set for fast steps, so the run's model answers";
    assert_eq!(ran.out.matches(note).count(), 1, "{}", ran.out);
    let named = CliFixture::with_tiny();
    advise(&named, "model: fast");
    assert!(!named.run_tiny("tiny.yaml", &["--input", "a flyer"]).out.contains(note));
}

#[test]
fn a_tier_on_the_command_line_must_be_one_and_name_a_model() {
    let world = CliFixture::with_tiny();
    let wrong = world.run_tiny("tiny.yaml", &["--tier", "cheap=x"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.err.contains("expected fast=NAME, strong=NAME or review=NAME"), "{wrong:?}");
    let unknown = world.run_tiny("tiny.yaml", &["--tier", "fast=nothing"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.err.contains("there is no model `nothing`"), "{unknown:?}");
    assert_eq!(world.run(&["runs", "list", "--all"]).out.matches("tiny").count(), 0);
}

#[test]
fn a_model_that_is_removed_is_no_tier_any_longer() {
    let world = CliFixture::new();
    models(&world);
    assert_eq!(world.run(&["config", "set", "tiers.fast", "small"]).code, 0);
    assert_eq!(world.run(&["models", "rm", "small", "--yes"]).code, 0);
    let config = world.run(&["config", "get", "tiers.fast"]);
    assert!(!config.out.contains("small"), "{config:?}");
}

#[test]
fn a_forecast_alone_makes_no_run() {
    let world = CliFixture::with_tiny();
    models(&world);
    let start = ["run", "tiny", "--project", "project", "--model", "own", "--forecast"];
    let ran = world.run(&[&start, ["--max-cost", "1.5", "--max-turns", "2"].as_slice()].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let mut lines = ran.out.lines();
    let line = lines.next().unwrap();
    assert!(
        line.starts_with("About 6 requests, ")
            && line.ends_with("(estimate). Cannot exceed $1.50."),
        "{line}"
    );
    let above = "! That is above the limit of 2 requests for one input, where the run stops and waits for you.";
    assert_eq!(lines.collect::<Vec<_>>(), [above]);
    let json = world.run(&[&start, ["--json"].as_slice()].concat());
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["forecast"]["requests"], 6);
    assert_eq!(world.run(&["runs", "list", "--all"]).out.matches("tiny").count(), 0);
    let scripted = world.run_tiny("tiny.yaml", &["--forecast"]);
    assert_eq!(scripted.code, 2, "{scripted:?}");
    assert!(scripted.err.contains("there is no forecast for a model that answers from a file"));
}

#[test]
fn a_forecast_stands_before_the_first_request() {
    let world = CliFixture::with_tiny();
    models(&world);
    world.run(&["config", "set", "models.own.retries", "0"]);
    let start = ["run", "tiny", "--project", "project", "--model", "own", "--no-input"];
    let ran = world.run(&start);
    assert_eq!(ran.code, 5, "the model is nowhere: {ran:?}");
    let forecast = ran.out.find("About 6 requests").unwrap();
    assert!(
        forecast < ran.out.find("step-01-ask").or_else(|| ran.out.find("1/3")).unwrap(),
        "{}",
        ran.out
    );
}
