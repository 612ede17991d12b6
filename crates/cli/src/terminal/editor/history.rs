//! Input history: a private file with one input a line.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

pub(super) const KEPT: usize = 1_000;
/// The rest of a longer file is ignored.
const MOST: u64 = 4 << 20;
/// A longer input is kept in memory only.
const LONGEST: usize = 64 << 10;

/// The history file; without a path nothing is written.
#[derive(Debug)]
pub(super) struct InputHistory {
    file: Option<PathBuf>,
    last: Option<String>,
}

impl InputHistory {
    /// Opens the history and returns its inputs, oldest first. An unreadable file or line is skipped: the prompt works
    /// without it.
    pub(super) fn open(file: Option<&Path>) -> (Self, Vec<String>) {
        let text = file.map(read).and_then(Result::ok).unwrap_or_default();
        let mut inputs: Vec<String> = text.lines().filter_map(unescaped).collect();
        inputs.dedup();
        if inputs.len() > KEPT {
            inputs.drain(..inputs.len() - KEPT);
            let lines: String = inputs.iter().map(|input| escaped(input)).collect();
            // If this fails, the next process tries again.
            let _ = file.map(|file| rewrite(file, &lines));
        }
        let last = inputs.last().cloned();
        (Self { file: file.map(Path::to_owned), last }, inputs)
    }

    /// Appends an input, unless it equals the last one.
    pub(super) fn add(&mut self, input: &str) -> io::Result<()> {
        if self.last.as_deref() == Some(input) {
            return Ok(());
        }
        self.last = Some(input.to_owned());
        match &self.file {
            Some(file) if input.len() <= LONGEST => {
                private(OpenOptions::new().append(true).create(true))
                    .open(file)?
                    .write_all(escaped(input).as_bytes())
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

/// Replaces the file atomically: another process may read it.
fn rewrite(file: &Path, lines: &str) -> io::Result<()> {
    let draft = file.with_extension(format!("{}.new", std::process::id()));
    private(OpenOptions::new().write(true).create(true).truncate(true))
        .open(&draft)?
        .write_all(lines.as_bytes())?;
    fs::rename(&draft, file)
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

fn escaped(input: &str) -> String {
    input.replace('\\', "\\\\").replace('\n', "\\n") + "\n"
}

fn unescaped(line: &str) -> Option<String> {
    let mut input = String::new();
    let mut letters = line.chars();
    while let Some(c) = letters.next() {
        match c {
            '\\' => input.push(match letters.next()? {
                'n' => '\n',
                c => c,
            }),
            c => input.push(c),
        }
    }
    (!input.is_empty()).then_some(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(file: &Path) -> Vec<String> {
        InputHistory::open(Some(file)).1
    }

    #[test]
    fn what_was_typed_is_there_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        let (mut history, before) = InputHistory::open(Some(&file));
        assert!(before.is_empty());
        let typed = ["one", "one", "two\nlines", "C:\\new", "三 🏃", "one"];
        typed.iter().for_each(|input| history.add(input).unwrap());
        assert_eq!(inputs(&file), ["one", "two\nlines", "C:\\new", "三 🏃", "one"]);
    }

    #[cfg(unix)]
    #[test]
    fn others_cannot_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        InputHistory::open(Some(&file)).0.add("secret").unwrap();
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("history");
        fs::write(&file, (0..KEPT + 5).map(|n| format!("{n}\n")).collect::<String>()).unwrap();
        assert_eq!(inputs(&file).len(), KEPT);
        assert_eq!(fs::read_to_string(&file).unwrap().lines().next(), Some("5"));
    }

    #[test]
    fn without_a_file_nothing_is_written() {
        let (mut history, before) = InputHistory::open(None);
        assert!(before.is_empty());
        history.add("x").unwrap();
    }
}
