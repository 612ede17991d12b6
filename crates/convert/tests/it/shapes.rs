//! Every shape of an agent, of a menu item and of configuration, by fixtures of our own.

use crewagent_convert::{ConvertOptions, SourceKind, SourceShape, convert};
use crewagent_format::code::Code;
use serde_json::{Value as Json, json};

use crate::fixture::{
    agent, converted, count, findings_text, folder, json, read, source_part, text,
};

fn item<'a>(agent: &'a Json, trigger: &str) -> &'a Json {
    let items = agent["menu"].as_array().unwrap();
    let is_it = |item: &&Json| item["trigger"].as_str().unwrap_or_default().starts_with(trigger);
    items.iter().find(is_it).unwrap_or_else(|| panic!("there is no item {trigger}"))
}

#[test]
fn an_agent_of_yaml_becomes_one_to_one() {
    let conversion = converted(&read(&folder("tree")), "tree");
    let editor = agent(&conversion, "editor");
    assert_eq!(
        editor["metadata"],
        json!({ "name": "Wilma", "title": "Story Editor", "icon": "✏️", "module": "tales", "capabilities": "outlines, line editing" })
    );
    assert_eq!(
        editor["persona"],
        json!({
            "role": "Editor of short stories",
            "identity": "Has read ten thousand manuscripts & liked most of them.",
            "communication_style": "Short sentences. One remark at a time.",
            "principles": ["A scene changes something.", "Cut the first paragraph."],
        })
    );
    assert_eq!(editor["critical_actions"], json!(["Read the whole text before the first remark"]));
    let content = "Say what the story is about in one sentence.\nThen say what could go.";
    assert_eq!(editor["prompts"], json!([{ "id": "weigh", "content": content }]));
}

#[test]
fn a_menu_item_is_judged_by_the_file_it_points_to() {
    let conversion = converted(&read(&folder("tree")), "tree");
    let editor = agent(&conversion, "editor");
    assert_eq!(item(&editor, "OU")["workflow"], "outline");
    let tale = item(&editor, "WT");
    assert_eq!(
        (&tale["workflow"], &tale["data"]),
        (&json!("tale"), &json!("@pkg/bmad/tales/data/names.csv"))
    );
    assert_eq!(
        tale["source"]["exec"],
        "{project-root}/{bmad_folder}/tales/workflows/tale/workflow.md"
    );
    let polish = item(&editor, "PO");
    assert_eq!(
        (&polish["workflow"], &polish["description"]),
        (&json!("polish"), &json!("[PO] Polish a paragraph"))
    );
    assert_eq!(item(&editor, "NO")["exec"], "@pkg/bmad/tales/data/notes.md");
    assert_eq!(item(&editor, "WE")["action"], "#weigh");
    let titles = item(&editor, "TI");
    assert_eq!(titles["action"], "Propose five titles for the story of the user.");
    assert_eq!(titles["data"], "@pkg/bmad/tales/data/titles.md");
    assert_eq!(item(&editor, "CH")["exec"], "@pkg/bmad/tales/workflows/outline/checklist.md");
    let quick = item(&editor, "QU");
    assert_eq!((&quick["yolo"], &quick["ide-only"]), (&json!(true), &json!(true)));
}

#[test]
fn an_item_without_a_target_stays_and_says_so() {
    let conversion = converted(&read(&folder("tree")), "tree");
    let editor = agent(&conversion, "editor");
    for (trigger, reason) in [
        ("FU", "its author has not written it yet"),
        ("GO", "there is no such file in the source"),
        ("MU", "the module \"music\" is not in the source"),
    ] {
        let action = item(&editor, trigger)["action"].as_str().unwrap();
        assert!(action.contains(reason), "{action}");
    }
    assert_eq!(count(&conversion, Code::DanglingReference), 3, "{}", findings_text(&conversion));
    let counts = conversion.report.counts;
    assert_eq!((counts.menu_items, counts.menu_items_resolved), (13, 10));
}

#[test]
fn several_handlers_in_one_item_become_triggers_in_all_spellings() {
    let conversion = converted(&read(&folder("tree")), "tree");
    let editor = agent(&conversion, "editor");
    let items = editor["menu"].as_array().unwrap();
    let multi = items.iter().find(|item| item["triggers"].is_array()).unwrap();
    assert_eq!(
        multi["triggers"],
        json!([
            { "type": "handler", "match": "SP or fuzzy match on party", "workflow": "tale", "data": "@pkg/bmad/tales/data/names.csv" },
            { "type": "handler", "match": "SM or fuzzy match on meeting", "action": "Call a meeting of all characters." },
            { "type": "handler", "match": "weighing", "action": "#weigh" },
        ])
    );
    let installed = converted(&read(&folder("installed")), "installed");
    let editor = agent(&installed, "editor");
    let items = editor["menu"].as_array().unwrap();
    let multi = items.iter().find(|item| item["triggers"].is_array()).unwrap();
    assert_eq!(
        multi["triggers"],
        json!([
            { "type": "handler", "match": "SP or fuzzy match on party", "workflow": "tale" },
            { "type": "handler", "match": "SM or fuzzy match on meeting", "action": "Call a meeting." },
        ])
    );
}

