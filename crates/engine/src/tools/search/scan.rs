//! Searches many files in parallel, with a result that does not depend on the speed of the threads.
//!
//! As soon as the searched files have one match too many, no file after the last of these is needed. That limit only
//! moves towards the front, so that every file before its final position has been searched, in whatever order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use grep_searcher::Searcher;

use super::Search;
use super::lines::{MatchCollector, MatchLine};
use super::parallel::{Then, for_each};
use super::pattern::QueryPattern;
use super::walk::{SearchFiles, skip};
use crate::cancel::Deadline;
use crate::mounts::MountTree;

/// Limit in bytes up to which a file is read whole before it is searched.
const WHOLE: u64 = 2 << 20;
/// Files that a thread takes at a time: few enough to share the work evenly, enough to stay in one folder.
const BLOCK: usize = 16;
/// Initial buffer of a thread in bytes.
const BUFFER: usize = 128 * 1024;

/// A search in progress.
pub(super) struct SearchScan<'s> {
    pattern: &'s QueryPattern,
    request: &'s Search,
    deadline: &'s Deadline,
    /// Index of the last file that is needed.
    last: AtomicUsize,
    tally: Mutex<ScanTally>,
}

#[derive(Default)]
struct ScanTally {
    /// Matches by the index of their file.
    lines: BTreeMap<usize, Vec<MatchLine>>,
    total: usize,
    /// Files that could not be read.
    skipped: Vec<usize>,
    /// Files that were removed, or are no regular files.
    gone: Vec<usize>,
    error: Option<io::Error>,
}

/// Result of a scan.
pub(super) struct ScanOutcome {
    /// With the index of their file, in order.
    pub(super) lines: Vec<(usize, MatchLine)>,
    pub(super) matches_found: usize,
    pub(super) files_scanned: usize,
    pub(super) files_skipped: usize,
}

/// State of one thread.
struct Worker {
    searcher: Searcher,
    buffer: Vec<u8>,
}

impl<'s> SearchScan<'s> {
    pub(super) fn new(
        pattern: &'s QueryPattern,
        request: &'s Search,
        deadline: &'s Deadline,
    ) -> Self {
        let last = AtomicUsize::new(usize::MAX);
        Self { pattern, request, deadline, last, tally: Mutex::default() }
    }

    fn worker(&self) -> Worker {
        Worker { searcher: self.pattern.searcher(), buffer: vec![0; BUFFER] }
    }

    /// Searches many files, and skips those that cannot be read.
    pub(super) fn files(&mut self, tree: MountTree<'_>, files: &SearchFiles) -> io::Result<()> {
        for_each(
            files.len(),
            BLOCK,
            || self.worker(),
            |worker, index| {
                if index > self.last.load(Ordering::Relaxed) || self.deadline.is_over() {
                    return Then::Stop;
                }
                let result = match tree.file(&files.path(index)) {
                    Ok(Some((file, size))) => self.lines(worker, file, size).map(Some),
                    Ok(None) => Ok(None),
                    Err(error) => Err(error),
                };
                self.note(index, result)
            },
        );
        self.failure()
    }

    fn failure(&mut self) -> io::Result<()> {
        let tally = self.tally.get_mut().unwrap_or_else(PoisonError::into_inner);
        tally.error.take().map_or(Ok(()), Err)
    }

    /// Searches one file. Skips it only if it can be read but not searched.
    pub(super) fn file(&mut self, file: File, size: u64) -> io::Result<()> {
        let lines = self.lines(&mut self.worker(), file, size);
        if let Err(error) = &lines
            && error.kind() == io::ErrorKind::PermissionDenied
        {
            return lines.map(|_| ());
        }
        self.note(0, lines.map(Some));
        self.failure()
    }

    fn lines(&self, worker: &mut Worker, mut file: File, size: u64) -> io::Result<Vec<MatchLine>> {
        let Search { before, after, max_matches, .. } = *self.request;
        let matcher = &self.pattern.matcher;
        let mut lines = MatchCollector::new(matcher, before, after, max_matches + 1);
        if size > WHOLE {
            worker.searcher.search_reader(matcher, file, &mut lines)?;
            return Ok(lines.found);
        }
        let bytes = read_whole(&mut file, size, &mut worker.buffer)?;
        worker.searcher.search_slice(matcher, bytes, &mut lines)?;
        // The searcher looks for a NUL byte only at the start and in the lines it shows.
        if !lines.found.is_empty() && bytes.contains(&0) && !is_utf16(bytes) {
            lines.found.clear();
        }
        Ok(lines.found)
    }

    /// Adds the matches of a file, and drops those that will not be shown.
    fn note(&self, index: usize, result: io::Result<Option<Vec<MatchLine>>>) -> Then {
        if matches!(&result, Ok(Some(lines)) if lines.is_empty()) {
            return Then::GoOn;
        }
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(Some(lines)) => {
                tally.total += lines.len();
                tally.lines.insert(index, lines);
            }
            Ok(None) => tally.gone.push(index),
            Err(error) => {
                let mut skipped = 0;
                if let Err(error) = skip(error, &mut skipped) {
                    tally.error = Some(error);
                    return Then::Stop;
                }
                if skipped > 0 { tally.skipped.push(index) } else { tally.gone.push(index) }
            }
        }
        tally.trim(self.request.max_matches);
        if tally.total > self.request.max_matches
            && let Some((last, _)) = tally.lines.last_key_value()
        {
            self.last.store(*last, Ordering::Relaxed);
        }
        Then::GoOn
    }

    /// Returns the result of a scan over this many files.
    pub(super) fn finish(self, files: usize) -> ScanOutcome {
        let tally = self.tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        let scanned = files.min(self.last.into_inner().saturating_add(1));
        let before = |indices: &[usize]| indices.iter().filter(|index| **index < scanned).count();
        let (skipped, gone) = (before(&tally.skipped), before(&tally.gone));
        let lines = tally.lines.into_iter();
        ScanOutcome {
            lines: lines
                .flat_map(|(file, lines)| lines.into_iter().map(move |line| (file, line)))
                .collect(),
            matches_found: tally.total,
            files_scanned: scanned - skipped - gone,
            files_skipped: skipped,
        }
    }
}

impl ScanTally {
    /// Drops the last files while one match too many is left without them.
    fn trim(&mut self, max: usize) {
        while let Some(entry) = self.lines.last_entry() {
            let count = entry.get().len();
            if self.total - count <= max {
                break;
            }
            entry.remove();
            self.total -= count;
        }
    }
}

fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff")
}

/// Reads a file of this expected size into a reused buffer.
fn read_whole<'b>(file: &mut File, size: u64, buffer: &'b mut Vec<u8>) -> io::Result<&'b [u8]> {
    let expected = usize::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // One byte more, so that a read can report the end of the file.
    if buffer.len() <= expected {
        buffer.resize(expected + 1, 0);
    }
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                if filled == expected {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(&buffer[..filled])
}
