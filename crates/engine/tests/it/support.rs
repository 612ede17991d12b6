//! Functions that the tests share.

use std::fs;
use std::path::{Path, PathBuf};

use crewagent_engine::source::{OpenResult, PackageLimits, Source};
use crewagent_format::diagnostic::{Diagnostic, Findings};
use crewagent_testkit::archive::{ZipArchive, ZipEntry};
use crewagent_testkit::package::generated;
use tempfile::TempDir;

/// Returns the smallest generated package without findings.
pub(crate) fn package() -> Vec<(String, String)> {
    generated(2, 1)
}

/// Returns its files as uncompressed entries.
pub(crate) fn entries() -> Vec<ZipEntry> {
    package().into_iter().map(|(name, content)| ZipEntry::stored(name, content)).collect()
}

/// Returns a valid archive with one more entry.
pub(crate) fn with(entry: ZipEntry) -> ZipArchive {
    ZipArchive::of(entries()).with(entry)
}

/// Returns a scratch folder on the disk of the build.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

pub(crate) fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

pub(crate) fn write_all(folder: &Path, files: impl IntoIterator<Item = (String, String)>) {
    for (name, content) in files {
        write(folder, &name, content);
    }
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

/// Formats findings such as `BM103 ../x`.
pub(crate) fn describe(findings: Option<&Findings>) -> Vec<String> {
    let tell = |found: &Diagnostic| format!("{} {}", found.code.as_str(), found.place.file);
    findings.map_or_else(Vec::new, |findings| findings.iter().map(tell).collect())
}

/// Returns every file and folder below a folder with its path, mode and bytes.
pub(crate) fn snapshot(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            all.push((path, mode(&metadata), content));
        }
    }
    all.sort();
    all
}

#[cfg(unix)]
pub(crate) fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

#[cfg(not(unix))]
pub(crate) fn mode(metadata: &fs::Metadata) -> u32 {
    if metadata.permissions().readonly() { 0o444 } else { 0o644 }
}
