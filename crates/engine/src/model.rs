//! The model, behind one small port: a request goes in, a whole and valid reply comes out.

mod endpoint;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crewagent_core::event::{Channel, Reply};
use crewagent_core::id::WorkflowId;
use crewagent_core::message::Message;
use crewagent_core::tool::ToolSpec;
use serde_json::{Map, Value as Json};
use thiserror::Error;

use crate::cancel::Deadline;

pub use self::endpoint::{Endpoint, Patience};

/// Something that answers requests. Many runs may use one at the same time.
pub trait Model: Send + Sync {
    /// What people call it.
    fn name(&self) -> &str;

    /// Answers a request, unless it is to end before. Pieces of the reply are told as they come; only the whole reply counts.
    fn reply(
        &self,
        request: &Request,
        memo: &mut Memo,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError>;
}

/// What a model keeps between the requests of one run, only to be faster. It may be lost at any time.
#[derive(Default)]
pub struct Memo(Option<Box<dyn Any + Send>>);

impl Memo {
    /// What was kept, or a fresh one if that is of another kind.
    pub fn of<T: Any + Send + Default>(&mut self) -> &mut T {
        if !self.0.as_ref().is_some_and(|kept| kept.is::<T>()) {
            self.0 = Some(Box::new(T::default()));
        }
        let kept = self.0.as_mut().and_then(|kept| kept.downcast_mut());
        kept.unwrap_or_else(|| unreachable!("it was just put there"))
    }
}

/// What the model is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// The messages; every payload is inline.
    pub messages: Arc<Vec<Arc<Message>>>,
    /// The tools it may call.
    pub tools: Arc<[ToolSpec]>,
    /// Where the run is; not sent.
    pub place: Place,
    /// A digest over messages and tools, as hexadecimal digits.
    pub sha256: String,
}

/// Where a run is when it asks. Models that answer from a file go by it.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The number of the request in the run, from 1.
    pub turn: u64,
    /// Whether this is a conversation, without a workflow.
    pub is_talk: bool,
    /// The call of a workflow; none in the run's own.
    pub call: Option<u64>,
    /// The workflow that is active, where it has an id.
    pub workflow: Option<WorkflowId>,
    /// The node; none after completion, and in a conversation.
    pub node_id: Option<String>,
    /// The number of the request at this node, over all visits of this call, from 1.
    pub node_turn: u64,
    /// What the user said last.
    pub input: Option<Arc<str>>,
    /// The variables of the workflow.
    pub variables: Map<String, Json>,
}

/// What is told while a request is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A piece of the reply.
    Words(Delta),
    /// It failed and is tried again. What was told before is void.
    Again(Again),
}

/// Another try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// How often it was tried, from 1.
    pub attempt: u32,
    /// How long we wait before the next try.
    pub wait: Duration,
    /// What went wrong.
    pub why: String,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Whom the words are for.
    pub channel: Channel,
    /// The words.
    pub text: String,
}

/// Why there is no reply.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct ModelError {
    /// Which kind.
    pub kind: ModelErrorKind,
    /// What happened, and what to do about it.
    pub message: String,
    /// The words that came before it failed.
    pub partial: Option<String>,
}

impl ModelError {
    /// A failure without a word of the reply.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), partial: None }
    }
}

/// The kinds of failure that call for different answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The user stopped it.
    Cancelled,
    /// The key is missing or wrong.
    Auth,
    /// Too many requests, or no credit.
    Rate,
    /// The request does not fit the model's window.
    Window,
    /// No answer in time.
    Timeout,
    /// The way to the model failed, or it did.
    Network,
    /// The provider refuses the request as it is.
    Rejected,
    /// The answer makes no sense.
    Malformed,
    /// A model that answers from a file has no answer for this request, or another request was expected.
    Script,
}
