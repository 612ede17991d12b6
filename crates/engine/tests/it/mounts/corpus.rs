//! Hostile paths in every operation: none leaves its mount, none hangs, none reveals a real path.

use crate::proofs::record::proven;
use std::collections::BTreeSet;

use super::fixture::{MountsFixture, check_clean};

/// Beginnings of a path.
const STARTS: [&str; 12] = [
    "",
    "./",
    "@project/",
    "@project/sub/",
    "@pkg/",
    "@state/",
    "@state/logs/",
    "{project-root}/",
    "{artifacts-root}/",
    "{package-root}/",
    "{state-root}/",
    "steps/",
];

/// Forms that may lead out; `T` stands for the target outside.
const FORMS: [&str; 32] = [
    "../T",
    "../../T",
    "sub/../../T",
    "./../T",
    ".././../T",
    "..//T",
    "....//T",
    ".../T",
    "..\\T",
    "sub\\..\\..\\T",
    "../T/",
    "../T/.",
    "..",
    "../",
    "%2e%2e/T",
    "%2e%2e%2fT",
    "..%2fT",
    "..%252fT",
    "..%c0%afT",
    "．．/T",
    "。。/T",
    "‥/T",
    "..;/T",
    "..\0/T",
    ".. /T",
    " ../T",
    "..\u{200b}/T",
    "..\u{202e}/T",
    "\u{feff}../T",
    "..:/T",
    "..::$DATA/T",
    "../T%00.md",
];

/// Complete paths.
const PATHS: [&str; 72] = [
    "",
    " ",
    "\t",
    "\n",
    "/",
    "//",
    "/etc/passwd",
    "//etc/passwd",
    "///etc/passwd",
    "/proc/self/root/etc/passwd",
    "/proc/self/fd/0",
    "/dev/zero",
    "/dev/stdin",
    "\\",
    "\\\\",
    "\\\\host\\share\\x",
    "\\\\?\\C:\\x",
    "\\\\.\\pipe\\x",
    "//host/share/x",
    "//?/C:/x",
    "C:",
    "C:x",
    "C:\\x",
    "C:/Windows/win.ini",
    "c:../x",
    "z:/x",
    "~",
    "~/x",
    "~root/x",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "http://host/x",
    "@",
    "@/",
    "@/x",
    "@project-evil/secret.txt",
    "@projectx",
    "@project..",
    "@project/../project-evil/secret.txt",
    "@PROJECT/inside.txt",
    "@Project/x",
    "@other/x",
    "@project@pkg/x",
    "@pkg/../project/inside.txt",
    "{nowhere}/x",
    "{project-root}../x",
    "{project-root",
    "$HOME/x",
    "${HOME}/x",
    "%USERPROFILE%\\x",
    "con",
    "CON",
    "con.txt",
    "@project/aux",
    "sub/NUL.md",
    "com1",
    "COM¹",
    "lpt9.x",
    "CONIN$",
    "prn ",
    "x:ads",
    "inside.txt:stream",
    "inside.txt::$DATA",
    "a.",
    "a ",
    "a/.",
    "a/./b",
    "a//b",
    "a\u{7f}b",
    "a\u{1b}[31mb",
    "a\rb",
    "a\u{2066}b",
];

fn corpus() -> BTreeSet<String> {
    let mut paths: BTreeSet<String> = PATHS.iter().map(|path| (*path).to_owned()).collect();
    for start in STARTS {
        for form in FORMS {
            for target in ["outside/secret.txt", "secret.txt", "outside"] {
                paths.insert(format!("{start}{}", form.replace('T', target)));
            }
        }
    }
    for long in [
        "x".repeat(255),
        "x".repeat(256),
        "é".repeat(128),
        "x".repeat(4_000),
        "x".repeat(5_000),
        "d/".repeat(60) + "f",
        "d/".repeat(600) + "f",
        "d/".repeat(2_040) + "f",
        "../".repeat(1_300) + "etc/passwd",
        "x/".repeat(2_200),
        format!("@project/{}", "y/".repeat(2_043)),
        "a\u{301}".repeat(80),
    ] {
        paths.insert(long);
    }
    paths
}

#[test]
fn no_path_leaves_its_mount() {
    let fixture = MountsFixture::new();
    let before = fixture.around();
    let corpus = corpus();
    assert!(corpus.len() >= 1_000, "{}", corpus.len());
    let mut answers = 0;
    for path in &corpus {
        let told = fixture.attack(path);
        check_clean(&format!("{path:?}"), &told);
        answers += told.len();
    }
    assert!(answers > corpus.len());
    assert_eq!(fixture.around(), before, "something outside was changed");
    let paths = corpus.len();
    proven(
        "P1-paths",
        &format!("{paths} hostile paths through every tool, {answers} answers; 0 escapes"),
    );
}

#[test]
fn a_real_path_opens_nothing() {
    let fixture = MountsFixture::new();
    let before = fixture.around();
    for target in ["outside/secret.txt", "project/inside.txt", "project", ""] {
        let real = fixture.scratch.path().join(target);
        let real = real.to_str().unwrap();
        for path in [
            real.to_owned(),
            format!("/{real}"),
            format!("@project{real}"),
            format!("@project/{real}"),
            format!("file://{real}"),
        ] {
            for answer in fixture.attack(&path) {
                assert!(!answer.contains(super::fixture::SECRET), "{answer}");
                assert!(!answer.contains("inside\\n"), "{answer}");
            }
        }
    }
    assert_eq!(fixture.around(), before, "something outside was changed");
}
