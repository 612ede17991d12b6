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

use self::timeout::Patient;
use crate::app::App;
use crate::{PORTS, ServerError, api};

/// Connections at the same time. A browser opens six; the rest is room for mischief that harms nobody.
const MAX_CONNECTIONS: usize = 256;
/// The head of a request must be there within this time.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The head of a request has at most this many bytes.
const HEAD_BYTES: usize = 32 * 1024;
/// What is written must be taken within this time.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// After an error of `accept`, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Open requests get this long when the server ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// The first free port from this one on; 0 is any.
pub(crate) fn bind(first: u16) -> Result<TcpListener, ServerError> {
    let last = if first == 0 { 0 } else { first.saturating_add(PORTS) };
    let mut port = first;
    loop {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => return Ok(listener),
            Err(error) if port >= last => return Err(ServerError::Ports { first, last, error }),
            Err(_) => port += 1,
        }
    }
}

/// Serves until it is told to end.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    closing: watch::Sender<bool>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let router = api::router(app);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_BYTES);
    let (graceful, room) = (GracefulShutdown::new(), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
    let mut end = closing.subscribe();
    loop {
        let accepted = tokio::select! {
            // A connection beyond the limit waits in the queue of the system.
            accepted = accept(&listener, &room) => accepted,
            _ = end.wait_for(|is_closing| *is_closing) => break,
        };
        let Ok((socket, place)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let _ = socket.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful
            .watch(http.serve_connection(TokioIo::new(Patient::new(socket, WRITE_TIME)), service));
        tokio::spawn(async move {
            // A connection that fails is the affair of the one who opened it.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(PATIENCE, graceful.shutdown()).await;
    Ok(())
}

async fn accept(
    listener: &tokio::net::TcpListener,
    room: &Arc<Semaphore>,
) -> io::Result<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.map_err(io::Error::other)?;
    let (socket, _) = listener.accept().await?;
    Ok((socket, place))
}
