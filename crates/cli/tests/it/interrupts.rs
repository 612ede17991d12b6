//! Ctrl-C, and two processes on one run.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::support::CliFixture;

/// Starts a run whose model never answers.
fn hanging(world: &CliFixture) -> Child {
    world.write("hang.yaml", "scenario: hang\notherwise: { say: Wait., fault: { hang: true } }\n");
    let mut child = world
        .command()
        .args(["run", "tiny", "--project", "project", "--model", "scripted:hang.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(child.stdout.as_mut().unwrap(), "step-01-ask");
    child
}

fn wait_for(stream: &mut impl Read, text: &str) {
    let mut lines = BufReader::with_capacity(1, stream);
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended before it said {text:?}");
    }
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn ctrl_c_twice_stops_a_model_that_hangs_and_nothing_is_lost() {
    let world = CliFixture::with_tiny();
    let mut child = hanging(&world);
    interrupt(&child);
    wait_for(child.stderr.as_mut().unwrap(), "Pausing after the call in hand");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Stopped") && text.contains("crewagent resume"), "{text}");
    let more = world.run(&["resume", "--model", "scripted:tiny.yaml", "--input", "x"]);
    assert_eq!(more.code, 0, "{more:?}");
}

#[test]
fn ctrl_c_once_pauses_after_the_call_in_hand() {
    let world = CliFixture::with_tiny();
    let slow = "scenario: slow\npace: { characters: 1, milliseconds: 5 }\nnodes:\n  step-01-ask:\n    - say: \"One line.\\nAnd another one that takes a little while to say.\"\n      calls: [{ fs.list: { path: \"@project\" } }]\n    - say: \"Never said.\"\n";
    world.write("slow.yaml", slow);
    let mut child = world
        .command()
        .args(["run", "tiny", "--project", "project", "--model", "scripted:slow.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for(child.stdout.as_mut().unwrap(), "One line.");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Paused") && !text.contains("Never said."), "{text}");
    let shown = world.run(&["runs", "show"]);
    assert!(shown.out.contains("Paused"), "{}", shown.out);
}

#[test]
fn a_run_that_another_process_has_is_left_alone() {
    let world = CliFixture::with_tiny();
    let mut child = hanging(&world);
    let holder = format!("process {}", child.id());
    let id = world.run_id();
    for args in [
        ["resume", &id, "--model", "scripted:tiny.yaml"].as_slice(),
        &["runs", "rm", &id, "--yes"],
        &["projects", "forget", "project", "--yes"],
    ] {
        let ran = world.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains(&holder), "{args:?}: {}", ran.err);
    }
    let listed = world.run(&["runs", "list", "--all"]);
    assert!(listed.out.contains("running"), "{}", listed.out);
    assert!(world.run(&["runs", "show"]).out.contains(&holder));
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = world.run(&["runs", "list", "--all"]);
    assert!(listed.out.contains("interrupted"), "{}", listed.out);
    let checked = world.run(&["doctor"]);
    assert!(checked.out.contains(&format!("crewagent resume {id}")), "{}", checked.out);
    let more = world.run(&["resume", &id, "--model", "scripted:tiny.yaml", "--input", "x"]);
    assert_eq!(more.code, 0, "{more:?}");
}
