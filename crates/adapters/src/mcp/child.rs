//! Servers that are child processes: each has its own process group, so that nothing it starts outlives it, and an
//! environment with only the variables that it needs.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::SharedServer;

/// Variables that every server gets: those that programs need to run, and no others.
const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    // Programs on Windows do not start without some of these.
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// Time limit for a server to exit by itself when its input ends.
const POLITE: Duration = Duration::from_millis(300);
/// Time limit for the system to end it.
const REAP: Duration = Duration::from_secs(1);
/// Time limit to read the rest of its standard error after it exited.
const LAST_LINES: Duration = Duration::from_secs(1);
/// Maximum length of a line from its standard error.
const STDERR_LINE: u64 = 16 << 10;

/// Running server. It ends with the value, together with all processes it started.
pub(super) struct ServerProcess {
    process: Box<dyn ChildWrapper>,
    /// Task that reads its standard error.
    log: Option<JoinHandle<()>>,
    is_over: bool,
}

/// Program to start.
pub(super) struct ServerProgram<'p> {
    pub(super) command: &'p str,
    pub(super) args: Vec<SecretString>,
    pub(super) env: BTreeMap<String, SecretString>,
    pub(super) cwd: Option<&'p Path>,
}

/// Starts a server. Its standard error is written to its log.
pub(super) fn start(
    program: ServerProgram<'_>,
    shared: &Arc<SharedServer>,
) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
    let mut command = Command::new(program.command);
    command.args(program.args.iter().map(|arg| arg.expose_secret()));
    command.env_clear();
    command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.envs(program.env.iter().map(|(name, value)| (name, value.expose_secret())));
    // The current folder is often a project, whose files could then decide what the server runs.
    match (program.cwd, std::env::home_dir()) {
        (Some(cwd), _) => command.current_dir(cwd),
        (None, Some(home)) => command.current_dir(home),
        (None, None) => command.current_dir(std::env::temp_dir()),
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut command = CommandWrap::from(command);
    command.wrap(KillOnDrop);
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    let mut child = command.spawn()?;
    let unpiped = || io::Error::other("its input and output are not there");
    let stdout = child.stdout().take().ok_or_else(unpiped)?;
    let stdin = child.stdin().take().ok_or_else(unpiped)?;
    let stderr = child.stderr().take();
    let log = stderr.map(|stderr| tokio::spawn(overhear(stderr, shared.clone())));
    Ok((ServerProcess { process: child, log, is_over: false }, stdout, stdin))
}

impl ServerProcess {
    /// Ends the server and all processes it started. Returns its exit status, if it exited by itself. Its log is complete
    /// then, because the last line often says why it exited.
    pub(super) async fn end(mut self) -> Option<ExitStatus> {
        let status = timeout(POLITE, self.process.wait()).await.ok().and_then(Result::ok);
        // Its children may still run, even if it does not.
        let _ = self.process.start_kill();
        self.is_over = true;
        let _ = timeout(REAP, self.process.wait()).await;
        if let Some(log) = self.log.take() {
            let _ = timeout(LAST_LINES, log).await;
        }
        status
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.process.start_kill();
        }
    }
}

/// Writes a server's standard error to its log, line by line.
async fn overhear(stderr: ChildStderr, shared: Arc<SharedServer>) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(STDERR_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = shared.veil.over(&String::from_utf8_lossy(&line));
                shared.logs.push("stderr", &text);
            }
        }
    }
}
