//! The connection to a server: settings, start, handshake, list.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use crewagent_core::tool::server_tool::{Listed, ResourceOffer, ToolOffer};
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

use super::child::{self, Child, Program};
use super::listener::Listener;
use super::reader::{Bounded, Reason};
use super::{STARTUP, Shared};
use crate::chat::connections;
use crewagent_engine::store::{Environment, KeySource, ServerWay, Template, stored_name};
use crewagent_engine::tool_server::{About, Layer, Offer, ServerFault};

/// Time limit of a connection over HTTP.
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum number of pages of a list; a longer list is taken as endless.
const MOST_PAGES: usize = 32;

/// Connection to a server.
pub(super) struct Link {
    pub(super) peer: Peer<RoleClient>,
    /// Completes when the connection ends.
    pub(super) ended: Pin<Box<dyn Future<Output = ()> + Send>>,
    pub(super) child: Option<Child>,
    pub(super) reason: Reason,
}

/// Progress of a start, to report where it stopped.
#[derive(Default)]
pub(super) struct Progress(AtomicU8);

impl Progress {
    fn reach(&self, layer: Layer) {
        self.0.store(layer as u8, Ordering::SeqCst);
    }

    fn layer(&self) -> Layer {
        let reached = usize::from(self.0.load(Ordering::SeqCst));
        Layer::ALL[reached.min(Layer::ALL.len() - 1)]
    }
}

/// Starts a server and lists its offer.
pub(super) async fn open(shared: &Arc<Shared>) -> Result<(Link, Offer), ServerFault> {
    let set = shared.settings.startup_timeout;
    let limit = set.map_or(STARTUP, |limit| Duration::from_secs(limit.seconds()));
    let progress = Progress::default();
    let opened = async {
        let link = match link(shared, &progress, ClientLifecycleMode::Initialize).await {
            // Newer servers have no handshake.
            Err(Failure::NoHandshake) => {
                let preferred_versions = ProtocolVersion::KNOWN_VERSIONS.to_vec();
                let discover = ClientLifecycleMode::Discover { preferred_versions };
                link(shared, &progress, discover).await
            }
            other => other,
        };
        let link = link.map_err(|failure| failure.fault(&progress, shared))?;
        progress.reach(Layer::List);
        match offer(shared, &link.peer).await {
            Ok(offer) => Ok((link, offer)),
            Err(error) => {
                let why = link.close().await.unwrap_or_else(|| causes(&error));
                Err(Failure::Text(why).fault(&progress, shared))
            }
        }
    };
    match tokio::time::timeout(limit, opened).await {
        Ok(opened) => opened,
        Err(_) => {
            let why = match progress.layer() {
                Layer::Settings | Layer::Start => "it did not start",
                Layer::Handshake => "it did not answer the handshake",
                Layer::List => "it did not say which tools it has",
            };
            let why = format!("{why} within {} seconds", limit.as_secs());
            Err(Failure::Text(why).fault(&progress, shared))
        }
    }
}

/// Reason why there is no connection.
enum Failure {
    /// The server uses a version of the protocol without a handshake.
    NoHandshake,
    Text(String),
}

impl Failure {
    fn fault(self, progress: &Progress, shared: &Shared) -> ServerFault {
        let mut message = match self {
            Self::NoHandshake => "it speaks no version of the protocol that we know".to_owned(),
            Self::Text(why) => why,
        };
        let layer = progress.layer();
        if layer > Layer::Start
            && let Some(line) = shared.logs.last()
        {
            message.push_str(&format!("; the last it logged is: {}", line.text));
        }
        ServerFault::Unavailable { layer, message: shared.veil.over(&message) }
    }
}

/// Parameters of the connection, with every reference filled in.
enum Means<'s> {
    Child(Program<'s>),
    Http { url: SecretString, headers: HashMap<HeaderName, HeaderValue> },
}

fn means(shared: &Shared) -> Result<Means<'_>, Failure> {
    let filler = Filler { shared, environment: Environment::of_process() };
    for secret in shared.settings.way.open_secrets() {
        shared.veil.add(&secret.into());
    }
    Ok(match &shared.settings.way {
        ServerWay::Child { command, args, env, cwd } => {
            let args = args.iter().map(|arg| filler.fill(arg)).collect::<Result<_, _>>()?;
            Means::Child(Program { command, args, env: filler.all(env)?, cwd: cwd.as_deref() })
        }
        ServerWay::Http { url, headers } => {
            Means::Http { url: filler.fill(url)?, headers: http_headers(&filler.all(headers)?)? }
        }
    })
}

