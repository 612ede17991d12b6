//! The archive gate: it refuses every hostile archive for the right reason, and lets good ones pass.

use std::fs;

use crewagent_format::package::Files;
use crewagent_format::path::PackagePath;
use crewagent_source::{OpenResult, PackageLimits, Source, SourceError};
use crewagent_testkit::archive::{ENCRYPTED, SIZES_FOLLOW, ZipArchive, ZipEntry, checksum};

use crate::support::{describe, entries, package, refusal, scratch, with, write};

fn check_refused(archive: &ZipArchive, expected: &[&str]) {
    check_bytes(&archive.bytes(), expected);
}

fn check_bytes(bytes: &[u8], expected: &[&str]) {
    assert_eq!(describe(refusal(bytes, &PackageLimits::default()).as_ref()), expected);
}

/// Checks that the container itself is refused, with a message that has this word.
fn check_not_an_archive(bytes: &[u8], word: &str) {
    let findings = refusal(bytes, &PackageLimits::default()).expect("it is no archive");
    assert_eq!(describe(Some(&findings)), ["BM101 "]);
    let message = &findings.iter().next().unwrap().message;
    assert!(message.contains(word), "{message:?} has no {word:?}");
}

fn check_passes(archive: &ZipArchive) {
    check_refused(archive, &[]);
}

#[test]
fn a_good_archive_passes_and_gives_its_files() {
    let scratch = scratch();
    let path = write(scratch.path(), "any.name", ZipArchive::of_files(package()).bytes());
    let OpenResult::Passed(source) = Source::open(&path, &PackageLimits::default()).unwrap() else {
        panic!("refused")
    };
    assert_eq!(source.sizes().len(), package().len());
    for (name, content) in package() {
        let read = source.read(&PackagePath::new(&name).unwrap()).unwrap();
        assert_eq!(&*read, content.as_bytes(), "{name}");
    }
    let missing = PackagePath::new("not/there.md").unwrap();
    assert_eq!(source.read(&missing).unwrap_err(), "it is gone");
}

#[test]
fn what_other_tools_put_into_an_archive_is_fine() {
    check_passes(&ZipArchive::of(entries()).comment(b"packed by hand"));
    check_passes(&ZipArchive::of(entries()).zip64());
    check_passes(&with(ZipEntry::folder("assets/")).with(ZipEntry::stored("assets/a.md", "a")));
    check_passes(&with(ZipEntry::file("assets/größe.md", "a")));
    check_passes(&with(ZipEntry::file("assets/empty.md", "")));
    check_passes(&with(ZipEntry::stored("assets/a.md", "a").mode(0)));
    check_passes(&with(ZipEntry::stored("assets/a.md", "a").mode(0).system(0)));
    check_passes(&with(ZipEntry::stored("assets/a.md", "a").extra(0x5455, &[1, 0, 0, 0, 0])));
    // Set-uid is never applied, so it is no reason to refuse.
    check_passes(&with(ZipEntry::stored("assets/tool.sh", "a").mode(0o104_755)));
    // Sizes after the content, as streaming tools write them.
    for (signed, wide) in [(true, false), (true, true), (false, false), (false, true)] {
        for content in ["a", ""] {
            let streamed = ZipEntry::file("assets/a.md", content).flags(SIZES_FOLLOW);
            let behind = streamed.descriptor(signed, wide);
            let streamed = streamed.behind(behind);
            check_passes(&with(streamed.clone()));
            check_passes(&with(streamed.clone().local_crc(0).local_sizes(0, 0)));
            // With another entry after it.
            check_passes(&with(streamed).with(ZipEntry::stored("assets/b.md", "b")));
        }
    }
    // Sizes in a ZIP64 field, though they would fit without.
    let wide = [7_u64.to_le_bytes(), 7_u64.to_le_bytes()].concat();
    let entry = ZipEntry::stored("assets/a.md", "content").local_sizes(u32::MAX, u32::MAX);
    check_passes(&with(entry.local_extra(1, &wide)));
    let reserved = ZipEntry::stored("assets/a.md", "content").local_extra(1, &[0; 16]);
    check_passes(&with(reserved));
}

