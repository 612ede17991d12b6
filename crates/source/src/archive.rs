//! Package in a ZIP archive: every claim in it is checked before use, and nothing is unpacked to disk here.

mod directory;
mod end;
mod entry;
mod handle;
mod local;
mod magic;
mod raw;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crewagent_format::diagnostic::Findings;
use crewagent_format::integrity::Digest;
use crewagent_format::path::PackagePath;
use sha2::{Digest as _, Sha256};

use self::entry::ArchiveEntry;
pub(crate) use self::entry::Scratch;
use self::handle::ArchiveHandle;
use super::contents::Contents;
use super::gate::EntryGate;
use super::limits::PackageLimits;
use super::parallel;

/// Archive that passed the gate. Entries are in the order of their paths.
#[derive(Debug)]
pub(crate) struct Archive {
    handle: ArchiveHandle,
    entries: Vec<ArchiveEntry>,
}

/// Archive that passed the gate, with its files and what the gate has read of them.
pub(crate) struct CheckedArchive {
    pub(crate) archive: Archive,
    pub(crate) sizes: BTreeMap<PackagePath, u64>,
    pub(crate) contents: Contents,
}

impl Archive {
    /// Checks an archive. The inner error is for its author, the outer one is an I/O error.
    pub(crate) fn open(
        file: File,
        limits: &PackageLimits,
    ) -> io::Result<Result<CheckedArchive, Findings>> {
        let handle = ArchiveHandle::new(file)?;
        let mut gate = EntryGate::new(limits);
        let Some(mut directory) = directory::read(&handle, &mut gate, limits)? else {
            return Ok(Err(gate.findings));
        };
        let places = local::check(&handle, &mut directory, &mut gate)?;
        let unpack = places.apart && !gate.overflowed();
        let (mut findings, mut records) = (std::mem::take(&mut gate.findings), directory.records);
        records.sort_by(|one, other| one.path.cmp(&other.path));
        drop(gate);
        let entries: Vec<Option<ArchiveEntry>> = records
            .iter()
            .map(|record| {
                let method = record.method.filter(|_| unpack && record.sound)?;
                Some(ArchiveEntry {
                    method,
                    data: record.data,
                    packed: record.packed,
                    size: record.size,
                    crc: record.crc,
                })
            })
            .collect();
        let contents = Contents::new(entries.len());
        for (index, why) in verify(&handle, &entries, &contents)? {
            findings.push(directory::contradiction(records[index].path.as_str(), &why));
        }
        if findings.is_empty() {
            // An entry with findings could be the one that the bytes belong to.
            places.uncovered.into_iter().for_each(|found| findings.push(found));
        }
        if !findings.is_empty() {
            return Ok(Err(findings));
        }
        let sizes = records.into_iter().map(|record| (record.path, record.size)).collect();
        let archive = Self { handle, entries: entries.into_iter().flatten().collect() };
        Ok(Ok(CheckedArchive { archive, sizes, contents }))
    }

    /// Reads the file at this index in the sorted paths.
    pub(crate) fn read(&self, index: usize) -> io::Result<Arc<[u8]>> {
        self.entries[index].read(&self.handle, &mut Scratch::new())
    }

    /// Passes the file to `take` in chunks.
    pub(crate) fn stream(
        &self,
        index: usize,
        scratch: &mut Scratch,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.entries[index].stream(&self.handle, scratch, take)
    }
}

/// Unpacks every entry once, caches the content where it fits, and returns the entries that contradict their headers.
fn verify(
    handle: &ArchiveHandle,
    entries: &[Option<ArchiveEntry>],
    contents: &Contents,
) -> io::Result<Vec<(usize, String)>> {
    let corrupt: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());
    parallel::for_each(entries.len(), Scratch::new, |scratch, index| {
        let Some(entry) = &entries[index] else { return Ok(()) };
        let error = match unpack(handle, entry, scratch, index, contents) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if error.kind() != io::ErrorKind::InvalidData {
            return Err(error);
        }
        corrupt.lock().unwrap_or_else(PoisonError::into_inner).push((index, error.to_string()));
        Ok(())
    })?;
    let mut corrupt = corrupt.into_inner().unwrap_or_else(PoisonError::into_inner);
    corrupt.sort();
    Ok(corrupt)
}

fn unpack(
    handle: &ArchiveHandle,
    entry: &ArchiveEntry,
    scratch: &mut Scratch,
    index: usize,
    contents: &Contents,
) -> io::Result<()> {
    if contents.reserve(entry.size) {
        let content = entry.read(handle, scratch)?;
        contents.note_digest(index, Digest::of(&content));
        contents.keep(index, content);
    } else {
        let mut hasher = Sha256::new();
        entry.stream(handle, scratch, &mut |piece| {
            hasher.update(piece);
            Ok(())
        })?;
        contents.note_digest(index, Digest::from_bytes(hasher.finalize().into()));
    }
    Ok(())
}
