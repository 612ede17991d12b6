//! Format 1.3: gates, configuration and the keys of an import.

use crewagent_format::package::Package;
use crewagent_format::package::gate::{Commit, CommitPlace, GateSection, OptionAction};
use crewagent_format::package::manifest::{ConfigKind, ConfigScope};
use crewagent_format::package::older::older;
use crewagent_format::version::Minor;
use crewagent_testkit::fixture::{checked, example, lines};
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

/// Changes one value of the package with every key, and checks the codes of the findings.
#[track_caller]
fn check_change(file: &str, pointer: &str, value: Json, expected: &[&str]) {
    let mut files = gated();
    set(&mut files, file, pointer, value);
    let found = checked(&files);
    let codes: Vec<_> = found.findings.counts().keys().map(|code| code.as_str()).collect();
    assert_eq!(codes, expected, "{pointer}: {:#?}", lines(&found));
}

#[test]
fn options_and_edges_belong_together() {
    let gate = |options: Json| json!({ "options": options });
    let option = |key: &str, does: &str| json!({ "key": key, "label": key, "does": does });
    let check = |options: Json, expected: &[&str]| {
        check_change(GRAPH, "/nodes/0/gate", gate(options), expected);
    };
    check(json!([option("C", "edge")]), &[]);
    check(json!([option("C", "edge"), option("R", "stay")]), &[]);
    check(json!([option("C", "edge"), option("c", "stay")]), &["BM522"]);
    check(json!([option("C", "stay")]), &["BM523"]);
    check(json!([option("N", "edge")]), &["BM523"]);
    check(json!([option("C", "edge"), option("N", "edge")]), &["BM524"]);
    let after = |keys: Json| json!([{ "key": "C", "label": "C", "does": "edge", "after": keys }]);
    check(after(json!([])), &[]);
    check(after(json!(["C"])), &["BM523"]);
    check(after(json!(["Z"])), &["BM523"]);
    let call = |to: &str| json!([option("C", "edge"), { "key": "A", "label": "A", "does": "call", "call": to }]);
    check(call("deepen"), &[]);
    check(call("nowhere"), &["BM801"]);
    check_change(GRAPH, "/edges/0/gate", json!("X"), &["BM523"]);
    check_change(GRAPH, "/nodes/0/calls", json!(["nowhere"]), &["BM801"]);
    let second =
        json!({ "from": "vision", "to": "done", "label": "C2", "gate": "C", "isDefault": true });
    check_change(GRAPH, "/edges/-", second, &["BM524"]);
}

#[test]
fn what_needs_the_user_or_the_model_stands_where_they_are() {
    let gate = json!({ "options": [{ "key": "S", "label": "S", "does": "stay" }] });
    check_change(GRAPH, "/nodes/1/gate", gate, &["BM526"]);
    check_change(GRAPH, "/nodes/1/waitsForUser", json!(true), &["BM526"]);
    check_change(GRAPH, "/nodes/0/auto", json!(true), &["BM527"]);
}

#[test]
fn the_runtime_writes_only_files_of_the_project() {
    let commit = |to: &str| json!([{ "to": to }]);
    for good in
        ["artifacts/x.md", "docs/x.md", "@project/x.md", "{project-root}/{level}/x.md", "{date}.md"]
    {
        check_change(GRAPH, "/nodes/0/gate/commit", commit(good), &[]);
    }
    for bad in
        ["../x.md", "/etc/x", "@pkg/x.md", "{state-root}/x.md", "artifacts/", ".", "a\\b", "a\nb"]
    {
        check_change(GRAPH, "/nodes/0/gate/commit", commit(bad), &["BM525"]);
        check_change(GRAPH, "/nodes/0/gate/sections/0/to", json!(bad), &["BM525"]);
    }
    check_change(GRAPH, "/nodes/0/gate/commit", commit("artifacts/{nobody}.md"), &["BM521"]);
    // A step's own binding is a name, too.
    check_change(GRAPH, "/nodes/0/gate/commit", commit("artifacts/{next}.md"), &[]);
    let twice = json!([{ "id": "a" }, { "id": "A" }]);
    check_change(GRAPH, "/nodes/0/gate/sections", twice, &["BM528"]);
}

