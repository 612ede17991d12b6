//! Replies that bring nothing forward: nudges, and when the user is asked.

use crewagent_core::event::{
    Answer, EventKind, Finish, ModelEvent, NudgeKind, Phase, Reason, Reply, StateChange,
    SurveyedOutput, WrittenDigest,
};
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::prompt;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::run::machine::{Effect, Input, Machine, Subject};
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_core::state::guard::MissingRule;
use crewagent_core::state::run_state::RunState;
use crewagent_core::state::visit_files::OutputRule;
use serde_json::json;

use super::{Play, call, check_asks, confirm, job, rest};

const NODE: &str = "step-01-select-story";
const FINISHING: &str = r#"complete_node {"variables":{"storyKey":"<…>","epicNum":"<…>","storyNum":"<…>","storyTitle":"<…>","sprintStatusPath":"<…>"},"files":[{"path":"artifacts/create-story/target.md","content":"<text>"}]}"#;
const N1: &str = "Nothing was done: a reply without a tool call changes nothing. step-01-select-story is still open. Missing: file artifacts/create-story/target.md; variables storyKey, epicNum, storyNum, storyTitle, sprintStatusPath. Call a tool now, or ui_ask_user if only the user can help.";
const N3: &str = "Nobody confirms steps on autopilot. Go on. If the step itself demands this decision of the user, ask with ui_ask_user.";
const N4: &str = "Your reply was cut off at the output limit, and nothing was done. Say less; write long files with fs_write in pieces (mode append).";
const STALLED: &str = "The model does not go on at step-01-select-story: it answers in words instead of calling tools. Say what to do, or resume with another model.";
const WORDS: &str = "I will now read the sprint status.";

fn n0() -> String {
    format!("Your reply was empty. {N1}")
}

fn n2() -> String {
    format!(
        "Still nothing was done. Reply with this call and nothing else, with your own values for <…>: {FINISHING}"
    )
}

fn n5(why: &str) -> String {
    format!(
        "Your reply has a tool call written as text that cannot be carried out ({why}). Use the tool interface, with the same arguments."
    )
}

fn guided() -> Play {
    Play::with(RunSettings { mode: Mode::Guided, ..RunSettings::default() })
}

impl Play {
    /// Returns the last message to the model, which is asked.
    #[track_caller]
    fn told_model(&self) -> String {
        assert!(matches!(self.machine.open(), Effect::AskModel(_)), "the model is not asked");
        let messages = self.machine.context().messages();
        match &**messages.last().unwrap() {
            Message::User { content } => content.to_string(),
            other => panic!("it is no message of the runtime: {other:?}"),
        }
    }

    fn nudges(&self) -> Vec<NudgeKind> {
        let kind = |kind: &EventKind| match kind {
            EventKind::Model(ModelEvent::Nudged(nudged)) => Some(nudged.kind),
            _ => None,
        };
        self.told.iter().filter_map(kind).collect()
    }

    fn is_cut_off(&mut self) -> Effect {
        let content = Some("# The story\n\nAs a".to_owned());
        let finish = Finish::Length;
        self.step(Input::Replied(Reply { content, finish, ..Reply::default() }))
    }