async fn link(
    shared: &Arc<Shared>,
    progress: &Progress,
    lifecycle: ClientLifecycleMode,
) -> Result<Link, Failure> {
    progress.reach(Layer::Settings);
    let means = means(shared)?;
    progress.reach(Layer::Start);
    let (listener, reason) = (Listener(shared.clone()), Reason::default());
    match means {
        Means::Child(program) => {
            let command = program.command;
            let (child, stdout, stdin) = child::start(program, shared).map_err(|error| {
                let is_missing = error.kind() == std::io::ErrorKind::NotFound;
                let advice = if is_missing { "; is it installed, and in PATH?" } else { "" };
                Failure::Text(format!("`{command}` cannot be started: {error}{advice}"))
            })?;
            progress.reach(Layer::Handshake);
            let transport = AsyncRwTransport::new(Bounded::new(stdout, reason.clone()), stdin)
                .with_max_line_length(usize::MAX);
            match serve_client_with_lifecycle(listener, transport, lifecycle).await {
                Ok(running) => Ok(Link::new(running, Some(child), reason)),
                Err(error) => {
                    let status = child.end().await;
                    let told = reason.take().or_else(|| status.map(|it| format!("it ended: {it}")));
                    Err(refused(error, told))
                }
            }
        }
        Means::Http { url, headers } => {
            let url = url.expose_secret();
            let client = connections(url, CONNECT).map_err(|error| Failure::Text(error.message))?;
            let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
            let transport = StreamableHttpClientTransport::with_client(client, config);
            progress.reach(Layer::Handshake);
            match serve_client_with_lifecycle(listener, transport, lifecycle).await {
                Ok(running) => Ok(Link::new(running, None, reason)),
                Err(error) => Err(refused(error, None)),
            }
        }
    }
}

/// Translates a failed handshake. `told` is the reason known from elsewhere.
fn refused(error: ClientInitializeError, told: Option<String>) -> Failure {
    if let ClientInitializeError::JsonRpcError(error) = &error
        && matches!(
            error.code,
            ErrorCode::METHOD_NOT_FOUND | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        )
    {
        return Failure::NoHandshake;
    }
    let is_closed = matches!(error, ClientInitializeError::ConnectionClosed(_));
    Failure::Text(match (told, is_closed) {
        (Some(told), _) => told,
        (None, true) => "it closed the connection before the handshake was done".to_owned(),
        (None, false) => causes(&error),
    })
}

impl Link {
    fn new(
        running: rmcp::service::RunningService<RoleClient, Listener>,
        child: Option<Child>,
        reason: Reason,
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
pub(super) async fn offer(shared: &Shared, peer: &Peer<RoleClient>) -> Result<Offer, ServiceError> {
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
    let listed = Listed::of(&shared.name, tools, readable);
    let about = info.map(|info| About {
        title: info
            .server_info
            .as_ref()
            .map(|server| format!("{} {}", server.name, server.version))
            .unwrap_or_default(),
        protocol: info.protocol_version.to_string(),
    });
    Ok(Offer { listed: Ok(listed), resources, about: about.unwrap_or_default() })
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
    shared: &'s Shared,
    environment: Environment<'static>,
}

impl Filler<'_> {
    fn fill(&self, template: &Template) -> Result<SecretString, Failure> {
        let Shared { secrets, name, veil, .. } = self.shared;
        let get = |variable: &str| {
            let stored = secrets.get(&KeySource::File, &stored_name(name, variable));
            let stored = stored.ok().flatten();
            stored.or_else(|| self.environment.get(variable).map(SecretString::from))
        };
        let filled = template.filled(&get, &mut |secret| veil.add(secret));
        filled.map_err(|missing| Failure::Text(missing.to_string()))
    }

    fn all(
        &self,
        values: &BTreeMap<String, Template>,
    ) -> Result<BTreeMap<String, SecretString>, Failure> {
        values.iter().map(|(name, value)| Ok((name.clone(), self.fill(value)?))).collect()
    }
}

fn http_headers(
    headers: &BTreeMap<String, SecretString>,
) -> Result<HashMap<HeaderName, HeaderValue>, Failure> {
    let header = |(name, value): (&String, &SecretString)| {
        let wrong = |_| Failure::Text(format!("the header `{name}` cannot have its value"));
        let key = name
            .parse::<HeaderName>()
            .map_err(|_| Failure::Text(format!("`{name}` is not the name of a header")))?;
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
