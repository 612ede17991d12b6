//! Places below a writable mount that no tool may write all the same.

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::text::is_unsafe_char;
use crewagent_core::vpath::{Mount, VPath, WritablePath};

use super::error::Stop;

/// Whether tools may write here, said of the place a write really goes to, after links.
///
/// Besides what [`WritablePath`] refuses, that is everything in or named `.git` in the project, at any depth:
/// a hook or a setting in there is a program that the user's next `git` command runs.
pub(super) fn check(path: &VPath) -> Result<(), Stop> {
    WritablePath::new(path.clone())?;
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

/// `.git`, also as file systems spell it that ignore case, drop invisible characters or keep short names.
fn is_git(name: &str) -> bool {
    let seen = name.chars().filter(|c| !is_unsafe_char(*c)).flat_map(char::to_lowercase);
    seen.eq(".git".chars()) || name.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(text: &str, expected: bool) {
        let refused = check(&VPath::parse(text).unwrap()).is_err();
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
            "@pkg/x",
            "@state/logs/x",
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
