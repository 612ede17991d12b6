//! Limits that a step sets for one visit of its node.

use crewagent_core::event::{Phase, Reason, Reply};
use crewagent_core::run::machine::{Effect, Input};
use crewagent_core::settings::{Limits, RunSettings};
use crewagent_core::usage::Usage;
use jiff::Timestamp;

use super::{Play, call, check_asks, rest};

const NODE: &str = "step-01-select-story";

fn limited(limits: &str) -> Play {
    Play::advised(&format!("limits: {limits}"), RunSettings::default())
}

/// Answers a request with one call, and carries it out.
fn one_turn(play: &mut Play) -> Effect {
    play.calls(&[("fs.read", "{}")]);
    play.answered()
}

#[test]
fn a_node_that_reaches_its_limit_waits_and_names_node_and_limit() {
    let mut play = limited("{ turns: 2 }");
    one_turn(&mut play);
    let stopped = rest(one_turn(&mut play));
    assert_eq!((stopped.phase, stopped.reason), (Phase::WaitingUser, Some(Reason::LimitNode)));
    let message =
        "The node `step-01-select-story` has reached its limit of 2 requests for one visit.";
    assert_eq!(stopped.message.as_deref(), Some(message));
}

#[test]
fn the_next_word_of_the_user_renews_the_limits_of_a_node() {
    let mut play = limited("{ turns: 1 }");
    assert_eq!(rest(one_turn(&mut play)).reason, Some(Reason::LimitNode));
    let mut other = Play { machine: play.machine.clone(), now: play.now, told: Vec::new() };
    check_asks(&play.user("Go on."), 2, Some(NODE), "sm");
    assert_eq!(rest(one_turn(&mut play)).reason, Some(Reason::LimitNode));
    let resumed = other.step(Input::Resume { place: None, settings: None });
    check_asks(&resumed, 2, Some(NODE), "sm");
}

#[test]
fn each_visit_has_the_limits_of_its_node_anew() {
    let mut play = limited("{ turns: 2 }");
    one_turn(&mut play);
    play.calls(&[("runtime.complete_node", "{}")]);
    // The next node has no limits of its own.
    check_asks(&play.moved("step-02-discover-inputs"), 3, Some("step-02-discover-inputs"), "sm");
    one_turn(&mut play);
    one_turn(&mut play);
    play.calls(&[("runtime.complete_node", "{}")]);
    check_asks(&play.moved(NODE), 6, Some(NODE), "sm");
    check_asks(&one_turn(&mut play), 7, Some(NODE), "sm");
    assert_eq!(rest(one_turn(&mut play)).reason, Some(Reason::LimitNode));
}

#[test]
fn a_node_can_only_tighten_the_limits_of_the_run() {
    let limits = Limits { turns: 1, ..Limits::default() };
    let mut play =
        Play::advised("limits: { turns: 9 }", RunSettings { limits, ..RunSettings::default() });
    assert_eq!(rest(one_turn(&mut play)).reason, Some(Reason::LimitTurns));
}

#[test]
fn tokens_money_and_time_are_limits_of_a_node_too() {
    let spends = |limits: &str, usage: Usage| {
        let mut play = limited(limits);
        play.step(Input::Replied(Reply { tool_calls: vec![call("c")], usage, ..Reply::default() }));
        let rest = rest(play.answered());
        assert_eq!(rest.reason, Some(Reason::LimitNode), "{limits}");
        rest.message.unwrap()
    };
    let tokens = Usage { input_tokens: 6, output_tokens: 5, ..Usage::default() };
    assert!(spends("{ tokens: 10 }", tokens).contains("its limit of 10 tokens"));
    let money = Usage { cost: Some(0.6), ..Usage::default() };
    assert!(spends("{ cost: 0.5 }", money).contains("its limit of $0.5"));
    let mut play = limited("{ seconds: 100 }");
    play.now += 200;
    let stopped = rest(one_turn(&mut play));
    assert_eq!(stopped.reason, Some(Reason::LimitNode));
    assert!(stopped.message.unwrap().contains("its limit of 100 seconds"));
}

#[test]
fn a_reply_that_is_late_names_the_limit_that_came_first() {
    let late = |node: &str, run: Option<u64>| {
        let limits = Limits { seconds: run, ..Limits::default() };
        let line = format!("limits: {{ {node} }}");
        let mut play = Play::advised(&line, RunSettings { limits, ..RunSettings::default() });
        let left = play.machine.time_left(Timestamp::from_second(play.now).unwrap());
        (left.map(|left| left.as_secs()), rest(play.step(Input::Late)).reason)
    };
    assert_eq!(late("seconds: 60", None), (Some(60), Some(Reason::LimitNode)));
    assert_eq!(late("seconds: 60", Some(90)), (Some(60), Some(Reason::LimitNode)));
    // The run began a second before its node was surveyed.
    assert_eq!(late("seconds: 90", Some(60)), (Some(59), Some(Reason::LimitTime)));
    assert_eq!(late("turns: 3", Some(60)), (Some(59), Some(Reason::LimitTime)));
}
