//! Keys of models: in a file that only the user can read, in the environment, or with the system's keyring. They are
//! never in the settings, in a journal, in an error or on the screen.

mod file;
mod find;
mod keyring;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use thiserror::Error;

pub use self::find::FoundKey;
use super::change;
use super::settings::KeySource;

/// The keys that CrewAgent keeps for a user.
#[derive(Clone, Debug)]
pub struct Secrets {
    path: PathBuf,
}

/// Why a key cannot be had or kept. No message holds a key.
#[derive(Debug, Error)]
pub enum SecretError {
    /// Others can read the file.
    #[error(
        "the keys in `{}` can be read by others (mode {mode:03o}); run `chmod 600 {}`, and think about new keys",
        path.display(),
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file is not what it should be.
    #[error(
        "the keys in `{}` cannot be used: line {line} is wrong; correct it, or remove the file and add the keys again",
        path.display()
    )]
    Wrong {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
    },
    /// The disk failed.
    #[error("cannot {action} the keys in `{}`: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// There is no keyring.
    #[error("the keyring of this system cannot be used: {0}")]
    Keyring(String),
    /// What was given cannot be a key.
    #[error("this cannot be a key: {0}")]
    NotAKey(&'static str),
    /// There is no key where it should be.
    #[error("the model `{model}` has no key: {problem}; {advice}")]
    Missing {
        /// The model.
        model: String,
        /// Where it was looked for.
        problem: String,
        /// What to do.
        advice: String,
    },
    /// A header needs a variable that is not set.
    #[error(
        "the header `{header}` of the model `{model}` comes from the environment variable `{variable}`, which is not set; set it"
    )]
    Header {
        /// The model.
        model: String,
        /// The header.
        header: String,
        /// The variable.
        variable: String,
    },
}

impl Secrets {
    /// Those of the store in this folder.
    pub fn of(home: &Path) -> Self {
        Self { path: home.join("credentials.toml") }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key that is kept under this name.
    pub fn get(&self, place: &KeySource, name: &str) -> Result<Option<SecretString>, SecretError> {
        match place {
            KeySource::File => Ok(file::read(&self.path)?.remove(name)),
            KeySource::Keyring => keyring::get(name),
            KeySource::Variable(_) | KeySource::None => Ok(None),
        }
    }

    /// Every key in the file, whatever it is for.
    pub fn all(&self) -> Result<Vec<SecretString>, SecretError> {
        Ok(file::read(&self.path)?.into_values().collect())
    }

    /// Keeps a key under this name, in place of one that was there.
    pub fn put(
        &self,
        place: &KeySource,
        name: &str,
        key: &SecretString,
    ) -> Result<(), SecretError> {
        check(key)?;
        match place {
            KeySource::File => {
                let _turn = self.turn()?;
                let mut keys = file::read(&self.path)?;
                keys.insert(name.to_owned(), key.clone());
                file::write(&self.path, &keys)
            }
            KeySource::Keyring => keyring::put(name, key),
            KeySource::Variable(_) | KeySource::None => Ok(()),
        }
    }

    /// Forgets the key that is kept under this name, and says whether there was one.
    pub fn remove(&self, place: &KeySource, name: &str) -> Result<bool, SecretError> {
        match place {
            KeySource::File => {
                if !file::read(&self.path)?.contains_key(name) {
                    return Ok(false);
                }
                let _turn = self.turn()?;
                let mut keys = file::read(&self.path)?;
                let was_there = keys.remove(name).is_some();
                if was_there {
                    file::write(&self.path, &keys)?;
                }
                Ok(was_there)
            }
            KeySource::Keyring => keyring::remove(name),
            KeySource::Variable(_) | KeySource::None => Ok(false),
        }
    }

    /// Waits until nobody else changes the file.
    fn turn(&self) -> Result<Option<File>, SecretError> {
        let failed = |error| SecretError::Io { action: "lock", path: self.path.clone(), error };
        let made = self.path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| change::turn(&self.path)).map_err(failed)
    }
}

/// A key that a person or a program gave, without what surrounds it.
pub fn key_of(text: &str) -> Result<SecretString, SecretError> {
    let key = SecretString::from(text.trim());
    check(&key)?;
    Ok(key)
}

/// A key must fit into a header.
fn check(key: &SecretString) -> Result<(), SecretError> {
    let key = key.expose_secret();
    if key.is_empty() {
        return Err(SecretError::NotAKey("it is empty"));
    }
    if !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err(SecretError::NotAKey("a key has no blanks, no line ends and no other letters"));
    }
    Ok(())
}
