//! The error answer of every request, in one shape.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use crewagent_adapters::names::NamedError;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_engine::blobs::BlobError;
use crewagent_engine::changes::ChangesError;
use crewagent_engine::conversation::ConversationError;
use crewagent_engine::journal::JournalError;
use crewagent_engine::model::ModelError;
use crewagent_engine::mounts::{MountError, OpenError};
use crewagent_engine::runtime::{ForkError, ResumeError, StartError};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{
    BadId, Damaged, FindError, Harm, ImportError, KnownServersError, ProjectError, RunError,
    SecretError, SettingsError, StoreError, UnknownModel,
};
use crewagent_engine::workers::{ConnectorError, WorkerError};
use crewagent_source::SourceError;
use crewagent_source::author::NewError;
use crewagent_source::pack::PackError;

use crate::wire::{Code, Fault};

/// Why a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem(Fault);

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Fault { code, message: message.into(), hint: None })
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Returns the answer to an invalid request.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::Invalid, message)
    }

    /// Returns the answer for something that does not exist.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// Returns the answer to a refused change of the settings. Nothing was written.
    pub(crate) fn unwritten(error: SettingsError) -> Self {
        match error {
            SettingsError::Wrong { message, .. } => {
                Self::invalid(message).hint("Nothing was changed.")
            }
            error @ (SettingsError::Read { .. }
            | SettingsError::Write { .. }
            | SettingsError::Edit { .. }) => error.into(),
        }
    }

    /// Returns message and hint as one text.
    pub(crate) fn text(&self) -> String {
        let Fault { message, hint, .. } = &self.0;
        hint.as_ref().map_or_else(|| message.clone(), |hint| format!("{message}. {hint}"))
    }

    fn status(&self) -> StatusCode {
        match self.0.code {
            Code::Invalid => StatusCode::BAD_REQUEST,
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Code::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Code::Busy | Code::InUse | Code::Changed => StatusCode::CONFLICT,
            Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::WrongType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::Refused | Code::Model => StatusCode::UNPROCESSABLE_ENTITY,
            Code::Disk | Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Code::Closing => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status(), Json(self.0)).into_response()
    }
}

// Hints name what the app can do, where the engine's messages name commands.

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Unknown { kind, reference } => {
                Self::missing(format!("there is no {kind} `{reference}`"))
                    .hint("It may have been removed; the list shows what there is.")
            }
            RunError::Damaged { id, reason } => {
                Self::new(Code::Refused, format!("{id} cannot be used: {reason}"))
                    .hint("Remove it from the list.")
            }
            RunError::PackageGone { id, package, digits } => Self::new(
                Code::Refused,
                format!("the package {package} ({digits}) of run {id} is not in the store"),
            )
            .hint("Import it again, then go on."),
            RunError::InUse { .. } => Self::new(Code::InUse, error.to_string()),
            RunError::Ambiguous { .. } => Self::invalid(error.to_string()),
            RunError::Exists(_) | RunError::Newer { .. } | RunError::NoProject { .. } => {
                Self::new(Code::Refused, error.to_string())
            }
            RunError::Project(error) => error.into(),
            RunError::Journal(error) => error.into(),
            RunError::Store(error) => error.into(),
            RunError::Disk(_) => Self::new(Code::Disk, error.to_string()),
        }
    }
}

