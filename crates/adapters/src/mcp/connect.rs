//! The connection to a server: settings, start, handshake, list.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use crewagent_core::tool::server_tool::{ResourceOffer, ServerToolList, ToolOffer};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    ClientRequest, CustomResult, ErrorCode, ListToolsRequest, PaginatedRequestParams,
    ProtocolVersion, ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RoleClient, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize as _;

use super::child::{self, ServerProcess, ServerProgram};
use super::http::BoundedClient;
use super::listener::NotificationListener;
use super::reader::{Bounded, EndReason};
use super::{STARTUP, SharedServer};
use crate::chat::connections;
use crewagent_engine::store::{Environment, KeySource, ServerWay, VariableTemplate, stored_name};
use crewagent_engine::tool_server::{About, ServerFault, ServerLayer, ServerOffer};

/// Time limit of a connection over HTTP.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum number of pages of a list; a longer list is taken as endless.
const MOST_PAGES: usize = 32;

/// Connection to a server.
pub(super) struct ServerLink {
    pub(super) peer: Peer<RoleClient>,
    /// Completes when the connection ends.
    pub(super) ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    pub(super) child: Option<ServerProcess>,
    pub(super) reason: EndReason,
}

/// Progress of a start, to report where it stopped.
#[derive(Default)]
pub(super) struct StartProgress(AtomicU8);

impl StartProgress {
    fn reach(&self, layer: ServerLayer) {
        self.0.store(layer as u8, Ordering::SeqCst);
    }

    fn layer(&self) -> ServerLayer {
        let reached = usize::from(self.0.load(Ordering::SeqCst));
        ServerLayer::ALL[reached.min(ServerLayer::ALL.len() - 1)]
    }
}

/// Starts a server and lists its offer.
pub(super) async fn open(
    shared: &Arc<SharedServer>,
) -> Result<(ServerLink, ServerOffer), ServerFault> {
    let set = shared.settings.startup_timeout;
    let limit = set.map_or(STARTUP, |limit| Duration::from_secs(limit.seconds()));
    let progress = StartProgress::default();
    let opened = async {
        let link = match link(shared, &progress, ClientLifecycleMode::Initialize).await {
            // Newer servers have no handshake.
            Err(ConnectFailure::NoHandshake) => {
                let preferred_versions = ProtocolVersion::KNOWN_VERSIONS.to_vec();
                let discover = ClientLifecycleMode::Discover { preferred_versions };
                link(shared, &progress, discover).await
            }
            other => other,
        };
        let link = link.map_err(|failure| failure.fault(&progress, shared))?;
        progress.reach(ServerLayer::List);
        match offer(shared, &link.peer).await {
            Ok(offer) => Ok((link, offer)),
            Err(error) => {
                let why = link.close().await.unwrap_or_else(|| causes(&error));
                Err(ConnectFailure::Text(why).fault(&progress, shared))
            }
        }
    };
    match tokio::time::timeout(limit, opened).await {
        Ok(opened) => opened,
        Err(_) => {
            let why = match progress.layer() {
                ServerLayer::Settings | ServerLayer::Start => "it did not start",
                ServerLayer::Handshake => "it did not answer the handshake",
                ServerLayer::List => "it did not say which tools it has",
            };
            let why = format!("{why} within {} seconds", limit.as_secs());
            Err(ConnectFailure::Text(why).fault(&progress, shared))
        }
    }
}

/// Reason why there is no connection.
enum ConnectFailure {
    /// The server uses a version of the protocol without a handshake.
    NoHandshake,
    Text(String),
}

impl ConnectFailure {
    fn fault(self, progress: &StartProgress, shared: &SharedServer) -> ServerFault {
        let mut message = match self {
            Self::NoHandshake => "it speaks no version of the protocol that we know".to_owned(),
            Self::Text(why) => why,
        };
        let layer = progress.layer();
        if layer > ServerLayer::Start
            && let Some(line) = shared.logs.last()
        {
            message.push_str(&format!("; the last it logged is: {}", line.text));
        }
        ServerFault::Unavailable { layer, message: shared.veil.over(&message) }
    }
}

/// Parameters of the connection, with every reference filled in.
enum Means<'s> {
    Child(ServerProgram<'s>),
    Http { url: SecretString, headers: HashMap<HeaderName, HeaderValue> },
}

