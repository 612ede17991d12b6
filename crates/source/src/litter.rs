//! Files that editors, version control and file browsers leave in a folder; never part of a package.

/// Names that are litter at any depth, in any case.
const NAMES: [&str; 8] =
    [".git", ".svn", ".hg", ".jj", ".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX"];

/// Returns true if this path, relative to the package root and separated by `/`, is not part of the package.
/// A packed package at the root counts too, so that packing twice gives the same bytes.
pub fn is_litter(path: &str) -> bool {
    let path = path.strip_suffix('/').unwrap_or(path);
    path.split('/').any(is_litter_name) || !path.contains('/') && has_ending(path, ".bmad")
}

fn is_litter_name(name: &str) -> bool {
    NAMES.iter().any(|litter| litter.eq_ignore_ascii_case(name))
        || name.starts_with("._")
        || name.ends_with('~')
        || name.starts_with('.') && has_ending(name, ".swp")
}

fn has_ending(name: &str, ending: &str) -> bool {
    name.len()
        .checked_sub(ending.len())
        .and_then(|at| name.get(at..))
        .is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn litter_is_known_by_its_name() {
        for path in [
            ".git",
            ".git/config",
            "steps/.svn/entries",
            ".hg",
            ".jj/repo",
            ".DS_Store",
            "assets/.ds_store",
            "Thumbs.db",
            "assets/Desktop.ini",
            "__MACOSX/._bmad.json",
            "__MACOSX/",
            "._x",
            "steps/a.md~",
            "steps/.a.md.swp",
            "mine.bmad",
            "MINE.BMAD",
        ] {
            assert!(is_litter(path), "{path}");
        }
        for path in [
            "bmad.json",
            ".gitignore",
            ".github/x",
            "assets/other.bmad",
            "a.swp",
            "a~b",
            "_x",
            "bmad",
            "é.bma",
        ] {
            assert!(!is_litter(path), "{path}");
        }
    }
}
