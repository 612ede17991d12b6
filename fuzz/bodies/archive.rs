//! Fuzzes the bytes of a package file: the gate and the check end without a panic, within their limits.

use std::cell::RefCell;
use std::io::{Seek as _, SeekFrom, Write as _};

use crewagent_source::PackageLimits;
use crewagent_source::inspect::inspect;
use tempfile::NamedTempFile;

thread_local!(static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file")));

/// Checks one input.
pub(crate) fn run(bytes: &[u8]) {
    FILE.with_borrow_mut(|file| {
        file.as_file_mut().set_len(0).expect("truncate");
        file.seek(SeekFrom::Start(0)).expect("seek");
        file.write_all(bytes).expect("write");
        let inspected = inspect(file.path(), &PackageLimits::default()).expect("the file is there");
        assert_eq!(inspected.package.is_some(), !inspected.findings.has_errors());
    });
}