fn means(shared: &SharedServer) -> Result<Means<'_>, ConnectFailure> {
    let filler = Filler { shared, environment: Environment::of_process() };
    for secret in shared.settings.way.open_secrets() {
        shared.veil.add(&secret.into());
    }
    Ok(match &shared.settings.way {
        ServerWay::Child { command, args, env, cwd } => {
            let args = args.iter().map(|arg| filler.fill(arg)).collect::<Result<_, _>>()?;
            Means::Child(ServerProgram {
                command,
                args,
                env: filler.all(env)?,
                cwd: cwd.as_deref(),
            })
        }
        ServerWay::Http { url, headers } => {
            Means::Http { url: filler.fill(url)?, headers: http_headers(&filler.all(headers)?)? }
        }
    })
}

async fn link(
    shared: &Arc<SharedServer>,
    progress: &StartProgress,
    lifecycle: ClientLifecycleMode,
) -> Result<ServerLink, ConnectFailure> {
    progress.reach(ServerLayer::Settings);
    let means = means(shared)?;
    progress.reach(ServerLayer::Start);
    let (listener, reason) = (NotificationListener(shared.clone()), EndReason::default());
    match means {
        Means::Child(program) => {
            let command = program.command;
            let (child, stdout, stdin) = child::start(program, shared).map_err(|error| {
                let is_missing = error.kind() == std::io::ErrorKind::NotFound;
                let advice = if is_missing { "; is it installed, and in PATH?" } else { "" };
                ConnectFailure::Text(format!("`{command}` cannot be started: {error}{advice}"))
            })?;
            progress.reach(ServerLayer::Handshake);
            let transport = AsyncRwTransport::new(Bounded::new(stdout, reason.clone()), stdin)
                .with_max_line_length(usize::MAX);
            match serve_client_with_lifecycle(listener, transport, lifecycle).await {
                Ok(running) => Ok(ServerLink::new(running, Some(child), reason)),
                Err(error) => {
                    let status = child.end().await;
                    let told = reason.take().or_else(|| status.map(|it| format!("it ended: {it}")));
                    Err(refused(error, told))
                }
            }
        }
        Means::Http { url, headers } => {
            let url = url.expose_secret();
            let client =
                connections(url, CONNECT).map_err(|error| ConnectFailure::Text(error.message))?;
            let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
            let transport =
                StreamableHttpClientTransport::with_client(BoundedClient(client), config);
            progress.reach(ServerLayer::Handshake);
            match serve_client_with_lifecycle(listener, transport, lifecycle).await {
                Ok(running) => Ok(ServerLink::new(running, None, reason)),
                Err(error) => Err(refused(error, None)),
            }
        }
    }
}

/// Translates a failed handshake. `told` is the reason known from elsewhere.
fn refused(error: ClientInitializeError, told: Option<String>) -> ConnectFailure {
    if let ClientInitializeError::JsonRpcError(error) = &error
        && matches!(
            error.code,
            ErrorCode::METHOD_NOT_FOUND | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        )
    {
        return ConnectFailure::NoHandshake;
    }
    let is_closed = matches!(error, ClientInitializeError::ConnectionClosed(_));
    ConnectFailure::Text(match (told, is_closed) {
        (Some(told), _) => told,
        (None, true) => "it closed the connection before the handshake was done".to_owned(),
        (None, false) => causes(&error),
    })
}

impl ServerLink {
    fn new(
        running: rmcp::service::RunningService<RoleClient, NotificationListener>,
        child: Option<ServerProcess>,
        reason: EndReason,
    ) -> Self {
        let peer = running.peer().clone();
        let ended = Box::pin(async move {
            let _ = running.waiting().await;
        });
        Self { peer, ended, child, reason }
    }

    /// Ends the connection and the server. Returns the reason, if it ended by itself.
    pub(super) async fn close(self) -> Option<String> {
        let Self { peer, ended, child, reason } = self;
        // The end of the connection is the end of the server's input.
        drop(ended);
        drop(peer);
        let status = match child {
            Some(child) => child.end().await,
            None => None,
        };
        reason.take().or_else(|| status.map(|status| format!("it ended: {status}")))
    }
}

