//! Tests of the rule about outputs: a file counts that this visit created or changed, and that has a content.

use super::*;
use crate::state::fixture::{Drawn, drawn, drawn_with_gate, end, step};
use crate::state::visit_files::OutputAtEntry;

const FILE: &str = "artifacts/x.md";

/// Run at a node that declares these outputs, under the rule that this visit must write them.
fn run(outputs: &[&str]) -> Run {
    let node = Drawn { id: "a", kind: "step", outputs, sets: &[] };
    let edges = json!([{"from": "a", "to": "z", "label": "next"}]);
    let mut run = Run::new(drawn(&[node, end("z")], &edges));
    run.outputs = OutputRule::Changed;
    run.visit.since = Some("2026-11-15T09:59:00Z".parse().unwrap());
    run
}

fn file(text: &str) -> FoundOutput {
    FoundOutput {
        bytes: Some(text.len() as u64),
        sha256: Some(format!("sha of {text}")),
        text: Some(text.to_owned()),
        modified: Some("2026-11-12T09:00:00Z".parse().unwrap()),
        is_sent: false,
    }
}

impl Run {
    /// Returns the run with a file of its project.
    fn holding(mut self, path: &str, file: FoundOutput) -> Self {
        self.contents.insert(path.to_owned(), file);
        self.having(&[path])
    }

    /// Returns the run with a survey that saw a file with this text; none if there was no file.
    fn surveyed(mut self, path: &str, text: Option<&str>, own: bool) -> Self {
        let sha256 = text.map(|text| format!("sha of {text}"));
        self.visit.outputs.insert(path.to_owned(), OutputAtEntry { sha256, own });
        self
    }
}

fn leave() -> Json {
    json!({"currentNodeId.set": "z"})
}

#[track_caller]
fn check_says(run: &Run, expected: &str) {
    let refusal = run.patch(leave()).expect_err("it should have been refused");
    assert_eq!(refusal.code, RefusalCode::Precondition);
    assert_eq!(refusal.message, format!("`a` is not done{expected}"));
}

#[test]
fn a_file_that_this_visit_created_or_changed_counts() {
    let new = run(&[FILE]).surveyed(FILE, None, false).holding(FILE, file("new"));
    check_accepted(new.patch(leave()));
    let changed = run(&[FILE]).surveyed(FILE, Some("old"), false).holding(FILE, file("new"));
    assert!(check_accepted(changed.patch(leave())).kept_outputs().is_empty());
}

#[test]
fn a_file_of_an_earlier_run_is_refused_with_its_size_and_age() {
    let text = "x".repeat(1_234);
    let run = run(&[FILE]).surveyed(FILE, Some(&text), false).holding(FILE, file(&text));
    check_says(
        &run,
        ". artifacts/x.md is from an earlier run (1.2 kB, 3 days old). Write it anew, or send \"keep\": [\"artifacts/x.md\"] if it is right as it is.",
    );
    let refusal = run.patch(leave()).unwrap_err();
    assert_eq!(refusal.details["missing"], json!({"outputs": [FILE], "variables": []}));
    assert_eq!(refusal.hint.unwrap(), "The file is unchanged.");
}

#[test]
fn a_file_that_an_earlier_round_of_the_run_left_is_told_apart() {
    let left = run(&[FILE]).surveyed(FILE, Some("old"), true).holding(FILE, file("old"));
    let rest = "Write it anew, or send \"keep\": [\"artifacts/x.md\"] if it is right as it is.";
    check_says(&left, &format!(". artifacts/x.md is from another node (3 bytes). {rest}"));
    let again = left.with(json!({"stepsCompleted.append": ["a"]}));
    check_says(&again, &format!(". artifacts/x.md is from an earlier visit (3 bytes). {rest}"));
}

#[test]
fn an_old_file_can_be_kept_and_is_recorded_as_kept() {
    let run = run(&[FILE]).surveyed(FILE, Some("old"), false).holding(FILE, file("old"));
    let keep = json!({"currentNodeId.set": "z", "keep": ["@project/artifacts/x.md"]});
    let transition = check_accepted(run.patch(keep));
    assert_eq!(transition.kept_outputs(), [ProjectPath::parse(FILE).unwrap()]);
    assert_eq!(json!(transition)["kept"], json!([FILE]));
}

