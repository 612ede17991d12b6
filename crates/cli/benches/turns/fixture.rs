//! Environment of the binary: a store with packages, projects, and a model.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crewagent_testkit::loopback::Loopback;
use tempfile::TempDir;

use super::Failure;

/// Measured program.
const CREWAGENT: &str = env!("CARGO_BIN_EXE_crewagent");

/// Temporary store, a folder for projects, and a model on the loopback.
pub(crate) struct BenchFixture {
    pub(crate) scratch: TempDir,
    pub(crate) server: Loopback,
}

impl BenchFixture {
    pub(crate) fn new() -> Result<Self, Failure> {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        Ok(Self { scratch, server: Loopback::start()? })
    }

    /// Creates a new folder.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let folder = self.scratch.path().join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Imports a package that consists of these files.
    pub(crate) fn import(&self, files: &[(String, String)]) -> Result<(), Failure> {
        let folder = self.folder("package")?;
        for (name, content) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
            fs::write(path, content)?;
        }
        self.import_folder(&folder)?;
        Ok(fs::remove_dir_all(folder)?)
    }

    /// Imports a package.
    pub(crate) fn import_folder(&self, folder: &Path) -> Result<(), Failure> {
        let output = self.crewagent().args(["package", "import"]).arg(folder).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        Ok(())
    }

    /// Returns the program with this store and this model, isolated from the user's environment.
    pub(crate) fn crewagent(&self) -> Command {
        let mut command = Command::new(CREWAGENT);
        command
            .env_clear()
            .env("HOME", self.scratch.path())
            .env("CREWAGENT_HOME", self.scratch.path().join("home"))
            .env("CREWAGENT_BASE_URL", self.server.url())
            .env("CREWAGENT_API_KEY", "loopback")
            .stdin(Stdio::null());
        command
    }

    /// Returns `crewagent run` of an imported package.
    pub(crate) fn run(&self, package: &str, project: &Path) -> Command {
        let mut command = self.crewagent();
        command
            .args(["run", package, "--no-input", "--max-turns", "1000", "--project"])
            .arg(project);
        command
    }
}

/// Finds the files below a folder with this name.
pub(crate) fn find(folder: &Path, name: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(find(&entry.path(), name)?);
        } else if entry.file_name() == name {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Copies a folder recursively.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
