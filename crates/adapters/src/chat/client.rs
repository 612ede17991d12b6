//! The one HTTP client of the process.

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use reqwest::redirect;
use tokio::runtime::Runtime;

use crate::io;
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::{ModelError, ModelErrorKind};

/// Lifetime of an idle connection.
const IDLE_CONNECTION: Duration = Duration::from_secs(90);

/// Pool of connections. Copies share it; a process needs one.
#[derive(Clone, Debug)]
pub struct Client(Arc<ClientPools>);

#[derive(Debug)]
struct ClientPools {
    runtime: &'static Runtime,
    pools: Mutex<Vec<(PoolKey, reqwest::Client)>>,
}

/// Key of a pool of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PoolKey {
    /// True if it may use TLS. Reading the certificates of the system takes longer than the rest of the start.
    is_secure: bool,
    /// True if the host is this machine, which no proxy reaches.
    is_local: bool,
    connect: Duration,
}

impl Client {
    /// Creates a pool without a connection. No request is sent yet.
    pub fn new() -> Result<Self, ModelError> {
        let runtime = io::runtime()
            .map_err(|error| failed(&format!("no thread could be started: {error}")))?;
        Ok(Self(Arc::new(ClientPools { runtime, pools: Mutex::new(Vec::new()) })))
    }

    /// Returns the pool for an endpoint.
    pub(super) fn pool(&self, endpoint: &Endpoint) -> Result<reqwest::Client, ModelError> {
        let key = PoolKey::to(&endpoint.base_url, endpoint.timeouts.connect);
        let mut pools = self.0.pools.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, pool)) = pools.iter().find(|(known, _)| *known == key) {
            return Ok(pool.clone());
        }
        let pool = key.pool()?;
        pools.push((key, pool.clone()));
        Ok(pool)
    }

    /// Starts work on the threads of the client.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.runtime.spawn(work);
    }

    /// Runs work and waits for it. Must not be called from the threads of the client.
    pub fn block_on<R>(&self, work: impl Future<Output = R>) -> R {
        self.0.runtime.block_on(work)
    }
}

impl PoolKey {
    fn to(base_url: &str, connect: Duration) -> Self {
        let url = reqwest::Url::parse(base_url).ok();
        Self {
            is_secure: url.as_ref().is_none_or(|url| url.scheme() != "http"),
            is_local: is_local(base_url),
            connect,
        }
    }

    fn pool(self) -> Result<reqwest::Client, ModelError> {
        install_provider();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("crewagent/", env!("CARGO_PKG_VERSION")))
            // A redirected POST becomes a GET, and would send the key to another host.
            .redirect(redirect::Policy::none())
            .connect_timeout(self.connect)
            .pool_idle_timeout(IDLE_CONNECTION)
            .tcp_keepalive(Duration::from_secs(30))
            .http1_only();
        if !self.is_secure {
            builder = builder.tls_certs_only([]);
        }
        if self.is_local {
            builder = builder.no_proxy();
        }
        builder.build().map_err(|error| failed(&super::failure::causes(&error)))
    }
}

/// Returns true if the host of an address is this machine.
pub(super) fn is_local(base_url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(base_url) else { return false };
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = address.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    is_loopback || host == "localhost"
}

/// Returns connections to one address, for clients other than models.
pub(crate) fn connections(url: &str, connect: Duration) -> Result<reqwest::Client, ModelError> {
    PoolKey::to(url, connect).pool()
}

/// Installs cryptography, because the TLS library has none of its own.
fn install_provider() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        // Another thread may have installed it first, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

fn failed(why: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Network, format!("The HTTP client cannot be set up: {why}."))
}
