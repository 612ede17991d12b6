//! Plays a slip through the real adapter, and checks what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crewagent_adapters::chat::{Chat, Client};
use crewagent_core::event::{
    Event, EventKind, ModelEvent, Phase, StateEvent, ToolEvent, ToolFinished, UserEvent,
};
use crewagent_core::refusal::RefusalCode;
use crewagent_core::run::machine::Rest;
use crewagent_dialect::profile::{CallsInText, Profile};
use crewagent_engine::control::Control;
use crewagent_engine::disk::Disk;
use crewagent_engine::model::Endpoint;
use crewagent_engine::runtime::Runtime;
use crewagent_engine::tool_server::ToolServers;
use serde_json::Value as Json;

use super::slip::{Shown, Slip, Worth};
use crate::golden_fixture::{GoldenFixture, ticking, tree};
use crate::wire::endpoint;
use crate::wire::server::Server;

/// Number of slips that are played at the same time; they mostly wait for the disk.
const THREADS: usize = 4;

/// Plays all slips of a group, and reports every one that fails.
#[track_caller]
pub(crate) fn check_group(slips: &[Slip]) {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(slip) = slips.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if catch_unwind(AssertUnwindSafe(|| check(slip))).is_err() {
                        failed.lock().unwrap().insert(slip.number);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "slips that failed: {failed:?}");
}

/// The outcome of a run.
struct Outcome {
    /// Bodies of the requests.
    bodies: Vec<Json>,
    events: Vec<Event>,
    /// Rests of the run, with the number of requests before each and the files at that time.
    rests: Vec<(Rest, usize, BTreeMap<String, String>)>,
    /// Folder that no request may name.
    scratch: String,
}

fn run(slip: &Slip) -> Outcome {
    let (replies, first) = slip.all();
    let server = Server::start(replies.iter().map(super::reply::Reply::stream).collect());
    let fixture = GoldenFixture::set(slip.play.golden);
    let project = fixture.project();
    fs::remove_dir_all(&project).unwrap();
    fs::create_dir_all(&project).unwrap();
    slip.play.project.iter().for_each(|(path, text)| write(&project.join(path), text));
    let store = fixture.store(Disk::real());
    let mut plan = fixture.plan();
    plan.settings.policy.strict = slip.is_strict;
    let calls_in_text = if slip.is_tagged { CallsInText::Tagged } else { CallsInText::All };
    let profile = Profile { calls_in_text, ..Profile::built_in("generic").unwrap().clone() };
    let chat = Chat::new(Endpoint { profile, ..endpoint(server.url()) }, &Client::new().unwrap());
    let chat = chat.unwrap();
    let mut run = Runtime::new(&store, ToolServers::none()).by(ticking()).start(&plan).unwrap();
    let mut events = run.opening().to_vec();
    let mut rests = Vec::new();
    let mut answers = slip.answers.iter();
    loop {
        let rest = run.drive(&chat, &Control::default(), &mut |event| {
            if let EventKind::Model(ModelEvent::TurnStarted(turn)) = &event.kind
                && turn.turn == first as u64 + 1
                && let Some((path, text)) = &slip.outside
            {
                write(&project.join(path), text);
            }
            events.push(event.clone());
        });
        rests.push((rest.unwrap(), server.received().len(), files(&project)));
        let Some(words) = answers.next() else { break };
        run.say(words, &mut |event| events.push(event.clone())).unwrap();
    }
    let bodies = server.received().into_iter().map(|request| request.body).collect();
    Outcome { bodies, events, rests, scratch: fixture.scratch().to_str().unwrap().to_owned() }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the texts of all files of the project.
fn files(project: &Path) -> BTreeMap<String, String> {
    let all = tree(project).into_iter().filter(|(path, _)| !path.ends_with('/'));
    all.map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap())).collect()
}

fn check(slip: &Slip) {
    let number = slip.number;
    let outcome = run(slip);
    let (all, first) = slip.all();
    for (at, (_, shown)) in slip.replies.iter().enumerate() {
        let (before, after) = (&outcome.bodies[first + at], outcome.bodies.get(first + at + 1));
        shown.iter().for_each(|shown| check_shown(number, before, after, shown));
    }
    let (last, stops) = outcome.rests.split_last().unwrap();
    let asked = first + slip.replies.len();
    match slip.worth {
        // The repaired call is the last reply of the slip, or the one behind it.
        Worth::Digit(0) => assert!(stops.is_empty(), "{number}"),
        Worth::Digit(digit) => assert!(slip.replies.len() <= digit, "{number}"),
        Worth::User(reason) | Worth::Stop(reason) => {
            assert!(!stops.is_empty(), "{number}");
            for (rest, requests, files) in stops {
                let found = serde_json::to_value(rest.reason).unwrap();
                assert_eq!(
                    (rest.phase, found.as_str(), *requests),
                    (Phase::WaitingUser, Some(reason), asked),
                    "{number}: {rest:?}"
                );
                // The slip is at the first node, so nothing was written yet.
                assert_eq!(*files, slip.play.project, "{number}");
            }
        }
    }
    check_repaired(slip, &outcome, first);
    let (rest, requests, files) = last;
    assert_eq!((rest.phase, *requests), (Phase::Completed, all.len()), "{number}: {rest:?}");
    assert_eq!(files, slip.files(), "{number}");
    check_laws(slip, &outcome);
}

