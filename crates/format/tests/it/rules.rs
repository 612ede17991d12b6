//! Single rules on small changes of a valid package: findings, their absence, and that one mistake hides no other.

use std::collections::BTreeSet;

use crewagent_format::diagnostic::Code;
use crewagent_testkit::fixture::{checked, example, lines, repository};
use crewagent_testkit::package::MemoryFiles;
use serde_json::{Value as Json, json};

const GRAPH: &str = "workflow.graph.json";

/// Returns a package of two workflows, two agents and four nodes, without findings.
fn small() -> MemoryFiles {
    let mut files = MemoryFiles::default();
    let mut put = |path: &str, text: String| files.put(path, text).unwrap();
    let manifest = json!({
        "schemaVersion": "1.2", "name": "small", "version": "0.1.0",
        "entry": { "workflow": "workflow.md", "graph": GRAPH, "agents": "agents.json" },
        "workflows": [{ "id": "child", "workflow": "child/workflow.md", "graph": "child/graph.json" }]
    });
    put("bmad.json", manifest.to_string());
    let agent = |id: &str| {
        json!({
            "id": id,
            "metadata": { "name": "A", "title": "A", "icon": "A" },
            "persona": { "role": "A", "identity": "A", "communication_style": "A", "principles": "A" },
            "menu": [{ "trigger": "go", "description": "Go", "workflow": "workflow.md" }]
        })
    };
    let agents = json!({ "schemaVersion": "1.1", "agents": [agent("one"), agent("two")] });
    put("agents.json", agents.to_string());
    let graph = json!({
        "schemaVersion": "1.2", "entryNodeId": "start",
        "nodes": [
            { "id": "start", "type": "step", "file": "steps/start.md" },
            { "id": "choose", "type": "decision", "file": "steps/choose.md" },
            { "id": "done", "type": "end", "file": "steps/done.md" }
        ],
        "edges": [
            { "from": "start", "to": "choose", "label": "next" },
            { "from": "choose", "to": "start", "label": "again", "conditionExpr": { "==": [{ "var": "again.now" }, true] } },
            { "from": "choose", "to": "done", "label": "enough", "isDefault": true }
        ]
    });
    put(GRAPH, graph.to_string());
    for (node, kind) in [("start", "step"), ("choose", "decision"), ("done", "end")] {
        let text = format!(
            "---\nschemaVersion: \"1.1\"\nnodeId: {node}\ntype: {kind}\nsetsVariables: [again.now]\n---\n## Goal\n## Instructions\n"
        );
        put(&format!("steps/{node}.md"), text);
    }
    let child = json!({
        "schemaVersion": "1.2", "entryNodeId": "done", "edges": [],
        "nodes": [{ "id": "done", "type": "end", "file": "steps/done.md" }]
    });
    put("child/graph.json", child.to_string());
    for path in ["workflow.md", "child/workflow.md"] {
        let text = "---\nschemaVersion: \"1.1\"\nworkflowType: t\ncurrentNodeId: \"\"\nstepsCompleted: []\n---\n# W\n";
        put(path, text.to_owned());
    }
    files
}

/// Changes one value of a JSON document.
fn set(files: &mut MemoryFiles, file: &str, pointer: &str, key: &str, value: Json) {
    let mut document: Json = serde_json::from_str(&files.text(file)).unwrap();
    let parent = document.pointer_mut(pointer).unwrap();
    match parent {
        Json::Array(items) => items.push(value),
        parent => parent[key] = value,
    }
    files.put(file, document.to_string()).unwrap();
}

fn with(changes: &[(&str, &str, &str, Json)]) -> MemoryFiles {
    let mut files = small();
    for (file, pointer, key, value) in changes {
        set(&mut files, file, pointer, key, value.clone());
    }
    files
}

fn codes(files: &MemoryFiles) -> BTreeSet<&'static str> {
    checked(files).findings.counts().keys().map(|code| code.as_str()).collect()
}

#[track_caller]
fn check_codes(files: &MemoryFiles, expected: &[&str]) {
    let found = checked(files);
    assert_eq!(codes(files).into_iter().collect::<Vec<_>>(), expected, "{:#?}", lines(&found));
}

#[track_caller]
fn check_says(files: &MemoryFiles, code: Code, says: &str) {
    let found = checked(files);
    let line = found.findings.iter().find(|found| found.code == code);
    let line = line.unwrap_or_else(|| panic!("no {}: {:#?}", code.as_str(), lines(&found)));
    let all = format!("{} / {}", line.message, line.help.as_deref().unwrap_or("-"));
    assert!(all.contains(says), "{all}");
}

/// Returns `workflow.md` of the small package with one more line in its frontmatter, or another body.
fn workflow(line: &str, body: &str) -> MemoryFiles {
    let mut files = small();
    let text = files.text("workflow.md").replace("---\n# W\n", &format!("{line}\n---\n{body}\n"));
    files.put("workflow.md", text).unwrap();
    files
}

fn menu(items: Json) -> MemoryFiles {
    with(&[("agents.json", "/agents/0", "menu", items)])
}

#[test]
fn the_small_package_is_clean() {
    check_codes(&small(), &[]);
}

