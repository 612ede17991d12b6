//! `credentials.toml`: keys in a file that only the user can read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::SecretError;
use crate::private;

/// Largest file that is read, in bytes.
const MOST: u64 = 1 << 20;

const HEAD: &str = "# Keys of models. Only you can read this file; keep it so, and keep it out of backups that others can read.\n\n";

/// Age from which a temporary file is a leftover: no write takes so long.
const LEFTOVER_AGE: Duration = Duration::from_secs(60);

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretsFile {
    #[serde(default)]
    keys: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    addresses: BTreeMap<String, String>,
}

/// Content of the file.
#[derive(Default)]
pub(super) struct StoredKeys {
    pub(super) keys: BTreeMap<String, SecretString>,
    /// Servers that the keys of models are for, as scheme, host and port, also of keys in the keyring.
    pub(super) addresses: BTreeMap<String, String>,
}

/// Reads all keys. A missing file has none; a file that other users can read is refused.
pub(super) fn read(path: &Path) -> Result<StoredKeys, SecretError> {
    let failed = |error| SecretError::Io { action: "read", path: path.to_owned(), error };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(StoredKeys::default());
        }
        Err(error) => return Err(failed(error)),
    };
    if let Some(mode) = exposed(&file).map_err(failed)? {
        return Err(SecretError::Exposed { path: path.to_owned(), mode });
    }
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).map_err(failed)?;
    let text = SecretString::from(text);
    let kept: SecretsFile = toml::from_str(text.expose_secret()).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.expose_secret().get(..at).unwrap_or_default();
        SecretError::Wrong { path: path.to_owned(), line: before.matches('\n').count() + 1 }
    })?;
    let keys = kept.keys.into_iter().map(|(name, key)| (name, key.trim().into())).collect();
    Ok(StoredKeys { keys, addresses: kept.addresses })
}

/// Replaces the file atomically. It is never readable for other users, not even briefly.
pub(super) fn write(path: &Path, stored: &StoredKeys) -> Result<(), SecretError> {
    let failed = |error| SecretError::Io { action: "write", path: path.to_owned(), error };
    let plain =
        |(name, key): (&String, &SecretString)| (name.clone(), key.expose_secret().to_owned());
    let keys = stored.keys.iter().map(plain).collect();
    let text = toml::to_string(&SecretsFile { keys, addresses: stored.addresses.clone() })
        .map_err(|_| failed(io::ErrorKind::InvalidData.into()))?;
    let text = SecretString::from(format!("{HEAD}{text}"));
    private::replace(path, text.expose_secret().as_bytes()).map_err(failed)?;
    // A leftover that cannot be removed is reported by the checks of the store.
    leftovers(path).iter().for_each(|left| drop(fs::remove_file(left)));
    Ok(())
}

/// Lists temporary files of killed processes, which may hold keys. Earlier versions gave each a new name.
pub(super) fn leftovers(path: &Path) -> Vec<PathBuf> {
    let is_ours = |name: &str| {
        let earlier = name.strip_prefix(".tmp").is_some_and(|rest| rest.len() == 6);
        let ours = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let current = name.strip_prefix('.').is_some_and(|rest| rest.starts_with(ours));
        earlier || (current && name.ends_with(".tmp"))
    };
    let is_old = |written: SystemTime| {
        SystemTime::now().duration_since(written).is_ok_and(|age| age > LEFTOVER_AGE)
    };
    let entries = fs::read_dir(path.parent().unwrap_or(Path::new("."))).into_iter().flatten();
    let found = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let metadata = entry.metadata().ok()?;
        let is_left = metadata.is_file() && is_ours(entry.file_name().to_str()?);
        (is_left && is_old(metadata.modified().ok()?)).then(|| entry.path())
    });
    found.collect()
}

/// Returns the mode of a file that other users can read or change.
#[cfg(unix)]
fn exposed(file: &File) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    Ok(Some(mode).filter(|mode| mode & 0o077 != 0))
}

/// Returns `None`: elsewhere files in the user's own folders are private.
#[cfg(not(unix))]
fn exposed(_: &File) -> io::Result<Option<u32>> {
    Ok(None)
}
