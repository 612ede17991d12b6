//! Floors: the minimum work of any program for the same requests, without and with the durable writes of a run.
//!
//! A floor is a separate process, like the real one. It plays a tape: it connects, sends, reads the answer to its end,
//! writes what the run wrote, appends the new messages to the rendered ones, and sends.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crewagent_testkit::loopback::{COMPLETIONS, LoopbackClient};

use super::tape::Turn;

const FLOOR: &str = "--floor";

/// Kind of floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Floor {
    /// Bare loop over HTTP.
    Bare,
    /// The same loop with the durable writes of a run.
    Durable,
}

impl Floor {
    /// Returns the command that plays a tape against a port and writes below a folder.
    pub(crate) fn command(self, port: u16, tape: &Path, folder: &Path) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        let kind = match self {
            Self::Bare => "bare",
            Self::Durable => "durable",
        };
        command.args([FLOOR, kind, &port.to_string()]).arg(tape).arg(folder);
        Ok(command)
    }
}

/// Plays the tape, if this process was started for that.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != FLOOR {
        return None;
    }
    let arguments: Vec<String> = arguments.collect();
    let [kind, port, tape, folder] = &arguments[..] else { return Some(ExitCode::FAILURE) };
    let disk = if kind == "durable" { Disk::open(Path::new(folder)).map(Some) } else { Ok(None) };
    let played = disk.and_then(|disk| {
        play(port.parse().map_err(io::Error::other)?, &fs::read_to_string(tape)?, disk)
    });
    Some(match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn play(port: u16, tape: &str, mut disk: Option<Disk>) -> io::Result<()> {
    let mut lines = tape.lines();
    let first: Turn = serde_json::from_str(lines.next().unwrap_or_default())?;
    let mut client = LoopbackClient::connect(port)?;
    let mut body = first.added.into_bytes();
    client.send("POST", COMPLETIONS, &body)?;
    let turns: Vec<Turn> = lines.map(serde_json::from_str).collect::<Result<_, _>>()?;
    for turn in &turns {
        if let Some(disk) = &mut disk {
            disk.write(turn)?;
        }
        body.truncate(turn.stays);
        body.extend_from_slice(turn.added.as_bytes());
        client.send("POST", COMPLETIONS, &body)?;
    }
    Ok(())
}

/// Target of a durable floor's writes.
struct Disk {
    journal: File,
    folder: PathBuf,
    handle: File,
}

impl Disk {
    fn open(folder: &Path) -> io::Result<Self> {
        let journal = OpenOptions::new().create(true).append(true).open(folder.join("journal"))?;
        let folder = folder.join("files");
        fs::create_dir_all(&folder)?;
        Ok(Self { journal, handle: File::open(&folder)?, folder })
    }

    /// Writes as a run does: the reply and the intent, a flush; the file; the result and the next request, a flush.
    fn write(&mut self, turn: &Turn) -> io::Result<()> {
        for (at, line) in turn.lines.iter().enumerate() {
            self.journal.write_all(line.as_bytes())?;
            if at + 1 == turn.before_file {
                self.journal.sync_data()?;
                if let Some((name, content)) = &turn.file {
                    self.replace(name, content.as_bytes())?;
                }
            }
        }
        self.journal.sync_data()
    }

    /// Replaces a file: temporary file, flush, rename, flush of the folder.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temp = self.folder.join(".temp");
        let mut file = File::create(&temp)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temp, self.folder.join(name))?;
        self.handle.sync_all()
    }
}
