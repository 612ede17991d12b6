//! Test that the scenarios of the golden runs can be read.

use std::path::Path;

use super::*;

#[test]
fn the_scenarios_of_the_golden_runs_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/golden");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join("scenario.yaml");
        if path.exists() {
            let model = Scripted::load(&path).unwrap_or_else(|error| panic!("{error}"));
            assert!(!model.title().is_empty());
            read += 1;
        }
    }
    assert!(read >= 9, "only {read} scenarios");
}
