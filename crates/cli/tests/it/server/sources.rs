//! Foreign content in the app: in the folder of a project, and as an archive that the browser sends.

use serde_json::json;

use super::api::let_in;
use crate::sources::{collect, garden};

#[test]
fn a_project_with_an_installation_has_agents_after_an_import() {
    let (world, folder) = garden();
    let (_server, browser) = let_in(&world);
    let path = json!({ "path": folder });
    let project = browser.post("/api/projects", &path).good();
    let at = format!("/api/projects/{}/source", project["id"].as_str().unwrap());
    let before = browser.get(&at).good();
    assert_eq!((&before["found"], &before["isInstallation"]), (&json!(true), &json!(true)));
    assert_eq!((&before["isCurrent"], before.get("package")), (&json!(false), None));
    assert_eq!(browser.post("/api/packages/inspect", &path).good()["valid"], true);
    assert_eq!(browser.post("/api/packages/import", &path).good()["outcome"], "new");
    let after = browser.get(&at).good();
    assert_eq!(after["isCurrent"], true);
    assert_eq!(after["package"]["agents"][0]["id"], "gardener");
    assert_eq!(after["package"]["workflows"][0]["reference"], "plan-bed");
    let file = folder.join("_bmad/plots/workflows/plan-bed/workflow.md");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("A short plan", "A brief plan")).unwrap();
    let changed = browser.get(&at).good();
    assert_eq!(changed["isCurrent"], false);
    assert_eq!(changed["package"]["agents"][0]["id"], "gardener");
}

#[test]
fn an_archive_of_a_source_is_named_after_its_file() {
    let (world, folder) = garden();
    let (_server, browser) = let_in(&world);
    let mut files = Vec::new();
    collect(&folder, "garden", &mut files);
    let bytes = crewagent_testkit::archive::ZipArchive::of_files(files).bytes();
    let kind = [("content-type", "application/octet-stream")];
    let to = "/api/packages/import-file?name=my-garden.zip";
    let imported = browser.send("POST", to, &kind, &bytes).good();
    assert_eq!(imported["outcome"], "new");
    assert_eq!(imported["package"]["name"], "my-garden-bmad");
    let catalog = browser.get("/api/catalog").good();
    assert_eq!(catalog["packages"][0]["agents"][0]["id"], "gardener");
}

#[test]
fn a_folder_without_foreign_content_has_no_source() {
    let (world, _) = garden();
    world.write("plain/README.md", "nothing here");
    let (_server, browser) = let_in(&world);
    let project = browser.post("/api/projects", &json!({ "path": world.path("plain") })).good();
    let at = format!("/api/projects/{}/source", project["id"].as_str().unwrap());
    assert_eq!(browser.get(&at).good()["found"], false);
}
