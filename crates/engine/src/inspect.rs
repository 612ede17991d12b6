//! A package as it lies somewhere: through the gate, then through every check.

use std::path::Path;

use crewagent_core::diagnostic::{Findings, Sources};
use crewagent_core::package::{Package, check};

use crate::runtime_version;
use crate::source::{Limits, Opened, Source, SourceError};

/// What is known about a package after looking at all of it.
#[derive(Debug)]
pub struct Inspected {
    /// Its files, unless the gate refused the container.
    pub source: Option<Source>,
    /// The package, unless an error was found.
    pub package: Option<Package>,
    /// Everything that was found.
    pub findings: Findings,
    /// The texts that the findings point into.
    pub sources: Sources,
}

/// Why a package was turned away.
#[derive(Debug)]
pub struct Rejection {
    /// Everything that was found; at least one is an error.
    pub findings: Findings,
    /// The texts that the findings point into.
    pub sources: Sources,
}

/// Opens and checks the package at a path.
pub fn inspect(path: &Path, limits: &Limits) -> Result<Inspected, SourceError> {
    let source = match Source::open(path, limits)? {
        Opened::Passed(source) => source,
        Opened::Refused(findings) => {
            return Ok(Inspected {
                source: None,
                package: None,
                findings,
                sources: Sources::default(),
            });
        }
    };
    let checked = check(&source, &runtime_version());
    Ok(Inspected {
        source: Some(source),
        package: checked.package,
        findings: checked.findings,
        sources: checked.sources,
    })
}
