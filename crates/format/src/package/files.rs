//! Port through which a check reads the files of a package: a folder, an archive, or a map in a test.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::path::PackagePath;

/// Files of one package. Names have passed the archive gate, contents are unchecked.
pub trait Files {
    /// Returns the size in bytes of every file. Folders are not listed.
    fn sizes(&self) -> &BTreeMap<PackagePath, u64>;

    /// Reads a file that [`Files::sizes`] lists. The error says why it is unreadable, without a real path.
    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String>;
}