impl From<ProjectError> for Problem {
    fn from(error: ProjectError) -> Self {
        match &error {
            ProjectError::Unknown { reference } => {
                Self::missing(format!("there is no project `{reference}`"))
                    .hint("It may have been forgotten; the list shows what there is.")
            }
            ProjectError::Gone { name, path, .. } => {
                let path = path.display();
                Self::new(Code::Refused, format!("the folder `{path}` of project `{name}` is gone"))
                    .hint("If it was moved, say where it is now.")
            }
            ProjectError::Overlap { path, home } => {
                let message = format!(
                    "`{}` cannot be a project: the store in `{}` and it overlap, and a run could change its own records",
                    path.display(),
                    home.display()
                );
                Self::new(Code::Refused, message).hint("Choose another folder.")
            }
            ProjectError::Occupied { path, by } => {
                let path = path.display();
                let message = format!("`{path}` is the folder of project `{by}` already");
                Self::new(Code::Refused, message).hint("Forget that project first.")
            }
            ProjectError::Disk(_) => Self::new(Code::Disk, error.to_string()),
            ProjectError::InUse { .. } => Self::new(Code::InUse, error.to_string()),
            ProjectError::Folder { .. }
            | ProjectError::NotText { .. }
            | ProjectError::Ambiguous { .. }
            | ProjectError::Damaged { .. } => Self::new(Code::Refused, error.to_string()),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Settings(error) => error.into(),
            StoreError::Damaged(damaged) => (*damaged).into(),
            StoreError::NoHome | StoreError::Invalid(_) => {
                Self::new(Code::Refused, error.to_string())
            }
            StoreError::Io { .. } => Self::new(Code::Disk, error.to_string()),
        }
    }
}

impl From<Damaged> for Problem {
    fn from(damaged: Damaged) -> Self {
        let (folder, reason) = (damaged.folder.display(), &damaged.reason);
        let message = format!("the package in `{folder}` cannot be used: {reason}");
        Self::new(Code::Refused, message).hint(match damaged.harm {
            Harm::Broken => "Import the package again, or remove it.",
            Harm::Newer => "Update this program, or remove the package.",
        })
    }
}

impl From<SettingsError> for Problem {
    fn from(error: SettingsError) -> Self {
        match &error {
            SettingsError::Read { .. } | SettingsError::Write { .. } => {
                Self::new(Code::Disk, error.to_string())
            }
            SettingsError::Wrong { .. } => Self::new(Code::Refused, error.to_string())
                .hint("Nothing works until the file is right; it is read anew at every request."),
            SettingsError::Edit { .. } => Self::new(Code::Refused, error.to_string()),
        }
    }
}

impl From<FindError> for Problem {
    fn from(error: FindError) -> Self {
        match error {
            FindError::Empty { reference }
            | FindError::Unknown { reference, similar: None, .. } => {
                Self::missing(format!("there is no package `{reference}`"))
                    .hint("Import it; the list shows what there is.")
            }
            FindError::Unknown { reference, similar: Some(similar), .. } => {
                Self::missing(format!("there is no package `{reference}`"))
                    .hint(format!("Did you mean `{similar}`?"))
            }
            FindError::UnknownVersion { .. } => Self::missing(error.to_string()),
            FindError::Ambiguous { .. } | FindError::Several { .. } => {
                Self::invalid(error.to_string())
            }
            FindError::Damaged(damaged) => (*damaged).into(),
            FindError::Store(error) => error.into(),
        }
    }
}

impl From<UnknownModel> for Problem {
    fn from(error: UnknownModel) -> Self {
        const SET_UP: &str = "Choose one that is set up, or set one up in the settings.";
        match &error {
            UnknownModel::NotChosen { .. } => {
                Self::missing("no model is chosen").hint(SET_UP)
            }
            UnknownModel::Unknown { name, origin, .. } => {
                Self::missing(format!("there is no model `{name}`{origin}")).hint(SET_UP)
            }
            UnknownModel::NoAddress { name, profile } => Self::missing(format!(
                "it is not known where the model `{name}` is: the profile `{profile}` has no address of its own"
            ))
            .hint("Set its address in the settings."),
            UnknownModel::BadAddress { .. } => Self::missing(error.to_string()),
        }
    }
}

