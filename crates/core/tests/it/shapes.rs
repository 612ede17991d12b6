//! Tests that the shapes of the published schemas are kept: names and descriptions of types may change, documents may
//! not. `cargo xtask accept schemas` accepts other shapes.

use std::path::Path;

use crewagent_core::schema::schemas;
use crewagent_testkit::shape::{check_kept, digest};

#[test]
fn the_published_schemas_keep_their_shapes() {
    let mut lines = Vec::new();
    for (name, schema) in schemas() {
        lines.push(format!("{} {name}", digest(&schema, &schema)));
        for event in schema["oneOf"].as_array().into_iter().flatten() {
            let kind = event["properties"]["type"]["const"].as_str().unwrap_or_default();
            lines.push(format!("{} {name} {kind}", digest(event, &schema)));
        }
    }
    let accept = crewagent_testkit::accept::is_accepting("schemas");
    check_kept(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shapes.txt"), &lines, accept);
}
