//! Laws that hold for any input: reading and writing are inverse, edits touch one key, nothing panics.

use crewagent_format::frontmatter::{Edit, Frontmatter};
use crewagent_format::syntax::{json, yaml};
use crewagent_testkit::fixture::{cases, checked, example};
use crewagent_testkit::package::MemoryFiles;
use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// Generates any JSON value of moderate size, with strings that are difficult in YAML.
fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i32>().prop_map(Json::from),
        (-1000_i32..1000).prop_map(|number| json!(f64::from(number) / 8.0)),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Json::from),
            hash_map(key(), inner, 0..5).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    let tricky = vec![
        "",
        " ",
        "yes",
        "no",
        "null",
        "~",
        "true",
        "1",
        "1.0",
        "012",
        "1_000",
        "0x1f",
        "- a",
        "a: b",
        "a #b",
        "#c",
        "*a",
        "&a",
        "!t",
        "|",
        ">",
        "---",
        "...",
        "[",
        "{",
        "]",
        "}",
        ",",
        "?",
        "@x",
        "`x",
        "%x",
        "'",
        "\"",
        "\\",
        "a\nb",
        "a\n",
        "\ta",
        "a\t",
        " a",
        "a ",
        "中文",
        "é",
        "😀",
        "\u{feff}a",
        "a\u{85}b",
        "a\u{2028}b",
        "2026-01-02",
        "2026-01-02T03:04:05Z",
        "<storyKey>",
        "artifacts/x.md",
        ".inf",
        "NaN",
        "=",
        "<<",
        "a\r\nb",
        "\u{7}",
    ];
    prop_oneof![prop::sample::select(tricky).prop_map(str::to_owned), "[ -~]{0,20}", "\\PC{0,8}"]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![5 => "[a-z][a-zA-Z0-9_]{0,8}", 1 => text()]
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn json_is_read_as_it_was_written(value in value()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let tree = json::parse(&text).unwrap();
            prop_assert_eq!(&tree.to_json(), &value);
            prop_assert_eq!(json::parse(&tree.to_json().to_string()).unwrap().to_json(), tree.to_json());
        }
    }

    #[test]
    fn json_is_yaml_and_a_second_reader_agrees(value in value()) {
        let text = value.to_string();
        let ours = yaml::parse(&text);
        if let Ok(ours) = &ours {
            prop_assert_eq!(&ours.to_json(), &value);
        }
        // Both refuse the same few strings that YAML cannot hold, such as some control characters.
        let options = serde_saphyr::options! { strict_booleans: true };
        if let (Ok(ours), Ok(theirs)) = (&ours, serde_saphyr::from_str_with_options::<Json>(&text, options)) {
            prop_assert_eq!(ours.to_json(), theirs);
        }
    }

    #[test]
    fn every_span_of_a_json_tree_is_that_value(value in value()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        fn check(tree: &crewagent_format::syntax::Tree, text: &str) {
            let own = &text[tree.span.start..tree.span.end];
            assert_eq!(serde_json::from_str::<Json>(own).unwrap(), tree.to_json());
            tree.as_list().unwrap_or_default().iter().for_each(|item| check(item, text));
            for entry in tree.as_map().unwrap_or_default() {
                assert_eq!(serde_json::from_str::<String>(&text[entry.key_span.start..entry.key_span.end]).unwrap(), entry.key);
                check(&entry.tree, text);
            }
        }
        check(&json::parse(&text).unwrap(), &text);
    }

    #[test]
    fn an_edit_of_frontmatter_changes_only_its_key(
        index in 0..TEMPLATES.len(),
        crlf in any::<bool>(),
        edits in vec((key(), value()), 1..4),
        existing in any::<prop::sample::Index>(),
        replace in value(),
    ) {
        let template = if crlf { TEMPLATES[index].replace('\n', "\r\n") } else { TEMPLATES[index].to_owned() };
        let before = Frontmatter::parse(template.as_str()).unwrap();
        let keys: Vec<String> = before.entries().iter().map(|entry| entry.key.clone()).collect();
        let mut all: Vec<(String, Json)> = edits;
        if !keys.is_empty() {
            all.push((keys[existing.index(keys.len())].clone(), replace));
        }
        let mut document = before.clone();
        for (key, value) in all {
            let edited = document.edited(&[Edit::Set { path: vec![key.clone()], value: value.clone() }]);
            prop_assert!(edited.is_ok(), "{:?} on {:?} := {}", edited.err(), key, value);
            let after = edited.unwrap();
            prop_assert_eq!(&after.tree().get(&key).unwrap().tree.to_json(), &value);
            assert_only_changed(&document, &after, &key)?;
            document = after;
        }
        prop_assert_eq!(document.body(), before.body());
    }

    #[test]
    fn a_push_keeps_the_rest_of_the_list(index in 0..TEMPLATES.len(), item in value()) {
        let before = Frontmatter::parse(TEMPLATES[index]).unwrap();
        let edit = Edit::Push { path: vec!["stepsCompleted".into()], value: item.clone() };
        let edited = before.edited(&[edit]);
        prop_assert!(edited.is_ok(), "{:?} pushing {}", edited.err(), item);
        let after = edited.unwrap();
        let list = after.tree().get("stepsCompleted").unwrap().tree.to_json();
        prop_assert_eq!(list.as_array().unwrap().last(), Some(&item));
        assert_only_changed(&before, &after, "stepsCompleted")?;
    }

    #[test]
    fn nothing_panics_on_any_text(which in 0_usize..5, text in "(?s).{0,400}", bytes in vec(any::<u8>(), 0..400)) {
        let _ = json::parse(&text);
        let _ = yaml::parse(&text);
        let _ = Frontmatter::parse(format!("---\n{text}\n---\n"));
        let _ = Frontmatter::parse(text.as_str());
        let file = ["bmad.json", "agents.json", "workflow.graph.json", "workflow.md", "steps/step-01-intake.md"][which];
        let mut files = hello_branch();
        files.put(file, bytes).unwrap();
        checked(&files);
        files.put(file, text).unwrap();
        checked(&files);
    }

    #[test]
    fn a_damaged_document_never_panics_and_never_passes_unseen(which in 0_usize..5, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let file = ["bmad.json", "agents.json", "workflow.graph.json", "workflow.md", "steps/step-01-intake.md"][which];
        let mut files = hello_branch();
        let mut content = files.text(file).into_bytes();
        let index = at.index(content.len());
        content[index] = byte;
        files.put(file, content).unwrap();
        let checked = checked(&files);
        prop_assert_eq!(checked.package.is_some(), !checked.findings.has_errors());
    }
}

