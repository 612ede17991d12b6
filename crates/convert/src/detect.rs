//! Detection of a source by its shape.

/// Kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// A project with an installation.
    Installation,
    /// Folders of skills, or one skill.
    Skills,
    /// Modules as their authors keep them.
    Tree,
    /// A folder with one workflow.
    Workflow,
    /// An installation of the fourth version or older.
    OldInstallation,
}

/// Detects a foreign source by the names of its files.
pub fn is_foreign(paths: &mut dyn Iterator<Item = &str>) -> Option<SourceKind> {
    let _ = paths.next();
    None
}

/// Returns true if a conversion reads this file.
pub fn wanted(path: &str) -> bool {
    !path.is_empty()
}
