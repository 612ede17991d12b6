//! Tiers: which model a request goes to.

use crewagent_core::event::{EventKind, ModelEvent, ModelFellBack};
use crewagent_core::run::machine::{Effect, Input};
use crewagent_core::settings::{RunSettings, TierModel, Tiers};
use crewagent_format::package::step::Tier;

use super::{Play, rest};

fn settings(tiers: &[Tier]) -> RunSettings {
    let mut set = Tiers::default();
    for (tier, window_tokens) in tiers.iter().zip([10_000, 20_000]) {
        let model = format!("my-{}", tier.name());
        set.set(*tier, Some(TierModel { model, window_tokens, given: false }));
    }
    RunSettings { tiers: set, ..RunSettings::default() }
}

fn tier(effect: &Effect) -> Option<Tier> {
    match effect {
        Effect::AskModel(ask) => ask.tier,
        other => panic!("{other:?}"),
    }
}

fn fell_back(play: &Play) -> Vec<Tier> {
    let fell_back = |kind: &EventKind| match kind {
        EventKind::Model(ModelEvent::FellBack(ModelFellBack { tier, .. })) => Some(*tier),
        _ => None,
    };
    play.told.iter().filter_map(fell_back).collect()
}

#[test]
fn a_request_goes_to_the_tier_of_its_node_and_else_to_the_run_s_model() {
    let mut play = Play::advised("model: fast", settings(&[Tier::Fast, Tier::Strong]));
    assert_eq!(tier(&play.machine.open()), Some(Tier::Fast));
    assert_eq!(play.machine.context().window(), 10_000, "the window of the model at work");
    play.calls(&[("runtime.complete_node", "{}")]);
    assert_eq!(tier(&play.moved("step-02-discover-inputs")), None);
    assert_eq!(play.machine.context().window(), RunSettings::default().window_tokens);
    assert_eq!(fell_back(&play), []);
}

#[test]
fn a_tier_that_is_not_set_goes_to_the_run_s_model_and_is_noted_once() {
    let mut play = Play::advised("model: review", settings(&[Tier::Fast]));
    assert_eq!(tier(&play.machine.open()), None);
    play.calls(&[("fs.read", "{}")]);
    assert_eq!(tier(&play.answered()), None);
    assert_eq!(fell_back(&play), [Tier::Review]);
}

#[test]
fn a_user_who_names_a_model_hears_nothing_of_tiers() {
    let settings = RunSettings { model: Some("mine".to_owned()), ..RunSettings::default() };
    let play = Play::advised("model: review", settings);
    assert_eq!(fell_back(&play), []);
}

#[test]
fn a_tier_whose_model_fails_for_good_is_off_until_the_run_is_taken_over() {
    let mut play = Play::advised("model: fast", settings(&[Tier::Fast]));
    assert_eq!(tier(&play.step(Input::FellBack(Tier::Fast))), None);
    assert_eq!(play.machine.context().window(), RunSettings::default().window_tokens);
    play.calls(&[("fs.read", "{}")]);
    assert_eq!(tier(&play.answered()), None);
    let resumed = play.step(Input::Resume { place: None, settings: None });
    assert_eq!(tier(&resumed), Some(Tier::Fast), "the user may have repaired it");
    assert_eq!(play.machine.context().window(), 10_000);
}

#[test]
fn settings_of_a_later_process_have_their_own_tiers() {
    let mut play = Play::advised("model: fast", settings(&[Tier::Fast]));
    let settings = Some(RunSettings { window_tokens: 64_000, ..settings(&[]) });
    assert_eq!(tier(&play.step(Input::Resume { place: None, settings })), None);
    assert_eq!(play.machine.context().window(), 64_000);
}

#[test]
fn an_escalation_lasts_for_the_rest_of_the_visit() {
    let mut play = Play::advised("model: fast", settings(&[Tier::Fast, Tier::Strong]));
    play.calls(&[("fs.read", "{}")]);
    assert!(play.machine.escalate());
    assert!(!play.machine.escalate(), "once");
    assert_eq!(tier(&play.answered()), Some(Tier::Strong));
    assert_eq!(play.machine.context().window(), 20_000);
    play.calls(&[("runtime.complete_node", "{}")]);
    assert_eq!(tier(&play.moved("step-02-discover-inputs")), None);
    assert!(play.machine.escalate(), "another visit");
    play.calls(&[("fs.read", "{}")]);
    assert_eq!(tier(&play.answered()), Some(Tier::Strong), "a node without advice as well");
    assert_eq!(tier(&play.step(Input::FellBack(Tier::Strong))), None);
    assert!(!play.machine.escalate(), "its model has failed");
}

#[test]
fn nothing_is_escalated_without_a_strong_model_or_where_it_is_at_work() {
    assert!(!Play::advised("model: fast", settings(&[Tier::Fast])).machine.escalate());
    assert!(!Play::advised("model: strong", settings(&[Tier::Strong])).machine.escalate());
    let mut play = Play::with(settings(&[Tier::Strong]));
    play.calls(&[("runtime.complete_node", "{}")]);
    play.completed();
    rest(play.says("Done."));
    assert!(!play.machine.escalate(), "a completed run has no visit");
}

#[test]
fn the_last_nudge_of_a_model_that_does_not_go_on_goes_to_the_strong_one() {
    let mut play = Play::advised("model: fast", settings(&[Tier::Fast, Tier::Strong]));
    assert_eq!(tier(&play.says("I will now read the file.")), Some(Tier::Fast));
    assert_eq!(tier(&play.says("I will now read the file.")), Some(Tier::Strong));
}