#[test]
fn a_file_that_is_more_than_one_archive_is_refused() {
    let whole = ZipArchive::of(entries()).bytes();
    let other = with(ZipEntry::stored("assets/other.md", "x")).bytes();
    for bytes in [
        [&*other, &whole].concat(),
        [&*whole, &whole].concat(),
        [&*whole, b"trailing"].concat(),
        [&*whole, &[0]].concat(),
        [b"#!/bin/sh\n", &*whole].concat(),
        ZipArchive::of(entries()).prefix(b"#!/bin/sh\n").bytes(),
        ZipArchive::of(entries()).prefix(&other).bytes(),
        ZipArchive::of(entries()).gap(b"gap").bytes(),
        ZipArchive::of(entries()).gap(b"gap").zip64().bytes(),
        ZipArchive::of(entries()).zip64().prefix(b"x").bytes(),
        // The comment holds the end of another archive.
        ZipArchive::of(entries()).comment(&other[other.len() - 22..]).bytes(),
        ZipArchive::of(entries()).comment(b"PK\x05\x06").bytes(),
        // An entry that only readers of local headers see.
        with(ZipEntry::stored("assets/a.md", "a").behind(ZipEntry::stored("x", "").local_header()))
            .bytes(),
        ZipArchive::default().prefix(b"nothing but this").bytes(),
    ] {
        check_bytes(&bytes, &["BM114 "]);
    }
}

#[test]
fn a_header_that_contradicts_the_directory_is_refused() {
    let name = "assets/a.md";
    let entry = || ZipEntry::stored(name, "content");
    let unicode = |of: &[u8], name: &[u8]| [&[1][..], &checksum(of).to_le_bytes(), name].concat();
    let wide = |size: u64, packed: u64| [size.to_le_bytes(), packed.to_le_bytes()].concat();
    let streamed = || entry().flags(SIZES_FOLLOW);
    for (number, entry) in [
        entry().local_flags(ENCRYPTED),
        entry().local_flags(SIZES_FOLLOW),
        entry().local_flags(SIZES_FOLLOW).local_crc(0xdead_beef).local_sizes(1, 7),
        entry().local_crc(1),
        entry().local_sizes(6, 7),
        entry().local_sizes(7, 6),
        // ZIP64 sizes that are missing or wrong.
        entry().local_sizes(u32::MAX, u32::MAX),
        entry().local_sizes(u32::MAX, u32::MAX).local_extra(1, &wide(3, 999_999)),
        entry().local_sizes(u32::MAX, u32::MAX).local_extra(1, &wide(7, 8)),
        entry().local_sizes(u32::MAX, 7).local_extra(1, &[9; 8]),
        entry().local_extra(1, &wide(7, 999)),
        // Sizes after the content that are missing or wrong.
        streamed().behind(b""),
        streamed().behind(entry().crc(1).descriptor(true, false)),
        streamed().behind(entry().size(6).descriptor(true, true)),
        streamed().local_crc(5),
        streamed().local_sizes(0, 6),
        streamed().local_sizes(u32::MAX, u32::MAX).local_extra(1, &wide(7, 6)),
        // Other names in fields that some programs read.
        entry().local_extra(0x7075, &unicode(name.as_bytes(), b"../../evil")),
        entry().local_extra(0x7075, &unicode(b"x", b"../../evil")),
        entry().local_extra(0x7075, &unicode(name.as_bytes(), b"assets/b.md")),
        entry().listed_extra(0x7075, &unicode(b"x", b"../../evil")),
        entry().extra(0x7075, &unicode(b"x", b"assets/b.md")),
        entry().local_extra(0x7075, b"1"),
    ]
    .into_iter()
    .enumerate()
    {
        let told =
            describe(refusal(&with(entry.clone()).bytes(), &PackageLimits::default()).as_ref());
        assert_eq!(told, ["BM114 assets/a.md"], "{number}: {entry:?}");
    }
    let other = entry().listed_extra(0x7075, &unicode(name.as_bytes(), b"assets/b.md"));
    check_refused(&with(other), &["BM114 assets/b.md"]);
    let flagged = ZipEntry::stored("assets/gr\u{f6}\u{df}e.md", "x");
    check_passes(&with(flagged.clone()));
    check_passes(&with(entry().local_flags(1 << 11)));
    let unflagged = ZipEntry::stored(b"assets/\xc3\xb6.md", "x").local_flags(0);
    check_passes(&with(unflagged));
}

