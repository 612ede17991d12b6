//! Keys of models: in a file that only the user can read, in the environment, or in the system's keyring. They never
//! appear in settings, journals, errors or on the screen.

mod file;
mod find;
mod keyring;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use thiserror::Error;

use self::file::StoredKeys;
pub use self::find::FoundKey;
use super::change;
use super::settings::KeySource;
use crate::private;

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
    /// The address of the model changed since its key was stored.
    #[error(
        "the key of the model `{model}` was stored for {bound}, and the model is at {address} now; store its key again with `crewagent models add {model} --key-stdin` (in the app: type it again), or put the address back"
    )]
    Elsewhere { model: String, bound: String, address: String },
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
            KeySource::File => Ok(file::read(&self.path)?.keys.remove(name)),
            KeySource::Keyring => keyring::get(name),
            KeySource::Variable(_) | KeySource::None => Ok(None),
        }
    }

    /// Returns every key in the file, including those of MCP servers.
    pub fn all(&self) -> Result<Vec<SecretString>, SecretError> {
        Ok(file::read(&self.path)?.keys.into_values().collect())
    }

    /// Stores a key under this name, replacing an earlier one.
    pub fn put(
        &self,
        place: &KeySource,
        name: &str,
        key: &SecretString,
    ) -> Result<(), SecretError> {
        self.store(place, name, key, None)
    }

    /// Stores the key of a model, which is used only for the server of this address.
    pub fn put_for(
        &self,
        place: &KeySource,
        name: &str,
        key: &SecretString,
        address: &str,
    ) -> Result<(), SecretError> {
        self.store(place, name, key, Some(server_of(address)))
    }

    fn store(
        &self,
        place: &KeySource,
        name: &str,
        key: &SecretString,
        server: Option<String>,
    ) -> Result<(), SecretError> {
        check(key)?;
        if !place.is_stored() {
            return Ok(());
        }
        let _turn = self.turn()?;
        let mut stored = file::read(&self.path)?;
        let bound_before = match server {
            Some(server) => {
                stored.addresses.insert(name.to_owned(), server.clone()) == Some(server)
            }
            None => stored.addresses.remove(name).is_none(),
        };
        if *place == KeySource::Keyring {
            keyring::put(name, key)?;
            return if bound_before { Ok(()) } else { file::write(&self.path, &stored) };
        }
        stored.keys.insert(name.to_owned(), key.clone());
        file::write(&self.path, &stored)
    }

    /// Binds the key of a model to the server of this address, if it has a stored key that is not bound. Earlier versions
    /// stored none.
    pub fn bind(&self, name: &str, address: &str) -> Result<(), SecretError> {
        let is_unbound = |stored: &StoredKeys| {
            stored.keys.contains_key(name) && !stored.addresses.contains_key(name)
        };
        if !is_unbound(&file::read(&self.path)?) {
            return Ok(());
        }
        let _turn = self.turn()?;
        let mut stored = file::read(&self.path)?;
        if is_unbound(&stored) {
            stored.addresses.insert(name.to_owned(), server_of(address));
            file::write(&self.path, &stored)?;
        }
        Ok(())
    }

    /// Returns the server that the key of a model is for, if that is another than the one of this address.
    fn bound_elsewhere(&self, name: &str, address: &str) -> Result<Option<String>, SecretError> {
        let bound = file::read(&self.path)?.addresses.remove(name);
        Ok(bound.filter(|bound| *bound != server_of(address)))
    }

    /// Lists files that a killed process left and that may hold keys.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        file::leftovers(&self.path)
    }

    /// Removes the key under this name and returns true if there was one.
    pub fn remove(&self, place: &KeySource, name: &str) -> Result<bool, SecretError> {
        match place {
            KeySource::File => self.forget(name),
            KeySource::Keyring => {
                let was_there = keyring::remove(name)?;
                Ok(self.forget(name)? || was_there)
            }
            KeySource::Variable(_) | KeySource::None => Ok(false),
        }
    }

    /// Removes a key and its address from the file, and returns true if there was a key.
    fn forget(&self, name: &str) -> Result<bool, SecretError> {
        let is_known = |stored: &StoredKeys| {
            stored.keys.contains_key(name) || stored.addresses.contains_key(name)
        };
        if !is_known(&file::read(&self.path)?) {
            return Ok(false);
        }
        let _turn = self.turn()?;
        let mut stored = file::read(&self.path)?;
        let is_known = is_known(&stored);
        stored.addresses.remove(name);
        let was_there = stored.keys.remove(name).is_some();
        if is_known {
            file::write(&self.path, &stored)?;
        }
        Ok(was_there)
    }

    /// Waits until no other process changes the file.
    fn turn(&self) -> Result<Option<File>, SecretError> {
        let failed = |error| SecretError::Io { action: "lock", path: self.path.clone(), error };
        let made = self.path.parent().map_or(Ok(()), private::create_folder);
        made.and_then(|()| change::turn(&self.path)).map_err(failed)
    }
}

/// Returns scheme, host and port of an address.
pub(super) fn server_of(address: &str) -> String {
    let (scheme, rest) = address.trim().split_once("://").unwrap_or(("", address.trim()));
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    format!("{scheme}://{host}").to_ascii_lowercase()
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
