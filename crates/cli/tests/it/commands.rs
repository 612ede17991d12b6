//! Each command as a user types it, with its output and exit code.

use std::process::Stdio;

use crate::support::{CliFixture, copy_folder, example, repository};

#[test]
fn several_packages_are_validated_at_once_and_one_bad_one_decides_the_exit_code() {
    let world = CliFixture::new();
    let bad = repository().join("tests/packages/bad/BM503-unknown-edge-end/package");
    let ran = world.run(&[
        "package",
        "validate",
        &example("hello-branch"),
        bad.to_str().unwrap(),
        "no-such-package",
    ]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.contains("no errors, no warnings"));
    assert!(ran.out.contains("BM503"));
    assert!(ran.err.contains("there is no package `no-such-package`"), "{}", ran.err);
    assert_eq!(
        world
            .run(&["package", "validate", &example("hello-branch"), &example("nested-review")])
            .code,
        0
    );
}

#[test]
fn the_json_report_has_places_and_counts() {
    let world = CliFixture::new();
    let bad = repository().join("tests/packages/bad/BM501-duplicate-node-id/package");
    let ran = world.run(&[
        "package",
        "validate",
        "--format",
        "json",
        bad.to_str().unwrap(),
        "missing.bmad",
    ]);
    assert_eq!(ran.code, 2);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["valid"], false);
    let finding = &report["packages"][0]["findings"][0];
    assert_eq!(finding["code"], "BM501");
    assert_eq!(finding["severity"], "error");
    assert_eq!((finding["line"].as_u64(), finding["column"].as_u64()), (Some(7), Some(13)));
    assert_eq!(finding["pointer"], "/nodes/2/id");
    assert_eq!(finding["related"]["line"], 6);
    assert!(report["packages"][1]["problem"].as_str().unwrap().contains("does not exist"));
}

#[test]
fn findings_have_paths_that_can_be_opened() {
    let world = CliFixture::new();
    copy_folder(&bad_edge(), &world.path("flows/mine"));
    let from_above = world.run(&["package", "validate", "flows/mine"]);
    assert!(from_above.out.contains("--> flows/mine/workflow.graph.json:"), "{}", from_above.out);
    let mut inside = world.command();
    inside.args(["package", "validate"]).current_dir(world.path("flows/mine"));
    let inside = String::from_utf8(inside.output().unwrap().stdout).unwrap();
    assert!(inside.contains("--> workflow.graph.json:"), "{inside}");
    assert!(inside.contains("invalid mine: 1 error"), "{inside}");
}

#[test]
fn findings_are_printed_for_editors_and_code_hosts() {
    let world = CliFixture::new();
    copy_folder(&bad_edge(), &world.path("mine"));
    let run = |format: &str| {
        let ran = world.run(&["package", "validate", "mine", "--format", format]);
        assert_eq!((ran.code, ran.err.as_str()), (2, ""), "{format}");
        ran.out
    };
    let short = run("short");
    let line = short.strip_prefix("mine/workflow.graph.json:").unwrap();
    assert!(line.contains(": error[BM503]: ") && short.lines().count() == 1, "{short}");
    let github = run("github");
    assert!(github.starts_with("::error file=mine/workflow.graph.json,line="), "{github}");
    assert!(github.contains(",title=BM503::") && github.lines().count() == 1, "{github}");
    assert_eq!(run("json"), world.run(&["package", "validate", "mine", "--json"]).out);
}