#[test]
fn outputs_lie_in_the_roots_of_artifacts() {
    let output = |path: &str| json!([path]);
    for good in ["artifacts/x.md", "{output_folder}/x.md", "out/x.md", "{{output_folder}}/a/b.md"] {
        check_change(GRAPH, "/nodes/0/outputs", output(good), &[]);
    }
    check_change(GRAPH, "/nodes/0/outputs", output("docs/x.md"), &["BM519"]);
    check_change(GRAPH, "/nodes/0/outputs", output("{level}/x.md"), &["BM519"]);
    check_change(GRAPH, "/nodes/0/outputs", output("{output_folder}/{nobody}.md"), &["BM521"]);
    check_change("bmad.json", "/artifactRoots", json!([]), &["BM519"]);
}

#[test]
fn configuration_has_names_values_and_folders() {
    let config = |more: Json| json!([{ "name": "output_folder", "default": "out" }, { "name": "level" }, more]);
    let check = |more: Json, expected: &[&str]| {
        check_change("bmad.json", "/config", config(more), expected);
    };
    check(json!({ "name": "x", "default": "b", "choices": ["a", "b"] }), &[]);
    check(json!({ "name": "x", "default": "c", "choices": ["a", "b"] }), &["BM408"]);
    check(json!({ "name": "x", "default": "a\nb" }), &["BM408"]);
    check(json!({ "name": "x", "default": "a".repeat(1025) }), &["BM408"]);
    check(json!({ "name": "level" }), &["BM407"]);
    check(json!({ "name": "two words" }), &["BM305"]);
    check(json!({ "name": "" }), &["BM305"]);
    for (roots, expected) in [
        (json!(["artifacts", "{output_folder}", "{project-root}/docs"]), &[][..]),
        (json!(["{output_folder}", "../x"]), &["BM410"]),
        (json!(["{output_folder}", "."]), &["BM410"]),
        (json!(["{output_folder}", "@pkg/x"]), &["BM410"]),
        (json!(["{output_folder}", "{nobody}"]), &["BM410"]),
    ] {
        check_change("bmad.json", "/artifactRoots", roots, expected);
    }
    check_change("bmad.json", "/aliases", json!({ "_bmad": "bmad/core" }), &[]);
    check_change("bmad.json", "/aliases", json!({ "_bmad": "gone" }), &["BM409"]);
    check_change("bmad.json", "/aliases", json!({ "_bmad": "import.json" }), &["BM409"]);
    check_change("bmad.json", "/aliases", json!({ "a/b": "bmad" }), &["BM409"]);
    check_change("bmad.json", "/aliases", json!({ "_bmad": "../bmad" }), &["BM214"]);
    check_change("bmad.json", "/provenance", json!("gone.json"), &["BM202"]);
    check_change("bmad.json", "/configFrom", json!(["npm"]), &["BM306"]);
}

#[test]
fn a_mirror_names_nodes_and_a_file() {
    let check = |written: &str, expected: &[&str]| {
        let mut files = gated();
        let text = files.text("workflow.md");
        let (before, rest) = text.split_once("mirror:").unwrap();
        let (_, after) = rest.split_once('\n').unwrap();
        files.put("workflow.md", format!("{before}mirror: {written}\n{after}")).unwrap();
        let found = checked(&files);
        let codes: Vec<_> = found.findings.counts().keys().map(|code| code.as_str()).collect();
        assert_eq!(codes, expected, "{written}: {:#?}", lines(&found));
    };
    check("{ file: a.md, key: done, values: { vision: a, done: 3 } }", &[]);
    check("", &[]);
    check("{ file: a.md, key: done, values: { gone: 1 } }", &["BM617"]);
    check("{ file: ../a.md, key: done, values: {} }", &["BM525"]);
    check("{ file: \"{nobody}.md\", key: done, values: {} }", &["BM521"]);
    check("{ file: a.md, key: done, values: { vision: [1] } }", &["BM303"]);
    check("{ file: a.md, values: {} }", &["BM302"]);
}

