//! How a command ended, and the exit code that says so. The numbers are a contract.

use std::process::ExitCode;

use crewagent_engine::author::NewError;
use crewagent_engine::pack::PackError;
use crewagent_engine::source::SourceError;
use crewagent_engine::store::{FindError, ImportError};

use crate::console::Console;
use crate::paint::{self, ERROR};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// 0: it did what was asked.
    Done,
    /// 2: bad usage, or an invalid package.
    Invalid,
    /// 1: the world failed: the disk, a permission. Of several packages this one decides.
    Failed,
    /// 130: the user changed their mind.
    Cancelled,
}

impl Outcome {
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::Cancelled => 130,
        })
    }

    /// Prints an error and its causes, and says how it ends the program.
    pub(crate) fn of_error(error: &anyhow::Error, console: &mut Console) -> Self {
        let causes: Vec<String> = error.chain().map(|cause| cause.to_string()).collect();
        let mut lines = causes.iter().map(|cause| paint::printable_lines(cause));
        console.error(format_args!(
            "{} {}",
            paint::styled(ERROR, "error:"),
            lines.next().unwrap_or_default()
        ));
        for cause in lines {
            console.error(format_args!("  because: {cause}"));
        }
        if is_usage(error) { Self::Invalid } else { Self::Failed }
    }
}

/// True when the user named something that is not there or cannot be meant, as opposed to a failing disk.
fn is_usage(error: &anyhow::Error) -> bool {
    let source = |error: &SourceError| {
        matches!(error, SourceError::NotFound { .. } | SourceError::NotAFile { .. })
    };
    error.is::<Usage>()
        || error.downcast_ref::<SourceError>().is_some_and(source)
        || matches!(error.downcast_ref(), Some(PackError::Source(inner)) if source(inner))
        || matches!(
            error.downcast_ref(),
            Some(
                PackError::Inside { .. } | PackError::NotAFile { .. } | PackError::Occupied { .. }
            )
        )
        || matches!(error.downcast_ref(), Some(ImportError::Source(inner)) if source(inner))
        || matches!(
            error.downcast_ref(),
            Some(NewError::NotEmpty { .. } | NewError::NotAFolder { .. })
        )
        || error
            .downcast_ref::<FindError>()
            .is_some_and(|error| !matches!(error, FindError::Store(_)))
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
