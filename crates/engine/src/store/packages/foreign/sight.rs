//! Opens a path: a package is checked, of a foreign source the files in its scope are read.

use std::fmt::Write as _;
use std::path::Path;

use crewagent_convert::scope::{SourceContent, SourceListing, SourceScope};
use crewagent_convert::{ConvertOptions, SourceFiles};
use crewagent_format::diagnostic::{Findings, Sources};
use crewagent_format::integrity::{Digest, MANIFEST};
use crewagent_format::package::Files;
use crewagent_source::foreign::{ForeignFiles, ForeignSource, SourceSelection};
use crewagent_source::inspect::{Inspected, examine, inspect};
use crewagent_source::{OpenResult, PackageLimits, Source, SourceError, runtime_version};

use super::{AcceptedSource, SourceOptions};

/// Path that was opened.
pub(in crate::store::packages) enum Sighted {
    /// Package with the results of its check.
    Package(Box<Inspected>),
    Foreign(Box<SightedSource>),
}

/// Foreign source of which the files in its scope were read.
pub(in crate::store::packages) struct SightedSource {
    pub(super) files: SourceFiles,
    pub(super) options: ConvertOptions,
    /// Digest of the files, the options and the version of this program.
    pub(in crate::store::packages) key: Digest,
    /// True if it could be meant as a package without `bmad.json`.
    pub(in crate::store::packages) is_like_package: bool,
}

/// SourceSelection of the files in a scope.
struct InScope<'a>(&'a SourceScope);

/// NamesOf in an opened source.
struct NamesOf<'a>(&'a ForeignSource);

impl SourceSelection for InScope<'_> {
    fn enters(&self, folder: &str) -> bool {
        self.0.enters(folder)
    }

    fn takes(&self, file: &str) -> bool {
        self.0.takes(file)
    }
}

impl SourceListing for NamesOf<'_> {
    fn folders(&self, folder: &str) -> Vec<String> {
        self.0.folders(folder)
    }

    fn files(&self, folder: &str) -> Vec<String> {
        self.0.files(folder)
    }

    fn has_file(&self, path: &str) -> bool {
        self.0.has_file(path)
    }
}

/// Finds the foreign content of a folder; none in a package, and in a folder that cannot be read.
pub fn scope_of(folder: &Path) -> SourceScope {
    if !folder.is_dir() || folder.join(MANIFEST).exists() {
        return SourceScope::default();
    }
    match ForeignSource::open(folder, &PackageLimits::default()) {
        Ok(Ok(opened)) => SourceScope::of(&NamesOf(&opened), SourceContent::Any),
        Ok(Err(_)) | Err(_) => SourceScope::default(),
    }
}

/// Opens a path.
pub(in crate::store::packages) fn sight(
    path: &Path,
    options: &SourceOptions,
    limits: &PackageLimits,
) -> Result<Sighted, SourceError> {
    let checked = |inspected| Ok(Sighted::Package(Box::new(inspected)));
    let (content, takes_packages) = match options.accepted {
        AcceptedSource::Any => (SourceContent::Any, true),
        AcceptedSource::Foreign(content) => (content, false),
        AcceptedSource::Package => return checked(inspect(path, limits)?),
    };
    let opened = if path.is_dir() {
        if takes_packages && path.join(MANIFEST).symlink_metadata().is_ok() {
            return checked(inspect(path, limits)?);
        }
        ForeignSource::open(path, limits)?
    } else {
        match Source::open(path, limits)? {
            OpenResult::Passed(source)
                if takes_packages && source.sizes().contains_key(MANIFEST) =>
            {
                return checked(examine(source));
            }
            OpenResult::Passed(source) => Ok(ForeignSource::of_archive(source)),
            OpenResult::Refused(findings) => Err(findings),
        }
    };
    let mut opened = match opened {
        Ok(opened) => opened,
        Err(findings) => return checked(refused(findings)),
    };
    let mut scope = SourceScope::of(&NamesOf(&opened), content);
    if scope.is_empty() && takes_packages && opened.files("").iter().any(|name| is_of_package(name))
    {
        return checked(inspect(path, limits)?);
    }
    while scope.is_empty() && opened.descend() {
        scope = SourceScope::of(&NamesOf(&opened), content);
    }
    let is_like_package = takes_packages && opened.has_file("workflow.md");
    Ok(match opened.read(&InScope(&scope), limits)? {
        Ok(read) => {
            let sighted = SightedSource::new(read, path, options);
            Sighted::Foreign(Box::new(SightedSource { is_like_package, ..sighted }))
        }
        Err(findings) => Sighted::Package(Box::new(refused(findings))),
    })
}

/// Returns true if a folder with this file is meant as a package, even without `bmad.json`.
fn is_of_package(name: &str) -> bool {
    name == "agents.json" || name.ends_with(".graph.json")
}

fn refused(findings: Findings) -> Inspected {
    Inspected {
        source: None,
        package: None,
        sketches: Vec::new(),
        findings,
        sources: Sources::default(),
    }
}

impl SightedSource {
    fn new(read: ForeignFiles, path: &Path, options: &SourceOptions) -> Self {
        let key = key(&read, options);
        let mut files = SourceFiles::default();
        for (path, content) in read.files {
            files.insert(path.as_str(), content);
        }
        read.links_outside.iter().for_each(|link| files.insert_link_outside(link));
        let options = ConvertOptions {
            name: options.name.clone().unwrap_or_else(|| name_of(path)),
            modules: options.modules.clone(),
            only: options.only.clone(),
            overrides: options.overrides.clone(),
            personal: !options.is_impersonal,
        };
        Self { files, options, key, is_like_package: false }
    }
}

/// Computes what identifies the result of a conversion.
fn key(read: &ForeignFiles, options: &SourceOptions) -> Digest {
    let overrides = options.overrides.as_deref().map(Digest::of);
    let SourceOptions { modules, only, is_impersonal, .. } = options;
    let mut lines =
        format!("{}\n{modules:?} {only:?} {is_impersonal} {overrides:?}\n", runtime_version());
    for (path, content) in &read.files {
        // Writing to a text cannot fail.
        let _ = writeln!(lines, "{path}\0{}", Digest::of(content));
    }
    for link in &read.links_outside {
        let _ = writeln!(lines, "{link}\0outside");
    }
    Digest::of(lines.as_bytes())
}

/// Returns the name of a folder, or that of a file without its ending.
fn name_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = if whole.is_dir() { whole.file_name() } else { whole.file_stem() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}
