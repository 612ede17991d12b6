//! Lock that serializes changes of one file across processes.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::private;

/// Waits until no other process changes the file, but not without end; the lock is released when the returned file is closed. It is a
/// separate file, because the file itself is replaced as a whole. Returns `None` if there is no store yet.
pub(super) fn turn(path: &Path) -> io::Result<Option<File>> {
    let lock = path.with_extension("lock");
    match private::open_lock(&lock) {
        Ok(file) => private::lock(&file, &lock).map(|()| Some(file)),
        // Where the lock cannot be created, the change cannot be saved either, and saving reports that.
        Err(_) => Ok(None),
    }
}