#[test]
fn a_condition_that_never_ends_is_refused_before_it_runs() {
    let items: Vec<u32> = (0..100).collect();
    let doubled = json!({ "cat": [{ "var": "accumulator" }, { "var": "accumulator" }] });
    let growing = json!({ "reduce": [items, doubled, "x"] });
    let nested = (0..6).fold(json!(false), |body, _| json!({ "some": [items, body] }));
    for rule in [growing, nested] {
        let files = with(&[(GRAPH, "/edges/1", "conditionExpr", rule)]);
        check_codes(&files, &["BM505"]);
        check_says(&files, Code::BadCondition, "takes more than 1000000 operations");
    }
    let of_a_variable = json!({ "some": [{ "var": "again.now" }, { "==": [{ "var": "" }, 1] }] });
    check_codes(&with(&[(GRAPH, "/edges/1", "conditionExpr", of_a_variable)]), &[]);
}

#[test]
fn every_bad_package_is_found_bad() {
    for folder in std::fs::read_dir(repository().join("tests/packages/bad")).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("BM1") || folder.join("case.toml").exists() {
            continue;
        }
        let files = MemoryFiles::from_folder(&folder.join("package")).unwrap();
        assert!(codes(&files).contains(&name[..5]), "{name}: {:?}", lines(&checked(&files)));
    }
}

#[test]
fn an_unknown_key_hides_no_other_mistake() {
    let node = (GRAPH, "/nodes/0", "surprise", json!(1));
    check_codes(&with(std::slice::from_ref(&node)), &["BM301"]);
    check_codes(
        &with(&[node.clone(), (GRAPH, "/nodes/0", "file", json!("gone.md"))]),
        &["BM202", "BM301"],
    );
    check_codes(
        &with(&[node.clone(), (GRAPH, "", "entryNodeId", json!("gone"))]),
        &["BM301", "BM502"],
    );
    check_codes(&with(&[node, (GRAPH, "/edges/0", "to", json!("gone"))]), &["BM301", "BM503"]);
    let edge = (GRAPH, "/edges/1", "surprise", json!(1));
    check_codes(
        &with(&[edge, (GRAPH, "/edges/2", "isDefault", json!(false))]),
        &["BM301", "BM514"],
    );
    let condition = (GRAPH, "/edges/1", "conditionExpr", json!({ "x": 1 }));
    check_codes(
        &with(&[condition, (GRAPH, "/nodes/2", "type", json!("step"))]),
        &["BM505", "BM510", "BM512", "BM603"],
    );
    let kind = (GRAPH, "/nodes/1", "type", json!("surprise"));
    check_codes(&with(&[kind, (GRAPH, "/edges/0", "to", json!("gone"))]), &["BM306", "BM503"]);
    let manifest = ("bmad.json", "", "surprise", json!(1));
    let newer = ("bmad.json", "", "runtime", json!({ "minRuntimeVersion": "9", "x": 1 }));
    check_codes(&with(&[manifest.clone(), newer]), &["BM301", "BM403"]);
    let digest = ("bmad.json", "", "integrity", json!({ "sha256": "0".repeat(64) }));
    check_codes(&with(&[manifest, digest]), &["BM301", "BM405"]);
    let workflow = ("bmad.json", "/workflows/0", "surprise", json!(1));
    check_codes(
        &with(&[workflow, ("bmad.json", "/workflows/0", "graph", json!("gone.json"))]),
        &["BM202", "BM301"],
    );
}

#[test]
fn a_part_that_cannot_be_read_silences_only_what_needs_it() {
    let mut id = with(&[(GRAPH, "/nodes/0", "id", json!("not an id"))]);
    check_codes(&id, &["BM305"]);
    set(&mut id, GRAPH, "/nodes/2", "agentId", json!("gone"));
    check_codes(&id, &["BM305", "BM504"]);
    check_codes(&with(&[(GRAPH, "/edges/0", "to", json!("not an id"))]), &["BM305"]);
    check_codes(&with(&[(GRAPH, "", "edges", json!(1))]), &["BM303"]);
    check_codes(
        &with(&[
            ("bmad.json", "", "workflows", json!(1)),
            (GRAPH, "/nodes/0", "subworkflowRef", json!("x")),
        ]),
        &["BM303", "BM806"],
    );
}

#[test]
fn ids_have_a_length() {
    let long = "a".repeat(129);
    check_says(
        &with(&[(GRAPH, "/nodes/0", "id", json!(long))]),
        Code::BadId,
        "it has 129 bytes, and 128 are allowed",
    );
}

#[test]
fn a_cycle_needs_a_decision_of_its_own() {
    let inner = |from: &str, to: &str| {
        (GRAPH, "/edges", "", json!({ "from": from, "to": to, "label": "x" }))
    };
    check_codes(
        &with(&[inner("start", "start"), (GRAPH, "/edges/0", "isDefault", json!(true))]),
        &["BM517"],
    );
    check_codes(&with(&[inner("choose", "choose")]), &[]);
}

#[test]
fn only_subworkflow_nodes_call() {
    let files = with(&[
        (GRAPH, "/nodes/0", "subworkflowRef", json!("child")),
        (GRAPH, "/nodes/0", "passContext", json!(true)),
    ]);
    check_codes(&files, &["BM806"]);
    check_says(
        &files,
        Code::IgnoredCall,
        "its `subworkflowRef` and `passContext` have no effect / set the type",
    );
    check_codes(
        &with(&[(GRAPH, "/nodes/0", "subworkflowRef", json!("chold"))]),
        &["BM801", "BM806"],
    );
}