#[test]
fn an_incomplete_agent_is_filled_and_a_broken_one_is_told() {
    let conversion = converted(&read(&folder("tree")), "tree");
    let muse = agent(&conversion, "muse");
    assert_eq!(
        (&muse["metadata"]["name"], &muse["metadata"]["title"]),
        (&json!("Muse"), &json!("Muse"))
    );
    assert_eq!(muse["persona"]["principles"], "- No idea is too small.\n- Say yes first.");
    assert_eq!(muse["persona"]["identity"], "Muse.");
    let all = findings_text(&conversion);
    assert!(all.contains("broken.agent.yaml:4: the agent cannot be read"), "{all}");
    assert!(all.contains("two menu items that answer to \"ou\""), "{all}");
    assert_eq!(count(&conversion, Code::AgentIncomplete), 3, "{all}");
    let ids: Vec<String> = conversion.report.agents.iter().map(|agent| agent.id.clone()).collect();
    assert_eq!(ids, ["editor", "muse"]);
}

#[test]
fn an_agent_of_xml_is_decoded_and_its_customization_merged() {
    let conversion = converted(&read(&folder("installed")), "installed");
    let editor = agent(&conversion, "editor");
    assert_eq!(editor["metadata"]["name"], "Vera");
    assert_eq!(editor["persona"]["communication_style"], "Says \"cut\" & <means> it.");
    assert_eq!(
        editor["persona"]["principles"],
        "- A scene changes something. - Cut the first paragraph."
    );
    assert_eq!(
        editor["critical_actions"],
        json!([
            "Read the whole text before the first remark",
            "Never rewrite a whole page",
            "Always remember: The user writes at night.",
            "Always remember: The user likes rain",
        ])
    );
    assert_eq!(editor["prompts"], json!([{ "id": "weigh", "content": "Weigh it twice." }]));
    assert_eq!(item(&editor, "MH")["action"], "menu.show");
    assert!(item(&editor, "CH")["action"].as_str().unwrap().starts_with("Talk"));
    assert_eq!(item(&editor, "DA")["action"], "agent.dismiss");
    assert_eq!(item(&editor, "*weigh")["action"], "#weigh");
    assert_eq!(item(&editor, "RA")["description"], "[RA] Rain");
    let used =
        &conversion.report.agents.iter().find(|agent| agent.id == "editor").unwrap().customizations;
    assert_eq!(*used, ["_bmad/_config/agents/tales-editor.customize.yaml"]);
}

#[test]
fn a_skill_with_an_agent_table_is_merged_with_the_projects_layers() {
    let files = read(&folder("installed"));
    let conversion = converted(&files, "installed");
    let narrator = agent(&conversion, "tales-narrator");
    assert_eq!(narrator["metadata"]["icon"], "📻");
    assert_eq!(narrator["persona"]["principles"].as_array().unwrap().len(), 3);
    let actions = narrator["critical_actions"].as_array().unwrap();
    assert_eq!(
        actions[..3],
        [
            json!("Breathe in."),
            json!("Say the title."),
            json!("Always remember: The studio is dark.")
        ]
    );
    assert!(actions[3].as_str().unwrap().contains("{project-root}/docs/voices.md"), "{actions:?}");
    let triggers: Vec<&Json> =
        narrator["menu"].as_array().unwrap().iter().map(|item| &item["trigger"]).collect();
    assert_eq!(triggers, ["TE", "SI", "WH"]);
    assert_eq!(item(&narrator, "TE")["workflow"], "tales-write");
    assert_eq!(item(&narrator, "SI")["action"], "Hum one verse.");
    let options =
        ConvertOptions { name: "installed".into(), personal: true, ..ConvertOptions::default() };
    assert_eq!(agent(&convert(&files, &options), "tales-narrator")["metadata"]["icon"], "🌙");
}

#[test]
fn a_skill_with_a_table_of_codes_is_an_agent() {
    let conversion = converted(&read(&folder("installed")), "installed");
    let board = agent(&conversion, "tales-board");
    assert_eq!(
        (&board["metadata"]["name"], &board["metadata"]["title"]),
        (&json!("Bo"), &json!("Publisher"))
    );
    assert_eq!(board["persona"]["identity"], "Bo reads fast and decides at once.");
    assert_eq!(item(&board, "TE")["workflow"], "tales-write");
    assert_eq!(item(&board, "NA")["exec"], "@pkg/skills/tales-narrator/SKILL.md");
}

