//! Fuzzes the graph of an otherwise valid package: the check ends, and a package without errors can be drawn.

use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_draw::{self as draw, Diagram};
use crewagent_format::package::{Files, check};
use crewagent_format::path::PackagePath;
use crewagent_format::scaffold::{ScaffoldPlan, WorkflowShape, files};

struct Memory {
    sizes: BTreeMap<PackagePath, u64>,
    contents: BTreeMap<PackagePath, Arc<[u8]>>,
}

impl Files for Memory {
    fn sizes(&self) -> &BTreeMap<PackagePath, u64> {
        &self.sizes
    }

    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String> {
        self.contents.get(path).cloned().ok_or_else(|| "gone".to_owned())
    }
}

/// Checks one input.
pub(crate) fn run(text: &[u8]) {
    let plan = ScaffoldPlan {
        name: "fuzz".into(),
        description: String::new(),
        author: String::new(),
        shape: WorkflowShape::Loop,
    };
    let mut memory = Memory { sizes: BTreeMap::new(), contents: BTreeMap::new() };
    for (path, content) in files(&plan) {
        let content =
            if path == "workflow.graph.json" { text.into() } else { content.into_bytes() };
        let path = PackagePath::new(&path).expect("a scaffold has good names");
        memory.sizes.insert(path.clone(), content.len() as u64);
        memory.contents.insert(path, content.into());
    }
    let checked = check(&memory, &semver::Version::new(0, 1, 0));
    assert_eq!(checked.package.is_some(), !checked.findings.has_errors());
    if let Some(package) = checked.package {
        let diagram = Diagram::of(&package.workflows()[0], &package);
        for drawing in [
            draw::mermaid(&diagram),
            draw::dot(&diagram),
            draw::json(&diagram),
            draw::svg(&diagram, draw::Theme::Auto),
        ] {
            assert!(!drawing.is_empty());
        }
    }
}
