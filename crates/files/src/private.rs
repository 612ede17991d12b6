//! Files and folders that only their owner can use, and locks on them that are not waited for without end.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use crate::disk::{Disk, Folder};

/// Pause between two attempts to take a lock.
const PAUSE: Duration = Duration::from_millis(20);
/// Number of attempts after which the user is told: a second.
const ATTEMPTS_UNTIL_NOTICE: u32 = 50;
/// Number of attempts after which the lock is given up: half a minute.
const MOST_ATTEMPTS: u32 = 1500;

static LISTENER: OnceLock<fn(&Path)> = OnceLock::new();

/// Sets the function that is called when this process has waited for a lock for a second. The first one stays.
pub fn on_wait(listener: fn(&Path)) {
    // A second listener would be a second door in one process, and the first one is told already.
    let _ = LISTENER.set(listener);
}

/// Replaces a file as a whole. The temporary file has a fixed name, so that the next writer reuses what a killed one left.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str());
    let (Some(folder), Some(name)) = (path.parent(), name) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let folder = Folder::root(Disk::real(), folder);
    let replaced = folder.ensure().and_then(|()| folder.replace(name, bytes));
    replaced.map_err(|error| error.error)
}

/// Creates a folder and its missing parents, for this user alone. Existing ones keep their modes.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a lock file, and closes it to other users, who could hold its lock.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Takes a lock that other processes hold only for a moment. Gives it up after half a minute, with the reason.
pub fn lock(file: &File, path: &Path) -> io::Result<()> {
    let notice = || {
        if let Some(listener) = LISTENER.get() {
            listener(path);
        }
    };
    lock_within(file, path, [ATTEMPTS_UNTIL_NOTICE, MOST_ATTEMPTS], notice)
}

/// Takes a lock like [`lock`], where the caller tells the user.
pub fn lock_silently(file: &File, path: &Path) -> io::Result<()> {
    lock_within(file, path, [ATTEMPTS_UNTIL_NOTICE, MOST_ATTEMPTS], || {})
}

fn lock_within(
    file: &File,
    path: &Path,
    [until_notice, most]: [u32; 2],
    notice: impl Fn(),
) -> io::Result<()> {
    for attempt in 1..=most {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
        if attempt == until_notice {
            notice();
        }
    }
    let why = format!(
        "another process holds the lock `{}` and does not release it; wait until that process is done, or end it, and try again",
        path.display()
    );
    Err(io::Error::new(io::ErrorKind::ResourceBusy, why))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_lock_is_waited_for_with_a_notice_and_given_up_with_a_reason() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.lock");
        let (held, other) = (open_lock(&path).unwrap(), open_lock(&path).unwrap());
        let notices = Cell::new(0);
        let notice = || notices.set(notices.get() + 1);
        lock_within(&held, &path, [1, 3], notice).unwrap();
        assert_eq!(notices.get(), 0);
        let error = lock_within(&other, &path, [1, 3], notice).unwrap_err().to_string();
        assert!(error.contains("config.lock` and does not release it"), "{error}");
        assert_eq!(notices.get(), 1);
        held.unlock().unwrap();
        lock_within(&other, &path, [1, 3], notice).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn folders_locks_and_files_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let store = home.path().join("store");
        let mode =
            |name: &str| fs::metadata(store.join(name)).unwrap().permissions().mode() & 0o777;
        replace(&store.join("config.toml"), b"a").unwrap();
        create_folder(&store.join("server/inner")).unwrap();
        fs::write(store.join("old.lock"), "").unwrap();
        fs::set_permissions(store.join("old.lock"), fs::Permissions::from_mode(0o644)).unwrap();
        open_lock(&store.join("old.lock")).unwrap();
        open_lock(&store.join("new.lock")).unwrap();
        assert_eq!(mode(""), 0o700);
        assert_eq!(mode("config.toml"), 0o600);
        assert_eq!(mode("server"), 0o700);
        assert_eq!((mode("old.lock"), mode("new.lock")), (0o600, 0o600));
    }

    #[test]
    fn what_a_killed_writer_left_is_reused() {
        let home = tempfile::tempdir().unwrap();
        let left = home.path().join(".credentials.toml.tmp");
        fs::write(&left, "a longer text than the next one, with a key").unwrap();
        replace(&home.path().join("credentials.toml"), b"new").unwrap();
        assert!(!left.exists());
        assert_eq!(fs::read(home.path().join("credentials.toml")).unwrap(), b"new");
    }
}