impl From<SecretError> for Problem {
    fn from(error: SecretError) -> Self {
        match &error {
            SecretError::Missing { model, problem, .. } => {
                Self::new(Code::Model, format!("the model `{model}` has no key: {problem}"))
                    .hint("Give its key in the settings.")
            }
            SecretError::Elsewhere { model, bound, address } => Self::new(
                Code::Model,
                format!("the key of the model `{model}` was stored for {bound}, and its address is at {address} now"),
            )
            .hint("Type the key for the new address in the settings, or put the address back."),
            SecretError::Exposed { .. }
            | SecretError::Wrong { .. }
            | SecretError::Io { .. }
            | SecretError::Keyring(_)
            | SecretError::NotAKey(_)
            | SecretError::Header { .. } => Self::new(Code::Model, error.to_string()),
        }
    }
}

impl From<StartError> for Problem {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Project(error) => error.into(),
            StartError::Run(error) => error.into(),
            StartError::Store(error) => error.into(),
            StartError::Workflow { .. } | StartError::Agent { .. } | StartError::Adopt { .. } => {
                Self::invalid(error.to_string())
            }
            StartError::Document(_) | StartError::Mounts(_) | StartError::Host(_) => {
                Self::new(Code::Refused, error.to_string())
            }
        }
    }
}

impl From<ForkError> for Problem {
    fn from(error: ForkError) -> Self {
        match error {
            ForkError::Run(error) => error.into(),
            ForkError::Resume(error) => error.into(),
            ForkError::Project(error) => error.into(),
            ForkError::Visit { .. } => Self::missing(error.to_string())
                .hint("Fork it at a node that it came to; `path` of the run lists them."),
            ForkError::Lost { .. } | ForkError::Document(_) => {
                Self::new(Code::Refused, error.to_string())
            }
        }
    }
}

