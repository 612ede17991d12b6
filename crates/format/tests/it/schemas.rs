//! Tests that the schemas agree with the checker on mutated documents.

use std::collections::BTreeSet;

use crewagent_format::diagnostic::Code;
use crewagent_format::schema::schemas;
use crewagent_testkit::fixture::{cases, checked, example};
use crewagent_testkit::package::MemoryFiles;
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::gates::gated;

/// Document of a package, and how it is written back.
struct Subject {
    schema: &'static str,
    file: &'static str,
    in_markdown: bool,
}

const SUBJECTS: &[Subject] = &[
    Subject { schema: "bmad.schema.json", file: "bmad.json", in_markdown: false },
    Subject { schema: "agents.schema.json", file: "agents.json", in_markdown: false },
    Subject { schema: "workflow-graph.schema.json", file: "GRAPH", in_markdown: false },
    Subject { schema: "workflow.schema.json", file: "WORKFLOW", in_markdown: true },
    Subject { schema: "step.schema.json", file: "STEP", in_markdown: true },
];

struct Bench {
    files: MemoryFiles,
    documents: Vec<(String, Json, Validator, bool)>,
}

impl Bench {
    /// Prepares the documents of a package.
    fn of(mut files: MemoryFiles) -> Self {
        let manifest: Json = serde_json::from_str(&files.text("bmad.json")).unwrap();
        let graph_path = manifest["entry"]["graph"].as_str().unwrap().to_owned();
        let graph: Json = serde_json::from_str(&files.text(&graph_path)).unwrap();
        let real = |file: &str| match file {
            "GRAPH" => graph_path.clone(),
            "WORKFLOW" => manifest["entry"]["workflow"].as_str().unwrap().to_owned(),
            "STEP" => graph["nodes"][0]["file"].as_str().unwrap().to_owned(),
            file => file.to_owned(),
        };
        let schemas = schemas();
        let documents = SUBJECTS
            .iter()
            .map(|subject| {
                let file = real(subject.file);
                let text = files.text(&file);
                let value = if subject.in_markdown {
                    crewagent_format::frontmatter::Frontmatter::parse(text)
                        .unwrap()
                        .tree()
                        .to_json()
                } else {
                    serde_json::from_str(&text).unwrap()
                };
                let (_, schema) = schemas.iter().find(|(name, _)| *name == subject.schema).unwrap();
                let validator =
                    jsonschema::options().should_validate_formats(true).build(schema).unwrap();
                (file, value, validator, subject.in_markdown)
            })
            .collect();
        // Without it every change would break the digest.
        files.put("unrelated.txt", "x").unwrap();
        Self { files, documents }
    }
}

/// Collects every position in a value, as a JSON pointer.
fn pointers(value: &Json, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Json::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), found)),
        Json::Object(map) => map.iter().for_each(|(key, item)| {
            pointers(item, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
        }),
        _ => {}
    }
}

#[derive(Clone, Debug)]
enum Change {
    Replace(Json),
    Remove,
    AddKey,
}

fn change() -> impl Strategy<Value = Change> {
    let values = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-3),
        json!(1.5),
        json!(""),
        json!("  "),
        json!("word"),
        json!("two words"),
        json!("-x"),
        json!("1.1"),
        json!("1.2.3"),
        json!("2.0"),
        json!("1.2"),
        json!("1.3"),
        json!("2026-01-02T03:04:05Z"),
        json!("2026-01-02"),
        json!("9999-12-31T23:59:59Z"),
        json!("2026-01-02T03:04:05+08"),
        json!("2026-01-02T03:04:05+0800"),
        json!("2026-01-02T03:04:05+24:00"),
        json!("2026-01-02T03:04:05,5Z"),
        json!("0.1"),
        json!("0.1-beta"),
        json!("a".repeat(128)),
        json!("a".repeat(129)),
        json!([]),
        json!(["a"]),
        json!([""]),
        json!([1]),
        json!({}),
        json!({"a": 1}),
        json!("step"),
        json!("end"),
    ];
    prop_oneof![6 => prop::sample::select(values).prop_map(Change::Replace), 2 => Just(Change::Remove), 1 => Just(Change::AddKey)]
}

fn apply(value: &mut Json, pointer: &str, change: &Change) {
    match change {
        Change::Replace(new) => *value.pointer_mut(pointer).unwrap() = new.clone(),
        Change::AddKey => {
            if let Some(map) = value.pointer_mut(pointer).and_then(Json::as_object_mut) {
                map.insert("surprise".into(), json!("x"));
            }
        }
        Change::Remove => {
            let Some((parent, key)) = pointer.rsplit_once('/') else { return };
            match value.pointer_mut(parent) {
                Some(Json::Array(items)) => drop(items.remove(key.parse().unwrap())),
                Some(Json::Object(map)) => {
                    drop(map.shift_remove(&key.replace("~1", "/").replace("~0", "~")))
                }
                _ => {}
            }
        }
    }
}

/// Returns true for findings that a schema expresses too.
fn is_about_shape(code: Code) -> bool {
    let number = &code.as_str()[2..];
    (number.starts_with('3') && code != Code::VersionAsNumber)
        || matches!(code, Code::UnsupportedSchema | Code::BadVersion | Code::BadDigest)
}

/// Returns true for findings that no schema can express; such a document proves nothing either way.
fn is_beyond_schemas(code: Code) -> bool {
    matches!(
        code,
        Code::PathOutside
            | Code::BadCondition
            | Code::VersionAsNumber
            | Code::TypeDisagrees
            | Code::UnknownTier
            | Code::BadStepLimit
            | Code::IgnoredValue
    )
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn schema_and_checker_agree(newest in any::<bool>(), which in 0..SUBJECTS.len(), pick in any::<prop::sample::Index>(), change in change()) {
        thread_local! {
            static OLD: Bench = Bench::of(example("nested-review"));
            static NEW: Bench = Bench::of(gated());
        }
        let bench = if newest { &NEW } else { &OLD };
        bench.with(|bench| {
            let (file, original, validator, in_markdown) = &bench.documents[which];
            let mut places = Vec::new();
            pointers(original, "", &mut places);
            let place = &places[pick.index(places.len())];
            let mut value = original.clone();
            apply(&mut value, place, &change);
            let mut files = bench.files.clone();
            let text = if *in_markdown { format!("---\n{value}\n---\n## Goal\n## Instructions\n") } else { value.to_string() };
            files.put(file, text.clone()).unwrap();
            let checked = checked(&files);
            let found: BTreeSet<Code> = checked.findings.iter().filter(|found| found.place.file == *file).map(|found| found.code).collect();
            let not_a_map = *in_markdown && !value.is_object();
            if found.iter().any(|code| is_beyond_schemas(*code)) || not_a_map {
                return Ok(());
            }
            let shape_is_right = !found.iter().any(|code| is_about_shape(*code));
            let schema_says: Vec<String> = validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
            prop_assert_eq!(shape_is_right, schema_says.is_empty(), "{} {} {:?}\nchecker: {:?}\nschema: {:?}", file, place, change, found, schema_says);
            Ok(())
        })?;
    }
}
