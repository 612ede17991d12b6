//! Format 1.3: gates, configuration and the keys of an import.

use crewagent_format::package::Package;
use crewagent_format::package::gate::{Commit, CommitPlace, GateSection, OptionAction};
use crewagent_format::package::manifest::{ConfigKind, ConfigScope};
use crewagent_testkit::fixture::{checked, lines};
use crewagent_testkit::package::MemoryFiles;
use serde_json::{Value as Json, json};

const GRAPH: &str = "workflow.graph.json";

/// Returns a package that uses every key of format 1.3, without findings.
pub(crate) fn gated() -> MemoryFiles {
    let mut files = MemoryFiles::default();
    let mut put = |path: &str, text: String| files.put(path, text).unwrap();
    let manifest = json!({
        "schemaVersion": "1.3", "name": "gated", "version": "0.1.0",
        "entry": { "workflow": "workflow.md", "graph": GRAPH, "agents": "agents.json" },
        "workflows": [{ "id": "deepen", "workflow": "deepen/workflow.md", "graph": "deepen/graph.json" }],
        "config": [
            { "name": "output_folder", "default": "out", "kind": "path", "prompt": "Where?" },
            { "name": "level", "default": "high", "scope": "user", "choices": ["low", "high"] }
        ],
        "configFrom": ["bmad"],
        "artifactRoots": ["artifacts", "{output_folder}"],
        "aliases": { "_bmad": "bmad" },
        "provenance": "import.json"
    });
    put("bmad.json", manifest.to_string());
    put("import.json", "{}".into());
    put("bmad/core/data.csv", "a,b\n".into());
    let agents = json!({
        "schemaVersion": "1.3",
        "agents": [{
            "id": "one",
            "metadata": { "name": "A", "title": "A", "icon": "A", "capabilities": "asks well" },
            "persona": { "role": "A", "identity": "A", "communication_style": "A", "principles": "A" },
            "menu": [{
                "trigger": "go", "description": "Go", "workflow": "workflow.md", "yolo": true,
                "source": { "exec": "go.md" }
            }]
        }]
    });
    put("agents.json", agents.to_string());
    let graph = json!({
        "schemaVersion": "1.3", "entryNodeId": "vision",
        "nodes": [
            {
                "id": "vision", "type": "step", "file": "steps/vision.md", "waitsForUser": true,
                "outputs": ["{output_folder}/brief.md"], "calls": ["deepen"], "maxVisits": 9,
                "gate": {
                    "options": [
                        { "key": "A", "label": "Go deeper", "does": "call", "call": "deepen" },
                        { "key": "R", "label": "Rework", "does": "stay", "text": "Ask what to change." },
                        { "key": "C", "label": "Continue", "does": "edge", "after": ["A", "R"] },
                        { "key": "Y", "label": "All of it", "does": "yolo" }
                    ],
                    "commit": [{ "to": "{output_folder}/brief.md" }],
                    "sections": [{ "id": "summary", "to": "{output_folder}/brief.md", "when": "it is long" }]
                }
            },
            { "id": "done", "type": "end", "file": "steps/done.md", "auto": true }
        ],
        "edges": [{ "from": "vision", "to": "done", "label": "C", "gate": "C" }]
    });
    put(GRAPH, graph.to_string());
    let step = |node: &str, kind: &str, more: &str| {
        format!(
            "---\nschemaVersion: \"1.3\"\nnodeId: {node}\ntype: {kind}\n{more}---\n## Goal\n## Instructions\n"
        )
    };
    let more = "source: { file: a.md, lines: [1, 9] }\nbindings: { next: node:done }\nneeds: [web]\nresumeOnly: true\n";
    put("steps/vision.md", step("vision", "step", more));
    put("steps/done.md", step("done", "end", ""));
    let child = json!({
        "schemaVersion": "1.2", "entryNodeId": "done", "edges": [],
        "nodes": [{ "id": "done", "type": "end", "file": "steps/done.md" }]
    });
    put("deepen/graph.json", child.to_string());
    let front = "workflowType: t\ncurrentNodeId: \"\"\nstepsCompleted: []\n";
    put("deepen/workflow.md", format!("---\nschemaVersion: \"1.1\"\n{front}---\n# W\n"));
    let mirror = "mirror: { file: \"{output_folder}/brief.md\", key: stepsCompleted, values: { vision: 2 } }\n";
    put(
        "workflow.md",
        format!("---\nschemaVersion: \"1.3\"\n{front}brief: true\n{mirror}---\n# W\n"),
    );
    files
}

/// Changes one value of a JSON document.
pub(crate) fn set(files: &mut MemoryFiles, file: &str, pointer: &str, value: Json) {
    let mut document: Json = serde_json::from_str(&files.text(file)).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Json::Array(items) => items.push(value),
        parent => parent[key] = value,
    }
    files.put(file, document.to_string()).unwrap();
}

#[track_caller]
fn package(files: &MemoryFiles) -> Package {
    let found = checked(files);
    let lines = lines(&found);
    assert_eq!(lines, Vec::<String>::new());
    found.package.unwrap()
}

