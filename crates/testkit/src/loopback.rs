//! Model server on the loopback, in a separate process. It plays a plan, and records the time of each request and
//! answer.
//!
//! The process is separate so that the measured one has its memory and its processor time for itself. A benchmark is
//! both: it calls [`serve_if_asked`] first, and [`Loopback::start`] starts the same program again.

pub mod client;
mod connection;
mod frames;
mod http;
pub mod plan;
mod server;

use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};

pub use self::client::LoopbackClient;
pub use self::plan::{
    AnswerCall, AnswerOrder, AnswerPace, AnswerPlan, ExchangeRecord, ModelAnswer, Recording,
};

/// The argument that makes a benchmark the server.
const SERVE: &str = "--loopback";

/// Path of chat completions.
pub const COMPLETIONS: &str = "/v1/chat/completions";

/// Serves until the parent is gone, if this process was started for that. Call it first in `main`.
pub fn serve_if_asked() -> Option<ExitCode> {
    if std::env::args_os().nth(1).as_deref() != Some(OsStr::new(SERVE)) {
        return None;
    }
    Some(if server::serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A running server. It ends with this value.
#[derive(Debug)]
pub struct Loopback {
    process: Child,
    port: u16,
}

impl Loopback {
    /// Starts this program again as a server, on a free port of the loopback.
    pub fn start() -> io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(SERVE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line.trim().parse().map_err(io::Error::other)?;
        Ok(Self { process, port })
    }

    /// Returns the port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the base URL for a client of chat completions.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Plays this plan from now on, and clears the records.
    pub fn play(&self, plan: &AnswerPlan) -> io::Result<()> {
        let body = serde_json::to_vec(plan)?;
        LoopbackClient::connect(self.port)?.send("PUT", "/plan", &body).map(drop)
    }

    /// Returns the records since the plan began.
    pub fn records(&self) -> io::Result<Recording> {
        let mut client = LoopbackClient::connect(self.port)?;
        Ok(serde_json::from_slice(client.send("GET", "/records", b"")?)?)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        // The server ends when its input does.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
