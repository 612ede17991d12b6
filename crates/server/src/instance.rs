//! One server for a store: who serves it, and how a second start finds the first.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::Request;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use crate::link::{Link, PAGE};
use crate::secret::Secret;
use crate::wire::FreshLink;
use crate::{ServerError, listen};

/// The folder of the server in the store.
const FOLDER: &str = "server";
/// Held as long as a process serves.
const LOCK: &str = "lock";
/// Says where it serves, and has the secret that a second start needs.
const RECORD: &str = "instance.json";
/// A process answers within this time.
const PATIENCE: Duration = Duration::from_secs(5);
/// A process that has just begun answers within this time, and one that ends has given the store back: its requests, its
/// runs and its threads each get their time.
const CHANGE: Duration = Duration::from_secs(
    2 * listen::PATIENCE.as_secs()
        + crewagent_engine::workers::SHUTDOWN_TIMEOUT.as_secs()
        + PATIENCE.as_secs(),
);
const PAUSE: Duration = Duration::from_millis(50);
/// More is no answer of ours.
const MAX_ANSWER: usize = 64 * 1024;
/// Where a second start asks for a link.
pub(crate) const LINK_PATH: &str = "/instance/link";

/// Where the server of a store is.
#[derive(Serialize, Deserialize)]
struct Record {
    pid: u32,
    port: u16,
    secret: String,
}

/// Whether this process may serve.
pub(crate) enum Claim {
    Ours(Claimed),
    /// Somebody else does; this opens their page.
    Theirs(Link),
}

/// The right to serve, before anybody knows of it.
pub(crate) struct Claimed {
    pub(crate) folder: PathBuf,
    lock: File,
}

/// The right to serve. Others find this server until the value is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    record: PathBuf,
    _lock: File,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // A record that stays behind is harmless: without the lock nobody reads it. So is a page: its link is worth
        // nothing without this server.
        let _ = fs::remove_file(&self.record);
        let _ = fs::remove_file(self.record.with_file_name(PAGE));
    }
}

/// Takes the store, or asks the one who has it for a link.
pub(crate) fn claim(home: &Path, runtime: &Runtime) -> Result<Claim, ServerError> {
    let folder = home.join(FOLDER);
    make_private(&folder).map_err(failed("make", &folder))?;
    let path = folder.join(LOCK);
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(failed("open", &path))?;
    let deadline = Instant::now() + CHANGE;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Claim::Ours(Claimed { folder, lock })),
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        // It may have the lock and not yet a port, or be about to end.
        match ask(&folder, runtime) {
            Ok(Some(link)) => return Ok(Claim::Theirs(link)),
            Ok(None) => {
                let why = "what it answers is not a link to it";
                return Err(ServerError::Mute(why.to_owned()));
            }
            Err(why) if Instant::now() > deadline => return Err(ServerError::Mute(why)),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

impl Claimed {
    /// Tells others where this server is.
    pub(crate) fn sign(self, port: u16, secret: &Secret) -> Result<Instance, ServerError> {
        let path = self.folder.join(RECORD);
        let record = Record { pid: std::process::id(), port, secret: secret.reveal().to_owned() };
        let text = serde_json::to_vec(&record).map_err(io::Error::other);
        text.and_then(|text| write_private(&path, &text)).map_err(failed("write", &path))?;
        Ok(Instance { record: path, _lock: self.lock })
    }
}

/// Replaces a file that only its owner may read.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Such a file is made with mode 600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

pub(crate) fn failed(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> ServerError + use<> {
    let path = path.to_owned();
    move |error| ServerError::Files { action, path, error }
}

/// Asks the server of this store for a link. The text says why there is none yet; `None` is an answer that is no link.
fn ask(folder: &Path, runtime: &Runtime) -> Result<Option<Link>, String> {
    let text = fs::read(folder.join(RECORD)).map_err(|error| error.to_string())?;
    let record: Record = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let asked = async { tokio::time::timeout(PATIENCE, link(folder, &record)).await };
    match runtime.block_on(asked) {
        Ok(link) => link.map_err(|error| format!("process {}: {error}", record.pid)),
        Err(_) => Err(format!("process {} does not answer", record.pid)),
    }
}

#[allow(clippy::disallowed_methods, reason = "the port is that of a server of this store")]
async fn link(folder: &Path, record: &Record) -> Result<Option<Link>, Box<dyn std::error::Error>> {
    let address = format!("127.0.0.1:{}", record.port);
    let socket = tokio::net::TcpStream::connect(&address).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(socket)).await?;
    let connection = tokio::spawn(connection);
    let request = Request::post(LINK_PATH)
        .header("host", &address)
        .header("authorization", format!("Bearer {}", record.secret))
        .body(Empty::<bytes::Bytes>::new())?;
    let answer = sender.send_request(request).await?;
    if !answer.status().is_success() {
        return Err(format!("it answers {}", answer.status()).into());
    }
    let body = Limited::new(answer.into_body(), MAX_ANSWER).collect().await;
    let body = body.map_err(|error| error.to_string())?;
    connection.abort();
    let link: FreshLink = serde_json::from_slice(&body.to_bytes())?;
    Ok(Link::shown(folder, record.port, &link.url))
}
