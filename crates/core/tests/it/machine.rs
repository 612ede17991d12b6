//! Tests of the run machine: the effect that it wants after every possible input.

mod calls;
mod gates;
mod known;
mod law;
mod node_limits;
mod nudges;
mod shown;
mod stop_calls;
mod tiers;
mod visits;

use std::sync::Arc;

use crewagent_core::event::{
    Answer, EventKind, Finish, ModelEvent, Moved, Phase, Reason, Reply, StateChange, StateEvent,
    ToolEvent,
};
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::question::Question;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::run::machine::{CallJob, Effect, Input, Machine, Moves, Rest, Subject, Whole};
use crewagent_core::settings::{Limits, Mode, RunSettings};
use crewagent_core::state::guard::Confirmation;
use crewagent_core::state::run_state::RunState;
use crewagent_core::usage::Usage;
use crewagent_testkit::fixture::{checked, example};
use crewagent_testkit::package::MemoryFiles;
use jiff::Timestamp;
use serde_json::{Map, Value};

/// Run of an example with its clock.
struct Play {
    machine: Machine,
    now: i64,
    told: Vec<EventKind>,
}

impl Play {
    fn new() -> Self {
        Self::with(RunSettings::default())
    }

    fn with(settings: RunSettings) -> Self {
        Self::of("create-story-micro", settings)
    }

    fn of(package: &str, settings: RunSettings) -> Self {
        Self::starting(package, settings, &[])
    }

    /// Starts with variables that the user gave.
    fn starting(package: &str, settings: RunSettings, given: &[&str]) -> Self {
        Self::on(&example(package), settings, given)
    }

    /// Starts create-story-micro with a line more in the frontmatter of its first step.
    fn advised(line: &str, settings: RunSettings) -> Self {
        const STEP: &str = "steps/step-01-select-story.md";
        let mut files = example("create-story-micro");
        let text = files.text(STEP).replacen("type: step\n", &format!("type: step\n{line}\n"), 1);
        files.put(STEP, text).unwrap();
        Self::on(&files, settings, &[])
    }

    fn on(files: &MemoryFiles, settings: RunSettings, given: &[&str]) -> Self {
        let package = Arc::new(checked(files).package.unwrap());
        let agent = package.agents()[0].id.clone();
        let current_node_id = package.workflows()[0].graph.entry().to_string();
        let variables =
            given.iter().map(|name| ((*name).to_owned(), Value::from("given"))).collect();
        let run_state = RunState { current_node_id, variables, ..RunState::default() };
        let machine = Machine::new(
            Subject::Workflow { package, workflow: 0, agent, data: None, bindings: Arc::default() },
            settings,
            run_state,
        );
        let mut play = Self { machine, now: 1_000, told: Vec::new() };
        play.step(Input::Start);
        play
    }

    /// Makes one step, surveys a node that is entered, and returns the open effect.
    fn step(&mut self, input: Input) -> Effect {
        match self.one_step(input) {
            Effect::Survey(plan) => self.one_step(Input::Surveyed(Box::new(plan.entered))),
            other => other,
        }
    }

    /// Makes one step and returns the open effect, which is the last one, and the only open one.
    fn one_step(&mut self, input: Input) -> Effect {
        self.now += 1;
        let mut effects = self.machine.step(input, Timestamp::from_second(self.now).unwrap());
        let open = effects.pop().unwrap();
        for effect in effects {
            match effect {
                Effect::Tell(kind) => self.told.push(*kind),
                other => panic!("open before the end: {other:?}"),
            }
        }
        check_open(&self.machine, &open);
        open
    }

    fn says(&mut self, words: &str) -> Effect {
        self.step(Input::Replied(Reply { content: Some(words.to_owned()), ..Reply::default() }))
    }

    fn calls(&mut self, calls: &[(&str, &str)]) -> Effect {
        let call = |(at, (name, arguments)): (usize, &(&str, &str))| ToolCall {
            id: format!("c{at}"),
            name: (*name).to_owned(),
            arguments: (*arguments).into(),
            extra: Map::new(),
        };
        let tool_calls = calls.iter().enumerate().map(call).collect();
        self.step(Input::Replied(Reply { tool_calls, ..Reply::default() }))
    }

