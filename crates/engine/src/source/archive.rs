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

use self::entry::Entry;
pub(crate) use self::entry::Scratch;
use self::handle::Handle;
use super::contents::Contents;
use super::gate::Gate;
use super::limits::Limits;
use super::parallel;

/// Archive that passed the gate. Entries are in the order of their paths.
#[derive(Debug)]
pub(crate) struct Archive {
    handle: Handle,
    entries: Vec<Entry>,
}

/// Archive that passed the gate, with its files and what the gate has read of them.
pub(crate) struct Passed {
    pub(crate) archive: Archive,
    pub(crate) sizes: BTreeMap<PackagePath, u64>,
    pub(crate) contents: Contents,
}

impl Archive {
    /// Checks an archive. The inner error is for its author, the outer one is an I/O error.
    pub(crate) fn open(file: File, limits: &Limits) -> io::Result<Result<Passed, Findings>> {
        let handle = Handle::new(file)?;
        let mut gate = Gate::new(limits);
        let Some(mut directory) = directory::read(&handle, &mut gate, limits)? else {
            return Ok(Err(gate.findings));
        };
        let places = local::check(&handle, &mut directory, &mut gate)?;
        let unpack = places.apart && !gate.overflowed();
        let (mut findings, mut records) = (std::mem::take(&mut gate.findings), directory.records);
        records.sort_by(|one, other| one.path.cmp(&other.path));
        drop(gate);
        let entries: Vec<Option<Entry>> = records
            .iter()
            .map(|record| {
                let method = record.method.filter(|_| unpack && record.sound)?;
                Some(Entry {
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
        Ok(Ok(Passed { archive, sizes, contents }))
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
    handle: &Handle,
    entries: &[Option<Entry>],
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
    handle: &Handle,
    entry: &Entry,
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