/// Returns what SARIF 2.1.0 requires of the parts that are written.
fn sarif_schema() -> serde_json::Value {
    let message = serde_json::json!({
        "type": "object", "required": ["text"], "properties": { "text": { "type": "string", "minLength": 1 } },
    });
    let level = serde_json::json!({ "enum": ["none", "note", "warning", "error"] });
    let number = serde_json::json!({ "type": "integer", "minimum": 1 });
    let location = serde_json::json!({
        "type": "object",
        "required": ["physicalLocation"],
        "properties": { "physicalLocation": {
            "required": ["artifactLocation"],
            "additionalProperties": false,
            "properties": {
                "artifactLocation": {
                    "required": ["uri"],
                    "properties": { "uri": { "type": "string", "format": "uri-reference", "pattern": "^[^ ]+$" } },
                },
                "region": {
                    "additionalProperties": false,
                    "required": ["startLine", "startColumn"],
                    "properties": {
                        "startLine": number, "startColumn": number, "endLine": number, "endColumn": number,
                    },
                },
            },
        } },
    });
    serde_json::json!({
        "type": "object",
        "required": ["version", "runs"],
        "properties": {
            "$schema": { "type": "string" },
            "version": { "const": "2.1.0" },
            "runs": { "type": "array", "minItems": 1, "items": {
                "required": ["tool", "results"],
                "additionalProperties": false,
                "properties": {
                    "tool": { "required": ["driver"], "properties": { "driver": {
                        "required": ["name", "rules"],
                        "properties": { "rules": { "type": "array", "minItems": 1, "uniqueItems": true, "items": {
                            "required": ["id"],
                            "properties": {
                                "id": { "type": "string" },
                                "shortDescription": message,
                                "help": message,
                                "defaultConfiguration": { "properties": { "level": level } },
                            },
                        } } },
                    } } },
                    "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
                    "invocations": { "type": "array", "items": { "required": ["executionSuccessful"] } },
                    "results": { "type": "array", "minItems": 1, "items": {
                        "required": ["message", "ruleId", "ruleIndex", "level", "locations"],
                        "properties": {
                            "message": message,
                            "level": level,
                            "ruleIndex": { "type": "integer", "minimum": 0 },
                            "locations": { "type": "array", "minItems": 1, "items": location },
                            "relatedLocations": { "type": "array", "uniqueItems": true, "items": location },
                        },
                    } },
                },
            } },
        },
    })
}

#[test]
fn a_sarif_log_has_what_its_schema_requires() {
    let world = CliFixture::new();
    copy_folder(&bad_edge(), &world.path("my flow"));
    let double = repository().join("tests/packages/bad/BM501-duplicate-node-id/package");
    copy_folder(&double, &world.path("double"));
    let ran = world.run(&[
        "package",
        "validate",
        "my flow",
        "double",
        "missing.bmad",
        "--format",
        "sarif",
    ]);
    assert_eq!(ran.code, 2);
    let log: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let schema = jsonschema::validator_for(&sarif_schema()).unwrap();
    let problems: Vec<String> = schema.iter_errors(&log).map(|error| error.to_string()).collect();
    assert_eq!(problems, Vec::<String>::new(), "{}", ran.out);
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    let first = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(first["artifactLocation"]["uri"], "my%20flow/workflow.graph.json");
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let failure =
        run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str();
    assert!(failure.unwrap().contains("missing.bmad"), "{failure:?}");
}

#[test]
fn results_of_packages_are_there_as_json() {
    let world = CliFixture::new();
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&world.run(args).out).unwrap()
    };
    let packed = json(&["package", "pack", &example("hello-branch"), "-o", "a.bmad", "--json"]);
    assert_eq!(packed["path"], "a.bmad");
    let bad = bad_edge();
    let imported = json(&["package", "import", "a.bmad", bad.to_str().unwrap(), "--json"]);
    assert_eq!(imported["packages"][0]["outcome"], "new");
    assert_eq!(imported["packages"][0]["sha256"], packed["sha256"]);
    assert_eq!(imported["packages"][1]["outcome"], "rejected");
    assert_eq!(json(&["package", "explain", "BM503", "--json"])["name"], "unknown-edge-end");
    assert_eq!(json(&["package", "--json"])["packages"].as_array().unwrap().len(), 1);
}

/// Returns the package with an edge that leads nowhere.
fn bad_edge() -> std::path::PathBuf {
    repository().join("tests/packages/bad/BM503-unknown-edge-end/package")
}

#[test]
fn warnings_pass_unless_denied() {
    let world = CliFixture::new();
    let warned = repository().join("tests/packages/bad/BM607-no-goal/package");
    let warned = warned.to_str().unwrap();
    assert_eq!(world.run(&["package", "validate", warned]).code, 0);
    assert_eq!(world.run(&["package", "validate", "--deny-warnings", warned]).code, 2);
}

