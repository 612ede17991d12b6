//! Tests of the diffs that people, git and models write, and of the files that they name.

use super::tests::apply_diff;
use super::{FileChangeKind, FilePatch};
use crate::refusal::RefusalCode;
use crate::vpath::VPath;

/// Describes a file patch in one line: the operation, the path, the number of hunks.
fn outline(file: &FilePatch) -> String {
    let path = file.path.as_deref().unwrap_or("-");
    match &file.change {
        FileChangeKind::Add(text) => format!("add {path} {text:?}"),
        FileChangeKind::Delete => format!("delete {path}"),
        FileChangeKind::Update(hunks) => format!("update {path} {}", hunks.count()),
        FileChangeKind::Move { to, hunks } => format!("move {path} {to} {}", hunks.count()),
    }
}

#[track_caller]
fn check_files(diff: &str, expected: &[&str]) {
    let files = FilePatch::parse_all(diff).unwrap();
    assert_eq!(files.iter().map(outline).collect::<Vec<_>>(), expected, "{diff:?}");
}

#[track_caller]
fn check_malformed(diff: &str, message: &str) {
    let refusal = FilePatch::parse(diff).unwrap_err();
    assert_eq!((refusal.message.as_str(), refusal.code), (message, RefusalCode::InvalidArguments));
}

/// Checks that a diff changes `old` into `new` in a text of `ctx`, `old`.
#[track_caller]
fn check_understood(diff: &str) {
    assert_eq!(apply_diff("ctx\nold\n", diff).as_deref(), Ok("ctx\nnew\n"), "{diff:?}");
}

#[test]
fn a_unified_diff_names_its_file_in_many_ways() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    check_files(hunk, &["update - 1"]);
    check_files(&format!("--- a/x/f.md\n+++ b/x/f.md\n{hunk}"), &["update x/f.md 1"]);
    check_files(&format!("--- x/f.md\n+++ x/f.md\n{hunk}"), &["update x/f.md 1"]);
    check_files(&format!("--- a/f\n+++ a/f\n{hunk}"), &["update a/f 1"]);
    check_files(
        &format!("--- f.orig\t2024-01-01 00:00:00\n+++ f\t2024-01-02\n{hunk}"),
        &["update f 1"],
    );
    check_files(&format!("--- \"a/f g\"\n+++ \"b/f g\"\n{hunk}"), &["update f g 1"]);
    check_files(&format!("+++ b/f\n{hunk}"), &["update f 1"]);
    check_files(&format!("--- a/f\n{hunk}"), &["update f 1"]);
    check_files(&format!("--- a/f\r\n+++ b/f\r\n{hunk}"), &["update f 1"]);
    check_files(&format!("Index: f\n=====\n--- f\n+++ f\n{hunk}{hunk}"), &["update f 2"]);
}

#[test]
fn git_adds_deletes_and_moves() {
    let git = "diff --git a/f b/f\nindex 1..2 100644\n";
    check_files(&format!("{git}--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"), &["update f 1"]);
    check_files(
        "diff --git a/f b/f\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n",
        &["add f \"a\\n\""],
    );
    check_files("diff --git a/f b/f\nnew file mode 100644\nindex 0..1\n", &["add f \"\""]);
    check_files("--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", &["delete f"]);
    check_files("diff --git a/f b/f\ndeleted file mode 100644\n", &["delete f"]);
    check_files(
        "diff --git a/f b/g\nsimilarity index 100%\nrename from f\nrename to g\n",
        &["move f g 0"],
    );
    check_malformed(
        "diff --git a/f b/f\nBinary files a/f and b/f differ\n",
        "The diff changes a binary file; only text can be patched.",
    );
}

#[test]
fn an_envelope_names_its_file_and_what_happens() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n-x\n+y\n\
                 *** Delete File: d\n*** End Patch\n";
    check_files(patch, &["add a \"x\\n\"", "move b c 1", "delete d"]);
    check_files("*** Begin Patch\n*** Add File: a\n*** End Patch", &["add a \"\""]);
    check_files("*** Update File: b\n-x\n+y\n", &["update b 1"]);
    check_files(
        "*** Begin Patch\n*** Update File: `b`\n@@ k\n@@ l\n-x\n+y\n@@\n-z\n*** End Patch\n",
        &["update b 2"],
    );
    check_files(
        "*** Begin Patch\n*** Update File: b\n-x\n*** Update File: b\n-y\n*** End Patch\n",
        &["update b 2"],
    );
    check_files(
        "*** Begin Patch\n*** Update File: b\n-x\n*** End Patch\n*** Begin Patch\n*** Delete File: c\n*** End Patch",
        &["update b 1", "delete c"],
    );
}

