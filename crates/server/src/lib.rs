//! The local server: the web app, its API and its stream of events, for one user on one computer.
//!
//! [`open`] returns a server that is ready to serve, or a link to the one that serves this store already.

mod access;
mod api;
mod app;
mod assets;
mod connector;
mod endpoint;
mod gate;
mod instance;
mod limits;
mod link;
mod listen;
mod mcp_tests;
mod openapi;
mod page_offsets;
mod problem;
mod searches;
mod secret;
mod stream;
mod turns;
pub mod wire;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crewagent_engine::store::{Store, StoreError};
use crewagent_engine::workers::Workers;
use thiserror::Error;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use self::access::Access;
use self::app::App;
use self::connector::Adapters;
use self::instance::{Claim, Instance};
pub use self::link::PageLink;

/// The port that is tried first.
pub const DEFAULT_PORT: u16 = 4747;
/// Ports after it that are tried when it is taken.
const PORTS_TRIED: u16 = 50;
/// Threads for requests that wait for the disk.
const BLOCKING_THREADS: usize = 64;

/// The result of [`open`].
#[derive(Debug)]
pub enum ServerLocation {
    /// This process serves.
    Here(Server),
    /// Another process serves this store already; its page opens with this link.
    Elsewhere(PageLink),
}

/// Why the server cannot start.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the server cannot be used.
    #[error("cannot {action} `{}`: {error}; check its permissions", path.display())]
    Files {
        /// The operation.
        action: &'static str,
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Every port is taken.
    #[error(
        "no port from {first} to {last} is free on 127.0.0.1: {error}; name another with --port"
    )]
    Ports {
        /// The first that was tried.
        first: u16,
        /// The last.
        last: u16,
        /// The error for the last one.
        error: io::Error,
    },
    /// Another process serves the store and does not answer.
    #[error(
        "another `crewagent` serves this store and gives no link ({0}); end it, or choose another store with --home"
    )]
    Mute(String),
    /// The threads of the server cannot be started.
    #[error("the server cannot be started: {0}")]
    Start(io::Error),
}

/// A server that holds its port and its store.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    listener: std::net::TcpListener,
    app: Arc<App>,
    link: PageLink,
    closing: watch::Sender<bool>,
    _instance: Instance,
}

/// Ends a server from another thread.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Sender<bool>);

impl Shutdown {
    /// Starts the shutdown: runs are stopped, streams are closed, and [`Server::serve`] returns. Returns true if it had
    /// started before.
    pub fn begin(&self) -> bool {
        self.0.send_replace(true)
    }
}

/// Returns the OpenAPI document of the whole API.
pub fn requests() -> serde_json::Value {
    openapi::document(&api::endpoints())
}

/// Prepares to serve a store at the first free port from this one on, or at any if it is 0.
pub fn open(home: Option<PathBuf>, port: u16) -> Result<ServerLocation, ServerError> {
    limits::raise();
    // A mistake in the settings is reported now.
    let store = Arc::new(Store::open(home)?);
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("server")
        .enable_all()
        .build()
        .map_err(ServerError::Start)?;
    let claim = match instance::claim(store.home(), &runtime)? {
        Claim::Ours(claim) => claim,
        Claim::Theirs(link) => return Ok(ServerLocation::Elsewhere(link)),
    };
    let listener = listen::bind(port)?;
    let port = listener.local_addr().map_err(ServerError::Start)?.port();
    let access = Access::open(&claim.folder, port)?;
    let link = PageLink::new(&claim.folder, port, &access.fresh_link());
    let instance = claim.publish(port, access.secret())?;
    let closing = watch::Sender::new(false);
    let adapters = Arc::new(Adapters::default());
    let workers = Workers::new(Arc::clone(&store), adapters.clone(), limits::runs());
    let app = App::new(store, port, access, adapters, workers, closing.subscribe());
    let app = Arc::new(app);
    Ok(ServerLocation::Here(Server { runtime, listener, app, link, closing, _instance: instance }))
}

impl Server {
    /// Returns the link that opens the page, once.
    pub fn link(&self) -> &PageLink {
        &self.link
    }

    /// Returns a handle that ends this server from another thread.
    pub fn shutdown(&self) -> Shutdown {
        Shutdown(self.closing.clone())
    }

    /// Serves until shutdown. Then runs are stopped where nothing is lost.
    pub fn serve(self) -> Result<(), ServerError> {
        let Self { runtime, listener, app, closing, .. } = self;
        let result = runtime.block_on(listen::serve(listener, Arc::clone(&app), closing));
        app.workers.close();
        runtime.shutdown_timeout(listen::SHUTDOWN_TIMEOUT);
        result.map_err(ServerError::Start)
    }
}
