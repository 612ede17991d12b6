//! The gate answers for any bytes.

use crewagent_format::package::Files;
use crewagent_source::{OpenResult, PackageLimits, Source};
use crewagent_testkit::archive::{ZipArchive, ZipEntry};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::support::{entries, scratch, write};

fn limits() -> PackageLimits {
    PackageLimits {
        max_entries: 50,
        max_unpacked_bytes: 1 << 20,
        max_file_bytes: 1 << 19,
        max_ratio: 100,
    }
}

/// Checks that the gate refuses the bytes, or that what it lets through can be read.
fn check_answered(bytes: &[u8]) {
    let scratch = scratch();
    let path = write(scratch.path(), "x.zip", bytes);
    match Source::open(&path, &limits()).unwrap() {
        OpenResult::Refused(findings) => assert!(findings.has_errors()),
        OpenResult::Passed(source) => {
            for (path, size) in source.sizes() {
                assert_eq!(source.read(path).unwrap().len() as u64, *size);
            }
        }
    }
}

fn archive() -> Vec<u8> {
    ZipArchive::of(entries())
        .with(ZipEntry::folder("assets/"))
        .with(ZipEntry::file("assets/größe.md", "text ".repeat(100)))
        .with(ZipEntry::file("assets/b", [7; 300]))
        .comment(b"a comment")
        .bytes()
}

#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Cut(Index),
    Remove(Index, usize),
    Insert(Index, Vec<u8>),
    Copy(Index, Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (any::<Index>(), prop_oneof![any::<u8>(), Just(0), Just(0xff), Just(1)]).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => (any::<Index>(), 1..40_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        1 => (any::<Index>(), prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        1 => (any::<Index>(), any::<Index>(), 1..80_usize).prop_map(|(from, to, count)| Change::Copy(from, to, count)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    match change {
        Change::Set(at, byte) => *at.get_mut(bytes) = *byte,
        Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Change::Remove(at, count) => {
            let at = at.index(bytes.len());
            bytes.drain(at..(at + count).min(bytes.len()));
        }
        Change::Insert(at, new) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, new.iter().copied());
        }
        Change::Copy(from, to, count) => {
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            let piece = bytes[from..(from + count).min(bytes.len())].to_vec();
            let end = (to + piece.len()).min(bytes.len());
            bytes.splice(to..end, piece);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check_answered(&bytes);
    }

    #[test]
    fn a_changed_archive_is_answered(changes in prop::collection::vec(change(), 1..6)) {
        let mut bytes = archive();
        changes.iter().for_each(|change| apply(&mut bytes, change));
        check_answered(&bytes);
    }

    #[test]
    fn a_changed_directory_is_answered(changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4)) {
        let mut bytes = archive();
        let directory = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
        for (at, byte) in changes {
            *at.get_mut(&mut bytes[directory..]) = byte;
        }
        check_answered(&bytes);
    }
}
