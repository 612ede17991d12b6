//! One change of a file at a time, whoever makes it.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits until nobody else changes the file; closing what is given lets others go on. The file itself cannot be locked,
/// because it is replaced as a whole. Before there is a store there is nothing to wait for.
pub(super) fn turn(path: &Path) -> io::Result<Option<File>> {
    let lock = path.with_extension("lock");
    match File::options().create(true).append(true).open(lock) {
        Ok(file) => file.lock().map(|()| Some(file)),
        // Where nothing can be written nothing will be changed either, and saving says so.
        Err(_) => Ok(None),
    }
}
