//! Servers that are processes of their own: a group each, so that nothing they start outlives them, and an environment
//! with nothing in it that they do not need.

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
use tokio::time::timeout;

use super::Shared;

/// What every server gets: what programs need to find themselves, and nothing else.
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

/// Time for a server to end by itself when its input ends.
const POLITE: Duration = Duration::from_millis(300);
/// Time for the system to end it.
const REAP: Duration = Duration::from_secs(1);
/// The longest line that is read from its standard error.
const STDERR_LINE: u64 = 16 << 10;

/// A server that runs. It ends with the value, and everything it started with it.
pub(super) struct Child {
    process: Box<dyn ChildWrapper>,
    is_over: bool,
}

/// What is started.
pub(super) struct Program<'p> {
    pub(super) command: &'p str,
    pub(super) args: Vec<SecretString>,
    pub(super) env: BTreeMap<String, SecretString>,
    pub(super) cwd: Option<&'p Path>,
}

/// Starts a server. What it writes to its standard error goes to its log.
pub(super) fn start(
    program: Program<'_>,
    shared: &Arc<Shared>,
) -> io::Result<(Child, ChildStdout, ChildStdin)> {
    let mut command = Command::new(program.command);
    command.args(program.args.iter().map(|arg| arg.expose_secret()));
    command.env_clear();
    command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.envs(program.env.iter().map(|(name, value)| (name, value.expose_secret())));
    // Not where we are: that is often a project, whose files could then decide what the server runs.
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
    if let Some(stderr) = child.stderr().take() {
        tokio::spawn(overhear(stderr, shared.clone()));
    }
    Ok((Child { process: child, is_over: false }, stdout, stdin))
}

impl Child {
    /// Ends the server and everything it started. Gives how it ended, if it did so by itself.
    pub(super) async fn end(mut self) -> Option<ExitStatus> {
        let status = timeout(POLITE, self.process.wait()).await.ok().and_then(Result::ok);
        // Its children may be there still, even if it is not.
        let _ = self.process.start_kill();
        self.is_over = true;
        let _ = timeout(REAP, self.process.wait()).await;
        status
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.process.start_kill();
        }
    }
}

/// Puts what a server writes to its standard error into its log, line by line.
async fn overhear(stderr: ChildStderr, shared: Arc<Shared>) {
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
