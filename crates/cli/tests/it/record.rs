//! `--record`: a recorded run becomes a scenario that replays the same.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{CliFixture, FILTERS, Ran, copy_folder};

fn record(world: &CliFixture, more: &[&str]) -> Ran {
    world.run_tiny("tiny.yaml", &[&["--record", "again.yaml"], more].concat())
}

fn text(world: &CliFixture) -> String {
    std::fs::read_to_string(world.path("again.yaml")).unwrap()
}

/// Returns the project after a run of the recording on a fresh copy.
fn played(world: &CliFixture, more: &[&str]) -> Ran {
    let _ = std::fs::remove_dir_all(world.path("project"));
    std::fs::create_dir(world.path("project")).unwrap();
    world.run_tiny("again.yaml", more)
}

fn same_project(one: &Path, other: &Path) {
    let differs = Command::new("diff").arg("-r").args([one, other]).output().unwrap();
    assert!(differs.status.success(), "{}", String::from_utf8_lossy(&differs.stdout));
}

#[test]
fn a_run_becomes_a_scenario_that_plays_the_same() {
    let world = CliFixture::with_tiny();
    let ran = record(&world, &["--input", "a flyer"]);
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (0, "Recorded in again.yaml. Its first lines say how to play it.\n"),
        "{ran:?}"
    );
    insta::with_settings!({ filters => recorded_filters(), omit_expression => true }, {
        insta::assert_snapshot!("recorded", text(&world));
    });
    copy_folder(&world.path("project"), &world.path("before"));
    let again = played(&world, &["--input", "a flyer"]);
    assert_eq!(again.code, 0, "{again:?}");
    same_project(&world.path("before"), &world.path("project"));
    let words = |text: &str| {
        let lines = text.lines().skip_while(|line| !line.starts_with('●'));
        lines.take_while(|line| !line.starts_with('✓')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(words(&again.out), words(&ran.out));
}

/// Returns the filters, with one for the day in the title.
fn recorded_filters() -> Vec<(&'static str, &'static str)> {
    let mut filters = FILTERS.to_vec();
    filters.push((r"recorded \d{4}-\d\d-\d\d", "recorded [DAY]"));
    filters
}

#[test]
#[cfg(unix)]
fn its_first_lines_can_be_copied_into_a_shell() {
    let world = CliFixture::with_tiny();
    record(&world, &["--input", "a \"flyer\" for Bob's $HOME", "--var", "cups=3"]);
    let text = text(&world);
    let lines = text.lines().skip(1).take_while(|line| line.starts_with("#   "));
    let command: Vec<&str> = lines.map(|line| line.trim_start_matches("# ")).collect();
    let command = command.join("\n").replace("scripted:FILE", "scripted:again.yaml");
    std::fs::remove_dir_all(world.path("project/artifacts")).unwrap();
    let script = format!("crewagent() {{ \"$BINARY\" \"$@\"; }}\n{command} --project project\n");
    let ran = Command::new("sh")
        .args(["-c", &script])
        .env("BINARY", env!("CARGO_BIN_EXE_crewagent"))
        .env("CREWAGENT_HOME", world.path("store"))
        .current_dir(world.folder.path())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{command}: {ran:?}");
    let request = std::fs::read_to_string(world.path("project/artifacts/request.md")).unwrap();
    assert_eq!(request, "# Request\na \"flyer\" for Bob's $HOME\n");
}

#[test]
fn a_run_that_leaves_its_recording_says_where() {
    let world = CliFixture::with_tiny();
    record(&world, &["--input", "a flyer"]);
    std::fs::create_dir_all(world.path("project/artifacts")).unwrap();
    std::fs::remove_file(world.path("project/artifacts/request.md")).unwrap();
    std::fs::create_dir(world.path("project/artifacts/request.md")).unwrap();
    let ran = world.run_tiny("again.yaml", &["--input", "a flyer"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("The run left the scenario again.yaml"), "{}", ran.err);
}

#[test]
fn a_file_that_exists_is_replaced_only_by_force() {
    let world = CliFixture::with_tiny();
    world.write("again.yaml", "mine");
    let refused = record(&world, &["--input", "x"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.err.contains("`again.yaml` exists") && refused.err.contains("--force"),
        "{}",
        refused.err
    );
    assert!(world.run(&["runs", "list", "--all"]).out.contains("No runs yet"), "nothing was run");
    assert_eq!(text(&world), "mine");
    let forced = record(&world, &["--input", "x", "--force"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    assert!(text(&world).contains("step-01-ask"));
}

#[test]
fn where_nothing_can_be_written_nothing_is_run() {
    let world = CliFixture::with_tiny();
    for (file, says) in [("project", "is a folder"), ("nowhere/again.yaml", "no folder `nowhere`")]
    {
        let ran = world.run_tiny("tiny.yaml", &["--record", file]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(says), "{}", ran.err);
    }
    assert_eq!(world.run_tiny("tiny.yaml", &["--force"]).code, 2, "there is nothing to force");
    assert!(world.run(&["runs", "list", "--all"]).out.contains("No runs yet"));
}

#[test]
fn a_run_that_goes_on_is_recorded_from_its_beginning() {
    let world = CliFixture::with_tiny();
    let waiting = record(&world, &[]);
    assert_eq!(waiting.code, 3, "{waiting:?}");
    assert!(text(&world).contains("ui.ask_user") && !text(&world).contains("--input"));
    let next = "--model scripted:tiny.yaml --record again.yaml --input \"your answer\"";
    assert!(waiting.out.contains(next), "{}", waiting.out);
    // The file is unchanged, so the same run may replace it.
    let resume = ["resume", "--model", "scripted:tiny.yaml", "--input", "a flyer", "--record"];
    let done = world.run(&[&resume[..], &["again.yaml"]].concat());
    assert_eq!(done.code, 0, "{done:?}");
    let whole = text(&world);
    assert!(whole.contains("ui.ask_user") && whole.contains("complete:"), "{whole}");
    let again = played(&world, &["--input", "a flyer"]);
    assert_eq!(again.code, 0, "{again:?}");
}

#[test]
fn a_recording_that_was_edited_is_not_replaced() {
    let world = CliFixture::with_tiny();
    record(&world, &[]);
    world.write("again.yaml", text(&world) + "# mine\n");
    let resume =
        ["resume", "--model", "scripted:tiny.yaml", "--input", "x", "--record", "again.yaml"];
    let refused = world.run(&resume);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(text(&world).ends_with("# mine\n"));
    assert_eq!(world.run(&[&resume[..], &["--force"]].concat()).code, 0);
}

#[test]
fn a_run_that_is_over_can_still_be_recorded() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &["--input", "a flyer"]);
    let id = world.run_id();
    let ran =
        world.run(&["resume", &id, "--model", "scripted:tiny.yaml", "--record", "again.yaml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(played(&world, &["--input", "a flyer"]).code, 0);
}

#[test]
fn a_run_that_fails_or_is_limited_is_recorded_as_far_as_it_came() {
    let world = CliFixture::with_tiny();
    world.write("lost.yaml", "scenario: lost\nnodes:\n  step-01-ask:\n    - say: \"One.\"\n      calls: [{ fs.list: { path: \"@project\" } }]\n    - fault: { fail: network }\n");
    let failed = world.run_tiny("lost.yaml", &["--record", "again.yaml"]);
    assert_eq!(failed.code, 5, "{failed:?}");
    let recorded = text(&world);
    assert!(
        recorded.contains("# Request 2 was not answered: The way to the model was lost.\n"),
        "{recorded}"
    );
    assert!(recorded.contains("- say: \"One.\"\n"), "{recorded}");
    let limited = world
        .run_tiny("tiny.yaml", &["--max-turns", "1", "--input", "x", "--record", "limited.yaml"]);
    assert_eq!(limited.code, 4, "{limited:?}");
    let limited = std::fs::read_to_string(world.path("limited.yaml")).unwrap();
    assert!(
        limited.contains("--max-turns 1") && limited.contains("A limit stopped it"),
        "{limited}"
    );
}

#[test]
fn without_a_reply_there_is_nothing_to_record() {
    let world = CliFixture::with_tiny();
    world.write("down.yaml", "scenario: down\notherwise: { fault: { fail: auth } }\n");
    let ran = world.run_tiny("down.yaml", &["--record", "again.yaml"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("Nothing was recorded"), "{}", ran.err);
    assert!(!world.path("again.yaml").exists());
}

#[test]
fn events_stay_alone_on_standard_output() {
    let world = CliFixture::with_tiny();
    let ran = record(&world, &["--json", "--input", "x"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.lines().all(|line| line.starts_with('{')), "{}", ran.out);
    assert!(ran.err.contains("Recorded in again.yaml."), "{}", ran.err);
}

#[test]
#[cfg(unix)]
fn a_run_that_is_interrupted_is_recorded() {
    use std::io::{BufRead as _, BufReader};
    let world = CliFixture::with_tiny();
    world.write("hang.yaml", "scenario: hang\nnodes:\n  step-01-ask:\n    - say: \"One.\"\n      calls: [{ fs.list: { path: \"@project\" } }]\notherwise: { fault: { hang: true } }\n");
    let mut child = world
        .command()
        .args([
            "run",
            "tiny",
            "--project",
            "project",
            "--model",
            "scripted:hang.yaml",
            "--record",
            "again.yaml",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let interrupt = |id: u32| {
        let sent = Command::new("kill").args(["-INT", &id.to_string()]).status().unwrap();
        assert!(sent.success());
    };
    let mut out = BufReader::with_capacity(1, child.stdout.take().unwrap()).lines();
    assert!(out.any(|line| line.unwrap().contains("fs.list")));
    interrupt(child.id());
    let mut err = BufReader::with_capacity(1, child.stderr.take().unwrap()).lines();
    assert!(err.any(|line| line.unwrap().contains("Pausing")));
    interrupt(child.id());
    assert!(err.any(|line| line.unwrap().contains("Recorded in again.yaml.")));
    out.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(text(&world).contains("- say: \"One.\"\n"));
}

#[test]
fn a_link_leads_to_the_file_that_is_written() {
    #[cfg(unix)]
    {
        let world = CliFixture::with_tiny();
        world.write("real.yaml", "old");
        std::os::unix::fs::symlink("real.yaml", world.path("again.yaml")).unwrap();
        assert_eq!(record(&world, &["--input", "x", "--force"]).code, 0);
        assert!(world.path("again.yaml").symlink_metadata().unwrap().is_symlink());
        assert!(std::fs::read_to_string(world.path("real.yaml")).unwrap().contains("scenario:"));
    }
}