#[test]
fn folders_and_ignored_entries_are_checked_too() {
    for (entry, shown) in [
        (ZipEntry::folder("assets/").local_name("../ets/"), "assets/"),
        (ZipEntry::folder("assets/").local_name("../../evil"), "assets/"),
        (ZipEntry::stored(".DS_Store", "x").local_name("../../../x"), ".DS_Store"),
        (ZipEntry::stored("__MACOSX/._x", "x").local_flags(SIZES_FOLLOW), "__MACOSX/._x"),
        (ZipEntry::stored(".git/config", "x").local_sizes(0, 1), ".git/config"),
        (ZipEntry::stored(".git/config", "x").offset(0), ".git/config"),
    ] {
        check_refused(&with(entry), &[&format!("BM114 {shown}")]);
    }
}

#[test]
fn a_unicode_name_beside_an_older_name_is_used() {
    let (old, new) = (b"assets/gr\x94\xe1e.md", "assets/größe.md");
    let field = [&[1][..], &checksum(old).to_le_bytes(), new.as_bytes()].concat();
    let archive = with(ZipEntry::stored(old, "a").extra(0x7075, &field));
    check_passes(&archive);
    let field = [&[1][..], &checksum(old).to_le_bytes(), b"../../evil.md"].concat();
    check_refused(
        &with(ZipEntry::stored(old, "a").extra(0x7075, &field)),
        &["BM103 ../../evil.md"],
    );
}

#[test]
fn names_that_lead_out_are_refused() {
    for name in ["/etc/passwd", "//host/share/x", "\\\\host\\share\\x", "C:\\x", "c:x", "\\x", "/"]
    {
        check_refused(&with(ZipEntry::stored(name, "x")), &[&format!("BM102 {name}")]);
    }
    for name in ["../x", "assets/../../x", "..\\x", "assets\\..\\..\\x", "..", "assets/../x"] {
        check_refused(&with(ZipEntry::stored(name, "x")), &[&format!("BM103 {name}")]);
    }
    check_refused(&with(ZipEntry::folder("../")), &["BM103 ../"]);
    check_refused(&with(ZipEntry::folder("/abs/")), &["BM102 /abs/"]);
}

#[test]
fn names_that_do_not_work_everywhere_are_refused() {
    for name in [
        "a\\b",
        "a//b",
        "./a",
        "a/./b",
        "con",
        "x/aux.md",
        "a.",
        "a ",
        "file:ads",
        "a?",
        "a\u{2215}\u{202e}b",
    ] {
        let shown = name.replace('\u{202e}', "\\u{202e}");
        check_refused(&with(ZipEntry::stored(name, "x")), &[&format!("BM104 {shown}")]);
    }
    check_refused(&with(ZipEntry::stored("a\0b", "x")), &["BM104 a\\u{0}b"]);
    check_refused(&with(ZipEntry::stored("", "x")), &["BM104 "]);
    check_refused(
        &with(ZipEntry::stored(b"assets/\xff\xfe.md", "x")),
        &["BM104 assets/\u{fffd}\u{fffd}.md"],
    );
    let long = "x".repeat(60_000);
    let findings =
        refusal(&with(ZipEntry::stored(&long, "x")).bytes(), &PackageLimits::default()).unwrap();
    assert!(findings.iter().next().unwrap().place.file.chars().count() < 300);
}

#[test]
fn links_and_devices_are_refused() {
    check_refused(&with(ZipEntry::link("assets/l", "/etc/passwd")), &["BM105 assets/l"]);
    check_refused(&with(ZipEntry::link("assets/l", "a.md").system(0)), &["BM105 assets/l"]);
    for mode in [0o010_644, 0o020_644, 0o060_644, 0o140_644, 0o150_000] {
        check_refused(&with(ZipEntry::stored("assets/s", "").mode(mode)), &["BM105 assets/s"]);
    }
    // A link to a folder, then a file through it.
    let archive =
        with(ZipEntry::link("assets/l", "/tmp")).with(ZipEntry::stored("assets/l/x", "x"));
    check_refused(&archive, &["BM105 assets/l", "BM115 assets/l"]);
    check_refused(
        &with(ZipEntry::link("assets/l/", "/tmp")),
        &["BM105 assets/l/", "BM114 assets/l/"],
    );
}

