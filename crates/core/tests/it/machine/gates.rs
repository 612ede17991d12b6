//! Gates and drafts: what the user decides, and what no model can decide for them.

use crewagent_core::draft::read_marks;
use crewagent_core::event::{NudgeKind, SavedDraft, ToolFinished};
use crewagent_core::policy::StateTool;
use crewagent_core::question::QuestionKind;
use crewagent_core::question::gate::{GateAction, ShownDraft};
use serde_json::json;

use super::*;

const FIRST: &str = "step-01-intake";
const SECOND: &str = "decide-02-project-type";
const GATE: (&str, &str) = ("ui_gate", r#"{"drafts":["intake"]}"#);

/// Returns hello-branch with a gate at its first node.
fn gated() -> MemoryFiles {
    let mut files = example("hello-branch");
    let manifest = files.text("bmad.json").replacen("\"1.1\"", "\"1.3\"", 1);
    let mut graph: Value = serde_json::from_str(&files.text("workflow.graph.json")).unwrap();
    graph["schemaVersion"] = "1.3".into();
    graph["nodes"][0]["gate"] = json!({
        "options": [
            { "key": "A", "label": "Ask deeper", "does": "stay", "text": "Ask twice." },
            { "key": "C", "label": "Continue", "does": "edge" },
            { "key": "Z", "label": "Ask twice", "does": "stay", "after": ["A"] },
        ],
        "commit": [{ "to": "artifacts/intake.md" }],
    });
    graph["edges"][0]["gate"] = "C".into();
    files.put("bmad.json", manifest).unwrap();
    files.put("workflow.graph.json", graph.to_string()).unwrap();
    files
}

fn play() -> Play {
    Play::on(&gated(), RunSettings::default(), &[])
}

/// Replies as the driver records it.
fn replies(play: &mut Play, words: &str, calls: &[(&str, &str)]) -> Effect {
    let read = read_marks(words, false);
    let call = |(at, (name, arguments)): (usize, &(&str, &str))| ToolCall {
        id: format!("c{at}"),
        name: (*name).to_owned(),
        arguments: (*arguments).into(),
        extra: Map::new(),
    };
    play.step(Input::Replied(Reply {
        content: Some(read.text).filter(|text| !text.is_empty()),
        drafts: read.drafts,
        broken_drafts: read.broken,
        tool_calls: calls.iter().enumerate().map(call).collect(),
        ..Reply::default()
    }))
}

/// Answers the open call as one that wrote this draft.
fn drafted(play: &mut Play, name: &str) -> Effect {
    let answer = Answer {
        result: r#"{"ok":true}"#.into(),
        drafted: vec![name.to_owned()],
        ..Answer::default()
    };
    play.step(Input::Answered { answer, state: None })
}

fn question(play: &Play) -> Question {
    let visit = job(&play.machine.open()).gate.visit.clone();
    let terms = play.machine.gate_terms(&visit).unwrap();
    let show = ShownDraft {
        name: "intake".into(),
        path: "@state/drafts/intake.md".into(),
        sha256: "a".repeat(64),
        bytes: 5,
        text: "Text.".into(),
        to: None,
    };
    terms.question(&Default::default(), vec![show])
}

fn job(effect: &Effect) -> &CallJob {
    match effect {
        Effect::Perform(job) => job,
        other => panic!("{other:?}"),
    }
}

/// Writes the draft, and asks the user about it.
fn asked() -> Play {
    let mut play = play();
    replies(&mut play, "<draft name=\"intake\">\nText.\n</draft>\n", &[GATE]);
    drafted(&mut play, "intake");
    let question = question(&play);
    let open = play.step(Input::Asked(question));
    assert!(
        matches!(&open, Effect::Rest(rest) if rest.reason == Some(Reason::Question)),
        "{open:?}"
    );
    play
}

fn last_text(play: &Play) -> String {
    match play.machine.context().messages().last().map(|message| (**message).clone()) {
        Some(Message::Tool { content, .. }) => content.inline().unwrap().to_string(),
        Some(Message::User { content }) => content.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn drafts_are_written_before_the_calls_of_their_reply() {
    let mut play = play();
    let words = "Here:\n<draft name=\"intake\">\nText.\n</draft>\nFine?\n";
    let open = replies(&mut play, words, &[GATE]);
    let first = &job(&open).call;
    assert_eq!((first.id.as_str(), first.name.as_str()), ("draft_1_1", "fs_write"));
    let arguments: Value = serde_json::from_str(first.arguments.inline().unwrap()).unwrap();
    assert_eq!(arguments, json!({ "path": "@state/drafts/intake.md", "content": "Text.\n" }));
    let open = drafted(&mut play, "intake");
    let second = job(&open);
    assert_eq!(second.call.name, "ui_gate");
    assert_eq!(second.gate.drafts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["intake"]);
    // The model reads its own words as it wrote them, and no call that it did not make.
    let messages = play.machine.context().messages();
    let last = messages.last().unwrap();
    let Message::Assistant { content, tool_calls, .. } = &**last else { panic!() };
    assert_eq!((content.as_deref(), tool_calls.len()), (Some(words), 1));
}

#[test]
fn a_draft_that_is_refused_is_told() {
    let mut play = play();
    replies(&mut play, "<draft name=\"intake\">\nText.\n</draft>\n", &[]);
    play.refused(RefusalCode::WriteLimit);
    assert!(last_text(&play).starts_with("No draft was made: No."), "{}", last_text(&play));
    let mut play = self::play();
    replies(&mut play, "<draft name=\"intake\">\nText.\n", &[]);
    assert!(last_text(&play).contains("is not closed by a line </draft>"));
    let nudged = play.told.iter().any(|kind| {
        matches!(kind, EventKind::Model(ModelEvent::Nudged(nudged)) if nudged.kind == NudgeKind::Draft)
    });
    assert!(nudged);
}

#[test]
fn a_draft_that_the_user_was_not_shown_waits() {
    let mut play = play();
    replies(&mut play, "<draft name=\"intake\">\nText.\n</draft>\nThere it is.\n", &[]);
    drafted(&mut play, "intake");
    assert!(last_text(&play).starts_with("The draft is kept. Show it to the user"));
    assert!(
        last_text(&play)
            .ends_with(r#"ui_gate {"drafts":["<name>"],"note":"<one sentence to the user>"}"#)
    );
}

#[test]
fn a_choice_that_leads_on_is_carried_out_without_a_request() {
    let mut play = asked();
    let open = play.user("ok");
    let job = job(&open);
    let choice = job.gate.choice.clone().unwrap();
    assert_eq!((choice.key.as_str(), choice.drafts.len()), ("C", 1));
    assert_eq!(choice.drafts[0].sha256.to_string(), "a".repeat(64));
    assert!(job.gate.visit.chosen.contains("C"));
    let turns = play.machine.turns();
    let open = play.moved(SECOND);
    assert_eq!(play.machine.turns(), turns);
    assert!(matches!(open, Effect::AskModel(ask) if ask.node_id.as_deref() == Some(SECOND)));
}

#[test]
fn the_outcome_of_a_choice_saves_the_draft_and_moves() {
    let mut play = asked();
    let open = play.user("C");
    let job = job(&open);
    let terms = play.machine.gate_terms(&job.gate.visit).unwrap();
    let choice = job.gate.choice.clone().unwrap();
    let outcome = terms.outcome(&Default::default(), &choice).unwrap();
    assert!(outcome.remaining.is_empty());
    let [file] = &outcome.call.files[..] else { panic!() };
    assert_eq!(file.path.to_string(), "@project/artifacts/intake.md");
    assert_eq!(file.copies[0].if_from, Some(choice.drafts[0].sha256));
    let completion = outcome.call.completion.unwrap();
    assert_eq!(completion.gate.as_deref(), Some("C"));
    assert_eq!(completion.reason.as_deref(), Some("the user chose C Continue"));
}

#[test]
fn another_choice_and_words_go_to_the_model() {
    let mut play = asked();
    assert!(matches!(play.user("a"), Effect::AskModel(_)));
    assert_eq!(
        last_text(&play),
        r#"{"ok":true,"chosen":"A","label":"Ask deeper","text":"Ask twice."}"#
    );
    let mut play = asked();
    assert!(matches!(play.user("Continue, but shorter"), Effect::AskModel(_)));
    assert!(last_text(&play).contains(r#""chosen":null"#), "{}", last_text(&play));
    assert!(last_text(&play).contains("but shorter"));
}

#[test]
fn an_empty_answer_is_asked_again() {
    let mut play = asked();
    let open = play.user("  ");
    assert!(matches!(&open, Effect::Rest(rest) if rest.question.is_some()), "{open:?}");
    assert!(matches!(play.user("C"), Effect::Perform(_)));
}

#[test]
fn an_option_may_come_after_another_one() {
    let mut play = asked();
    assert_eq!(question_keys(&play), ["A", "C"]);
    play.user("A");
    play.calls(&[GATE]);
    assert_eq!(question(&play).options.len(), 3);
    let does: Vec<_> = question(&play).options.iter().filter_map(|option| option.does).collect();
    assert_eq!(does, [GateAction::Stay, GateAction::Edge, GateAction::Stay]);
}

fn question_keys(play: &Play) -> Vec<String> {
    let Effect::Rest(Rest { question: Some(question), .. }) = play.machine.open() else { panic!() };
    assert_eq!(question.kind, QuestionKind::Gate);
    question.options.iter().map(|option| option.value.clone()).collect()
}

#[test]
fn a_refused_choice_leaves_the_run_where_it_is() {
    let mut play = asked();
    play.user("C");
    let open = play.refused(RefusalCode::Precondition);
    assert!(matches!(open, Effect::AskModel(ask) if ask.node_id.as_deref() == Some(FIRST)));
    // The user has chosen; another call is no choice by itself.
    let open = play.calls(&[GATE]);
    assert!(job(&open).gate.choice.is_none() && job(&open).gate.visit.chosen.contains("C"));
}

#[test]
fn calls_behind_a_gate_are_not_carried_out() {
    let mut play = play();
    replies(&mut play, "", &[GATE, ("fs_write", r#"{"path":"x","content":"y"}"#)]);
    let question = question(&play);
    play.step(Input::Asked(question));
    play.user("A");
    assert_eq!(play.left_out(), [("c1", "the user has answered since")]);
}

#[test]
fn a_menu_in_words_is_a_question_and_a_typed_choice_counts() {
    let mut play = play();
    replies(
        &mut play,
        "<draft name=\"intake\">\nText.\n</draft>\n[A] Ask deeper [C] Continue",
        &[],
    );
    let open = drafted(&mut play, "intake");
    assert!(
        matches!(&open, Effect::Rest(rest) if rest.reason == Some(Reason::StopPoint)),
        "{open:?}"
    );
    let open = play.user("c");
    assert!(matches!(open, Effect::AskModel(_)));
    let told = last_text(&play);
    assert!(told.starts_with("The user chose C Continue. Go on with these calls"), "{told}");
    let save = r#"fs_write {"path":"artifacts/intake.md","from":"@state/drafts/intake.md","mode":"append"}; complete_node {}"#;
    assert!(told.contains(save), "{told}");
    let open = play.calls(&[("complete_node", "{}")]);
    let visit = &job(&open).gate.visit;
    assert!(visit.chosen.contains("C") && visit.has_spoken);
    // The text of a draft is not carried to other nodes.
    assert!(!format!("{:?}", play.machine.words()).contains("Text."));
}

#[test]
fn agreement_counts_at_a_stop_point_only_with_the_menu() {
    let mut play = play();
    play.says("Do you want Postgres?");
    play.user("yes");
    let open = play.calls(&[("complete_node", "{}")]);
    assert!(job(&open).gate.visit.chosen.is_empty());
    assert!(job(&open).gate.visit.has_spoken);
}

#[test]
fn another_visit_knows_no_choice() {
    let mut play = asked();
    play.user("C");
    play.moved(SECOND);
    let open = play.calls(&[("complete_node", "{}")]);
    assert_eq!(job(&open).gate.visit, Default::default());
}

#[test]
fn saved_drafts_are_one_line_at_later_nodes() {
    let mut play = asked();
    play.user("C");
    let mut state = play.machine.run_state().clone();
    state.current_node_id = SECOND.into();
    let moved = Some(Moved { from: FIRST.into(), to: SECOND.into(), label: "next".into() });
    let saved = SavedDraft {
        name: "intake".into(),
        path: "artifacts/intake.md".into(),
        sha256: "a".repeat(64),
        bytes: 1_234,
    };
    let answer =
        Answer { result: r#"{"ok":true}"#.into(), saved: vec![saved], ..Answer::default() };
    let change = StateChange { state, moved, ..StateChange::default() };
    play.step(Input::Answered { answer, state: Some(change) });
    let line = "- drafts: intake in artifacts/intake.md (1,234 bytes)";
    assert!(play.last_layer("STATE_SUMMARY").contains(line));
}

#[test]
fn the_brief_of_a_gate_tells_what_the_user_chooses() {
    let brief = play().last_brief();
    for line in [
        "- gate: the user chooses A Ask deeper, C Continue, Z Ask twice\n",
        "; C saves it to artifacts/intake.md (at its end)\n",
        r#"To finish, with your own values for <…>: ui_gate {"drafts":["<name>"],"note":"<one sentence to the user>"}"#,
    ] {
        assert!(brief.contains(line), "{brief}");
    }
    let plain = Play::of("hello-branch", RunSettings::default());
    assert!(!plain.machine.takes_drafts());
    assert!(!plain.machine.policy().tells_gates);
    assert_eq!(plain.machine.policy().state_tool(), StateTool::Runtime);
}

#[test]
fn many_drafts_and_long_ones_are_taken() {
    let mut play = play();
    let words = "<draft name=\"x\">\nx\n</draft>\n".repeat(1_000);
    let open = replies(&mut play, &words, &[]);
    assert!(matches!(open, Effect::Perform(_)));
    for _ in 0..16 {
        drafted(&mut play, "x");
    }
    assert!(last_text(&play).contains("one reply has at most 16 drafts"));
    let finished = play
        .told
        .iter()
        .filter(|kind| matches!(kind, EventKind::Tool(ToolEvent::Finished(ToolFinished { .. }))));
    assert_eq!(finished.count(), 0);
}
