//! Carrying out a change: it happens once, however often it is tried and wherever a process dies.

use std::path::PathBuf;

use crewagent_core::refusal::RefusalCode;
use crewagent_engine::tools::{ChangeOutcome, PlannedChange};
use serde_json::{Value as Json, json};

use super::fixture::{STATE, ToolsFixture};
use crate::disk_hook::{Fault, Recorder};
use crate::support::snapshot;

/// Content of a file when a process looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Before,
    After,
    Neither,
}

type Tree = Vec<(PathBuf, u32, Vec<u8>)>;

/// Returns the arguments of a call that writes two files, one of them new.
fn two_files() -> Json {
    let add = "*** Begin Patch\n*** Add File: artifacts/new/b.md\n+b\n*** End Patch\n";
    json!({"patches": [
        {"path": "a.md", "operation": "replace", "edits": [{"old": "a", "new": "A"}]},
        {"path": "artifacts/new/b.md", "operation": "diff", "diff": add}
    ]})
}

/// Returns a patch that moves a file and changes it.
fn moved() -> Json {
    let diff = "*** Begin Patch\n*** Update File: a.md\n*** Move to: moved/c.md\n@@\n-a\n+A\n*** End Patch\n";
    json!({"path": "a.md", "operation": "diff", "diff": diff})
}

fn calls() -> [(&'static str, Json); 8] {
    [
        ("fs.write", json!({"path": "a.md", "content": "new"})),
        ("fs.write", json!({"path": "a.md", "content": "more", "mode": "append"})),
        ("fs.write", json!({"path": "artifacts/x/y.md", "content": "new", "mode": "create"})),
        ("fs.apply_patch", two_files()),
        (
            "fs.apply_patch",
            json!({"path": STATE, "operation": "updateFrontmatter", "update": {"variables": {"set": {"x": 1}}}}),
        ),
        ("fs.move", json!({"path": "a.md", "to": "moved/to/b.md"})),
        ("fs.delete", json!({"path": "a.md"})),
        ("fs.apply_patch", moved()),
    ]
}

fn fixture() -> ToolsFixture {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "a\n");
    fixture
}

/// Returns the tree with names that do not depend on the scratch folder.
fn tree(fixture: &ToolsFixture) -> Tree {
    let root = fixture.scratch.path();
    let relative = |(path, mode, bytes): (PathBuf, u32, Vec<u8>)| {
        (path.strip_prefix(root).unwrap().to_owned(), mode, bytes)
    };
    snapshot(root).into_iter().map(relative).collect()
}

#[track_caller]
fn carry(
    fixture: &ToolsFixture,
    name: &str,
    arguments: &Json,
    change: &PlannedChange,
    planned: Option<&PlannedChange>,
) -> ChangeOutcome {
    let call = fixture.parse(name, arguments).unwrap();
    fixture.carry_out(&fixture.mounts, &call, &change.intent, planned).unwrap()
}

#[test]
fn carrying_out_twice_is_carrying_out_once() {
    for (name, arguments) in calls() {
        for with_plan in [true, false] {
            let fixture = fixture();
            let change = fixture.change(name, arguments.clone());
            let planned = with_plan.then_some(&change);
            let first = carry(&fixture, name, &arguments, &change, planned);
            assert_eq!(first.answer, change.intent.answer, "{arguments}");
            assert_eq!(first.state, change.intent.state);
            let after = tree(&fixture);
            for planned in [Some(&change), None] {
                assert_eq!(carry(&fixture, name, &arguments, &change, planned), first);
                assert_eq!(tree(&fixture), after);
            }
        }
    }
}

fn put_at(fixture: &ToolsFixture, change: &PlannedChange, index: usize, at: At) {
    let images = &change.files[index];
    let path = images.path.to_string();
    match (at, &images.before) {
        (At::Before, None) => {}
        (At::Before, Some(old)) => drop(fixture.put(&path, old)),
        (At::After, _) => drop(fixture.put(&path, images.after.as_ref().unwrap())),
        (At::Neither, _) => drop(fixture.put(&path, "somebody else's")),
    }
}

