//! Tests that recorded replies come back from the scenario unchanged.

use crewagent_core::event::{
    Answer, AssistantMessage, Event, EventKind, Finish, Intent, PhaseChanged, RequestSummary,
    RunEvent, RunFailed, RunResumed, RunStarted, StateChange, ToolFinished, ToolStarted,
    TurnStarted, UserInput,
};
use crewagent_core::payload::Payload;
use crewagent_core::refusal::RefusalCode;
use crewagent_core::settings::RunSettings;
use crewagent_core::state::run_state::RunState;
use crewagent_core::tool::canonical;
use crewagent_core::usage::Usage;
use crewagent_format::integrity::Digest;
use proptest::prelude::*;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

use super::*;
use crate::record::{RecordError, scenario};

const RUN: &str = "20261115-094946-2q38e";

fn events(kinds: impl IntoIterator<Item = EventKind>) -> Vec<Event> {
    let event = |(at, kind)| Event {
        seq: at as u64 + 1,
        part: None,
        time: "2026-11-15T09:49:46.935Z".to_owned(),
        run_id: Some(RUN.to_owned()),
        key: None,
        kind,
    };
    kinds.into_iter().enumerate().map(event).collect()
}

fn started() -> EventKind {
    let mut state = RunState { current_node_id: "a".to_owned(), ..RunState::default() };
    state.variables.insert("cups".to_owned(), json!(3));
    state.variables.insert("size".to_owned(), json!("3"));
    EventKind::from(RunStarted {
        package: "tea@1.0.0".to_owned(),
        package_sha256: String::new(),
        workflow: "brew".to_owned(),
        agent_id: "host".to_owned(),
        project: "kitchen".to_owned(),
        state,
        settings: RunSettings::default(),
        data: None,
        earlier: Vec::new(),
        forecast: None,
        adoption: None,
        notes: Vec::new(),
        forked_from: None,
    })
}

fn asked(node: Option<&str>) -> EventKind {
    let request =
        RequestSummary { messages: 1, bytes: 1, sha256: String::new(), added: Vec::new() };
    let node_id = node.map(str::to_owned);
    EventKind::from(TurnStarted {
        turn: 1,
        node_id,
        agent_id: Some("host".to_owned()),
        request,
        ..TurnStarted::default()
    })
}

fn replied(reply: Reply) -> EventKind {
    EventKind::from(AssistantMessage { turn: 1, reply })
}

fn words(text: &str) -> Reply {
    Reply { content: Some(text.to_owned()), ..Reply::default() }
}

fn calling(calls: &[(&str, &str)]) -> Reply {
    let call = |(at, (name, arguments)): (usize, &(&str, &str))| ToolCall {
        id: format!("toolu_{at}"),
        name: (*name).to_owned(),
        arguments: (*arguments).into(),
        extra: Map::new(),
    };
    Reply { tool_calls: calls.iter().enumerate().map(call).collect(), ..Reply::default() }
}

fn answer(result: &Json, refused: Option<RefusalCode>) -> EventKind {
    let answer = Answer { result: result.to_string().into(), refused, ..Answer::default() };
    EventKind::from(ToolFinished {
        turn: 1,
        call_id: "c".to_owned(),
        tool: "fs.read".to_owned(),
        answer,
    })
}

fn user(text: &str) -> EventKind {
    EventKind::from(UserInput { text: text.into(), for_node_id: None, call_id: None })
}

fn recorded(kinds: impl IntoIterator<Item = EventKind>) -> String {
    scenario("tea", &events(kinds), &|_| None, &str::to_owned).unwrap()
}

