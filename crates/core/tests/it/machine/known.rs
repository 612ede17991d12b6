//! Files that the model knows: shown in the message of the node, read, written, and looked at again.

use std::sync::Arc;

use crewagent_core::event::{
    Answer, InputState, Moved, NodeEntered, ShownFile, StateChange, SurveyedInput, WrittenDigest,
};
use crewagent_core::message::Message;
use crewagent_core::run::machine::{CallFiles, Effect, Input, SurveyPlan, TextPlace};
use crewagent_core::settings::RunSettings;
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::tool::overwriting::SeenState;
use crewagent_core::vpath::VPath;
use crewagent_testkit::fixture::cases;
use proptest::prelude::*;

use super::{Play, job, rest};

const EPICS: &str = "@project/artifacts/epics.md";
const READ: (&str, &str) = ("fs.read", r#"{"path":"artifacts/epics.md"}"#);

fn input(path: &str, sha256: Option<&str>, text: &str) -> SurveyedInput {
    SurveyedInput {
        path: path.to_owned(),
        state: if sha256.is_some() { InputState::Shown } else { InputState::Missing },
        bytes: text.len() as u64,
        lines: text.lines().count() as u64,
        sha256: sha256.map(str::to_owned),
        text: sha256.map(|_| text.to_owned()),
    }
}

fn survey(effect: Effect) -> SurveyPlan {
    match effect {
        Effect::Survey(plan) => *plan,
        other => panic!("{other:?}"),
    }
}

/// Moves to the second node, whose message shows these inputs.
fn at_node_with(settings: RunSettings, inputs: Vec<SurveyedInput>) -> Play {
    let mut play = Play::with(settings);
    play.calls(&[("fs.apply_patch", "{}")]);
    let mut state = play.machine.run_state().clone();
    let (from, to) = (state.current_node_id.clone(), "step-02-discover-inputs".to_owned());
    state.steps_completed.push(from.clone());
    state.current_node_id.clone_from(&to);
    let moved = Some(Moved { from, to, label: "next".to_owned() });
    let change = StateChange { state, moved, ..StateChange::default() };
    let answer = Answer { result: r#"{"ok":true}"#.into(), ..Answer::default() };
    let plan = survey(play.one_step(Input::Answered { answer, state: Some(change) }));
    assert!(!plan.entered.again && plan.known.is_empty());
    play.one_step(Input::Surveyed(Box::new(NodeEntered { inputs, ..plan.entered })));
    play
}

fn shown(path: &str, sha256: &str, lines: (u64, u64), written: bool) -> ShownFile {
    let (path, sha256) = (path.to_owned(), sha256.to_owned());
    ShownFile { path, sha256, start: lines.0, end: lines.1, written }
}

fn answered(play: &mut Play, result: &str, shown: Vec<ShownFile>) -> Effect {
    let answer = Answer { result: result.into(), shown, ..Answer::default() };
    play.step(Input::Answered { answer, state: None })
}

/// Returns what the next call knows of files.
fn files(play: &mut Play) -> CallFiles {
    let files = job(play.calls(&[READ])).known;
    play.answered();
    files
}

fn place(files: &CallFiles, path: &str, sha256: &str, lines: (u64, u64)) -> Option<TextPlace> {
    files.known.place_of(&VPath::parse(path).unwrap(), sha256, lines, false)
}

fn texts(play: &Play) -> Vec<String> {
    let text = |message: &Arc<Message>| match &**message {
        Message::System { content } | Message::User { content } => content.to_string(),
        Message::Tool { content, .. } => content.inline().unwrap().to_string(),
        Message::Assistant { .. } => String::new(),
    };
    play.machine.context().messages().iter().map(text).collect()
}

#[test]
fn inputs_and_the_step_stand_in_the_message_of_the_node() {
    let template = input("@pkg/assets/t.md", Some("t1"), "t\n");
    let mut play =
        at_node_with(RunSettings::default(), vec![input(EPICS, Some("e1"), "a\nb\n"), template]);
    let files = files(&mut play);
    assert_eq!(place(&files, EPICS, "e1", (1, 2)), Some(TextPlace::Inputs));
    assert_eq!(place(&files, EPICS, "e2", (1, 2)), None, "it has changed");
    assert_eq!(place(&files, EPICS, "e1", (1, 3)), None);
    let epics = VPath::parse(EPICS).unwrap();
    assert!(files.known.place_of(&epics, "e1", (2, 2), true).is_some(), "lines have numbers");
    let template = VPath::parse("@pkg/assets/t.md").unwrap();
    assert!(files.known.place_of(&template, "t1", (1, 1), false).is_some());
    assert_eq!(files.known.place_of(&template, "t1", (1, 1), true), None, "no numbers");
    assert_eq!(files.known.seen_state([&epics, &epics], "e1"), SeenState::Seen);
    assert_eq!(files.known.seen_state([&epics, &epics], "e2"), SeenState::Changed);
    let workflow = play.machine.workflow().unwrap();
    let node = workflow.graph.node("step-02-discover-inputs").unwrap();
    let digest = crewagent_format::integrity::Digest::of(workflow.steps[&node.id].text.as_bytes());
    let step = format!("@pkg/{}", node.file);
    assert_eq!(place(&files, &step, &digest.to_string(), (1, 9)), Some(TextPlace::Brief));
}

#[test]
fn what_was_read_and_written_is_known_until_the_node_is_left() {
    let mut play = Play::new();
    play.calls(&[READ, READ]);
    answered(&mut play, "{}", vec![shown(EPICS, "e1", (3, 9), false)]);
    answered(&mut play, "{}", vec![shown("@project/x.md", "x1", (1, 4), true)]);
    let before = files(&mut play);
    assert_eq!(place(&before, EPICS, "e1", (4, 9)), Some(TextPlace::Answer));
    assert_eq!(place(&before, EPICS, "e1", (1, 9)), None);
    assert_eq!(place(&before, "@project/x.md", "x1", (1, 4)), Some(TextPlace::Call));
    play.calls(&[READ]);
    play.moved("step-02-discover-inputs");
    let after = files(&mut play);
    assert_eq!(place(&after, EPICS, "e1", (4, 9)), None);
    let path = VPath::parse(EPICS).unwrap();
    assert_eq!(after.known.seen_state([&path, &path], "e1"), SeenState::Unseen);
}

#[test]
fn a_warning_counts_in_its_visit_and_for_its_content() {
    let mut play = Play::new();
    play.calls(&[("fs.write", "{}")]);
    let warned = vec![WrittenDigest {
        path: "x.md".to_owned(),
        sha256: Some("x1".to_owned()),
        foreign: false,
    }];
    let answer = Answer { result: "{}".into(), warned, ..Answer::default() };
    play.step(Input::Answered { answer, state: None });
    let path = ProjectPath::parse("x.md").unwrap();
    let here = files(&mut play);
    assert!(here.known.is_warned(&path, "x1") && !here.known.is_warned(&path, "x2"));
    play.calls(&[READ]);
    play.moved("step-02-discover-inputs");
    assert!(!files(&mut play).known.is_warned(&path, "x1"));
}

#[test]
fn the_same_call_knows_its_answer() {
    let mut play = Play::new();
    let list = ("fs.list", r#"{"path":"@project"}"#);
    assert_eq!(job(play.calls(&[list])).known.answer, None);
    answered(&mut play, r#"{"ok":true,"entries":[]}"#, Vec::new());
    let known = job(play.calls(&[list])).known.answer;
    assert_eq!(
        known,
        Some(crewagent_format::integrity::Digest::of(br#"{"ok":true,"entries":[]}"#))
    );
    let answer = Answer { result: "{}".into(), repeats: true, ..Answer::default() };
    play.step(Input::Answered { answer, state: None });
    assert_eq!(job(play.calls(&[list])).known.answer, known, "a pointer is no answer");
    play.answered();
    assert_eq!(job(play.calls(&[("fs.list", r#"{"path":"a"}"#)])).known.answer, None);
}

#[test]
fn inputs_that_changed_are_shown_again_with_the_words_of_the_user() {
    let inputs = vec![
        input(EPICS, Some("e1"), "old\n"),
        input("@project/artifacts/prd.md", Some("p1"), "prd\n"),
        input("@project/artifacts/ux.md", None, ""),
    ];
    let mut play = at_node_with(RunSettings::default(), inputs);
    rest(play.says("Which epics do you mean?"));
    let plan = survey(play.one_step(Input::User("Look again.".into())));
    assert!(plan.entered.again && plan.outputs.is_empty());
    let wanted: Vec<String> = plan.inputs.iter().map(|input| input.path.to_string()).collect();
    assert_eq!(wanted, [EPICS, "@project/artifacts/prd.md", "@project/artifacts/ux.md"]);
    for known in [(EPICS, Some("e1")), ("@project/artifacts/ux.md", None)] {
        assert!(plan.known.contains(&(known.0.to_owned(), known.1.map(str::to_owned))));
    }
    let changed =
        vec![input(EPICS, Some("e2"), "new\n"), input("@project/artifacts/prd.md", None, "")];
    play.one_step(Input::Surveyed(Box::new(NodeEntered { inputs: changed, ..plan.entered })));
    let last = texts(&play).pop().unwrap();
    assert_eq!(
        last,
        "INPUTS\n--- artifacts/epics.md (4 bytes)\n1|new\n--- missing: artifacts/prd.md\n\nUSER_INPUT\n- forNodeId: step-02-discover-inputs\nLook again."
    );
    let files = files(&mut play);
    assert_eq!(place(&files, EPICS, "e2", (1, 1)), Some(TextPlace::Inputs));
    rest(play.says("And now?"));
    let plan = survey(play.one_step(Input::User("Go on.".into())));
    assert!(plan.known.contains(&(EPICS.to_owned(), Some("e2".to_owned()))));
    play.one_step(Input::Surveyed(Box::new(plan.entered)));
    let last = texts(&play).pop().unwrap();
    assert_eq!(last, "USER_INPUT\n- forNodeId: step-02-discover-inputs\nGo on.");
}

#[test]
fn what_the_model_wrote_or_read_itself_has_not_changed_for_it() {
    let mut play = at_node_with(RunSettings::default(), vec![input(EPICS, Some("e1"), "old\n")]);
    play.calls(&[READ, READ]);
    answered(&mut play, "{}", vec![shown(EPICS, "e2", (1, 1), false)]);
    let path = "artifacts/epics.md".to_owned();
    let wrote = vec![WrittenDigest { path, sha256: Some("e3".to_owned()), foreign: false }];
    let answer = Answer { result: "{}".into(), wrote, ..Answer::default() };
    play.step(Input::Answered { answer, state: None });
    rest(play.says("Well?"));
    let plan = survey(play.one_step(Input::User("Yes.".into())));
    for digest in ["e1", "e2", "e3"] {
        assert!(plan.known.contains(&(EPICS.to_owned(), Some(digest.to_owned()))), "{digest}");
    }
}

#[test]
fn a_node_without_inputs_and_a_completed_workflow_are_not_looked_at_again() {
    let mut play = Play::new();
    rest(play.says("Which story?"));
    assert!(matches!(play.one_step(Input::User("1-2".into())), Effect::AskModel(_)));
    let mut play = at_node_with(RunSettings::default(), vec![input(EPICS, Some("e1"), "old\n")]);
    play.calls(&[("fs.apply_patch", "{}")]);
    play.completed();
    rest(play.says("Done."));
    assert!(matches!(play.one_step(Input::User("Thanks.".into())), Effect::AskModel(_)));
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_pointer_never_refers_to_content_that_was_cut(
        sizes in proptest::collection::vec(1_usize..9_000, 1..24),
    ) {
        let settings = RunSettings { window_tokens: 12_000, ..RunSettings::default() };
        let mut play = at_node_with(settings, vec![input(EPICS, Some("e1"), "epic\n")]);
        let mut contents: Vec<String> = Vec::new();
        for (number, size) in sizes.into_iter().enumerate() {
            let arguments = format!(r#"{{"path":"f{number}.md"}}"#);
            let files = job(play.calls(&[("fs.read", arguments.as_str())])).known;
            let sent = texts(&play);
            for (known, content) in contents.iter().enumerate() {
                let path = format!("@project/f{known}.md");
                if place(&files, &path, "x", (1, 1)).is_some() {
                    prop_assert!(sent.iter().any(|text| text == content), "{path} was cut");
                }
            }
            prop_assert!(place(&files, EPICS, "e1", (1, 1)).is_some());
            prop_assert!(sent.iter().any(|text| text.contains("1|epic")));
            let content = format!("{number} {}", "x".repeat(size));
            let path = format!("@project/f{number}.md");
            answered(&mut play, &content, vec![shown(&path, "x", (1, 1), false)]);
            contents.push(content);
        }
    }
}

#[test]
fn a_small_window_gets_names_of_inputs_and_then_the_step_to_read() {
    let long = "A line of the epics that says something.\n".repeat(60);
    let message = |window_tokens: u64| {
        let settings = RunSettings { window_tokens, ..RunSettings::default() };
        let inputs =
            vec![input(EPICS, Some("e1"), &long), input("@project/b.md", Some("b1"), "short\n")];
        let mut play = at_node_with(settings, inputs);
        let files = files(&mut play);
        let text = texts(&play).into_iter().find(|text| text.starts_with("RUN_DIRECTIVE")).unwrap();
        (text, place(&files, EPICS, "e1", (1, 2)))
    };
    let (whole, known) = message(20_000);
    assert!(whole.contains("1|A line of the epics") && whole.contains("in full:"));
    assert_eq!(known, Some(TextPlace::Inputs));
    let (named, known) = message(2_200);
    assert!(named.contains("--- artifacts/epics.md (") && !named.contains("A line of the epics"));
    assert!(named.contains("1|short") && named.contains("in full:"), "{named}");
    assert_eq!(known, None, "what is only named can be read");
    let (bare, _) = message(1_000);
    assert!(!bare.contains("1|short"), "{bare}");
    assert!(bare.contains("read it with fs_read before you do anything else."), "{bare}");
}
