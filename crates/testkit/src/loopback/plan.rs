//! The plan that the loopback server plays, and its records.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Answers, their order and their pace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerPlan {
    /// The answers, in order.
    pub answers: Vec<ModelAnswer>,
    /// The order in which requests get them.
    pub order: AnswerOrder,
    /// Their pace.
    pub pace: AnswerPace,
    /// Characters in one event of a stream; a token has about four.
    pub piece: usize,
    /// The folder that the bodies of requests are written to, as `000001.json` and so on.
    pub keep: Option<PathBuf>,
}

/// The assignment of answers to requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnswerOrder {
    /// The n-th request gets the n-th answer: one run.
    #[default]
    Arrival,
    /// Every run gets all answers. A run is known by the ids of its calls, so it must keep its history: one node.
    Runs,
}

/// The pace of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnswerPace {
    /// At once, as one piece.
    #[default]
    Burst,
    /// This many events per second.
    EventsPerSecond(u32),
}

/// One answer of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelAnswer {
    /// Its text.
    pub content: Option<String>,
    /// The tools it calls.
    pub calls: Vec<AnswerCall>,
    /// Milliseconds before it begins.
    pub hold: u64,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerCall {
    /// The tool.
    pub name: String,
    /// Its arguments, a JSON object as text.
    pub arguments: String,
}

/// The records of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// The requests, in the order in which they came.
    pub requests: Vec<ExchangeRecord>,
    /// Connections that are open now, without the one that asks.
    pub connections: usize,
    /// Requests for which the plan had no answer.
    pub refused: u64,
}

/// One request and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeRecord {
    /// The run, from 0.
    pub run: usize,
    /// The number of the request in its run, from 0.
    pub turn: usize,
    /// Time at which its last byte was read, in nanoseconds since 1970.
    pub arrived: u64,
    /// Time before the last byte of the answer was written; 0 until then.
    pub answered: u64,
    /// The size of the body.
    pub bytes: usize,
}

impl AnswerPlan {
    /// Makes a plan for one run, answered at once.
    pub fn burst(answers: Vec<ModelAnswer>) -> Self {
        Self { answers, piece: 16, ..Self::default() }
    }

    /// Makes a plan for many runs with the same answers, at this many tokens per second.
    pub fn crowd(answers: Vec<ModelAnswer>, tokens_per_second: u32) -> Self {
        let pace = AnswerPace::EventsPerSecond(tokens_per_second);
        Self { answers, order: AnswerOrder::Runs, pace, piece: 4, keep: None }
    }
}

impl ModelAnswer {
    /// Makes an answer of text alone.
    pub fn words(content: impl Into<String>) -> Self {
        Self { content: Some(content.into()), ..Self::default() }
    }

    /// Makes an answer with one call.
    pub fn call(name: impl Into<String>, arguments: impl ToString) -> Self {
        let call = AnswerCall { name: name.into(), arguments: arguments.to_string() };
        Self { calls: vec![call], ..Self::default() }
    }
}

impl Recording {
    /// Returns, for each run, the nanoseconds between the end of an answer and the end of the next request. The n-th is
    /// before request n + 1.
    pub fn overheads(&self) -> Vec<Vec<u64>> {
        let runs = self.requests.iter().map(|record| record.run + 1).max().unwrap_or(0);
        let mut last: Vec<Option<u64>> = vec![None; runs];
        let mut overheads = vec![Vec::new(); runs];
        for record in &self.requests {
            if let Some(answered) = last[record.run].replace(record.answered) {
                overheads[record.run].push(record.arrived.saturating_sub(answered));
            }
        }
        overheads
    }
}