impl From<ChangesError> for Problem {
    fn from(error: ChangesError) -> Self {
        match error {
            ChangesError::Refused(refusal) => (*refusal).into(),
            ChangesError::Run(error) => error.into(),
            ChangesError::Project(error) => error.into(),
            ChangesError::Blob(error) => error.into(),
            ChangesError::Mount(error) => error.into(),
            ChangesError::Unchanged(_) | ChangesError::NoVisit(_) => {
                Self::missing(error.to_string())
            }
            ChangesError::NotText(_) => Self::new(Code::Refused, error.to_string()),
            ChangesError::Stale(_) => Self::new(Code::Changed, error.to_string())
                .hint("Nothing was changed. Look at it again, and repeat it if you still want it."),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.code {
            RefusalCode::NotFound => Code::NotFound,
            RefusalCode::Precondition => Code::Changed,
            RefusalCode::ReadLimit | RefusalCode::WriteLimit => Code::TooLarge,
            RefusalCode::Sandbox
            | RefusalCode::InvalidArguments
            | RefusalCode::InvalidFrontmatter
            | RefusalCode::Schema
            | RefusalCode::Transition
            | RefusalCode::ToolNotAvailable
            | RefusalCode::Timeout
            | RefusalCode::ConfirmationRequired
            | RefusalCode::UnknownOutcome
            | RefusalCode::NotExecuted
            | RefusalCode::ToolFailed
            | RefusalCode::Internal => Code::Refused,
        };
        let problem = Self::new(code, refusal.message);
        match refusal.hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

impl From<ResumeError> for Problem {
    fn from(error: ResumeError) -> Self {
        match error {
            ResumeError::Run(error) => error.into(),
            ResumeError::Store(error) => error.into(),
            ResumeError::Halt(halt) => halt.into(),
            ResumeError::Workflow(_)
            | ResumeError::Mounts(_)
            | ResumeError::State(_)
            | ResumeError::Host(_) => Self::new(Code::Refused, error.to_string()),
        }
    }
}

impl From<WorkerError> for Problem {
    fn from(error: WorkerError) -> Self {
        match error {
            WorkerError::Busy => Self::new(Code::Busy, error.to_string())
                .hint("Wait until it rests, or stop it first."),
            WorkerError::Closing => {
                Self::new(Code::Closing, error.to_string()).hint("Start `crewagent` again.")
            }
            WorkerError::TooMany(_) => {
                Self::new(Code::Busy, error.to_string()).hint("Wait until some of them rest.")
            }
            WorkerError::Thread(_) => Self::new(Code::Internal, error.to_string()),
            WorkerError::Panicked => Self::new(Code::Internal, error.to_string()).hint(
                "Nothing that was recorded is lost. Go on with it, and please report the bug.",
            ),
            WorkerError::QuestionClosed => Self::new(Code::Changed, error.to_string())
                .hint("Look at what has happened since, and answer what is asked now."),
            WorkerError::RunInUse(_) => Self::new(Code::InUse, error.to_string()),
            WorkerError::Model(error) => model_problem(error),
            WorkerError::ModelAfterMessage(error) => {
                model_problem(error).hint("What was said is kept. Set up a model, then go on.")
            }
            WorkerError::Store(error) => error.into(),
            WorkerError::Run(error) => error.into(),
            WorkerError::Start(error) => error.into(),
            WorkerError::Resume(error) => error.into(),
            WorkerError::Conversation(error) => error.into(),
            WorkerError::Halt(halt) => halt.into(),
        }
    }
}

/// Describes an error of this server's own adapters.
fn model_problem(error: ConnectorError) -> Problem {
    match error.downcast::<NamedError>() {
        Ok(error) => (*error).into(),
        Err(error) => Problem::new(Code::Model, error.to_string()),
    }
}

impl From<ConversationError> for Problem {
    fn from(error: ConversationError) -> Self {
        match error {
            ConversationError::Start(error) => error.into(),
            ConversationError::Resume(error) => error.into(),
            ConversationError::Store(error) => error.into(),
            ConversationError::Halt(halt) => halt.into(),
        }
    }
}

impl From<Halt> for Problem {
    fn from(halt: Halt) -> Self {
        let code = match &halt {
            Halt::Model(_) => Code::Model,
            Halt::TooLong { .. } => Code::TooLarge,
            Halt::Mount(_) | Halt::Log(_) => Code::Disk,
            Halt::Stopped | Halt::Broken => Code::Busy,
            Halt::Unfit(_) | Halt::CaughtUp => Code::Internal,
        };
        Self::new(code, halt.to_string())
    }
}

impl From<NamedError> for Problem {
    fn from(error: NamedError) -> Self {
        match error {
            NamedError::Unknown(error) => error.into(),
            NamedError::Key(error) => error.into(),
            NamedError::Replay(_) | NamedError::Scenario(_) | NamedError::Client(_) => {
                Self::new(Code::Model, error.to_string())
            }
        }
    }
}

impl From<ImportError> for Problem {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Source(error) => error.into(),
            ImportError::Store(error) => error.into(),
            ImportError::Rejected(_) => Self::new(Code::Refused, error.to_string()),
            ImportError::Read { .. } => Self::new(Code::Disk, error.to_string()),
        }
    }
}

impl From<KnownServersError> for Problem {
    fn from(error: KnownServersError) -> Self {
        match error {
            KnownServersError::Unknown { .. } => Self::missing(error.to_string()),
            KnownServersError::Settings(error) => Self::unwritten(error),
            KnownServersError::Secret(_) => Self::new(Code::Refused, error.to_string()),
        }
    }
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Self {
        let code = match &error {
            SourceError::NotFound { .. } => Code::NotFound,
            SourceError::NotAFile { .. } => Code::Invalid,
            SourceError::Denied { .. } | SourceError::Io { .. } => Code::Disk,
        };
        Self::new(code, error.to_string())
    }
}

/// Converts errors that always have the same code.
macro_rules! with_code {
    ($($error:ty => $code:ident),* $(,)?) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self::new(Code::$code, error.to_string())
            }
        })*
    };
}

with_code! {
    BadId => Invalid,
    BlobError => Disk,
    JournalError => Disk,
    ModelError => Model,
    MountError => Disk,
    NewError => Refused,
    OpenError => Refused,
    PackError => Refused,
}
