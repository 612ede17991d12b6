//! Whole runs with misbehaving servers: nothing invalid is stored, and the next request is valid.

use crewagent_adapters::chat::{Chat, Client};
use crewagent_core::context::tokens_of;
use crewagent_core::event::{
    AssistantDelta, AssistantMessage, EventKind, ModelEvent, ModelOverflowed, ModelRetried,
    ModelStopped, Phase, Reason, RunEvent, RunResumed, StoppedBy, TurnStarted,
};
use crewagent_dialect::profile::Profile;
use crewagent_engine::control::Control;
use crewagent_engine::disk::Disk;
use crewagent_engine::model::{Endpoint, Model as _, Timeouts};
use crewagent_engine::runtime::{Runtime, SettingsChange};
use crewagent_engine::store::RunId;
use crewagent_engine::tool_server::ToolServers;
use serde_json::{Value as Json, json};

use super::cells::{Cell, Outcome, cells, finish, words};
use super::server::{Server, ServerAction, stream};
use super::{chat, chat_with, endpoint};
use crate::golden_fixture::{GoldenFixture, drive, ticking};

/// Returns a reply that asks the user, so that the run waits.
fn fine() -> Vec<ServerAction> {
    stream(&[words("Hel"), words("lo?"), finish("stop")])
}

/// Checks the rules of every provider for a request.
fn check_valid(name: &str, body: &Json) {
    let messages = body["messages"].as_array().unwrap_or_else(|| panic!("{name}: no messages"));
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            assert_eq!(open.first(), Some(&id), "{name}: an answer out of order");
            open.remove(0);
            assert!(message["content"].is_string(), "{name}");
            continue;
        }
        assert!(open.is_empty(), "{name}: {open:?} are not answered");
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        assert!(
            !calls.is_empty()
                || message["content"].as_str().is_some_and(|text| !text.trim().is_empty()),
            "{name}"
        );
        for call in calls {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(
                serde_json::from_str::<Json>(arguments).unwrap().is_object(),
                "{name}: {arguments:.100}"
            );
            let tool = call["function"]["name"].as_str().unwrap();
            let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(
                !tool.is_empty() && tool.len() <= 64 && tool.chars().all(is_legal),
                "{name}: {tool:?}"
            );
            open.push(call["id"].as_str().unwrap());
        }
        let mut ids = open.clone();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), open.len(), "{name}: an id twice");
    }
    assert!(open.is_empty(), "{name}: {open:?} are not answered");
}

fn check_run(cell: &Cell) {
    let name = &cell.name;
    let mut answers = cell.answers.clone();
    if !matches!(cell.outcome, Outcome::Error(..)) {
        answers.push(fine());
    }
    let server = Server::start(answers);
    let golden_fixture = GoldenFixture::set("001-create-story-micro");
    let store = golden_fixture.store(Disk::real());
    let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
    let mut run = runtime.start(&golden_fixture.plan()).unwrap();
    let id = RunId::parse(run.id()).unwrap();
    let mut events = Vec::new();
    let driven = drive(&mut run, &chat_with(server.url(), cell.timeouts), &mut events);
    drop(run);
    match (&cell.outcome, &driven) {
        (Outcome::Error(..), Err(halt)) => assert_eq!(halt.reason(), Reason::Model, "{name}"),
        (Outcome::Error(..), Ok(rest)) => {
            assert_eq!(rest.reason, Some(Reason::LimitWindow), "{name}: {rest:?}");
        }
        (_, Ok(rest)) => assert_eq!(rest.phase, Phase::WaitingUser, "{name}"),
        (_, Err(halt)) => panic!("{name}: {halt}"),
    }
    // Another process resumes, with a server that works.
    let better = Server::start(vec![fine()]);
    let mut run = runtime.resume(&id, &SettingsChange::default()).unwrap();
    if driven.is_ok() {
        run.say("Go on.", &mut |_| {}).unwrap();
    }
    let rest = drive(&mut run, &chat(better.url()), &mut events).unwrap();
    assert_eq!(rest.phase, Phase::WaitingUser, "{name}");
    let all = server.received().into_iter().chain(better.received());
    for request in all {
        check_valid(name, &request.body);
    }
    assert!(!better.received().is_empty(), "{name}");
}