#[test]
fn a_step_of_1_1_that_names_no_workflow_runs_as_a_step() {
    let call = |name: &str| {
        let mut files = with(&[
            (GRAPH, "", "schemaVersion", json!("1.1")),
            (GRAPH, "/nodes/0", "type", json!("subworkflow")),
        ]);
        let text = files
            .text("steps/start.md")
            .replace("type: step", &format!("type: subworkflow\nsubworkflow: {name}"));
        files.put("steps/start.md", text).unwrap();
        files
    };
    check_codes(&call("child"), &[]);
    check_codes(&call("../child/workflow.md"), &[]);
    check_codes(&call("chold"), &["BM805"]);
    check_says(&call("chold"), Code::SubworkflowAsStep, "did you mean `child`?");
    let mut two = call("child");
    set(&mut two, GRAPH, "/edges", "", json!({ "from": "start", "to": "done", "label": "x" }));
    check_codes(&two, &["BM803"]);
    let mut newer = call("child");
    set(&mut newer, GRAPH, "/nodes/0", "subworkflowRef", json!("child"));
    check_says(&newer, Code::UnknownKey, "which format 1.1 does not know");
    set(&mut newer, GRAPH, "/nodes/0", "surprise", json!("child"));
    let help: Vec<_> =
        lines(&checked(&newer)).into_iter().filter(|line| line.contains("surprise")).collect();
    assert!(!help[0].contains("subworkflowRef"), "{help:?}");
}

#[test]
fn what_a_run_makes_lies_under_artifacts() {
    let output = |path: &str| with(&[(GRAPH, "/nodes/0", "outputs", json!([path]))]);
    for good in [
        "artifacts/x.md",
        "./artifacts//x.md",
        "src/../artifacts/x.md",
        "{artifacts-root}/x.md",
        "@project/artifacts/x.md",
    ] {
        check_codes(&output(good), &[]);
    }
    for bad in ["artifacts", "src/x.md", "artifacts/../src/x.md", "@pkg/artifacts/x.md"] {
        check_says(&output(bad), Code::OutputOutsideArtifacts, "lies outside");
    }
    for bad in ["../x.md", "/tmp/x.md", "artifacts/../../x.md"] {
        check_says(&output(bad), Code::OutputOutsideArtifacts, "leaves the project");
    }
}

#[test]
fn artifacts_of_a_template_are_plain_paths_of_the_project() {
    check_codes(&workflow("artifacts: [artifacts/x.md, src/y.md]", ""), &[]);
    check_says(
        &workflow("artifacts: [\"@project/artifacts/x.md\"]", ""),
        Code::BadArtifactPath,
        "write \"artifacts/x.md\"",
    );
    check_says(
        &workflow("artifacts: [\"{package-root}/x.md\"]", ""),
        Code::BadArtifactPath,
        "begins with a mount; it must be a path relative to the project / write a path such as",
    );
    for bad in ["/x.md", "../x.md", "a/../x.md", "@pkg/x.md", "{artifacts-root}/x.md", "~/x.md"] {
        check_codes(&workflow(&format!("artifacts: [\"{bad}\"]"), ""), &["BM612"]);
    }
}

#[test]
fn a_template_may_name_a_node_that_is_gone() {
    let mut files = small();
    let text = files.text("workflow.md").replace("currentNodeId: \"\"", "currentNodeId: gone");
    files.put("workflow.md", text).unwrap();
    check_codes(&files, &["BM610"]);
    assert!(checked(&files).package.is_some());
}

#[test]
fn a_file_that_is_not_utf_8_is_reported_once_and_never_parsed() {
    let mut files = with(&[("bmad.json", "/entry", "graph", json!("workflow.md"))]);
    files
        .put("workflow.md", [b"---\nschemaVersion: 1.1\n".as_slice(), &[0xff], b"\n---\n"].concat())
        .unwrap();
    check_codes(&files, &["BM205"]);
    assert_eq!(checked(&files).findings.counts()[&Code::NotUtf8], 1);
}

#[test]
fn menu_words_are_exact_and_blank_ones_are_none() {
    let item = |description: &str, trigger: &str| json!({ "description": description, "trigger": trigger, "action": "x" });
    check_codes(&menu(json!([item("[A] One", "a1"), item("[a] Two", "a2")])), &["BM713"]);
    check_codes(&menu(json!([item("[A] One", "a1"), item("Two", "*A")])), &["BM713"]);
    check_codes(&menu(json!([item("[A] One", "a1"), item("Two", "[Ａ]")])), &["BM713"]);
    let fuzzy = "B or fuzzy match on a";
    check_codes(&menu(json!([item("One", "a"), item("Two", fuzzy)])), &[]);
    check_codes(&menu(json!([item("One", "b"), item("Two", fuzzy)])), &["BM713"]);
    check_codes(&menu(json!([item("One", ""), item("Two", " "), item("", "x")])), &[]);
    check_codes(&menu(json!([item("[see](x) One", "a1"), item("[see](x) Two", "a2")])), &[]);
    let mut hidden = json!([item("One", "same"), item("Two", "same"), item("Three", "same")]);
    hidden[0]["ide-only"] = json!(true);
    hidden[1]["web-only"] = json!(true);
    let found = checked(&menu(hidden));
    assert_eq!(found.findings.counts()[&Code::ShadowedTrigger], 1);
}

