//! Opens a package at any path through the gate and runs every check.

use std::path::Path;

use crewagent_format::diagnostic::{Code, Diagnostic, Findings, Location, Sources};
use crewagent_format::package::sketch::WorkflowSketch;
use crewagent_format::package::{Audience, Checked, Package, check_for};

use crate::runtime_version;
use crate::{OpenResult, PackageLimits, Source, SourceError};

/// Results of inspecting a whole package.
#[derive(Debug)]
pub struct Inspected {
    /// Files of the package, unless the gate refused the container.
    pub source: Option<Source>,
    pub package: Option<Package>,
    /// Readable workflows of an invalid package.
    pub sketches: Vec<WorkflowSketch>,
    pub findings: Findings,
    /// Texts that the findings point into.
    pub sources: Sources,
}

impl Inspected {
    /// Adds what other tools for format 1.1 may refuse to the findings.
    #[must_use]
    pub fn for_every_tool(self) -> Self {
        match self.source {
            Some(source) => examine_for(Audience::EveryTool, source),
            None => self,
        }
    }
}

/// A package that was refused.
#[derive(Debug)]
pub struct Rejection {
    /// All findings; at least one is an error.
    pub findings: Findings,
    /// Texts that the findings point into.
    pub sources: Sources,
}

/// Opens and checks the package at a path.
pub fn inspect(path: &Path, limits: &PackageLimits) -> Result<Inspected, SourceError> {
    let source = match Source::open(path, limits)? {
        OpenResult::Passed(source) => source,
        OpenResult::Refused(findings) => {
            return Ok(Inspected {
                source: None,
                package: None,
                sketches: Vec::new(),
                findings,
                sources: Sources::default(),
            });
        }
    };
    Ok(examine(source))
}

/// Checks a source that has passed the gate. A file that no other file mentions must be readable too, because it is
/// part of the package.
pub fn examine(source: Source) -> Inspected {
    examine_for(Audience::ThisRuntime, source)
}

fn examine_for(audience: Audience, source: Source) -> Inspected {
    let Checked { mut package, sketches, mut findings, sources } =
        check_for(audience, &source, &runtime_version());
    for (path, reason) in source.unreadable() {
        package = None;
        let known = findings
            .iter()
            .any(|found| found.code == Code::UnreadableFile && found.place.file == path.as_str());
        if !known {
            let message = format!("`{path}` cannot be read: {reason}");
            let found =
                Diagnostic::new(Code::UnreadableFile, Location::file(path.as_str()), message);
            findings.push(found.help("check its permissions and that it is a regular file"));
        }
    }
    Inspected { source: Some(source), package, sketches, findings, sources }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Uses removed files, because root may read every file that exists.
    #[test]
    fn every_file_must_be_readable_and_is_named_once() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in crewagent_testkit::package::generated(2, 1) {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        fs::write(folder.path().join("unmentioned.bin"), "x").unwrap();
        let open = || match Source::open(folder.path(), &PackageLimits::default()).unwrap() {
            OpenResult::Passed(source) => source,
            OpenResult::Refused(findings) => panic!("{findings:?}"),
        };
        assert!(examine(open()).package.is_some());
        let source = open();
        for name in ["unmentioned.bin", "agents.json"] {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        let Inspected { package, findings, .. } = examine(source);
        assert!(package.is_none());
        let unreadable: Vec<_> = findings
            .iter()
            .filter(|found| found.code == Code::UnreadableFile)
            .map(|found| found.message.as_str())
            .collect();
        let expected = ["agents.json", "unmentioned.bin"];
        assert_eq!(unreadable, expected.map(|name| format!("`{name}` cannot be read: it is gone")));
    }
}
