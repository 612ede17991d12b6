//! System keyring, supported by builds with the feature `keyring`.

use secrecy::SecretString;

use super::SecretError;

#[cfg(not(feature = "keyring"))]
mod backend {
    use super::{SecretError, SecretString};

    const NOT_BUILT: &str = "this crewagent was built without it; keep the key in a file (`crewagent models add NAME --key-stdin`) or in an environment variable";

    fn not_built<T>() -> Result<T, SecretError> {
        Err(SecretError::Keyring(NOT_BUILT.to_owned()))
    }

    pub(super) fn get(_: &str) -> Result<Option<SecretString>, SecretError> {
        not_built()
    }

    pub(super) fn put(_: &str, _: &SecretString) -> Result<(), SecretError> {
        not_built()
    }

    pub(super) fn remove(_: &str) -> Result<bool, SecretError> {
        not_built()
    }
}

#[cfg(feature = "keyring")]
mod backend {
    use keyring::{Entry, Error};
    use secrecy::ExposeSecret as _;

    use super::{SecretError, SecretString};

    /// Service name in the keyring.
    const SERVICE: &str = "crewagent";

    pub(super) fn get(name: &str) -> Result<Option<SecretString>, SecretError> {
        match entry(name)?.get_password() {
            Ok(key) => Ok(Some(key.into())),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    pub(super) fn put(name: &str, key: &SecretString) -> Result<(), SecretError> {
        entry(name)?.set_password(key.expose_secret()).map_err(|error| failed(&error))
    }

    pub(super) fn remove(name: &str) -> Result<bool, SecretError> {
        match entry(name)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(failed(&error)),
        }
    }

    fn entry(name: &str) -> Result<Entry, SecretError> {
        Entry::store_status().as_ref().map_err(failed)?;
        Entry::new(SERVICE, name).map_err(|error| failed(&error))
    }

    fn failed(error: &Error) -> SecretError {
        SecretError::Keyring(error.to_string())
    }
}

/// Returns the key stored under this name.
pub(super) fn get(name: &str) -> Result<Option<SecretString>, SecretError> {
    backend::get(name)
}

/// Stores a key under this name.
pub(super) fn put(name: &str, key: &SecretString) -> Result<(), SecretError> {
    backend::put(name, key)
}

/// Removes the key under this name and returns true if there was one.
pub(super) fn remove(name: &str) -> Result<bool, SecretError> {
    backend::remove(name)
}
