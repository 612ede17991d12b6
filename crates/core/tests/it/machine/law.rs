//! Law of the machine: whatever happens to a run, exactly one effect is open.

use crewagent_core::event::{Answer, Finish, Moved, Reply, StateChange};
use crewagent_core::message::ToolCall;
use crewagent_core::refusal::RefusalCode;
use crewagent_core::run::history::Position;
use crewagent_core::run::machine::{Effect, FrameChange, FrameChanged, Input, Machine};
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_core::state::run_state::RunState;
use crewagent_testkit::fixture::cases;
use proptest::prelude::*;
use serde_json::Map;

use super::{Play, confirm};

/// Returns a possible next input, chosen by a number.
pub(super) fn random_input(machine: &Machine, choice: u16) -> Input {
    let call = |n: u16| ToolCall {
        id: if n.is_multiple_of(5) { String::new() } else { format!("c{}", n % 3) },
        name: ["fs.read", "fs.apply_patch", "ui.ask_user", "nonsense"][usize::from(n % 4)].into(),
        arguments: ["{}", "not json", r#"{"path":"x"}"#][usize::from(n % 3)].into(),
        extra: Map::new(),
    };
    match machine.open() {
        Effect::AskModel(_) if choice % 13 == 5 => Input::Overflowed("too long".to_owned()),
        Effect::AskModel(_) => {
            let words = ["", "Hello.", "  ", "Shall I continue?"][usize::from(choice % 4)];
            let words = words.to_owned();
            let tool_calls = (0..choice % 4).map(|n| call(n + choice)).collect::<Vec<_>>();
            let broken_calls = (0..tool_calls.len()).filter(|n| n % 2 == 1).collect();
            let finish = if choice.is_multiple_of(7) { Finish::Length } else { Finish::Stop };
            let content = Some(words);
            Input::Replied(Reply { content, tool_calls, broken_calls, finish, ..Reply::default() })
        }
        Effect::Perform(_) if choice.is_multiple_of(6) => Input::Asked(confirm("Well?")),
        Effect::Perform(_) if choice % 6 == 1 => Input::Proposed {
            moved: Moved { from: "a".into(), to: "b".into(), label: String::new() },
            files: Vec::new(),
            question: confirm("Move?"),
        },
        Effect::Perform(_) => {
            let mut state = machine.run_state().clone();
            let nodes = machine.workflow().unwrap().graph.nodes();
            state.current_node_id = nodes[usize::from(choice) % nodes.len()].id.to_string();
            state.complete = choice.is_multiple_of(11);
            state.failed = choice.is_multiple_of(17).then(|| "no reason".to_owned());
            let moved = choice.is_multiple_of(2).then(|| Moved {
                from: machine.run_state().current_node_id.clone(),
                to: state.current_node_id.clone(),
                label: String::new(),
            });
            let change = StateChange { state, moved, ..StateChange::default() };
            let refused = (choice % 5 == 1).then_some(RefusalCode::NotFound);
            let repeats = choice % 5 == 3;
            let answer = Answer { result: "{}".into(), refused, repeats, ..Answer::default() };
            let state = (choice % 5 == 2).then_some(change);
            Input::Answered { answer, state }
        }
        Effect::Survey(plan) => Input::Surveyed(Box::new(plan.entered)),
        Effect::FrameChange(_) if choice.is_multiple_of(4) => {
            Input::FrameChanged(FrameChanged::Held("It cannot be done.".to_owned()))
        }
        Effect::FrameChange(FrameChange::Enter { frame }) => {
            let child = machine.package().unwrap().workflow(&frame.workflow_id).unwrap();
            let current_node_id = child.graph.entry().to_string();
            let state = RunState { current_node_id, ..RunState::default() };
            Input::FrameChanged(FrameChanged::Entered(Box::new(state)))
        }
        Effect::FrameChange(FrameChange::Return { .. }) => {
            let depth = machine.callers().len() - 1;
            let nodes = machine.workflow_at(depth).unwrap().graph.nodes();
            let current_node_id = nodes[usize::from(choice) % nodes.len()].id.to_string();
            let state = RunState { current_node_id, ..RunState::default() };
            Input::FrameChanged(FrameChanged::Left(Box::new(StateChange {
                state,
                ..StateChange::default()
            })))
        }
        Effect::Rest(_) | Effect::Tell(_) => {
            Input::User(["yes", "no", "whatever"][usize::from(choice % 3)].into())
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_run_never_rests_in_running_and_always_has_one_open_effect(
        choices in proptest::collection::vec(any::<u16>(), 1..60),
        guided in any::<bool>(),
        nested in any::<bool>(),
    ) {
        let mode = if guided { Mode::Guided } else { Mode::Autopilot };
        let package = if nested { "nested-review" } else { "create-story-micro" };
        let mut play = Play::of(package, RunSettings { mode, ..RunSettings::default() });
        for choice in choices {
            // A process may end and another one resume at any time.
            if choice.is_multiple_of(13) {
                let place = choice.is_multiple_of(26).then(|| Position {
                    state: play.machine.run_state().clone(),
                    callers: play.machine.callers().to_vec(),
                    calls: 0,
                });
                play.step(Input::Resume { place, settings: None });
            }
            let input = random_input(&play.machine, choice);
            play.step(input);
        }
    }
}
