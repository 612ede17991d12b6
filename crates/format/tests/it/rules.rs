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
    check_says(&newer, Code::UnknownKey, "in format 1.1");
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
    for bad in ["", "0.", "x", "0.1-beta", "01"] {
        check_codes(&needs(bad), &["BM402"]);
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
    check_codes(&step("[{to: choose, label: next, isDefault: true}]"), &["BM602"]);
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
