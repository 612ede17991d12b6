//! Store: the data that the runtime keeps for a user, in one folder.

mod change;
mod conversations;
mod ids;
mod journal_id;
mod layout;
mod packages;
mod projects;
mod runs;
mod secrets;
mod servers;
mod settings;
pub(crate) mod title;

use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

pub use self::conversations::{ConversationListing, ConversationSummary, Conversations, Searched};
pub use self::ids::{BadId, ProjectId, RunId};
pub use self::journal_id::{JournalId, JournalKind};
pub use self::packages::{
    AcceptedSource, Damaged, FindError, FolderSource, ForeignImport, FoundPackage, Harm,
    ImportError, ImportOutcome, Imported, Installed, NeededBy, PackageDifference, PackageListing,
    Packages, PartDifference, PreparedImport, SourceContent, SourceOptions, scope_of,
};
pub use self::projects::{Project, ProjectError, ProjectListing, Projects};
use self::runs::RunKind;
pub use self::runs::{
    Holder, NewRun, Of, RunError, RunFolder, RunListing, RunPackage, RunRecord, RunSubject,
    RunSummary, RunView, RunWorkflow, Runs, Spent, Status,
};
pub use self::secrets::{FoundKey, SecretError, Secrets, key_of};
pub use self::servers::{KnownServers, KnownServersError, RemovedServer, ServerState, stored_name};
pub use self::settings::{
    ChosenModel, Cost, Environment, FsSettings, ImportedServer, KeySource, MEASURED, McpSettings,
    McpTable, Missing, ModelSettings, PolicySettings, ProfileChanges, ProfileSettings, RunDefaults,
    ServerSettings, ServerWay, ServersFile, SettingKey, Settings, SettingsError, SettingsFile,
    TierSettings, Timeout, UnknownModel, VariableTemplate, import_servers,
};

use self::layout::StoreLayout;
use self::packages::PackageCache;
use crate::disk::{Disk, Folder};

/// Open store. Its folder is created with the first write.
#[derive(Debug)]
pub struct Store {
    layout: StoreLayout,
    settings: Settings,
    disk: Disk,
    packages: PackageCache,
}

/// Something in the store that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Flaw {
    /// Its name.
    pub name: String,
    /// Problem with it.
    pub reason: String,
}

/// Error of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// No folder is known that could hold the store.
    #[error(
        "the home folder of this user is not known; set `CREWAGENT_HOME` to the folder the store shall be in"
    )]
    NoHome,
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A package of the store is not what was imported.
    #[error(transparent)]
    Damaged(#[from] Box<Damaged>),
    /// A package of the store has errors in this version of the program.
    #[error("the package {0} has errors; `crewagent package validate {0}` explains them")]
    Invalid(String),
    #[error("cannot {action} `{}`: {error}{}", path.display(), advice(error))]
    Io {
        /// Verb, as in "cannot write".
        action: &'static str,
        path: PathBuf,
        error: io::Error,
    },
}

impl StoreError {
    /// Returns a closure for `map_err` that adds action and path to an error.
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { action, path: path.to_owned(), error }
    }
}

/// Returns advice for the user about a system error, as the end of a sentence.
fn advice(error: &io::Error) -> &'static str {
    use io::ErrorKind as Kind;
    let kind = error.kind();
    if matches!(kind, Kind::StorageFull | Kind::QuotaExceeded) {
        "; free some space, or set `CREWAGENT_HOME` to a folder on another disk"
    } else if matches!(kind, Kind::PermissionDenied | Kind::ReadOnlyFilesystem) {
        "; make the store writable, or set `CREWAGENT_HOME` to a folder that is"
    } else if matches!(kind, Kind::NotADirectory | Kind::AlreadyExists) {
        "; move the file out of the way, or set `CREWAGENT_HOME` to another folder"
    } else if is_out_of_files(error) {
        "; too many files are open: let some runs rest, or raise the limit (`ulimit -n`), and try again"
    } else {
        ""
    }
}

/// Returns true if the process or the system has too many open files, which does not concern the file itself.
fn is_out_of_files(error: &io::Error) -> bool {
    // The standard library has no error kind for these codes: per process, and per system.
    let codes = if cfg!(windows) { [4, 4] } else { [24, 23] };
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

impl Store {
    /// Opens the store in `home`, or in [`Store::default_home`].
    pub fn open(home: Option<PathBuf>) -> Result<Self, StoreError> {
        let home = home.map_or_else(Self::default_home, Ok)?;
        let layout = StoreLayout::new(home);
        let settings = Settings::load(&layout.config())?;
        Ok(Self { layout, settings, disk: Disk::real(), packages: PackageCache::default() })
    }

    /// Reopens the store with its current settings. Both share the cache of checked packages.
    pub fn reopen(&self) -> Result<Self, StoreError> {
        let layout = self.layout.clone();
        let settings = Settings::load(&layout.config())?;
        Ok(Self { layout, settings, disk: self.disk.clone(), packages: self.packages.clone() })
    }

    /// Returns the store with all operations on projects and runs going through `disk`.
    #[must_use]
    pub fn on(self, disk: Disk) -> Self {
        Self { disk, ..self }
    }

    /// Returns the disk of projects and runs.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Returns the folder `crewagent` in the platform's data folder.
    pub fn default_home() -> Result<PathBuf, StoreError> {
        let strategy =
            etcetera::base_strategy::choose_native_strategy().map_err(|_| StoreError::NoHome)?;
        Ok(strategy.data_dir().join("crewagent"))
    }

    /// Returns the settings from `config.toml`.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the name by which steps address the user: the setting, else the login name, else an empty text.
    pub fn user_name(&self) -> String {
        let login = || {
            ["USER", "USERNAME", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok())
        };
        self.settings.run.user_name.clone().or_else(login).unwrap_or_default()
    }

    /// Returns the folder of the store.
    pub fn home(&self) -> &Path {
        self.layout.home()
    }

    /// Returns the keys of models.
    pub fn secrets(&self) -> Secrets {
        Secrets::of(self.layout.home())
    }

    /// Returns the configured MCP servers.
    pub fn tool_servers(&self) -> KnownServers<'_> {
        KnownServers::new(self)
    }

    /// Returns the imported packages.
    pub fn packages(&self) -> Packages<'_> {
        Packages::new(self)
    }

    /// Returns the projects.
    pub fn projects(&self) -> Projects<'_> {
        Projects::new(self)
    }

    /// Returns the runs.
    pub fn runs(&self) -> Runs<'_> {
        Runs::new(self, RunKind::Runs)
    }

    /// Returns the conversations.
    pub fn conversations(&self) -> Conversations<'_> {
        Conversations::new(self)
    }

    fn root(&self) -> Folder {
        Folder::root(self.disk.clone(), self.layout.home())
    }
}
