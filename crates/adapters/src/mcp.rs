//! Client of MCP servers, on the official SDK, which no other module uses.
//!
//! A server is started when its tools are first needed. One task supervises it: it connects, lists the tools, listens
//! to changes, and notices when the server exits. The next use starts the server again, at first immediately and then
//! with growing delays. Calls of many threads share one connection.

mod child;
mod connect;
mod connection_test;
mod http;
mod listener;
mod reader;
mod result;
mod supervisor;
mod veil;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crewagent_core::tool::server_tool::ServerName;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ReadResourceRequest,
    ReadResourceRequestParams,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

pub use self::connection_test::{ConnectionTest, ServerTestStep, test_connection};
use self::veil::Veil;
use crate::io;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::store::{Secrets, ServerSettings, Store};
use crewagent_engine::tool_server::{
    About, Logs, ServerFault, ServerLayer, ServerOffer, ServerOrder, ToolResult, ToolServer,
    ToolServers,
};

/// Default time limit until a server has listed its tools.
const STARTUP: Duration = Duration::from_secs(30);
/// Time limit for notifying a server that a request is cancelled.
const FAREWELL: Duration = Duration::from_millis(100);
/// Time limit to find the reason of a server's exit.
const EXIT_REASON_TIMEOUT: Duration = Duration::from_millis(1500);
/// Time limit for a server to exit on request.
const CLOSING: Duration = Duration::from_secs(3);

/// Returns the servers that are set up and enabled. None is started yet.
pub fn tool_servers(store: &Store) -> ToolServers {
    let settings = &store.settings().mcp;
    let enabled = settings.servers.iter().filter(|(_, server)| server.enabled);
    let servers = enabled.map(|(name, server)| -> Box<dyn ToolServer> {
        Box::new(McpServer::new(name.clone(), server.clone(), store.secrets()))
    });
    let most = usize::try_from(settings.max_result_bytes).unwrap_or(usize::MAX);
    ToolServers::new(servers.collect(), most)
}

/// Server that is reached by the Model Context Protocol.
pub struct McpServer {
    shared: Arc<SharedServer>,
    stop: watch::Sender<bool>,
    supervisor: Mutex<Option<JoinHandle<()>>>,
}

/// State shared by the calls of a server and its supervisor task.
struct SharedServer {
    name: ServerName,
    settings: ServerSettings,
    secrets: Secrets,
    logs: Logs,
    veil: Veil,
    state: watch::Sender<SupervisorState>,
    /// A caller needs the server.
    wanted: Notify,
    /// The server reports that its tools changed.
    changed: Notify,
}

/// State of a server.
#[derive(Clone, Default)]
struct SupervisorState {
    phase: ConnectionPhase,
    /// Last known offer.
    offer: Option<Arc<ServerOffer>>,
}

#[derive(Clone, Default)]
enum ConnectionPhase {
    /// No caller has needed it yet.
    #[default]
    Asleep,
    Starting,
    Ready(ServerConnection),
    /// It does not run, and is not started again before this time.
    Down {
        fault: ServerFault,
        until: Instant,
    },
}

/// Usable connection.
#[derive(Clone)]
struct ServerConnection {
    peer: Peer<RoleClient>,
    /// A request failed on it, though it looks alive.
    suspect: Arc<Notify>,
}

impl McpServer {
    /// Creates a server that is not started yet.
    pub fn new(name: ServerName, settings: ServerSettings, secrets: Secrets) -> Self {
        let shared = SharedServer {
            name,
            settings,
            secrets,
            logs: Logs::default(),
            veil: Veil::default(),
            state: watch::Sender::new(SupervisorState::default()),
            wanted: Notify::new(),
            changed: Notify::new(),
        };
        let (stop, supervisor) = (watch::Sender::new(false), Mutex::new(None));
        Self { shared: Arc::new(shared), stop, supervisor }
    }

    /// Waits until the server can be called.
    async fn ready(&self, deadline: &Deadline) -> Result<ServerConnection, ServerFault> {
        let mut state = self.shared.state.subscribe();
        loop {
            match &state.borrow_and_update().phase {
                ConnectionPhase::Ready(line) if !line.peer.is_transport_closed() => {
                    return Ok(line.clone());
                }
                ConnectionPhase::Down { fault, until } if Instant::now() < *until => {
                    return Err(fault.clone());
                }
                ConnectionPhase::Down { .. } => self.shared.wanted.notify_one(),
                ConnectionPhase::Asleep | ConnectionPhase::Starting | ConnectionPhase::Ready(_) => {
                }
            }
            tokio::select! {
                changed = state.changed() => if changed.is_err() { return Err(gone()) },
                () = deadline.over() => return Err(unstarted(deadline)),
            }
        }
    }

