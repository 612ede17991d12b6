//! Keys of models: in a file that only the user can read, in the environment, or in the system's keyring. They never
//! appear in settings, journals, errors or on the screen.

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

/// Stored keys of a user.
#[derive(Clone, Debug)]
pub struct Secrets {
    path: PathBuf,
}

/// Error of reading or storing a key. No message contains a key.
#[derive(Debug, Error)]
pub enum SecretError {
    /// Other users can read the file.
    #[error(
        "the keys in `{}` can be read by others (mode {mode:03o}); run `chmod 600 {}`, and think about new keys",
        path.display(),
        path.display()
    )]
    Exposed { path: PathBuf, mode: u32 },
    /// The file is malformed.
    #[error(
        "the keys in `{}` cannot be used: line {line} is wrong; correct it, or remove the file and add the keys again",
        path.display()
    )]
    Wrong {
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    #[error("cannot {action} the keys in `{}`: {error}", path.display())]
    Io { action: &'static str, path: PathBuf, error: io::Error },
    #[error("the keyring of this system cannot be used: {0}")]
    Keyring(String),
    /// The given text cannot be a key.
    #[error("this cannot be a key: {0}")]
    NotAKey(&'static str),
    #[error("the model `{model}` has no key: {problem}; {advice}")]
    Missing {
        model: String,
        /// Places that were searched.
        problem: String,
        advice: String,
    },
    #[error(
        "the header `{header}` of the model `{model}` comes from the environment variable `{variable}`, which is not set; set it"
    )]
    Header { model: String, header: String, variable: String },
}

impl Secrets {
    /// Returns the keys of the store in this folder.
    pub fn of(home: &Path) -> Self {
        Self { path: home.join("credentials.toml") }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the key stored under this name.
    pub fn get(&self, place: &KeySource, name: &str) -> Result<Option<SecretString>, SecretError> {
        match place {
            KeySource::File => Ok(file::read(&self.path)?.remove(name)),
            KeySource::Keyring => keyring::get(name),
            KeySource::Variable(_) | KeySource::None => Ok(None),
        }
    }

    /// Returns every key in the file, including those of MCP servers.
    pub fn all(&self) -> Result<Vec<SecretString>, SecretError> {
        Ok(file::read(&self.path)?.into_values().collect())
    }

    /// Stores a key under this name, replacing an earlier one.
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

    /// Removes the key under this name and returns true if there was one.
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

    /// Waits until no other process changes the file.
    fn turn(&self) -> Result<Option<File>, SecretError> {
        let failed = |error| SecretError::Io { action: "lock", path: self.path.clone(), error };
        let made = self.path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| change::turn(&self.path)).map_err(failed)
    }
}

/// Parses a key as given by a person or a program, without surrounding whitespace.
pub fn key_of(text: &str) -> Result<SecretString, SecretError> {
    let key = SecretString::from(text.trim());
    check(&key)?;
    Ok(key)
}

/// Checks that a key fits into a header.
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
