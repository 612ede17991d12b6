//! Roots of other names, several versions together, line endings and languages.

use crewagent_convert::{Conversion, ConvertOptions, SourceFiles, convert};
use crewagent_format::code::Code;
use serde_json::Value as Json;

use crate::fixture::{agent, converted, count, findings_text, folder, json, read, text};

/// Changes the paths and contents of a source.
fn changed(
    files: &SourceFiles,
    path: impl Fn(&str) -> String,
    content: impl Fn(&str) -> String,
) -> SourceFiles {
    let mut all = SourceFiles::default();
    for (name, bytes) in files.iter() {
        let text = content(std::str::from_utf8(bytes).unwrap());
        assert!(all.insert(&path(name), text.into_bytes()));
    }
    all
}

fn graphs_and_agents(conversion: &Conversion) -> Vec<(String, Json)> {
    assert!(conversion.package.is_some(), "{}", findings_text(conversion));
    let package = conversion.package.as_ref().unwrap();
    let is_it = |path: &str| path.ends_with(".graph.json") || path == "agents.json";
    let paths = package.iter().map(|(path, _)| path.to_string()).filter(|path| is_it(path));
    paths.map(|path| (path.clone(), json(conversion, &path))).collect()
}

#[test]
fn a_root_may_have_another_name() {
    let files = read(&folder("installed"));
    let expected = graphs_and_agents(&converted(&files, "x"));
    for root in [".bmad", "bmad"] {
        let renamed =
            changed(&files, |path| path.replace("_bmad/", &format!("{root}/")), str::to_owned);
        let conversion = converted(&renamed, "x");
        assert_eq!(graphs_and_agents(&conversion), expected, "{root}");
        assert_eq!(json(&conversion, "bmad.json")["aliases"][root], "bmad");
    }
    let inside = changed(
        &files,
        |path| path.strip_prefix("_bmad/").map_or_else(|| format!("skip/{path}"), str::to_owned),
        str::to_owned,
    );
    assert_eq!(agent(&converted(&inside, "_bmad"), "editor")["metadata"]["name"], "Vera");
}

#[test]
fn line_endings_and_byte_order_marks_change_nothing() {
    for name in ["tree", "installed", "old"] {
        let files = read(&folder(name));
        let expected = graphs_and_agents(&converted(&files, name));
        let crlf = changed(&files, str::to_owned, |text| text.replace('\n', "\r\n"));
        assert_eq!(graphs_and_agents(&converted(&crlf, name)), expected, "{name}");
        let marked = changed(&files, str::to_owned, |text| format!("\u{feff}{text}"));
        assert_eq!(graphs_and_agents(&converted(&marked, name)), expected, "{name}");
    }
}

#[test]
fn the_order_of_files_does_not_matter() {
    let files = read(&folder("installed"));
    let mut reversed = SourceFiles::default();
    for (path, bytes) in files.iter().collect::<Vec<_>>().into_iter().rev() {
        reversed.insert(path, std::sync::Arc::clone(bytes));
    }
    assert_eq!(converted(&files, "x").package, converted(&reversed, "x").package);
}

#[test]
fn several_versions_are_read_and_the_newest_wins() {
    let mut files = read(&folder("installed"));
    let skill = files.get(".claude/skills/tales-write/SKILL.md").unwrap().clone();
    files.insert(".agents/skills/tales-write/SKILL.md", skill);
    let conversion = converted(&files, "x");
    assert_eq!(count(&conversion, Code::SeveralVersions), 0, "equal files count once");
    files.insert("bmad/_cfg/manifest.yaml", *b"installation:\n  version: 6.0.0\n");
    files.insert("bmad/tales/agents/editor.md", *b"old");
    files.insert("bmad/tales/tasks/older.md", *b"# Older\n\nStill here.\n");
    files.insert(
        ".agents/skills/tales-write/SKILL.md",
        *b"---\nname: tales-write\n---\nOther words.\n",
    );
    let conversion = converted(&files, "x");
    assert_eq!(count(&conversion, Code::SeveralVersions), 2, "{}", findings_text(&conversion));
    assert_eq!(agent(&conversion, "editor")["metadata"]["name"], "Vera");
    assert!(text(&conversion, "workflows/tales-write/steps/work.md").ends_with("Other words.\n"));
    assert!(text(&conversion, "workflows/older/steps/work.md").ends_with("Still here.\n"));
    assert_eq!(
        json(&conversion, "bmad.json")["version"].as_str().unwrap().split('+').next(),
        Some("7.1.0")
    );
}

