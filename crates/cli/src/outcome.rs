//! How a command ended, and the exit code that says so. The numbers are a contract.

use std::process::ExitCode;

use crate::console::Console;
use crate::paint::{self, ERROR};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// 0: it did what was asked.
    Done,
    /// 1: it failed.
    Failed,
    /// 2: bad usage, or an invalid package.
    Invalid,
}

impl Outcome {
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
        })
    }

    /// Prints an error and its causes, and says how it ends the program.
    pub(crate) fn of_error(error: &anyhow::Error, console: &mut Console) -> Self {
        if is_broken_pipe(error) {
            return Self::Done;
        }
        let causes: Vec<String> = error.chain().map(|cause| cause.to_string()).collect();
        let mut lines = causes.iter().map(String::as_str);
        console.error(format_args!(
            "{} {}",
            paint::styled(ERROR, "error:"),
            paint::printable(lines.next().unwrap_or_default())
        ));
        for cause in lines {
            console.error(format_args!("  because: {}", paint::printable(cause)));
        }
        if error.is::<Usage>() { Self::Invalid } else { Self::Failed }
    }
}

/// The user asked for something that cannot be: exit code 2 instead of 1.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