#[test]
fn menu_items_do_something_that_is_there() {
    let item =
        |key: &str, value: &str| menu(json!([{ "description": "One", key: value, "trigger": "" }]));
    check_codes(&item("exec", ""), &["BM712"]);
    check_says(&item("exec", ""), Code::NoMenuAction, "the menu item \"One\"");
    check_codes(&item("exec", "./assets/missing.md"), &["BM714"]);
    check_codes(&item("exec", "./steps/start.md"), &[]);
    check_codes(&item("exec", "docs/rules.md"), &[]);
    check_codes(&item("workflow", "./child/workflow.md"), &[]);
    check_says(&item("workflow", "chold"), Code::DeadMenuTarget, "did you mean `child`?");
    let handler = |extra: Json| {
        let mut trigger = json!({ "type": "handler", "match": "x" });
        trigger.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        menu(json!([{ "description": "One", "triggers": [trigger] }]))
    };
    check_codes(&handler(json!({})), &["BM712"]);
    check_codes(&handler(json!({ "data": "docs/x.md" })), &["BM712"]);
    check_codes(&handler(json!({ "action": "x" })), &[]);
}

#[test]
fn the_runtime_is_compared_by_precedence() {
    let needs = |version: &str| {
        with(&[("bmad.json", "", "runtime", json!({ "minRuntimeVersion": version }))])
    };
    for good in ["0.1.0", "0.1.0+build", "0.1", "0", "0.1.0-beta"] {
        check_codes(&needs(good), &[]);
    }
    for newer in ["0.1.1", "0.2", "1"] {
        check_codes(&needs(newer), &["BM403"]);
    }
    for of_other_tools in ["", "0.", "x", "v1.2.3", ">=0.1", "latest", "0.1-beta", "01"] {
        check_codes(&needs(of_other_tools), &["BM310"]);
    }
}

#[test]
fn what_other_tools_write_is_accepted() {
    check_codes(&with(&[(GRAPH, "/nodes/0", "agentId", json!(""))]), &[]);
    check_codes(&with(&[("bmad.json", "/entry", "assetsDir", json!("./"))]), &[]);
    check_codes(
        &with(&[(
            "agents.json",
            "/agents/0",
            "prompts",
            json!([{ "id": "", "content": "" }, { "id": "", "content": "" }]),
        )]),
        &[],
    );
    let condition = json!({ "?:": [{ "var": "again" }, true, false] });
    check_codes(&with(&[(GRAPH, "/edges/1", "conditionExpr", condition)]), &[]);
    check_codes(&with(&[(GRAPH, "/edges/1", "conditionExpr", json!({}))]), &[]);
    check_codes(&with(&[("bmad.json", "", "integrity", json!({}))]), &[]);
    for file in ["bmad.json", "agents.json", GRAPH] {
        check_codes(&with(&[(file, "", "$schema", json!("https://example.org/x.json"))]), &[]);
    }
}

#[test]
fn values_that_1_1_leaves_open_are_ignored_with_a_warning() {
    for of_other_tools in ["2025-01-01 00:00:00Z", "2025-01-01T00:00:00+0800", "yesterday", ""] {
        check_codes(&with(&[("bmad.json", "", "createdAt", json!(of_other_tools))]), &["BM310"]);
    }
    for line in
        ["inputDocuments: x", "inputDocuments: [{path: x}]", "activeAgentId: 5", "workflowRef: [a]"]
    {
        let files = workflow(line, "");
        check_codes(&files, &["BM310"]);
        assert_eq!(checked(&files).findings.counts()[&Code::IgnoredValue], 1, "{line}");
        assert!(checked(&files).package.is_some());
    }
    let mixed = checked(&workflow("inputDocuments: [a.md, {path: b.md}, c.md]", ""));
    let front = mixed.package.unwrap().workflows()[0].front.clone();
    assert_eq!(front.input_documents, ["a.md", "c.md"]);
    for line in [
        "subworkflow: {id: x}",
        "subworkflow: 5",
        "passContext: \"yes\"",
        "resultVariables: {a: b}",
    ] {
        check_codes(&step(line), &["BM310"]);
    }
    let item = |key: &str, value: Json| {
        menu(json!([{ "description": "One", "trigger": "one", "action": "x", key: value }]))
    };
    check_codes(&item("cmd", Json::Null), &["BM310"]);
    check_codes(&item("triggers", json!("x")), &["BM310"]);
    check_codes(&item("triggers", json!([5, { "type": 7 }])), &["BM310"]);
    // An item that is ignored keeps its place.
    let alias = json!([null, { "type": "alias", "match": "two" }]);
    let mut two = item("triggers", alias);
    set(
        &mut two,
        "agents.json",
        "/agents/0/menu",
        "",
        json!({ "description": "Two", "trigger": "two", "action": "x" }),
    );
    check_codes(&two, &["BM310", "BM713"]);
}

#[test]
fn a_key_of_an_open_map_that_looks_like_another_is_named() {
    let unset = step("setVariables: [x]")
        .text("steps/start.md")
        .replace("setsVariables: [again.now]\n", "");
    let mut files = small();
    files.put("steps/start.md", unset).unwrap();
    check_codes(&files, &["BM311"]);
    check_says(&files, Code::MisspelledKey, "write `setsVariables`");
    check_codes(&workflow("decisionlog: []", ""), &["BM311"]);
    check_codes(&workflow("name: x\nauthor: y\ndata: z", ""), &[]);
    let item = |key: &str| menu(json!([{ "description": "One", key: "one", "action": "x" }]));
    check_says(&item("triger"), Code::MisspelledKey, "write `trigger`");
    check_codes(&item("id"), &[]);
}