#[test]
fn whatever_a_server_does_the_run_goes_on_with_a_valid_request() {
    let cells = cells();
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(cell) =
                    cells.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst))
                {
                    check_run(cell);
                }
            });
        }
    });
    let count = cells.len();
    crewagent_testkit::report::proven(
        "L1",
        &format!("{count} cells, each on its own and in a run that continues after it; 0 failures"),
    );
}

/// Returns a stream that calls a tool with these arguments, and ends with this reason.
fn calls(tool: &str, arguments: &str, reason: &str) -> Vec<ServerAction> {
    let function = json!({"name": tool, "arguments": arguments});
    let call = json!({"index": 0, "id": "a", "type": "function", "function": function});
    stream(&[json!({"choices": [{"delta": {"tool_calls": [call]}}]}), finish(reason)])
}

#[test]
fn a_call_that_was_cut_off_is_never_executed_and_the_model_is_told() {
    let whole = r##"{"path":"@project/notes.md","content":"# Notes"}"##;
    for cut in 1..whole.len() {
        // Cutting the white space after the end changes nothing, so there is none here.
        for reason in ["tool_calls", "length", "stop"] {
            if cut % 7 != 0 && reason != "tool_calls" {
                continue;
            }
            let server = Server::start(vec![calls("fs_write", &whole[..cut], reason), fine()]);
            let golden_fixture = GoldenFixture::set("001-create-story-micro");
            let store = golden_fixture.store(Disk::real());
            let mut run = Runtime::new(&store, ToolServers::none())
                .by(ticking())
                .start(&golden_fixture.plan())
                .unwrap();
            drive(&mut run, &chat(server.url()), &mut Vec::new()).unwrap();
            assert!(!golden_fixture.project().join("notes.md").exists(), "{cut} {reason}");
            let told = server.received()[1].body["messages"].to_string();
            let is_told = told.contains("its arguments end before they are closed");
            assert!(is_told, "{cut} {reason}");
        }
    }
}

#[test]
fn the_whole_call_is_executed_whatever_the_reason_says() {
    let whole = r##"{"path":"@project/notes.md","content":"# Notes"}"##;
    for reason in ["tool_calls", "stop", "eos"] {
        let server = Server::start(vec![calls("fs_write", whole, reason), fine()]);
        let golden_fixture = GoldenFixture::set("001-create-story-micro");
        let store = golden_fixture.store(Disk::real());
        let mut run = Runtime::new(&store, ToolServers::none())
            .by(ticking())
            .start(&golden_fixture.plan())
            .unwrap();
        drive(&mut run, &chat(server.url()), &mut Vec::new()).unwrap();
        assert!(golden_fixture.project().join("notes.md").exists(), "{reason}");
    }
}

