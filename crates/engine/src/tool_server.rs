//! Servers of tools, behind one small port: which tools they have, and what a call of one gives.
//!
//! A server is a stranger. What it says of its tools is cleaned and capped before a model sees it, arguments are checked
//! before they are sent, and what comes back is data: it is capped, and nothing in it moves the runtime.

pub(crate) mod answer;
mod arguments;
mod logs;

use std::fmt;
use std::sync::Arc;

use crewagent_core::event::Answer;
use crewagent_core::policy::McpPolicy;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::tool::served::{Listed, ResourceOffer, ServedTool, ServerName, Use};
use serde_json::{Map, Value as Json};
use thiserror::Error;

pub use self::logs::{LogLine, Logs};
use crate::blobs::{BlobError, Blobs};
use crate::cancel::Deadline;

/// One server. Many runs may use it at the same time.
pub trait ToolServer: Send + Sync {
    /// What the user calls it.
    fn name(&self) -> &ServerName;

    /// Starts it if it does not run, and does not wait for it.
    fn wake(&self);

    /// What it offers. Waits only until it has said so once, or could not; later changes are there when they are.
    fn offer(&self, deadline: &Deadline) -> Arc<Offer>;

    /// Has it do something. What cannot be sent surely did not happen; see [`ServerFault`].
    fn call(&self, order: Order<'_>, deadline: &Deadline) -> Result<ToolResult, ServerFault>;

    /// What it logged.
    fn logs(&self) -> &Logs;
}

/// What a server is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Order<'o> {
    /// Call a tool.
    Tool {
        /// Its name at the server.
        name: &'o str,
        /// Its arguments.
        arguments: Map<String, Json>,
    },
    /// Read a resource.
    Resource {
        /// Its address.
        uri: String,
    },
}

/// What a server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Its tools, or why it has none.
    pub listed: Result<Listed, ServerFault>,
    /// What can be read from it.
    pub resources: Vec<ResourceOffer>,
    /// Who it says it is.
    pub about: About,
}

/// Who a server says it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its name and version.
    pub title: String,
    /// The version of the protocol.
    pub protocol: String,
}

/// What a call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The parts, in their order.
    pub parts: Vec<Part>,
    /// The same for programs.
    pub structured: Option<Json>,
    /// Whether the server says that it failed.
    pub is_error: bool,
}

/// A part of what a call gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Text(String),
    /// Something that is no text; a model is told of it and does not get it.
    Attachment {
        /// What it is: `image`, `audio`, `resource`, `link`.
        kind: &'static str,
        /// Its media type.
        mime: Option<String>,
        /// Its size.
        bytes: Option<u64>,
        /// Where it is.
        uri: Option<String>,
    },
}

/// Why a server did not do what it was to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ServerFault {
    /// It does not run, so nothing was sent.
    #[error("{message}")]
    Unavailable {
        /// How far it came.
        layer: Layer,
        /// What happened, and what to do.
        message: String,
    },
    /// It did not answer in time. It may have done it.
    #[error("the server did not answer in time")]
    TimedOut,
    /// The user stopped the run. It may have done it.
    #[error("the run was stopped before the server answered")]
    Stopped,
    /// It went away before it answered. It may have done it.
    #[error("the server went away before it answered: {0}")]
    Lost(String),
    /// It refused the request.
    #[error("the server refused the request (code {code}): {message}")]
    Refused {
        /// The code of JSON-RPC.
        code: i64,
        /// The server's words.
        message: String,
    },
}

/// The way to the tools of a server, step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The settings are whole: every variable is set.
    Settings,
    /// The program starts, or the address can be reached.
    Start,
    /// It speaks the protocol.
    Handshake,
    /// It says which tools it has.
    List,
}

impl Layer {
    /// In their order.
    pub const ALL: [Self; 4] = [Self::Settings, Self::Start, Self::Handshake, Self::List];

    /// What people call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Start => "start",
            Self::Handshake => "handshake",
            Self::List => "list",
        }
    }
}

/// The servers of a process. Copies share them; they end with the last copy.
#[derive(Clone)]
pub struct ToolServers(Arc<Shared>);

struct Shared {
    servers: Vec<Box<dyn ToolServer>>,
    most: usize,
}

impl ToolServers {
    /// Takes these servers. A result of more than `most` bytes is cut.
    pub fn new(servers: Vec<Box<dyn ToolServer>>, most: usize) -> Self {
        Self(Arc::new(Shared { servers, most }))
    }

    /// Returns no servers: the runs have the tools of the engine alone.
    pub fn none() -> Self {
        Self(Arc::new(Shared { servers: Vec::new(), most: 0 }))
    }

    /// What the servers offer that a policy allows. The first time they are started, all at once, and waited for.
    pub(crate) fn offers(
        &self,
        policy: &McpPolicy,
        deadline: &Deadline,
    ) -> Vec<(&ServerName, Arc<Offer>)> {
        let allowed = || self.0.servers.iter().filter(|server| policy.allows(server.name()));
        allowed().for_each(|server| server.wake());
        allowed().map(|server| (server.name(), server.offer(deadline))).collect()
    }

    /// What servers logged since it was last asked for.
    pub(crate) fn logged(&self, cursor: &mut LogCursor) -> Vec<(ServerName, LogLine)> {
        let mut lines = Vec::new();
        for server in &self.0.servers {
            let seen = cursor.0.entry(server.name().clone()).or_default();
            let news = server.logs().after(seen);
            lines.extend(news.into_iter().map(|line| (server.name().clone(), line)));
        }
        lines
    }

    /// Has a server do what a model asked for. A result that is too long is kept whole in the blobs.
    pub(crate) fn call(
        &self,
        tool: &ServedTool,
        arguments: Map<String, Json>,
        deadline: &Deadline,
        blobs: &Blobs,
    ) -> Result<Answer, BlobError> {
        if let Err(refusal) = arguments::check(tool, &arguments) {
            return Ok(Answer::from(&refusal));
        }
        let Some(server) = self.0.servers.iter().find(|one| *one.name() == tool.server) else {
            let message = format!("The MCP server `{}` is not enabled any more.", tool.server);
            let refusal = Refusal::new(RefusalCode::ToolNotAvailable, message);
            return Ok(Answer::from(
                &refusal.hint("Go on without it, or ask the user to enable it."),
            ));
        };
        let order = match tool.used {
            Use::Tool => Order::Tool { name: &tool.tool, arguments },
            Use::Resource => {
                let uri = arguments.get("uri").and_then(Json::as_str).unwrap_or_default();
                Order::Resource { uri: uri.to_owned() }
            }
        };
        match server.call(order, deadline) {
            Ok(output) => answer::of(tool, output, self.0.most, blobs),
            Err(fault) => Ok(Answer::from(&answer::refused(tool, &fault))),
        }
    }
}

impl fmt::Debug for ToolServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.servers.iter().map(|server| server.name());
        f.debug_list().entries(names).finish()
    }
}

/// How many lines of each server's log a run has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogCursor(std::collections::BTreeMap<ServerName, u64>);
