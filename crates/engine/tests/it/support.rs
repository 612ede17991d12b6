//! Functions that the tests share.

pub(crate) use crewagent_testkit::files::{describe, package, snapshot, with, write, write_all};
use tempfile::TempDir;

/// Returns a scratch folder on the disk of the build.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}
