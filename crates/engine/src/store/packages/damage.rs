//! Folders that should be packages and are not.

use std::fmt;
use std::path::{Path, PathBuf};

use crewagent_core::integrity::Digest;
use semver::Version;

use super::Installed;

/// A folder that should be a package and is not, or not as it was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where it is.
    pub folder: PathBuf,
    /// What is wrong with it.
    pub reason: String,
    /// What can be done about it.
    pub harm: Harm,
    /// The name of the package, if its record can be read.
    pub name: Option<String>,
    /// Its version, if its record can be read.
    pub version: Option<Version>,
    /// The digest of what was imported, if its record can be read.
    pub digest: Option<Digest>,
}

/// What can be done about a damaged folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// It can be removed, or repaired with an import of the same package.
    Broken,
    /// It was written by a newer version of this program, which can use it; an import never replaces it.
    Newer,
}

impl Damaged {
    pub(super) fn new(folder: &Path, reason: String, harm: Harm) -> Self {
        let folder = folder.to_owned();
        Self { folder, reason, harm, name: None, version: None, digest: None }
    }

    /// The same, with what is known about the package.
    pub(super) fn of(mut self, installed: Option<&Installed>) -> Self {
        self.name = installed.map(|installed| installed.name.clone());
        self.version = installed.map(|installed| installed.version.clone());
        self.digest = installed.map(|installed| installed.digest);
        self
    }

    /// The name of its folder, by which it can always be found.
    pub fn folder_name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl std::error::Error for Damaged {}

impl fmt::Display for Damaged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, harm, .. } = self;
        let folder = self.folder_name();
        let advice = match harm {
            Harm::Broken => "import the package again",
            Harm::Newer => "update this program",
        };
        write!(
            out,
            "the package in `{}` cannot be used: {reason}; {advice}, or remove it with `crewagent package rm {folder}`",
            self.folder.display()
        )
    }
}
