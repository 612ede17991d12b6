//! The port through which a check sees the files of a package: a folder, an archive, or a map in a test.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::path::PackagePath;

/// The files of one package. Names have passed the archive gate, contents have not been looked at.
pub trait Files {
    /// Every file, with its size in bytes. Folders are not listed.
    fn sizes(&self) -> &BTreeMap<PackagePath, u64>;

    /// The content of a file that [`Files::sizes`] lists. The error says why it cannot be read, without a real path.
    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String>;
}
