//! Reading the arguments of `fs.apply_patch`.

use serde_json::{Value as Json, json};

use super::*;
use crate::policy::rules::RuleSet;
use crate::tool::text_patch::Replacement;

fn parse(arguments: Json) -> Result<Call, Refusal> {
    Call::parse("fs.apply_patch", &arguments.to_string(), &Policy::default())
}

#[track_caller]
fn patches(arguments: Json) -> Vec<FilePatchCall> {
    match parse(arguments) {
        Ok(Call::Patch(call)) => call.patches,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check_refused(arguments: Json, says: &[&str]) {
    let refusal = parse(arguments).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::InvalidArguments, "{refusal:?}");
    for part in says {
        assert!(refusal.message.contains(part), "{} lacks {part}", refusal.message);
    }
}

fn replace(path: &str) -> Json {
    json!({"path": path, "operation": "replace", "edits": [{"old": "a", "new": "b"}]})
}

fn edit(all: bool) -> Operation {
    let edit = Replacement { old: "a".into(), new: "b".into(), all };
    Operation::Text(TextPatch::Replace(vec![edit]))
}

fn envelope(path: &str, lines: &str) -> Json {
    let diff = format!("*** Begin Patch\n{lines}*** End Patch\n");
    json!({"path": path, "operation": "diff", "diff": diff})
}

const DIFF: &str = "--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-a\n+b\n";

#[test]
fn each_operation_has_its_own_key() {
    let [patch] = patches(replace("x.md")).try_into().unwrap();
    assert_eq!((patch.path.to_string(), patch.if_match), ("@project/x.md".to_owned(), None));
    assert_eq!(patch.operation, edit(false));
    let all = json!({"path": "x.md", "operation": "replace", "edits": [{"old": "a", "new": "b", "all": true}]});
    assert_eq!(patches(all)[0].operation, edit(true));
    let diff = patches(json!({"path": "x.md", "operation": "diff", "diff": DIFF}));
    assert!(matches!(diff[0].operation, Operation::Text(TextPatch::Diff(_))));
    let begin = "*** Begin Patch\n*** Update File: x.md\n@@\n-a\n+b\n*** End Patch\n";
    assert_eq!(patches(json!({"path": "x.md", "operation": "diff", "diff": begin})).len(), 1);
    let update = json!({"path": "@state/workflow.md", "operation": "updateFrontmatter", "update": {"variables": {"set": {"x": 1}}}});
    match &patches(update)[0].operation {
        Operation::UpdateFrontmatter(update) => assert_eq!(update.variables["x"], 1),
        other @ (Operation::Text(_) | Operation::Move { .. } | Operation::Delete) => {
            panic!("{other:?}")
        }
    }
}

#[test]
fn what_a_model_fills_in_without_need_does_not_matter() {
    let filled = json!({
        "path": "x.md", "operation": "replace", "edits": [{"old": "a", "new": "b", "all": null}],
        "update": {}, "diff": "", "ifMatchSha256": null
    });
    assert_eq!(patches(filled), patches(replace("x.md")));
    let texts = json!({"path": "x.md", "operation": "replace", "edits": "[{\"old\":\"a\",\"new\":\"b\",\"all\":\"false\"}]"});
    assert_eq!(patches(texts), patches(replace("x.md")));
    let update = json!({"path": "workflow.md", "operation": "updateFrontmatter", "update": "{\"variables.set\":{\"x\":1}}"});
    assert!(matches!(patches(update)[0].operation, Operation::UpdateFrontmatter(_)));
}

#[test]
fn patches_may_be_nested() {
    let plain = patches(replace("x.md"));
    assert_eq!(patches(json!({"patch": replace("x.md")})), plain);
    let mut inner = replace("x.md");
    inner.as_object_mut().unwrap().remove("path");
    assert_eq!(patches(json!({"path": "x.md", "patch": inner})), plain);
    assert_eq!(patches(json!({"path": "x.md", "patch": replace("x.md")})), plain);
    assert_eq!(patches(json!({"path": "x.md", "patches": [inner]})), plain);
    assert_eq!(patches(json!({"patches": [replace("x.md")]})), plain);
    assert_eq!(patches(json!({"patch": replace("x.md").to_string()})), plain);
    let two = patches(json!({"patches": [replace("x.md"), replace("y.md")]}));
    assert_eq!(two[1].path.to_string(), "@project/y.md");
    check_refused(json!({"path": "y.md", "patch": replace("x.md")}), &["`path` is given twice"]);
    check_refused(json!({"patch": replace("x.md"), "patches": [replace("x.md")]}), &["give one"]);
    check_refused(json!({"patches": []}), &["1 to 100 items"]);
    check_refused(json!({"patches": vec![replace("x.md"); 101]}), &["1 to 100 items"]);
    check_refused(json!({"patches": {"path": "x"}}), &["`patches` must be a list"]);
    check_refused(json!({"patches": [DIFF]}), &["a diff belongs in `diff`"]);
    check_refused(
        json!({"patches": [replace("x.md"), {"operation": "replace", "edits": [{"old": "a"}], "mode": 1}]}),
        &[
            "`patches[1].path` is missing",
            "`patches[1].edits[0].new` is missing",
            "unknown key \"mode\" in `patches[1]`",
        ],
    );
}

#[test]
fn what_does_not_fit_together_is_named() {
    check_refused(
        json!({}),
        &[
            "`path` is missing",
            "`edits` is missing, or `diff`, or `update` for `@state/workflow.md`",
        ],
    );
    check_refused(
        json!({"path": "x", "operation": "update"}),
        &["`operation` must be one of `updateFrontmatter`, `replace`, `diff`"],
    );
    check_refused(
        json!({"path": "x", "operation": "replace"}),
        &["`edits` is missing; the operation `replace` needs it"],
    );
    check_refused(
        json!({"path": "x", "operation": "diff", "diff": DIFF, "edits": [{"old": "a", "new": "b"}]}),
        &["`edits` does not belong to the operation `diff`"],
    );
    check_refused(
        json!({"path": "x", "operation": "replace", "edits": [{"old_text": "a", "new_text": "b"}, "x"]}),
        &[
            "unknown key \"old_text\" in `edits[0]` (did you mean `old`?)",
            "unknown key \"new_text\" in `edits[0]` (did you mean `new`?)",
            "`edits[0].old` is missing",
            "`edits[1]` must be an object, but it is a string",
        ],
    );
    check_refused(
        json!({"path": "x.md", "operation": "updateFrontmatter", "update": {"currentNodeId": {"set": "b"}}}),
        &["is for `@state/workflow.md`, not for `@project/x.md`"],
    );
    check_refused(
        json!({"path": "y.md", "operation": "diff", "diff": DIFF}),
        &["The diff is about"],
    );
    check_refused(json!({"path": "x.md", "operation": "diff", "diff": "hello"}), &[]);
    let unknown = json!({"path": "@state/workflow.md", "operation": "updateFrontmatter", "update": {"variable": {"set": {}}}});
    let refusal = parse(unknown).unwrap_err();
    assert!(refusal.details.contains_key("knownKeys"), "{refusal:?}");
    let wrong = json!({"path": "@state/workflow.md", "operation": "updateFrontmatter", "update": {"variable": {"set": {}}}, "edit": 1});
    let refusal = parse(wrong).unwrap_err();
    assert!(refusal.message.contains("unknown key \"edit\""), "{}", refusal.message);
    assert!(refusal.message.contains("unknown keys: \"variable\""), "{}", refusal.message);
    assert!(refusal.details.contains_key("knownKeys"), "{refusal:?}");
}

#[test]
fn the_state_is_patched_alone() {
    let state = json!({"path": "workflow.md", "operation": "updateFrontmatter", "update": {"currentNodeId": {"set": "b"}}});
    assert_eq!(patches(json!({"patches": [state, state]})).len(), 2);
    check_refused(json!({"patches": [replace("x.md"), state]}), &["in a call of its own"]);
}

#[test]
fn a_diff_moves_or_deletes_a_file() {
    let [delete] = patches(envelope("x.md", "*** Delete File: x.md\n")).try_into().unwrap();
    assert_eq!(delete.operation, Operation::Delete);
    let bare = "*** Update File: a/x.md\n*** Move to: steps/y.md\n";
    for (lines, has_change) in [(bare.to_owned(), false), (format!("{bare}@@\n-a\n+b\n"), true)] {
        let [moved] = patches(envelope("a/x.md", &lines)).try_into().unwrap();
        let Operation::Move { to, change } = &moved.operation else { panic!("{moved:?}") };
        // From the root of the project, whatever a path of this kind means elsewhere.
        assert_eq!(
            (to.to_string().as_str(), change.is_some()),
            ("@project/steps/y.md", has_change)
        );
    }
    let beside = "*** Update File: notes/x.md\n*** Move to: notes/y.md\n";
    let [moved] = patches(envelope("@state/notes/x.md", beside)).try_into().unwrap();
    assert!(
        matches!(&moved.operation, Operation::Move { to, .. } if to.to_string() == "@state/notes/y.md")
    );
    let call = parse(envelope("a/x.md", bare)).unwrap();
    assert_eq!(call.places().len(), 2);
    assert_eq!(call.ruled_tools(), ["fs.apply_patch", "fs.move"]);
    assert_eq!(parse(replace("x.md")).unwrap().ruled_tools(), ["fs.apply_patch"]);
}

#[test]
fn a_move_or_deletion_that_cannot_be_meant_is_refused() {
    let stays = ["neither moved nor deleted"];
    check_refused(envelope("@state/workflow.md", "*** Delete File: @state/workflow.md\n"), &stays);
    let onto = "*** Update File: x.md\n*** Move to: @state/workflow.md\n";
    check_refused(envelope("x.md", onto), &stays);
    let same = "*** Update File: x.md\n*** Move to: ./x.md\n";
    check_refused(envelope("x.md", same), &["name another one"]);
    let delete = envelope("x.md", "*** Delete File: x.md\n");
    for other in [replace("x.md"), delete.clone()] {
        check_refused(json!({"patches": [delete, other]}), &["`@project/x.md`", "in two calls"]);
    }
    let moved = envelope("y.md", "*** Update File: y.md\n*** Move to: x.md\n");
    check_refused(json!({"patches": [moved, delete]}), &["`@project/x.md`", "in two calls"]);
    for (to, code) in [("@pkg/x.md", RefusalCode::Sandbox), ("../x.md", RefusalCode::Sandbox)] {
        let lines = format!("*** Update File: y.md\n*** Move to: {to}\n");
        assert_eq!(parse(envelope("y.md", &lines)).unwrap_err().code, code, "{to}");
    }
}

#[test]
fn a_rule_about_deleting_holds_for_patches_too() {
    let set = RuleSet {
        deny: vec!["fs.delete".parse().unwrap()],
        ..RuleSet::none(crate::policy::rules::Source::Run)
    };
    let policy = Policy { rules: vec![set], ..Policy::default() };
    let delete = envelope("x.md", "*** Delete File: x.md\n").to_string();
    let refusal = Call::parse("fs.apply_patch", &delete, &policy).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::ToolNotAvailable);
    assert!(refusal.message.contains("the rule `fs.delete`"), "{}", refusal.message);
    assert!(Call::parse("fs.apply_patch", &replace("x.md").to_string(), &policy).is_ok());
}
