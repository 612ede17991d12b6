//! Foreign source in a folder, walked where the selection leads.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, OpenOptions};
use crewagent_format::diagnostic::Findings;
use crewagent_format::path::{PackagePath, PathError};

use super::{ForeignFiles, SourceSelection};
use crate::SourceError;
use crate::folder::{changed, read_whole, special_kind};
use crate::gate::{DeclaredKind, EntryGate, bad_name, printable, special};
use crate::limits::PackageLimits;
use crate::litter::is_litter;

/// Entries that are looked at for each one that may be read.
const LOOKED_AT_PER_ENTRY: u64 = 5;

/// Folder of a foreign source.
#[derive(Debug)]
pub(super) struct ForeignFolder {
    root: Dir,
    /// Absolute path without links.
    base: PathBuf,
}

impl ForeignFolder {
    pub(super) fn open(path: &Path) -> Result<Self, SourceError> {
        let failed = |error| SourceError::new(path, error);
        let base = path.canonicalize().map_err(failed)?;
        let root = Dir::open_ambient_dir(&base, ambient_authority()).map_err(failed)?;
        Ok(Self { root, base })
    }

    /// Lists the names of the folders, or of the files, in a folder.
    pub(super) fn names(&self, folder: &str, is_folder: bool) -> Vec<String> {
        let path = if folder.is_empty() { "." } else { folder };
        let Ok(entries) = self.root.read_dir(path) else { return Vec::new() };
        let fits = |entry: &DirEntry, name: &str| {
            let Ok(kind) = entry.file_type() else { return false };
            if !kind.is_symlink() {
                return if is_folder { kind.is_dir() } else { kind.is_file() };
            }
            let target = self.target(&Path::new(path).join(name));
            target
                .is_some_and(|(_, found)| if is_folder { found.is_dir() } else { found.is_file() })
        };
        let mut names: Vec<String> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                fits(&entry, &name).then_some(name)
            })
            .collect();
        names.sort();
        names
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.target(Path::new(path)).is_some_and(|(_, found)| found.is_file())
    }

    /// Resolves all links of a path. Returns `None` if it leads out of the folder, or to nothing.
    fn target(&self, path: &Path) -> Option<(PathBuf, fs::Metadata)> {
        let whole = self.base.join(path).canonicalize().ok()?;
        let inside = whole.strip_prefix(&self.base).ok()?.to_owned();
        Some((inside, fs::metadata(&whole).ok()?))
    }

    pub(super) fn read(
        &self,
        selection: &dyn SourceSelection,
        limits: &PackageLimits,
    ) -> Result<Result<ForeignFiles, Findings>, SourceError> {
        let mut walk = ForeignWalk {
            folder: self,
            selection,
            gate: EntryGate::new(limits),
            places: BTreeMap::new(),
            links_outside: Vec::new(),
            folders: vec![WalkedFolder::default()],
            allowed: limits.max_entries.saturating_mul(LOOKED_AT_PER_ENTRY),
        };
        while let Some(folder) = walk.folders.pop() {
            let real = self.base.join(&folder.real);
            walk.list(&folder).map_err(|error| SourceError::new(&real, error))?;
            if walk.gate.overflowed() {
                break;
            }
        }
        let ForeignWalk { mut gate, places, mut links_outside, .. } = walk;
        gate.total();
        if !gate.findings.is_empty() {
            return Ok(Err(gate.findings));
        }
        let mut files = BTreeMap::new();
        for (path, place) in places {
            let failed = |error| SourceError::new(&self.base.join(&place.real), error);
            files.insert(path, self.content(&place).map_err(failed)?);
        }
        links_outside.sort();
        Ok(Ok(ForeignFiles { files, links_outside }))
    }

    /// Reads a file that was listed. It has no links in its path, so none is followed.
    fn content(&self, place: &FilePlace) -> io::Result<Arc<[u8]>> {
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = self.root.open_with(&place.real, &options)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() != place.size {
            return Err(changed());
        }
        read_whole(file, place.size)
    }
}

/// Place of a file whose name passed the gate.
struct FilePlace {
    /// Path without links, relative to the root.
    real: PathBuf,
    size: u64,
}

/// Folder that is to be listed.
#[derive(Clone, Default)]
struct WalkedFolder {
    /// Path by which the source names it; empty for the root.
    path: String,
    /// Path without links, relative to the root.
    real: PathBuf,
    /// Real folders in which a link on the way stands. A link to one of them, or above, would lead in a circle.
    trail: Vec<PathBuf>,
}

struct ForeignWalk<'a> {
    folder: &'a ForeignFolder,
    selection: &'a dyn SourceSelection,
    gate: EntryGate<'a>,
    places: BTreeMap<PackagePath, FilePlace>,
    links_outside: Vec<String>,
    /// Folders still to be listed.
    folders: Vec<WalkedFolder>,
    /// Entries that may still be looked at.
    allowed: u64,
}

impl ForeignWalk<'_> {
    fn list(&mut self, folder: &WalkedFolder) -> io::Result<()> {
        let real = if folder.real.as_os_str().is_empty() { Path::new(".") } else { &folder.real };
        for entry in self.folder.root.read_dir(real)? {
            if self.allowed == 0 {
                self.gate.too_many();
            }
            if self.gate.overflowed() {
                return Ok(());
            }
            self.allowed -= 1;
            self.entry(&entry?, folder)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, folder: &WalkedFolder) -> io::Result<()> {
        let name = entry.file_name();
        let lossy = name.to_string_lossy();
        let text = match folder.path.as_str() {
            "" => lossy.clone().into_owned(),
            path => format!("{path}/{lossy}"),
        };
        let (is_taken, is_entered) = (self.selection.takes(&text), self.selection.enters(&text));
        if is_litter(&text) || !is_taken && !is_entered {
            return Ok(());
        }
        let mut found =
            WalkedFolder { path: text, real: folder.real.join(&name), trail: folder.trail.clone() };
        let kind = entry.file_type()?;
        let (is_dir, is_file, size) = if kind.is_symlink() {
            let Some((target, metadata)) = self.folder.target(&found.real) else {
                self.links_outside.push(printable(found.path.as_bytes()));
                return Ok(());
            };
            found.trail.push(folder.real.clone());
            if metadata.is_dir() && found.trail.iter().any(|past| past.starts_with(&target)) {
                return Ok(());
            }
            found.real = target;
            (metadata.is_dir(), metadata.is_file(), metadata.len())
        } else {
            let size = if kind.is_file() { entry.metadata()?.len() } else { 0 };
            (kind.is_dir(), kind.is_file(), size)
        };
        if !(is_dir && is_entered || !is_dir && is_taken) {
            return Ok(());
        }
        let shown = printable(found.path.as_bytes());
        if name.to_str().is_none() {
            let error = PathError::Name("it is not UTF-8".to_owned());
            self.gate.findings.push(bad_name(&shown, &error));
        } else if !is_dir && !is_file {
            self.gate.findings.push(special(&shown, special_kind(kind)));
        } else if is_dir {
            self.folders.push(found);
        } else {
            self.file(&shown, found, size);
        }
        Ok(())
    }

    fn file(&mut self, shown: &str, found: WalkedFolder, size: u64) {
        let Some(path) = self.gate.name(shown, &found.path) else { return };
        if self.gate.place(&path, DeclaredKind::File) && self.gate.size(shown, size) {
            self.places.insert(path, FilePlace { real: found.real, size });
        }
    }
}
