//! The port to tool servers: their tools, and the results of calls.
//!
//! A server is not trusted. Descriptions of its tools are cleaned and capped before a model sees them, arguments are
//! checked before they are sent, and results are data: they are capped, and nothing in them controls the runtime.

pub(crate) mod answer;
mod arguments;
mod effort;
mod logs;

use std::fmt;
use std::sync::Arc;

use crewagent_core::event::Answer;
use crewagent_core::policy::McpPolicy;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::tool::server_tool::{
    ResourceOffer, ServerName, ServerTool, ServerToolList, ToolUse,
};
use serde_json::{Map, Value as Json};
use thiserror::Error;

pub use self::logs::{LogLine, Logs};
use crate::blobs::{BlobError, Blobs};
use crate::cancel::Deadline;

/// A tool server. Many runs may use it at the same time.
pub trait ToolServer: Send + Sync {
    /// Returns the name that the user gave it.
    fn name(&self) -> &ServerName;

    /// Starts the server if it does not run, without waiting for it.
    fn wake(&self);

    /// Returns its current offer. Waits only for the first one, or for the failure to get it.
    fn offer(&self, deadline: &Deadline) -> Arc<ServerOffer>;

    /// Executes an order. [`ServerFault`] says if it may have happened despite an error.
    fn call(&self, order: ServerOrder<'_>, deadline: &Deadline) -> Result<ToolResult, ServerFault>;

    /// Returns its log.
    fn logs(&self) -> &Logs;
}

/// An order to a server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerOrder<'o> {
    Tool {
        /// Name of the tool at the server.
        name: &'o str,
        arguments: Map<String, Json>,
    },
    Resource {
        uri: String,
    },
}

/// Tools and resources that a server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerOffer {
    /// Tools of the server, or why it has none.
    pub listed: Result<ServerToolList, ServerFault>,
    /// Resources that can be read from it.
    pub resources: Vec<ResourceOffer>,
    /// Identity that the server states.
    pub about: About,
}

/// Identity that a server states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Name and version.
    pub title: String,
    /// Version of the protocol.
    pub protocol: String,
}

/// Result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// Parts in order.
    pub parts: Vec<ResultPart>,
    /// The same content as JSON.
    pub structured: Option<Json>,
    /// True if the server reports a failure.
    pub is_error: bool,
}

/// A part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultPart {
    Text(String),
    /// Something other than text; the model receives only its description.
    Attachment {
        /// `image`, `audio`, `resource` or `link`.
        kind: &'static str,
        mime: Option<String>,
        bytes: Option<u64>,
        uri: Option<String>,
    },
}

/// Reasons why a server did not complete an order.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ServerFault {
    /// The server does not run, so nothing was sent.
    #[error("{message}")]
    Unavailable {
        /// Layer at which it failed.
        layer: ServerLayer,
        /// What happened, and what to do about it.
        message: String,
    },
    /// The server did not answer in time, and may have executed the order.
    #[error("the server did not answer in time")]
    TimedOut,
    /// The user stopped the run, and the server may have executed the order.
    #[error("the run was stopped before the server answered")]
    Stopped,
    /// The connection was lost before the server answered, and it may have executed the order.
    #[error("the server went away before it answered: {0}")]
    Lost(String),
    /// The server refused the request.
    #[error("the server refused the request (code {code}): {message}")]
    Refused {
        /// JSON-RPC error code.
        code: i64,
        /// Message of the server.
        message: String,
    },
    /// The server asks the user something before it gives a result.
    #[error("the server wants input first: {0}")]
    NeedsInput(String),
    /// The server answered with something else than a result.
    #[error("the server gave no result: {0}")]
    NoResult(String),
}

/// The layers on the path to the tools of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ServerLayer {
    /// The settings are complete: every variable is set.
    Settings,
    /// The program starts, or the address can be reached.
    Start,
    /// The server speaks the protocol.
    Handshake,
    /// The server lists its tools.
    List,
}

impl ServerLayer {
    /// All layers, in order.
    pub const ALL: [Self; 4] = [Self::Settings, Self::Start, Self::Handshake, Self::List];

    /// Returns the name that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Start => "start",
            Self::Handshake => "handshake",
            Self::List => "list",
        }
    }
}

/// The tool servers of a process. Copies share them, and the servers end with the last copy.
#[derive(Clone)]
pub struct ToolServers(Arc<ServerList>);

struct ServerList {
    servers: Vec<Box<dyn ToolServer>>,
    most: usize,
}

impl ToolServers {
    /// Takes these servers. Results of more than `most` bytes are cut.
    pub fn new(servers: Vec<Box<dyn ToolServer>>, most: usize) -> Self {
        Self(Arc::new(ServerList { servers, most }))
    }

    /// Returns no servers, so that runs have only the tools of the engine.
    pub fn none() -> Self {
        Self(Arc::new(ServerList { servers: Vec::new(), most: 0 }))
    }

    /// Returns the offers of the servers that a policy allows. The first time it starts them all at once and waits.
    pub(crate) fn offers(
        &self,
        policy: &McpPolicy,
        deadline: &Deadline,
    ) -> Vec<(&ServerName, Arc<ServerOffer>)> {
        let allowed = || self.0.servers.iter().filter(|server| policy.allows(server.name()));
        allowed().for_each(|server| server.wake());
        allowed().map(|server| (server.name(), server.offer(deadline))).collect()
    }

    /// Returns the log lines since the last call.
    pub(crate) fn logged(&self, cursor: &mut LogCursor) -> Vec<(ServerName, LogLine)> {
        let mut lines = Vec::new();
        for server in &self.0.servers {
            let seen = cursor.0.entry(server.name().clone()).or_default();
            let news = server.logs().after(seen);
            lines.extend(news.into_iter().map(|line| (server.name().clone(), line)));
        }
        lines
    }

    /// Lets a server execute a call of the model. A result that is too long is stored whole in the blobs.
    pub(crate) fn call(
        &self,
        tool: &ServerTool,
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
            ToolUse::Tool => ServerOrder::Tool { name: &tool.tool, arguments },
            ToolUse::Resource => {
                let uri = arguments.get("uri").and_then(Json::as_str).unwrap_or_default();
                ServerOrder::Resource { uri: uri.to_owned() }
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

/// Number of lines of each server's log that a run has read.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogCursor(std::collections::BTreeMap<ServerName, u64>);