#[test]
fn every_mixture_of_before_and_after_is_settled_by_looking() {
    for one in [At::Before, At::After, At::Neither] {
        for two in [At::Before, At::After, At::Neither] {
            for with_plan in [true, false] {
                let fixture = fixture();
                let arguments = two_files();
                let change = fixture.change("fs.apply_patch", arguments.clone());
                put_at(&fixture, &change, 0, one);
                put_at(&fixture, &change, 1, two);
                let before = tree(&fixture);
                let planned = with_plan.then_some(&change);
                let outcome = carry(&fixture, "fs.apply_patch", &arguments, &change, planned);
                if one == At::Neither || two == At::Neither {
                    assert_eq!(outcome.answer.refused, Some(RefusalCode::Precondition));
                    assert_eq!((outcome.state, tree(&fixture)), (None, before), "{one:?} {two:?}");
                    let told = outcome.answer.result.inline().unwrap();
                    let path = if one == At::Neither {
                        "@project/a.md"
                    } else {
                        "@project/artifacts/new/b.md"
                    };
                    assert!(told.contains(&format!("`{path}` changed under this call")), "{told}");
                    let is_half = one == At::After || two == At::After;
                    assert_eq!(told.contains("\"changed\":["), is_half, "{told}");
                } else {
                    assert_eq!(outcome.answer, change.intent.answer);
                    assert_eq!(fixture.text("@project/a.md"), "A\n");
                    assert_eq!(fixture.text("@project/artifacts/new/b.md"), "b\n");
                }
            }
        }
    }
}

#[test]
fn a_file_that_changes_after_the_plan_is_left_alone() {
    for (name, arguments) in calls() {
        let fixture = fixture();
        let change = fixture.change(name, arguments.clone());
        put_at(&fixture, &change, 0, At::Neither);
        let before = tree(&fixture);
        let outcome = carry(&fixture, name, &arguments, &change, Some(&change));
        assert_eq!(outcome.answer.refused, Some(RefusalCode::Precondition), "{arguments}");
        assert_eq!((outcome.state, tree(&fixture)), (None, before));
    }
}

#[test]
fn a_plan_that_cannot_be_repeated_is_refused() {
    let fixture = fixture();
    let arguments = json!({"path": "a.md", "content": "new"});
    let mut change = fixture.change("fs.write", arguments.clone());
    change.intent.files[0].after = Some("0".repeat(64));
    let outcome = carry(&fixture, "fs.write", &arguments, &change, None);
    assert_eq!(outcome.answer.refused, Some(RefusalCode::Precondition));
    assert_eq!(fixture.text("@project/a.md"), "a\n");
    // The time of the plan counts, not that of the repetition.
    let update = json!({"path": STATE, "operation": "updateFrontmatter", "update": {"variables": {"set": {"x": 1}}}});
    let change = fixture.change("fs.apply_patch", update.clone());
    let mut other = change.clone();
    other.intent.time = "2027-01-01T00:00:00Z".to_owned();
    let outcome = carry(&fixture, "fs.apply_patch", &update, &other, None);
    assert_eq!(outcome.answer.refused, Some(RefusalCode::Precondition));
    let outcome = carry(&fixture, "fs.apply_patch", &update, &change, None);
    assert_eq!(outcome.answer.refused, None);
}

/// Carries out a change on a disk that fails somewhere; then another process does the rest.
fn check_fault(name: &str, arguments: &Json, fault: Fault, expected: &Tree) -> bool {
    let fixture = fixture();
    let change = fixture.change(name, arguments.clone());
    let before = tree(&fixture);
    let call = fixture.parse(name, arguments).unwrap();
    let recorder = Recorder::new(fault);
    let mounts = ToolsFixture::mount(fixture.scratch.path(), recorder.disk());
    let first = fixture.carry_out(&mounts, &call, &change.intent, Some(&change));
    if recorder.fired() == 0 {
        assert_eq!(first.unwrap().answer, change.intent.answer);
        return false;
    }
    match first {
        // The disk failed: the model got no answer, and the next process makes the change.
        Err(_) => {
            let outcome = carry(&fixture, name, arguments, &change, None);
            assert_eq!(outcome.answer, change.intent.answer, "{fault:?} {arguments}");
            assert_eq!(outcome.state, change.intent.state);
            assert_eq!(&without_litter(tree(&fixture)), expected, "{fault:?} {arguments}");
        }
        // A refusal is final, so nothing may have changed.
        Ok(outcome) if outcome.answer.refused.is_some() => {
            assert_eq!(files(&tree(&fixture)), files(&before), "{fault:?} {arguments}");
        }
        Ok(outcome) => {
            assert_eq!(outcome.answer, change.intent.answer);
            assert_eq!(&without_litter(tree(&fixture)), expected, "{fault:?} {arguments}");
        }
    }
    true
}

