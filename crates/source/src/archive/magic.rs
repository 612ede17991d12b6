//! Diagnosis of a file that is not a ZIP archive: what it looks like instead.

use crewagent_format::diagnostic::{Code, Diagnostic, Location};

const PACK: &str = "pack the folder with `crewagent package pack`, or give the folder itself";
const AGAIN: &str = "fetch or copy the file again, and compare its size with the original";

/// Signatures of files that users mistake for packages.
const KNOWN: [(&[u8], &str, &str); 14] = [
    (b"\x1f\x8b", "it is a gzip file", PACK),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7z archive", PACK),
    (b"Rar!\x1a\x07", "it is a RAR archive", PACK),
    (b"\xfd7zXZ\0", "it is an xz file", PACK),
    (b"BZh", "it is a bzip2 file", PACK),
    (b"\x28\xb5\x2f\xfd", "it is a zstd file", PACK),
    (b"%PDF-", "it is a PDF document", PACK),
    (b"\x7fELF", "it is a program", PACK),
    (
        b"<!DOCTYPE",
        "it is a web page, perhaps an error message saved in place of the package",
        AGAIN,
    ),
    (
        b"<!doctype",
        "it is a web page, perhaps an error message saved in place of the package",
        AGAIN,
    ),
    (b"<html", "it is a web page, perhaps an error message saved in place of the package", AGAIN),
    (b"PK\x07\x08", "it is one part of an archive that was split", "put the parts together first"),
    (
        b"{",
        "it looks like a JSON file",
        "give the folder that holds `bmad.json`, or a packed `.bmad` file",
    ),
    (
        b"---",
        "it looks like a Markdown file",
        "give the folder that holds `bmad.json`, or a packed `.bmad` file",
    ),
];

/// Builds the finding about a file without a ZIP directory. `head` is its start, `reason` the reader's message.
pub(crate) fn not_an_archive(head: &[u8], len: u64, reason: &str) -> Diagnostic {
    let (what, help) = if len == 0 {
        ("the file is empty (0 bytes)".to_owned(), AGAIN)
    } else if let Some((_, what, help)) = KNOWN.iter().find(|(magic, _, _)| head.starts_with(magic))
    {
        (format!("the file is not a ZIP archive: {what}"), *help)
    } else if head.get(257..262) == Some(b"ustar".as_slice()) {
        ("the file is not a ZIP archive: it is a tar archive".to_owned(), PACK)
    } else if head.starts_with(b"PK\x03\x04") {
        let what = format!(
            "the ZIP archive cannot be read: its directory, which stands at the end, is missing or damaged ({reason}); \
             the file has {len} bytes and is probably cut off"
        );
        (what, AGAIN)
    } else if head.starts_with(b"PK") {
        (format!("the ZIP archive cannot be read: {reason}"), AGAIN)
    } else {
        ("the file is not a ZIP archive".to_owned(), PACK)
    };
    Diagnostic::new(Code::NotAnArchive, Location::file(""), what).help(help)
}
