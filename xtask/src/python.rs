//! Environments of Python with exact versions, made once for each list of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::shell;

/// What the lists of versions were made for.
const OLDEST_PYTHON: (u32, u32) = (3, 11);

/// A folder of Python's own, with exactly the packages of a list.
pub(crate) struct Environment {
    name: &'static str,
    folder: PathBuf,
}

impl Environment {
    pub(crate) fn new(folder: &Path, name: &'static str) -> Self {
        Self { name, folder: folder.join(name) }
    }

    pub(crate) fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// A copy of the list, written last: what it says is installed.
    fn stamp(&self) -> PathBuf {
        self.folder.join("installed.txt")
    }

    /// Whether everything on the list is there.
    fn holds(&self, list: &str) -> bool {
        fs::read_to_string(self.stamp()).is_ok_and(|installed| installed == list)
    }

    /// Makes the environment anew unless it holds everything on its list.
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
        let python = host_python()?;
        shell::run(Command::new(python).args(["-m", "venv"]).arg(&self.folder))?;
        let mut install = Command::new(self.python());
        install.args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"]);
        install.arg("--requirement").arg(&path).stdin(Stdio::null());
        // We send no pictures, so what reads them need not be built.
        install.env("CMAKE_ARGS", "-DLLAVA_BUILD=OFF");
        shell::run(&mut install)?;
        fs::write(self.stamp(), list).with_context(|| format!("cannot finish {}", self.name))
    }
}

/// The Python of this machine: `PYTHON`, or else `python3`.
fn host_python() -> anyhow::Result<PathBuf> {
    let python = PathBuf::from(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()));
    let version = shell::capture(Command::new(&python).arg("--version"))
        .context("this needs Python; set PYTHON if it is not `python3`")?;
    let known = minor_version(&version);
    let (major, minor) = OLDEST_PYTHON;
    ensure!(
        known >= Some(OLDEST_PYTHON),
        "this needs Python {major}.{minor} or later, not {}; set PYTHON to one",
        version.trim()
    );
    Ok(python)
}

/// `(3, 11)` of `Python 3.11.7`.
fn minor_version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.trim().strip_prefix("Python ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_kept_while_its_list_stays() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new(folder.path(), "llama");
        assert!(!environment.holds("a==1\n"));
        fs::create_dir(&environment.folder).unwrap();
        fs::write(environment.stamp(), "a==1\n").unwrap();
        assert!(environment.holds("a==1\n"));
        assert!(!environment.holds("a==2\n"));
        let sources = tempfile::tempdir().unwrap();
        fs::write(sources.path().join("llama-requirements.txt"), "a==1\n").unwrap();
        environment.ensure(sources.path()).unwrap();
    }

    #[test]
    fn the_version_of_python_is_read() {
        assert_eq!(minor_version("Python 3.11.7\n"), Some((3, 11)));
        assert_eq!(minor_version("Python 3.14.0rc1"), Some((3, 14)));
        assert!(minor_version("Python 3.9.2") < Some(OLDEST_PYTHON));
        assert_eq!(minor_version("snake"), None);
    }
}