fn hello_branch() -> MemoryFiles {
    thread_local!(static FILES: MemoryFiles = example("hello-branch"));
    FILES.with(Clone::clone)
}

/// Asserts that lines of other keys have the same bytes before and after.
fn assert_only_changed(
    before: &Frontmatter,
    after: &Frontmatter,
    key: &str,
) -> Result<(), TestCaseError> {
    for entry in before.entries().iter().filter(|entry| entry.key != key) {
        let now = after.tree().get(&entry.key);
        prop_assert_eq!(
            now.map(|now| now.tree.to_json()),
            Some(entry.tree.to_json()),
            "{} changed",
            entry.key
        );
        prop_assert_eq!(
            region(before, &entry.key),
            region(after, &entry.key),
            "bytes of {} changed",
            entry.key
        );
    }
    prop_assert_eq!(before.body(), after.body());
    // Comments on their own lines survive, unless they are inside the replaced value.
    let lines = |document: &Frontmatter| {
        document
            .text()
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (old, new) = (lines(before), lines(after));
    prop_assert_eq!(old, new);
    Ok(())
}

/// Returns the text from a key to the end of its last line of content.
fn region(document: &Frontmatter, key: &str) -> String {
    let entries = document.entries();
    let index = entries.iter().position(|entry| entry.key == key).unwrap();
    let start = entries[index].key_span.start;
    let end = entries
        .get(index + 1)
        .map_or_else(|| document.body_span().start, |next| next.key_span.start);
    let text = &document.text()[start..end];
    let own: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("---"))
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .collect();
    own.join("\n").trim_end().to_owned()
}

const TEMPLATES: &[&str] = &[
    "---\n---\nbody\n",
    "---\nschemaVersion: \"1.1\"\nworkflowType: story   # what it is\ncurrentNodeId: \"\"\nstepsCompleted: []\nvariables: {}\ndecisionLog: []\nartifacts: []\n---\n\n# Body\n\n--- not a fence\n",
    "---\n# top comment\nschemaVersion: '1.1'\n\n# about steps\nstepsCompleted:\n  - a   # first\n  - b\nvariables:\n    deep:\n        er: [1, 2]   # flow\n    text: |\n        line one\n          line two\nafter: x\n---\nBody without end",
    "---\nstepsCompleted:\n- a\n- b\nfolded: >-\n  one\n  two\nempty:\nquoted: \"a: b # c\"\nflow: {a: 1, b: [x, y]}\n---\n",
    "---\ndecisionLog:\n  - from: a\n    to: b\n    label: next\n    reason: \"because: yes\"\n  - from: b\n    to: c\n    label: end\nstepsCompleted: [a, b]\nunicode: 中文 # 注释\n---\n中文\n",
];

#[test]
fn a_second_reader_agrees_on_every_template() {
    for template in TEMPLATES {
        let inside = template.split("---\n").nth(1).unwrap();
        let options = serde_saphyr::options! { strict_booleans: true };
        let theirs: Json = if inside.is_empty() {
            json!({})
        } else {
            serde_saphyr::from_str_with_options(inside, options).unwrap()
        };
        assert_eq!(yaml::parse(inside).unwrap().to_json(), theirs, "{template}");
    }
}

#[test]
fn a_package_is_written_as_it_was_read() {
    for name in
        ["create-story-micro", "hello-branch", "market-stall", "multi-workflows", "nested-review"]
    {
        let mut files = example(name);
        let first = checked(&files).package.unwrap();
        let write = |files: &mut MemoryFiles, package: &crewagent_format::package::Package| {
            files.put("bmad.json", serde_json::to_string(package.manifest()).unwrap()).unwrap();
            let version = package.manifest().schema_version;
            let agents = json!({ "schemaVersion": version, "agents": package.agents() });
            files.put(package.manifest().entry.agents.as_str(), agents.to_string()).unwrap();
            for workflow in package.workflows() {
                files
                    .put(
                        workflow.graph_path.as_str(),
                        serde_json::to_string(&workflow.graph).unwrap(),
                    )
                    .unwrap();
            }
        };
        write(&mut files, &first);
        let second = checked(&files).package.unwrap();
        let again = files.clone();
        write(&mut files, &second);
        assert!(files == again, "{name}");
        assert_eq!(format!("{:?}", first.manifest()), format!("{:?}", second.manifest()));
        assert_eq!(format!("{:?}", first.agents()), format!("{:?}", second.agents()));
    }
}
