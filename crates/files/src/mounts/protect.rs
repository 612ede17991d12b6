//! Paths below a writable mount that tools still may not write.

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::{Mount, VPath, WritablePath};
use crewagent_format::text::folded;
use crewagent_format::text::is_invisible_char;

use super::Mounts;
use super::error::{MountError, Stop};
use super::list::is_unreadable;
use super::place::Destination;
use crate::disk::Deed;

/// Names by which git knows a repository without a `.git`: the first, and all of one of the lists.
const HEAD: &str = "head";
const REPOSITORY: [&[&str]; 2] = [&["objects", "refs"], &["commondir"]];

impl Mounts {
    /// Resolves the target of a write and checks the rules for both the given and the resolved path.
    pub(super) fn allowed_place(&self, path: &WritablePath) -> Result<Destination, Stop> {
        check(path)?;
        let place = self.place(path.path())?;
        if place.path != *self.real(path.path()) {
            check(&WritablePath::new(place.path.clone())?)?;
        }
        self.check_repository(&place)?;
        Ok(place)
    }

    /// Refuses a write into a bare repository, and one that would make a folder a repository: its settings are programs
    /// that the user's next `git` command in that folder runs.
    fn check_repository(&self, place: &Destination) -> Result<(), Stop> {
        let path = &place.path;
        if path.mount() != Mount::Project {
            return Ok(());
        }
        let mut folder = Some(VPath::parse(Mount::Project.name())?);
        let names = path.relative().split('/');
        // A folder that is missing has no names that could complete it.
        let existing = names.clone().count().saturating_sub(place.missing.len());
        for name in names.take(existing) {
            let Some(here) = folder else { break };
            let name_there = folded(name);
            let has = |wanted: &str| match name_there == wanted {
                true => Ok(true),
                false => self.has_name(&here, wanted),
            };
            if has(HEAD)? {
                for list in REPOSITORY {
                    let mut each = list.iter().map(|wanted| has(wanted));
                    if each.try_fold(true, |all, found| found.map(|found| all && found))? {
                        return Err(in_repository(path, &here).into());
                    }
                }
            }
            folder = here.join(name);
        }
        Ok(())
    }

    /// Returns true if a folder has an entry of this name, as git spells it. What cannot be looked at cannot be used by
    /// git either.
    fn has_name(&self, folder: &VPath, name: &str) -> Result<bool, MountError> {
        let spelled = if name == HEAD { "HEAD" } else { name };
        let Some(entry) = folder.join(spelled) else { return Ok(false) };
        let found = self
            .disk
            .run(&entry, Deed::Look, || self.root(&entry).symlink_metadata(entry.relative()));
        match found {
            Ok(_) => Ok(true),
            Err(error) if is_unreadable(&error) => Ok(false),
            Err(error) => Err(MountError::new("look at", &entry, error)),
        }
    }
}

fn in_repository(path: &VPath, folder: &VPath) -> Refusal {
    Refusal::new(
        RefusalCode::Sandbox,
        format!("`{path}` is, or would be, part of a git repository: `{folder}` has, or would have, HEAD, objects and refs."),
    )
    .hint("Give it another name or folder; if it is a fixture of a test, ask the user to make it.")
}

/// Refuses any path of the project with a component `.git`, at any depth: a hook or a setting in there is a program
/// that the user's next `git` command runs.
fn check(path: &WritablePath) -> Result<(), Stop> {
    let path = path.path();
    if path.mount() == Mount::Project && path.relative().split('/').any(is_git) {
        return Err(Refusal::new(
            RefusalCode::Sandbox,
            format!("`{path}` belongs to the version control of the project."),
        )
        .hint("It can be read, but not written; ask the user to run the git command.")
        .into());
    }
    Ok(())
}

/// Returns true for `.git`, also in spellings of file systems that ignore case, drop invisible characters or have
/// short names.
fn is_git(name: &str) -> bool {
    let seen = name.chars().filter(|c| !is_invisible_char(*c)).flat_map(char::to_lowercase);
    seen.eq(".git".chars()) || name.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use crewagent_core::vpath::VPath;

    use super::*;

    fn check_refused(text: &str, expected: bool) {
        let refused = check(&WritablePath::new(VPath::parse(text).unwrap()).unwrap()).is_err();
        assert_eq!(refused, expected, "{text}");
    }

    #[test]
    fn the_folder_of_git_is_not_written() {
        for text in [
            "@project/.git",
            "@project/.git/hooks/pre-commit",
            "@project/.git/config",
            "@project/.GIT/config",
            "@project/vendor/lib/.git/hooks/post-checkout",
            "@project/GIT~1/config",
        ] {
            check_refused(text, true);
        }
        for text in [
            "@project/.gitignore",
            "@project/.github/workflows/ci.yml",
            "@project/git/config",
            "@project/a.git/config",
            "@project/.git2",
            "@state/.git/x",
        ] {
            check_refused(text, false);
        }
    }
}
