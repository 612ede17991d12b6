//! Foreign content becomes a package: BMAD installations, trees, skills and single workflows.
//!
//! This crate does no IO, reads no clock and draws no randomness. Files come in as values, a package and findings go out.
//! The same bytes give the same package, whatever the order of the files.

mod agents;
mod conversion;
mod detect;
mod document;
mod ids;
mod layers;
mod overrides;
mod package;
mod paths;
mod plain;
mod plan;
mod recorder;
mod references;
mod report;
mod setbacks;
mod settle;
mod source_files;
mod source_text;
mod source_tree;
mod steps;
mod xml;

pub mod bindings;
pub mod config;
pub mod scope;

use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_format::diagnostic::{Findings, Sources};
use crewagent_format::package::Files;
use crewagent_format::path::PackagePath;

pub use detect::{SourceKind, SourceShape, is_foreign, may_hold_content};
pub use report::{
    ImportCounts, ImportReport, ReportAgent, ReportEdge, ReportFile, ReportFinding, ReportNode,
    ReportOption, ReportWorkflow,
};
pub use source_files::SourceFiles;

/// Choices of one conversion.
#[derive(Clone, Debug, Default)]
pub struct ConvertOptions {
    /// Name of the source's folder; the package's name is made of it.
    pub name: String,
    /// Codes of the modules to convert; empty means all.
    pub modules: Vec<String>,
    /// Ids of the workflows and agents to convert; empty means all.
    pub only: Vec<String>,
    /// Corrections of a user, a YAML file.
    pub overrides: Option<Vec<u8>>,
    /// True to merge personal layers (`*.user.*`) into the package.
    pub personal: bool,
}

/// Files of a package that was made of foreign content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageFiles {
    files: BTreeMap<PackagePath, Arc<[u8]>>,
    sizes: BTreeMap<PackagePath, u64>,
}

impl PackageFiles {
    fn new(files: BTreeMap<PackagePath, Arc<[u8]>>) -> Self {
        let sizes = files.iter().map(|(path, bytes)| (path.clone(), bytes.len() as u64)).collect();
        Self { files, sizes }
    }

    /// Iterates over the files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&PackagePath, &Arc<[u8]>)> {
        self.files.iter()
    }

    /// Returns the content of a file.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.files.get(path)
    }

    /// Counts the files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns true if there are no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl Files for PackageFiles {
    fn sizes(&self) -> &BTreeMap<PackagePath, u64> {
        &self.sizes
    }

    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String> {
        self.files.get(path).cloned().ok_or_else(|| "there is no such file".to_owned())
    }
}

/// Result of a conversion.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// `None` if nothing was found, or if the result was no valid package.
    pub package: Option<PackageFiles>,
    /// Findings about the source.
    pub findings: Findings,
    /// Texts that the findings point at, by path in the source.
    pub sources: Sources,
    /// Content of `import.json`.
    pub report: ImportReport,
}

/// Converts a source to a package.
pub fn convert(files: &SourceFiles, options: &ConvertOptions) -> Conversion {
    conversion::convert(files, options)
}