#[test]
fn the_same_failing_call_for_ever_ends() {
    let server =
        Server::start(vec![calls("fs_read", r#"{"path":"@project/none.md"}"#, "tool_calls")]);
    let golden_fixture = GoldenFixture::set("001-create-story-micro");
    let store = golden_fixture.store(Disk::real());
    let mut run = Runtime::new(&store, ToolServers::none())
        .by(ticking())
        .start(&golden_fixture.plan())
        .unwrap();
    let rest = drive(&mut run, &chat(server.url()), &mut Vec::new()).unwrap();
    assert_eq!(rest.reason, Some(Reason::Loop));
    assert!(server.received().len() < 10);
}

#[test]
fn thoughts_go_back_where_the_provider_wants_them() {
    let thought = json!({"choices": [{"delta": {"reasoning_content": "hmm"}}]});
    let function = json!({"name": "fs_list", "arguments": "{\"path\":\"@project/\"}"});
    let call = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": function}]}}]});
    for (profile, echoed) in [("deepseek", Some("hmm")), ("generic", None)] {
        let server = Server::start(vec![
            stream(&[thought.clone(), call.clone(), finish("tool_calls")]),
            fine(),
        ]);
        let built_in = Profile::built_in(profile).unwrap().clone();
        let endpoint = Endpoint {
            profile: built_in,
            profile_name: profile.to_owned(),
            ..endpoint(server.url())
        };
        let model = Chat::new(endpoint, &Client::new().unwrap()).unwrap();
        let golden_fixture = GoldenFixture::set("001-create-story-micro");
        let store = golden_fixture.store(Disk::real());
        let mut run = Runtime::new(&store, ToolServers::none())
            .by(ticking())
            .start(&golden_fixture.plan())
            .unwrap();
        drive(&mut run, &model, &mut Vec::new()).unwrap();
        let second = &server.received()[1].body["messages"];
        let spoke = second
            .as_array()
            .unwrap()
            .iter()
            .find(|message| message["role"] == "assistant")
            .unwrap();
        assert_eq!(spoke["reasoning_content"].as_str(), echoed, "{profile}: {spoke}");
    }
}

#[test]
fn a_retry_is_recorded_and_its_words_are_void() {
    let torn = vec![
        super::server::stream_head(),
        ServerAction::Send(super::events(&[super::words("Half")])),
        ServerAction::Close,
    ];
    let server = Server::start(vec![torn, fine()]);
    let golden_fixture = GoldenFixture::set("001-create-story-micro");
    let store = golden_fixture.store(Disk::real());
    let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
    let mut run = runtime.start(&golden_fixture.plan()).unwrap();
    let mut events = Vec::new();
    drive(&mut run, &chat(server.url()), &mut events).unwrap();
    let retried = events.iter().filter(|event| {
        matches!(event.kind, EventKind::Model(ModelEvent::Retried(ModelRetried { attempt: 1, .. })))
    });
    assert_eq!(retried.count(), 1);
    let view = store.runs().look(&RunId::parse(run.id()).unwrap()).unwrap();
    let kept = view
        .recovered
        .events
        .iter()
        .any(|event| matches!(event.kind, EventKind::Model(ModelEvent::Retried(_))));
    assert!(kept, "the retry is not in the journal");
    let words = events.iter().filter_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) => {
            reply.content.as_deref()
        }
        _ => None,
    });
    assert_eq!(words.collect::<Vec<_>>(), ["Hello?"]);
}

#[test]
fn what_had_come_when_the_user_stopped_is_kept_and_the_model_is_asked_anew() {
    let talking = vec![
        super::server::stream_head(),
        ServerAction::Send(super::events(&[super::words("Half a "), super::words("sentence")])),
        ServerAction::Hang,
    ];
    let server = Server::start(vec![talking, fine()]);
    let golden_fixture = GoldenFixture::set("001-create-story-micro");
    let store = golden_fixture.store(Disk::real());
    let mut run = Runtime::new(&store, ToolServers::none())
        .by(ticking())
        .start(&golden_fixture.plan())
        .unwrap();
    let (model, control) = (chat(server.url()), Control::default());
    let mut heard = String::new();
    let rest = run.drive(&model, &control, &mut |event| {
        if let EventKind::Model(ModelEvent::Delta(AssistantDelta { text, .. })) = &event.kind {
            heard.push_str(text);
        }
        // The user stops it at this point.
        if heard == "Half a sentence" {
            control.stop();
        }
    });
    assert_eq!(rest.unwrap().reason, Some(Reason::Stopped));
    let id = RunId::parse(run.id()).unwrap();
    let kept = store.runs().look(&id).unwrap().recovered.events;
    let stopped = kept
        .into_iter()
        .map(|event| event.kind)
        .find(|kind| matches!(kind, EventKind::Model(ModelEvent::Stopped(_))));
    let (turn, by, partial) = (1, StoppedBy::User, Some("Half a sentence".to_owned()));
    assert_eq!(stopped, Some(EventKind::from(ModelStopped { turn, by, partial })));
    control.renew();
    run.drive(&model, &control, &mut |_| {}).unwrap();
    let asked = server.received();
    assert_eq!(asked[0].body["messages"], asked[1].body["messages"]);
}

