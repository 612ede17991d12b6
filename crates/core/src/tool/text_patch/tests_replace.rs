//! Guarantees of exact replacements: one place, unchanged bytes around it, and a reason when there is none.

use super::{Replacement, TextPatch, apply};
use crate::refusal::{Refusal, RefusalCode};

fn one(old: &str, new: &str) -> Replacement {
    Replacement { old: old.to_owned(), new: new.to_owned(), all: false }
}

fn every(old: &str, new: &str) -> Replacement {
    Replacement { all: true, ..one(old, new) }
}

fn replaced(text: &str, edits: &[Replacement]) -> Result<String, Refusal> {
    apply(text, &TextPatch::Replace(edits.to_vec()))
}

#[track_caller]
fn check_edits(text: &str, edits: &[Replacement], expected: &str) {
    assert_eq!(replaced(text, edits).as_deref(), Ok(expected), "{text:?}");
}

#[track_caller]
fn check_unfit(text: &str, edits: &[Replacement], message: &str) -> Refusal {
    let refusal = replaced(text, edits).unwrap_err();
    assert_eq!(
        (refusal.message.as_str(), refusal.code),
        (message, RefusalCode::Precondition),
        "{text:?}"
    );
    refusal
}

#[track_caller]
fn check_invalid(edits: &[Replacement], message: &str) {
    let refusal = replaced("a\nb\n", edits).unwrap_err();
    assert_eq!((refusal.message.as_str(), refusal.code), (message, RefusalCode::InvalidArguments));
}

#[test]
fn a_string_is_replaced_where_it_stands() {
    check_edits("a b c", &[one("b", "X")], "a X c");
    check_edits("a\nb\nc\n", &[one("b\n", "")], "a\nc\n");
    check_edits("a\nb\nc", &[one("\nc", "")], "a\nb");
    check_edits("a\nb\n", &[one("a", "x\ny")], "x\ny\nb\n");
    check_edits("é中é\n", &[one("中é", "中e")], "é中e\n");
    check_edits("a", &[one("a", "")], "");
    check_edits("abc", &[one("abc", "abxc")], "abxc");
    check_edits("aa", &[one("aa", "aaa")], "aaa");
}

#[test]
fn edits_are_made_one_after_the_other() {
    check_edits("a b", &[one("a", "b1"), one("b1 b", "c")], "c");
    check_edits("a b a", &[every("a", "x"), one("b", "y")], "x y x");
    check_edits("aaaa", &[every("aa", "b")], "bb");
    check_edits("a\na\n", &[every("a\n", "b\nc\n")], "b\nc\nb\nc\n");
}

#[test]
fn only_line_endings_may_differ() {
    check_edits("a\r\nb\r\nc\r\n", &[one("a\nb", "a\nX\nb")], "a\r\nX\r\nb\r\nc\r\n");
    check_edits("a\nb\n", &[one("a\r\nb", "a\r\nX")], "a\nX\n");
    check_edits("a\r\nb\r\n", &[one("\nb\n", "\n")], "a\r\n");
    check_edits("a\r\nb\nc\r\n", &[one("a\nb\nc", "a\nb\nX")], "a\r\nb\nX\r\n");
    check_edits("a\r\nb\nc\r\n", &[one("b", "X\nY")], "a\r\nX\r\nY\nc\r\n");
    check_edits("a", &[one("a", "b\r\nc")], "b\r\nc");
    check_edits("a\rb\n", &[one("a\rb", "c")], "c\n");
    check_unfit(
        "x\r\ny\r\nx\ny\n",
        &[one("x\ny", "z")],
        "`old` matches at more than one place: lines 1, 3.",
    );
}

#[test]
fn a_byte_order_mark_stays() {
    check_edits("\u{feff}a\n", &[one("a", "b")], "\u{feff}b\n");
    check_edits("\u{feff}a\n", &[one("\u{feff}a", "\u{feff}b")], "\u{feff}b\n");
    check_edits("\u{feff}a\n", &[one("\u{feff}a", "b")], "\u{feff}b\n");
}

#[test]
fn a_string_with_several_places_is_refused_with_their_lines() {
    let refusal = check_unfit(
        "a\nb a\nc\na",
        &[one("a", "x")],
        "`old` matches at more than one place: lines 1, 2, 4.",
    );
    assert_eq!(refusal.details["matches"], serde_json::json!([1, 2, 4]));
    let hint = "Nothing was changed. Add more of the text around it, so that it occurs once, or set `all` to true to \
                change every one.";
    assert_eq!(refusal.hint.as_deref(), Some(hint));
    check_unfit("aaa", &[one("aa", "x")], "`old` matches at more than one place: lines 1, 1.");
    check_unfit(
        &"é\n".repeat(50),
        &[one("é", "x")],
        "`old` matches at more than one place: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more.",
    );
}