/// Lists everything that a server offers, page by page.
pub(super) async fn offer(
    shared: &SharedServer,
    peer: &Peer<RoleClient>,
) -> Result<ServerOffer, ServiceError> {
    let info = peer.peer_info();
    let capabilities = info.as_ref().map(|info| info.capabilities.clone()).unwrap_or_default();
    let mut tools = Vec::new();
    if capabilities.tools.is_some() {
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let found;
            (found, cursor) = some_tools(peer, page(cursor)).await?;
            tools.extend(found);
            if cursor.is_none() {
                break;
            }
        }
    }
    let mut resources = Vec::new();
    if capabilities.resources.is_some() {
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            // A server without any may say so with an error.
            let Ok(page) = peer.list_resources(page(cursor)).await else { break };
            let named = page.resources.into_iter();
            resources.extend(named.map(|it| ResourceOffer { uri: it.uri, name: it.name }));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
    }
    let readable = capabilities.resources.is_some().then_some(resources.as_slice());
    let listed = ServerToolList::of(&shared.name, tools, readable);
    let about = info.map(|info| About {
        title: info
            .server_info
            .as_ref()
            .map(|server| format!("{} {}", server.name, server.version))
            .unwrap_or_default(),
        protocol: info.protocol_version.to_string(),
    });
    Ok(ServerOffer { listed: Ok(listed), resources, about: about.unwrap_or_default() })
}

/// Lists one page of tools, with the cursor of the next one. The library accepts a list as a whole or not at all; here
/// only the malformed tool is lost.
async fn some_tools(
    peer: &Peer<RoleClient>,
    page: Option<PaginatedRequestParams>,
) -> Result<(Vec<Result<ToolOffer, String>>, Option<String>), ServiceError> {
    let unexpected = match peer.list_tools(page.clone()).await {
        Ok(page) => {
            let tools = page.tools.into_iter().map(|tool| Ok(tool_offer(tool)));
            return Ok((tools.collect(), page.next_cursor));
        }
        Err(error @ ServiceError::UnexpectedResponse) => error,
        Err(error) => return Err(error),
    };
    let request = ListToolsRequest { params: page, ..ListToolsRequest::default() };
    let answer = peer.send_request(ClientRequest::ListToolsRequest(request)).await?;
    let ServerResult::CustomResult(CustomResult(page)) = answer else { return Err(unexpected) };
    let Some(tools) = page["tools"].as_array() else { return Err(unexpected) };
    let tools = tools.iter().map(|tool| {
        let read = Tool::deserialize(tool).map(tool_offer);
        read.map_err(|error| ToolOffer::unreadable(tool, &error.to_string()))
    });
    Ok((tools.collect(), page["nextCursor"].as_str().map(str::to_owned)))
}

fn tool_offer(tool: Tool) -> ToolOffer {
    ToolOffer {
        name: tool.name.into_owned(),
        description: tool.description.unwrap_or_default().into_owned(),
        schema: Arc::unwrap_or_clone(tool.input_schema),
    }
}

fn page(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    Some(PaginatedRequestParams::default().with_cursor(cursor))
}

/// Resolver of references in the settings: keys stored for the server, else variables.
struct Filler<'s> {
    shared: &'s SharedServer,
    environment: Environment<'static>,
}

impl Filler<'_> {
    fn fill(&self, template: &VariableTemplate) -> Result<SecretString, ConnectFailure> {
        let SharedServer { secrets, name, veil, .. } = self.shared;
        let get = |variable: &str| {
            let stored = secrets.get(&KeySource::File, &stored_name(name, variable));
            let stored = stored.ok().flatten();
            stored.or_else(|| self.environment.get(variable).map(SecretString::from))
        };
        let filled = template.filled(&get, &mut |secret| veil.add(secret));
        filled.map_err(|missing| ConnectFailure::Text(missing.to_string()))
    }

    fn all(
        &self,
        values: &BTreeMap<String, VariableTemplate>,
    ) -> Result<BTreeMap<String, SecretString>, ConnectFailure> {
        values.iter().map(|(name, value)| Ok((name.clone(), self.fill(value)?))).collect()
    }
}

fn http_headers(
    headers: &BTreeMap<String, SecretString>,
) -> Result<HashMap<HeaderName, HeaderValue>, ConnectFailure> {
    let header = |(name, value): (&String, &SecretString)| {
        let wrong = |_| ConnectFailure::Text(format!("the header `{name}` cannot have its value"));
        let key = name
            .parse::<HeaderName>()
            .map_err(|_| ConnectFailure::Text(format!("`{name}` is not the name of a header")))?;
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(wrong)?;
        value.set_sensitive(true);
        Ok((key, value))
    };
    headers.iter().map(header).collect()
}

/// Describes an error with all its causes, in one line.
pub(super) fn causes(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_words = inner.to_string();
        if !words.contains(&inner_words) {
            words.push_str(": ");
            words.push_str(&inner_words);
        }
        cause = inner.source();
    }
    words
}
