//! Laws of the messages to a model: the brief of a node stands in the request before any call of it is carried out, and of
//! earlier nodes only words to or by the user are carried on.

use std::collections::HashSet;

use crewagent_core::message::Message;
use crewagent_core::run::machine::{Effect, Input, Machine};
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_testkit::fixture::cases;
use proptest::prelude::*;

use super::law::random_input;
use super::{Play, confirm};

/// Returns a possible next input with words that occur nowhere else: `W7` of the model, `Q7` for its question, `U7` of the
/// user. A node is left, and a complete workflow opened again, by a move only.
fn next_input(machine: &Machine, choice: u16, at: usize) -> Input {
    match random_input(machine, choice) {
        Input::Answered { answer, state: Some(mut change) } if change.moved.is_none() => {
            change.state.current_node_id = machine.run_state().current_node_id.clone();
            change.state.complete |= machine.run_state().complete;
            Input::Answered { answer, state: Some(change) }
        }
        Input::Replied(mut reply) => {
            let has_words = reply.content.as_ref().is_some_and(|words| !words.trim().is_empty());
            reply.content = has_words.then(|| format!("W{at}."));
            Input::Replied(reply)
        }
        Input::Asked(_) => Input::Asked(confirm(&format!("Q{at}?"))),
        Input::User(words) if &*words == "whatever" => Input::User(format!("U{at}").into()),
        other => other,
    }
}

/// Returns the marks in a text.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |word: &&str| {
        let mark = word.strip_prefix(['W', 'Q', 'U']);
        mark.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_mark)
}

/// A play, and what the model may and must have read.
struct Watched {
    play: Play,
    /// Words that were said to or by the user.
    said: HashSet<String>,
    /// Words of the last reply.
    reply: Option<String>,
    /// Number of moves, calls and returns so far.
    changes: usize,
    /// Number of them when the model was last asked at an unfinished node.
    shown: Option<usize>,
}

impl Watched {
    /// Makes a step, and checks the open effect.
    fn step(&mut self, input: Input) {
        self.note(&input);
        let open = self.play.step(input);
        self.check(&open);
    }

    fn note(&mut self, input: &Input) {
        match input {
            Input::Replied(reply) => self.reply.clone_from(&reply.content),
            Input::User(words) => {
                let question = match self.play.machine.open() {
                    Effect::Rest(rest) => rest.question,
                    _ => None,
                };
                let asked = question.map(|question| question.question).or(self.reply.clone());
                for text in [&**words, asked.as_deref().unwrap_or_default()] {
                    self.said.extend(marks(text).map(str::to_owned));
                }
            }
            Input::Answered { state: Some(change), .. } if change.moved.is_some() => {
                self.changes += 1;
            }
            Input::FrameChanged(_) | Input::Resume { place: Some(_), .. } => self.changes += 1,
            _ => {}
        }
    }

    fn check(&mut self, open: &Effect) {
        let machine = &self.play.machine;
        let Some(node) = machine.node_name() else { return };
        match open {
            Effect::AskModel(_) => {
                let messages = machine.context().messages();
                let mut texts = messages.iter().rev().filter_map(|message| match &**message {
                    Message::User { content } if content.contains("NODE_BRIEF\n") => Some(content),
                    _ => None,
                });
                let message = texts.next().unwrap();
                assert!(message.contains(&format!("currentNodeId: {node}")), "{node}: {message}");
                let (data, _) = message.split_once("NODE_BRIEF\n").unwrap();
                let unsaid: Vec<&str> =
                    marks(data).filter(|mark| !self.said.contains(*mark)).collect();
                assert!(unsaid.is_empty(), "{unsaid:?} in {data}");
                self.shown = Some(self.changes);
            }
            Effect::Perform(job) => {
                assert_eq!(self.shown, Some(self.changes), "{node}: {:?}", job.call);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_brief_comes_before_its_calls_and_only_said_words_are_carried_on(
        choices in proptest::collection::vec(any::<u16>(), 1..60),
        guided in any::<bool>(),
        nested in any::<bool>(),
    ) {
        let mode = if guided { Mode::Guided } else { Mode::Autopilot };
        let package = if nested { "nested-review" } else { "create-story-micro" };
        let play = Play::of(package, RunSettings { mode, ..RunSettings::default() });
        let open = play.machine.open();
        let said = HashSet::new();
        let mut watched = Watched { play, said, reply: None, changes: 0, shown: None };
        watched.check(&open);
        for (at, choice) in choices.into_iter().enumerate() {
            if choice.is_multiple_of(13) {
                watched.step(Input::Resume { place: None, settings: None });
            }
            let input = next_input(&watched.play.machine, choice, at);
            watched.step(input);
        }
    }
}
