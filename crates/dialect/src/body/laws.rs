//! Property tests of requests: incremental rendering equals rendering at once, and every provider accepts the result.

use std::collections::HashSet;

use crewagent_core::message::ToolCall;
use crewagent_core::payload::Payload;
use proptest::prelude::*;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use serde_json::{Map, Value as Json, json};

use super::tests::{SOURCE, call, request};
use super::*;
use crate::profile::{IdForm, NoWords, ReasoningEcho, Systems, Users};

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        cases: count,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Generates one of a few values.
fn one_of<T: Clone + std::fmt::Debug + 'static>(
    values: Vec<T>,
) -> impl Strategy<Value = T> + Clone {
    prop::sample::select(values)
}

fn extra() -> impl Strategy<Value = Map<String, Json>> {
    let value = one_of(vec![
        json!(null),
        json!(""),
        json!("thought"),
        json!([{ "index": 0 }]),
        json!({ "a": null }),
    ]);
    let key = one_of(vec![
        "reasoning_content",
        "reasoning",
        "reasoning_details",
        "extra_content",
        "index",
        "id",
        "role",
    ]);
    prop::collection::vec((key, value), 0..3)
        .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn id() -> impl Strategy<Value = String> {
    one_of(vec![
        "a",
        "b",
        "call_1",
        "functions.fs_read:0",
        "",
        "abcDEF123",
        "a_b",
        "a.b",
        "toolu_0123456789012345678901234567890123456",
    ])
    .prop_map(str::to_owned)
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let name = one_of(vec!["fs.read", "fs_read", "no such tool", ""]);
    let arguments = one_of(vec!["{}", r#"{"a":1}"#, "", "null", "[1]", "{\"a\":", "\"{}\""]);
    (id(), name, arguments, extra())
        .prop_map(|(id, name, arguments, extra)| ToolCall { extra, ..call(&id, name, arguments) })
}

fn message() -> impl Strategy<Value = Message> {
    let text = one_of(vec!["", " \n", "x", "zwei\n\"Zeilen\" 中"]);
    let from = one_of(vec![None, Some(SOURCE), Some("other/model")]);
    let blob = Payload::Blob { sha256: crewagent_format::integrity::Digest::of(b"x"), bytes: 1 };
    prop_oneof![
        1 => text.clone().prop_map(Message::system),
        3 => text.clone().prop_map(Message::user),
        5 => (text.clone(), prop::collection::vec(any_call(), 0..3), from, extra()).prop_map(
            |(text, tool_calls, from, extra)| Message::Assistant {
                content: if text.is_empty() { None } else { Some(text.into()) },
                tool_calls,
                from: from.map(Into::into),
                extra,
            }
        ),
        6 => (id(), prop_oneof![text.prop_map(Payload::from), Just(blob)])
            .prop_map(|(tool_call_id, content)| Message::Tool { tool_call_id, content }),
    ]
}

/// Generates calls with a result for each, so that valid conversations come up too.
fn exchange() -> impl Strategy<Value = Vec<Message>> {
    prop::collection::vec(any_call(), 1..4).prop_map(|tool_calls| {
        let answers: Vec<Message> = tool_calls
            .iter()
            .map(|call| Message::Tool { tool_call_id: call.id.clone(), content: "{}".into() })
            .collect();
        let calls = Message::Assistant { content: None, tool_calls, from: None, extra: Map::new() };
        std::iter::once(calls).chain(answers).collect()
    })
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let part = prop_oneof![3 => message().prop_map(|message| vec![message]), 1 => exchange()];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.into_iter().flatten().collect())
}

/// Returns the built-in profiles, and those of servers that take other roles.
fn profiles() -> Vec<Profile> {
    let built_in = Profile::names().map(|name| Profile::built_in(name).unwrap().clone());
    let roles = [
        (Systems::InUser, Users::Joined),
        (Systems::InUser, Users::AsTheyStand),
        (Systems::OneInFront, Users::AsTheyStand),
        (Systems::AsTheyStand, Users::AsTheyStand),
    ];
    let others = roles.map(|(systems, users)| Profile { systems, users, ..Profile::default() });
    built_in.chain(others).collect()
}

/// Change of a conversation or of its options.
#[derive(Clone, Debug)]
enum Change {
    Add(Vec<Message>),
    /// Drops the end.
    Cut(prop::sample::Index),
    Replace(prop::sample::Index, Message),
    /// Replaces messages by equal copies.
    Copy,
    Profile(Box<Profile>),
    Stream(bool),
    Tools(bool),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        8 => messages().prop_map(Change::Add),
        2 => any::<prop::sample::Index>().prop_map(Change::Cut),
        2 => (any::<prop::sample::Index>(), message()).prop_map(|(at, message)| Change::Replace(at, message)),
        1 => Just(Change::Copy),
        1 => one_of(profiles()).prop_map(|profile| Change::Profile(Box::new(profile))),
        1 => any::<bool>().prop_map(Change::Stream),
        1 => any::<bool>().prop_map(Change::Tools),
    ];
    prop::collection::vec(change, 1..12)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn what_grows_is_what_is_rendered_at_once(changes in changes()) {
        let mut grown = Body::default();
        let (mut messages, mut stream, mut may_call) = (Vec::new(), true, true);
        let mut profile = Box::new(Profile::default());
        let (names, tools) = super::tests::tools();
        for change in changes {
            match change {
                Change::Add(more) => messages.extend(more.into_iter().map(Arc::new)),
                Change::Cut(at) => messages.truncate(at.index(messages.len() + 1)),
                Change::Replace(at, message) if !messages.is_empty() => {
                    let at = at.index(messages.len());
                    messages[at] = Arc::new(message);
                }
                Change::Replace(..) => {}
                Change::Copy => messages = messages.iter().map(|message| Arc::new(Message::clone(message))).collect(),
                Change::Profile(other) => profile = other,
                Change::Stream(on) => stream = on,
                Change::Tools(on) => may_call = on,
            }
            let options = Options {
                model: "m", source: SOURCE, profile: &profile, max_output: Some(9), temperature: None, stream, tools: may_call,
            };
            let whole = Body::default().render(&options, &names, &messages, &tools).to_vec();
            let grown = grown.render(&options, &names, &messages, &tools);
            prop_assert_eq!(String::from_utf8_lossy(grown), String::from_utf8_lossy(&whole));
        }
    }

    #[test]
    fn whatever_is_said_providers_take_it(messages in messages(), may_call: bool) {
        for profile in profiles() {
            let body = request(&profile, may_call, &messages);
            check_request(&body, &profile);
        }
    }

    #[test]
    fn a_longer_conversation_begins_with_the_bytes_of_the_shorter(
        which in any::<prop::sample::Index>(), before in messages(), reply in any_call(), after in messages(),
    ) {
        let profile = which.get(&profiles()).clone();
        let mut all = before;
        all.push(Message::user("go"));
        let short = sent(&profile, &all);
        let calls = Message::Assistant {
            content: None, tool_calls: vec![reply], from: None, extra: Map::new(),
        };
        all.push(calls);
        all.extend(after);
        let long = sent(&profile, &all);
        prop_assert!(long.starts_with(short.strip_suffix("]").unwrap()), "{}\n{}", short, long);
    }
}

/// Returns the messages of a request as they are sent.
fn sent(profile: &Profile, messages: &[Message]) -> String {
    let body = request(profile, true, messages);
    body["messages"].to_string()
}

/// Checks the rules of all providers, which every request keeps.
fn check_request(body: &Json, profile: &Profile) {
    let messages = body["messages"].as_array().unwrap();
    let last = messages.last().expect("there is something to answer");
    assert!(last["role"] == "user" || last["role"] == "tool", "{body}");
    let is_rule = |message: &&Json| message["role"] == "system" || message["role"] == "developer";
    let first = messages.iter().find(|message| !is_rule(message));
    assert_eq!(first.unwrap()["role"], "user", "{body}");
    let has_calls = messages.iter().any(|message| message.get("tool_calls").is_some());
    assert!(
        !has_calls || body["tools"].as_array().is_some_and(|tools| !tools.is_empty()),
        "{body}"
    );
    let mut ids = HashSet::new();
    let mut open: Vec<&Json> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| messages.get(place));
        check_message(message, profile);
        let was = |role: &str| before.is_some_and(|before| before["role"] == role);
        match message["role"].as_str().unwrap() {
            "tool" => assert_eq!(open.remove(0), &message["tool_call_id"], "{body}"),
            "assistant" => {
                assert!(open.is_empty(), "{body}");
                if let Some(calls) = message.get("tool_calls") {
                    open = calls.as_array().unwrap().iter().map(|call| &call["id"]).collect();
                    assert!(open.iter().all(|id| ids.insert(id.as_str().unwrap())), "{body}");
                } else {
                    assert!(!was("assistant"), "{body}");
                }
            }
            "user" => {
                assert!(open.is_empty() && !(profile.speaks_after_tools && was("tool")), "{body}");
                assert!(profile.users == Users::AsTheyStand || !was("user"), "{body}");
            }
            "system" | "developer" => {
                let is_taken = match profile.systems {
                    Systems::AsTheyStand => true,
                    Systems::OneInFront => place == 0,
                    Systems::InUser => false,
                };
                assert!(open.is_empty() && is_taken, "{body}");
            }
            other => panic!("{other}"),
        }
    }
    assert!(open.is_empty(), "{body}");
}

