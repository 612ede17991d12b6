//! Tests of the position of hunks, of the text around them, and of the messages when they do not fit.

use super::{FilePatch, TextPatch, apply};
use crate::refusal::{Refusal, RefusalCode};

pub(super) fn apply_diff(text: &str, diff: &str) -> Result<String, Refusal> {
    apply(text, &TextPatch::Diff(FilePatch::parse(diff)?))
}

#[track_caller]
fn check_diff(text: &str, diff: &str, expected: &str) {
    match apply_diff(text, diff) {
        Ok(made) => assert_eq!(made, expected, "{text:?} with {diff:?}"),
        Err(refusal) => panic!("{refusal:?} for {text:?} with {diff:?}"),
    }
}

#[track_caller]
fn check_unfit(text: &str, diff: &str, message: &str) -> Refusal {
    check_code(text, diff, RefusalCode::Precondition, message)
}

#[track_caller]
fn check_invalid(text: &str, diff: &str, message: &str) {
    check_code(text, diff, RefusalCode::InvalidArguments, message);
}

#[track_caller]
fn check_code(text: &str, diff: &str, code: RefusalCode, message: &str) -> Refusal {
    let refusal = apply_diff(text, diff).unwrap_err();
    assert_eq!((refusal.message.as_str(), refusal.code), (message, code), "{text:?} with {diff:?}");
    assert!(refusal.hint.is_some());
    refusal
}

/// Puts `*** Begin Patch` around hunks for one file.
pub(super) fn envelope(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n")
}

#[track_caller]
fn check_envelope(text: &str, hunks: &str, expected: &str) {
    check_diff(text, &envelope(hunks), expected);
}

