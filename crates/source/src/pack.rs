//! Packs a package into one file, reproducibly: the same tree gives the same bytes on every machine.

mod output;
mod writer;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_format::diagnostic::{Code, Findings, Severity, Sources};
use crewagent_format::integrity::{Digest, MANIFEST, with_integrity};
use crewagent_format::package::older::{OlderPackage, older};
use crewagent_format::package::{Files, Package, check};
use crewagent_format::path::PackagePath;
use crewagent_format::version::Minor;
use thiserror::Error;

pub use self::output::PackOutput;

use self::output::OutputFile;
pub use self::writer::ArchiveWriter;
use crate::inspect::{Inspected, Rejection, inspect};
use crate::runtime_version;
use crate::{PackageLimits, ReadError, Source, SourceError};

/// Result of packing.
#[derive(Debug)]
pub struct PackResult {
    pub path: PathBuf,
    /// Digest of the package, also written into its `bmad.json`.
    pub digest: Digest,
    /// Number of files.
    pub files: usize,
    /// Total size of the files.
    pub unpacked_bytes: u64,
    pub packed_bytes: u64,
    /// Warnings for the author.
    pub findings: Findings,
    /// Texts that the findings point into.
    pub sources: Sources,
    /// What was left out for an older version of the format.
    pub left_out: LeftOut,
}

/// Notes about what an older version of the format does not know, with the texts that they point into.
#[derive(Debug, Default)]
pub struct LeftOut {
    pub notes: Findings,
    pub sources: Sources,
}

/// Error of packing. No file was written.
#[derive(Debug, Error)]
pub enum PackError {
    /// The input cannot be opened.
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the package has errors; correct them, then pack it again")]
    Rejected(Box<Rejection>),
    /// The output would become part of the package.
    #[error(
        "`{}` is inside the package, so the next packing would pack it too; \
         write it elsewhere, or as a `.bmad` file at the root of the package", path.display()
    )]
    Inside { path: PathBuf },
    /// The package cannot be written for an older version.
    #[error("the package cannot be written in format {version}: {reason}")]
    Older { version: &'static str, reason: String },
    #[error("`{path}` of the package cannot be read: {error}")]
    Read { path: PackagePath, error: io::Error },
    /// The package needs ZIP64, which some tools do not support.
    #[error("the package is too large for one archive: at most 65,535 files and 4 GiB fit in")]
    TooLarge,
    /// The output path is not a file, so it is not replaced.
    #[error("`{}` is {what}; give a file that is new or may be replaced", path.display())]
    NotAFile { path: PathBuf, what: &'static str },
    /// The output path holds a file that is not the same package.
    #[error(
        "`{}` is there already and is not a packed `{name}`; move it away, or say where the output shall go",
        path.display()
    )]
    Occupied { path: PathBuf, name: String },
    #[error("`{}` cannot be written: {error}; check that its folder exists, is writable and has room", path.display())]
    Write { path: PathBuf, error: io::Error },
}

impl From<ReadError> for PackError {
    fn from(ReadError { path, error }: ReadError) -> Self {
        Self::Read { path, error }
    }
}

/// Packs the folder or archive `input` into one file, replaced atomically.
pub fn pack(
    input: &Path,
    output: PackOutput<'_>,
    limits: &PackageLimits,
) -> Result<PackResult, PackError> {
    pack_as(input, output, limits, Minor::NEWEST)
}

/// Packs a package for runtimes that know the format up to a version; what that version does not know is left out.
pub fn pack_as(
    input: &Path,
    output: PackOutput<'_>,
    limits: &PackageLimits,
    version: Minor,
) -> Result<PackResult, PackError> {
    let inspected = inspect(input, limits)?;
    if let PackOutput::File(path) = output {
        OutputFile::explicit(path)?.refuse_inside(input)?;
    }
    pack_version(inspected, Some(input), output, limits, version)
}

/// Packs a package that was inspected. The output must not lie inside the folder `input`.
pub fn pack_inspected(
    inspected: Inspected,
    input: Option<&Path>,
    output: PackOutput<'_>,
    limits: &PackageLimits,
) -> Result<PackResult, PackError> {
    pack_version(inspected, input, output, limits, Minor::NEWEST)
}

fn pack_version(
    inspected: Inspected,
    input: Option<&Path>,
    output: PackOutput<'_>,
    limits: &PackageLimits,
    version: Minor,
) -> Result<PackResult, PackError> {
    let Inspected { source: Some(source), package, findings, sources, .. } = inspected else {
        return Err(rejected(inspected.findings, inspected.sources));
    };
    let mut known = match package {
        Some(package) => (package, findings, sources),
        None if !only_integrity(&findings) => return Err(rejected(findings, sources)),
        // Packing replaces an outdated digest, so check the package with the new one.
        None => checked(&Sealed::new(&source, Replaced::new(), source.digest()?)?)?,
    };
    let (mut replaced, mut left_out) = (Replaced::new(), LeftOut::default());
    if version < Minor::NEWEST {
        (replaced, left_out) = rewrite(&known.0, &source, version)?;
    }
    let digest = source.digest_with(&replaced)?;
    let is_rewritten = !replaced.is_empty();
    let sealed = Sealed::new(&source, replaced, digest)?;
    if is_rewritten {
        known = checked(&sealed)?;
    }
    let (package, findings, sources) = known;
    let target = match output {
        PackOutput::File(path) => OutputFile::explicit(path)?,
        PackOutput::Folder(folder) => OutputFile::chosen(folder, package.manifest(), limits)?,
    };
    input.map_or(Ok(()), |input| target.refuse_inside(input))?;
    let packed_bytes = write(&sealed, &target)?;
    Ok(PackResult {
        path: target.shown,
        digest,
        files: sealed.sizes.len(),
        unpacked_bytes: sealed.sizes.values().sum(),
        packed_bytes,
        findings,
        sources,
        left_out,
    })
}