#[test]
fn a_gate_ends_a_loop_like_a_decision() {
    let mut files = gated();
    let options = json!([
        { "key": "C", "label": "Continue", "does": "edge" },
        { "key": "R", "label": "Again", "does": "edge" }
    ]);
    set(&mut files, GRAPH, "/nodes/0/gate/options", options);
    set(&mut files, GRAPH, "/edges/0/isDefault", json!(true));
    let mut again = json!({ "from": "vision", "to": "vision", "label": "R", "gate": "R" });
    set(&mut files, GRAPH, "/edges/-", again.clone());
    check_lines(&files, &[]);
    let mut files = gated();
    set(&mut files, GRAPH, "/edges/0/isDefault", json!(true));
    again.as_object_mut().unwrap().shift_remove("gate");
    set(&mut files, GRAPH, "/edges/-", again);
    check_lines(&files, &["BM517"]);
}

/// Rewrites a package for an older version, and checks the result.
#[track_caller]
fn rewritten(files: &MemoryFiles, version: Minor) -> (MemoryFiles, Vec<String>) {
    let package = checked(files).package.unwrap();
    let older = older(&package, files, version).unwrap();
    let mut result = files.clone();
    for (path, content) in &older.files {
        result.put(path.as_str(), content).unwrap();
    }
    let again = checked(&result);
    assert!(!again.findings.has_errors(), "{:#?}", lines(&again));
    let notes = older.notes.iter().map(|note| note.message.clone());
    (result, notes.collect())
}

#[test]
fn an_older_version_leaves_out_what_it_does_not_know_and_says_so() {
    let (result, notes) = rewritten(&gated(), Minor::V1_2);
    let mut left: Vec<_> =
        notes.iter().filter_map(|note| note.strip_prefix('`')?.split('`').next()).collect();
    left.sort_unstable();
    let expected = [
        "aliases",
        "artifactRoots",
        "auto",
        "bindings",
        "brief",
        "calls",
        "capabilities",
        "config",
        "configFrom",
        "gate",
        "gate",
        "maxVisits",
        "mirror",
        "needs",
        "provenance",
        "resumeOnly",
        "source",
        "waitsForUser",
        "yolo",
    ];
    assert_eq!(left, expected);
    let package = checked(&result).package.unwrap();
    let workflow = &package.workflows()[0];
    assert_eq!(package.manifest().schema_version.to_string(), "1.2");
    assert_eq!(workflow.graph.nodes()[0].outputs, ["out/brief.md"]);
    let edge = &workflow.graph.edges()[0];
    assert_eq!(edge.condition_text.as_deref(), Some("the user chose \"Continue\""));
    assert!(result.text("steps/vision.md").contains("source: { file: a.md"));
    for file in
        ["bmad.json", "agents.json", GRAPH, "workflow.md", "steps/vision.md", "steps/done.md"]
    {
        assert!(!result.text(file).contains("1.3"), "{file}");
    }
}

#[test]
fn an_output_without_a_name_is_not_asked_for_in_an_older_version() {
    let mut files = gated();
    set(
        &mut files,
        GRAPH,
        "/nodes/0/outputs",
        json!(["{output_folder}/{date}.md", "out/{level}.md"]),
    );
    let (result, notes) = rewritten(&files, Minor::V1_2);
    let package = checked(&result).package.unwrap();
    assert_eq!(package.workflows()[0].graph.nodes()[0].outputs, ["out/high.md"]);
    assert!(notes.iter().any(|note| note.contains("`out/{date}.md`")), "{notes:#?}");
}

#[test]
fn in_1_1_the_steps_name_the_workflows_that_are_called() {
    let files = example("nested-review");
    let (result, notes) = rewritten(&files, Minor::V1_1);
    assert_eq!(notes, Vec::<String>::new());
    let calls = |files: &MemoryFiles| {
        let package = checked(files).package.unwrap();
        package.workflows().iter().map(|workflow| workflow.calls.clone()).collect::<Vec<_>>()
    };
    assert_eq!(calls(&result), calls(&files));
    let (same, notes) = rewritten(&files, Minor::V1_2);
    assert!(same == files && notes.is_empty());
}