#[test]
fn two_entries_for_one_path_are_refused() {
    let twice = |one: &str, other: &str| {
        with(ZipEntry::stored(one, "x")).with(ZipEntry::stored(other, "y"))
    };
    check_refused(&twice("assets/a.md", "assets/a.md"), &["BM106 assets/a.md"]);
    check_refused(
        &with(ZipEntry::folder("assets/")).with(ZipEntry::folder("assets/")),
        &["BM106 assets"],
    );
    check_refused(&twice("assets/a.md", "assets/A.md"), &["BM107 assets/A.md"]);
    check_refused(&twice("assets/GRÖSSE.md", "assets/grösse.md"), &["BM107 assets/grösse.md"]);
    check_refused(&twice("assets/a.md", "Assets/b.md"), &["BM107 Assets"]);
    check_refused(&twice("assets", "assets/a.md"), &["BM115 assets"]);
    check_refused(&twice("assets/a.md", "assets"), &["BM115 assets"]);
    check_refused(
        &with(ZipEntry::stored("assets", "")).with(ZipEntry::folder("assets/")),
        &["BM115 assets"],
    );
}

#[test]
fn what_cannot_be_unpacked_is_refused() {
    check_refused(&with(ZipEntry::stored("assets/a", "x").flags(ENCRYPTED)), &["BM108 assets/a"]);
    check_refused(&with(ZipEntry::stored("assets/a", "x").method(99)), &["BM108 assets/a"]);
    for method in [1, 6, 9, 12, 14, 93, 95, 98, 77] {
        check_refused(&with(ZipEntry::stored("assets/a", "x").method(method)), &["BM113 assets/a"]);
    }
}

#[test]
fn an_entry_that_contradicts_itself_is_refused() {
    let name = "assets/a.md";
    for entry in [
        ZipEntry::file(name, "content").crc(1),
        ZipEntry::stored(name, "content").crc(1),
        // The size is wrong in both headers or in one.
        ZipEntry::file(name, "content").size(6),
        ZipEntry::file(name, "content").size(8),
        ZipEntry::file(name, "content").size(0),
        ZipEntry::stored(name, "content").size(6),
        ZipEntry::stored(name, "content").size(8),
        ZipEntry::file(name, "content").listed_size(6),
        ZipEntry::file(name, "content").packed_size(3),
        ZipEntry::packed(name, Vec::new(), 7),
        ZipEntry::packed(name, vec![0xff; 9], 7),
        // Bytes after the end of the deflate stream.
        ZipEntry::packed(name, b"\x03\x00rest".to_vec(), 0),
        ZipEntry::stored(name, "content").packed_size(1 << 30).size(1 << 30),
        ZipEntry::stored(name, "content").local_name("assets/b.md"),
        ZipEntry::stored(name, "content").local_name("assets/longer.md"),
        ZipEntry::stored(name, "content").offset(3),
        ZipEntry::stored(name, "content").offset(u32::MAX - 1),
        ZipEntry::stored(name, "content").offset(u32::MAX).extra(1, &[0xff; 8]),
        ZipEntry::stored(name, "content").offset(u32::MAX).extra(1, &(1_u64 << 63).to_le_bytes()),
        ZipEntry::stored(name, "content").mode(0o040_755),
    ] {
        let bytes = with(entry.clone()).bytes();
        let findings = refusal(
            &bytes,
            &PackageLimits {
                max_file_bytes: 1 << 40,
                max_unpacked_bytes: 1 << 40,
                ..PackageLimits::default()
            },
        );
        assert_eq!(describe(findings.as_ref()), ["BM114 assets/a.md"], "{entry:?}");
    }
    check_refused(&with(ZipEntry::stored("assets/", "content")), &["BM114 assets/"]);
}

