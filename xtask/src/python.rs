//! Python environments with exact versions, created once for each list of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::{needs, shell};

/// Python environment with exactly the packages of a list.
pub(crate) struct PythonEnvironment {
    name: &'static str,
    folder: PathBuf,
}

impl PythonEnvironment {
    pub(crate) fn new(folder: &Path, name: &'static str) -> Self {
        Self { name, folder: folder.join(name) }
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Returns the path of a copy of the list, which is written last: the packages in it are installed.
    fn stamp(&self) -> PathBuf {
        self.folder.join("installed.txt")
    }

    /// Returns true if everything on the list is installed.
    fn holds(&self, list: &str) -> bool {
        fs::read_to_string(self.stamp()).is_ok_and(|installed| installed == list)
    }

    /// Recreates the environment unless it holds everything on its list.
    pub(crate) fn ensure(&self, sources: &Path) -> anyhow::Result<()> {
        let path = sources.join(format!("{}-requirements.txt", self.name));
        let list =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if self.holds(&list) {
            return Ok(());
        }
        println!("installing {} into {} (minutes, once)", self.name, self.folder.display());
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)
                .with_context(|| format!("cannot remove {}", self.folder.display()))?;
        }
        shell::run(Command::new(needs::python()).args(["-m", "venv"]).arg(&self.folder))?;
        let mut install = Command::new(self.python());
        install.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]);
        install.arg("--requirement").arg(&path).stdin(Stdio::null());
        // The tests send no images, so the image reader need not be built.
        install.env("CMAKE_ARGS", "-DLLAVA_BUILD=OFF");
        shell::run(&mut install)?;
        fs::write(self.stamp(), list).with_context(|| format!("cannot finish {}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_kept_while_its_list_stays() {
        let folder = tempfile::tempdir().unwrap();
        let environment = PythonEnvironment::new(folder.path(), "llama");
        assert!(!environment.holds("a==1\n"));
        fs::create_dir(&environment.folder).unwrap();
        fs::write(environment.stamp(), "a==1\n").unwrap();
        assert!(environment.holds("a==1\n"));
        assert!(!environment.holds("a==2\n"));
        let sources = tempfile::tempdir().unwrap();
        fs::write(sources.path().join("llama-requirements.txt"), "a==1\n").unwrap();
        environment.ensure(sources.path()).unwrap();
    }
}
