//! The sockets: bounded in number and in time, on this computer alone.

mod connections;
mod timeout;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::watch;

pub(crate) use self::connections::ClientConnection;
use self::connections::ConnectionTable;
use self::timeout::WriteTimeout;
use crate::app::App;
use crate::{PORTS_TRIED, ServerError, api};

/// The head of a request must arrive within this time.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest head of a request.
const MAX_HEAD_BYTES: usize = 32 * 1024;
/// The client must read what is written within this time.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after an error of `accept`, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time for open requests when the server shuts down.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Binds the first free port from this one on; 0 means any.
pub(crate) fn bind(first: u16) -> Result<TcpListener, ServerError> {
    let last = if first == 0 { 0 } else { first.saturating_add(PORTS_TRIED) };
    let mut port = first;
    loop {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => return Ok(listener),
            Err(error) if port >= last => return Err(ServerError::Ports { first, last, error }),
            Err(_) => port += 1,
        }
    }
}

/// Serves until shutdown is requested.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    closing: watch::Sender<bool>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let router = api::router(app);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_HEAD_BYTES);
    let (graceful, connections) = (GracefulShutdown::new(), ConnectionTable::new());
    let mut end = closing.subscribe();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = end.wait_for(|is_closing| *is_closing) => break,
        };
        let Ok((socket, _)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let _ = socket.set_nodelay(true);
        let client = connections.enter();
        let service = ConnectionRouter {
            inner: TowerToHyperService::new(router.clone()),
            client: Arc::clone(&client),
        };
        let connection = graceful.watch(
            http.serve_connection(TokioIo::new(WriteTimeout::new(socket, WRITE_TIMEOUT)), service),
        );
        tokio::spawn(async move {
            tokio::select! {
                // A failed connection concerns its client alone.
                _ = connection => {}
                () = client.ends() => {}
            }
            client.leave();
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
    Ok(())
}

/// Service of one connection: its requests say which one they came by.
struct ConnectionRouter {
    inner: TowerToHyperService<Router>,
    client: Arc<ClientConnection>,
}

impl Service<Request<Incoming>> for ConnectionRouter {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(Arc::clone(&self.client));
        self.inner.call(request)
    }
}
