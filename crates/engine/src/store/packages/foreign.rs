//! Foreign sources: read, converted to a package, and cached by their digest.
//!
//! A source that was converted before is not converted again: `sources/<digest>.json` in the store names the package that
//! was made of it, which answers as long as that package is there.

mod sight;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_convert::{Conversion, PackageFiles, convert};
use crewagent_format::integrity::Digest;
use crewagent_format::path::PackagePath;
use crewagent_source::Source;
use crewagent_source::inspect::{Inspected, examine};
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::sight::scope_of;
pub(super) use self::sight::{Sighted, SightedSource, sight};
use super::{Installed, Packages};
use crate::private;
use crate::store::StoreError;
pub use crewagent_convert::scope::SourceContent;

/// Report of a conversion inside a package.
const REPORT: &str = "import.json";

/// Choices of an import.
#[derive(Clone, Debug, Default)]
pub struct SourceOptions {
    pub accepted: AcceptedSource,
    /// Codes of the modules to convert; empty means all.
    pub modules: Vec<String>,
    /// Ids of the workflows and agents to convert; empty means all.
    pub only: Vec<String>,
    /// Corrections of a user, a YAML file.
    pub overrides: Option<Vec<u8>>,
    /// True to leave personal layers out of the package.
    pub is_impersonal: bool,
    /// Name of the source, if it is not that of its path.
    pub name: Option<String>,
}

/// Kinds of sources that an import accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcceptedSource {
    /// Packages and foreign sources.
    #[default]
    Any,
    /// Packages alone.
    Package,
    /// Foreign sources alone, and of those only this content.
    Foreign(SourceContent),
}

/// Record of a conversion.
#[derive(Clone, Debug)]
pub struct ForeignImport {
    /// Content of `import.json`.
    pub report: Json,
    /// True if the store already had the package that was made of this source.
    pub is_known: bool,
    /// Digest of the files, the options and the version of this program.
    pub(super) key: Digest,
}

/// Name of the package that was made of a source.
#[derive(Serialize, Deserialize)]
struct CacheEntry {
    name: String,
    version: Version,
    sha256: String,
}

impl SightedSource {
    /// Converts the source and checks the package.
    pub(super) fn convert(&self) -> (Inspected, ForeignImport) {
        let Conversion { package, findings, sources, report } = convert(&self.files, &self.options);
        let report = serde_json::to_value(&report).unwrap_or_default();
        let foreign = ForeignImport { report, is_known: false, key: self.key };
        let Some(files) = package else {
            let nothing =
                Inspected { source: None, package: None, sketches: Vec::new(), findings, sources };
            return (nothing, foreign);
        };
        let own = examine(Source::of_files(contents(&files)));
        let (findings, sources) = match own.package {
            Some(_) => (findings, sources),
            // The converter checks its result, so this is one that this version of the program cannot read.
            None => (own.findings, own.sources),
        };
        (Inspected { findings, sources, ..own }, foreign)
    }
}

fn contents(files: &PackageFiles) -> BTreeMap<PackagePath, Arc<[u8]>> {
    files.iter().map(|(path, content)| (path.clone(), content.clone())).collect()
}

/// Foreign content in a folder, and the package that was made of it.
#[derive(Clone, Debug)]
pub struct FolderSource {
    /// True if the content is an installation.
    pub has_installation: bool,
    /// Package that was made of it last.
    pub installed: Option<Installed>,
    /// True if the package was made of the content as it is now.
    pub is_current: bool,
}

impl Packages<'_> {
    /// Finds the foreign content of a folder, and the package that was made of it. Nothing is converted.
    pub fn source_in(&self, folder: &Path) -> Result<Option<FolderSource>, StoreError> {
        let scope = scope_of(folder);
        if scope.is_empty() {
            return Ok(None);
        }
        let has_installation = scope.has_installation();
        let sighted = sight(folder, &SourceOptions::default(), &self.store.settings.import);
        if let Ok(Sighted::Foreign(sighted)) = sighted
            && let Some(installed) = self.made_of(sighted.key)
        {
            let installed = Some(installed);
            return Ok(Some(FolderSource { has_installation, installed, is_current: true }));
        }
        let origin = folder.display().to_string();
        let mut installed = self.list()?.installed;
        installed.retain(|one| one.origin == origin);
        let installed = installed.into_iter().max_by_key(|one| one.imported);
        Ok(Some(FolderSource { has_installation, installed, is_current: false }))
    }

    /// Finds the package that was made of a source, if it is in the store.
    pub(super) fn made_of(&self, key: Digest) -> Option<Installed> {
        let text = fs::read(self.cache_entry(key)).ok()?;
        let CacheEntry { name, version, sha256 } = serde_json::from_slice(&text).ok()?;
        self.find_by_digest(&name, &version, Digest::parse(&sha256)?).ok()?
    }

    /// Remembers the package that was made of a source.
    pub(super) fn remember(&self, key: Digest, made: &Installed) -> Result<(), StoreError> {
        let path = self.cache_entry(key);
        let entry = CacheEntry {
            name: made.name.clone(),
            version: made.version.clone(),
            sha256: made.digest.to_string(),
        };
        let written = serde_json::to_vec(&entry).map_err(io::Error::other);
        written
            .and_then(|text| private::replace(&path, &text))
            .map_err(StoreError::io("write", &path))
    }

    fn cache_entry(&self, key: Digest) -> PathBuf {
        self.store.layout.sources().join(format!("{key}.json"))
    }

    /// Returns the report of the conversion that made a package; none for a package that an author wrote.
    pub fn conversion(&self, installed: &Installed) -> Option<Json> {
        let text = fs::read(installed.files_folder().join(REPORT)).ok()?;
        serde_json::from_slice(&text).ok()
    }
}