#[test]
fn a_hundred_thousand_findings_stay_readable() {
    let world = CliFixture::new();
    copy_folder(example("hello-branch").as_ref(), &world.path("many"));
    let graph = world.path("many/workflow.graph.json");
    let mut value: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&graph).unwrap()).unwrap();
    let edges = value["edges"].as_array_mut().unwrap();
    for index in 0..100_000 {
        edges.push(serde_json::json!({ "from": "step-01-intake", "to": format!("nowhere-{index}"), "label": "x" }));
    }
    std::fs::write(&graph, value.to_string()).unwrap();
    let ran = world.run(&["package", "validate", "many"]);
    assert_eq!(ran.code, 2);
    assert!(ran.out.lines().count() < 100, "{} lines", ran.out.lines().count());
    assert!(ran.out.contains("99,995 more of 100,000"), "{}", ran.out);
    assert!(ran.out.contains("100,000 errors"));
}

#[test]
fn packing_twice_gives_the_same_bytes_and_the_archive_is_the_same_package() {
    let world = CliFixture::new();
    let first = world.run(&["package", "pack", &example("hello-branch"), "-o", "a.bmad"]);
    assert_eq!(first.code, 0, "{first:?}");
    copy_folder(example("hello-branch").as_ref(), &world.path("copy"));
    world.write("copy/.DS_Store", "litter");
    assert_eq!(world.run(&["package", "pack", "copy", "-o", "b.bmad"]).code, 0);
    assert!(
        std::fs::read(world.path("a.bmad")).unwrap()
            == std::fs::read(world.path("b.bmad")).unwrap()
    );
    assert_eq!(world.run(&["package", "validate", "a.bmad"]).code, 0);
    let named = world.run(&["package", "pack", "copy"]);
    assert!(named.out.contains("hello-branch-0.1.0.bmad"), "{named:?}");
}

#[test]
fn a_package_lives_in_the_store_until_it_is_removed() {
    let world = CliFixture::new();
    assert!(world.run(&["package", "list"]).out.contains("No packages yet"));
    world.run(&["package", "pack", &example("hello-branch"), "-o", "a.bmad"]);
    assert!(
        world.run(&["package", "import", "a.bmad"]).out.starts_with("imported hello-branch 0.1.0")
    );
    assert!(
        world
            .run(&["package", "import", &example("hello-branch")])
            .out
            .starts_with("already imported")
    );
    let listed = world.run(&["package", "list"]).out;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(
        world
            .run(&["package", "show", "hello-branch@0.1.0"])
            .out
            .contains("decide-02-project-type")
    );
    assert_eq!(world.run(&["package", "validate", "hello-branch"]).code, 0);
    let slip = world.run(&["package", "rm", "hello-branch", "helo-branch", "--yes"]);
    assert_eq!(slip.code, 2);
    assert!(slip.err.contains("did you mean `hello-branch`"), "{}", slip.err);
    assert_eq!(world.run(&["package", "rm", "hello-branch", "--yes"]).code, 0);
    assert!(world.run(&["package", "list"]).out.contains("No packages yet"));
}

#[test]
fn show_fits_on_a_screen_and_has_a_json_twin() {
    let world = CliFixture::new();
    insta::assert_snapshot!(
        "show_nested_review",
        world.run(&["package", "show", &example("nested-review")]).out
    );
    let ran = world.run(&["package", "show", "--json", &example("multi-workflows")]);
    let shown: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(shown["workflows"].as_array().unwrap().len(), 2);
}

