//! `fs.write` with `from`: templates are copied and drafts are saved by reference.

use crewagent_core::refusal::RefusalCode;
use crewagent_engine::tools::SavedText;
use crewagent_format::integrity::Digest;
use serde_json::{Value as Json, json};

use super::fixture::ToolsFixture;

const DRAFT: &str = "@state/drafts/vision.md";
const DOCUMENT: &str = "@project/docs/brief.md";

fn fixture(document: &str) -> ToolsFixture {
    let fixture = ToolsFixture { owns_all: true, ..ToolsFixture::new() };
    fixture.put(DRAFT, "# Vision\n\nA ferry.\n").put(DOCUMENT, document);
    fixture
}

#[track_caller]
fn check_copied(fixture: &ToolsFixture, more: Json, expected: &str) {
    let mut arguments = json!({ "path": DOCUMENT, "from": DRAFT });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let outcome = fixture.call("fs.write", arguments);
    assert!(outcome.answer.refused.is_none(), "{}", outcome.text());
    assert_eq!(fixture.text(DOCUMENT), expected);
}

#[test]
fn a_draft_is_saved_at_its_place() {
    check_copied(&fixture("old\n"), json!({}), "# Vision\n\nA ferry.\n");
    check_copied(&fixture("# T\n"), json!({ "mode": "append" }), "# T\n\n# Vision\n\nA ferry.\n");
    let holed = fixture("# T\n\n{{vision}}\n\n# End\n");
    check_copied(&holed, json!({ "section": "vision" }), "# T\n\n# Vision\n\nA ferry.\n\n# End\n");
    // The same again changes nothing.
    let again = json!({ "path": DOCUMENT, "from": DRAFT, "mode": "append" });
    let fixture = fixture("# T\n");
    fixture.call("fs.write", again.clone());
    let answer = fixture.call("fs.write", again).answer;
    assert!(answer.repeats, "{answer:?}");
    let [saved] = &answer.saved[..] else { panic!("{answer:?}") };
    assert_eq!((saved.name.as_str(), saved.path.as_str()), ("vision", "docs/brief.md"));
    assert_eq!((saved.bytes, saved.sha256.len()), (19, 64));
}

#[test]
fn what_was_saved_before_is_replaced() {
    let text = "# Vision\n\nA boat.\n";
    let mut fixture = fixture(&format!("# T\n\n{text}\n# End\n"));
    fixture.saved =
        vec![SavedText { name: "vision".into(), path: "docs/brief.md".into(), text: text.into() }];
    check_copied(&fixture, json!({ "mode": "append" }), "# T\n\n# Vision\n\nA ferry.\n\n# End\n");
}

#[test]
fn a_copy_that_would_be_another_one_is_refused() {
    let fixture = fixture("old\n");
    let copy = |from: &str, sha256: &Digest| json!({ "path": DOCUMENT, "from": from, "ifFromSha256": sha256.to_string() });
    let other = Digest::of(b"other");
    let code = RefusalCode::Precondition;
    fixture.check_refused(
        "fs.write",
        copy(DRAFT, &other),
        code,
        &["has changed since it was shown"],
    );
    let same = Digest::of(fixture.text(DRAFT).as_bytes());
    fixture.call("fs.write", copy(DRAFT, &same));
    let none = json!({ "path": DOCUMENT, "from": "@state/drafts/none.md" });
    fixture.check_refused("fs.write", none, RefusalCode::NotFound, &["none.md"]);
    fixture.put("@project/bin", b"\0\xff");
    let binary = json!({ "path": DOCUMENT, "from": "bin", "mode": "append" });
    fixture.check_refused("fs.write", binary, RefusalCode::InvalidArguments, &["is no text"]);
    let out = json!({ "path": DOCUMENT, "from": "@project/../x" });
    fixture.check_refused("fs.write", out, RefusalCode::Sandbox, &["climbs up"]);
    let state = json!({ "path": "@state/workflow.md", "from": DRAFT });
    fixture.check_refused("fs.write", state, RefusalCode::InvalidArguments, &["cannot be copied"]);
    fixture.put(DRAFT, "long\n".repeat(1 << 20));
    let long = json!({ "path": DOCUMENT, "from": DRAFT });
    fixture.check_refused("fs.write", long, RefusalCode::WriteLimit, &["the limit is"]);
}

#[test]
fn a_draft_has_a_name_of_one_part() {
    let fixture = fixture("");
    let written = |path: &str| {
        fixture.call("fs.write", json!({ "path": path, "content": "x\n" })).answer.drafted
    };
    assert_eq!(written("@state/drafts/goals.md"), ["goals"]);
    assert!(written("@state/drafts/deep/goals.md").is_empty());
    assert!(written("@project/drafts/goals.md").is_empty());
}
