//! Paths below a writable mount that tools still may not write.

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::{Mount, WritablePath};
use crewagent_format::text::is_unsafe_char;

use super::Mounts;
use super::error::Stop;
use super::place::Destination;

impl Mounts {
    /// Resolves the target of a write and checks the rules for both the given and the resolved path.
    pub(super) fn allowed_place(&self, path: &WritablePath) -> Result<Destination, Stop> {
        check(path)?;
        let place = self.place(path.path())?;
        if place.path != *self.real(path.path()) {
            check(&WritablePath::new(place.path.clone())?)?;
        }
        Ok(place)
    }
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
    let seen = name.chars().filter(|c| !is_unsafe_char(*c)).flat_map(char::to_lowercase);
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
