//! Tests that the published schemas are the generated ones.
//!
//! `cargo xtask accept schemas` rewrites `spec/schemas/`.

use crewagent_core::schema::schemas;
use crewagent_testkit::fixture::repository;

#[test]
fn the_published_schemas_are_the_generated_ones() {
    let folder = repository().join("spec/schemas");
    let update = crewagent_testkit::accept::is_accepting("schemas");
    for (name, schema) in schemas() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if update {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(name), &text).unwrap();
        }
        let published = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            published == text,
            "spec/schemas/{name} is out of step: run `cargo xtask accept schemas`"
        );
    }
}
