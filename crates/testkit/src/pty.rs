//! A program in its own terminal: the test types keys and reads the screen.
//!
//! A terminal sends Ctrl-C to the programs that belong to it, and only the first process of a session can have one. So
//! the test program starts itself again; that process takes the terminal and then becomes the program. A test binary
//! needs a test that calls [`become_program_if_asked`], and names it to [`Terminal::start`]; a benchmark calls it first
//! in `main`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde::{Deserialize, Serialize};

use crate::screen::TerminalScreen;

/// The environment variable with the program that a process becomes.
const PROGRAM: &str = "CREWAGENT_TESTKIT_PROGRAM";
/// Time limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, Serialize, Deserialize)]
struct PtyProgram {
    terminal: String,
    program: OsString,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
}

/// Becomes the program that this process was started for; returns if it was started for something else.
pub fn become_program_if_asked() {
    let Ok(program) = std::env::var(PROGRAM) else { return };
    let error = take_over(&program).err();
    unreachable!("the program did not start: {error:?}")
}

fn take_over(program: &str) -> io::Result<()> {
    let PtyProgram { terminal, program, arguments, variables, folder } =
        serde_json::from_str(program)?;
    rustix::process::setsid()?;
    let open = || File::options().read(true).write(true).open(&terminal);
    let stdin = open()?;
    rustix::process::ioctl_tiocsctty(&stdin)?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(variables);
    command.stdin(stdin).stdout(open()?).stderr(open()?);
    folder.map(|folder| command.current_dir(folder));
    Err(command.exec())
}

/// A program in a terminal. It ends with this value.
#[derive(Debug)]
pub struct Terminal {
    master: File,
    child: Child,
    /// Returns the text on the screen.
    pub screen: TerminalScreen,
    /// Everything that was written to the terminal.
    pub written: Vec<u8>,
}

impl Terminal {
    /// Starts a program with the variables that its command names and no others, in a window of this size. `host` are
    /// the arguments with which this program calls [`become_program_if_asked`].
    pub fn start(command: &Command, host: &[&str], rows: u16, columns: u16) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        tcsetwinsize(&master, window(rows, columns))?;
        let terminal = ptsname(&master, Vec::new())?;
        let owned = |(key, value): (&OsStr, Option<&OsStr>)| {
            value.map(|value| (key.to_owned(), value.to_owned()))
        };
        let program = PtyProgram {
            terminal: terminal.to_string_lossy().into_owned(),
            program: command.get_program().to_owned(),
            arguments: command.get_args().map(OsStr::to_owned).collect(),
            variables: command.get_envs().filter_map(owned).collect(),
            folder: command.get_current_dir().map(PathBuf::from),
        };
        let child = Command::new(std::env::current_exe()?)
            .args(host)
            .env(PROGRAM, serde_json::to_string(&program)?)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let screen = TerminalScreen::new(rows, columns);
        Ok(Self { master: File::from(master), child, screen, written: Vec::new() })
    }

    /// Types.
    pub fn press(&mut self, keys: &str) -> io::Result<()> {
        self.master.write_all(keys.as_bytes())
    }

    /// Types a long text, and reads the output meanwhile, because a terminal buffers little.
    pub fn paste(&mut self, text: &str) -> io::Result<()> {
        let pasted = format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r"));
        for piece in pasted.as_bytes().chunks(256) {
            self.master.write_all(piece)?;
            self.read(Duration::from_millis(1))?;
        }
        Ok(())
    }

    /// Changes the size of the window.
    pub fn resize(&mut self, rows: u16, columns: u16) -> io::Result<()> {
        self.screen.resize(rows, columns);
        Ok(tcsetwinsize(&self.master, window(rows, columns))?)
    }

    /// Reads until the window shows a text.
    pub fn wait_for(&mut self, text: &str) -> io::Result<()> {
        self.wait_until(text, |screen| screen.text().contains(text))
    }

    /// Reads until a condition holds for the window. `what` describes it in the error.
    pub fn wait_until(
        &mut self,
        what: &str,
        is: impl Fn(&TerminalScreen) -> bool,
    ) -> io::Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        while !is(&self.screen) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || self.read(left)? == PtyRead::End {
                let seen = self.screen.all();
                let why = if left.is_zero() { "it never came to" } else { "it ended before" };
                return Err(io::Error::other(format!("{why} {what:?}:\n{seen}")));
            }
        }
        Ok(())
    }

    /// Reads the output of the program within this time.
    pub fn read(&mut self, time: Duration) -> io::Result<PtyRead> {
        let time = Timespec::try_from(time).map_err(io::Error::other)?;
        let mut ready = [PollFd::new(&self.master, PollFlags::IN)];
        if poll(&mut ready, Some(&time))? == 0 {
            return Ok(PtyRead::Nothing);
        }
        let mut buffer = [0; 1 << 16];
        // On Linux, reading a terminal that no process has open is an error.
        match self.master.read(&mut buffer) {
            Ok(count @ 1..) => {
                self.screen.write(&buffer[..count]);
                self.written.extend_from_slice(&buffer[..count]);
                Ok(PtyRead::Bytes(count))
            }
            Ok(0) | Err(_) => Ok(PtyRead::End),
        }
    }

    /// Reads to the end, and returns the exit status and all text, including what has scrolled away.
    pub fn end(mut self) -> io::Result<(Option<i32>, String)> {
        let deadline = Instant::now() + TIMEOUT;
        while self.read(deadline.saturating_duration_since(Instant::now()))? != PtyRead::End {
            if Instant::now() > deadline {
                return Err(io::Error::other(format!("it does not end:\n{}", self.screen.all())));
            }
        }
        Ok((self.child.wait()?.code(), self.screen.all()))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PtyRead {
    /// This many bytes.
    Bytes(usize),
    /// The time limit has passed.
    Nothing,
    /// The program has closed its terminal.
    End,
}

fn window(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs as the process that every terminal starts from.
    #[test]
    fn host() {
        become_program_if_asked();
    }

    fn start(script: &str) -> Terminal {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).env("PATH", "/usr/bin:/bin");
        Terminal::start(&command, &["--exact", "pty::tests::host"], 5, 20).unwrap()
    }

    #[test]
    fn keys_go_in_and_words_come_out() {
        let mut terminal = start("stty size; read name; echo \"hello $name\"; exit 3");
        terminal.wait_for("5 20").unwrap();
        terminal.press("you\r").unwrap();
        let (code, all) = terminal.end().unwrap();
        assert_eq!((code, all.trim_end()), (Some(3), "5 20\nyou\nhello you"));
    }

    #[test]
    fn ctrl_c_is_a_signal() {
        let mut terminal = start("trap 'echo caught; exit 7' INT; echo ready; read x");
        terminal.wait_for("ready").unwrap();
        terminal.press("\u{3}").unwrap();
        let (code, all) = terminal.end().unwrap();
        assert!(code == Some(7) && all.contains("caught"), "{all}");
    }

    #[test]
    fn a_program_sees_another_size() {
        let mut terminal = start("echo ready; read x; stty size");
        terminal.wait_for("ready").unwrap();
        terminal.resize(7, 30).unwrap();
        terminal.press("\r").unwrap();
        assert!(terminal.end().unwrap().1.contains("7 30"));
    }
}
