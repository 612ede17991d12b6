//! Half-done documents: which node comes behind what they record.

use crewagent_core::adoption::{AdoptChoice, Adoption};
use crewagent_format::package::Package;
use crewagent_testkit::fixture::{checked, lines};
use crewagent_testkit::package::{MemoryFiles, generated};
use serde_json::{Value as Json, json};

fn node(number: usize) -> String {
    format!("node-{number:05}")
}

/// Returns a package of six nodes: 0 is passed and never recorded, 1 leads to 2 or 3, both to 4, 5 is the end. A node of
/// its own takes up work and is never on the way.
fn package() -> Package {
    let files = generated(6, 1).into_iter().map(|(name, text)| match name.as_str() {
        "workflow.graph.json" => {
            let mut graph: Json = serde_json::from_str(&text).unwrap();
            graph["schemaVersion"] = "1.3".into();
            let edge = |from: usize, to: usize, label: &str, is_default: bool| {
                json!({ "from": node(from), "to": node(to), "label": label, "isDefault": is_default })
            };
            graph["edges"] = json!([
                edge(0, 1, "next", true),
                edge(1, 2, "left", true),
                edge(1, 3, "right", false),
                edge(2, 4, "next", true),
                edge(3, 4, "next", true),
                edge(4, 5, "next", true),
            ]);
            (name, graph.to_string())
        }
        "workflow.md" => {
            let mirror = "mirror:\n  file: docs/x.md\n  key: done\n  values: { node-00001: 1, node-00002: 2, node-00003: 3, node-00004: 4 }\n";
            let text = text.replacen("\"1.1\"", "\"1.3\"", 1);
            (name, text.replacen("workflowType:", &format!("{mirror}workflowType:"), 1))
        }
        _ => (name, text),
    });
    let checked = checked(&MemoryFiles::new(files).unwrap());
    checked.package.clone().unwrap_or_else(|| panic!("{:?}", lines(&checked)))
}

fn adoption(recorded: &str) -> Option<Adoption> {
    let text = format!("---\ndone: {recorded}\n---\n");
    Adoption::of(&package().workflows()[0], "docs/x.md", &text)
}

#[track_caller]
fn check_next(recorded: &str, done: &[usize], next: usize) {
    let adoption = adoption(recorded).unwrap();
    assert_eq!(adoption.done, done.iter().map(|at| node(*at)).collect::<Vec<_>>(), "{recorded}");
    assert_eq!(adoption.next, node(next), "{recorded}");
}

#[test]
fn a_run_goes_on_at_the_first_node_that_is_not_recorded() {
    check_next("[1]", &[0, 1], 2);
    check_next("['1']", &[0, 1], 2);
    check_next("[1, 2]", &[0, 1, 2], 4);
    check_next("[3, 1]", &[0, 1, 3], 4);
    check_next("[2]", &[0], 1);
    check_next("[1, 4]", &[0, 1], 2);
    check_next("[1, other]", &[0, 1], 2);
}

#[test]
fn a_document_that_records_nothing_or_everything_is_none() {
    for recorded in ["[]", "", "[9]", "7", "[1, 2, 4]", "[1, 3, 4]", "[1, 2, 3, 4]"] {
        assert_eq!(adoption(recorded), None, "{recorded}");
    }
}

#[track_caller]
fn check_answer(words: &str, expected: Option<AdoptChoice>) {
    assert_eq!(adoption("[1]").unwrap().answer(words).ok(), expected, "{words}");
}

#[test]
fn the_user_answers_by_number_by_word_or_with_yes_and_no() {
    for words in ["1", "yes", "ok", "go on", "继续"] {
        check_answer(words, Some(AdoptChoice::GoOn));
    }
    for words in ["2", "no", "begin anew", "Begin anew"] {
        check_answer(words, Some(AdoptChoice::BeginAnew));
    }
    for words in ["3", "what is this?", ""] {
        check_answer(words, None);
    }
}
