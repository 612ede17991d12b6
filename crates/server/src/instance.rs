//! One server for a store: the lock, and how a second start finds the first.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crewagent_engine::private;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::Request;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use crate::link::{PAGE, PageLink};
use crate::secret::Secret;
use crate::wire::FreshLink;
use crate::{ServerError, listen};

/// The folder of the server in the store.
const FOLDER: &str = "server";
/// The lock file, held while a process serves.
const LOCK: &str = "lock";
/// The file with the port, and with the secret that a second start needs.
const RECORD: &str = "instance.json";
/// A server answers a second start within this time.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Within this time a server that starts answers, and one that shuts down has released the store: its requests, its
/// workers and its threads each have a timeout.
const TRANSITION_TIMEOUT: Duration = Duration::from_secs(
    2 * listen::SHUTDOWN_TIMEOUT.as_secs()
        + crewagent_engine::workers::SHUTDOWN_TIMEOUT.as_secs()
        + ANSWER_TIMEOUT.as_secs(),
);
/// Pause between two attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(50);
/// A longer answer is not from this program.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The path at which a second start requests a link.
pub(crate) const LINK_PATH: &str = "/instance/link";

/// The address of the server of a store.
#[derive(Serialize, Deserialize)]
struct InstanceRecord {
    pid: u32,
    port: u16,
    secret: String,
}

/// The result of [`claim`].
pub(crate) enum Claim {
    /// This process may serve.
    Ours(Claimed),
    /// Another process serves; this link opens its page.
    Theirs(PageLink),
}

/// The lock on a store, before the address is published.
pub(crate) struct Claimed {
    pub(crate) folder: PathBuf,
    lock: File,
}

/// The lock on a store. Other processes find this server until the value is dropped.
#[derive(Debug)]
pub(crate) struct Instance {
    record: PathBuf,
    _lock: File,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // A record that stays behind is harmless: it is read only while the lock is held. So is a page: its link is
        // invalid without this server.
        let _ = fs::remove_file(&self.record);
        let _ = fs::remove_file(self.record.with_file_name(PAGE));
    }
}

/// Locks the store, or requests a link from the process that has it.
pub(crate) fn claim(home: &Path, runtime: &Runtime) -> Result<Claim, ServerError> {
    let folder = home.join(FOLDER);
    private::create_folder(&folder).map_err(failed("make", &folder))?;
    let path = folder.join(LOCK);
    let lock = private::open_lock(&path).map_err(failed("open", &path))?;
    let deadline = Instant::now() + TRANSITION_TIMEOUT;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Claim::Ours(Claimed { folder, lock })),
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        // The other process may have no port yet, or be about to exit.
        match ask(&folder, runtime) {
            Ok(Some(link)) => return Ok(Claim::Theirs(link)),
            Ok(None) => {
                let why = "what it answers is not a link to it";
                return Err(ServerError::Mute(why.to_owned()));
            }
            Err(why) if Instant::now() > deadline => return Err(ServerError::Mute(why)),
            Err(_) => std::thread::sleep(RETRY_PAUSE),
        }
    }
}

impl Claimed {
    /// Publishes the address of this server.
    pub(crate) fn publish(self, port: u16, secret: &Secret) -> Result<Instance, ServerError> {
        let path = self.folder.join(RECORD);
        let record =
            InstanceRecord { pid: std::process::id(), port, secret: secret.reveal().to_owned() };
        let text = serde_json::to_vec(&record).map_err(io::Error::other);
        text.and_then(|text| private::replace(&path, &text)).map_err(failed("write", &path))?;
        Ok(Instance { record: path, _lock: self.lock })
    }
}

pub(crate) fn failed(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> ServerError + use<> {
    let path = path.to_owned();
    move |error| ServerError::Files { action, path, error }
}

/// Requests a link from the server of this store. An error says why there is none yet; `None` is an answer that is no
/// link.
fn ask(folder: &Path, runtime: &Runtime) -> Result<Option<PageLink>, String> {
    let text = fs::read(folder.join(RECORD)).map_err(|error| error.to_string())?;
    let record: InstanceRecord =
        serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let asked = async { tokio::time::timeout(ANSWER_TIMEOUT, link(folder, &record)).await };
    match runtime.block_on(asked) {
        Ok(link) => link.map_err(|error| format!("process {}: {error}", record.pid)),
        Err(_) => Err(format!("process {} does not answer", record.pid)),
    }
}

#[allow(clippy::disallowed_methods, reason = "the port is that of a server of this store")]
async fn link(
    folder: &Path,
    record: &InstanceRecord,
) -> Result<Option<PageLink>, Box<dyn std::error::Error>> {
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
    let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await;
    let body = body.map_err(|error| error.to_string())?;
    connection.abort();
    let link: FreshLink = serde_json::from_slice(&body.to_bytes())?;
    Ok(PageLink::parse(folder, record.port, &link.url))
}