#[test]
fn a_file_that_is_not_there_cannot_be_kept() {
    let run = run(&[FILE]).surveyed(FILE, None, false).holding(FILE, file("new"));
    let keep = json!({"currentNodeId.set": "z", "keep": ["artifacts/y.md"]});
    let refusal = run.patch(keep).unwrap_err();
    assert_eq!(
        refusal.message,
        "`a` is not done. artifacts/y.md cannot be kept: there is no such file."
    );
}

#[test]
fn an_empty_file_or_a_placeholder_does_not_count() {
    for (text, says) in [
        ("", "is empty."),
        (" \n", "is empty."),
        ("<text>\n", "is only a placeholder. Write the text itself."),
        ("# TODO:\n", "is only a placeholder. Write the text itself."),
    ] {
        let run = run(&[FILE]).surveyed(FILE, None, false).holding(FILE, file(text));
        check_says(&run, &format!(". artifacts/x.md {says}"));
        // An empty file is not right as it is.
        let keep = json!({"currentNodeId.set": "z", "keep": [FILE]});
        assert!(run.patch(keep).unwrap_err().message.ends_with(says), "{text}");
    }
}

#[test]
fn the_bytes_of_a_template_do_not_count() {
    let mut run = run(&[FILE]).surveyed(FILE, None, false).holding(FILE, file("# {{title}}"));
    run.visit.templates.insert("sha of # {{title}}".into(), "@pkg/assets/story.md".into());
    check_says(&run, ". artifacts/x.md is @pkg/assets/story.md as it is. Fill it in.");
}

#[test]
fn a_copied_template_counts_if_gates_add_to_it() {
    for (target, counts) in
        [(FILE, true), ("@project/artifacts/x.md", true), ("artifacts/y.md", false)]
    {
        let nodes =
            [Drawn { id: "a", kind: "step", outputs: &[FILE], sets: &[] }, step("b"), end("z")];
        let edges = json!([
            {"from": "a", "to": "b", "label": "next"},
            {"from": "b", "to": "z", "label": "C", "gate": "C"},
        ]);
        let gate = json!({
            "options": [{"key": "C", "label": "Continue", "does": "edge"}],
            "commit": [{"to": target}],
        });
        let mut run = Run::new(drawn_with_gate(&nodes, &edges, ("b", &gate)));
        run.outputs = OutputRule::Changed;
        let mut run = run.surveyed(FILE, None, false).holding(FILE, file("# {{title}}"));
        run.visit.templates.insert("sha of # {{title}}".into(), "@pkg/assets/story.md".into());
        let left = run.patch(json!({"currentNodeId.set": "b"}));
        assert_eq!(left.is_ok(), counts, "{target}: {left:?}");
    }
}

#[test]
fn all_faults_are_named_at_once() {
    let declared = [FILE, "artifacts/y.md", "artifacts/empty.md", "artifacts/<v>.md"];
    let run = run(&declared)
        .surveyed(FILE, Some("old"), false)
        .holding(FILE, file("old"))
        .holding("artifacts/empty.md", file(""));
    check_says(
        &run,
        ": missing files: `artifacts/y.md`. artifacts/x.md is from an earlier run (3 bytes, 3 days old). Write it anew, or send \"keep\": [\"artifacts/x.md\"] if it is right as it is. artifacts/empty.md is empty. artifacts/<v>.md has no name yet: no simple value for `v`.",
    );
}

#[test]
fn a_name_that_was_not_known_at_entry_counts_if_it_was_written_since() {
    let old = run(&[FILE]).holding(FILE, file("old"));
    check_says(
        &old,
        ". artifacts/x.md is from an earlier run (3 bytes, 3 days old). Write it anew, or send \"keep\": [\"artifacts/x.md\"] if it is right as it is.",
    );
    let mut written = run(&[FILE]).holding(FILE, file("new"));
    written.visit.changed.insert(FILE.to_owned());
    check_accepted(written.patch(leave()));
    let sent = FoundOutput { is_sent: true, ..file("new") };
    check_accepted(run(&[FILE]).holding(FILE, sent).patch(leave()));
    // A tool server wrote it.
    let modified = Some("2026-11-15T09:59:30Z".parse().unwrap());
    let young = FoundOutput { modified, ..file("new") };
    check_accepted(run(&[FILE]).holding(FILE, young).patch(leave()));
}