#[test]
fn one_mistake_is_one_finding() {
    let count = |files: &MemoryFiles| checked(files).findings.iter().count();
    let rename = |file: &str, from: &str, to: &str| {
        let mut files = small();
        let text = files.text(file).replacen(from, to, 1);
        files.put(file, text).unwrap();
        files
    };
    let edges = rename(GRAPH, "\"edges\"", "\"edgse\"");
    check_says(&edges, Code::MissingKey, "has the key \"edgse\" and no `edges`");
    assert_eq!(count(&edges), 1);
    let label = rename(GRAPH, "\"label\"", "\"lable\"");
    assert_eq!(count(&label), 1, "{:?}", lines(&checked(&label)));
    let front = rename("steps/start.md", "nodeId", "nodId");
    assert_eq!(count(&front), 1, "{:?}", lines(&checked(&front)));

    // A node id twice: its step is not asked which one it means.
    let twice = with(&[(GRAPH, "/nodes/0", "id", json!("choose"))]);
    assert!(!codes(&twice).contains("BM601"), "{:?}", lines(&checked(&twice)));
    // A bad id, and all that refer to it.
    let bad = rename(GRAPH, "\"id\":\"start\"", "\"id\":\"草\"");
    let bad = {
        let text = bad.text(GRAPH).replace("\"start\"", "\"草\"");
        let mut files = bad;
        files.put(GRAPH, text).unwrap();
        files
    };
    check_says(&bad, Code::BadId, "letters a–z");
    assert_eq!(checked(&bad).findings.counts()[&Code::BadId], 1);
    let place = checked(&bad).findings.iter().next().unwrap().place.pointer.clone();
    assert_eq!(place.as_deref(), Some("/nodes/0/id"));

    // Keys of 1.2 in a 1.1 graph.
    let newer = with(&[
        (GRAPH, "", "schemaVersion", json!("1.1")),
        (GRAPH, "/nodes/0", "subworkflowRef", json!("child")),
        (GRAPH, "/nodes/0", "passContext", json!(true)),
        (GRAPH, "/nodes/2", "resultVariables", json!(["x"])),
    ]);
    check_says(
        &newer,
        Code::UnknownKey,
        "has `subworkflowRef`, `passContext`, which format 1.1 does not know, and so has another node",
    );
    assert_eq!(count(&newer), 1, "{:?}", lines(&checked(&newer)));

    // A version that cannot be read decides nothing, and a workflow that is not there returns nothing.
    let unread = with(&[
        (GRAPH, "", "schemaVersion", json!("7")),
        (GRAPH, "/nodes/0", "type", json!("subworkflow")),
    ]);
    assert!(!codes(&unread).contains("BM804"), "{:?}", lines(&checked(&unread)));
    let unknown = with(&[
        (GRAPH, "/nodes/0", "subworkflowRef", json!("chidl")),
        (GRAPH, "/nodes/0", "type", json!("subworkflow")),
        (GRAPH, "/edges/1", "conditionExpr", json!({ "var": "verdict" })),
    ]);
    assert!(!codes(&unknown).contains("BM520"), "{:?}", lines(&checked(&unknown)));
}

#[test]
fn a_missing_edge_is_one_finding_with_both_its_sides() {
    let without = |edge: usize| {
        let mut graph: Json = serde_json::from_str(&small().text(GRAPH)).unwrap();
        graph["edges"].as_array_mut().unwrap().remove(edge);
        let mut files = small();
        files.put(GRAPH, graph.to_string()).unwrap();
        files
    };
    let files = without(0);
    check_codes(&files, &["BM512"]);
    let found = checked(&files);
    let related = found.findings.iter().next().unwrap().related.clone().unwrap();
    assert_eq!(
        related.message,
        "node `choose` cannot be reached from the entry node, nor can the node behind it"
    );
    check_codes(&without(2), &["BM513"]);
    // Without any end, that is the mistake.
    let endless = with(&[(GRAPH, "/nodes/2", "type", json!("merge"))]);
    assert!(codes(&endless).contains("BM510"));
    // Two dead ends: it is not clear which of them should lead on.
    let mut two = without(0);
    set(
        &mut two,
        GRAPH,
        "/nodes",
        "",
        json!({ "id": "lost", "type": "step", "file": "steps/lost.md" }),
    );
    two.put(
        "steps/lost.md",
        "---\nschemaVersion: \"1.1\"\nnodeId: lost\ntype: step\n---\n## Goal\n## Instructions\n",
    )
    .unwrap();
    check_codes(&two, &["BM511", "BM512"]);
}

#[test]
fn the_second_default_is_marked() {
    let files = with(&[(GRAPH, "/edges/1", "isDefault", json!(true))]);
    check_codes(&files, &["BM515"]);
    let found = checked(&files);
    let finding = found.findings.iter().next().unwrap();
    assert_eq!(finding.place.pointer.as_deref(), Some("/edges/2/isDefault"));
    assert_eq!(
        finding.related.as_ref().unwrap().place.pointer.as_deref(),
        Some("/edges/1/isDefault")
    );
}

