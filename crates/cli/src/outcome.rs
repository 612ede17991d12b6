//! The outcome of a command and its exit code. The numbers are a contract.

use std::io;
use std::process::ExitCode;

use crewagent_core::event::{Phase, Reason};
use crewagent_engine::runtime::{ForkError, ResumeError, StartError};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{FindError, ImportError, ProjectError, RunError, StoreError};
use crewagent_source::SourceError;
use crewagent_source::author::NewError;
use crewagent_source::pack::PackError;

use crate::console::Console;
use crate::language::errors::shown;
use crate::language::text;
use crate::paint::{self, ERROR};

/// The outcome of a command. Of several, the greatest decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// 0: it did what was asked; the workflow is complete.
    Done,
    /// 3: the run waits for the user.
    Waiting,
    /// 4: a limit stopped the run.
    Limited,
    /// 2: bad usage, or an invalid package.
    Invalid,
    /// 5: the model, or the connection to it, failed.
    ModelFailed,
    /// 1: the environment failed: the disk, a permission. Of several packages this one decides.
    Failed,
    /// 130: the user cancelled.
    Cancelled,
}

impl Outcome {
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::Waiting => 3,
            Self::Limited => 4,
            Self::ModelFailed => 5,
            Self::Cancelled => 130,
        })
    }

    /// Returns the outcome for the command that drove a run to this rest.
    pub(crate) fn of_rest(phase: Phase, reason: Option<Reason>) -> Self {
        match phase {
            Phase::Completed => Self::Done,
            Phase::Paused => Self::Cancelled,
            Phase::WaitingUser if reason.is_some_and(is_limit) => Self::Limited,
            Phase::WaitingUser => Self::Waiting,
            Phase::Failed | Phase::Running if reason == Some(Reason::Model) => Self::ModelFailed,
            Phase::Failed | Phase::Running => Self::Failed,
        }
    }

    /// Prints an error with its causes, and returns its outcome.
    pub(crate) fn of_error(error: &anyhow::Error, console: &mut Console) -> Self {
        let causes: Vec<String> = error.chain().map(shown).collect();
        let mut lines = causes.iter().map(|cause| paint::printable_lines(cause));
        console.error(format_args!(
            "{} {}",
            paint::styled(ERROR, text!("error:", "错误:")),
            lines.next().unwrap_or_default()
        ));
        for cause in lines {
            console.error(format_args!("  {} {cause}", text!("because:", "原因:")));
        }
        if error.chain().any(|cause| matches!(cause.downcast_ref(), Some(Halt::Model(_)))) {
            Self::ModelFailed
        } else if is_usage(error) || error.chain().any(is_wrong_run) {
            Self::Invalid
        } else {
            Self::Failed
        }
    }
}

/// Returns true if the reason is an exhausted limit.
pub(crate) fn is_limit(reason: Reason) -> bool {
    match reason {
        Reason::LimitTurns
        | Reason::LimitTime
        | Reason::LimitTokens
        | Reason::LimitCost
        | Reason::LimitWindow
        | Reason::LimitNode => true,
        Reason::StopPoint
        | Reason::Question
        | Reason::Loop
        | Reason::Stalled
        | Reason::Call
        | Reason::EmptyReply
        | Reason::Paused
        | Reason::Stopped
        | Reason::Model
        | Reason::Disk
        | Reason::Internal => false,
    }
}

/// Returns true if the user named something that does not exist or is invalid, as opposed to a failing disk.
fn is_usage(error: &anyhow::Error) -> bool {
    let source = |error: &SourceError| {
        matches!(error, SourceError::NotFound { .. } | SourceError::NotAFile { .. })
    };
    error.is::<UsageError>()
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
            Some(
                NewError::NotEmpty { .. }
                    | NewError::NotReplaceable { .. }
                    | NewError::NotAFolder { .. }
            )
        )
        || error
            .downcast_ref::<FindError>()
            .is_some_and(|error| !matches!(error, FindError::Store(_)))
}

/// Returns true if the user named a run, a workflow, an agent or a folder that is invalid or in use elsewhere.
fn is_wrong_run(cause: &(dyn std::error::Error + 'static)) -> bool {
    let project = |error: &ProjectError| match error {
        ProjectError::Folder { error, .. } => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
        ProjectError::NotText { .. }
        | ProjectError::Overlap { .. }
        | ProjectError::Gone { .. }
        | ProjectError::Unknown { .. }
        | ProjectError::Ambiguous { .. }
        | ProjectError::Occupied { .. }
        | ProjectError::InUse { .. } => true,
        ProjectError::Damaged { .. } | ProjectError::Disk(_) => false,
    };
    let package = |error: &StoreError| matches!(error, StoreError::Invalid(_));
    let run = |error: &RunError| match error {
        RunError::Unknown { .. }
        | RunError::Ambiguous { .. }
        | RunError::InUse { .. }
        | RunError::PackageGone { .. } => true,
        RunError::Project(error) => project(error),
        RunError::Exists(_)
        | RunError::Damaged { .. }
        | RunError::Newer { .. }
        | RunError::NoProject { .. }
        | RunError::Journal(_)
        | RunError::Store(_)
        | RunError::Disk(_) => false,
    };
    let start = match cause.downcast_ref::<StartError>() {
        Some(StartError::Workflow { .. } | StartError::Agent { .. } | StartError::Adopt { .. }) => {
            true
        }
        Some(StartError::Project(error)) => project(error),
        Some(StartError::Run(error)) => run(error),
        Some(StartError::Store(error)) => package(error),
        Some(StartError::Document(_) | StartError::Mounts(_) | StartError::Host(_)) | None => false,
    };
    let resume = match cause.downcast_ref::<ResumeError>() {
        Some(ResumeError::Run(error)) => run(error),
        Some(ResumeError::Store(error)) => package(error),
        Some(_) | None => false,
    };
    let fork = match cause.downcast_ref::<ForkError>() {
        Some(ForkError::Run(error)) => run(error),
        Some(ForkError::Visit { .. } | ForkError::Lost { .. }) => true,
        Some(ForkError::Resume(_) | ForkError::Document(_) | ForkError::Project(_)) | None => false,
    };
    start
        || resume
        || fork
        || cause.downcast_ref::<ProjectError>().is_some_and(project)
        || cause.downcast_ref::<RunError>().is_some_and(run)
        || cause.downcast_ref::<StoreError>().is_some_and(package)
}

/// An impossible request of the user: exit code 2 instead of 1.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}