#[test]
fn a_folder_counts_if_the_visit_wrote_below_it() {
    let folder = FoundOutput { bytes: None, sha256: None, text: None, ..file("") };
    let mut run = run(&["artifacts/shards/"]).holding("artifacts/shards", folder);
    let refusal = run.patch(leave()).unwrap_err();
    assert!(refusal.message.contains("(a folder, 3 days old)"), "{}", refusal.message);
    run.visit.changed.insert("artifacts/shards/1.md".to_owned());
    check_accepted(run.patch(leave()));
}

#[test]
fn a_pattern_counts_if_the_visit_wrote_a_file_that_fits_and_is_a_warning_else() {
    let mut run = run(&["artifacts/shard-*.md"]);
    let warned = check_accepted(run.patch(leave()));
    assert_eq!(
        warned.warnings(),
        [
            "`a` declares outputs that were not checked: `artifacts/shard-*.md`: it is a pattern, not a name."
        ]
    );
    run.visit.changed.insert("artifacts/shard-1.md".to_owned());
    assert!(check_accepted(run.patch(leave())).warnings().is_empty());
}

#[test]
fn under_the_rule_exist_a_file_that_is_there_counts() {
    let mut run = run(&[FILE]).surveyed(FILE, Some("old"), false).holding(FILE, file("old"));
    run.outputs = OutputRule::Exist;
    check_accepted(run.patch(leave()));
}

#[test]
fn a_copy_of_an_output_is_no_artifact_beside_it() {
    let mut run = run(&[FILE])
        .surveyed(FILE, None, false)
        .holding(FILE, file("new"))
        .holding("artifacts/copy.md", file("new"))
        .holding("artifacts/notes.md", file("notes"));
    let paths = ["artifacts/copy.md", FILE, "artifacts/notes.md"];
    run.created = paths.map(|path| ProjectPath::parse(path).unwrap()).into();
    let transition = check_accepted(run.patch(leave()));
    assert_eq!(transition.document().front().artifacts, [FILE, "artifacts/notes.md"]);
}

#[test]
fn a_file_that_the_run_removed_is_no_artifact_any_more() {
    let mut run = run(&[])
        .with(json!({"artifacts.append": ["artifacts/old.md", "artifacts/moved.md", FILE]}))
        .holding(FILE, file("text"))
        .holding("artifacts/new.md", file("new"));
    run.visit.removed = ["artifacts/moved.md".to_owned(), FILE.to_owned()].into();
    run.created = vec![ProjectPath::parse("artifacts/new.md").unwrap()];
    let transition = check_accepted(run.patch(leave()));
    // A file that is there again counts, and so does one that was not removed by the run.
    let left = ["artifacts/old.md", FILE, "artifacts/new.md"];
    assert_eq!(transition.document().front().artifacts, left);
}

#[test]
fn a_template_is_not_kept() {
    let mut run = run(&[FILE]).holding(FILE, file("bare")).surveyed(FILE, Some("bare"), false);
    run.visit.templates.insert("sha of bare".to_owned(), "@pkg/bare.md".to_owned());
    run.visit.changed.insert(FILE.to_owned());
    check_says(&run, ". artifacts/x.md is @pkg/bare.md as it is. Fill it in.");
}

#[test]
fn a_removed_file_is_no_output() {
    let mut run = run(&["artifacts/*.md"]);
    run.visit.changed.insert(FILE.to_owned());
    assert!(run.patch(leave()).unwrap().warnings().is_empty());
    run.visit.removed.insert(FILE.to_owned());
    assert_eq!(run.patch(leave()).unwrap().warnings().len(), 1);
    assert!(!run.visit.has_changed("artifacts"), "nor is its folder changed");
}