#[test]
fn the_corrected_text_is_shown_where_it_is_clear() {
    check_says(
        &with(&[(GRAPH, "/nodes/0", "outputs", json!("artifacts/x.md"))]),
        Code::WrongType,
        "write [\"artifacts/x.md\"]",
    );
    check_says(
        &with(&[(GRAPH, "", "schemaVersion", json!(1.2))]),
        Code::WrongType,
        "write \"1.2\"",
    );
    check_says(
        &with(&[(GRAPH, "/edges/0", "isDefault", json!("yes"))]),
        Code::WrongType,
        "write true",
    );
    let mut files = small();
    let text = files.text("workflow.md").replace("stepsCompleted: []\n", "");
    files.put("workflow.md", text).unwrap();
    check_says(&files, Code::MissingKey, "add `stepsCompleted: []`");
    let version = |version: &str| with(&[("bmad.json", "", "version", json!(version))]);
    check_says(
        &version("0.1"),
        Code::BadVersion,
        "it has 2 numbers instead of three / write \"0.1.0\"",
    );
    check_says(&version("v1.2.3"), Code::BadVersion, "write \"1.2.3\"");
    check_says(&version("1.02.3"), Code::BadVersion, "begins with 0 / write \"1.2.3\"");
    check_says(&version("99999999999999999999.0.0"), Code::BadVersion, "too large");
    check_says(&version("x"), Code::BadVersion, "does not begin with three numbers");
    check_says(&version("1.2.3-"), Code::BadVersion, "an empty part");
    let bytes = json!({ "fs": { "maxReadBytes": 1e21 } });
    check_says(
        &with(&[("agents.json", "/agents/0", "tools", bytes)]),
        Code::NumberOutOfRange,
        "is too large",
    );
    let mut files = small();
    let text = files.text("steps/start.md").replace("## Goal", "### Goal");
    files.put("steps/start.md", text).unwrap();
    check_says(
        &files,
        Code::NoGoal,
        "this heading has level 3, so the step has no `## Goal` section / write `## Goal`",
    );
    check_says(
        &with(&[(GRAPH, "/nodes/0", "outputs", json!(["result_json"]))]),
        Code::OutputOutsideArtifacts,
        "is a file of that name in the root of the project",
    );
}

#[test]
fn a_name_with_accents_of_a_mac_is_explained() {
    let mut files = with(&[(GRAPH, "/nodes/0", "file", json!("steps/r\u{e9}sum\u{e9}.md"))]);
    files.put("steps/re\u{301}sume\u{301}.md", files.text("steps/start.md")).unwrap();
    check_says(&files, Code::MissingFile, "encodes its accents in another way");
}

#[test]
fn a_text_names_only_files_that_are_there() {
    let body = |body: &str| {
        let mut files = small();
        let text = files.text("steps/start.md");
        files.put("steps/start.md", format!("{text}{body}\n")).unwrap();
        files
    };
    check_codes(
        &body("Read `@pkg/steps/done.md`, {package-root}/workflow.md and @pkg/steps."),
        &[],
    );
    let dead = body("Read `@pkg/steps/doen.md`, twice: @pkg/steps/doen.md.");
    check_codes(&dead, &["BM615"]);
    check_says(&dead, Code::DeadPackagePath, "did you mean `@pkg/steps/done.md`?");
    let found = checked(&dead);
    let [finding] = found.findings.iter().collect::<Vec<_>>()[..] else {
        panic!("{:?}", lines(&found))
    };
    let span = finding.place.span.unwrap();
    assert_eq!(&dead.text("steps/start.md")[span.start..span.end], "@pkg/steps/doen.md");
    for (key, value) in [
        ("critical_actions", json!(["Load @pkg/gone.md"])),
        ("prompts", json!([{ "id": "p", "content": "Use @pkg/gone.md." }])),
        ("systemPrompt", json!("You know {package-root}/gone.md")),
    ] {
        check_codes(&with(&[("agents.json", "/agents/0", key, value)]), &["BM615"]);
    }
}

#[test]
fn a_step_that_no_node_has_is_named() {
    let mut files = small();
    let text = files.text("steps/start.md").replace("nodeId: start", "nodeId: lost");
    files.put("steps/lost.md", text).unwrap();
    files.put("steps/notes.md", "# Notes for people\n").unwrap();
    check_codes(&files, &["BM616"]);
    check_says(&files, Code::UnusedStep, "says that its node is \"lost\"");
    let script = json!([{ "description": "One", "exec": "steps/lost.md" }]);
    set(&mut files, "agents.json", "/agents/0", "menu", script);
    check_codes(&files, &[]);
    // The file that is missing may be this one.
    let mut renamed = with(&[(GRAPH, "/nodes/0", "file", json!("steps/begin.md"))]);
    renamed.put("agents.json", renamed.text("agents.json")).unwrap();
    check_codes(&renamed, &["BM202"]);
}

#[test]
fn an_output_is_named_by_variables_that_a_step_sets() {
    let output = |path: &str| with(&[(GRAPH, "/nodes/0", "outputs", json!([path]))]);
    for good in [
        "artifacts/{again}.md",
        "artifacts/<again.now>.md",
        "{artifacts-root}/x.md",
        "artifacts/{{ again }}.md",
    ] {
        check_codes(&output(good), &[]);
    }
    check_says(&output("artifacts/{agian}.md"), Code::UnsetOutputVariable, "did you mean `again`?");
}