#[test]
fn a_new_package_validates_packs_and_draws() {
    let world = CliFixture::new();
    for template in ["linear", "branch", "loop"] {
        let made = world.run(&[
            "package",
            "new",
            template,
            "--template",
            template,
            "--description",
            "A \"test\"",
        ]);
        assert_eq!(made.code, 0, "{made:?}");
        let checked = world.run(&["package", "validate", "--deny-warnings", template]);
        assert!(checked.out.contains("no errors, no warnings"), "{checked:?}");
        assert_eq!(world.run(&["package", "pack", template, "-o", "x.bmad"]).code, 0);
        assert!(world.run(&["package", "graph", template]).out.contains("flowchart TD"));
    }
    let again = world.run(&["package", "new", "linear"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("already has files in it"), "{}", again.err);
    assert!(world.run(&["package", "new"]).err.contains("name the package"));
}

#[test]
fn a_graph_is_drawn_in_every_format() {
    let world = CliFixture::new();
    let package = example("multi-workflows");
    for (format, begins) in [("mermaid", "---"), ("dot", "digraph"), ("svg", "<svg"), ("json", "{")]
    {
        let ran = world.run(&[
            "package",
            "graph",
            &package,
            "--workflow",
            "draft-review",
            "--format",
            format,
        ]);
        assert!(ran.out.starts_with(begins), "{format}: {}", ran.out);
        assert_eq!(ran.code, 0);
    }
    assert_eq!(world.run(&["package", "graph", &package, "-o", "x.svg"]).code, 0);
    assert!(std::fs::read_to_string(world.path("x.svg")).unwrap().contains("</svg>"));
    let unclear = world.run(&["package", "graph", &package, "-o", "x.png"]);
    assert_eq!(unclear.code, 2);
    assert!(unclear.err.contains("--format"), "{}", unclear.err);
    let unknown = world.run(&["package", "graph", &package, "--workflow", "nope"]);
    assert!(
        unknown.err.contains("hello-linear, draft-review") && unknown.code == 2,
        "{}",
        unknown.err
    );
}

#[test]
fn explain_knows_every_code_by_number_and_name() {
    let world = CliFixture::new();
    let page = world.run(&["package", "explain", "BM501"]);
    assert_eq!(page.code, 0);
    assert_eq!(page.out, world.run(&["package", "explain", "duplicate-node-id"]).out);
    assert!(page.out.contains("Fix"));
    assert!(world.run(&["package", "explain"]).out.lines().count() > 80);
    assert_eq!(world.run(&["package", "explain", "BM998"]).code, 2);
}

#[test]
fn bad_input_gets_one_clear_sentence_and_leaves_the_store_alone() {
    let world = CliFixture::new();
    world.run(&["package", "import", &example("hello-branch")]);
    let before = world.store_listing();
    world.write("empty.bmad", "");
    world.write("text.bmad", "hello");
    world.write("plain/readme.txt", "not a package");
    for (package, says) in [
        ("missing.bmad", "does not exist"),
        ("missing-folder/", "does not exist"),
        ("empty.bmad", "BM101"),
        ("text.bmad", "BM101"),
        ("plain", "BM901"),
        ("/dev/null", "neither a file nor a folder"),
    ] {
        for command in ["validate", "import"] {
            let ran = world.run(&["package", command, package]);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(said.contains(says), "{command} {package}: {said}");
            assert_ne!(ran.code, 0, "{command} {package}");
        }
    }
    assert!(world.store_listing() == before, "the store changed");
}

#[test]
fn output_into_a_closed_pipe_is_no_crash() {
    let world = CliFixture::new();
    let mut child = world
        .command()
        .args(["package", "explain"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_closed_pipe_does_not_hide_the_verdict() {
    let world = CliFixture::new();
    let bad = repository().join("tests/packages/bad/BM503-unknown-edge-end/package");
    let mut child = world
        .command()
        .args(["package", "validate", bad.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(2));
}

#[test]
fn reports_beside_a_result_go_to_standard_error() {
    let world = CliFixture::new();
    let bad = repository().join("tests/packages/bad/BM503-unknown-edge-end/package");
    let bad = bad.to_str().unwrap();
    for args in [["package", "show", bad, "--json"].as_slice(), &["package", "import", bad]] {
        let ran = world.run(args);
        assert_eq!((ran.out.as_str(), ran.code), ("", 2), "{args:?}");
        assert!(ran.err.contains("BM503"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_package_with_mistakes_is_drawn_as_far_as_it_can_be_read() {
    let world = CliFixture::new();
    let bad = |name: &str| {
        let folder = repository().join("tests/packages/bad").join(name).join("package");
        folder.to_str().unwrap().to_owned()
    };
    let ran = world.run(&["package", "graph", &bad("BM503-unknown-edge-end")]);
    assert!(ran.out.contains("flowchart TD") && ran.out.contains("start"), "{ran:?}");
    assert!(ran.err.contains("BM503") && ran.code == 2, "{ran:?}");
    // Without a manifest there is no graph to draw.
    let ran = world.run(&["package", "graph", &bad("BM201-missing-manifest")]);
    assert_eq!((ran.out.as_str(), ran.code), ("", 2), "{ran:?}");
    let picture = world.run(&["package", "graph", &bad("BM503-unknown-edge-end"), "-o", "x.svg"]);
    assert_eq!(picture.code, 2);
    assert!(std::fs::read_to_string(world.path("x.svg")).unwrap().contains("</svg>"));
}

#[test]
fn exit_codes_tell_a_wrong_name_from_a_failing_disk() {
    let world = CliFixture::new();
    for args in [
        ["package", "show", "nosuch"].as_slice(),
        &["package", "show", "./nosuch"],
        &["package", "graph", "nosuch.bmad"],
        &["package", "pack", "nosuch"],
        &["package", "import", "nosuch"],
        &["package", "validate", "nosuch"],
        &["package", "rm", "nosuch"],
    ] {
        let ran = world.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
    }
    world.write("store", "a file where the store should be");
    for args in [["package", "list"].as_slice(), &["package", "rm", "x"]] {
        assert_eq!(world.run(args).code, 1, "{args:?}");
    }
}

#[test]
fn denied_warnings_are_the_reason() {
    let world = CliFixture::new();
    let warned = repository().join("tests/packages/bad/BM607-no-goal/package");
    let ran = world.run(&["package", "validate", "--deny-warnings", warned.to_str().unwrap()]);
    assert!(ran.out.contains("invalid") && ran.out.contains("--deny-warnings"), "{}", ran.out);
}

#[test]
fn text_from_a_package_cannot_steer_the_terminal() {
    let world = CliFixture::new();
    world.run(&["package", "new", "evil", "-y"]);
    let manifest = std::fs::read_to_string(world.path("evil/bmad.json")).unwrap();
    let name = "evil\\u009b31m\\u202e\\nok other: no errors";
    world.write(
        "evil/bmad.json",
        manifest.replace("\"name\": \"evil\"", &format!("\"name\": \"{name}\", \"x\u{9b}\": 1")),
    );
    let ran = world.run(&["package", "validate", "evil"]);
    assert_eq!(ran.code, 2);
    world.write(
        "evil/bmad.json",
        manifest.replace("\"name\": \"evil\"", &format!("\"name\": \"{name}\"")),
    );
    let shown = world.run(&["package", "show", "evil"]);
    let imported = world.run(&["package", "import", "evil"]);
    let listed = world.run(&["package", "list"]);
    let json = world.run(&["package", "show", "evil", "--json"]);
    for ran in [&ran, &shown, &imported, &listed, &json] {
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{1b}']), "{text:?}");
            assert!(!text.lines().any(|line| line.starts_with("ok other")), "{text}");
        }
    }
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&json.out).unwrap()["manifest"]["name"],
        "evil\u{9b}31m\u{202e}\nok other: no errors"
    );
}

#[test]
fn a_drawing_does_not_replace_what_it_was_drawn_from() {
    let world = CliFixture::new();
    world.run(&["package", "new", "mine", "-y"]);
    let before = std::fs::read(world.path("mine/workflow.graph.json")).unwrap();
    let ran = world.run(&[
        "package",
        "graph",
        "mine",
        "--format",
        "json",
        "-o",
        "mine/workflow.graph.json",
    ]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(std::fs::read(world.path("mine/workflow.graph.json")).unwrap() == before);
    for _ in 0..2 {
        assert_eq!(world.run(&["package", "graph", "mine", "-o", "mine/graph.svg"]).code, 0);
    }
    assert!(
        world
            .run(&["package", "graph", "mine", "-o", "nowhere/x.svg"])
            .err
            .contains("check that its folder exists")
    );
}

#[test]
fn a_bad_setting_is_named_with_its_line() {
    let world = CliFixture::new();
    world.write("store/config.toml", "[import]\nmax-entires = 5\n");
    let ran = world.run(&["package", "list"]);
    assert_ne!(ran.code, 0);
    assert!(ran.err.contains("max-entires") && ran.err.contains("config.toml"), "{}", ran.err);
}
