//! The sockets: bounded in number and in time, on this computer alone.

mod timeout;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, watch};

use self::timeout::WriteTimeout;
use crate::app::App;
use crate::{PORTS_TRIED, ServerError, api};

/// Connections at the same time. A browser opens six.
const MAX_CONNECTIONS: usize = 256;
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
    let (graceful, permits) = (GracefulShutdown::new(), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
    let mut end = closing.subscribe();
    loop {
        let accepted = tokio::select! {
            // A connection beyond the limit waits in the queue of the system.
            accepted = accept(&listener, &permits) => accepted,
            _ = end.wait_for(|is_closing| *is_closing) => break,
        };
        let Ok((socket, permit)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let _ = socket.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(
            http.serve_connection(TokioIo::new(WriteTimeout::new(socket, WRITE_TIMEOUT)), service),
        );
        tokio::spawn(async move {
            // A failed connection concerns its client alone.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, graceful.shutdown()).await;
    Ok(())
}

async fn accept(
    listener: &tokio::net::TcpListener,
    permits: &Arc<Semaphore>,
) -> io::Result<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)?;
    let (socket, _) = listener.accept().await?;
    Ok((socket, permit))
}
