//! Notes: findings that need no change. They are counted unless they were asked for, and fail nothing.

use crate::support::{CliFixture, example};

#[test]
fn packing_for_an_older_version_says_what_is_lost() {
    let world = CliFixture::new();
    let flow = example("market-stall");
    let ran = world.run(&["package", "pack", &flow, "--format", "1.2", "-o", "old.bmad"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("note[BM313]: `gate` is left out"), "{ran:?}");
    assert!(ran.err.contains("no errors, no warnings, "), "{ran:?}");
    let ran = world.run(&["package", "validate", "old.bmad", "--format", "short"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let args = ["package", "pack", &flow, "--format", "1.1", "-o", "older.bmad", "--json"];
    let ran = world.run(&args);
    let packed: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(packed["leftOut"][0]["severity"], "note");
    assert!(packed["leftOut"].as_array().unwrap().len() > 10);
    let ran = world.run(&["package", "validate", &flow, "--deny-warnings"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
}
