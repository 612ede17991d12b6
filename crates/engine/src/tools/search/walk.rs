//! Lists the files to search below a folder, in an order that depends on their names alone.

use std::io;
use std::sync::{Mutex, PoisonError};

use crewagent_core::vpath::{Mount, VPath};

use super::globs::Globs;
use super::ignored::{Rules, Signs};
use super::parallel::{Then, for_each};
use crate::cancel::Deadline;
use crate::mounts::{EntryKind, Links, MountTree};

/// Limit of names seen in one call.
const MAX_SEEN: usize = 1_000_000;

/// Files to search.
#[derive(Default)]
pub(super) struct SearchFiles {
    /// Sorted; a folder comes before its subfolders.
    folders: Vec<SearchFolder>,
    /// For each folder, the number of files before its own.
    starts: Vec<usize>,
    count: usize,
    /// True if there are more names than the limit.
    pub(super) cut: bool,
    /// Number of folders that could not be read.
    pub(super) skipped: usize,
}

struct SearchFolder {
    path: String,
    files: Vec<String>,
}

/// A folder to list.
struct FolderJob {
    path: String,
    rules: Rules,
    links: Links,
}

impl SearchFiles {
    /// Returns a list of one file.
    pub(super) fn single(path: &str) -> Self {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = SearchFolder { path: folder.to_owned(), files: vec![name.to_owned()] };
        Self { folders: vec![folder], starts: vec![0], count: 1, ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Returns the path of a file below the mount.
    pub(super) fn path(&self, index: usize) -> String {
        let folder = self.starts.partition_point(|start| *start <= index).saturating_sub(1);
        let Some(start) = self.starts.get(folder) else { return String::new() };
        let file = self
            .folders
            .get(folder)
            .and_then(|folder| Some((&folder.path, folder.files.get(index - start)?)));
        file.map(|(folder, name)| joined(folder, name)).unwrap_or_default()
    }

    fn sort(&mut self) {
        self.folders.retain(|folder| !folder.files.is_empty());
        self.folders.sort_unstable_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
        for folder in &self.folders {
            self.starts.push(self.count);
            self.count += folder.files.len();
        }
    }
}

/// Lists a folder and everything in it level by level, each level on all cores.
pub(super) fn walk(
    tree: MountTree<'_>,
    folder: &str,
    globs: &Globs,
    deadline: &Deadline,
) -> io::Result<SearchFiles> {
    let mut files = SearchFiles::default();
    let mut seen = 0;
    let rules = rules_above(tree, folder);
    // The model named this folder, which may be a link.
    let mut level = vec![FolderJob { path: folder.to_owned(), rules, links: Links::Followed }];
    let mut is_first = true;
    while !level.is_empty() && !deadline.is_over() {
        let listed = list_level(tree, &level, globs);
        level.clear();
        for result in listed {
            match result {
                Ok((folder, jobs, names)) => {
                    seen += names;
                    files.folders.push(folder);
                    level.extend(jobs);
                }
                Err(error) if is_first => return Err(error),
                Err(error) => skip(error, &mut files.skipped)?,
            }
        }
        is_first = false;
        if seen >= MAX_SEEN {
            files.cut = true;
            break;
        }
    }
    files.sort();
    Ok(files)
}

/// Counts an unreadable entry as skipped, ignores a removed one, and returns other errors.
pub(super) fn skip(error: io::Error, skipped: &mut usize) -> io::Result<()> {
    use io::ErrorKind;
    if crate::disk::is_exhausted(&error) {
        return Err(error);
    }
    if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
        *skipped += 1;
    }
    Ok(())
}

/// A folder, its subfolders, and the number of names seen.
type FolderListing = io::Result<(SearchFolder, Vec<FolderJob>, usize)>;

fn list_level(tree: MountTree<'_>, level: &[FolderJob], globs: &Globs) -> Vec<FolderListing> {
    let listed = Mutex::new(Vec::with_capacity(level.len()));
    for_each(
        level.len(),
        1,
        || (),
        |(), index| {
            let result = list(tree, &level[index], globs);
            listed.lock().unwrap_or_else(PoisonError::into_inner).push(result);
            Then::GoOn
        },
    );
    listed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn list(tree: MountTree<'_>, job: &FolderJob, globs: &Globs) -> FolderListing {
    let mut signs = Signs::default();
    let mut entries = Vec::new();
    let mut seen = 0;
    tree.each(&job.path, job.links, MAX_SEEN, |name, kind| {
        seen += 1;
        signs.see(name);
        if matches!(kind, EntryKind::File | EntryKind::Folder) {
            entries.push((name.to_owned(), kind));
        }
    })?;
    let rules = job.rules.enter(tree, &job.path, signs);
    let mut folder = SearchFolder { path: job.path.clone(), files: Vec::new() };
    let mut jobs = Vec::new();
    for (name, kind) in entries {
        let path = joined(&job.path, &name);
        let is_folder = kind == EntryKind::Folder;
        if globs.excludes(&path) || is_ignored(&rules, globs, &path, &name, is_folder) {
            continue;
        }
        // The model could not use this name to open the file.
        if VPath::new(Mount::Project, &path).is_none() {
            continue;
        }
        if is_folder {
            jobs.push(FolderJob { path, rules: rules.clone(), links: Links::Refused });
        } else if globs.wants_file(&path) {
            folder.files.push(name);
        }
    }
    folder.files.sort_unstable();
    Ok((folder, jobs, seen))
}

/// Returns true for a hidden folder or an ignored path that the model did not name.
fn is_ignored(rules: &Rules, globs: &Globs, path: &str, name: &str, is_folder: bool) -> bool {
    let ignored = match rules.ignores(path, is_folder) {
        Some(ignored) => ignored,
        None => is_folder && name.starts_with('.'),
    };
    ignored && !globs.names(path)
}

/// Returns the rules of the folders above the searched one, within the mount.
fn rules_above(tree: MountTree<'_>, folder: &str) -> Rules {
    let mut rules = Rules::default();
    let ends = folder.match_indices('/').map(|(index, _)| index);
    let above = std::iter::once(0).chain(ends).filter(|_| !folder.is_empty());
    for end in above {
        let above = &folder[..end];
        let mut signs = Signs::default();
        for name in [".ignore", ".gitignore", ".git"] {
            if tree.has(&joined(above, name)) {
                signs.see(name);
            }
        }
        rules = rules.enter(tree, above, signs);
    }
    rules
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
