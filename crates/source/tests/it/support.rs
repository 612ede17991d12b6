//! Functions that the tests share.

use crewagent_format::diagnostic::Findings;
use crewagent_source::{OpenResult, PackageLimits, Source};
pub(crate) use crewagent_testkit::files::{
    describe, entries, package, snapshot, with, write, write_all,
};
use tempfile::TempDir;

/// Returns a scratch folder on the disk of the build.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Returns the findings of the gate about these bytes.
pub(crate) fn refusal(bytes: &[u8], limits: &PackageLimits) -> Option<Findings> {
    let scratch = scratch();
    let path = write(scratch.path(), "package.zip", bytes);
    match Source::open(&path, limits).unwrap() {
        OpenResult::Passed(_) => None,
        OpenResult::Refused(findings) => Some(findings),
    }
}