#[test]
fn a_string_that_is_nowhere_shows_the_nearest_lines() {
    let text = "# Plan\n\nThe budget is 100 euro.\nThe team has five people.\n";
    let refusal = check_unfit(
        text,
        &[one("budget is 100 EUR.\n", "budget is 200 EUR.\n")],
        "`old` matches nowhere in the file. The nearest place is line 3, which differs.",
    );
    assert_eq!(refusal.details["nearest"]["startLine"], 1);
    assert_eq!(refusal.details["nearest"]["lines"][2], "The budget is 100 euro.");
    check_unfit(
        text,
        &[one("euro.\nThe team has 5", "euro.\nThe team has 6")],
        "`old` matches nowhere in the file. The nearest place is line 3, but line 4 differs from column \
         14 on.",
    );
    check_unfit(
        text,
        &[one("#  Plan", "# X"), one("a", "b")],
        "`old` of edit 1 of 2 matches nowhere in the file. The nearest place is line 1, which differs.",
    );
    let refusal = check_unfit(text, &[one("zzzzzz", "x")], "`old` matches nowhere in the file.");
    assert!(refusal.details.is_empty());
    check_unfit("", &[one("a", "b")], "`old` matches nowhere in the file.");
}

#[test]
fn line_numbers_in_front_of_every_line_are_ignored() {
    let text = "one\ntwo\nthree\n";
    check_edits(text, &[one("2|two", "2|2")], "one\n2\nthree\n");
    check_edits(text, &[one("1|one\n2|two\n", "1|one\n2\n")], "one\n2\nthree\n");
    check_edits(text, &[one("2|two\n3|three", "x\n3|y\nz|z")], "one\nx\ny\nz|z\n");
    check_edits(text, &[one("2|two\n", "")], "one\nthree\n");
    check_edits("a\r\nb\r\n", &[one("1|a\n2|b", "1|a\n2|X")], "a\r\nX\r\n");
    check_edits("x\nx\n", &[every("1|x", "y")], "y\ny\n");
    // Text that stands in the file is meant as it is.
    check_edits("1|a\na\n", &[one("1|a", "1|b")], "1|b\na\n");
    check_edits("1|a\na\n", &[one("1|1|a\n2|a", "1|1|b\n2|a")], "1|b\na\n");
    let nowhere = "`old` matches nowhere in the file.";
    check_unfit(
        text,
        &[one("2|two\nthree", "x")],
        "`old` matches nowhere in the file. The nearest place is line 2, which differs.",
    );
    check_unfit(
        text,
        &[one("|two", "x")],
        "`old` matches nowhere in the file. The nearest place is line 2, which differs.",
    );
    check_unfit(text, &[one("9|zzzzzz", "9|x")], nowhere);
    check_unfit(
        "a\na\n",
        &[one("1|a", "1|b")],
        "`old` matches at more than one place: lines 1, 2.",
    );
    check_unfit("", &[one("1|a", "1|b")], nowhere);
    // Without the numbers nothing would change.
    check_unfit(
        text,
        &[one("2|two", "two")],
        "`old` matches nowhere in the file. The nearest place is line 2, which differs.",
    );
}

#[test]
fn the_reason_may_be_an_edit_before() {
    check_unfit(
        "a\nb\n",
        &[one("a", "x"), one("a\nb", "y")],
        "`old` of edit 2 of 2 is no longer there: an edit before it in this call changed that text.",
    );
    check_unfit(
        "first\nnew text\n",
        &[one("old text", "new text")],
        "`old` does not match, but the file holds its result at line 2.",
    );
}

#[test]
fn an_edit_that_cannot_change_anything_is_refused() {
    check_invalid(&[], "There is no edit.");
    check_invalid(&[one("", "x")], "`old` is empty, so that it stands nowhere and everywhere.");
    check_invalid(
        &[one("a", "a")],
        "`old` and its `new` are the same, so that nothing would change.",
    );
    check_invalid(
        &[one("a", "b"), one("x\r\n", "x\n")],
        "`old` of edit 2 of 2 and its `new` differ only in line endings, which stay as they are in the file.",
    );
    check_invalid(
        &[one("a", "z"), one("z", "a")],
        "The patch changes nothing: the text after it is the text before it.",
    );
    check_invalid(&vec![one("a", "b"); 201], "There are more than 200 edits.");
}

#[test]
fn a_text_cannot_be_blown_up() {
    let refusal = replaced(&"a".repeat(100_000), &[every("a", &"b".repeat(100_000))]).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::WriteLimit);
    let refusal = replaced(&"a".repeat(17 << 20), &[one("b", "c")]).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::WriteLimit);
}

#[test]
fn an_edit_is_read_from_json_as_the_tool_documents_it() {
    let edit: Replacement = serde_json::from_str(r#"{"old":"a","new":"b"}"#).unwrap();
    assert_eq!(edit, one("a", "b"));
    let edit: Replacement = serde_json::from_str(r#"{"old":"a","new":"b","all":true}"#).unwrap();
    assert_eq!(edit, every("a", "b"));
    assert!(serde_json::from_str::<Replacement>(r#"{"old":"a","new":"b","count":2}"#).is_err());
}
