//! Foreign sources wherever a package is accepted: the folder of `tests/sources/garden`, and hostile ones.

use std::fs;
use std::path::{Path, PathBuf};

use crewagent_testkit::fixture::repository;
use serde_json::Value as Json;

use crate::support::{CliFixture, Ran};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns a scratch folder with a copy of the garden in it.
pub(crate) fn garden() -> (CliFixture, PathBuf) {
    let world = CliFixture::new();
    let project = world.path("garden");
    copy(&repository().join("tests/sources/garden"), &project);
    (world, project)
}

#[track_caller]
fn json(ran: &Ran) -> Json {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[track_caller]
fn check_code(ran: Ran, code: i32) -> Ran {
    assert_eq!(ran.code, code, "{ran:?}");
    ran
}

#[test]
fn an_import_reports_what_was_found_and_the_second_one_converts_nothing() {
    let (world, _) = garden();
    let first = check_code(world.run(&["package", "import", "garden"]), 0);
    for words in ["BMAD installation, version 1.4.0", "1 agent: gardener", "plan-bed", "Findings:"]
    {
        assert!(first.out.contains(words), "{words} in {}", first.out);
    }
    let second = check_code(world.run(&["package", "import", "garden", "--json"]), 0);
    assert_eq!(json(&second)["packages"][0]["outcome"], "already-there");
    assert_eq!(json(&second)["packages"][0]["import"]["kind"], "installation");
}

#[test]
fn a_dry_run_stores_nothing() {
    let (world, _) = garden();
    let ran = check_code(world.run(&["package", "import", "garden", "--dry-run", "--json"]), 0);
    assert_eq!(json(&ran)["packages"][0]["outcome"], "dry-run");
    let list = check_code(world.run(&["package", "list", "--json"]), 0);
    assert_eq!(json(&list)["packages"].as_array().unwrap().len(), 0);
}

#[test]
fn a_changed_source_becomes_another_package_and_the_difference_is_told() {
    let (world, project) = garden();
    check_code(world.run(&["package", "import", "garden"]), 0);
    let entry = project.join("_bmad/plots/workflows/plan-bed/workflow.md");
    let text = fs::read_to_string(&entry).unwrap();
    fs::write(&entry, text.replace("A short plan", "A brief plan")).unwrap();
    let ran = check_code(world.run(&["package", "import", "garden", "--json"]), 0);
    let report = &json(&ran)["packages"][0];
    assert_eq!(report["outcome"], "new");
    let changed = |kind: &str| report["difference"][kind]["changed"].as_array().unwrap().len();
    assert_eq!((changed("agents"), changed("nodes") + changed("workflows") > 0), (0, true));
    assert_eq!(report["unfinished"], 0);
    let list = check_code(world.run(&["package", "list", "--json"]), 0);
    assert_eq!(json(&list)["packages"].as_array().unwrap().len(), 2);
}

#[test]
fn a_conversion_writes_a_package_without_mistakes() {
    let (world, _) = garden();
    let convert = ["package", "convert", "garden", "-o"];
    check_code(world.run(&[&convert[..], &["made"]].concat()), 0);
    check_code(world.run(&["package", "validate", "made", "--deny-warnings"]), 0);
    check_code(world.run(&[&convert[..], &["made"]].concat()), 2);
    check_code(world.run(&[&convert[..], &["made", "--force"]].concat()), 0);
    check_code(world.run(&[&convert[..], &["made.bmad"]].concat()), 0);
    check_code(world.run(&[&convert[..], &["made.bmad"]].concat()), 2);
    check_code(world.run(&["package", "validate", "made.bmad", "--deny-warnings"]), 0);
    world.write("other/notes.md", "mine");
    check_code(world.run(&[&convert[..], &["other", "--force"]].concat()), 2);
    assert_eq!(fs::read_to_string(world.path("other/notes.md")).unwrap(), "mine");
}

#[test]
fn commands_that_take_a_package_take_a_source() {
    let (world, _) = garden();
    check_code(world.run(&["package", "validate", "garden"]), 0);
    let shown = check_code(world.run(&["package", "show", "garden"]), 0);
    assert!(shown.out.contains("gardener") && shown.out.contains("plan-bed"), "{}", shown.out);
    let drawn = check_code(world.run(&["package", "graph", "garden", "--workflow", "plan-bed"]), 0);
    assert!(drawn.out.contains("flowchart"), "{}", drawn.out);
}

#[test]
fn an_archive_of_a_source_is_a_source() {
    let (world, project) = garden();
    let mut files = Vec::new();
    collect(&project, "garden-main", &mut files);
    let bytes = crewagent_testkit::archive::ZipArchive::of_files(files).bytes();
    world.write("garden.zip", bytes);
    let ran = check_code(world.run(&["package", "import", "garden.zip"]), 0);
    assert!(ran.out.contains("1 agent: gardener"), "{}", ran.out);
}

/// Collects the files below a folder, for an archive.
pub(crate) fn collect(folder: &Path, name: &str, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &name, files);
        } else {
            files.push((name, fs::read(entry.path()).unwrap()));
        }
    }
}