#[test]
fn missing_configuration_stops_nothing() {
    let mut files = SourceFiles::default();
    let all = read(&folder("installed"));
    for (path, bytes) in all.iter() {
        if !path.ends_with("config.yaml")
            && !path.contains("/custom/")
            && !path.ends_with("customize.toml")
        {
            files.insert(path, bytes.clone());
        }
    }
    let conversion = converted(&files, "x");
    let keys = json(&conversion, "bmad.json")["config"].as_array().unwrap().clone();
    assert!(keys.iter().any(|key| key["name"] == "output_folder" && key["kind"] == "path"));
    assert_eq!(agent(&conversion, "editor")["metadata"]["name"], "Vera");
}

#[test]
fn names_and_texts_may_be_in_any_language() {
    let mut files = SourceFiles::default();
    let mut add = |path: &str, text: &str| assert!(files.insert(path, text.as_bytes()));
    add("src/故事/module.yaml", "code: 故事\n文件夹:\n  prompt: 放在哪里?\n");
    add(
        "src/故事/agents/编辑.agent.yaml",
        "agent:\n  metadata: {name: 小美, title: 编辑, icon: 📖}\n  persona: {role: 编辑, identity: 读了很多书。, communication_style: 简短, principles: [少即是多]}\n  menu:\n    - trigger: 大纲\n      workflow: \"{project-root}/_bmad/故事/workflows/大纲/workflow.yaml\"\n      description: 写大纲\n",
    );
    add(
        "src/故事/workflows/大纲/workflow.yaml",
        "name: 大纲\ndescription: 写一个大纲\ninstructions: \"{installed_path}/说明.md\"\n",
    );
    add("src/故事/workflows/大纲/说明.md", "# 大纲\n\n先问用户故事的主题。\n");
    let conversion = converted(&files, "故事");
    let editor = agent(&conversion, "agent-1");
    assert_eq!(editor["metadata"]["name"], "小美");
    assert_eq!(editor["menu"][0]["workflow"], "workflow-1");
    assert!(
        text(&conversion, "workflows/workflow-1/steps/work.md").ends_with("先问用户故事的主题。\n")
    );
    let manifest = json(&conversion, "bmad.json");
    assert_eq!(
        (&manifest["name"], &manifest["workflows"][0]["displayName"]),
        (&"source".into(), &"大纲".into())
    );
}

#[test]
fn a_selection_narrows_what_is_converted() {
    let files = read(&folder("tree"));
    let with = |modules: &[&str], only: &[&str]| {
        let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let options = ConvertOptions {
            name: "tree".to_owned(),
            modules: own(modules),
            only: own(only),
            ..ConvertOptions::default()
        };
        convert(&files, &options)
    };
    let all = with(&["tales"], &[]).report.counts;
    assert_eq!(all, converted(&files, "tree").report.counts);
    assert_eq!(count(&with(&["music"], &[]), Code::NothingFound), 1);
    let one = with(&[], &["outline"]);
    assert_eq!((one.report.counts.workflows, one.report.counts.agents), (1, 0));
    assert!(one.package.is_some());
    let agent = with(&[], &["muse"]);
    assert_eq!((agent.report.workflows.len(), agent.report.counts.agents), (1, 1));
}

#[test]
fn overrides_correct_a_reading_and_those_without_match_are_told() {
    let files = read(&folder("tree"));
    let rules = "- {workflow: outline, node: work, set: {title: Other, agent: editor, waitsForUser: true}}\n- {workflow: none, node: work, set: {title: x}}\n- {workflow: outline, edge: {from: a, to: b}, remove: true}\n";
    let options = ConvertOptions {
        name: "tree".to_owned(),
        overrides: Some(rules.as_bytes().to_vec()),
        ..ConvertOptions::default()
    };
    let conversion = convert(&files, &options);
    let graph = json(&conversion, "workflows/outline/workflow.graph.json");
    let node = &graph["nodes"][0];
    assert_eq!(
        (&node["title"], &node["agentId"], &node["waitsForUser"]),
        (&"Other".into(), &"editor".into(), &true.into())
    );
    assert_eq!(count(&conversion, Code::OverrideWithoutMatch), 2, "{}", findings_text(&conversion));
    assert_ne!(conversion.report.source_digest, converted(&files, "tree").report.source_digest);
}