fn check_message(message: &Json, profile: &Profile) {
    for (key, value) in message.as_object().unwrap() {
        assert!(!value.is_null() || key == "content", "{message}");
    }
    let calls = message.get("tool_calls").map(|calls| calls.as_array().unwrap());
    let is_assistant = message["role"] == "assistant";
    match &message["content"] {
        Json::String(text) => {
            let may_be_blank = calls.is_some() || message["role"] == "tool";
            assert!(may_be_blank || !text.trim().is_empty(), "{message}");
        }
        Json::Null => assert!(calls.is_some() && profile.no_words == NoWords::Null, "{message}"),
        Json::Array(_) => {
            assert!(is_assistant && profile.reasoning == ReasoningEcho::AsPart, "{message}")
        }
        Json::Bool(_) | Json::Number(_) | Json::Object(_) => panic!("{message}"),
    }
    for call in calls.into_iter().flatten() {
        check_call(call, profile);
    }
    if calls.is_some() && profile.reasoning == ReasoningEcho::Always {
        let thoughts = message["reasoning_content"].as_str().unwrap();
        assert!(!thoughts.is_empty() || profile.reasoning_placeholder.is_none(), "{message}");
    }
}

fn check_call(call: &Json, profile: &Profile) {
    for (key, value) in call.as_object().unwrap() {
        assert!(!value.is_null() && key != "index", "{call}");
    }
    assert_eq!(call["type"], "function");
    let id = call["id"].as_str().unwrap();
    let is_plain =
        |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match profile.ids {
        IdForm::Safe => assert!(is_plain(id) && (1..=40).contains(&id.len()), "{id}"),
        IdForm::Nine => assert!(is_plain(id) && !id.contains(['_', '-']) && id.len() == 9, "{id}"),
        IdForm::Numbered => assert!(id.starts_with("functions."), "{id}"),
    }
    let name = call["function"]["name"].as_str().unwrap();
    assert!(is_plain(&name.replace('.', "")) && (1..=64).contains(&name.len()), "{name}");
    let arguments = call["function"]["arguments"].as_str().unwrap();
    assert!(serde_json::from_str::<Map<String, Json>>(arguments).is_ok(), "{arguments}");
}
