//! The client of MCP servers, on the official SDK. This module alone knows it.
//!
//! A server is started when its tools are first wanted. One task watches over it: it connects, lists, listens to changes,
//! and notices when the server goes away; then the server is started again with the next use, at first at once and then
//! less and less often. Calls of many threads go over the one connection.

mod checkup;
mod child;
mod connect;
mod listener;
mod reader;
mod result;
mod supervisor;
mod veil;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crewagent_core::tool::served::ServerName;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ReadResourceRequest,
    ReadResourceRequestParams,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

pub use self::checkup::{CheckStep, Checkup, checkup};
use self::veil::Veil;
use crate::io;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::store::{Secrets, ServerSettings, Store};
use crewagent_engine::tool_server::{
    About, Layer, Logs, Offer, Order, ServerFault, ToolResult, ToolServer, ToolServers,
};

/// Time until a server has said which tools it has, when nothing is set.
const STARTUP: Duration = Duration::from_secs(30);
/// Time to tell a server that its answer is not wanted any more.
const FAREWELL: Duration = Duration::from_millis(100);
/// Time to find out why a server went away.
const EPITAPH: Duration = Duration::from_millis(1500);
/// Time for a server to end, once it is told to.
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

/// A server that is reached by the Model Context Protocol.
pub struct McpServer {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    supervisor: Mutex<Option<JoinHandle<()>>>,
}

/// What the calls of a server and the task that watches over it have in common.
struct Shared {
    name: ServerName,
    settings: ServerSettings,
    secrets: Secrets,
    logs: Logs,
    veil: Veil,
    state: watch::Sender<State>,
    /// Somebody wants to use the server.
    wanted: Notify,
    /// The server says that its tools are others now.
    changed: Notify,
}

/// How a server is.
#[derive(Clone, Default)]
struct State {
    phase: Phase,
    /// What it offered when it could be asked last.
    offer: Option<Arc<Offer>>,
}

#[derive(Clone, Default)]
enum Phase {
    /// Nobody has wanted it yet.
    #[default]
    Asleep,
    /// It is being started.
    Starting,
    /// It can be called.
    Ready(Line),
    /// It does not run, and is not tried again before a time.
    Down { fault: ServerFault, until: Instant },
}

/// A connection that can be used.
#[derive(Clone)]
struct Line {
    peer: Peer<RoleClient>,
    /// Something went wrong on it, though it looks alive.
    suspect: Arc<Notify>,
}

impl McpServer {
    /// A server that is not started yet.
    pub fn new(name: ServerName, settings: ServerSettings, secrets: Secrets) -> Self {
        let shared = Shared {
            name,
            settings,
            secrets,
            logs: Logs::default(),
            veil: Veil::default(),
            state: watch::Sender::new(State::default()),
            wanted: Notify::new(),
            changed: Notify::new(),
        };
        let (stop, supervisor) = (watch::Sender::new(false), Mutex::new(None));
        Self { shared: Arc::new(shared), stop, supervisor }
    }

    /// Waits until it can be called.
    async fn ready(&self, deadline: &Deadline) -> Result<Line, ServerFault> {
        let mut state = self.shared.state.subscribe();
        loop {
            match &state.borrow_and_update().phase {
                Phase::Ready(line) if !line.peer.is_transport_closed() => return Ok(line.clone()),
                Phase::Down { fault, until } if Instant::now() < *until => {
                    return Err(fault.clone());
                }
                Phase::Down { .. } => self.shared.wanted.notify_one(),
                Phase::Asleep | Phase::Starting | Phase::Ready(_) => {}
            }
            tokio::select! {
                changed = state.changed() => if changed.is_err() { return Err(gone()) },
                () = deadline.over() => return Err(unstarted(deadline)),
            }
        }
    }

    /// Sends one request and waits for its answer, or tells the server that nobody wants it any more.
    async fn request(
        &self,
        line: &Line,
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
            Ok(answer) => Ok(result::output(&answer, &self.shared.veil)),
            Err(error) => Err(self.failed(line, &error).await),
        }
    }

    /// What an error of the SDK means.
    async fn failed(&self, line: &Line, error: &ServiceError) -> ServerFault {
        if let ServiceError::McpError(error) = error {
            let message = self.shared.veil.over(&error.message);
            return ServerFault::Refused { code: i64::from(error.code.0), message };
        }
        line.suspect.notify_one();
        if !matches!(error, ServiceError::TransportClosed) {
            return ServerFault::Lost(self.shared.veil.over(&connect::causes(error)));
        }
        // Whoever watches over it knows more in a moment.
        let mut state = self.shared.state.subscribe();
        let is_down = |state: &State| matches!(state.phase, Phase::Down { .. });
        let down = tokio::time::timeout(EPITAPH, state.wait_for(is_down)).await;
        let state = down.ok().and_then(Result::ok);
        match state.as_deref() {
            Some(State { phase: Phase::Down { fault, .. }, .. }) => {
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
            Phase::Asleep => true,
            Phase::Down { until, .. } => Instant::now() >= *until,
            Phase::Starting | Phase::Ready(_) => false,
        };
        if is_idle {
            self.shared.wanted.notify_one();
        }
    }

    fn offer(&self, deadline: &Deadline) -> Arc<Offer> {
        let known = |state: &State| match (&state.offer, &state.phase) {
            (Some(offer), _) => Some(offer.clone()),
            (None, Phase::Down { fault, .. }) => Some(Arc::new(none(fault.clone()))),
            (None, Phase::Asleep | Phase::Starting | Phase::Ready(_)) => None,
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

    fn call(&self, order: Order<'_>, deadline: &Deadline) -> Result<ToolResult, ServerFault> {
        self.wake();
        let limit = self.shared.settings.call_timeout;
        let deadline = match limit {
            Some(limit) => deadline.within(Duration::from_secs(limit.seconds())),
            None => deadline.clone(),
        };
        let request = match order {
            Order::Tool { name, arguments } => {
                let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            }
            Order::Resource { uri } => ClientRequest::ReadResourceRequest(
                ReadResourceRequest::new(ReadResourceRequestParams::new(uri)),
            ),
        };
        let called = io::block_on(async {
            let line = self.ready(&deadline).await?;
            self.request(&line, request, &deadline).await
        });
        called.unwrap_or_else(|error| {
            let message = format!("no thread could be started: {error}");
            Err(ServerFault::Unavailable { layer: Layer::Start, message })
        })
    }

    fn logs(&self) -> &Logs {
        &self.shared.logs
    }
}

impl Drop for McpServer {
    /// The server and everything it started end here.
    fn drop(&mut self) {
        self.stop.send_replace(true);
        let supervisor = self.supervisor.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // A thread that serves others does not wait; the task ends the server all the same.
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

/// A server without tools.
fn none(fault: ServerFault) -> Offer {
    Offer { listed: Err(fault), resources: Vec::new(), about: About::default() }
}

/// The time for a call is over, or the user stopped the run.
fn over(deadline: &Deadline) -> ServerFault {
    if deadline.is_late() { ServerFault::TimedOut } else { ServerFault::Stopped }
}

/// The time for a call is over before the server was ready for it.
fn unstarted(deadline: &Deadline) -> ServerFault {
    let message = match deadline.is_late() {
        true => "it was not ready in time",
        false => "the run was stopped before it was ready",
    };
    ServerFault::Unavailable { layer: Layer::Start, message: message.to_owned() }
}

fn gone() -> ServerFault {
    ServerFault::Unavailable { layer: Layer::Start, message: "it was closed".to_owned() }
}
