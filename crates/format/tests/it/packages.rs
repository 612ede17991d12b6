//! Tests that the examples and every new package have no findings.

use crewagent_format::scaffold::{self, ScaffoldPlan, WorkflowShape};
use crewagent_testkit::fixture::{checked, example, lines};
use crewagent_testkit::package::MemoryFiles;

#[test]
fn the_examples_are_clean() {
    for name in
        ["create-story-micro", "hello-branch", "market-stall", "multi-workflows", "nested-review"]
    {
        let checked = checked(&example(name));
        assert_eq!(lines(&checked), Vec::<String>::new(), "{name}");
        assert!(checked.package.is_some());
    }
}

#[test]
fn every_new_package_is_clean_whatever_its_author_types() {
    for shape in [WorkflowShape::Linear, WorkflowShape::Branch, WorkflowShape::Loop] {
        for name in ["demo", "My \"quoted\" name", "---\n# x", "中文"] {
            let plan = ScaffoldPlan {
                name: name.into(),
                description: name.into(),
                author: String::new(),
                shape,
            };
            let mut files = MemoryFiles::default();
            for (path, text) in scaffold::files(&plan) {
                files.put(&path, text).unwrap();
            }
            let checked = checked(&files);
            assert_eq!(lines(&checked), Vec::<String>::new(), "{shape:?} {name:?}");
            assert_eq!(checked.package.unwrap().manifest().name, name);
        }
    }
}
