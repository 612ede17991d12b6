//! The port to models: a request goes in, a complete and valid reply comes out.

mod endpoint;
mod tiers;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use crewagent_core::event::{Channel, Reply};
use crewagent_core::frame_id::FrameId;
use crewagent_core::message::Message;
use crewagent_core::tool::ToolSpec;
use crewagent_format::id::WorkflowId;
use crewagent_format::package::step::Tier;
use serde_json::{Map, Value as Json};
use thiserror::Error;

use crate::cancel::Deadline;

pub use self::endpoint::{Endpoint, Timeouts};
pub use self::tiers::TieredModel;

/// A model that answers requests. Many runs may share one.
pub trait Model: Send + Sync {
    /// Returns the name that users know.
    fn name(&self) -> &str;

    /// Answers a request unless the deadline passes first. Reports pieces of the reply through `tell` as they arrive;
    /// only the complete reply counts.
    fn reply(
        &self,
        request: &Request,
        cache: &mut RequestCache,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError>;

    /// Returns the model of a tier; none if this one answers for it.
    fn tier(&self, _tier: Tier) -> Option<&dyn Model> {
        None
    }

    /// Describes a request as it will be sent; none for a model that answers from a file.
    fn outline(&self, _request: &Request, _cache: &mut RequestCache) -> Option<RequestOutline> {
        None
    }
}

/// A request as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestOutline {
    /// Name of the model that users know.
    pub model: String,
    /// Size of its body.
    pub bytes: u64,
}

/// Cache of a model between the requests of one run. It may be lost at any time.
#[derive(Default)]
pub struct RequestCache(Option<Box<dyn Any + Send>>);

impl RequestCache {
    /// Returns the cached value, or a fresh one if its type differs.
    pub fn of<T: Any + Send + Default>(&mut self) -> &mut T {
        if !self.0.as_ref().is_some_and(|kept| kept.is::<T>()) {
            self.0 = Some(Box::new(T::default()));
        }
        let kept = self.0.as_mut().and_then(|kept| kept.downcast_mut());
        kept.unwrap_or_else(|| unreachable!("it was just put there"))
    }
}

/// A request to the model.
#[derive(Clone, Debug)]
pub struct Request {
    /// Messages, with every payload inline.
    pub messages: Arc<Vec<Arc<Message>>>,
    /// Tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// Position of the run; not sent.
    pub place: TurnPosition,
    /// Digest of messages and tools, in hexadecimal.
    pub sha256: String,
}

/// Position of a run when it sends a request. Models that answer from a file select replies by it; the others take fewer
/// forms of calls in text outside of a node.
#[derive(Clone, Debug, Default)]
pub struct TurnPosition {
    /// Number of the request in the run, from 1.
    pub turn: u64,
    /// True in a conversation, which has no workflow.
    pub is_conversation: bool,
    /// Frame; none in the run's own workflow.
    pub frame: Option<FrameId>,
    /// Active workflow, if it has an id.
    pub workflow: Option<WorkflowId>,
    /// Current node; none after completion and in a conversation.
    pub node_id: Option<String>,
    /// Number of the request at this node, over all visits in this frame, from 1.
    pub node_turn: u64,
    /// Last message of the user.
    pub input: Option<Arc<str>>,
    /// Variables of the workflow.
    pub variables: Map<String, Json>,
}

/// A report while a request is being answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Delta(Delta),
    /// An attempt failed and is retried; the deltas so far are void.
    Retry(Retry),
}

/// A retry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Number of attempts so far, from 1.
    pub attempt: u32,
    /// Time until the next attempt.
    pub wait: Duration,
    pub why: String,
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    pub channel: Channel,
    pub text: String,
}

/// Reasons why there is no reply.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct ModelError {
    pub kind: ModelErrorKind,
    /// What happened, and what to do about it.
    pub message: String,
    /// Text that arrived before the failure.
    pub partial: Option<String>,
}

impl ModelError {
    /// Returns an error without a partial reply.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), partial: None }
    }
}

impl ModelErrorKind {
    /// Returns true if the same request to the same model would fail again, and another model may answer it.
    pub fn is_final(self) -> bool {
        match self {
            Self::Auth | Self::Rejected => true,
            Self::Cancelled
            | Self::Rate
            | Self::Window
            | Self::Timeout
            | Self::Network
            | Self::Malformed
            | Self::Script => false,
        }
    }
}

/// Kinds of failure that need different reactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The user cancelled it.
    Cancelled,
    Auth,
    /// Too many requests, or no credit.
    Rate,
    /// The request does not fit the context window.
    Window,
    Timeout,
    /// The connection or the provider failed.
    Network,
    /// The provider rejects the request as it is.
    Rejected,
    /// The reply cannot be understood.
    Malformed,
    /// A model that answers from a file has no reply for this request, or expected another one.
    Script,
}
