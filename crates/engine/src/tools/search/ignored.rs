//! Rules of ignore files.
//!
//! The files are read through the mount, not by ripgrep's own walk: that one opens `.gitignore` by its path, so that a
//! pipe of that name would block a search forever, and a link to a device would fill the memory.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::mounts::MountTree;

/// Bytes read of an ignore file.
const MAX_FILE: u64 = 256 * 1024;
/// Limit of rules from one file.
const MAX_RULES: usize = 5_000;

/// Names found in a folder that concern ignoring.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signs {
    ignore: bool,
    gitignore: bool,
    git: bool,
}

impl Signs {
    pub(super) fn see(&mut self, name: &str) {
        match name {
            ".ignore" => self.ignore = true,
            ".gitignore" => self.gitignore = true,
            ".git" => self.git = true,
            _ => {}
        }
    }
}

/// Rules of a folder and of those above it.
#[derive(Clone, Default)]
pub(super) struct Rules(Option<Arc<Level>>);

/// Rules of one folder that has any.
struct Level {
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// True if a repository starts here, so that git's rules further up do not apply.
    is_repository: bool,
    above: Rules,
}

impl Rules {
    /// Returns the rules inside a folder, given those above it.
    pub(super) fn enter(&self, tree: MountTree<'_>, folder: &str, signs: Signs) -> Self {
        if !(signs.ignore || signs.gitignore || signs.git) {
            return self.clone();
        }
        let read = |wanted: bool, name: &str| if wanted { read(tree, folder, name) } else { None };
        Self(Some(Arc::new(Level {
            ignore: read(signs.ignore, ".ignore"),
            gitignore: read(signs.gitignore, ".gitignore"),
            exclude: read(signs.git, ".git/info/exclude"),
            is_repository: signs.git,
            above: self.clone(),
        })))
    }

    /// Returns the verdict on a path below the mount: `Some(true)` if it is ignored, `Some(false)` if a rule includes
    /// it again. `.ignore` takes precedence over `.gitignore`, and a nearer file over one further up.
    pub(super) fn ignores(&self, path: &str, is_folder: bool) -> Option<bool> {
        let by = |rules: fn(&Level) -> Option<&Gitignore>| {
            move |level: &Level| verdict(rules(level)?, path, is_folder)
        };
        self.levels()
            .find_map(by(|level| level.ignore.as_ref()))
            .or_else(|| self.of_git().find_map(by(|level| level.gitignore.as_ref())))
            .or_else(|| self.of_git().find_map(by(|level| level.exclude.as_ref())))
    }

    fn levels(&self) -> impl Iterator<Item = &Level> {
        let first = self.0.as_deref();
        std::iter::successors(first, |level| level.above.0.as_deref())
    }

    /// Returns the levels from here up to the nearest repository.
    fn of_git(&self) -> impl Iterator<Item = &Level> {
        let mut is_outside = false;
        self.levels()
            .take_while(move |level| !std::mem::replace(&mut is_outside, level.is_repository))
    }
}

fn verdict(rules: &Gitignore, path: &str, is_folder: bool) -> Option<bool> {
    match rules.matched(Path::new(path), is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

fn read(tree: MountTree<'_>, folder: &str, name: &str) -> Option<Gitignore> {
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let bytes = tree.head(&path, MAX_FILE)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(if folder.is_empty() { "." } else { folder });
    for line in text.trim_start_matches('\u{feff}').lines().take(MAX_RULES) {
        // Invalid lines are skipped, as git does.
        let _ = builder.add_line(None, line);
    }
    let rules = builder.build().ok()?;
    (!rules.is_empty()).then_some(rules)
}
