//! Golden runs: each folder of `tests/golden` is played, and the result is compared with the accepted one.
//! `cargo xtask accept golden` rewrites the expectations; read the difference before you commit it.

pub(crate) mod journal;
mod record;
pub(crate) mod transcript;

use std::fs;
use std::path::Path;

use crewagent_core::event::{Event, EventKind, ToolEvent, ToolFinished};
use crewagent_engine::disk::Disk;
use crewagent_engine::runtime::Runtime;
use crewagent_engine::tool_server::ToolServers;

use crate::golden_fixture::{GoldenFixture, Played, golden, tree};

fn check_golden(name: &str) {
    let golden_fixture = GoldenFixture::set(name);
    let played = golden_fixture.play();
    let transcript = transcript::of(&played.events);
    compare_text(&golden_fixture.folder.join("transcript.txt"), &transcript);
    compare_tree(&golden_fixture.folder.join("expected"), &golden_fixture.project());
    journal::check(name, &played.events);
    assert_eq!(played.rest.phase, golden_fixture.script.ends.phase, "{name}: {:?}", played.rest);
    check_secrets(&golden_fixture, &played);
    check_requests(&golden_fixture, &played);
    if name == "009-hostile" {
        let refused = |event: &&Event| matches!(&event.kind, EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) if answer.refused.is_some());
        let calls = |event: &&Event| matches!(event.kind, EventKind::Tool(ToolEvent::Finished(_)));
        let (calls, refused) = (
            played.events.iter().filter(calls).count(),
            played.events.iter().filter(refused).count(),
        );
        let result = format!("{calls} calls, {refused} refused and journaled; 0 violations");
        crate::proofs::record::proven("P3", &result);
    }
}

/// Checks that no event, request, state document or project file holds a real path or a text that the script forbids.
fn check_secrets(golden_fixture: &GoldenFixture, played: &Played) {
    let scratch = golden_fixture.scratch().display().to_string();
    let check = |what: &str, text: &str| {
        assert!(!text.contains(&scratch), "a real path in {what}: {text}");
        for secret in &golden_fixture.script.never {
            assert!(!text.contains(secret), "{secret} in {what}: {text}");
        }
    };
    for event in &played.events {
        check("an event", &serde_json::to_string(event).unwrap());
    }
    for request in &played.requests {
        check("a request", request);
    }
    let runs = tree(&golden_fixture.scratch().join("home/projects"));
    for (name, content) in runs.iter().filter(|(name, _)| name.contains("/runs/")) {
        check(name, &String::from_utf8_lossy(content));
    }
    for (name, content) in tree(&golden_fixture.project()) {
        check(&name, &String::from_utf8_lossy(&content));
    }
}

/// Checks that the journal alone reproduces every request, byte for byte.
fn check_requests(golden_fixture: &GoldenFixture, played: &Played) {
    let store = golden_fixture.store(Disk::real());
    let again = Runtime::new(&store, ToolServers::none()).requests(&played.id).unwrap();
    assert_eq!(again.len(), played.requests.len());
    for (past, sent) in again.iter().zip(&played.requests) {
        assert_eq!(Some(&past.request.sha256), past.recorded_sha256.as_ref());
        assert_eq!(serde_json::to_string(&past.request.messages).unwrap(), *sent);
    }
}

fn updating() -> bool {
    crewagent_testkit::accept::is_accepting("golden")
}

pub(crate) fn compare_text(expected: &Path, actual: &str) {
    if updating() {
        fs::write(expected, actual).unwrap();
        return;
    }
    let text = fs::read_to_string(expected).unwrap_or_default();
    if text != actual {
        let at = text.lines().zip(actual.lines()).position(|(one, other)| one != other);
        let at = at.unwrap_or_else(|| text.lines().count().min(actual.lines().count()));
        let around = |text: &str| {
            text.lines().skip(at.saturating_sub(3)).take(9).collect::<Vec<_>>().join("\n")
        };
        panic!(
            "{} differs at line {}\n--- expected\n{}\n--- actual\n{}",
            expected.display(),
            at + 1,
            around(&text),
            around(actual)
        );
    }
}

fn compare_tree(expected: &Path, actual: &Path) {
    if updating() {
        let _ = fs::remove_dir_all(expected);
        crate::golden_fixture::copy(actual, expected);
        return;
    }
    let (expected, actual) = (tree(expected), tree(actual));
    let names = |of: &std::collections::BTreeMap<String, Vec<u8>>| {
        of.keys().filter(|name| !name.ends_with('/')).cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(&expected), names(&actual));
    for (name, content) in &actual {
        let before = expected.get(name).map(|bytes| String::from_utf8_lossy(bytes));
        let now = String::from_utf8_lossy(content);
        assert!(before.as_deref() == Some(&*now) || name.ends_with('/'), "{name} differs:\n{now}");
    }
}

macro_rules! golden_runs {
    ($($test:ident = $folder:literal;)*) => {
        $(#[test] fn $test() { check_golden($folder); })*

        #[test]
        fn every_golden_folder_is_played() {
            let mut found: Vec<String> = fs::read_dir(golden())
                .unwrap()
                .map(Result::unwrap)
                .filter(|entry| entry.file_type().unwrap().is_dir())
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect();
            found.sort();
            assert_eq!(found, [$($folder),*]);
        }
    };
}

golden_runs! {
    create_story_micro_is_played_to_its_end = "001-create-story-micro";
    the_green_branch_is_taken = "002-branch-greenfield";
    the_brown_branch_is_taken = "003-branch-brownfield";
    a_loop_is_left_by_its_exit = "004-loop-with-exit";
    a_completed_run_changes_only_with_the_users_word = "005-post-completion";
    a_run_goes_on_after_a_restart = "006-resume-after-restart";
    several_calls_in_one_reply_are_answered_in_order = "007-several-calls";
    a_model_that_tries_every_illegal_move_gets_home = "008-every-illegal-move";
    a_hostile_model_gets_nowhere = "009-hostile";
    a_strict_run_changes_its_state_by_tools_alone = "010-strict";
    a_form_is_asked_until_it_fits = "011-form";
    one_child_is_called_twice = "012-nested-review";
    a_child_waits_for_the_user = "013-child-waits";
    a_child_fails_and_is_called_again = "014-child-fails";
    three_levels_of_calls_return_one_by_one = "015-three-levels";
    a_write_waits_for_the_users_word = "016-approvals";
    a_package_may_tell_models_to_edit_the_state = "017-document-manner";
    the_user_decides_at_gates = "018-gates";
    a_document_of_an_imported_workflow_is_written = "020-imported-document";
}

#[test]
fn every_manner_ends_in_the_same_state() {
    let document = |name: &str| {
        let golden_fixture = GoldenFixture::set(name);
        let played = golden_fixture.play();
        let home = tree(&golden_fixture.scratch().join("home/projects"));
        let (_, text) = home.iter().find(|(name, _)| name.ends_with("state/workflow.md")).unwrap();
        let text = String::from_utf8_lossy(text).replace(played.id.as_str(), "RUN");
        let front = text.split("\n---\n").next().unwrap();
        // The packages differ in the manner that they tell, and the runs in their time.
        let is_same =
            |line: &&str| !line.starts_with("updatedAt:") && !line.starts_with("stateTools:");
        (
            front.lines().filter(is_same).collect::<Vec<_>>().join("\n"),
            tree(&golden_fixture.project()),
        )
    };
    assert_eq!(document("010-strict"), document("001-create-story-micro"));
    assert_eq!(document("017-document-manner"), document("001-create-story-micro"));
}