#[test]
fn a_hunk_changes_its_lines_and_no_others() {
    check_diff("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
    check_diff("a\nb\nc\n", "@@ -2 +2,2 @@\n-b\n+B\n+B2\n", "a\nB\nB2\nc\n");
    check_diff("a\nb\nc\n", "@@ -1,3 +1 @@\n a\n-b\n-c\n", "a\n");
    check_diff("a\nb\nc\n", "@@ -1,3 +0,0 @@\n-a\n-b\n-c\n", "");
    check_diff("a\nb\nc\n", "@@ -2,0 +3 @@\n+x\n", "a\nb\nx\nc\n");
    check_diff("a\nb\n", "@@\n+x\n-a\n b\n", "x\nb\n");
    check_diff("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n");
    check_diff("日本\n語\n", "@@\n 日本\n-語\n+🌍\n", "日本\n🌍\n");
}

#[test]
fn lines_are_added_at_the_start_and_at_the_end() {
    check_diff("a\n", "@@ -0,0 +1 @@\n+x\n", "x\na\n");
    check_diff("a\nb\n", "@@ -1,2 +1,3 @@\n+x\n a\n b\n", "x\na\nb\n");
    check_diff("a\nb\n", "@@ -2,0 +3 @@\n+x\n", "a\nb\nx\n");
    check_envelope("a\nb\n", "@@\n b\n+x", "a\nb\nx\n");
    check_envelope("a\nb\n", "@@\n+x\n+y", "a\nb\nx\ny\n");
    check_envelope("a\nb\n", "@@\n+x\n*** End of File", "a\nb\nx\n");
    check_envelope("a\nb\n", "+x", "a\nb\nx\n");
}

#[test]
fn an_empty_file_takes_lines_that_are_only_added() {
    check_diff("", "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n");
    check_diff("", "@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n", "a");
    check_envelope("", "@@\n+a", "a\n");
    check_diff("", "@@ -0,0 +1,2 @@\r\n+a\r\n+b\r\n", "a\r\nb\r\n");
    check_unfit("", "@@\n-a\n+b\n", "The hunk matches nowhere in the file.");
}

#[test]
fn several_hunks_are_applied_in_the_order_of_the_file() {
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n";
    check_diff(
        text,
        "@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -7,2 +7,2 @@\n 7\n-8\n+eight\n",
        "one\n2\n3\n4\n5\n6\n7\neight\n",
    );
    check_envelope(text, "@@\n-2\n+two\n@@\n-4\n-5\n@@\n 7\n+7.5", "1\ntwo\n3\n6\n7\n7.5\n8\n");
    // Two hunks may share their context.
    check_envelope(
        text,
        "@@\n-2\n+two\n 3\n 4\n@@\n 3\n 4\n-5\n+five",
        "1\ntwo\n3\n4\nfive\n6\n7\n8\n",
    );
    let refusal = check_unfit(
        text,
        &envelope("@@\n-6\n+six\n@@\n-2\n+two"),
        "Hunk 2 of 2 belongs at line 2, above the end of the hunk before it.",
    );
    assert!(refusal.hint.unwrap().contains("in the order of the file"));
    check_unfit(
        text,
        &envelope("@@\n-2\n+two\n@@\n 2\n-3"),
        "Hunk 2 of 2 belongs at line 2, above the end of the hunk before it.",
    );
    check_unfit(
        text,
        "@@ -5,0 +6 @@\n+x\n@@ -2,0 +3 @@\n+y\n",
        "Hunk 2 of 2 belongs at line 3, above the end of the hunk before it.",
    );
}

#[test]
fn a_patch_is_made_whole_or_not_at_all() {
    check_unfit("a\nb\n", "@@\n-a\n+A\n@@\n-zzz\n+Z\n", "Hunk 2 of 2 matches nowhere in the file.");
}

#[test]
fn wrong_numbers_and_counts_do_no_harm() {
    check_diff("a\nb\nc\n", "@@ -90,3 +70,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
    check_diff("a\nb\nc\n", "@@ -1,9 +1,1 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
    check_diff("a\nb\nc\n", "@@ -1,1 +1,1 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
    check_diff("a\nb\nc\n", "@@ -2 @@\n-b\n+B\n", "a\nB\nc\n");
    check_diff("a\nb\nc\n", "@@ ... @@\n-b\n+B\n", "a\nB\nc\n");
    check_unfit(
        "a\nb\n",
        "@@ -9,0 +10 @@\n+x\n",
        "The hunk only adds, at line 10, but the file has 2 lines.",
    );
}

#[test]
fn the_final_newline_stays_as_it_is_unless_the_diff_says_otherwise() {
    check_diff("a\nb", "@@\n-b\n+B\n", "a\nB");
    check_diff("a\nb\n", "@@\n-b\n+B", "a\nB\n");
    check_diff("a\nb", "@@\n-a\n+A\n", "A\nb");
    check_diff("a\nb", "@@\n b\n+c\n", "a\nb\nc");
    check_envelope("a\nb", "@@\n+c", "a\nb\nc");
    check_diff("a\nb", "@@ -1,2 +1 @@\n a\n-b\n\\ No newline at end of file\n", "a\n");
    check_diff("a\nb", "@@\n a\n-b\n", "a\n");
    check_diff("a\nb\n", "@@\n a\n-b\n", "a\n");
    check_diff("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a\n");
    check_diff("a\n", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", "a");
    check_diff(
        "a",
        "@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n",
        "a\nb",
    );
    check_diff("a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n", "A\nb");
    // A marker on a line that is not the last one is only a mistake.
    check_diff("a\nb\n", "@@\n-a\n+A\n\\ No newline at end of file\n", "A\nb\n");
}

#[test]
fn line_endings_stay_and_new_lines_get_the_usual_one() {
    check_diff(
        "a\r\nb\r\nc\r\n",
        "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+B2\n c\n",
        "a\r\nB\r\nB2\r\nc\r\n",
    );
    check_diff("a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nB\n");
    check_diff("a\r\nb\nc\r\nd\n e\r\n", "@@\n a\n b\n-c\n+C\n d\n", "a\r\nb\nC\r\nd\n e\r\n");
    check_diff("a\r\nb", "@@\n b\n+c\n", "a\r\nb\r\nc");
    check_diff("a\rb\nc\n", "@@\n a\rb\n-c\n+C\n", "a\rb\nC\n");
    check_envelope("a\r\nb\r\n", "@@\n a\n+x", "a\r\nx\r\nb\r\n");
}

#[test]
fn a_byte_order_mark_stays() {
    check_diff("\u{feff}a\nb\n", "@@\n-a\n+A\n b\n", "\u{feff}A\nb\n");
    check_diff("\u{feff}a\nb\n", "@@\n-\u{feff}a\n+\u{feff}A\n", "\u{feff}A\nb\n");
    check_diff("\u{feff}a\n", "@@ -0,0 +1 @@\n+x\n", "\u{feff}x\na\n");
    check_diff("a\n", "\u{feff}@@\n-a\n+A\n", "A\n");
}

#[test]
fn lines_that_stay_keep_the_bytes_of_the_file() {
    check_diff("a  \n\tb\nc\n", "@@\n a\n b\n-c\n+C\n", "a  \n\tb\nC\n");
    check_diff(
        "    if x:\n        y\n",
        "@@\n if x:\n-    y\n+        z\n",
        "    if x:\n        z\n",
    );
    check_diff("a\nb\u{a0}c\nd\n", "@@\n b c\n-d\n+D\n", "a\nb\u{a0}c\nD\n");
    check_diff("“x” – it’s…\nb\n", "@@\n \"x\" - it's...\n-b\n+B\n", "“x” – it’s…\nB\n");
    check_diff("\"x\" - y\nb\n", "@@\n “x” — y\n-b\n+B\n", "\"x\" - y\nB\n");
    check_diff("e\u{301}\nb\n", "@@\n é\n-b\n+B\n", "e\u{301}\nB\n");
    check_diff("   \nb\n", "@@\n \n-b\n+B\n", "   \nB\n");
    // Models forget the space before a line, or see a blank line at the end.
    check_diff("def f():\n  a\n", "@@\ndef f():\n-  a\n+  b\n", "def f():\n  b\n");
    check_diff("a\nb\n", "@@\n a\n-b\n+B\n \n", "a\nB\n");
}

#[test]
fn a_stricter_match_wins() {
    check_diff("  a\na \na\n", "@@\n-a\n+x\n", "  a\na \nx\n");
    check_diff("  a\na \n", "@@\n-a\n+x\n", "  a\nx\n");
    check_diff("“a”\n \"a\"\n", "@@\n-\"a\"\n+x\n", "“a”\nx\n");
}

#[test]
fn a_hunk_with_several_places_is_refused_with_their_lines() {
    let text = "x\na\ny\na\nz\n";
    let refusal =
        check_unfit(text, "@@\n-a\n+b\n", "The hunk matches at more than one place: lines 2, 4.");
    assert_eq!(refusal.details["matches"], serde_json::json!([2, 4]));
    assert!(refusal.hint.unwrap().contains("more unchanged lines"));
    check_unfit(
        text,
        "@@ -9 +9 @@\n-a\n+b\n",
        "The hunk matches at more than one place: lines 2, 4.",
    );
    check_unfit(
        &"a\n".repeat(99),
        "@@\n-a\n+b\n",
        "The hunk matches at more than one place: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more.",
    );
}

#[test]
fn numbers_decide_between_equal_places() {
    let text = "x\na\ny\na\nz\na\n";
    check_diff(text, "@@ -4 +4 @@\n-a\n+b\n", "x\na\ny\nb\nz\na\n");
    check_diff(text, "@@ -2 +2 @@\n-a\n+b\n", "x\nb\ny\na\nz\na\n");
    // Both numbers are two too large.
    check_diff(text, "@@ -5 +5 @@\n-y\n+Y\n@@ -8 +8 @@\n-a\n+b\n", "x\na\nY\na\nz\nb\n");
    // A hunk is not searched above the one before it.
    check_diff(text, "@@\n-z\n+Z\n@@\n-a\n+b\n", "x\na\ny\na\nZ\nb\n");
}

#[test]
fn a_context_line_narrows_the_search() {
    let text =
        "class A:\n  def f(self):\n    return 1\nclass B(A):\n  def f(self):\n    return 1\n";
    let second =
        "class A:\n  def f(self):\n    return 1\nclass B(A):\n  def f(self):\n    return 2\n";
    let first =
        "class A:\n  def f(self):\n    return 2\nclass B(A):\n  def f(self):\n    return 1\n";
    let change = "-    return 1\n+    return 2";
    check_envelope(text, &format!("@@ class B(A):\n{change}"), second);
    check_envelope(text, &format!("@@ class B(A):\n@@   def f(self):\n{change}"), second);
    check_envelope(text, &format!("@@ class B\n{change}"), second);
    check_envelope(text, &format!("@@ class A:\n{change}"), first);
    check_envelope(text, &format!("@@ class A:\n class A:\n   def f(self):\n{change}"), first);
    check_diff(text, &format!("@@ -90 +90 @@ class B(A):\n{change}\n"), second);
    check_envelope(text, "@@ class B(A):\n+  x = 1", &text.replace("B(A):\n", "B(A):\n  x = 1\n"));
    check_unfit(
        text,
        &envelope(&format!("@@   def f(self):\n{change}")),
        "The hunk matches at more than one place: lines 3, 6.",
    );
    check_unfit(
        text,
        &envelope("@@   def f(self):\n+  pass"),
        "The hunk matches at more than one place: lines 2, 5.",
    );
    check_unfit(
        text,
        &envelope("@@ class B(A):\n-class A:\n+class C:"),
        "The hunk matches at line 1, but not after its `@@` line \"class B(A):\".",
    );
}

#[test]
fn a_context_line_may_be_repeated_for_later_hunks() {
    let text = "fn f\na\nb\nc\n";
    check_envelope(text, "@@ fn f\n-a\n+A\n@@ fn f\n-c\n+C", "fn f\nA\nb\nC\n");
}

#[test]
fn a_context_line_that_is_not_there_matters_only_without_a_single_place() {
    let text = "a\nb\na\n";
    check_envelope(text, "@@ the middle part\n-b\n+B", "a\nB\na\n");
    check_unfit(
        text,
        &envelope("@@ somewhere\n-a\n+A"),
        "The hunk matches at more than one place: lines 1, 3.",
    );
    check_unfit(
        text,
        &envelope("@@ qqq\n+A"),
        "The hunk only adds, after the `@@` line \"qqq\", which is not in the file.",
    );
    check_unfit(
        text,
        &envelope("@@ qqq\n-rrr"),
        "The hunk matches nowhere in the file, nor does its `@@` line \"qqq\".",
    );
}

#[test]
fn the_end_of_the_file_decides_where_it_is_named() {
    check_envelope("a\nb\na\n", "@@\n-a\n+x\n*** End of File", "a\nb\nx\n");
    check_envelope("a\nb\na ", "@@\n-a\n+x\n*** End of File", "a\nb\nx");
    check_envelope("a\nb\nc\n", "@@\n-a\n+x\n*** End of File", "x\nb\nc\n");
    check_envelope("a\nb\na\n", "@@\n a\n+x\n \n*** End of File", "a\nb\na\nx\n");
}

#[test]
fn a_hunk_that_matches_nowhere_shows_the_nearest_lines() {
    let text = "fn main() {\n    let total = count(&items);\n    println!(\"{total}\");\n}\n\nfn other() {}\n";
    let diff = "@@ -1,3 +1,3 @@\n fn main() {\n-    let total = count(items);\n+    let total = 0;\n \
                    \x20   println!(\"{total}\");\n";
    let refusal = check_unfit(
        text,
        diff,
        "The hunk matches nowhere in the file. The nearest place is line 1, but line 2 differs \
         from column 23 on.",
    );
    let nearest = serde_json::json!({
        "startLine": 1,
        "endLine": 5,
        "lines": ["fn main() {", "    let total = count(&items);", "    println!(\"{total}\");", "}", ""],
    });
    assert_eq!(refusal.details["nearest"], nearest);
    let hint = "Nothing was changed. Copy the lines exactly as they stand in the file.";
    assert_eq!(refusal.hint.as_deref(), Some(hint));
}

#[test]
fn the_nearest_lines_are_bounded_and_show_what_differs() {
    let long = format!("{}end of it", "word ".repeat(100));
    let text = format!("a\n{long}\nb\n").repeat(40);
    let wanted =
        text.replace("end", "END").lines().map(|line| format!("-{line}\n")).collect::<String>();
    let refusal = apply_diff(&text, &format!("@@\n{wanted}+x\n")).unwrap_err();
    assert!(refusal.message.ends_with("line 1, but line 2 differs from column 501 on."));
    assert!(refusal.to_json().to_string().len() < 6000);
    check_unfit(
        "one\ntwo words here\n",
        "@@\n two words here\n-three\n+3\n",
        "The hunk matches nowhere in the file. The nearest place is line 2, but the file ends after line 2.",
    );
}

#[test]
fn a_change_that_is_made_already_is_recognised() {
    check_unfit(
        "before\nnew words\nafter\n",
        "@@\n before\n-old words\n+new words\n after\n",
        "The hunk does not match, but the file holds its result at line 1.",
    );
    // Such a line may be there by chance.
    check_unfit("}\nb\n", "@@\n-zzz\n+}\n", "The hunk matches nowhere in the file.");
}

#[test]
fn a_patch_that_changes_nothing_is_refused() {
    let message = "The patch changes nothing: the text after it is the text before it.";
    check_invalid("a\nb\n", "@@\n-a\n+a\n", message);
    check_invalid("a\nb\n", "@@\n a\n b\n", message);
    check_invalid("a\r\nb\r\n", "@@\r\n-a\r\n+a\r\n", message);
    check_invalid("", "*** Begin Patch\n*** Add File: f\n*** End Patch\n", message);
}

#[test]
fn a_file_is_added_only_where_there_is_none() {
    check_diff("", "*** Begin Patch\n*** Add File: f\n+a\n+\n+b\n*** End Patch\n", "a\n\nb\n");
    check_diff(
        "",
        "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
        "a\nb",
    );
    check_unfit(
        "old\n",
        "*** Begin Patch\n*** Add File: f\n+a\n*** End Patch\n",
        "The diff adds a file that already exists and is not empty.",
    );
    check_invalid(
        "a\n",
        "*** Begin Patch\n*** Delete File: f\n*** End Patch\n",
        "The diff deletes the file; a patch only changes its text.",
    );
    check_invalid(
        "a\n",
        "*** Begin Patch\n*** Update File: f\n*** Move to: g\n@@\n-a\n+b\n*** End Patch\n",
        "The diff moves the file; a patch only changes its text.",
    );
}

#[test]
fn a_large_patch_is_placed_quickly() {
    let text: String = (0..20_000)
        .map(|at| format!("line {at} of a file of about a megabyte, with some text\n"))
        .collect();
    let hunk = |at: usize| {
        let line = format!("line {} of a file of about a megabyte, with some text", at * 20);
        format!("@@ -1,1 +1,1 @@\n-{line}  \n+changed {at}\n")
    };
    let diff: String = (0..1000).map(hunk).collect();
    let made = apply_diff(&text, &diff).unwrap();
    assert_eq!(made.matches("changed").count(), 1000);
}

#[test]
fn a_hostile_patch_is_refused_before_it_costs_much() {
    let text = format!("{}b\n", "a\n".repeat(400_000));
    let hunk = format!("@@\n{}-b\n+c\n", " a\n".repeat(100));
    assert!(apply_diff(&text, &hunk).is_ok());
    // Half of the lines are candidates, and each fails late.
    let text = "a\nb\n".repeat(200_000);
    let hunk = format!("@@\n{} a\n-a\n+c\n", " a\n b\n".repeat(400));
    let refusal = apply_diff(&text, &hunk.repeat(50)).unwrap_err();
    assert!(refusal.message.starts_with("The file repeats its lines"), "{}", refusal.message);
    let hunk = "@@ no such line\n-x\n+y\n".repeat(1000);
    assert!(apply_diff(&text, &hunk).is_err());
    let refusal = apply_diff(&text, &"@@\n-x\n+y\n".repeat(1001)).unwrap_err();
    assert_eq!(refusal.message, "The diff has more than 1000 hunks for one file.");
    let refusal = apply_diff(&"\n".repeat(600_000), "@@\n-x\n+y\n").unwrap_err();
    assert_eq!(refusal.code, RefusalCode::WriteLimit);
    let refusal = apply_diff("", &"+\n".repeat(3_000_000)).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::WriteLimit);
}
