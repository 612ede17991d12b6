//! What a run costs: the requests and bytes of one play of the story, as they are sent, against the bars of the contract
//! with models.

use std::collections::BTreeSet;
use std::fs;

use crewagent_core::event::Phase;
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_engine::disk::Disk;
use crewagent_engine::model::Endpoint;
use crewagent_engine::runtime::Runtime;
use crewagent_engine::tool_server::ToolServers;
use serde_json::{Value as Json, json};

use super::server::{Server, ServerAction, stream};
use super::{Chat, Client, endpoint};
use crate::golden_fixture::{GoldenFixture, drive, ticking};

const STATUS: &str = "development_status:\n  epic-1: in-progress\n  1-1-project-setup: done\n  1-2-user-authentication: backlog\n  1-3-note-crud: backlog\n";
const STORY: &str = "artifacts/stories/1-2-user-authentication.md";

/// Returns a text of this many bytes that begins with a line.
fn text(first: &str, bytes: usize) -> String {
    let mut text = format!("{first}\n");
    while text.len() < bytes {
        let line = "- a fact of the story, with its source (artifacts/epics.md:12)\n";
        text.push_str(&line[..line.len().min(bytes - text.len())]);
    }
    text.truncate(bytes);
    text
}

/// Returns a reply with words and calls, as a server streams it.
fn reply(words: &str, calls: &[(&str, Json)]) -> Vec<ServerAction> {
    let calls: Vec<Json> = calls
        .iter()
        .enumerate()
        .map(|(at, (name, arguments))| {
            json!({ "index": at, "id": format!("call_{at}"), "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() } })
        })
        .collect();
    let content = if words.is_empty() { Json::Null } else { words.into() };
    let delta = json!({ "role": "assistant", "content": content, "tool_calls": calls });
    let piece = |delta: Json, finish: Json| {
        json!({ "id": "x", "object": "chat.completion.chunk", "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
    };
    stream(&[piece(delta, Json::Null), piece(json!({}), "tool_calls".into())])
}

fn complete(variables: Json, files: &[(&str, String)]) -> (&'static str, Json) {
    let files: Vec<Json> =
        files.iter().map(|(path, content)| json!({ "path": path, "content": content })).collect();
    ("complete_node", json!({ "variables": variables, "files": files }))
}

/// Returns the calls of the play: per node the rounds, and in each round the calls that do not depend on each other.
fn rounds() -> Vec<Vec<(&'static str, Json)>> {
    let list = |path: &str, depth: u64| ("fs_list", json!({ "path": path, "depth": depth }));
    let search = |query: &str, path: &str| ("fs_search", json!({ "query": query, "path": path }));
    let target = json!({ "storyKey": "1-2-user-authentication", "epicNum": 1, "storyNum": 2,
        "storyTitle": "User Authentication", "sprintStatusPath": "artifacts/sprint-status.yaml" });
    let found = json!({ "epicsPath": "artifacts/epics.md", "prdPath": "none",
        "architecturePath": "artifacts/architecture.md", "uxPath": "none", "projectContextPath": "none" });
    let patch = json!({ "path": "artifacts/sprint-status.yaml", "edits": [
        { "old": "1-2-user-authentication: backlog", "new": "1-2-user-authentication: ready-for-dev" }] });
    vec![
        vec![complete(
            target,
            &[("artifacts/create-story/target.md", text("# Target story", 146))],
        )],
        vec![list("artifacts", 3), list("@project", 1)],
        vec![complete(found, &[("artifacts/create-story/inputs.md", text("# Inputs", 154))])],
        vec![
            search("Story 1.2", "artifacts/epics.md"),
            search("session", "artifacts/architecture.md"),
        ],
        vec![
            ("fs_read", json!({ "path": "artifacts/epics.md" })),
            ("fs_read", json!({ "path": "artifacts/architecture.md" })),
        ],
        vec![complete(
            json!({ "storySummary": "Users sign in." }),
            &[("artifacts/create-story/context.md", text("# Context", 1_513))],
        )],
        vec![("fs_write", json!({ "path": STORY, "content": text("# Story 1.2", 1_997) }))],
        vec![("fs_read", json!({ "path": STORY }))],
        vec![complete(json!({ "storyFile": STORY }), &[])],
        vec![("fs_apply_patch", patch), complete(json!({}), &[])],
        vec![complete(
            json!({}),
            &[("artifacts/create-story/summary.md", text("# Story created", 466))],
        )],
    ]
}

/// Plays the story with these replies, and returns the bodies of the requests.
fn play(replies: Vec<Vec<ServerAction>>) -> Vec<Json> {
    play_with(replies, &|_| {})
}

/// Plays the story with other settings. The user agrees to everything.
fn play_with(replies: Vec<Vec<ServerAction>>, set: &dyn Fn(&mut RunSettings)) -> Vec<Json> {
    let server = Server::start(replies);
    let golden_fixture = GoldenFixture::set("001-create-story-micro");
    let artifacts = golden_fixture.project().join("artifacts");
    fs::remove_dir_all(golden_fixture.project()).unwrap();
    fs::create_dir_all(&artifacts).unwrap();
    fs::write(artifacts.join("sprint-status.yaml"), STATUS).unwrap();
    fs::write(
        artifacts.join("epics.md"),
        text("# Epics\n\n### Story 1.2: User Authentication", 710),
    )
    .unwrap();
    fs::write(
        artifacts.join("architecture.md"),
        text("# Architecture\n\nA session lasts a day.", 338),
    )
    .unwrap();
    let store = golden_fixture.store(Disk::real());
    let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
    let mut plan = golden_fixture.plan();
    set(&mut plan.settings);
    let mut run = runtime.start(&plan).unwrap();
    let endpoint = Endpoint { model: "model".to_owned(), ..endpoint(server.url()) };
    let chat = Chat::new(endpoint, &Client::new().unwrap()).unwrap();
    loop {
        let rest = drive(&mut run, &chat, &mut Vec::new()).unwrap();
        if rest.question.is_none() {
            assert_eq!(rest.phase, Phase::Completed, "{rest:?}");
            break;
        }
        run.say("ok", &mut |_| {}).unwrap();
    }
    server.received().into_iter().map(|request| request.body).collect()
}

/// Returns the rules of a request, which stand before the persona.
fn rules(body: &Json) -> &str {
    let system = body["messages"][0]["content"].as_str().unwrap();
    system.split_once("\n\nYou are").unwrap().0
}

/// Returns the size of a text inside of JSON.
fn as_sent(text: &str) -> usize {
    json!(text).to_string().len() - 2
}

/// Returns the bytes of a request that are the runtime's own: tools, rules, RUN_DIRECTIVE, STATE_SUMMARY, and NODE_BRIEF
/// without the text of the step.
fn shell_bytes(body: &Json) -> usize {
    let messages = body["messages"].as_array().unwrap();
    let message = messages.iter().find(|message| message["role"] == "user").unwrap();
    let message = message["content"].as_str().unwrap();
    let (data, brief) = message.split_at(message.find("NODE_BRIEF\n").unwrap());
    let own = ["RUN_DIRECTIVE\n", "STATE_SUMMARY\n"];
    let own = data.split("\n\n").filter(|section| own.iter().any(|name| section.starts_with(name)));
    let own: usize = own.map(as_sent).sum();
    let step = brief.split_once("in full:\n").map_or(0, |(_, rest)| {
        let (fence, text) = rest.split_once('\n').unwrap();
        as_sent(text.split_once(&format!("\n{fence}\n")).unwrap().0)
    });
    body["tools"].to_string().len() + as_sent(rules(body)) + own + as_sent(brief) - step
}

/// Checks that the runtime's own text is less than half of what is sent.
#[track_caller]
#[allow(clippy::print_stdout, reason = "the number is told")]
fn check_shell_share(play: &str, bodies: &[Json]) {
    let shell: usize = bodies.iter().map(shell_bytes).sum();
    let share = shell * 1_000 / bytes(bodies).iter().sum::<usize>();
    println!("{play}: shell share {}.{} %", share / 10, share % 10);
    assert!(share <= 450, "{share}");
}

fn bytes(bodies: &[Json]) -> Vec<usize> {
    bodies.iter().map(|body| body.to_string().len()).collect()
}

#[test]
fn a_story_costs_few_requests_and_bytes() {
    let last = |at: usize, of: usize| if at + 1 == of { "The story is ready." } else { "" };
    let all = rounds();
    let together: Vec<_> =
        all.iter().enumerate().map(|(at, calls)| reply(last(at, all.len()), calls)).collect();
    let bodies = play(together);
    let sizes = bytes(&bodies);
    println!(
        "several calls a reply: {} requests, {} bytes {sizes:?}",
        sizes.len(),
        sizes.iter().sum::<usize>()
    );
    assert!(sizes.len() <= 11 && sizes.iter().sum::<usize>() <= 100_000, "{sizes:?}");
    assert!(sizes[0] <= 7_000 && sizes.iter().all(|size| *size <= 15_000), "{sizes:?}");

    let tools = bodies[0]["tools"].to_string();
    assert!(tools.len() <= 3_000, "{}", tools.len());
    check_shell_share("several calls a reply", &bodies);

    let single: Vec<Vec<(&str, Json)>> = all.into_iter().flatten().map(|call| vec![call]).collect();
    let count = single.len();
    let alone: Vec<_> =
        single.iter().enumerate().map(|(at, calls)| reply(last(at, count), calls)).collect();
    let bodies = play(alone);
    let sizes = bytes(&bodies);
    check_shell_share("one call a reply", &bodies);
    println!(
        "one call a reply: {} requests, {} bytes {sizes:?}",
        sizes.len(),
        sizes.iter().sum::<usize>()
    );
    assert!(sizes.len() <= 15 && sizes.iter().sum::<usize>() <= 140_000, "{sizes:?}");
}

#[test]
fn a_request_begins_with_the_one_before_it_at_the_same_node() {
    let all = rounds();
    let replies = all.iter().map(|calls| reply("Done.", calls)).collect();
    let bodies = play(replies);
    let node = |messages: &[Json]| messages.iter().find(|one| one["role"] == "user").cloned();
    for pair in bodies.windows(2) {
        let [before, after] = pair else { unreachable!() };
        let (old, new) =
            (before["messages"].as_array().unwrap(), after["messages"].as_array().unwrap());
        let is_same_node = node(old) == node(new);
        assert!(!is_same_node || new.starts_with(old), "{after}");
        // A new node has nothing of the old one but what is in its message.
        let is_fresh = new.iter().all(|one| one["role"] == "system" || one["role"] == "user");
        assert!(is_same_node || is_fresh, "{after}");
    }
}

#[test]
fn tools_and_rules_are_the_same_in_every_request_whoever_speaks_in_whatever_mode() {
    let replies = || rounds().iter().map(|calls| reply("Done.", calls)).collect::<Vec<_>>();
    let strict = |settings: &mut RunSettings| settings.policy.strict = true;
    let guided = |settings: &mut RunSettings| settings.mode = Mode::Guided;
    let bodies = [play(replies()), play_with(replies(), &strict), play_with(replies(), &guided)];
    let (tools, first) = (bodies[0][0]["tools"].to_string(), rules(&bodies[0][0]).to_owned());
    let mut personas = BTreeSet::new();
    for body in bodies.iter().flatten() {
        assert_eq!((body["tools"].to_string(), rules(body)), (tools.clone(), first.as_str()));
        personas.insert(body["messages"][0]["content"].as_str().unwrap());
    }
    assert_eq!(personas.len(), 2, "both agents spoke");
}
