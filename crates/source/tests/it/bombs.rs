//! Small archives that unpack to gigabytes are refused at once, in little memory.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use crewagent_source::{OpenResult, PackageLimits, Source};
use crewagent_testkit::archive::{ZipArchive, ZipEntry, checksum, deflated, deflated_zeros};
use crewagent_testkit::process;

use crate::support::{describe, scratch, with, write};

/// Processor time that opening may take; unpacking gigabytes would take minutes in an unoptimized build.
const MOST_TIME: Duration = Duration::from_secs(30);
const MOST_MEMORY_KIB: u64 = 128 * 1024;

/// Set for the child process that opens one bomb, so that its memory can be measured.
const CHILD: &str = "CREWAGENT_TEST_BOMB";

fn check_bomb(bytes: &[u8], expected: &[&str]) {
    let scratch = scratch();
    let path = write(scratch.path(), "bomb.zip", bytes);
    let codes = open(&path);
    assert_eq!(codes, expected);
    check_memory(&path);
}

/// Returns the codes, each once.
fn open(path: &Path) -> Vec<String> {
    let before = process::time();
    let opened = Source::open(path, &PackageLimits::default()).unwrap();
    let took = process::time().saturating_sub(before);
    assert!(took < MOST_TIME, "it took {took:?}");
    let OpenResult::Refused(findings) = opened else { return Vec::new() };
    let mut codes: Vec<_> =
        describe(Some(&findings)).iter().map(|told| told[..5].to_owned()).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// Opens the bomb in a child process and checks its peak memory.
fn check_memory(path: &Path) {
    if !cfg!(target_os = "linux") {
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bombs::in_a_process_of_its_own", "--nocapture"])
        .env(CHILD, path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let peak = text.split("peak-kib=").nth(1).and_then(|rest| rest.split_whitespace().next());
    let peak: u64 = peak.unwrap_or_else(|| panic!("no peak in {text}")).parse().unwrap();
    assert!(peak < MOST_MEMORY_KIB, "it took {peak} KiB");
}

#[test]
fn in_a_process_of_its_own() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    open(Path::new(&path));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("peak-kib={} ", peak.trim().trim_end_matches("kB").trim());
}

#[test]
fn an_entry_of_two_gibibytes() {
    let packed = deflated_zeros(2048);
    assert!(packed.len() < 3 << 20);
    let honest = with(ZipEntry::packed("assets/zeros", packed.clone(), 2 << 30));
    check_bomb(&honest.bytes(), &["BM110", "BM111", "BM112"]);
    // The archive claims to be small, or just small enough.
    let lying = with(ZipEntry::packed("assets/zeros", packed.clone(), 1_000));
    check_bomb(&lying.bytes(), &["BM114"]);
    let lying = with(ZipEntry::packed("assets/zeros", packed, 64 << 20));
    check_bomb(&lying.bytes(), &["BM114"]);
}

#[test]
fn a_stored_entry_that_says_it_has_two_gibibytes() {
    let entry = ZipEntry::stored("assets/x", "x").size(2 << 30).packed_size(2 << 30);
    check_bomb(&with(entry).bytes(), &["BM110", "BM111", "BM114"]);
}

#[test]
fn overlapping_entries_that_unpack_to_four_gibibytes() {
    let names: Vec<String> = (0..220).map(|n| format!("{n:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bytes = ZipArchive::overlapping(&names, &vec![0; 20 << 20]);
    assert!(bytes.len() < 60_000, "{} bytes", bytes.len());
    check_bomb(&bytes, &["BM110", "BM112", "BM114"]);
}

#[test]
fn overlapping_entries_within_all_other_limits() {
    let names: Vec<String> = (0..400).map(|n| format!("{n:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    check_bomb(&ZipArchive::overlapping(&names, &vec![0; 1_000_000]), &["BM114"]);
}

#[test]
fn a_hundred_thousand_entries() {
    let many =
        |count: usize| ZipArchive::of((0..count).map(|n| ZipEntry::stored(format!("{n}"), "")));
    check_bomb(&many(100_000).zip64().bytes(), &["BM109"]);
    check_bomb(&many(70_000).zip64().bytes(), &["BM109"]);
    // The end record without ZIP64 counts 70,000 entries as 4,464.
    check_bomb(&many(70_000).bytes(), &["BM114"]);
}

#[test]
fn few_entries_that_need_a_hundred_thousand_folders() {
    let deep = |n: usize| ZipEntry::stored(format!("{n}{}", "/a".repeat(500)), "");
    check_bomb(&ZipArchive::of((0..1_000).map(deep)).bytes(), &["BM109"]);
}

#[test]
fn names_as_long_as_the_format_allows() {
    let long = |n: usize| ZipEntry::stored(format!("{n:05}{}", "x".repeat(60_000)), "");
    check_bomb(&ZipArchive::of((0..1_000).map(long)).bytes(), &["BM104"]);
}

#[test]
fn a_file_full_of_end_records() {
    check_bomb(&b"PK\x05\x06".repeat(1 << 20), &["BM101"]);
    check_bomb(&b"PK\x06\x06\0\0PK\x05\x06\xff\xff\xff\xff\xff\xff".repeat(1 << 20), &["BM101"]);
}

/// Checks a file of this size of which only the ends are written: a ZIP64 end record that claims all of it.
fn check_sparse(size: u64, expected: &[&str]) {
    let scratch = scratch();
    let path = scratch.path().join("bomb.zip");
    let mut file = File::create(&path).unwrap();
    let zeros = |count: usize| vec![0; count];
    let end_at = size - 42;
    file.write_all(&[&b"PK\x06\x06"[..], &(end_at - 12).to_le_bytes(), &zeros(44)].concat())
        .unwrap();
    file.seek(SeekFrom::Start(end_at)).unwrap();
    file.write_all(&[&b"PK\x06\x07"[..], &zeros(12), &[1, 0, 0, 0]].concat()).unwrap();
    file.write_all(&[&b"PK\x05\x06\0\0\0\0"[..], &[0xff; 12], &[0, 0]].concat()).unwrap();
    assert_eq!(open(&path), expected);
    check_memory(&path);
}

#[test]
fn an_end_record_that_claims_the_whole_file() {
    check_sparse(1_000 << 20, &["BM101"]);
    check_sparse(1 << 40, &["BM110"]);
}

#[test]
fn what_passes_needs_little_memory_too() {
    let content = vec![b'x'; 1 << 20];
    let (packed, crc) = (deflated(&content), checksum(&content));
    let mib = |n: usize| ZipEntry::packed(format!("{n}"), packed.clone(), 1 << 20).crc(crc);
    check_bomb(&ZipArchive::of((0..128).map(mib)).bytes(), &[]);
}
