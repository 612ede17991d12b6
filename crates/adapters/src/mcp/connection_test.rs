//! Connection test of a server, step by step, so that the failing step can be named.

use std::sync::Arc;

use crewagent_core::tool::server_tool::ServerName;
use serde::Serialize;

use super::McpServer;
use crate::chat::StepStatus;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::store::{Secrets, ServerSettings};
use crewagent_engine::tool_server::{
    LogLine, ServerFault, ServerLayer, ServerOffer, ToolServer as _,
};

/// Result of a connection test.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionTest {
    pub steps: Vec<ServerTestStep>,
    /// Offer of the server, or the reason why there is none.
    pub offer: Arc<ServerOffer>,
    /// Last lines of its log.
    pub log: Vec<LogLine>,
}

/// Step of a connection test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerTestStep {
    pub layer: ServerLayer,
    pub status: StepStatus,
    /// Result of the step, or the reason of its failure.
    pub message: String,
}

impl ConnectionTest {
    /// Returns the step that failed.
    pub fn failed(&self) -> Option<&ServerTestStep> {
        self.steps.iter().find(|step| step.status == StepStatus::Failed)
    }
}

/// Starts a server, lists its offer, and ends it. The time limit is that of its own settings, but not past the
/// deadline.
pub fn test_connection(
    name: ServerName,
    settings: ServerSettings,
    secrets: Secrets,
    deadline: &Deadline,
) -> ConnectionTest {
    let server = McpServer::new(name, settings, secrets);
    server.wake();
    let offer = server.offer(deadline);
    let log = server.logs().after(&mut 0);
    ConnectionTest { steps: steps(&offer), offer, log }
}

fn steps(offer: &ServerOffer) -> Vec<ServerTestStep> {
    let fault = offer.listed.as_ref().err();
    let stopped = fault.map(|fault| match fault {
        ServerFault::Unavailable { layer, .. } => *layer,
        ServerFault::TimedOut
        | ServerFault::Stopped
        | ServerFault::Lost(_)
        | ServerFault::Refused { .. }
        | ServerFault::NeedsInput(_)
        | ServerFault::NoResult(_) => ServerLayer::List,
    });
    let step = |layer: ServerLayer| {
        let (status, message) = match stopped {
            Some(at) if layer == at => {
                (StepStatus::Failed, fault.map(ToString::to_string).unwrap_or_default())
            }
            Some(at) if layer > at => (StepStatus::Skipped, String::new()),
            Some(_) | None => (StepStatus::Ok, brought(layer, offer)),
        };
        ServerTestStep { layer, status, message }
    };
    ServerLayer::ALL.map(step).to_vec()
}

/// Describes the result of a step that passed.
fn brought(layer: ServerLayer, offer: &ServerOffer) -> String {
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    match (layer, &offer.listed) {
        (ServerLayer::Handshake, _) if !offer.about.title.is_empty() => {
            format!("{}, protocol {}", offer.about.title, offer.about.protocol)
        }
        (ServerLayer::List, Ok(listed)) => {
            let tools = counted(listed.tools.len(), "tool");
            format!("{tools}, {}", counted(offer.resources.len(), "resource"))
        }
        (
            ServerLayer::Settings | ServerLayer::Start | ServerLayer::Handshake | ServerLayer::List,
            _,
        ) => String::new(),
    }
}