#[test]
fn an_archive_that_hides_entries_is_refused() {
    let archive = with(ZipEntry::stored("assets/hidden.md", "x"));
    let count = entries().len() as u16;
    check_refused(&archive.clone().count(count), &["BM114 "]);
    check_not_an_archive(&archive.count(count + 5).bytes(), "damaged");
}

#[test]
fn entries_that_share_bytes_are_refused() {
    let bytes = ZipArchive::overlapping(&["assets/a", "assets/b", "assets/c"], b"kernel");
    check_bytes(&bytes, &["BM114 assets/b", "BM114 assets/c"]);
    // Two records with one local header.
    let first = ZipEntry::stored("assets/a.md", "x");
    let twice = ZipArchive::of([first.clone(), first.offset(0)]);
    check_refused(&twice, &["BM106 assets/a.md", "BM114 assets/a.md"]);
}

#[test]
fn a_file_that_is_no_archive_is_explained() {
    check_not_an_archive(b"", "0 bytes");
    check_not_an_archive(b"hello", "not a ZIP archive");
    check_not_an_archive(b"\x1f\x8b\x08rest", "gzip");
    check_not_an_archive(b"7z\xbc\xaf\x27\x1crest", "7z");
    check_not_an_archive(b"Rar!\x1a\x07\x01\0rest", "RAR");
    check_not_an_archive(b"<!DOCTYPE html><title>404</title>", "web page");
    check_not_an_archive(b"{\"schemaVersion\": \"1.1\"}", "JSON");
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    check_not_an_archive(&tar, "tar");
}

#[test]
fn a_cut_archive_is_refused_wherever_it_is_cut() {
    let scratch = scratch();
    let path = write(scratch.path(), "x.zip", ZipArchive::of_files(package()).bytes());
    let file = fs::File::options().write(true).open(&path).unwrap();
    let whole = file.metadata().unwrap().len();
    for length in (1..whole).rev() {
        file.set_len(length).unwrap();
        let OpenResult::Refused(findings) = Source::open(&path, &PackageLimits::default()).unwrap()
        else {
            panic!("passed, cut at {length}")
        };
        assert_eq!(describe(Some(&findings)), ["BM101 "], "cut at {length}");
    }
}

#[test]
fn a_damaged_directory_is_refused() {
    let whole = ZipArchive::of(entries()).bytes();
    let at = whole.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    let mut damaged = whole.clone();
    damaged[at] = b'X';
    check_not_an_archive(&damaged, "no directory");
    let second =
        at + 4 + whole[at + 4..].windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    let mut damaged = whole;
    damaged[second] = b'X';
    check_not_an_archive(&damaged, "damaged");
}

#[test]
fn limits_are_settings() {
    let archive = with(ZipEntry::stored("assets/a.md", [b'x'; 5_000])).bytes();
    let check = |limits: PackageLimits, expected: &[&str]| {
        assert_eq!(describe(refusal(&archive, &limits).as_ref()), expected)
    };
    let default = PackageLimits::default();
    check(PackageLimits { max_entries: 7, ..default }, &["BM109 "]);
    check(PackageLimits { max_entries: 3, ..default }, &["BM109 "]);
    check(PackageLimits { max_entries: 10, ..default }, &[]);
    check(PackageLimits { max_file_bytes: 4_999, ..default }, &["BM111 assets/a.md"]);
    check(PackageLimits { max_file_bytes: 5_000, ..default }, &[]);
    check(PackageLimits { max_unpacked_bytes: 5_000, ..default }, &["BM110 "]);
    let total = 5_000 + package().iter().map(|(_, content)| content.len() as u64).sum::<u64>();
    check(PackageLimits { max_unpacked_bytes: total, ..default }, &[]);
    check(PackageLimits { max_unpacked_bytes: total - 1, ..default }, &["BM110 "]);
}

#[test]
fn a_high_ratio_is_refused_from_one_mebibyte_on() {
    let zeros = |size: usize| with(ZipEntry::file("assets/zeros", vec![0; size]));
    check_passes(&zeros(1 << 20));
    check_refused(&zeros((1 << 20) + 1), &["BM112 assets/zeros"]);
    let generous = PackageLimits { max_ratio: 5_000, ..PackageLimits::default() };
    assert!(refusal(&zeros(1 << 21).bytes(), &generous).is_none());
}