/// Checks that the calls of the repaired reply are carried out, but for those behind a stop call.
fn check_repaired(slip: &Slip, outcome: &Outcome, first: usize) {
    let slipped = first + 1..=first + slip.replies.len();
    let repaired = match slip.worth {
        Worth::Digit(0) => slipped,
        Worth::Digit(_) => slipped.end() + 1..=slipped.end() + 1,
        Worth::User(_) | Worth::Stop(_) => return,
    };
    for event in &outcome.events {
        if let EventKind::Tool(ToolEvent::Finished(ToolFinished { turn, answer, .. })) = &event.kind
            && repaired.contains(&(*turn as usize))
        {
            let is_fine = answer.refused.is_none_or(|code| code == RefusalCode::NotExecuted);
            assert!(is_fine, "{}: {:?}", slip.number, answer.result);
        }
    }
}

/// Returns the messages of a request that the one before it did not have.
fn added<'b>(before: &Json, after: &'b Json) -> &'b [Json] {
    let (old, new) =
        (before["messages"].as_array().unwrap(), after["messages"].as_array().unwrap());
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    &new[same..]
}

fn check_shown(number: usize, before: &Json, after: Option<&Json>, shown: &Shown) {
    let after = after.unwrap_or_else(|| panic!("{number}: no request came behind the reply"));
    let of = |is_own: bool| -> String {
        let added = added(before, after).iter();
        let wanted = added.filter(|message| (message["role"] == "assistant") == is_own);
        let text = |message: &Json| match is_own {
            true => message.to_string(),
            false => message["content"].as_str().unwrap_or_default().to_owned(),
        };
        wanted.map(text).collect::<Vec<_>>().join("\n")
    };
    match shown {
        Shown::Answer(part) => {
            let answer = of(false);
            assert!(answer.contains(part), "{number}: no {part:?} in {answer}");
        }
        Shown::History(part) => {
            let history = of(true);
            assert!(history.contains(part), "{number}: no {part:?} in {history}");
        }
        Shown::Never(part) => {
            let messages = after["messages"].to_string();
            assert!(!messages.contains(part), "{number}: {part:?} in {messages}");
        }
    }
}

/// Checks what holds in every run, whatever the model does.
fn check_laws(slip: &Slip, outcome: &Outcome) {
    let number = slip.number;
    for body in &outcome.bodies {
        check_roles(number, body);
        assert!(!body.to_string().contains(&outcome.scratch), "{number}: a real path is shown");
    }
    let (mut turn, mut has_moved, mut is_complete) = (0, false, false);
    let (mut moves, mut said) = (vec![slip.path()[0].to_owned()], Vec::new());
    let mut artifacts = Vec::new();
    for event in &outcome.events {
        match &event.kind {
            EventKind::Model(ModelEvent::TurnStarted(started)) => {
                let (node, body) = (started.node_id.as_deref(), &outcome.bodies[turn]);
                let brief = format!("currentNodeId: {}", node.unwrap_or_default());
                let messages = body["messages"].to_string();
                assert!(is_complete || messages.contains(&brief), "{number}: no {brief}");
                (turn, has_moved) = (turn + 1, false);
            }
            EventKind::State(StateEvent::Changed(change)) => {
                if let Some(moved) = &change.moved {
                    assert_eq!(moves.last(), Some(&moved.from), "{number}");
                    moves.push(moved.to.clone());
                    has_moved = true;
                }
                is_complete |= change.state.complete;
                artifacts.clone_from(&change.state.artifacts);
            }
            EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) if has_moved => {
                assert_eq!(answer.refused, Some(RefusalCode::NotExecuted), "{number}");
            }
            EventKind::User(UserEvent::Input(input)) => {
                said.push(input.text.inline().unwrap().to_string());
            }
            _ => {}
        }
    }
    assert_eq!(moves, slip.path(), "{number}: the nodes");
    assert_eq!(said, slip.answers, "{number}: the words of the user");
    for stray in &slip.strays {
        assert!(!artifacts.iter().any(|path| path == stray), "{number}: {stray} is an artifact");
    }
}

/// Checks that a user speaks first, and that no two users follow each other.
fn check_roles(number: usize, body: &Json) {
    let messages = body["messages"].as_array().unwrap();
    let roles = messages.iter().map(|message| message["role"].as_str().unwrap());
    let roles: Vec<&str> = roles.filter(|role| *role != "system").collect();
    assert_eq!(roles.first(), Some(&"user"), "{number}: {roles:?}");
    assert!(roles.windows(2).all(|pair| pair != ["user", "user"]), "{number}: {roles:?}");
}
