//! Every golden run is recorded from its journal, and the recording is played on a fresh copy of the project.
//!
//! All of them give the same result; 009 has an argument of fifty megabytes, which a recording writes as a letter and a
//! number. A run whose state document was changed by hand, or whose journal was lost in part, would not: a scenario
//! does not hold changes from outside. Such a recording says so in its first lines.

use crewagent_core::event::{
    AssistantMessage, Event, EventKind, ModelEvent, Reply, ToolEvent, ToolFinished,
};
use crewagent_core::tool::canonical;
use crewagent_engine::disk::Disk;
use crewagent_scenario::record::scenario;
use crewagent_scenario::scripted::Scripted;
use serde_json::Value as Json;

use crate::golden_fixture::{GoldenFixture, Played, tree};

fn check_recorded(name: &str) {
    let mut golden_fixture = GoldenFixture::set(name);
    let first = golden_fixture.play();
    let left = left(&golden_fixture, &first);
    let text = record(&golden_fixture, &first);
    golden_fixture.model = Scripted::parse("recorded.yaml", &text).unwrap();
    golden_fixture.reset_project();
    let again = golden_fixture.play();
    check_same(&golden_fixture, (&first, &left), &again, &text);
    assert_eq!(
        without_comments(&record(&golden_fixture, &again)),
        without_comments(&text),
        "a recording records as itself"
    );
    if !golden_fixture.script.restart_after.is_empty() {
        // One process can do what several did.
        golden_fixture.script.restart_after.clear();
        golden_fixture.reset_project();
        let again = golden_fixture.play();
        check_same(&golden_fixture, (&first, &left), &again, &text);
    }
}

fn record(golden_fixture: &GoldenFixture, played: &Played) -> String {
    let view = golden_fixture.store(Disk::real()).runs().look(&played.id).unwrap();
    let blobs = |digest| view.blobs.text(digest).ok();
    scenario("again", &view.recovered.events, &blobs, &str::to_owned).unwrap()
}

/// Returns what a run leaves: files of the project, and its state without parts that differ from run to run.
fn left(golden_fixture: &GoldenFixture, played: &Played) -> Vec<(String, Vec<u8>)> {
    let mut left: Vec<(String, Vec<u8>)> = tree(&golden_fixture.project()).into_iter().collect();
    let documents = tree(&golden_fixture.scratch().join("home/projects"));
    let document = documents.iter().find(|(name, _)| name.ends_with("/state/workflow.md")).unwrap();
    let text = String::from_utf8(document.1.clone()).unwrap();
    let text = text.replace(&played.id.to_string(), "RUN");
    let is_time = |line: &&str| line.contains("2026-11-15T");
    let lines: Vec<&str> = text.lines().filter(|line| !is_time(line)).collect();
    assert!(text.lines().count() - lines.len() < 6, "{text}");
    left.push(("@state/workflow.md".to_owned(), lines.join("\n").into_bytes()));
    left
}

fn check_same(
    golden_fixture: &GoldenFixture,
    first: (&Played, &[(String, Vec<u8>)]),
    again: &Played,
    text: &str,
) {
    let (first, files) = first;
    assert_eq!(again.rest, first.rest, "{text}");
    let (one, other) = (replies(first), replies(again));
    assert_eq!(one.len(), other.len(), "{text}");
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other);
    }
    assert_eq!(verdicts(&first.events), verdicts(&again.events));
    let now = left(golden_fixture, again);
    let names =
        |of: &[(String, Vec<u8>)]| of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&now), names(files));
    for ((name, before), (_, now)) in files.iter().zip(&now) {
        assert_eq!(String::from_utf8_lossy(before), String::from_utf8_lossy(now), "{name}");
    }
}

/// Returns everything the model said, without the ids of its calls.
fn replies(played: &Played) -> Vec<Json> {
    let reply = |reply: &Reply| {
        let calls: Vec<Json> = reply
            .tool_calls
            .iter()
            .map(|call| {
                let name = canonical(&call.name).unwrap_or(&call.name);
                let digest = call.arguments.digest().to_string();
                let value = call.arguments.inline().map(|text| {
                    let value = serde_json::from_str::<Json>(text).ok().filter(Json::is_object);
                    value.unwrap_or_else(|| text.to_string().into())
                });
                serde_json::json!([name, value.unwrap_or_else(|| digest.into())])
            })
            .collect();
        serde_json::json!([reply.content, reply.extra, reply.finish, reply.usage, calls])
    };
    let replies = played.events.iter().filter_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::Replied(AssistantMessage { reply: said, .. })) => {
            Some(reply(said))
        }
        _ => None,
    });
    replies.collect()
}

fn verdicts(events: &[Event]) -> Vec<(String, Json)> {
    let verdict = |event: &Event| match &event.kind {
        EventKind::Tool(ToolEvent::Finished(ToolFinished { tool, answer, .. })) => {
            Some((tool.clone(), serde_json::to_value(answer.refused).unwrap()))
        }
        _ => None,
    };
    events.iter().filter_map(verdict).collect()
}

/// Returns the recording without its comments.
fn without_comments(text: &str) -> String {
    let is_comment = |line: &&str| line.trim_start().starts_with("# ");
    text.lines().filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
}

macro_rules! recorded {
    ($($test:ident = $folder:literal;)*) => {
        $(#[test] fn $test() { check_recorded($folder); })*
    };
}

recorded! {
    the_story_is_recorded = "001-create-story-micro";
    the_green_branch_is_recorded = "002-branch-greenfield";
    the_brown_branch_is_recorded = "003-branch-brownfield";
    a_loop_is_recorded = "004-loop-with-exit";
    talk_after_the_end_is_recorded = "005-post-completion";
    a_run_of_three_processes_is_recorded = "006-resume-after-restart";
    several_calls_are_recorded = "007-several-calls";
    every_refusal_is_recorded = "008-every-illegal-move";
    a_hostile_run_is_recorded = "009-hostile";
    two_calls_of_one_workflow_are_recorded = "012-nested-review";
    a_call_that_fails_is_recorded = "014-child-fails";
    calls_in_calls_are_recorded = "015-three-levels";
}