    fn answered(&mut self) -> Effect {
        let answer = Answer { result: r#"{"ok":true}"#.into(), ..Answer::default() };
        self.step(Input::Answered { answer, state: None })
    }

    fn refused(&mut self, code: RefusalCode) -> Effect {
        let result = Refusal::new(code, "No.").to_json().to_string().into();
        let answer = Answer { result, refused: Some(code), ..Answer::default() };
        self.step(Input::Answered { answer, state: None })
    }

    fn moved(&mut self, to: &str) -> Effect {
        let from = self.machine.run_state().current_node_id.clone();
        let mut state = self.machine.run_state().clone();
        state.steps_completed.push(from.clone());
        state.current_node_id = to.to_owned();
        let moved = Some(Moved { from, to: to.to_owned(), label: "next".to_owned() });
        self.changed(StateChange { state, moved, ..StateChange::default() })
    }

    fn completed(&mut self) -> Effect {
        let mut state = self.machine.run_state().clone();
        state.complete = true;
        self.changed(StateChange { state, ..StateChange::default() })
    }

    fn changed(&mut self, change: StateChange) -> Effect {
        let answer = Answer { result: r#"{"ok":true}"#.into(), ..Answer::default() };
        self.step(Input::Answered { answer, state: Some(change) })
    }

    fn user(&mut self, words: &str) -> Effect {
        self.step(Input::User(words.into()))
    }

    /// Returns the first lines of the messages to the model.
    fn sent(&self) -> Vec<String> {
        let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let head = |message: &Arc<Message>| match &**message {
            Message::System { .. } => "system".to_owned(),
            Message::User { content } => first(content),
            Message::Assistant { content, tool_calls, .. } => {
                format!("assistant {} {}", content.as_deref().unwrap_or("-"), tool_calls.len())
            }
            Message::Tool { tool_call_id, .. } => format!("tool {tool_call_id}"),
        };
        self.machine.context().messages().iter().map(head).collect()
    }

    /// Returns the calls that were not carried out, each with the words of its answer that say why.
    fn left_out(&self) -> Vec<(&str, &'static str)> {
        const REASONS: [&str; 5] = [
            "the user has answered since",
            "the call before it was refused",
            "the call before it has left the node",
            "the workflow is complete",
            "the user has denied the call before it",
        ];
        let events = self.told.iter().filter_map(|kind| match kind {
            EventKind::Tool(ToolEvent::Finished(finished))
                if finished.answer.refused == Some(RefusalCode::NotExecuted) =>
            {
                Some(finished)
            }
            _ => None,
        });
        let reason =
            |result: &str| *REASONS.iter().find(|reason| result.contains(**reason)).unwrap();
        events
            .map(|finished| {
                (finished.call_id.as_str(), reason(finished.answer.result.inline().unwrap()))
            })
            .collect()
    }

    fn last_directive(&self) -> String {
        self.last_layer("RUN_DIRECTIVE")
    }

    fn last_brief(&self) -> String {
        self.last_layer("NODE_BRIEF")
    }

    /// Returns the last section that begins with this word.
    fn last_layer(&self, name: &str) -> String {
        let messages = self.machine.context().messages();
        let found = messages.iter().rev().find_map(|message| match &**message {
            Message::User { content } => content.find(name).map(|at| content[at..].to_owned()),
            _ => None,
        });
        found.unwrap()
    }
}

/// Checks that the phase fits the open effect, and that `open` returns the same as the step.
fn check_open(machine: &Machine, open: &Effect) {
    let phase = machine.phase();
    match (open, machine.open()) {
        (Effect::AskModel(one), Effect::AskModel(other)) => {
            assert_eq!(*one, other);
            assert_eq!(phase, Phase::Running);
            machine.clone().context_mut().check().unwrap();
        }
        (Effect::Perform(one), Effect::Perform(other)) => {
            assert_eq!(one.call, other.call);
            assert_eq!(phase, Phase::Running);
        }
        (Effect::Survey(one), Effect::Survey(other)) => {
            assert_eq!(one.entered, other.entered);
            assert_eq!(phase, Phase::Running);
        }
        (Effect::FrameChange(one), Effect::FrameChange(other)) => {
            assert_eq!(*one, other);
            assert_eq!(phase, Phase::Running);
        }
        (Effect::Rest(one), Effect::Rest(other)) => {
            assert_eq!(*one, other);
            assert_eq!(phase, one.phase);
            assert_ne!(phase, Phase::Running);
        }
        (step, open) => panic!("{step:?} is not {open:?}"),
    }
}

fn rest(effect: Effect) -> Rest {
    match effect {
        Effect::Rest(rest) => rest,
        other => panic!("it does not rest: {other:?}"),
    }
}

fn job(effect: Effect) -> CallJob {
    match effect {
        Effect::Perform(job) => *job,
        other => panic!("nothing is performed: {other:?}"),
    }
}

#[track_caller]
fn check_asks(effect: &Effect, turn: u64, node: Option<&str>, agent: &str) {
    match effect {
        Effect::AskModel(ask) => {
            assert_eq!(
                (ask.turn, ask.node_id.as_deref(), ask.agent_id.as_ref().unwrap().as_str()),
                (turn, node, agent)
            );
        }
        other => panic!("the model is not asked: {other:?}"),
    }
}

fn confirm(question: &str) -> Question {
    Question::confirm(question)
}

fn call(id: &str) -> ToolCall {
    let name = "fs.read".to_owned();
    ToolCall { id: id.to_owned(), name, arguments: "{}".into(), extra: Map::new() }
}

#[test]
fn a_run_begins_with_the_rules_and_one_message() {
    let play = Play::new();
    assert_eq!(play.sent(), ["system", "system", "RUN_DIRECTIVE"]);
    assert!(play.last_directive().contains("- intent: start\n"));
    assert!(play.last_brief().contains("\nTo finish, with your own values"));
    check_asks(&play.machine.open(), 1, Some("step-01-select-story"), "sm");
}

#[test]
fn a_question_in_words_is_a_stop_point() {
    let mut play = Play::new();
    let rest = rest(play.says("Which story?"));
    assert_eq!((rest.phase, rest.reason), (Phase::WaitingUser, Some(Reason::StopPoint)));
    let asked = play.user("1-2-login");
    check_asks(&asked, 2, Some("step-01-select-story"), "sm");
    assert_eq!(play.sent()[3..], ["assistant Which story? 0", "USER_INPUT"]);
}

#[test]
fn calls_are_performed_one_after_the_other_and_then_the_model_is_asked() {
    let mut play = Play::new();
    let first = job(play.calls(&[("fs.read", r#"{"path":"a"}"#), ("fs_list", r#"{"path":"b"}"#)]));
    assert_eq!(first.call.name, "fs.read");
    let second = job(play.answered());
    assert_eq!(second.call.name, "fs_list");
    let asked = play.answered();
    check_asks(&asked, 2, Some("step-01-select-story"), "sm");
    assert_eq!(play.sent()[3..], ["assistant - 2", "tool c0", "tool c1"]);
}

#[test]
fn calls_without_or_with_the_same_id_get_ids_of_their_own() {
    let mut play = Play::new();
    let tool_calls = vec![call("x"), call("x"), call(" ")];
    let first = job(play.step(Input::Replied(Reply { tool_calls, ..Reply::default() })));
    let (second, third) = (job(play.answered()), job(play.answered()));
    let ids = [first.call.id, second.call.id, third.call.id];
    assert_eq!(ids, ["x", "call_1_2", "call_1_3"]);
}

#[test]
fn ids_and_names_that_are_too_long_to_repeat_are_replaced() {
    let mut play = Play::new();
    let long = ToolCall { name: "n".repeat(1 << 20), ..call(&"i".repeat(1 << 20)) };
    let many = (0..63).map(|at| call(&format!("{at:020000}")));
    let tool_calls = std::iter::once(long).chain(many).collect();
    let mut next = play.step(Input::Replied(Reply { tool_calls, ..Reply::default() }));
    for _ in 0..63 {
        job(next);
        next = play.answered();
    }
    play.answered();
    assert_eq!(play.sent()[4], "tool call_1_1");
    let bytes: u64 = play.machine.context().messages().iter().map(|message| message.bytes()).sum();
    assert!(bytes < 100_000, "{bytes}");
}

#[test]
fn a_move_drops_the_traffic_and_tells_the_model_where_it_is() {
    let mut play = Play::new();
    play.calls(&[("fs.read", r#"{"path":"a"}"#)]);
    play.answered();
    play.calls(&[("fs.apply_patch", "{}")]);
    let asked = play.moved("step-02-discover-inputs");
    check_asks(&asked, 3, Some("step-02-discover-inputs"), "sm");
    assert_eq!(play.sent(), ["system", "system", "RUN_DIRECTIVE"]);
    assert!(play.last_directive().contains("- intent: continue\n"));
    assert!(matches!(play.told.last(), Some(EventKind::State(StateEvent::Changed(_)))));
}

#[test]
fn the_agent_of_a_node_takes_over_with_its_policy() {
    let mut play = Play::new();
    play.calls(&[("fs.apply_patch", "{}")]);
    let asked = play.moved("end-99");
    check_asks(&asked, 2, Some("end-99"), "summarizer");
    assert_eq!(play.machine.policy().fs.max_write_bytes, 1_048_576);
}

#[test]
fn completion_leaves_room_for_closing_words() {
    let mut play = Play::new();
    play.calls(&[("fs.apply_patch", "{}")]);
    let asked = play.completed();
    check_asks(&asked, 2, None, "sm");
    let sent = play.sent();
    assert_eq!(sent[sent.len() - 2], "tool c0");
    assert!(sent.last().unwrap().starts_with("The workflow is complete."), "{sent:?}");
    let rest = rest(play.says("All done."));
    assert_eq!((rest.phase, rest.reason), (Phase::Completed, None));
    let asked = play.user("Thanks. What did you write?");
    check_asks(&asked, 3, None, "sm");
    let sent = play.sent();
    assert!(!sent.iter().any(|line| line.starts_with("tool") || line == "NODE_BRIEF"), "{sent:?}");
    let directive = play.last_directive();
    assert!(directive.contains("post-run") && !directive.contains("currentNodeId"), "{directive}");
    assert!(directive.contains("CONVERSATION\nYou said: All done."), "{directive}");
}

#[test]
fn words_beside_the_completing_call_are_the_last_words() {
    let mut play = Play::new();
    let tool_calls = vec![ToolCall { name: "complete_node".into(), ..call("c0") }];
    let content = Some("All done.".to_owned());
    play.step(Input::Replied(Reply { content, tool_calls, ..Reply::default() }));
    let rest = rest(play.completed());
    assert_eq!((rest.phase, rest.reason), (Phase::Completed, None));
}

#[test]
fn words_of_the_user_are_carried_to_the_next_node() {
    let mut play = Play::new();
    play.says("Which story?");
    play.user("1-2-login");
    play.calls(&[("ui.ask_user", "{}")]);
    play.step(Input::Asked(confirm("Really?")));
    play.user("yes");
    play.calls(&[("fs.apply_patch", "{}")]);
    play.moved("step-02-discover-inputs");
    let text = play.last_directive();
    let said = "CONVERSATION\nYou asked: Which story?\nUSER_INPUT\n- forNodeId: step-01-select-story\n1-2-login\nYou asked: Really?\nUSER_INPUT\n- forNodeId: step-01-select-story\nyes\n";
    assert!(text.contains(said), "{text}");
    assert_eq!(play.sent(), ["system", "system", "RUN_DIRECTIVE"]);
}

#[test]
fn a_completed_run_changes_its_state_once_per_yes() {
    let mut play = Play::new();
    play.calls(&[("fs.apply_patch", "{}")]);
    play.completed();
    play.says("Done.");
    play.user("Open it again.");
    assert_eq!(job(play.calls(&[("fs.apply_patch", "{}")])).confirmation, Confirmation::Needed);
    play.refused(RefusalCode::ConfirmationRequired);
    play.calls(&[("ui.ask_user", "{}")]);
    rest(play.step(Input::Asked(confirm("Really?"))));
    play.user("yes");
    let allowed = job(play.calls(&[("fs.apply_patch", "{}")]));
    assert_eq!(allowed.confirmation, Confirmation::Given);
    play.completed();
    assert_eq!(job(play.calls(&[("fs.apply_patch", "{}")])).confirmation, Confirmation::Needed);
}

#[test]
fn a_no_confirms_nothing() {
    let mut play = Play::new();
    play.calls(&[("fs.apply_patch", "{}")]);
    play.completed();
    play.says("Done.");
    play.user("Hm.");
    play.calls(&[("ui.ask_user", "{}")]);
    play.step(Input::Asked(confirm("Really?")));
    play.user("no");
    assert_eq!(job(play.calls(&[("fs.apply_patch", "{}")])).confirmation, Confirmation::Needed);
}

#[test]
fn an_answer_to_a_question_is_the_answer_of_its_call() {
    let mut play = Play::new();
    play.calls(&[("ui.ask_user", "{}"), ("fs.read", "{}")]);
    let waiting = rest(play.step(Input::Asked(confirm("Go on?"))));
    assert_eq!((waiting.phase, waiting.reason), (Phase::WaitingUser, Some(Reason::Question)));
    let again = rest(play.user("perhaps"));
    assert!(again.message.is_some() && again.question.is_some());
    let asked = play.user("yes");
    check_asks(&asked, 2, Some("step-01-select-story"), "sm");
    assert_eq!(play.sent()[3..], ["assistant - 2", "tool c0", "tool c1"]);
    assert_eq!(play.left_out(), [("c1", "the user has answered since")]);
}

#[test]
fn words_that_are_no_answer_are_one_when_they_are_said_again() {
    let mut play = Play::new();
    play.calls(&[("ui.ask_user", "{}"), ("fs.read", "{}")]);
    play.step(Input::Asked(confirm("Go on?")));
    for nothing in ["", " "] {
        let again = rest(play.user(nothing));
        assert!(!again.message.unwrap().contains("once more"));
    }
    for other in ["perhaps", "rather not yet", "perhaps"] {
        let again = rest(play.user(other));
        assert!(again.message.unwrap().contains("once more"), "{other}");
    }
    check_asks(&play.user(" perhaps "), 2, Some("step-01-select-story"), "sm");
    let messages = play.machine.context().messages();
    let told = messages.iter().find_map(|message| match &**message {
        Message::Tool { tool_call_id, content } if tool_call_id == "c0" => content.inline(),
        _ => None,
    });
    let told: Value = serde_json::from_str(told.unwrap()).unwrap();
    assert_eq!((&told["answer"], &told["words"]), (&Value::Null, &" perhaps ".into()));
}

#[test]
fn three_identical_failing_calls_are_a_loop() {
    let mut play = Play::new();
    for _ in 0..2 {
        play.calls(&[("fs.read", r#"{"path":"x"}"#)]);
        play.refused(RefusalCode::NotFound);
    }
    play.calls(&[("fs.read", r#"{"path":"x"}"#)]);
    let rest = rest(play.refused(RefusalCode::NotFound));
    assert_eq!((rest.phase, rest.reason), (Phase::WaitingUser, Some(Reason::Loop)));
    check_asks(&play.user("Try y."), 4, Some("step-01-select-story"), "sm");
}

#[test]
fn other_arguments_or_a_success_begin_the_count_anew() {
    let mut play = Play::new();
    for path in ["x", "x", "y", "x"] {
        play.calls(&[("fs.read", &format!(r#"{{"path":"{path}"}}"#))]);
        let asked = play.refused(RefusalCode::NotFound);
        assert!(matches!(asked, Effect::AskModel(_)));
    }
}

fn limited(limits: Limits) -> Play {
    Play::with(RunSettings { limits, ..RunSettings::default() })
}

#[test]
fn limits_stop_the_run_with_their_reason_and_a_resume_or_a_word_renews_them() {
    let mut play = limited(Limits { turns: 2, ..Limits::default() });
    play.calls(&[("fs.read", "{}")]);
    play.answered();
    play.calls(&[("fs.read", "{}")]);
    let stopped = rest(play.answered());
    assert_eq!((stopped.phase, stopped.reason), (Phase::WaitingUser, Some(Reason::LimitTurns)));
    let mut other = Play { machine: play.machine.clone(), now: play.now, told: Vec::new() };
    check_asks(&play.user("Go on."), 3, Some("step-01-select-story"), "sm");
    let resumed = other.step(Input::Resume { place: None, settings: None });
    check_asks(&resumed, 3, Some("step-01-select-story"), "sm");
}

#[test]
fn time_tokens_and_money_are_limits_too() {
    let mut play = limited(Limits { seconds: Some(100), ..Limits::default() });
    play.calls(&[("fs.read", "{}")]);
    play.now += 200;
    assert_eq!(rest(play.answered()).reason, Some(Reason::LimitTime));

    let spends = |play: &mut Play, usage: Usage| {
        play.step(Input::Replied(Reply { tool_calls: vec![call("c")], usage, ..Reply::default() }));
        rest(play.answered()).reason
    };
    let mut play = limited(Limits { tokens: Some(10), ..Limits::default() });
    let usage = Usage { input_tokens: 6, output_tokens: 5, ..Usage::default() };
    assert_eq!(spends(&mut play, usage), Some(Reason::LimitTokens));
    let mut play = limited(Limits { cost: Some(0.5), ..Limits::default() });
    let usage = Usage { cost: Some(0.6), ..Usage::default() };
    assert_eq!(spends(&mut play, usage), Some(Reason::LimitCost));
}

#[test]
fn a_node_that_does_not_fit_the_window_stops_the_run() {
    let play = Play::with(RunSettings { window_tokens: 500, ..RunSettings::default() });
    assert_eq!(rest(play.machine.open()).reason, Some(Reason::LimitWindow));
}

#[test]
fn a_request_that_was_too_long_after_all_is_asked_again_with_less() {
    let mut play = Play::new();
    for _ in 0..4 {
        play.calls(&[("fs.read", "{}")]);
        let answer = Answer { result: "x".repeat(20_000).into(), ..Answer::default() };
        play.step(Input::Answered { answer, state: None });
    }
    let before = play.machine.context().bytes();
    let asked = play.step(Input::Overflowed("too long".to_owned()));
    check_asks(&asked, 5, Some("step-01-select-story"), "sm");
    assert!(play.machine.context().bytes() < before);
    assert!(
        play.told.iter().any(|kind| matches!(kind, EventKind::Model(ModelEvent::ContextCut(_))))
    );
    // A provider that rejects every length gets only a few attempts.
    let mut tries = 1;
    let stopped = loop {
        match play.step(Input::Overflowed("too long".to_owned())) {
            Effect::AskModel(_) => tries += 1,
            other => break rest(other),
        }
    };
    assert!(tries <= 3, "{tries}");
    assert_eq!((stopped.phase, stopped.reason), (Phase::WaitingUser, Some(Reason::LimitWindow)));
    check_asks(&play.user("Go on."), 5, Some("step-01-select-story"), "sm");
}

#[test]
fn the_last_call_of_a_reply_that_broke_off_is_not_whole() {
    let mut play = Play::new();
    let reply = Reply {
        tool_calls: vec![call("a"), call("b")],
        finish: Finish::Length,
        ..Reply::default()
    };
    assert_eq!(job(play.step(Input::Replied(reply))).whole, Whole::Whole);
    assert_eq!(job(play.answered()).whole, Whole::CutOff);
}

#[test]
fn guided_mode_asks_before_each_move() {
    let mut play = Play::with(RunSettings { mode: Mode::Guided, ..RunSettings::default() });
    assert!(play.last_directive().contains("- autopilot: false"));
    let moved = Moved { from: "a".into(), to: "b".into(), label: "next".into() };
    let proposed =
        || Input::Proposed { moved: moved.clone(), files: Vec::new(), question: confirm("Go on?") };
    assert_eq!(job(play.calls(&[("fs.apply_patch", "{}")])).moves, Moves::Ask);
    rest(play.step(proposed()));
    let agreed = job(play.user("yes"));
    assert_eq!(agreed.moves, Moves::Free);
    play.moved("step-02-discover-inputs");
    assert_eq!(job(play.calls(&[("fs.apply_patch", "{}")])).moves, Moves::Ask);
    rest(play.step(proposed()));
    let asked = play.user("first show me the list");
    check_asks(&asked, 3, Some("step-02-discover-inputs"), "sm");
    let messages = play.machine.context().messages();
    let Some(Message::Tool { content, .. }) = messages.last().map(|message| &**message) else {
        panic!("the call has no answer")
    };
    assert!(content.inline().unwrap().contains("first show me the list"));
}

#[test]
fn a_resume_keeps_what_is_open_and_the_request_as_it_was() {
    let mut play = Play::new();
    play.calls(&[("fs.read", "{}"), ("fs.list", "{}")]);
    let open = job(play.step(Input::Resume { place: None, settings: None }));
    assert_eq!(open.call.name, "fs.read");
    play.answered();
    play.answered();
    let before = play.sent();
    let resumed = play.step(Input::Resume { place: None, settings: None });
    check_asks(&resumed, 2, Some("step-01-select-story"), "sm");
    assert_eq!(play.sent(), before);
    let state = Some(play.machine.run_state().clone());
    play.step(Input::Resume { place: state.map(Into::into), settings: None });
    assert!(play.last_directive().contains("- intent: resume"));
}

#[test]
fn a_document_that_says_otherwise_wins() {
    let mut play = Play::new();
    play.calls(&[("fs.read", "{}"), ("fs.list", "{}")]);
    let state =
        RunState { current_node_id: "step-03-extract-context".to_owned(), ..RunState::default() };
    let asked = play.step(Input::Resume { place: Some(state.into()), settings: None });
    check_asks(&asked, 2, Some("step-03-extract-context"), "sm");
    assert!(!play.sent().iter().any(|line| line.starts_with("tool")));
}

#[test]
fn a_document_that_says_otherwise_takes_nothing_along() {
    let mut play = Play::with(RunSettings { mode: Mode::Guided, ..RunSettings::default() });
    play.calls(&[("fs.read", "{}"), ("ui.ask_user", "{}")]);
    play.answered();
    rest(play.step(Input::Asked(confirm("Well?"))));
    let state =
        RunState { current_node_id: "step-03-extract-context".to_owned(), ..RunState::default() };
    let waiting = rest(play.step(Input::Resume { place: Some(state.into()), settings: None }));
    assert_eq!((waiting.reason, waiting.question), (Some(Reason::StopPoint), None));

    let mut play = Play::new();
    play.calls(&[("fs.read", "{}")]);
    play.user("Mind the gap.");
    let state = Some(play.machine.run_state().clone());
    play.step(Input::Resume { place: state.map(Into::into), settings: None });
    assert_eq!(play.sent().last().unwrap(), "USER_INPUT");
}

#[test]
fn an_id_that_a_model_chose_is_never_given_to_another_call() {
    let mut play = Play::new();
    let tool_calls = vec![call(""), call("call_1_1"), call("call_1_4"), call("call_1_1")];
    play.step(Input::Replied(Reply { tool_calls, ..Reply::default() }));
    for _ in 0..4 {
        play.answered();
    }
    assert!(matches!(play.machine.open(), Effect::AskModel(_)));
}

#[test]
fn a_flood_of_calls_is_cut_and_said() {
    let mut play = Play::new();
    let calls: Vec<(&str, String)> =
        (0..300).map(|n| ("fs.read", format!(r#"{{"path":"{n}"}}"#))).collect();
    let calls: Vec<(&str, &str)> =
        calls.iter().map(|(name, text)| (*name, text.as_str())).collect();
    play.calls(&calls);
    let mut performed = 1;
    while matches!(play.answered(), Effect::Perform(_)) {
        performed += 1;
    }
    assert_eq!(performed, 256);
    assert!(play.sent().last().unwrap().contains("300 tool calls"));
}

#[test]
fn the_rest_of_a_reply_that_only_fails_is_not_performed() {
    let mut play = Play::new();
    play.calls(&[("fs.read", "{}"); 10]);
    play.refused(RefusalCode::NotFound);
    play.refused(RefusalCode::NotFound);
    assert_eq!(rest(play.refused(RefusalCode::NotFound)).reason, Some(Reason::Loop));
}

#[test]
fn a_completed_run_waits_for_the_user_and_says_so_when_a_limit_ends_it() {
    let mut play = limited(Limits { turns: 1, ..Limits::default() });
    play.calls(&[("fs.apply_patch", "{}")]);
    let stopped = rest(play.completed());
    assert_eq!((stopped.phase, stopped.reason), (Phase::Completed, Some(Reason::LimitTurns)));
    assert!(stopped.message.unwrap().contains("asked once"));
    check_asks(&play.step(Input::Resume { place: None, settings: None }), 2, None, "sm");
}

#[test]
fn words_that_come_while_calls_are_open_wait_for_their_answers() {
    let mut play = Play::new();
    play.calls(&[("fs.read", "{}")]);
    job(play.user("Hurry up."));
    play.answered();
    assert_eq!(play.sent().last().unwrap(), "USER_INPUT");
}
