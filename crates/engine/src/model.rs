//! The model, behind one small port: a request goes in, a whole and valid reply comes out.

pub mod replay;
pub mod scripted;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crewagent_core::event::{Channel, Reply};
use crewagent_core::message::Message;
use crewagent_core::tool::schema::ToolSpec;
use serde_json::{Map, Value as Json};
use thiserror::Error;

/// Something that answers requests. Many runs may use one at the same time.
pub trait Model: Send + Sync {
    /// What people call it.
    fn name(&self) -> &str;

    /// Answers a request. Pieces of the reply are told as they come; only the whole reply counts.
    fn reply(
        &self,
        request: &Request,
        tell: &mut dyn FnMut(Delta),
        cancel: &Cancel,
    ) -> Result<Reply, ModelError>;
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
    /// The node; none after completion.
    pub node_id: Option<String>,
    /// The number of the request at this node, over all visits, from 1.
    pub node_turn: u64,
    /// What the user said last.
    pub input: Option<Arc<str>>,
    /// The variables of the workflow.
    pub variables: Map<String, Json>,
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
    /// The answer makes no sense.
    Malformed,
    /// A model that answers from a file has no answer for this request, or another request was expected.
    Script,
}

/// A sign that the user wants no answer any more.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks everyone who holds a copy to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The flag itself, for loops that take one.
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}
