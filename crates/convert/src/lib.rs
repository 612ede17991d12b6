//! Foreign content becomes a package: BMAD installations, trees, skills and single workflows.
//!
//! This crate does no IO, reads no clock and draws no randomness. Files come in as values, a package and findings go out.
//! The same bytes give the same package, whatever the order of the files.

#![allow(dead_code, reason = "the shapes arrive one after the other")]

mod detect;
mod document;
mod plan;
mod recorder;
mod references;
mod report;
mod source_files;
mod source_text;
mod source_tree;
mod steps;

pub mod bindings;
pub mod config;

use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_format::diagnostic::{Findings, Sources};
use crewagent_format::package::Files;
use crewagent_format::path::PackagePath;

pub use detect::{SourceKind, is_foreign, wanted};
pub use report::ImportReport;
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
pub struct PackageFiles(BTreeMap<PackagePath, Arc<[u8]>>);

impl PackageFiles {
    /// Iterates over the files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&PackagePath, &Arc<[u8]>)> {
        self.0.iter()
    }

    /// Returns the content of a file.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.0.get(path)
    }

    /// Counts the files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
    let tree = source_tree::SourceTree::new(files, options);
    let mut recorder = recorder::Recorder::default();
    let references = references::References::new(&tree);
    let _plans = steps::workflows(&tree, &references, &mut recorder);
    let (findings, sources) = recorder.finish(&tree);
    Conversion { package: None, findings, sources, report: ImportReport::default() }
}
