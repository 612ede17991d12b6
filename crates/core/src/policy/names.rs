//! Files that rules know by their names, in any folder: those that other programs run later, and those with secrets.

use crewagent_format::text::folded;

/// Kind of files that a rule can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// Files that a later command, editor or agent of the user executes or obeys.
    RunsLater,
    /// Files that usually hold keys or passwords.
    Secrets,
}

/// Names and ends of paths, folded; with a slash at the end, everything in such a folder.
const RUNS_LATER: [&str; 39] = [
    ".bash_profile",
    ".bashrc",
    ".cargo/config",
    ".cargo/config.toml",
    ".circleci/",
    ".claude/",
    ".cursor/",
    ".cursorrules",
    ".devcontainer/",
    ".envrc",
    ".githooks/",
    ".github/actions/",
    ".github/workflows/",
    ".gitlab-ci.yml",
    ".hg/",
    ".husky/",
    ".idea/",
    ".mcp.json",
    ".npmrc",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".ssh/",
    ".vscode/",
    ".yarnrc",
    ".yarnrc.yml",
    ".zshenv",
    ".zshrc",
    "agents.md",
    "authorized_keys",
    "azure-pipelines.yml",
    "claude.md",
    "gnumakefile",
    "jenkinsfile",
    "justfile",
    "makefile",
    "package.json",
    "taskfile.yaml",
    "taskfile.yml",
];

/// As [`RUNS_LATER`].
const SECRETS: [&str; 20] = [
    ".aws/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".docker/config.json",
    ".env",
    ".git-credentials",
    ".git/config",
    ".gnupg/",
    ".htpasswd",
    ".kube/config",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".ssh/",
    "_netrc",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
];

/// Ends of the names of keys and their stores.
const SECRET_ENDS: [&str; 7] = [".jks", ".kdbx", ".key", ".keystore", ".p12", ".pem", ".pfx"];

/// Ends of `.env.…` files that are kept with the source text, because they hold no value.
const EMPTY_ENDS: [&str; 4] = [".dist", ".example", ".sample", ".template"];

impl FileKind {
    pub const ALL: [Self; 2] = [Self::RunsLater, Self::Secrets];

    /// Returns the name in rules and settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::RunsLater => "runs-later",
            Self::Secrets => "secrets",
        }
    }

    /// Returns true if a file of the project, by its relative path, is of this kind in some spelling.
    pub fn covers(self, path: &str) -> bool {
        let path = folded(path);
        let parts: Vec<&str> = path.split('/').collect();
        match self {
            Self::RunsLater => is_listed(&parts, &RUNS_LATER),
            Self::Secrets => {
                let name = parts.last().copied().unwrap_or_default();
                let ends = |list: &[&str]| list.iter().any(|end| name.ends_with(end));
                is_listed(&parts, &SECRETS)
                    || ends(&SECRET_ENDS)
                    || (name.starts_with(".env.") && !ends(&EMPTY_ENDS))
            }
        }
    }
}

fn is_listed(parts: &[&str], list: &[&str]) -> bool {
    list.iter().any(|listed| {
        let (listed, is_folder) = match listed.strip_suffix('/') {
            Some(folder) => (folder, true),
            None => (*listed, false),
        };
        let wanted: Vec<&str> = listed.split('/').collect();
        let mut windows = parts.windows(wanted.len()).enumerate();
        windows.any(|(at, found)| found == wanted && is_folder == (at + wanted.len() < parts.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: FileKind, yes: &[&str], no: &[&str]) {
        yes.iter().for_each(|path| assert!(kind.covers(path), "{path}"));
        no.iter().for_each(|path| assert!(!kind.covers(path), "{path}"));
    }

    #[test]
    fn files_that_run_later_are_known_in_any_folder_and_spelling() {
        check(
            FileKind::RunsLater,
            &[
                "package.json",
                "web/package.json",
                "MAKEFILE",
                "Makefile",
                ".vscode/tasks.json",
                "sub/.github/workflows/ci.yml",
                ".husky/pre-commit",
                ".cargo/config.toml",
                "a/.envrc",
                "CLAUDE.md",
            ],
            &[
                "package.json.md",
                "docs/makefiles/a.md",
                ".github/ISSUE_TEMPLATE.md",
                "vscode/tasks.json",
                "config.toml",
                "src/main.rs",
                "package.json/x",
            ],
        );
    }

    #[test]
    fn secrets_are_known_and_their_samples_are_not() {
        check(
            FileKind::Secrets,
            &[
                ".env",
                "a/.ENV",
                ".env.local",
                "id_rsa",
                "certs/server.PEM",
                ".git/config",
                ".ssh/x",
            ],
            &[".env.example", ".env.sample", "env", ".envrc", "id_rsa.pub", "git/config", "key.md"],
        );
    }

    #[test]
    fn the_lists_are_folded_and_sorted() {
        for list in [&RUNS_LATER[..], &SECRETS, &SECRET_ENDS, &EMPTY_ENDS] {
            assert!(list.is_sorted());
            assert!(list.iter().all(|name| folded(name) == *name));
        }
    }
}