    /// Makes a call that is refused, each time with other arguments.
    fn is_refused(&mut self, at: usize) -> Effect {
        self.calls(&[("fs.read", &format!(r#"{{"path":"{at}"}}"#))]);
        self.refused(RefusalCode::NotFound)
    }

    fn repeats(&mut self) -> Effect {
        self.calls(&[("fs.read", r#"{"path":"a"}"#)]);
        let answer = Answer { repeats: true, ..Answer::default() };
        self.step(Input::Answered { answer, state: None })
    }
}

#[track_caller]
fn check_stalled(effect: Effect) {
    let rest = rest(effect);
    assert_eq!((rest.phase, rest.reason), (Phase::WaitingUser, Some(Reason::Stalled)));
    assert_eq!(rest.message.as_deref(), Some(STALLED));
}

#[track_caller]
fn check_stop_point(effect: Effect) {
    let rest = rest(effect);
    assert_eq!((rest.phase, rest.reason), (Phase::WaitingUser, Some(Reason::StopPoint)));
}

#[test]
fn words_get_two_nudges_on_autopilot_and_then_the_run_stalls() {
    let mut play = Play::new();
    check_asks(&play.says(WORDS), 2, Some(NODE), "sm");
    assert_eq!(play.told_model(), N1);
    check_asks(&play.says("Done."), 3, Some(NODE), "sm");
    assert_eq!(play.told_model(), n2());
    check_stalled(play.says("好的，我现在进入下一步。"));
    assert_eq!(play.nudges(), [NudgeKind::NoCall, NudgeKind::Finish]);
}

#[test]
fn words_get_one_nudge_in_guided_mode_and_then_the_user_is_asked() {
    let mut play = guided();
    play.says(WORDS);
    assert_eq!(play.told_model(), N1);
    check_stop_point(play.says(WORDS));
    assert_eq!(play.nudges(), [NudgeKind::NoCall]);
}

#[test]
fn an_empty_reply_is_told_so_and_leaves_no_message() {
    let mut play = Play::new();
    let before = play.sent().len();
    let thoughts = json!({ "reasoning_content": "Hm." });
    let extra = thoughts.as_object().unwrap().clone();
    play.step(Input::Replied(Reply { extra, ..Reply::default() }));
    assert_eq!(play.told_model(), n0());
    assert_eq!(play.sent().len(), before + 1);
    play.says(" \n");
    assert_eq!(play.told_model(), n2());
    check_stalled(play.says(""));
    assert_eq!(play.nudges(), [NudgeKind::Empty, NudgeKind::Finish]);

    let mut play = guided();
    play.says("");
    assert_eq!(play.told_model(), n0());
    let rest = rest(play.says(""));
    assert_eq!((rest.phase, rest.reason), (Phase::WaitingUser, Some(Reason::EmptyReply)));
}

#[test]
fn a_reply_that_was_cut_off_is_told_to_say_less_twice() {
    for mut play in [Play::new(), guided()] {
        for _ in 0..2 {
            play.is_cut_off();
            assert_eq!(play.told_model(), N4);
        }
        let rest = rest(play.is_cut_off());
        assert_eq!(rest.reason, Some(Reason::StopPoint));
        assert!(rest.message.unwrap().contains("cut off"));
        assert_eq!(play.nudges(), [NudgeKind::Cut, NudgeKind::Cut]);
    }
}

#[test]
fn a_call_as_text_that_cannot_be_carried_out_is_told_why() {
    let cases = [
        ("<tool_call>{\"name\": \"fs_read\", \"argum", "it is cut off or not valid"),
        ("```json\n{\"name\":\"run_shell\",\"arguments\":{}}\n```", "there is no tool run_shell"),
        (
            "```json\n{\"name\":\"fs_read\",\"arguments\":{\"path\":\"x\"}}\n```",
            "calls in text are not carried out here",
        ),
    ];
    for (text, why) in cases {
        let mut play = Play::new();
        play.says(text);
        assert_eq!(play.told_model(), n5(why));
        play.says(text);
        assert_eq!(play.told_model(), n2());
        check_stalled(play.says(text));
        assert_eq!(play.nudges(), [NudgeKind::Call, NudgeKind::Finish]);

        let mut play = guided();
        play.says(text);
        assert_eq!(play.told_model(), n5(why));
        check_stop_point(play.says(text));
    }
}

#[test]
fn the_reason_that_was_recorded_with_a_reply_counts() {
    let mut play = Play::new();
    let unreadable_call = Some("its arguments are no JSON object".to_owned());
    let content = Some("mcp_docs_find 7".to_owned());
    play.step(Input::Replied(Reply { content, unreadable_call, ..Reply::default() }));
    assert_eq!(play.told_model(), n5("its arguments are no JSON object"));
}

#[test]
fn a_question_in_words_reaches_the_user() {
    for mut play in [Play::new(), guided()] {
        check_stop_point(play.says("There are two.\nWhich story do you mean?"));
        play.user("The first.");
        check_stop_point(play.says("哪一个？"));
        assert!(play.nudges().is_empty());
    }
}

#[test]
fn a_question_about_going_on_is_answered_once_a_visit_on_autopilot() {
    for question in ["Shall I continue?", "要继续吗？"] {
        let mut play = Play::new();
        play.says(question);
        assert_eq!(play.told_model(), N3);
        assert_eq!(play.nudges(), [NudgeKind::GoOn]);
        check_stop_point(play.says(question));
        // A word of the user does not make it another visit.
        play.user("Yes.");
        check_stop_point(play.says(question));
        play.user("Yes!");
        play.calls(&[("fs.apply_patch", "{}")]);
        play.moved("step-02-discover-inputs");
        play.says(question);
        assert_eq!(play.told_model(), N3);
        check_stop_point(guided().says(question));
    }
}

#[test]
fn a_question_about_going_on_through_the_tool_is_refused_once() {
    const ASK: (&str, &str) = ("ui_ask_user", r#"{"question":"Shall I continue?"}"#);
    let mut play = Play::new();
    assert!(job(play.calls(&[ASK])).refuses_go_on);
    let answer = Answer::from(&Refusal::new(RefusalCode::Precondition, N3));
    play.step(Input::Answered { answer, state: None });
    assert!(!job(play.calls(&[ASK])).refuses_go_on);
    rest(play.step(Input::Asked(confirm("Shall I continue?"))));
    play.user("yes");
    // A question that the tool answered is not answered in words, too.
    check_stop_point(play.says("Shall I continue?"));
    assert!(!job(guided().calls(&[ASK])).refuses_go_on);
    // A model that was told to ask with the tool is heard.
    let mut play = Play::new();
    play.says("Shall I continue?");
    assert!(!job(play.calls(&[ASK])).refuses_go_on);
}

#[test]
fn a_call_that_helps_begins_the_count_anew_and_a_refused_one_does_not() {
    let mut play = Play::new();
    play.says(WORDS);
    play.is_refused(1);
    play.says(WORDS);
    assert_eq!(play.told_model(), n2());
    play.repeats();
    check_stalled(play.says(WORDS));

    let mut play = Play::new();
    for _ in 0..2 {
        play.says(WORDS);
        assert_eq!(play.told_model(), N1);
        play.calls(&[("fs.read", r#"{"path":"a"}"#)]);
        play.answered();
    }
}

#[test]
fn six_nudges_are_the_most_in_one_visit() {
    let mut play = Play::new();
    for _ in 0..6 {
        play.says(WORDS);
        assert_eq!(play.told_model(), N1);
        play.calls(&[("fs.read", r#"{"path":"a"}"#)]);
        play.answered();
    }
    check_stalled(play.says(WORDS));
    // The user's word gives room for more.
    play.user("Go on.");
    play.says(WORDS);
    assert_eq!(play.told_model(), N1);
}

#[test]
fn a_nudge_names_what_this_visit_has_not_done_yet() {
    let mut play = Play::new();
    play.calls(&[("fs.write", "{}")]);
    let path = "artifacts/create-story/target.md".to_owned();
    let wrote = vec![WrittenDigest { path, sha256: Some("1".repeat(64)), foreign: false }];
    play.step(Input::Answered { answer: Answer { wrote, ..Answer::default() }, state: None });
    play.calls(&[("runtime.update_state", "{}")]);
    let mut state = play.machine.run_state().clone();
    for name in ["storyKey", "epicNum", "storyNum", "storyTitle"] {
        state.variables.insert(name.to_owned(), json!("x"));
    }
    let set = state.variables.keys().cloned().collect();
    play.changed(StateChange { state: state.clone(), set, ..StateChange::default() });
    play.says(WORDS);
    let open = "Nothing was done: a reply without a tool call changes nothing. step-01-select-story is still open.";
    let call = "Call a tool now, or ui_ask_user if only the user can help.";
    let missing = "Missing: variable sprintStatusPath.";
    assert_eq!(play.told_model(), format!("{open} {missing} {call}"));

    play.calls(&[("runtime.update_state", "{}")]);
    state.variables.insert("sprintStatusPath".to_owned(), json!("none"));
    let set = vec!["sprintStatusPath".to_owned()];
    play.changed(StateChange { state, set, ..StateChange::default() });
    play.says(WORDS);
    assert_eq!(play.told_model(), format!("{open} Missing: only the finishing call. {call}"));

    // A declaration that is not checked is not missing.
    let missing = MissingRule::Off;
    let mut play = Play::with(RunSettings { missing, ..RunSettings::default() });
    play.says(WORDS);
    assert_eq!(play.told_model(), format!("{open} Missing: only the finishing call. {call}"));
}

#[test]
fn an_old_output_is_missing_unless_it_is_enough_that_it_exists() {
    check_old_output(OutputRule::Changed, "Missing: file artifacts/create-story/target.md;");
    check_old_output(OutputRule::Exist, "Missing: variables storyKey");
}

#[track_caller]
fn check_old_output(outputs: OutputRule, expected: &str) {
    let mut play = Play::with(RunSettings { outputs, ..RunSettings::default() });
    let state = RunState { current_node_id: NODE.to_owned(), ..RunState::default() };
    let place = Some(state.into());
    let Effect::Survey(plan) = play.one_step(Input::Resume { place, settings: None }) else {
        panic!("the node is not surveyed")
    };
    let mut entered = plan.entered;
    entered.outputs.push(SurveyedOutput {
        path: "artifacts/create-story/target.md".to_owned(),
        exists: true,
        own: false,
        bytes: 3,
        sha256: None,
    });
    play.one_step(Input::Surveyed(Box::new(entered)));
    play.says(WORDS);
    assert!(play.told_model().contains(expected), "{}", play.told_model());
}

#[test]
fn at_an_end_the_workflow_is_not_complete_yet() {
    let mut play = Play::new();
    play.calls(&[("fs.apply_patch", "{}")]);
    play.moved("end-99");
    play.says("Done.");
    let told = play.told_model();
    let begin = "Nothing was done: a reply without a tool call changes nothing. The workflow is not complete yet. Missing: ";
    assert!(told.starts_with(begin), "{told}");
    assert!(!told.contains("still open"), "{told}");
}

#[test]
fn a_finishing_call_without_values_has_none_to_fill_in() {
    assert_eq!(
        prompt::finish_now("complete_node {}"),
        "Still nothing was done. Reply with this call and nothing else: complete_node {}"
    );
}

#[test]
fn a_run_that_stalled_goes_on_when_it_is_resumed() {
    let mut play = Play::new();
    for _ in 0..2 {
        play.says(WORDS);
    }
    check_stalled(play.says(WORDS));
    let asked = play.step(Input::Resume { place: None, settings: None });
    check_asks(&asked, 4, Some(NODE), "sm");
    assert_eq!(play.told_model(), n2());
    // The model that takes over is nudged as any other.
    play.says(WORDS);
    assert_eq!(play.told_model(), N1);
}

#[test]
fn a_word_of_the_user_begins_the_count_anew() {
    let mut play = Play::new();
    for _ in 0..2 {
        play.says(WORDS);
    }
    check_stalled(play.says(WORDS));
    play.user("Take the first story.");
    play.says(WORDS);
    assert_eq!(play.told_model(), N1);
}

#[test]
fn idle_replies_get_the_finishing_call_and_then_stop_the_run() {
    let mut play = Play::new();
    play.is_refused(1);
    play.repeats();
    assert!(play.nudges().is_empty());
    play.is_refused(2);
    assert_eq!(play.told_model(), n2());
    assert_eq!(play.nudges(), [NudgeKind::Finish]);
    play.repeats();
    let rest = rest(play.is_refused(3));
    assert_eq!((rest.phase, rest.reason), (Phase::WaitingUser, Some(Reason::Loop)));
    let message = "5 replies of the model in a row brought nothing new: their calls were refused or repeated.";
    assert_eq!(rest.message.as_deref(), Some(message));
}

#[test]
fn one_call_that_helps_makes_a_reply_useful() {
    let mut play = Play::new();
    for at in 0..6 {
        play.calls(&[("fs.read", &format!(r#"{{"path":"{at}"}}"#)), ("fs.list", "{}")]);
        play.refused(RefusalCode::NotFound);
        let answer = Answer { repeats: at % 2 == 1, ..Answer::default() };
        play.step(Input::Answered { answer, state: None });
    }
    assert!(play.nudges().is_empty());
}

#[test]
fn calls_that_are_not_executed_help_nothing() {
    let mut play = Play::new();
    for at in 0..3 {
        let read = format!(r#"{{"path":"{at}"}}"#);
        play.calls(&[("complete_node", read.as_str()), ("fs.read", "{}")]);
        play.refused(RefusalCode::Transition);
    }
    assert_eq!(play.told_model(), n2());
}

#[test]
fn a_call_that_the_user_decided_about_is_not_idle() {
    let mut play = guided();
    for _ in 0..6 {
        play.calls(&[("fs.apply_patch", "{}")]);
        let moved =
            crewagent_core::event::Moved { from: "a".into(), to: "b".into(), label: "".into() };
        let question = confirm("Go on?");
        rest(play.step(Input::Proposed { moved, files: Vec::new(), question }));
        assert!(matches!(play.user("not yet"), Effect::AskModel(_)));
    }
}

#[test]
fn the_second_identical_refused_call_is_warned_of_the_third() {
    const READ: (&str, &str) = ("fs.read", r#"{"path":"x"}"#);
    let mut play = Play::new();
    assert!(!job(play.calls(&[READ])).was_refused);
    play.refused(RefusalCode::NotFound);
    assert!(job(play.calls(&[READ])).was_refused);
    play.refused(RefusalCode::NotFound);
    assert!(!job(play.calls(&[("fs.read", r#"{"path":"y"}"#)])).was_refused);

    let refusal = Refusal::new(RefusalCode::NotFound, "There is no x.").hint("List the folder.");
    let answer = Answer::from(&refusal).warned_of_loop();
    assert_eq!(
        answer.result.inline().map(|text| &**text),
        Some(
            r#"{"ok":false,"error":{"code":"ENOENT","message":"There is no x. List the folder. This is the second time; a third identical call stops the run."}}"#
        )
    );
    let done = Answer { result: r#"{"ok":true}"#.into(), ..Answer::default() };
    assert_eq!(done.clone().warned_of_loop(), done);
}

#[test]
fn words_that_a_model_made_up_are_dropped_from_the_history() {
    for invented in ["Observation: {}", "<tool_response>x", "USER_INPUT\n- yes", "User: yes"] {
        let mut play = Play::new();
        play.says(&format!("Let me look.\n{invented}\nGreat, then I am done."));
        assert_eq!(play.told_model(), N1);
        let sent = play.sent();
        assert_eq!(sent[sent.len() - 2], "assistant Let me look. 0", "{invented}");
        // Beside calls, too.
        let mut play = Play::new();
        let content = Some(format!("Let me look.\n{invented}"));
        play.step(Input::Replied(Reply {
            content,
            tool_calls: vec![call("c")],
            ..Reply::default()
        }));
        play.answered();
        let sent = play.sent();
        assert_eq!(sent[sent.len() - 2], "assistant Let me look. 1", "{invented}");
    }
    // The rest may be a question, and a text that is made up whole is not empty.
    let mut play = Play::new();
    check_stop_point(play.says("Which story?\nUser: the first\nFine."));
    let mut play = Play::new();
    play.says("User: yes");
    assert_eq!(play.told_model(), N1);
}

fn conversation() -> Play {
    let subject = Subject::Conversation { package: None, agent: None };
    let machine = Machine::new(subject, RunSettings::default(), RunState::default());
    let mut play = Play { machine, now: 1_000, told: Vec::new() };
    play.step(Input::Start);
    play.user("Hello.");
    play
}

#[test]
fn in_a_conversation_words_are_the_answer() {
    for words in ["I will now read it.", "Shall I continue?", "User: yes"] {
        check_stop_point(conversation().says(words));
    }
    let mut play = conversation();
    play.says("");
    assert_eq!(
        play.told_model(),
        "Your last reply was empty: answer the user in words, or call a tool."
    );
    assert_eq!(rest(play.says("")).reason, Some(Reason::EmptyReply));
    let leak = "<tool_call>{\"name\": \"fs_read\", \"arguments\": {}}</tool_call>";
    let mut play = conversation();
    play.says(leak);
    assert_eq!(
        play.told_model(),
        "Your last reply has a tool call written as text, and nothing was executed. Call the tool through the tool interface, with the same arguments."
    );
    check_stop_point(play.says(leak));
    assert_eq!(play.nudges(), [NudgeKind::Call]);
}

#[test]
fn after_completion_words_are_the_answer() {
    let mut play = Play::new();
    let tool_calls = vec![ToolCall { name: "complete_node".into(), ..call("c0") }];
    play.step(Input::Replied(Reply { tool_calls, ..Reply::default() }));
    play.completed();
    assert_eq!(rest(play.says("I will now rest.")).phase, Phase::Completed);
    play.user("Thanks.");
    assert_eq!(rest(play.says("Shall I continue?")).phase, Phase::Completed);
    assert!(play.nudges().is_empty());
}
