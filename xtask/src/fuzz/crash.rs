//! Report of a crash: the message, the input, the command to reproduce it.

use std::fmt;
use std::fs;
use std::path::Path;

/// Maximum bytes of an input that are shown; the file has the rest.
const SHOWN_BYTES: usize = 256;
/// Maximum lines of the log that are shown.
const SHOWN_LINES: usize = 30;
/// Text of libFuzzer before the path of the stored input.
const ARTIFACT_MARK: &str = "Test unit written to ";
/// Fragments that begin the description of a crash, from Rust and from libFuzzer (time, memory).
const CAUSE_MARKS: [&str; 2] = ["panicked at", "ERROR: libFuzzer"];

/// Input on which a target crashed, hung or ran out of memory.
pub(super) struct Crash {
    target: String,
    /// Relative to the repository if it is inside.
    artifact: String,
    input: Vec<u8>,
    cause: String,
}

impl Crash {
    /// Reads the crash from a log.
    pub(super) fn find(log: &str, root: &Path, target: &str) -> Option<Self> {
        let path = log.lines().find_map(|line| line.split_once(ARTIFACT_MARK))?.1.trim();
        let path = root.join(path);
        let artifact = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let input = fs::read(&path).unwrap_or_default();
        Some(Self { target: target.to_string(), artifact, input, cause: cause(log) })
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.input[..self.input.len().min(SHOWN_BYTES)];
        let rest = self.input.len() - shown.len();
        writeln!(f, "{}", self.cause)?;
        writeln!(f, "  input: {} ({} bytes)", self.artifact, self.input.len())?;
        writeln!(f, "  text:  \"{}\"", shown.escape_ascii())?;
        write!(f, "  hex:  ")?;
        for byte in shown {
            write!(f, " {byte:02x}")?;
        }
        if rest > 0 {
            write!(f, "\n  (and {rest} more bytes)")?;
        }
        write!(f, "\n  again: cargo fuzz run -s none {} {}", self.target, self.artifact)
    }
}

/// Returns the lines from the crash on; cargo-fuzz writes much more after it.
fn cause(log: &str) -> String {
    let tells = |line: &&str| CAUSE_MARKS.iter().any(|mark| line.contains(mark));
    let lines = log.lines().take_while(|line| !line.contains(ARTIFACT_MARK));
    let lines: Vec<&str> = lines.skip_while(|line| !tells(line)).take(SHOWN_LINES).collect();
    lines.join("\n")
}

/// Returns the last lines of a log.
pub(super) fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crash_of(input: &[u8]) -> String {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("crash-1"), input).unwrap();
        let path = root.path().join("crash-1");
        let log = format!(
            "#2 INITED cov: 5\nthread panicked at a.rs:1:\nwhy\n{ARTIFACT_MARK}{}\nnoise\n",
            path.display()
        );
        Crash::find(&log, root.path(), "graph").unwrap().to_string()
    }

    #[test]
    fn a_crash_shows_input_and_command() {
        let shown = crash_of(b"{\"a\xff\n");
        assert_eq!(
            shown,
            "thread panicked at a.rs:1:\n\
             why\n\
             \x20 input: crash-1 (5 bytes)\n\
             \x20 text:  \"{\\\"a\\xff\\n\"\n\
             \x20 hex:   7b 22 61 ff 0a\n\
             \x20 again: cargo fuzz run -s none graph crash-1"
        );
    }

    #[test]
    fn a_large_input_is_cut() {
        let shown = crash_of(&[b'a'; 1000]);
        assert!(shown.contains("(1000 bytes)"), "{shown}");
        assert!(shown.contains("(and 744 more bytes)"), "{shown}");
        assert!(!shown.contains(&"a".repeat(SHOWN_BYTES + 1)), "{shown}");
    }

    #[test]
    fn a_log_without_an_input_is_no_crash() {
        assert!(Crash::find("linker failed\n", Path::new("."), "graph").is_none());
    }

    #[test]
    fn a_long_log_keeps_its_end() {
        let log: String = (0..100).map(|line| format!("{line}\n")).collect();
        assert!(tail(&log).starts_with("70\n") && tail(&log).ends_with("\n99"));
    }
}
