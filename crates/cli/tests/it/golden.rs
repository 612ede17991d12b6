//! The golden runs of the engine, through the command line.

use std::path::Path;

use crewagent_format::syntax::yaml;
use serde_json::Value as Json;

use crate::support::{CliFixture, Ran, copy_folder, example, repository};

#[test]
fn every_golden_run_ends_the_same_way_on_the_command_line() {
    let golden = repository().join("crates/engine/tests/golden");
    let mut played = 0;
    for entry in std::fs::read_dir(golden).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(folder.join("run.yaml")).unwrap();
        let plan = yaml::parse(&text).unwrap().to_json();
        // The engine's own test builds the hostile set-ups.
        if plan.get("links").is_none() {
            play(&folder, &plan);
            played += 1;
        }
    }
    assert!(played >= 7, "{played} golden runs");
}

/// Runs a golden run and compares the resulting project.
fn play(folder: &Path, plan: &Json) {
    let world = CliFixture::new();
    copy_folder(&folder.join("project"), &world.path("project"));
    let model = format!("scripted:{}", folder.join("scenario.yaml").display());
    let mut args = flags(folder, plan);
    if plan["settings"]["strict"] == true {
        args.push("--strict".to_owned());
    }
    for rule in ["allow", "ask", "deny"] {
        for pattern in plan["settings"][rule].as_array().into_iter().flatten() {
            args.extend([format!("--{rule}"), pattern.as_str().unwrap().to_owned()]);
        }
    }
    args.extend([
        "--project".to_owned(),
        "project".to_owned(),
        "--model".to_owned(),
        model.clone(),
    ]);
    let mut last: Option<Ran> = None;
    for inputs in shares(plan) {
        let command = match last {
            None => std::mem::take(&mut args),
            Some(_) => ["resume", "latest", "--model", &model].map(str::to_owned).to_vec(),
        };
        let inputs = inputs.into_iter().flat_map(|words| ["--input".to_owned(), words]);
        let command: Vec<String> = command.into_iter().chain(inputs).collect();
        last = Some(world.run(&command.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    let ran = last.unwrap();
    let ends = &plan["ends"];
    assert_eq!(Some(i64::from(ran.code)), ends["exit"].as_i64(), "{}: {ran:?}", folder.display());
    let differs = std::process::Command::new("diff")
        .arg("-r")
        .args([&folder.join("expected"), &world.path("project")])
        .output()
        .unwrap();
    assert!(differs.status.success(), "{}", String::from_utf8_lossy(&differs.stdout));
}

/// Returns the plan as a command line.
fn flags(folder: &Path, plan: &Json) -> Vec<String> {
    let package = match plan["package"].as_str().unwrap() {
        "." => folder.join("package").to_str().unwrap().to_owned(),
        name => example(name),
    };
    let mut args = vec!["run".to_owned(), package];
    let settings = plan.get("settings");
    let from = |value: Option<&Json>| {
        value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    for (flag, value) in [
        ("--workflow", from(plan.get("workflow"))),
        ("--agent", from(plan.get("agent"))),
        ("--max-turns", from(settings.and_then(|table| table.get("max_turns")))),
        ("--max-tokens", from(settings.and_then(|table| table.get("max_tokens")))),
    ] {
        args.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
    }
    let mode = settings.and_then(|table| table.get("mode"));
    if mode.is_some_and(|mode| mode == "guided") {
        args.push("--guided".to_owned());
    }
    for (key, value) in plan.get("variables").and_then(Json::as_object).into_iter().flatten() {
        args.extend(["--var".to_owned(), format!("{key}={value}")]);
    }
    args
}

/// Returns the user's inputs, by process.
fn shares(plan: &Json) -> Vec<Vec<String>> {
    let words = |input: &Json| input.as_str().unwrap().to_owned();
    let all: Vec<String> = plan["inputs"].as_array().into_iter().flatten().map(words).collect();
    let mut shares = Vec::new();
    let mut from = 0;
    for restart in plan["restart_after"].as_array().into_iter().flatten() {
        let to = usize::try_from(restart.as_u64().unwrap()).unwrap();
        shares.push(all[from..to].to_vec());
        from = to;
    }
    shares.push(all[from..].to_vec());
    shares
}