#[test]
fn litter_is_left_out_but_may_not_lead_out() {
    let archive = with(ZipEntry::stored("__MACOSX/._bmad.json", "x"))
        .with(ZipEntry::stored("__MACOSX/._Icon\r", "x"))
        .with(ZipEntry::stored(".DS_Store", "x").crc(9))
        .with(ZipEntry::stored("old.bmad", "x"))
        .with(ZipEntry::link(".git/l", "x"));
    let scratch = scratch();
    let path = write(scratch.path(), "x.zip", archive.bytes());
    let OpenResult::Passed(source) = Source::open(&path, &PackageLimits::default()).unwrap() else {
        panic!("refused")
    };
    assert_eq!(source.sizes().len(), package().len());
    check_refused(&with(ZipEntry::stored("../.DS_Store", "x")), &["BM103 ../.DS_Store"]);
    check_refused(&with(ZipEntry::stored("/x/.git/config", "x")), &["BM102 /x/.git/config"]);
    // Ignored entries count too, so that an archive cannot hide a million of them.
    let tight = PackageLimits { max_entries: 10, ..PackageLimits::default() };
    assert_eq!(describe(refusal(&archive.bytes(), &tight).as_ref()), ["BM109 "]);
}

#[test]
fn all_findings_are_told_at_once() {
    let archive = with(ZipEntry::stored("../x", "x"))
        .with(ZipEntry::link("assets/l", "x"))
        .with(ZipEntry::stored("assets/a", "x").crc(1))
        .with(ZipEntry::stored("assets/b", "x").method(12))
        .with(ZipEntry::stored("assets/B", "x"));
    let expected =
        ["BM103 ../x", "BM107 assets/B", "BM114 assets/a", "BM113 assets/b", "BM105 assets/l"];
    check_refused(&archive, &expected);
}

#[test]
fn what_is_not_there_or_no_file_is_an_error_with_its_path() {
    let scratch = scratch();
    let missing = scratch.path().join("missing.bmad");
    let error = Source::open(&missing, &PackageLimits::default()).unwrap_err();
    assert!(matches!(error, SourceError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("missing.bmad"), "{error}");
    let inside_a_file = write(scratch.path(), "file", "x").join("below.bmad");
    let error = Source::open(&inside_a_file, &PackageLimits::default()).unwrap_err();
    assert!(matches!(error, SourceError::NotFound { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_device_is_an_error_and_no_wait() {
    let scratch = scratch();
    let pipe = scratch.path().join("pipe.bmad");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), std::path::Path::new("/dev/null")] {
        let error = Source::open(path, &PackageLimits::default()).unwrap_err();
        assert!(matches!(error, SourceError::NotAFile { .. }), "{error}");
    }
}

/// Checks that a user who may not read a file gets an error that says so. Root may read every file, so there the unit
/// test of the mapping must do.
#[cfg(unix)]
#[test]
fn a_file_without_permission_is_an_error_unless_the_user_is_root() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = scratch();
    let path = write(scratch.path(), "package.bmad", ZipArchive::of_files(package()).bytes());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::File::open(&path).is_ok();
    match Source::open(&path, &PackageLimits::default()) {
        Ok(_) => assert!(readable),
        Err(error) => assert!(!readable && matches!(error, SourceError::Denied { .. }), "{error}"),
    }
}

#[test]
fn the_archive_may_be_read_from_many_threads() {
    let files: Vec<_> =
        (0..200).map(|n| (format!("assets/{n}.md"), format!("{n} ").repeat(n * 7))).collect();
    let scratch = scratch();
    let path = write(scratch.path(), "x.zip", ZipArchive::of_files(files.clone()).bytes());
    let OpenResult::Passed(source) = Source::open(&path, &PackageLimits::default()).unwrap() else {
        panic!("refused")
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (name, content) in &files {
                    let read = source.read(&PackagePath::new(name).unwrap()).unwrap();
                    assert_eq!(&*read, content.as_bytes());
                }
            });
        }
    });
}