#[test]
fn a_run_whose_time_is_over_waits_for_no_model() {
    let slow = || {
        let half = ServerAction::Send(super::events(&[super::words("Half")]));
        vec![super::server::stream_head(), half, ServerAction::Hang]
    };
    let server = Server::start(vec![slow(), slow(), fine()]);
    let model = chat_with(server.url(), Timeouts::default());
    let golden_fixture = GoldenFixture::set("001-create-story-micro");
    let store = golden_fixture.store(Disk::real());
    let runtime = Runtime::new(&store, ToolServers::none());
    let mut plan = golden_fixture.plan();
    plan.settings.limits.seconds = Some(1);
    let mut run = runtime.start(&plan).unwrap();
    let id = RunId::parse(run.id()).unwrap();
    let mut events = Vec::new();
    let rest = drive(&mut run, &model, &mut events).unwrap();
    assert_eq!((rest.phase, rest.reason), (Phase::WaitingUser, Some(Reason::LimitTime)));
    let partial = Some("Half".to_owned());
    let stopped = EventKind::from(ModelStopped { turn: 1, by: StoppedBy::Time, partial });
    assert!(events.iter().any(|event| event.kind == stopped));
    // The user may continue, in this process and in another one; the record fits both.
    run.say("Go on.", &mut |_| {}).unwrap();
    let rest = drive(&mut run, &model, &mut events).unwrap();
    assert_eq!(rest.reason, Some(Reason::LimitTime));
    drop(run);
    let mut run = runtime.resume(&id, &SettingsChange::default()).unwrap();
    let rest = drive(&mut run, &model, &mut events).unwrap();
    assert_eq!(rest.phase, Phase::WaitingUser, "{rest:?}");
    let is_fresh = |kind: &EventKind| {
        matches!(kind, EventKind::Run(RunEvent::Resumed(RunResumed { fresh: true, .. })))
    };
    let kept = store.runs().look(&id).unwrap().recovered.events;
    assert!(!kept.iter().any(|event| is_fresh(&event.kind)), "the record did not fit");
    assert_eq!(server.received().len(), 3);
}

#[test]
fn a_request_that_does_not_fit_together_with_its_tools_is_not_sent() {
    let play = |window: Option<u64>| {
        let server = Server::start(vec![fine()]);
        let golden_fixture = GoldenFixture::set("001-create-story-micro");
        let store = golden_fixture.store(Disk::real());
        let mut plan = golden_fixture.plan();
        plan.settings.window_tokens = window.unwrap_or(plan.settings.window_tokens);
        let mut run = Runtime::new(&store, ToolServers::none()).by(ticking()).start(&plan).unwrap();
        let mut events = Vec::new();
        let rest = drive(&mut run, &chat(server.url()), &mut events).unwrap();
        (events, rest, server.received().len())
    };
    let (events, _, asked) = play(None);
    assert_eq!(asked, 1);
    let messages = events.iter().find_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::TurnStarted(TurnStarted { request, .. })) => {
            Some(tokens_of(request.bytes))
        }
        _ => None,
    });
    // The messages alone leave a quarter free, and somewhat more for the syntax around them.
    let (events, rest, asked) = play(Some(messages.unwrap() * 4 / 3 + 50));
    assert_eq!((rest.reason, asked), (Some(Reason::LimitWindow), 0), "{rest:?}");
    let told = events.iter().find_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::Overflowed(ModelOverflowed { message, .. })) => {
            Some(message.as_str())
        }
        _ => None,
    });
    assert!(told.is_some_and(|message| message.contains("for tools")), "{told:?}");
}

#[test]
fn a_request_is_announced_with_its_model_and_its_size_as_sent() {
    let server = Server::start(vec![fine()]);
    let golden_fixture = GoldenFixture::set("001-create-story-micro");
    let store = golden_fixture.store(Disk::real());
    let plan = golden_fixture.plan();
    let mut run = Runtime::new(&store, ToolServers::none()).by(ticking()).start(&plan).unwrap();
    let mut events = Vec::new();
    let model = chat(server.url());
    drive(&mut run, &model, &mut events).unwrap();
    let started = events.iter().find_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::TurnStarted(started)) => Some(started),
        _ => None,
    });
    let TurnStarted { model: name, rendered, tier, .. } = started.unwrap();
    assert_eq!((name.as_deref(), *tier), (Some(model.name()), None));
    let length = format!("content-length: {}", rendered.unwrap());
    assert!(server.received()[0].head.lines().any(|line| line == length), "{length}");
}