#[test]
fn without_a_source_an_agent_is_that_of_the_current_folder() {
    let (world, project) = garden();
    let scenario =
        world.write("hello.yaml", "scenario: A greeting\nchat:\n  - say: Good morning.\n");
    let model = format!("scripted:{}", scenario.display());
    let speak = |arguments: &[&str]| {
        let mut command = world.command();
        command.current_dir(&project).args(arguments);
        command.args(["--input", "Hello", "--model", &model]);
        world.ran(command.output().unwrap())
    };
    let ran = check_code(speak(&["agent"]), 0);
    assert!(ran.out.contains("Good morning."), "{ran:?}");
    check_code(speak(&["agent", "gardener"]), 0);
    check_code(speak(&["agent", ".", "gardener"]), 0);
    let chats = check_code(world.run(&["chats", "--all", "--json"]), 0);
    assert!(chats.out.contains("garden"), "{}", chats.out);
    let nowhere = check_code(world.run(&["agent", "--input", "Hello", "--model", &model]), 2);
    assert!(nowhere.err.contains("the current folder is no package"), "{}", nowhere.err);
}

#[test]
fn the_guide_works_as_it_is_written() {
    let (world, project) = garden();
    crate::tutorials::follow_in("bmad.md", &world, &project);
    assert!(world.path("converted/import.json").is_file() && world.path("workflow.svg").is_file());
}

#[test]
fn a_folder_in_which_nothing_is_found_is_refused() {
    let world = CliFixture::new();
    world.write("empty/src/main.rs", "fn main() {}");
    let ran = check_code(world.run(&["package", "import", "empty"]), 2);
    assert!(ran.err.contains("BM901"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_is_reported_and_not_followed() {
    let (world, project) = garden();
    world.write("secret/own.md", "secret words");
    let link = project.join("_bmad/plots/outside");
    std::os::unix::fs::symlink("../../../secret", link).unwrap();
    let ran = check_code(world.run(&["package", "import", "garden"]), 0);
    assert!(ran.err.contains("BM924"), "{}", ran.err);
    let made = check_code(world.run(&["package", "convert", "garden", "-o", "made"]), 0);
    assert!(!made.out.contains("secret words"));
    assert!(!world.path("made/bmad/plots/outside").exists());
}

#[test]
fn a_folder_of_too_many_files_is_refused() {
    let (world, project) = garden();
    let many = project.join("_bmad/plots/many");
    fs::create_dir(&many).unwrap();
    world.write("store/config.toml", "[import]\nmax-entries = 300\n");
    (0..400).for_each(|number| fs::write(many.join(format!("{number}.md")), "").unwrap());
    let ran = check_code(world.run(&["package", "import", "garden"]), 2);
    assert!(ran.err.contains("BM109"), "{}", ran.err);
}

#[test]
fn the_rest_of_a_project_is_not_read() {
    let (world, project) = garden();
    let before = check_code(world.run(&["package", "import", "garden", "--json"]), 0);
    fs::create_dir(project.join("deep")).unwrap();
    fs::write(project.join("deep/a\u{1b}b.md"), "x").unwrap();
    fs::write(project.join("README.md"), "changed").unwrap();
    let after = check_code(world.run(&["package", "import", "garden", "--json"]), 0);
    assert_eq!(json(&after)["packages"][0]["outcome"], "already-there");
    let digest = |ran: &Ran| json(ran)["packages"][0]["sha256"].clone();
    assert_eq!(digest(&before), digest(&after));
}

#[test]
fn a_walk_takes_every_edge_of_the_examples_and_of_foreign_content() {
    let world = CliFixture::new();
    for name in [
        "spec/examples/create-story-micro",
        "spec/examples/hello-branch",
        "spec/examples/market-stall",
        "spec/examples/multi-workflows",
        "spec/examples/nested-review",
        "tests/sources/garden",
    ] {
        let path = repository().join(name);
        let ran = world.run(&["package", "walk", path.to_str().unwrap(), "--json"]);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.out, ran.err);
        assert_eq!(json(&ran)["whole"], true);
    }
}

#[test]
fn a_walk_names_what_it_cannot_reach() {
    let world = CliFixture::new();
    let path = world.path("package");
    copy(&repository().join("spec/examples/hello-branch"), &path);
    let graph = path.join("workflow.graph.json");
    let mut content: Json = serde_json::from_str(&fs::read_to_string(&graph).unwrap()).unwrap();
    let edges = content["edges"].as_array_mut().unwrap();
    let edge = edges.iter_mut().find(|edge| edge["isDefault"] != true).unwrap();
    edge["conditionExpr"] = serde_json::json!({ "==": [1, 2] });
    fs::write(&graph, content.to_string()).unwrap();
    let ran = check_code(world.run(&["package", "walk", "package", "--json"]), 2);
    let report = json(&ran);
    assert_eq!(report["whole"], false);
    assert_eq!(report["workflows"][0]["untaken"].as_array().unwrap().len(), 2, "{}", ran.out);
}
