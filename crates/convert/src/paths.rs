//! Paths of a source as texts.

/// Joins a folder and a path below it.
pub(crate) fn join(folder: &str, rest: &str) -> String {
    if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") }
}

/// Returns the part of a path below a folder.
pub(crate) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

/// Returns true if a path lies below a folder. Everything lies below the empty folder.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    below(path, folder).is_some()
}

/// Returns the folder of a path; empty for a file at the root.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the last component of a path.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns the name of a file without its last ending.
pub(crate) fn stem_of(path: &str) -> &str {
    let name = name_of(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
