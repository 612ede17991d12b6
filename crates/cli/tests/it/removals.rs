//! What is removed from the store: only what is meant, only with a yes, and nothing that a run needs.

use crate::support::CliFixture;

fn packages(world: &CliFixture) -> usize {
    let listed = world.run(&["package", "list", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).unwrap();
    listed["packages"].as_array().unwrap().len()
}

/// Imports a package of this name.
fn import(world: &CliFixture, name: &str) {
    assert_eq!(world.run(&["package", "new", name, "-y"]).code, 0);
    assert_eq!(world.run(&["package", "import", name]).code, 0);
}

#[test]
fn nothing_is_removed_without_a_yes_where_no_terminal_can_ask() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &["--input", "x"]);
    let chat = ["chat", "--project", "project", "--model", "scripted:tiny.yaml"];
    world.run(&[&chat[..], &["--input", "hello"]].concat());
    world.run(&["models", "add", "ollama", "--model", "m"]);
    world.run(&["mcp", "add", "notes", "--", "notes-server"]);
    assert_eq!(world.run(&["projects", "forget", "", "--yes"]).code, 2, "no name is no project");
    let before = world.store_listing();
    for args in [
        ["package", "rm", "tiny"],
        ["runs", "rm", "latest"],
        ["chats", "rm", "latest"],
        ["models", "rm", "ollama"],
        ["mcp", "rm", "notes"],
        ["projects", "forget", "project"],
    ] {
        let ran = world.run(&args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains("add --yes"), "{args:?}: {}", ran.err);
        assert!(!ran.out.is_empty(), "{args:?}: what would be removed is named");
        let json = world.run(&[&args[..], &["--json"]].concat());
        assert_eq!((json.code, json.out.as_str()), (2, ""), "{args:?}: {json:?}");
    }
    assert!(world.store_listing() == before, "the store changed");
    let removed = world.run(&["mcp", "rm", "notes", "--yes", "--json"]);
    let removed: serde_json::Value = serde_json::from_str(&removed.out).unwrap();
    assert_eq!(removed, serde_json::json!({ "removed": ["notes"] }));
}

#[test]
fn every_command_that_changes_the_store_can_report_as_json() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &["--input", "x"]);
    let chat = ["chat", "--project", "project", "--model", "scripted:tiny.yaml"];
    world.run(&[&chat[..], &["--input", "hello"]].concat());
    world.run(&["models", "add", "big", "--model", "m", "--profile", "ollama"]);
    world.run(&["mcp", "add", "notes", "--", "notes-server"]);
    std::fs::rename(world.path("project"), world.path("moved")).unwrap();
    for (args, key, expected) in [
        (&["runs", "rename", "latest", "Brief"][..], "title", serde_json::json!("Brief")),
        (&["chats", "rename", "latest", "Plan"], "title", serde_json::json!("Plan")),
        (&["models", "add", "small", "--model", "m", "--profile", "ollama"], "new", true.into()),
        (&["mcp", "add", "search", "--json", "--", "x"], "servers", serde_json::json!(["search"])),
        (&["models", "use", "big"], "model", "big".into()),
        (&["mcp", "enable", "notes"], "enabled", true.into()),
        (&["mcp", "disable", "notes"], "enabled", false.into()),
        (&["projects", "relink", "project", "moved"], "path", "[WORLD]/moved".into()),
        (&["package", "new", "fresh"], "name", "fresh".into()),
    ] {
        let ran = world.run(&[args, &["--json"]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}: {ran:?}");
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(report[key], expected, "{args:?}");
    }
}

#[test]
fn a_name_of_any_script_means_its_own_package() {
    let world = CliFixture::new();
    import(&world, "我的流程");
    for reference in ["完全不同", "我的", "package"] {
        for command in [&["package", "rm", reference, "--yes"][..], &["package", "show", reference]]
        {
            let ran = world.run(command);
            assert_eq!(ran.code, 2, "{command:?}: {ran:?}");
            assert!(ran.err.contains("there is no package"), "{command:?}: {}", ran.err);
        }
    }
    let packed = world.run(&["package", "pack", "我的流程"]);
    assert!(packed.out.contains("我的流程-0.1.0.bmad"), "{packed:?}");
    assert_eq!(packages(&world), 1);
    let removed = world.run(&["package", "rm", "我的流程@0.1.0", "--yes"]);
    assert!(removed.out.contains("removed 我的流程 0.1.0"), "{removed:?}");
    assert_eq!(packages(&world), 0);
}

#[test]
fn a_package_that_an_unfinished_run_needs_stays() {
    let world = CliFixture::with_tiny();
    assert_eq!(world.run_tiny("tiny.yaml", &[]).code, 3);
    let id = world.run_id();
    let kept = world.run(&["package", "rm", "tiny", "--yes"]);
    assert_eq!(kept.code, 2, "{kept:?}");
    for said in [&format!("the unfinished run {id} needs it"), "crewagent resume", "--force"] {
        assert!(kept.err.contains(said), "{said}: {}", kept.err);
    }
    assert_eq!(packages(&world), 1);
    assert_eq!(world.run(&["package", "rm", "tiny", "--yes", "--force"]).code, 0);
    assert_eq!(packages(&world), 0);
}

#[test]
fn old_builds_go_and_the_newest_and_the_needed_stay() {
    let world = CliFixture::with_tiny();
    assert_eq!(world.run_tiny("tiny.yaml", &[]).code, 3);
    for text in ["one", "two"] {
        let manifest = std::fs::read_to_string(world.path("tiny/bmad.json")).unwrap();
        let mut manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        manifest["description"] = text.into();
        world.write("tiny/bmad.json", manifest.to_string());
        assert_eq!(world.run(&["package", "import", "tiny"]).code, 0);
    }
    for reference in ["tiny", "tiny@0.1.0"] {
        let several = world.run(&["package", "rm", reference, "--yes"]);
        assert_eq!(several.code, 2, "{several:?}");
        assert!(several.err.contains("is the name of 3 packages"), "{}", several.err);
    }
    let asked = world.run(&["package", "prune"]);
    assert_eq!((asked.code, packages(&world)), (2, 3), "{asked:?}");
    assert_eq!(asked.out.matches("tiny 0.1.0").count(), 1, "the needed build stays: {}", asked.out);
    assert_eq!(world.run(&["package", "prune", "--yes"]).code, 0);
    assert_eq!(packages(&world), 2);
    assert_eq!(world.run(&["runs", "rm", "latest", "--yes"]).code, 0);
    assert_eq!(world.run(&["package", "prune", "--yes"]).code, 0);
    assert_eq!(packages(&world), 1);
    assert!(world.run(&["package", "show", "tiny"]).out.contains("two"));
    assert!(world.run(&["package", "prune"]).out.contains("Nothing to remove"));
}

#[test]
fn the_list_of_runs_counts_the_nodes_of_their_own_build() {
    let world = CliFixture::with_tiny();
    assert_eq!(world.run_tiny("tiny.yaml", &["--input", "x"]).code, 0);
    assert_eq!(world.run(&["package", "new", "other/tiny", "--template", "loop", "-y"]).code, 0);
    assert_eq!(world.run(&["package", "import", "other/tiny"]).code, 0);
    let listed = world.run(&["runs", "list", "--all", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).unwrap();
    let run = &listed["runs"][0];
    assert_eq!((&run["nodes"], &run["stepsCompleted"]), (&3.into(), &3.into()), "{run}");
    assert_eq!(run["sha256"].as_str().unwrap().len(), 64);
}