#[track_caller]
fn check_lines(files: &MemoryFiles, expected: &[&str]) {
    let found = lines(&checked(files));
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (line, expected) in found.iter().zip(expected) {
        assert!(line.contains(expected), "{line}\ndoes not contain {expected}");
    }
}

#[test]
fn every_key_of_1_3_is_read() {
    let package = package(&gated());
    let manifest = package.manifest();
    assert_eq!(manifest.config[0].kind, ConfigKind::Path);
    assert_eq!(manifest.config[1].scope, ConfigScope::User);
    assert_eq!(manifest.config[1].choices, ["low", "high"]);
    assert_eq!(manifest.config_from, ["bmad"]);
    assert_eq!(manifest.artifact_folders(), ["artifacts", "{output_folder}"]);
    assert_eq!(manifest.aliases["_bmad"], "bmad");
    assert_eq!(manifest.provenance.as_ref().unwrap().as_str(), "import.json");
    let agent = &package.agents()[0];
    assert_eq!(agent.metadata.capabilities.as_deref(), Some("asks well"));
    assert!(agent.menu[0].yolo);
    assert_eq!(agent.menu[0].source["exec"], "go.md");

    let workflow = &package.workflows()[0];
    let node = workflow.graph.node("vision").unwrap();
    let gate = node.gate.as_ref().unwrap();
    let does: Vec<_> = gate.options.iter().map(|option| option.does).collect();
    let all = [OptionAction::Call, OptionAction::Stay, OptionAction::Edge, OptionAction::Yolo];
    assert_eq!(does, all);
    assert_eq!(gate.option("A").unwrap().call.as_ref().unwrap().as_str(), "deepen");
    assert_eq!(gate.option("C").unwrap().after, ["A", "R"]);
    let to = || "{output_folder}/brief.md".to_owned();
    assert_eq!(gate.commit, [Commit { to: to(), at: CommitPlace::Append }]);
    let section =
        GateSection { id: "summary".into(), to: Some(to()), when: Some("it is long".into()) };
    assert_eq!(gate.sections, [section]);
    assert!(node.waits_for_user && !node.auto);
    assert_eq!((node.calls[0].as_str(), node.max_visits), ("deepen", Some(9)));
    assert!(workflow.graph.node("done").unwrap().auto);
    assert_eq!(workflow.graph.edges()[0].gate.as_deref(), Some("C"));

    let front = &workflow.front;
    let mirror = front.mirror.as_ref().unwrap();
    assert!(front.brief);
    assert_eq!((mirror.key.as_str(), &mirror.values["vision"]), ("stepsCompleted", &json!(2)));
    let step = &workflow.steps[&node.id].front;
    assert_eq!(step.bindings["next"], "node:done");
    assert_eq!(step.needs, ["web"]);
    assert!(step.resume_only);
}

#[test]
fn a_document_of_an_older_version_may_not_have_these_keys() {
    for version in ["1.1", "1.2"] {
        for (file, says) in [
            (
                "bmad.json",
                "this document has `config`, `configFrom`, `artifactRoots`, `aliases`, `provenance`, which format",
            ),
            ("agents.json", "`agents[0].metadata` has `capabilities`, which format"),
            (GRAPH, "which format"),
        ] {
            let mut files = gated();
            set(&mut files, file, "/schemaVersion", json!(version));
            let found = lines(&checked(&files));
            let refused: Vec<_> = found.iter().filter(|line| line.starts_with("BM301")).collect();
            assert_eq!(refused.len(), 1, "{found:#?}");
            assert!(refused[0].contains(says), "{found:#?}");
            assert!(refused[0].contains("\"1.3\""), "{found:#?}");
        }
    }
}

#[test]
fn in_older_frontmatter_these_keys_have_no_effect() {
    let mut files = gated();
    for file in ["workflow.md", "steps/vision.md"] {
        let text = files.text(file).replace("schemaVersion: \"1.3\"", "schemaVersion: \"1.2\"");
        files.put(file, text).unwrap();
    }
    let package = package(&files);
    let workflow = &package.workflows()[0];
    assert!(!workflow.front.brief && workflow.front.mirror.is_none());
    let step = &workflow.steps.values().find(|step| step.front.node_id.as_str() == "vision");
    assert!(step.unwrap().front.bindings.is_empty());
}

#[test]
fn a_gate_that_does_not_fit_is_refused() {
    let option = "/nodes/0/gate/options/0";
    for (pointer, value, says) in [
        ("/nodes/0/gate", json!({ "options": [] }), "must have at least one item"),
        ("/nodes/0/gate", json!({}), "has no `options`"),
        ("/nodes/0/maxVisits", json!(0), "must be a whole number of at least 1"),
        ("/nodes/0/maxVisits", json!(9_000_000_000_u64), "is too large"),
    ] {
        let mut files = gated();
        set(&mut files, GRAPH, pointer, value);
        check_lines(&files, &[says]);
    }
    let mut files = gated();
    set(&mut files, GRAPH, &format!("{option}/does"), json!("leave"));
    check_lines(&files, &["BM306"]);
    let mut files = gated();
    set(&mut files, GRAPH, &format!("{option}/does"), json!("stay"));
    check_lines(&files, &["may not have the key `call`"]);
}