    /// Sends one request and waits for its answer, or cancels it.
    async fn request(
        &self,
        line: &ServerConnection,
        request: ClientRequest,
        deadline: &Deadline,
    ) -> Result<ToolResult, ServerFault> {
        let sent = line.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let sent = tokio::select! {
            sent = sent => sent,
            () = deadline.over() => return Err(over(deadline)),
        };
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.failed(line, &error).await),
        };
        let answered = tokio::select! {
            answered = &mut handle.rx => answered.unwrap_or(Err(ServiceError::TransportClosed)),
            () = deadline.over() => {
                let reason = "nobody waits for the answer any more".to_owned();
                let _ = tokio::time::timeout(FAREWELL, handle.cancel(Some(reason))).await;
                return Err(over(deadline));
            }
        };
        match answered {
            Ok(answer) => result::output(&answer, &self.shared.veil),
            Err(error) => Err(self.failed(line, &error).await),
        }
    }

    /// Translates an error of the SDK.
    async fn failed(&self, line: &ServerConnection, error: &ServiceError) -> ServerFault {
        if let ServiceError::McpError(error) = error {
            let message = self.shared.veil.over(&error.message);
            return ServerFault::Refused { code: i64::from(error.code.0), message };
        }
        line.suspect.notify_one();
        if !matches!(error, ServiceError::TransportClosed) {
            return ServerFault::Lost(self.shared.veil.over(&connect::causes(error)));
        }
        // The supervisor learns the reason shortly after.
        let mut state = self.shared.state.subscribe();
        let is_down = |state: &SupervisorState| matches!(state.phase, ConnectionPhase::Down { .. });
        let down = tokio::time::timeout(EXIT_REASON_TIMEOUT, state.wait_for(is_down)).await;
        let state = down.ok().and_then(Result::ok);
        match state.as_deref() {
            Some(SupervisorState { phase: ConnectionPhase::Down { fault, .. }, .. }) => {
                ServerFault::Lost(fault.to_string())
            }
            Some(_) | None => ServerFault::Lost("the connection ended".to_owned()),
        }
    }
}

impl ToolServer for McpServer {
    fn name(&self) -> &ServerName {
        &self.shared.name
    }

    fn wake(&self) {
        let mut supervisor = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner);
        if supervisor.is_none()
            && let Ok(runtime) = io::runtime()
        {
            let watched = supervisor::supervise(self.shared.clone(), self.stop.subscribe());
            *supervisor = Some(runtime.spawn(watched));
        }
        let is_idle = match &self.shared.state.borrow().phase {
            ConnectionPhase::Asleep => true,
            ConnectionPhase::Down { until, .. } => Instant::now() >= *until,
            ConnectionPhase::Starting | ConnectionPhase::Ready(_) => false,
        };
        if is_idle {
            self.shared.wanted.notify_one();
        }
    }

    fn offer(&self, deadline: &Deadline) -> Arc<ServerOffer> {
        let known = |state: &SupervisorState| match (&state.offer, &state.phase) {
            (Some(offer), _) => Some(offer.clone()),
            (None, ConnectionPhase::Down { fault, .. }) => Some(Arc::new(none(fault.clone()))),
            (
                None,
                ConnectionPhase::Asleep | ConnectionPhase::Starting | ConnectionPhase::Ready(_),
            ) => None,
        };
        if let Some(offer) = known(&self.shared.state.borrow()) {
            return offer;
        }
        let mut state = self.shared.state.subscribe();
        let waited = io::block_on(async {
            tokio::select! {
                settled = state.wait_for(|state| known(state).is_some()) => {
                    settled.ok().and_then(|state| known(&state))
                }
                () = deadline.over() => None,
            }
        });
        waited.ok().flatten().unwrap_or_else(|| Arc::new(none(unstarted(deadline))))
    }

    fn call(&self, order: ServerOrder<'_>, deadline: &Deadline) -> Result<ToolResult, ServerFault> {
        self.wake();
        let limit = self.shared.settings.call_timeout;
        let deadline = match limit {
            Some(limit) => deadline.within(Duration::from_secs(limit.seconds())),
            None => deadline.clone(),
        };
        let request = match order {
            ServerOrder::Tool { name, arguments } => {
                let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            }
            ServerOrder::Resource { uri } => ClientRequest::ReadResourceRequest(
                ReadResourceRequest::new(ReadResourceRequestParams::new(uri)),
            ),
        };
        let called = io::block_on(async {
            let line = self.ready(&deadline).await?;
            self.request(&line, request, &deadline).await
        });
        called.unwrap_or_else(|error| {
            let message = format!("no thread could be started: {error}");
            Err(ServerFault::Unavailable { layer: ServerLayer::Start, message })
        })
    }

    fn logs(&self) -> &Logs {
        &self.shared.logs
    }
}

impl Drop for McpServer {
    /// Ends the server and all processes it started.
    fn drop(&mut self) {
        self.stop.send_replace(true);
        let supervisor = self.supervisor.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // A thread of the runtime must not wait; the task ends the server all the same.
        let may_wait = tokio::runtime::Handle::try_current().is_err();
        if let Some(supervisor) = supervisor.filter(|_| may_wait) {
            let _ = io::block_on(async { tokio::time::timeout(CLOSING, supervisor).await });
        }
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpServer").field(&self.shared.name).finish()
    }
}

/// Returns the offer of a server without tools.
fn none(fault: ServerFault) -> ServerOffer {
    ServerOffer { listed: Err(fault), resources: Vec::new(), about: About::default() }
}

/// Returns the fault of a call that timed out or was cancelled by the user.
fn over(deadline: &Deadline) -> ServerFault {
    if deadline.is_late() { ServerFault::TimedOut } else { ServerFault::Stopped }
}

/// Returns the fault of a call that timed out before the server was ready.
fn unstarted(deadline: &Deadline) -> ServerFault {
    let message = match deadline.is_late() {
        true => "it was not ready in time",
        false => "the run was stopped before it was ready",
    };
    ServerFault::Unavailable { layer: ServerLayer::Start, message: message.to_owned() }
}

fn gone() -> ServerFault {
    ServerFault::Unavailable { layer: ServerLayer::Start, message: "it was closed".to_owned() }
}
