//! The archives in `tests/packages/bad`: one for each code of the gate, written by the builder of the testkit.
//!
//! `cargo xtask accept fixtures` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use crewagent_format::diagnostic::Code;
use crewagent_source::{OpenResult, PackageLimits, Source};
use crewagent_testkit::archive::{ENCRYPTED, ZipEntry};

use crate::support::with;

/// Returns an archive, and the `[limits]` to read it with.
#[allow(clippy::wildcard_enum_match_arm, reason = "the others are not about archives")]
fn case(code: Code) -> Option<(Vec<u8>, &'static str)> {
    let asset = |name: &str| ZipEntry::stored(name, "An asset.\n");
    let archive = match code {
        Code::NotAnArchive => return Some((b"This is a letter, not an archive.\n".to_vec(), "")),
        Code::AbsoluteEntry => with(asset("/etc/cron.d/evil")),
        Code::ParentEntry => with(asset("../outside.md")),
        Code::BadEntryName => with(asset("assets/aux.md")),
        Code::LinkEntry => with(ZipEntry::link("assets/link.md", "/etc/passwd")),
        Code::DuplicateEntry => with(asset("assets/a.md")).with(asset("assets/a.md")),
        Code::CaseCollision => with(asset("assets/a.md")).with(asset("assets/A.md")),
        Code::EncryptedEntry => with(asset("assets/secret.md").flags(ENCRYPTED)),
        Code::TooManyEntries => {
            return Some((with(asset("assets/a.md")).bytes(), "max-entries = 5"));
        }
        Code::PackageTooLarge => {
            return Some((with(asset("assets/a.md")).bytes(), "max-unpacked-bytes = 1024"));
        }
        Code::FileTooLarge => {
            let archive = with(ZipEntry::stored("assets/large.md", "Large. ".repeat(300)));
            return Some((archive.bytes(), "max-file-bytes = 2048"));
        }
        Code::RatioTooHigh => with(ZipEntry::file("assets/blank.dat", vec![0; (1 << 20) + 1])),
        Code::UnknownCompression => with(asset("assets/a.md").method(12)),
        Code::CorruptEntry => with(asset("assets/a.md").crc(0)),
        Code::FileAndFolder => with(asset("assets")).with(asset("assets/a.md")),
        _ => return None,
    };
    Some((archive.bytes(), ""))
}

fn folder(code: Code) -> PathBuf {
    let name = format!("{}-{}", code.as_str(), code.name());
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/packages/bad").join(name)
}

/// Returns the text of `case.toml`, if there is one.
fn case_file(limits: &str) -> Option<String> {
    (!limits.is_empty()).then(|| {
        format!("# Small limits, so that a small archive breaks them.\n[limits]\n{limits}\n")
    })
}

/// Rewrites the fixtures on request, before any test reads them.
fn update() {
    static DONE: Once = Once::new();
    if !crewagent_testkit::accept::is_accepting("fixtures") {
        return;
    }
    DONE.call_once(|| {
        for code in Code::ALL {
            let Some((bytes, limits)) = case(*code) else { continue };
            fs::create_dir_all(folder(*code)).unwrap();
            fs::write(folder(*code).join("package.zip"), bytes).unwrap();
            if let Some(text) = case_file(limits) {
                fs::write(folder(*code).join("case.toml"), text).unwrap();
            }
        }
    });
}

#[test]
fn the_bad_archives_are_what_the_builder_makes() {
    update();
    for code in Code::ALL {
        let Some((bytes, limits)) = case(*code) else { continue };
        let (archive, settings) =
            (folder(*code).join("package.zip"), folder(*code).join("case.toml"));
        assert!(
            fs::read(&archive).is_ok_and(|own| own == bytes),
            "{}: run `cargo xtask accept fixtures`",
            archive.display()
        );
        assert_eq!(fs::read_to_string(&settings).ok(), case_file(limits), "{}", settings.display());
    }
}

#[test]
fn each_bad_archive_is_refused_for_its_code_alone() {
    update();
    let mut seen = 0;
    for code in Code::ALL {
        let Some((_, limits)) = case(*code) else { continue };
        let limits: PackageLimits = toml::from_str(limits).unwrap();
        let OpenResult::Refused(findings) =
            Source::open(&folder(*code).join("package.zip"), &limits).unwrap()
        else {
            panic!("{} passed", code.as_str());
        };
        assert_eq!(findings.counts().keys().collect::<Vec<_>>(), [code]);
        for found in findings.iter() {
            assert!(found.help.is_some(), "{} has no help", code.as_str());
        }
        seen += 1;
    }
    assert_eq!(seen, Code::ALL.iter().filter(|code| code.as_str().starts_with("BM1")).count());
}
