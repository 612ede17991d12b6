//! Any bytes as a package file: the gate and the check end without a panic, within their limits.
#![no_main]

use std::cell::RefCell;
use std::io::{Seek as _, SeekFrom, Write as _};

use crewagent_engine::inspect::inspect;
use crewagent_engine::source::Limits;
use libfuzzer_sys::fuzz_target;
use tempfile::NamedTempFile;

thread_local!(static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file")));

fuzz_target!(|bytes: &[u8]| {
    FILE.with_borrow_mut(|file| {
        file.as_file_mut().set_len(0).expect("truncate");
        file.seek(SeekFrom::Start(0)).expect("seek");
        file.write_all(bytes).expect("write");
        let inspected = inspect(file.path(), &Limits::default()).expect("the file is there");
        assert_eq!(inspected.package.is_some(), !inspected.findings.has_errors());
    });
});