/// Returns a run with everything that a recording can hold.
fn story() -> Vec<EventKind> {
    let long = "A sentence that goes on for so long that it is better broken between two of its words, where a reader takes a breath.";
    vec![
        started(),
        asked(Some("a")),
        replied(Reply {
            extra: [("reasoning".to_owned(), "Which tea?\nGreen: no. Black: yes.".into())]
                .into_iter()
                .collect(),
            usage: Usage {
                input_tokens: 900,
                output_tokens: 30,
                cached_tokens: 512,
                reasoning_tokens: 8,
                cost: Some(0.0012),
                ..Usage::default()
            },
            ..calling(&[
                ("fs_read", r#"{"path": "@project/teas.md"}"#),
                ("fs.read", r#"{"path":"@project/none.md"}"#),
            ])
        }),
        answer(&json!({ "ok": true, "sha256": "0".repeat(64) }), None),
        answer(&refusal("ENOENT"), Some(RefusalCode::NotFound)),
        asked(Some("a")),
        replied(Reply {
            content: Some(long.to_owned()),
            finish: Finish::Length,
            usage: Usage { input_tokens: 9, estimated: true, ..Usage::default() },
            ..calling(&[
                (
                    "fs.apply_patch",
                    &json!({
                        "path": "@project/teas.md",
                        "ifMatchSha256": "0".repeat(64),
                        "operation": "replace",
                        "edits": [{ "old": "  - green\n  - white\n", "new": "  - black {{hot}}\n", "all": true }],
                    })
                    .to_string(),
                ),
                ("fs.list", "{}"),
                ("fs.list", "{}"),
                ("fs.write", r#"{"path": "@project/cut"#),
            ])
        }),
        EventKind::from(Box::new(StateChange {
            state: RunState { complete: true, ..RunState::default() },
            ..StateChange::default()
        })),
        asked(None),
        replied(words("Tea is ready.")),
        user("It's\nlovely"),
        asked(None),
        replied(words(&format!("This was run {RUN}."))),
    ]
}

/// Expected scenario. A block whose first line is indented is indented deeper than the others.
const STORY: &str = r#"# Recorded from run 20261115-094946-2q38e. To play it on a fresh copy of the project:
#   crewagent run tea@1.0.0 --workflow brew --agent host --model scripted:FILE \
#     --var cups=3 \
#     --var 'size="3"' \
#     --input $'It\'s\nlovely'
scenario: tea

nodes:
  a:
    - think: |-
        Which tea?
        Green: no. Black: yes.
      calls:
        - fs.read: { path: "@project/teas.md" }
        - fs.read: { path: "@project/none.md" }
      usage: { input: 900, output: 30, cached: 512, reasoning: 8, cost: 0.0012 }
    - when: { answers: [ok, ENOENT] }
      say: >-
        A sentence that goes on for so long that it is better broken between two of its words, where a reader takes a
        breath.
      calls:
        - fs.apply_patch:
            path: "@project/teas.md"
            ifMatchSha256: "{{answers.0.sha256}}"
            operation: replace
            edits:
              - old: |2
                    - green
                    - white
                new: "  - black {{braces}}hot}}\n"
                all: true
        - { tool: fs.list, arguments: {}, times: 2 }
        - { tool: fs.write, raw: "{\"path\": \"@project/cut" }
      finish: length
      usage: { input: 9, output: 0, estimated: true }

complete:
  - say: "Tea is ready."
  # The user: It's lovely
  # The words have an id or a time in them that another run does not have.
  - say: "This was run 20261115-094946-2q38e."
"#;

#[test]
fn a_recording_is_pleasant_to_read() {
    assert_eq!(recorded(story()), STORY);
}

#[test]
fn what_only_this_run_has_is_told() {
    let write = json!({ "path": "@project/a.md", "content": "made 2026-11-15T09:50:00Z" });
    let stale = json!({ "path": "@project/a.md", "ifMatchSha256": "a".repeat(64) });
    let intent = Intent {
        files: Vec::new(),
        time: "2026-11-15T09:50:00Z".to_owned(),
        answer: Answer::default(),
        state: None,
    };
    let text = recorded([
        started(),
        asked(Some("a")),
        replied(calling(&[("fs.write", &stale.to_string())])),
        EventKind::from(ToolStarted {
            turn: 1,
            call_id: "c".to_owned(),
            tool: "fs.write".to_owned(),
            subject: None,
            intent: Some(Box::new(intent)),
            repaired: Vec::new(),
        }),
        answer(&json!({ "ok": true }), None),
        asked(Some("a")),
        replied(calling(&[("fs.write", &write.to_string())])),
        asked(Some("a")),
    ]);
    let deltas: Vec<&str> =
        text.lines().map(str::trim).filter(|line| line.starts_with("# ")).skip(4).collect();
    assert_eq!(
        deltas,
        [
            "# Request 1 was not answered: the run was left there",
            "# The digest is from an earlier answer. It fits as long as that file is the same in every run.",
            "# There is an id or a time in the arguments that another run does not have.",
        ],
        "{text}"
    );
}

#[test]
fn replies_are_counted_over_all_visits_and_processes() {
    let moved = |to: &str| {
        let state = RunState { current_node_id: to.to_owned(), ..RunState::default() };
        let moved = crewagent_core::event::Moved {
            from: "x".to_owned(),
            to: to.to_owned(),
            label: "next".to_owned(),
        };
        EventKind::from(Box::new(StateChange {
            state,
            moved: Some(moved),
            ..StateChange::default()
        }))
    };
    let resumed = |state: Option<RunState>| {
        EventKind::Run(RunEvent::Resumed(RunResumed {
            epoch: 2,
            fresh: state.is_some(),
            state,
            ..RunResumed::default()
        }))
    };
    let text = recorded([
        started(),
        asked(Some("a")),
        replied(calling(&[("fs.list", "{}")])),
        answer(&json!({ "ok": true }), None),
        moved("b"),
        asked(Some("b")),
        // The first attempt failed, and another process asked again.
        EventKind::from(RunFailed { message: "The way was lost.".to_owned(), partial: None }),
        resumed(None),
        asked(Some("b")),
        replied(words("one")),
        moved("a"),
        resumed(Some(RunState { current_node_id: "a".to_owned(), ..RunState::default() })),
        asked(Some("a")),
        replied(words("two")),
        asked(Some("a")),
        replied(Reply::default()),
        asked(Some("a")),
        replied(words("three")),
    ]);
    let expected = r#"# Before request 3 another process took over and began anew at a; a run that is played does not.
scenario: tea

nodes:
  a:
    - calls:
        - fs.list: {}
    # Visit 2.
    - say: two
    - say: ""
    - say: three

  b:
    - say: one
"#;
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_limit_in_between_is_told() {
    let limited = EventKind::from(PhaseChanged {
        phase: crewagent_core::event::Phase::WaitingUser,
        reason: Some(crewagent_core::event::Reason::LimitTokens),
        message: None,
    });
    let text = recorded([started(), asked(Some("a")), replied(words("x")), limited]);
    assert!(
        text.contains("\n# A limit stopped it after 1 reply; --max-tokens gives it more room.\n"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    let nothing = [started(), asked(Some("a"))];
    let nothing = scenario("x", &events(nothing), &|_| None, &str::to_owned).unwrap_err();
    assert!(matches!(nothing, RecordError::Nothing), "{nothing}");
    let mut reply = calling(&[("fs.write", "{}")]);
    reply.tool_calls[0].arguments = Payload::Blob { sha256: Digest::of(b"x"), bytes: 1 };
    let kinds = || events([started(), asked(Some("a")), replied(reply.clone())]);
    let lost = scenario("x", &kinds(), &|_| None, &str::to_owned).unwrap_err();
    assert!(matches!(lost, RecordError::Lost(_)), "{lost}");
    let found =
        scenario("x", &kinds(), &|_| Some(r#"{"path":"@project/x"}"#.into()), &str::to_owned)
            .unwrap();
    assert!(found.contains(r#"- fs.write: { path: "@project/x" }"#), "{found}");
    let much: String = (0..600_000).map(|at| format!("{at} ")).collect();
    let large = events([
        started(),
        asked(Some("a")),
        replied(words(&much)),
        asked(None),
        replied(words(&much)),
    ]);
    let large = scenario("x", &large, &|_| None, &str::to_owned).unwrap_err();
    assert!(large.to_string().contains("a scenario may have 4194304 bytes"), "{large}");
}

/// Generates texts that a writer of YAML or of templates could get wrong.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{0,12}",
        "[ -~]{0,40}",
        "(?s).{0,20}",
        Just("{{input}}".to_owned()),
        Just("{{".to_owned()),
        Just("{".to_owned()),
        Just("}}".to_owned()),
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\n  indented\n".to_owned()),
        Just("\ttab\n".to_owned()),
        Just(" \n".to_owned()),
        Just("# no comment\n".to_owned()),
        Just("--- \n...\n".to_owned()),
        Just("a word and another one, ".repeat(8)),
        Just("x".repeat(300)),
        Just("\u{85}\u{2028}\u{feff}\u{0}\u{7f}".to_owned()),
        Just("true".to_owned()),
        Just("1e3".to_owned()),
        Just("é中🏃".to_owned()),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter_map("JSON has no infinity", |number| {
            serde_json::Number::from_f64(number).map(Json::from)
        }),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((text(), inner), 0..5)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

/// Generates arguments: mostly objects, sometimes anything.
fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::collection::vec((text(), value()), 0..4)
            .prop_map(|entries| Json::Object(entries.into_iter().collect()).to_string()),
        1 => value().prop_map(|value| value.to_string()),
        1 => text(),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    let name = prop_oneof![
        Just("fs.read".to_owned()),
        Just("fs_read".to_owned()),
        Just("tool".to_owned()),
        text()
    ];
    let calls = prop::collection::vec((name, arguments()), 0..4);
    let usage =
        (0..5_u64, 0..5_u64, 0..3_u64, 0..3_u64, any::<bool>(), prop::option::of(0.0..9.0_f64));
    let finish = prop_oneof![Just(Finish::Stop), Just(Finish::Length), Just(Finish::Filter)];
    (prop::option::of(text()), prop::option::of(text()), calls, finish, usage).prop_map(
        |(content, thoughts, calls, finish, usage)| {
            let calls: Vec<(&str, &str)> =
                calls.iter().map(|(name, arguments)| (name.as_str(), arguments.as_str())).collect();
            let (input_tokens, output_tokens, cached_tokens, reasoning_tokens, estimated, cost) =
                usage;
            let thoughts = thoughts.filter(|text| !text.is_empty());
            Reply {
                content: content.filter(|text| !text.is_empty()),
                finish,
                extra: thoughts
                    .map(|text| ("reasoning_content".to_owned(), text.into()))
                    .into_iter()
                    .collect(),
                usage: Usage {
                    input_tokens,
                    output_tokens,
                    cached_tokens,
                    reasoning_tokens,
                    estimated,
                    cost,
                },
                ..calling(&calls)
            }
        },
    )
}

/// Returns a call without its id; arguments that are an object count as a value.
fn parse_call(call: &ToolCall) -> (String, Result<Json, String>) {
    let text = call.arguments.inline().unwrap();
    let value = serde_json::from_str::<Json>(text).ok().filter(Json::is_object);
    let name = canonical(&call.name).unwrap_or(&call.name).to_owned();
    (name, value.ok_or_else(|| text.to_string()))
}

fn cases() -> ProptestConfig {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        rng_seed: RngSeed::Fixed(seed.unwrap_or(1)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn whatever_was_said_comes_back(replies in prop::collection::vec(reply(), 1..4)) {
        let kinds = replies.iter().flat_map(|reply| [asked(Some("a")), replied(reply.clone())]);
        let text = recorded(std::iter::once(started()).chain(kinds));
        let model = scripted(&text);
        for (at, expected) in replies.iter().enumerate() {
            let found = ask(&model, &request("a", at as u64 + 1, vec![])).unwrap();
            prop_assert_eq!(&found.content, &expected.content, "{}", text);
            prop_assert_eq!(&found.extra, &expected.extra, "{}", text);
            prop_assert_eq!(found.finish, expected.finish);
            if expected.usage != Usage::default() {
                prop_assert_eq!(found.usage, expected.usage);
            }
            let calls = |reply: &Reply| reply.tool_calls.iter().map(parse_call).collect::<Vec<_>>();
            prop_assert_eq!(calls(&found), calls(expected), "{}", text);
        }
    }
}

#[test]
fn what_must_not_leave_is_masked_and_the_rest_still_plays() {
    let key = "sk-1\\x\"7";
    let reply = Reply { content: Some(format!("The key is {key}.")), ..Reply::default() };
    let mask = |text: &str| {
        let quoted = serde_json::to_string(key).unwrap();
        text.replace(key, "***").replace(quoted.trim_matches('"'), "***")
    };
    let text =
        scenario("x", &events(vec![started(), asked(Some("a")), replied(reply)]), &|_| None, &mask);
    let text = text.unwrap();
    assert!(text.contains("The key is ***.") && !text.contains("sk-1"), "{text}");
    assert!(Scripted::parse("x", &text).is_ok());
}