#[test]
fn a_node_without_a_title_has_that_of_its_step() {
    let title = |files: &MemoryFiles| {
        let package = checked(files).package.unwrap();
        package.workflows()[0].graph.node("start").unwrap().title.clone()
    };
    let mut files = step("title: Begin here");
    assert_eq!(title(&files).as_deref(), Some("Begin here"));
    set(&mut files, GRAPH, "/nodes/0", "title", json!(" "));
    assert_eq!(title(&files).as_deref(), Some("Begin here"));
    set(&mut files, GRAPH, "/nodes/0", "title", json!("Start"));
    assert_eq!(title(&files).as_deref(), Some("Start"));
}

#[test]
fn authors_who_ask_are_told_what_other_tools_may_refuse() {
    use crewagent_format::package::{Audience, check_for};
    let portable = |files: &MemoryFiles| {
        let checked = check_for(Audience::EveryTool, files, &semver::Version::new(0, 1, 0));
        let found = checked.findings.iter().filter(|found| found.code == Code::NotPortable);
        found.map(|found| found.place.pointer.clone().unwrap_or_default()).collect::<Vec<_>>()
    };
    for name in ["create-story-micro", "hello-branch", "multi-workflows"] {
        assert_eq!(portable(&example(name)), Vec::<String>::new(), "{name}");
    }
    let mut files = example("hello-branch");
    let agent = |files: &mut MemoryFiles, key: &str, value: Json| {
        set(files, "agents.json", "/agents/0", key, value);
    };
    agent(&mut files, "discussion", json!("yes"));
    agent(&mut files, "webskip", json!(1));
    agent(&mut files, "conversational_knowledge", json!([{}, "x"]));
    agent(&mut files, "critical_actions", json!(["a", ""]));
    agent(&mut files, "prompts", json!([{ "id": "p", "content": " " }]));
    set(&mut files, "bmad.json", "/entry", "workflow", json!("./workflow.md"));
    set(&mut files, "bmad.json", "", "runtime", json!({ "minRuntimeVersion": "0.1" }));
    set(&mut files, GRAPH, "", "$schema", json!("x"));
    set(&mut files, GRAPH, "/nodes/0", "agentId", json!(""));
    set(&mut files, GRAPH, "/edges/0", "conditionExpr", json!({}));
    let text = files.text("workflow.md").replacen("---\n", "---\nrunId:\n", 1);
    files.put("workflow.md", text).unwrap();
    let expected = [
        "/agents/0/conversational_knowledge/1",
        "/agents/0/critical_actions/1",
        "/agents/0/discussion",
        "/agents/0/prompts/0/content",
        "/agents/0/webskip",
        "/entry/workflow",
        "/runtime/minRuntimeVersion",
        "/$schema",
        "/edges/0/conditionExpr",
        "/nodes/0/agentId",
        "/runId",
    ];
    let mut found = portable(&files);
    found.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn what_is_readable_of_a_package_with_mistakes_can_be_drawn() {
    let files = with(&[
        (GRAPH, "/nodes/0", "surprise", json!(1)),
        (GRAPH, "/nodes/1", "type", json!("decison")),
        (GRAPH, "/edges/0", "to", json!("gone")),
        (GRAPH, "/nodes/2", "agentId", json!("two")),
    ]);
    assert!(checked(&small()).sketches.is_empty());
    let checked = checked(&files);
    assert!(checked.package.is_none());
    let [main, child] = &checked.sketches[..] else { panic!("{:?}", checked.sketches) };
    assert_eq!(
        main.nodes.iter().map(|node| node.id.as_str()).collect::<Vec<_>>(),
        ["start", "choose", "done"]
    );
    assert_eq!(main.nodes[1].kind, None);
    assert_eq!(main.nodes[2].agent.as_deref(), Some("A"));
    assert_eq!((main.edges.len(), main.edges[0].to.as_str()), (3, "gone"));
    assert_eq!(child.id.as_ref().unwrap().as_str(), "child");
}

#[test]
fn transitions_are_compared_as_far_as_both_speak() {
    let step = |transitions: &str| {
        let mut files = with(&[(GRAPH, "/edges/0", "conditionText", json!("when ready"))]);
        let text = files
            .text("steps/start.md")
            .replace("type: step", &format!("type: step\ntransitions: {transitions}"));
        files.put("steps/start.md", text).unwrap();
        files
    };
    check_codes(&step("[{to: choose, label: next}]"), &[]);
    check_codes(&step("[{to: choose, label: next, conditionText: when ready}]"), &[]);
    check_codes(&step("[{to: choose, label: next, conditionText: never}]"), &["BM602"]);
    check_codes(&step("[{to: choose, label: next, isDefault: true}]"), &[]);
    let mut stated = step("[{to: choose, label: next, isDefault: true}]");
    set(&mut stated, GRAPH, "/edges/0", "isDefault", json!(false));
    check_codes(&stated, &["BM602"]);
    check_codes(&step("[{to: \"not an id\", label: \"\"}]"), &["BM602"]);
}

#[test]
fn a_step_shared_by_two_nodes_says_so() {
    let files = with(&[(GRAPH, "/nodes/1", "file", json!("steps/start.md"))]);
    check_says(&files, Code::NodeIdMismatch, "two nodes of one graph use this step");
    let files = with(&[
        (GRAPH, "/nodes/2", "file", json!("steps/choose.md")),
        (GRAPH, "/nodes/1", "file", json!("steps/done.md")),
    ]);
    check_says(&files, Code::NodeIdMismatch, "this step says that its node is");
}

#[test]
fn an_unset_variable_is_underlined_where_it_is_read() {
    let files = with(&[(
        GRAPH,
        "/edges/1",
        "conditionExpr",
        json!({ "and": [{ "var": "agian.x" }, { "var": "agian.y" }] }),
    )]);
    let found = checked(&files);
    let [finding] = found.findings.iter().collect::<Vec<_>>()[..] else {
        panic!("{:?}", lines(&found))
    };
    let span = finding.place.span.unwrap();
    assert_eq!(&files.text(GRAPH)[span.start..span.end], "\"agian.x\"");
    assert_eq!(finding.help.as_deref(), Some("did you mean `again`?"));
}

#[test]
fn a_child_knows_what_its_callers_pass_on() {
    let call = |pass: bool| {
        let mut files = with(&[
            (GRAPH, "/nodes/0", "type", json!("subworkflow")),
            (GRAPH, "/nodes/0", "subworkflowRef", json!("child")),
            (GRAPH, "/nodes/0", "passContext", json!(pass)),
            (
                "child/graph.json",
                "/edges",
                "",
                json!({ "from": "done", "to": "done", "label": "x", "conditionExpr": { "var": "fromParent" } }),
            ),
        ]);
        let step = files.text("steps/start.md").replace("type: step", "type: subworkflow");
        files.put("steps/start.md", step).unwrap();
        let text = files
            .text("workflow.md")
            .replace("stepsCompleted: []", "stepsCompleted: []\nvariables: {fromParent.x: 1}");
        files.put("workflow.md", text).unwrap();
        codes(&files).contains("BM520")
    };
    assert!(call(false));
    assert!(!call(true));
}

#[test]
fn the_steps_index_is_found_and_its_links_are_followed() {
    let index = |body: &str| workflow("x: 1", body);
    for good in [
        "## Steps\n[a](steps/start.md)",
        "# Steps-Index\n[a](@pkg/steps/start.md)",
        "## Steps\n[a]({package-root}/steps/start.md) [b](artifacts/x.md) [c](https:x) [d](steps/st%61rt.md)",
        "## Steps\n## Notes\n[a](gone.md)",
    ] {
        check_codes(&index(good), &[]);
    }
    for bad in [
        "# Steps-Index\n[a](gone.md)",
        "### Step Index\n#### More\n[a](gone.md)",
        "## Steps\n[a](@pkg/gone.md)",
    ] {
        check_codes(&index(bad), &["BM609"]);
    }
}

#[test]
fn the_examples_still_load_with_what_this_runtime_adds() {
    let package = checked(&example("nested-review")).package.unwrap();
    assert!(package.workflows().iter().any(|workflow| !workflow.calls.is_empty()));
}

fn step(lines: &str) -> MemoryFiles {
    let mut files = small();
    let text = format!(
        "---\nschemaVersion: \"1.1\"\nnodeId: start\ntype: step\nsetsVariables: [again.now]\n{lines}\n---\n## Goal\n## Instructions\n"
    );
    files.put("steps/start.md", text).unwrap();
    files
}

fn front(lines: &str) -> crewagent_format::package::step::StepFront {
    let package = checked(&step(lines)).package.unwrap();
    let (_, step) =
        package.workflows()[0].steps.iter().find(|(id, _)| id.as_str() == "start").unwrap();
    step.front.clone()
}

#[test]
fn a_step_advises_a_tier_and_never_a_model() {
    use crewagent_format::package::step::Tier;
    for (word, tier) in [("fast", Tier::Fast), ("strong", Tier::Strong), ("review", Tier::Review)] {
        check_codes(&step(&format!("model: {word}")), &[]);
        assert_eq!(front(&format!("model: {word}")).model, Some(tier));
    }
    for other in ["gpt-4o", "Fast", "7", "[fast]", "\"\""] {
        check_codes(&step(&format!("model: {other}")), &["BM613"]);
        assert_eq!(front(&format!("model: {other}")).model, None, "{other}");
    }
    check_codes(&step("model:"), &[]);
}

#[test]
fn a_step_limits_its_visits_and_a_wrong_limit_is_ignored() {
    use crewagent_format::package::step::StepLimits;
    let all = "limits: { turns: 3, tokens: 900, cost: 0.5, seconds: 60 }";
    check_codes(&step(all), &[]);
    let limits =
        StepLimits { turns: Some(3), tokens: Some(900), cost: Some(0.5), seconds: Some(60) };
    assert_eq!(front(all).limits, Some(limits));
    for wrong in
        ["7", "{ turns: 0 }", "{ turns: ten }", "{ turns: 1.5 }", "{ cost: -1 }", "{ money: 1 }"]
    {
        check_codes(&step(&format!("limits: {wrong}")), &["BM614"]);
        assert_eq!(
            front(&format!("limits: {wrong}")).limits,
            Some(StepLimits::default()),
            "{wrong}"
        );
    }
    assert_eq!(front("limits: { turns: 2, cost: free }").limits.unwrap().turns, Some(2));
    check_says(&step("limits: { turn: 2 }"), Code::BadStepLimit, "there is no limit \"turn\"");
}
