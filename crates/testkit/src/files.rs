//! Files and small packages of tests.
#![allow(clippy::expect_used, reason = "a test that cannot write its files fails")]

use std::fs;
use std::path::{Path, PathBuf};

use crewagent_format::diagnostic::{Diagnostic, Findings};

use crate::archive::{ZipArchive, ZipEntry};
use crate::package::generated;

/// Returns the smallest generated package without findings.
pub fn package() -> Vec<(String, String)> {
    generated(2, 1)
}

/// Returns its files as uncompressed entries.
pub fn entries() -> Vec<ZipEntry> {
    package().into_iter().map(|(name, content)| ZipEntry::stored(name, content)).collect()
}

/// Returns a valid archive with one more entry.
pub fn with(entry: ZipEntry) -> ZipArchive {
    ZipArchive::of(entries()).with(entry)
}

/// Writes a file and the folders above it.
pub fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("a test file")).expect("a test file");
    fs::write(&path, content).expect("a test file");
    path
}

/// Writes several files below a folder.
pub fn write_all(folder: &Path, files: impl IntoIterator<Item = (String, String)>) {
    for (name, content) in files {
        write(folder, &name, content);
    }
}

/// Formats findings such as `BM103 ../x`.
pub fn describe(findings: Option<&Findings>) -> Vec<String> {
    let tell = |found: &Diagnostic| format!("{} {}", found.code.as_str(), found.place.file);
    findings.map_or_else(Vec::new, |findings| findings.iter().map(tell).collect())
}

/// Returns every file and folder below a folder with its path, mode and bytes.
pub fn snapshot(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("a test file").path();
            let metadata = fs::symlink_metadata(&path).expect("a test file");
            let content =
                if metadata.is_file() { fs::read(&path).expect("a test file") } else { Vec::new() };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            all.push((path, mode(&metadata), content));
        }
    }
    all.sort();
    all
}

/// Returns the permissions of a file.
#[cfg(unix)]
pub fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

/// Returns the permissions of a file.
#[cfg(not(unix))]
pub fn mode(metadata: &fs::Metadata) -> u32 {
    if metadata.permissions().readonly() { 0o444 } else { 0o644 }
}
