//! Packages that try to make a check slow or fill the memory. The tests count work: no test reads a clock.

use std::fmt::Write as _;

use crewagent_format::diagnostic::Code;
use crewagent_testkit::fixture::{checked, example};
use crewagent_testkit::package::MemoryFiles;
use serde_json::{Value as Json, json};

fn edit(files: &mut MemoryFiles, file: &str, change: impl FnOnce(&mut Json)) {
    let mut value: Json = serde_json::from_str(&files.text(file)).unwrap();
    change(&mut value);
    files.put(file, value.to_string()).unwrap();
}

#[test]
fn a_graph_that_many_workflows_share_is_read_and_reported_once() {
    let mut files = example("hello-branch");
    edit(&mut files, "bmad.json", |manifest| {
        let entry = manifest["entry"].clone();
        let item = |at: usize| json!({ "id": format!("w{at}"), "workflow": entry["workflow"], "graph": entry["graph"] });
        manifest["workflows"] = (0..400).map(item).collect();
    });
    assert!(checked(&files).package.is_some());
    edit(&mut files, "workflow.graph.json", |graph| {
        let nodes = graph["nodes"].as_array_mut().unwrap();
        for at in 0..500 {
            nodes.push(json!({ "id": format!("n{at}"), "type": "step", "file": "steps/gone.md", "agentId": "nobody" }));
        }
    });
    let checked = checked(&files);
    let counts = checked.findings.counts();
    assert_eq!(counts[&Code::UnknownAgent], 500);
    assert_eq!(counts[&Code::UnreachableNode], 500);
    assert_eq!(counts[&Code::MissingFile], 1);
}

#[test]
fn ten_thousand_unknown_names_among_ten_thousand_names_are_answered_soon() {
    let mut files = example("hello-branch");
    edit(&mut files, "workflow.graph.json", |graph| {
        let file = graph["nodes"][0]["file"].clone();
        let node =
            |at: usize| json!({ "id": format!("{:0>100}", at), "type": "step", "file": file });
        graph["nodes"] = (0..10_000).map(node).collect();
        let edge = |at: usize| json!({ "from": format!("{:x>100}", at), "to": format!("{:y>100}", at), "label": "x" });
        graph["edges"] = (0..10_000).map(edge).collect();
    });
    assert_eq!(checked(&files).findings.counts()[&Code::UnknownEdgeEnd], 20_000);
}

#[test]
fn findings_on_one_long_line_have_their_columns() {
    let mut files = example("hello-branch");
    let mut text = String::from("{");
    for at in 0..10_000 {
        write!(text, "\"{at:0>400}\":1,").unwrap();
    }
    text.push_str("\"schemaVersion\":\"1.1\"}");
    files.put("bmad.json", text).unwrap();
    let checked = checked(&files);
    let columns: Vec<_> = checked
        .findings
        .iter()
        .filter(|found| found.code == Code::UnknownKey)
        .filter_map(|found| found.place.position)
        .map(|at| at.column)
        .collect();
    assert_eq!(columns[..3], [2, 407, 812]);
}

#[test]
fn a_long_chain_of_calls_is_followed_once() {
    let mut files = example("hello-branch");
    let step = "---\nschemaVersion: \"1.2\"\nnodeId: call\ntype: subworkflow\n---\n## Goal\n## Instructions\n";
    files.put("steps/call.md", step).unwrap();
    let count = 1000;
    edit(&mut files, "bmad.json", |manifest| {
        let item = |at: usize| json!({ "id": format!("w{at}"), "workflow": "workflow.md", "graph": format!("g{at}.json") });
        manifest["workflows"] = (0..count).map(item).collect();
    });
    for at in 0..count {
        let graph = json!({
            "schemaVersion": "1.2", "entryNodeId": "call",
            "nodes": [{ "id": "call", "type": "subworkflow", "file": "steps/call.md", "subworkflowRef": format!("w{}", at + 1), "passContext": true }],
            "edges": [{ "from": "call", "to": "call", "label": "x", "conditionExpr": { "var": "unset" } }]
        });
        files.put(&format!("g{at}.json"), graph.to_string()).unwrap();
    }
    let open = checked(&files);
    assert_eq!(open.findings.counts()[&Code::UnknownSubworkflow], 1);
    // What the last of them gets back from its unknown child is unknown.
    assert_eq!(open.findings.counts()[&Code::UnsetVariable], count - 1);
    let last = format!("g{}.json", count - 1);
    edit(&mut files, &last, |graph| graph["nodes"][0]["subworkflowRef"] = json!("w0"));
    let closed = checked(&files);
    let circle = closed.findings.iter().find(|found| found.code == Code::CallCycle).unwrap();
    assert!(
        circle.message.contains("w0 → w1 → ") && circle.message.contains("992 more) → w0"),
        "{}",
        circle.message
    );
    assert!(!closed.findings.counts().contains_key(&Code::UnsetVariable));
}

#[test]
fn a_menu_of_thousands_is_compared_word_by_word() {
    let mut files = example("hello-branch");
    edit(&mut files, "agents.json", |agents| {
        let item = |at: usize| json!({ "description": "x", "trigger": format!("t{}", at / 2), "action": format!("#p{at}") });
        agents["agents"][0]["menu"] = (0..20_000).map(item).collect();
    });
    let checked = checked(&files);
    assert_eq!(checked.findings.counts()[&Code::ShadowedTrigger], 10_000);
    assert_eq!(checked.findings.counts()[&Code::DeadMenuTarget], 20_000);
}