#[test]
fn an_old_installation_gives_its_agents_and_tasks() {
    let files = read(&folder("old"));
    let shape = SourceShape::detect(&mut files.paths()).unwrap();
    assert_eq!(shape.kind(), Some(SourceKind::OldInstallation));
    let conversion = converted(&files, "old");
    let writer = agent(&conversion, "writer");
    assert_eq!(writer["persona"]["communication_style"], "Quick and loose");
    assert_eq!(item(&writer, "help")["action"], "menu.show");
    assert_eq!(item(&writer, "draft")["workflow"], "draft");
    assert_eq!(item(&writer, "exit")["action"], "agent.dismiss");
}

#[test]
fn configuration_is_declared_by_modules_and_by_installations() {
    let manifest = json(&converted(&read(&folder("tree")), "tree"), "bmad.json");
    let key = |name: &str| {
        let keys = manifest["config"].as_array().unwrap();
        keys.iter().find(|key| key["name"] == name).unwrap_or_else(|| panic!("no {name}")).clone()
    };
    assert_eq!(
        key("story_folder"),
        json!({ "name": "story_folder", "default": "{project-root}/stories", "kind": "path", "prompt": "Where do stories go?" })
    );
    assert_eq!(key("draft_folder")["default"], "{story_folder}/drafts");
    assert_eq!(
        key("reader_age"),
        json!({
            "name": "reader_age", "default": "adults", "scope": "user",
            "prompt": "Who reads the stories? This changes how words are chosen.",
            "choices": ["children", "adults"],
        })
    );
    assert_eq!(key("user_name"), json!({ "name": "user_name", "scope": "user" }));
    let roots = json!(["artifacts", "{draft_folder}", "{output_folder}", "{story_folder}"]);
    assert_eq!(manifest["artifactRoots"], roots);
    let manifest = json(&converted(&read(&folder("installed")), "installed"), "bmad.json");
    let keys = manifest["config"].as_array().unwrap();
    let story = keys.iter().find(|key| key["name"] == "story_folder").unwrap();
    assert_eq!(story["default"], "{project-root}/{output_folder}/stories");
    let user = keys.iter().find(|key| key["name"] == "user_name").unwrap();
    assert!(user["default"].is_null(), "a person's name is no default");
}

#[test]
fn instructions_and_tasks_become_one_node_verbatim() {
    let conversion = converted(&read(&folder("tree")), "tree");
    let source =
        std::fs::read_to_string(folder("tree/src/tales/workflows/outline/instructions.md"));
    let step = text(&conversion, "workflows/outline/steps/work.md");
    assert_eq!(source_part(&step), source.unwrap());
    for line in [
        "\"scene_limit\":\"12\"",
        "\"storyteller\":\"{user_name}\"",
        "\"template\":\"@pkg/bmad/tales/workflows/outline/template.md\"",
        "\n## Goal\n\nFrom an idea to a list of scenes\n",
    ] {
        assert!(step.contains(line), "{line} is not in\n{step}");
    }
    let polish = text(&conversion, "workflows/polish/steps/work.md");
    assert!(polish.contains("## Goal\n\nMake a paragraph shorter and clearer\n"), "{polish}");
    let package = conversion.package.as_ref().unwrap();
    assert!(package.get("workflows/count/workflow.md").is_some());
    assert!(package.get("workflows/machine/workflow.md").is_none(), "it is internal");
    assert!(package.get("bmad/tales/tasks/machine.xml").is_some());
    assert_eq!(count(&conversion, Code::CarriedAsText), 1, "{}", findings_text(&conversion));
}

#[test]
fn lists_that_content_reads_are_written() {
    let conversion = converted(&read(&folder("tree")), "tree");
    let roster = text(&conversion, "bmad/_config/agent-manifest.csv");
    let mut lines = roster.lines();
    assert!(lines.next().unwrap().starts_with("name,displayName,title,icon"));
    assert!(lines.next().unwrap().starts_with("\"editor\",\"Wilma\",\"Story Editor\""), "{roster}");
    assert!(roster.contains("\"_bmad/tales/agents/editor.agent.yaml\""), "{roster}");
    let workflows = text(&conversion, "bmad/_config/workflow-manifest.csv");
    assert!(
        workflows.contains("\"outline\",\"From an idea to a list of scenes\",\"tales\""),
        "{workflows}"
    );
    assert_eq!(count(&conversion, Code::GeneratedFile), 2);
}

#[test]
fn nothing_that_belongs_to_a_project_or_a_person_is_copied() {
    let conversion = converted(&read(&folder("installed")), "installed");
    let package = conversion.package.as_ref().unwrap();
    for (path, _) in package.iter() {
        let path = path.as_str();
        assert!(!path.contains(".user.") && !path.contains("_memory"), "{path}");
        assert!(!path.ends_with("/config.yaml") && !path.ends_with("config.toml"), "{path}");
    }
    let files = &conversion.report.files;
    assert_eq!(files["_bmad/core/config.yaml"].became, "config");
    assert_eq!(files["_bmad/tales/agents/editor.md"].became, "agent");
    assert_eq!(files[".claude/skills/tales-write/SKILL.md"].became, "node");
    assert_eq!(files[".claude/skills/tales-write/references/page.md"].became, "text");
}
