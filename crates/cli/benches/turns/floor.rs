//! The floors: the least that any program must do for the same requests, without and with the durable writes of ours.
//!
//! A floor is a process of its own, as the real one is. It plays a tape: connect, send, read the answer to its end,
//! write what the run wrote, put the new messages behind the rendered ones, send.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crewagent_testkit::loopback::{COMPLETIONS, Client};

use super::tape::Turn;

const FLOOR: &str = "--floor";

/// Which floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Floor {
    /// A bare loop over HTTP.
    Bare,
    /// The same with the durable writes of a run.
    Durable,
}

impl Floor {
    /// The process that plays a tape against a port. What it writes goes below a folder.
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
    let mut client = Client::connect(port)?;
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

/// Where a durable floor writes.
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

    /// As a run does: the reply and the intent, a flush; the file; the result and the next request, a flush.
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

    /// Temp file, flush, rename, flush of the folder.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temp = self.folder.join(".temp");
        let mut file = File::create(&temp)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temp, self.folder.join(name))?;
        self.handle.sync_all()
    }
}