#[test]
fn wrappers_and_small_slips_are_forgiven() {
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n ctx\n-old\n+new\n*** End Patch";
    check_understood(patch);
    check_understood(&format!("\n\n{patch}\n\n"));
    check_understood(&format!("```\n{patch}\n```\n"));
    check_understood(&format!("```diff\n{patch}\n```"));
    check_understood(&format!("~~~~\n{patch}\n~~~~\n"));
    check_understood(&format!("<<'EOF'\n{patch}\nEOF\n"));
    check_understood(&format!("apply_patch <<\"PATCH\"\n{patch}\nPATCH"));
    check_understood(&format!("```sh\napply_patch <<EOF\n{patch}\nEOF\n```"));
    check_understood(&format!("Here it is:\n{patch}\nDone."));
    check_understood(&patch.replace('\n', "\r\n"));
    check_understood(
        &patch.replace("*** Update", "  *** Update").replace("*** End Patch", " *** End Patch "),
    );
    check_understood(&format!(
        "  {}  ",
        patch.replace("*** Update File: f", "*** Update File: f  ")
    ));
    check_understood(&patch.replace("@@\n", ""));
    check_understood(&patch.replace("*** Update File: f\n", ""));
    check_understood(&patch.replace("@@\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n"));
    check_understood(&patch.replace("\n*** End Patch", ""));
    check_understood(&patch.replace("*** End", "\n\n*** End"));
    check_understood("```diff\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n ctx\n-old\n+new\n```\n");
    check_understood("--- a/f\n+++ b/f\n ctx\n-old\n+new\n");
    check_understood("--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n ctx\n-old\n+new\n*** End Patch\n");
    check_understood(" ctx\n-old\n+new\n");
    check_understood("-old\n+new");
    check_understood(
        "From 1\nSubject: x\n---\n f | 2 +-\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n\
         \x20ctx\n-old\n+new\n-- \n2.39\n",
    );
    check_understood("@@ -1,2 +1,2 @@\n ctx\n-old\n+new\n\n\n");
}

#[test]
fn lines_that_look_like_headers_are_lines_where_the_counts_say_so() {
    let text = "-- a/f\n++ x\n@@ y\nz\n";
    let diff = "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n--- a/f\n+++ b/f\n ++ x\n @@ y\n z\n";
    assert_eq!(apply_diff(text, diff).unwrap(), "++ b/f\n++ x\n@@ y\nz\n");
    let text = "*** End Patch\n```\n";
    let patch =
        "*** Begin Patch\n*** Update File: f\n@@\n *** End Patch\n-```\n+EOF\n*** End Patch\n";
    assert_eq!(apply_diff(text, patch).unwrap(), "*** End Patch\nEOF\n");
}

#[test]
fn a_diff_that_cannot_be_read_says_what_is_wrong() {
    let no_hunk = "The diff has no hunk with lines that begin with `+` or `-`.";
    check_malformed("", no_hunk);
    check_malformed("\n \n", no_hunk);
    check_malformed("please change it", no_hunk);
    check_malformed("```\n```", no_hunk);
    check_malformed("@@ -1 +1 @@\n", no_hunk);
    check_malformed("--- a/f\n+++ b/f\n", "The diff names a file but has no hunk for it.");
    check_malformed("*** Begin Patch\n*** End Patch", "The patch has no section for a file.");
    check_malformed(
        "*** Begin Patch\n*** Update File: f\n*** End Patch",
        "The section for \"f\" has no hunk.",
    );
    check_malformed(
        "*** Begin Patch\n*** Update File: f\n@@\n*** End Patch",
        "The section for \"f\" has no hunk.",
    );
    check_malformed(
        "*** Begin Patch\n*** Add File: f\nx\n*** End Patch",
        "The diff adds a file, but the line \"x\" has no `+`.",
    );
    check_malformed(
        "*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch",
        "The diff is about several files: \"a\", \"b\".",
    );
    check_malformed(
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
        "The diff is about several files: \"f\", \"g\".",
    );
}

#[track_caller]
fn check_target(named: &str, target: &str, expected: bool) {
    let file = FilePatch { path: Some(named.to_owned()), change: FileChangeKind::Delete };
    let target = VPath::parse(target).unwrap();
    assert_eq!(file.check_target(&target).is_ok(), expected, "{named} for {target}");
}

#[test]
fn a_diff_names_the_file_of_its_call_or_none() {
    check_target("@project/docs/a.md", "@project/docs/a.md", true);
    check_target("docs/a.md", "@project/docs/a.md", true);
    check_target("./docs/a.md", "@project/docs/a.md", true);
    check_target("workflow.md", "@state/workflow.md", true);
    check_target("notes/a.md", "@state/notes/a.md", true);
    check_target("a.md", "@project/docs/a.md", false);
    check_target("docs/b.md", "@project/docs/a.md", false);
    check_target("../docs/a.md", "@project/docs/a.md", false);
    let nameless = FilePatch { path: None, change: FileChangeKind::Delete };
    assert!(nameless.check_target(&VPath::parse("a").unwrap()).is_ok());
    let other = FilePatch { path: Some("b".to_owned()), change: FileChangeKind::Delete };
    let refusal = other.check_target(&VPath::parse("a").unwrap()).unwrap_err();
    assert_eq!(refusal.message, "The diff is about \"b\", but the call's path is `@project/a`.");
}
