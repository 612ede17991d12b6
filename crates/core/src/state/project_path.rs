//! Files of the project, named from its root: `artifacts/x.md`, never `@project/...`.

use std::fmt;

use serde::Serialize;

use crate::refusal::{Refusal, RefusalCode};
use crate::vpath::{Mount, VPath};

/// File or folder below the root of the project, as the state document names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectPath(VPath);

impl ProjectPath {
    /// Parses `artifacts/x.md`, `./artifacts/x.md`, `@project/artifacts/x.md` or `{project-root}/artifacts/x.md`.
    /// A bare path belongs to the project whatever its first part is.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        let path = if text.is_empty() || text.starts_with(['@', '{', '/', '\\', '~']) {
            VPath::parse(text)?
        } else {
            let bare = text.strip_prefix("./").unwrap_or(text);
            VPath::parse(&format!("{}/{bare}", Mount::Project.name()))?
        };
        let shown = format!("`{path}`");
        Self::new(path).ok_or_else(|| {
            Refusal::new(RefusalCode::Sandbox, format!("{shown} is not a file of the project."))
                .hint("Name a file from the root of the project, such as artifacts/notes.md.")
        })
    }

    /// Returns the path if it is below the root of the project.
    pub fn new(path: VPath) -> Option<Self> {
        (path.mount() == Mount::Project && !path.relative().is_empty()).then_some(Self(path))
    }

    /// Returns the path from the root of the project.
    pub fn as_str(&self) -> &str {
        self.0.relative()
    }

    /// Returns the same path with its mount.
    pub fn vpath(&self) -> &VPath {
        &self.0
    }
}

impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ProjectPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_project_file_becomes_project_relative() {
        for text in [
            "artifacts/x.md",
            "./artifacts/x.md",
            "@project/artifacts/x.md",
            "@project/./artifacts/x.md",
            "{project-root}/artifacts/x.md",
            "{artifacts-root}/x.md",
            " artifacts/x.md ",
        ] {
            assert_eq!(ProjectPath::parse(text).unwrap().as_str(), "artifacts/x.md", "{text}");
        }
        assert_eq!(ProjectPath::parse("steps/a.md").unwrap().as_str(), "steps/a.md");
        assert_eq!(ProjectPath::parse("workflow.md").unwrap().as_str(), "workflow.md");
        assert_eq!(ProjectPath::parse("artifacts/shards/").unwrap().as_str(), "artifacts/shards");
    }

    #[test]
    fn a_place_outside_the_project_is_no_project_path() {
        for text in [
            "",
            " ",
            ".",
            "@project",
            "/etc/passwd",
            "~/x",
            "C:\\x",
            "../x",
            "artifacts/../../x",
            "@pkg/x.md",
            "@state/workflow.md",
            "{state-root}/x",
            "@else/x",
            "a\nb",
        ] {
            assert!(ProjectPath::parse(text).is_err(), "{text:?}");
        }
    }
}
