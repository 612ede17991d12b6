//! A run that keeps the list of a document: it grows together with the moves, wherever the process dies.

use std::collections::BTreeMap;

use crewagent_testkit::package::generated;
use serde_json::json;

use super::fixture::ProofFixture;
use super::kill::{Calm, check_every_death};
use super::power::check_every_power_cut;
use super::twelve::{Piece, Reaction, calls, update};

/// Document that the run finds.
const OLD: &str = "---\ntitle: Old  # kept\nstepsCompleted: []\n---\n\n# Old\n";

fn node(number: usize) -> String {
    format!("node-{number:05}")
}

/// Returns a piece of three nodes: the second writes the document anew in the call that leaves it.
fn mirrored() -> Piece {
    let package = generated(3, 2).into_iter().map(|(name, text)| match name.as_str() {
        "workflow.md" => {
            let mirror = "mirror:\n  file: notes/doc.md\n  key: stepsCompleted\n  values: { node-00000: 1, node-00001: second, node-00002: 3 }\n";
            let text = text.replacen("\"1.1\"", "\"1.3\"", 1);
            (name, text.replacen("workflowType:", &format!("{mirror}workflowType:"), 1))
        }
        _ => (name, text),
    });
    let document = "---\ntitle: New\nstepsCompleted: [1]\n---\n\n# New\n";
    let files = json!([
        { "path": "artifacts/made.md", "content": "# Made\n" },
        { "path": "notes/doc.md", "content": document },
    ]);
    let mut nodes: BTreeMap<String, Vec<Reaction>> = BTreeMap::new();
    let mut at = |number: usize, reactions| nodes.insert(node(number), reactions);
    at(
        0,
        vec![calls([update(json!({
            "stepsCompleted": { "append": [node(0)] },
            "currentNodeId": { "set": node(1) },
        }))])],
    );
    at(
        1,
        vec![
            calls([("fs.read", json!({ "path": "@project/notes/doc.md" }))]),
            calls([(
                "runtime.complete_node",
                json!({ "nodeId": node(1), "next": node(2), "files": files }),
            )]),
        ],
    );
    at(2, vec![calls([update(json!({ "stepsCompleted": { "append": [node(2)] } }))])]);
    let project = [("notes/doc.md", OLD)].map(|(name, text)| (name.to_owned(), text.to_owned()));
    Piece::new(package.collect(), project.into(), nodes)
}

#[test]
fn a_document_lists_what_is_done_and_keeps_its_other_bytes() {
    let calm = Calm::of(&ProofFixture::new(mirrored()));
    let document = String::from_utf8_lossy(&calm.picture.project["notes/doc.md"]).into_owned();
    assert_eq!(document, "---\ntitle: New\nstepsCompleted: [1, second, 3]\n---\n\n# New\n");
}

#[test]
fn a_run_that_is_killed_anywhere_leaves_the_document_right() {
    let (points, operations) = check_every_death(mirrored);
    assert!(points > 0 && operations > 0);
}

#[test]
fn a_power_cut_anywhere_leaves_the_document_right() {
    let (states, resumed) = check_every_power_cut(mirrored);
    assert!(states > 0 && resumed > 0);
}