fn rejected(findings: Findings, sources: Sources) -> PackError {
    PackError::Rejected(Box::new(Rejection { findings, sources }))
}

/// Checks the package that is written.
fn checked(sealed: &Sealed<'_>) -> Result<(Package, Findings, Sources), PackError> {
    let checked = check(sealed, &runtime_version());
    match checked.package {
        Some(package) => Ok((package, checked.findings, checked.sources)),
        None => Err(rejected(checked.findings, checked.sources)),
    }
}

type Replaced = BTreeMap<PackagePath, Arc<[u8]>>;

/// Rewrites the documents for an older version.
fn rewrite(
    package: &Package,
    source: &Source,
    version: Minor,
) -> Result<(Replaced, LeftOut), PackError> {
    let cannot = |reason| PackError::Older { version: version.as_str(), reason };
    let OlderPackage { files, notes, sources } = older(package, source, version).map_err(cannot)?;
    Ok((files, LeftOut { notes, sources }))
}

/// Returns true if the only errors concern the digest that packing replaces.
fn only_integrity(findings: &Findings) -> bool {
    findings.counts().keys().all(|code| {
        code.severity() != Severity::Error
            || matches!(code, Code::IntegrityMismatch | Code::BadDigest)
    })
}

/// Package with its digest in `bmad.json`, and with the documents that replace others.
struct Sealed<'a> {
    source: &'a Source,
    sizes: BTreeMap<PackagePath, u64>,
    replaced: Replaced,
}

impl<'a> Sealed<'a> {
    fn new(source: &'a Source, replaced: Replaced, digest: Digest) -> Result<Self, PackError> {
        let mut sizes = source.sizes().clone();
        for (path, content) in &replaced {
            sizes.insert(path.clone(), content.len() as u64);
        }
        let mut sealed = Self { source, sizes, replaced };
        let path = sealed.sizes.get_key_value(MANIFEST).map(|(path, _)| path.clone());
        // A package without a manifest has been rejected before.
        let Some(path) = path else { return Ok(sealed) };
        let content = sealed.content(&path)?;
        let text = String::from_utf8_lossy(&content);
        let manifest = with_integrity(&text, digest).unwrap_or_else(|| text.clone().into_owned());
        sealed.sizes.insert(path.clone(), manifest.len() as u64);
        sealed.replaced.insert(path, manifest.into_bytes().into());
        Ok(sealed)
    }

    fn content(&self, path: &PackagePath) -> Result<Arc<[u8]>, ReadError> {
        match self.replaced.get(path) {
            Some(content) => Ok(content.clone()),
            None => self.source.content(path),
        }
    }
}

impl Files for Sealed<'_> {
    fn sizes(&self) -> &BTreeMap<PackagePath, u64> {
        &self.sizes
    }

    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String> {
        match self.replaced.get(path) {
            Some(content) => Ok(content.clone()),
            None => self.source.read(path),
        }
    }
}

/// Writes a temporary file beside the output, flushes it, and renames it.
fn write(sealed: &Sealed<'_>, target: &OutputFile) -> Result<u64, PackError> {
    let failed = |error| target.failed(error);
    let mut temporary = target.temporary().map_err(failed)?;
    let mut writer = ArchiveWriter::new(BufWriter::new(temporary.as_file_mut()));
    // The manifest comes first, so that readers find it quickly.
    let manifest = sealed.sizes.keys().filter(|path| path.as_str() == MANIFEST);
    let others = sealed.sizes.keys().filter(|path| path.as_str() != MANIFEST);
    for path in manifest.chain(others) {
        let content = sealed.content(path)?;
        writer.add(path.as_str(), &content).map_err(failed)?;
    }
    let packed = match writer.finish().map_err(failed)? {
        Some((mut buffer, packed)) => {
            buffer.flush().map_err(failed)?;
            packed
        }
        None => return Err(PackError::TooLarge),
    };
    temporary.as_file().sync_all().map_err(failed)?;
    temporary.persist(&target.path).map_err(|error| failed(error.error))?;
    // Makes the rename durable.
    if cfg!(unix) {
        std::fs::File::open(target.folder())
            .and_then(|folder| folder.sync_all())
            .map_err(failed)?;
    }
    Ok(packed)
}
