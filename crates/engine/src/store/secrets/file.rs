//! `credentials.toml`: keys in a file that only the user can read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::SecretError;

/// Largest file that is read, in bytes.
const MOST: u64 = 1 << 20;

const HEAD: &str = "# Keys of models. Only you can read this file; keep it so, and keep it out of backups that others can read.\n\n";

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretsFile {
    #[serde(default)]
    keys: BTreeMap<String, String>,
}

/// Reads all keys. A missing file has none; a file that other users can read is refused.
pub(super) fn read(path: &Path) -> Result<BTreeMap<String, SecretString>, SecretError> {
    let failed = |error| SecretError::Io { action: "read", path: path.to_owned(), error };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
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
    Ok(kept.keys.into_iter().map(|(name, key)| (name, key.trim().into())).collect())
}

/// Replaces the file atomically. It is never readable for other users, not even briefly.
pub(super) fn write(path: &Path, keys: &BTreeMap<String, SecretString>) -> Result<(), SecretError> {
    let failed = |error| SecretError::Io { action: "write", path: path.to_owned(), error };
    let keys = keys.iter().map(|(name, key)| (name.clone(), key.expose_secret().to_owned()));
    let text = toml::to_string(&SecretsFile { keys: keys.collect() })
        .map_err(|_| failed(io::ErrorKind::InvalidData.into()))?;
    let text = SecretString::from(format!("{HEAD}{text}"));
    replace(path, text.expose_secret().as_bytes()).map_err(failed)
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // On Unix a temporary file has mode 600.
    let mut staged = tempfile::NamedTempFile::new_in(folder)?;
    staged.write_all(bytes)?;
    staged.as_file().sync_all()?;
    staged.persist(path)?;
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
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