fn is_litter(path: &std::path::Path) -> bool {
    path.to_string_lossy().ends_with(".tmp")
}

fn without_litter(tree: Tree) -> Tree {
    tree.into_iter().filter(|(path, ..)| !is_litter(path)).collect()
}

/// Returns only files: an undone write may leave an empty folder, and an interrupted one a temporary file.
fn files(tree: &Tree) -> Vec<(&PathBuf, &Vec<u8>)> {
    let files = tree.iter().filter(|(path, _, bytes)| !bytes.is_empty() && !is_litter(path));
    files.map(|(path, _, bytes)| (path, bytes)).collect()
}

/// Lets a process die or its disk fail before every single operation.
fn check_every_operation(index: usize) {
    const EIO: i32 = 5;
    const EACCES: i32 = 13;
    const ENOSPC: i32 = 28;
    let (name, arguments) = calls().into_iter().nth(index).unwrap();
    let expected = {
        let fixture = fixture();
        let change = fixture.change(name, arguments.clone());
        carry(&fixture, name, &arguments, &change, Some(&change));
        tree(&fixture)
    };
    let mut points = 0;
    // The first three operations open the mounts.
    for at in 3.. {
        let faults = [
            Fault::Crash(at),
            Fault::Torn(at),
            Fault::Once(at, EIO),
            Fault::Once(at, EACCES),
            Fault::Always(at, ENOSPC),
        ];
        if !faults.map(|fault| check_fault(name, &arguments, fault, &expected)).contains(&true) {
            break;
        }
        points += 1;
    }
    let least = if name == "fs.delete" { 4 } else { 8 };
    assert!(points >= least, "{arguments}: {points}");
}

#[test]
fn an_overwrite_survives_a_fault_at_every_operation() {
    check_every_operation(0);
}

#[test]
fn an_append_survives_a_fault_at_every_operation() {
    check_every_operation(1);
}

#[test]
fn a_new_file_survives_a_fault_at_every_operation() {
    check_every_operation(2);
}

#[test]
fn two_files_survive_a_fault_at_every_operation() {
    check_every_operation(3);
}

#[test]
fn the_state_survives_a_fault_at_every_operation() {
    check_every_operation(4);
}

#[test]
fn a_move_survives_a_fault_at_every_operation() {
    check_every_operation(5);
}

#[test]
fn a_removal_survives_a_fault_at_every_operation() {
    check_every_operation(6);
}

#[test]
fn a_move_with_a_change_survives_a_fault_at_every_operation() {
    check_every_operation(7);
}

#[test]
fn files_that_were_written_are_undone_when_a_later_one_fails() {
    let mut undone = 0;
    for at in 3..200 {
        let fixture = fixture();
        let change = fixture.change("fs.apply_patch", two_files());
        let before = tree(&fixture);
        let call = fixture.parse("fs.apply_patch", &two_files()).unwrap();
        let recorder = Recorder::new(Fault::Once(at, 28));
        let mounts = ToolsFixture::mount(fixture.scratch.path(), recorder.disk());
        let result = fixture.carry_out(&mounts, &call, &change.intent, Some(&change));
        if recorder.fired() == 0 {
            break;
        }
        if result.is_err() {
            assert_eq!(files(&tree(&fixture)), files(&before), "{at}: {:?}", recorder.log());
            undone +=
                usize::from(recorder.log().iter().any(|line| line.ends_with("-> @project/a.md")));
        }
    }
    assert!(undone >= 5, "{undone}");
}
