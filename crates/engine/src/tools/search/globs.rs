//! Globs that select the files to search.

use crewagent_core::policy::names::FileKind;
use crewagent_core::refusal::Refusal;
use crewagent_core::vpath::{Mount, VPath, with_mounts};
use crewagent_format::wording::quoted;
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

use super::invalid;

/// Limit of globs in one call.
const MAX_GLOBS: usize = 64;
/// Limit of a glob in bytes.
const MAX_GLOB: usize = 512;

/// Compiled globs. A glob without a slash matches names at any depth; one with a slash matches the path below the
/// mount, or below the searched folder. A glob that matches a folder includes everything in it.
pub(super) struct Globs {
    included: GlobSet,
    excluded: GlobSet,
    /// Paths given without a wildcard. They are searched even if an ignore file excludes them.
    named: Vec<String>,
    /// Length of the searched path, with its slash.
    base: usize,
    hides_secrets: bool,
}

impl Globs {
    pub(super) fn new(
        globs: &[String],
        path: &VPath,
        hides_secrets: bool,
    ) -> Result<Self, Box<Refusal>> {
        if globs.len() > MAX_GLOBS {
            return Err(invalid(format!("There are more than {MAX_GLOBS} globs.")));
        }
        let (mut included, mut excluded) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut named = Vec::new();
        for text in globs {
            let (set, glob) = match text.strip_prefix('!') {
                Some(glob) => (&mut excluded, glob),
                None => (&mut included, text.as_str()),
            };
            let glob = with_mounts(glob);
            let (glob, anchored) = below_mount(&glob, path.mount())
                .map_err(|why| invalid(format!("The glob {} {why}.", quoted(text))))?;
            for variant in variants(glob, anchored) {
                let compiled = GlobBuilder::new(&variant).literal_separator(true).build();
                set.add(compiled.map_err(|error| not_a_glob(text, &error))?);
            }
            if anchored && !text.starts_with('!') && !glob.contains(['*', '?', '[', '{']) {
                named.push(glob.trim_end_matches('/').to_owned());
            }
        }
        let base = path.relative().len();
        Ok(Self {
            included: included.build().map_err(|error| not_a_glob("list", &error))?,
            excluded: excluded.build().map_err(|error| not_a_glob("list", &error))?,
            named,
            base: if base == 0 { 0 } else { base + 1 },
            hides_secrets: hides_secrets && path.mount() == Mount::Project,
        })
    }

    /// Returns true if a file is to be searched. The path is relative to the mount.
    pub(super) fn wants_file(&self, path: &str) -> bool {
        (self.included.is_empty() || self.matches(&self.included, path)) && !self.excludes(path)
    }

    /// Returns true if a glob excludes a file or folder.
    pub(super) fn excludes(&self, path: &str) -> bool {
        let is_excluded = !self.excluded.is_empty() && self.matches(&self.excluded, path);
        is_excluded || (self.hides_secrets && FileKind::Secrets.covers(path))
    }

    /// Returns true if a path was given without a wildcard, leads to such a path, or lies below one.
    pub(super) fn names(&self, path: &str) -> bool {
        let below = |one: &str, other: &str| {
            one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.named.iter().any(|named| below(named, path) || below(path, named))
    }

    fn matches(&self, set: &GlobSet, path: &str) -> bool {
        if set.is_match_candidate(&Candidate::new(path)) {
            return true;
        }
        let below = path.get(self.base..).unwrap_or_default();
        self.base > 0 && set.is_match_candidate(&Candidate::new(below))
    }
}

/// Returns the glob without its mount, and true if it matches paths rather than names.
fn below_mount(glob: &str, mount: Mount) -> Result<(&str, bool), String> {
    if glob.len() > MAX_GLOB {
        return Err(format!("is longer than {MAX_GLOB} bytes"));
    }
    let rest =
        glob.strip_prefix(mount.name()).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let (glob, has_mount) = match rest {
        Some(rest) => (rest.trim_start_matches('/'), true),
        None if glob.starts_with('@')
            && Mount::ALL.iter().any(|other| glob.starts_with(other.name())) =>
        {
            return Err(format!(
                "is about another mount than the path, which is in {}",
                mount.name()
            ));
        }
        None => (glob, false),
    };
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    let rooted = glob.strip_prefix('/');
    let (glob, is_rooted) = (rooted.unwrap_or(glob), rooted.is_some());
    match glob {
        "" if has_mount => Ok(("**", true)),
        "" => Err("is empty".to_owned()),
        _ => Ok((glob, has_mount || is_rooted || glob.trim_end_matches('/').contains('/'))),
    }
}

/// Returns the glob itself, and a glob for the contents of a folder that it matches.
fn variants(glob: &str, anchored: bool) -> impl Iterator<Item = String> {
    let is_folder = glob.ends_with('/');
    let glob = glob.trim_end_matches('/');
    let start = if anchored { "" } else { "**/" };
    let below = format!("{start}{glob}/**");
    let itself = (!is_folder).then(|| format!("{start}{glob}"));
    itself.into_iter().chain([below])
}

fn not_a_glob(text: &str, error: &globset::Error) -> Box<Refusal> {
    invalid(format!("The glob {} is not valid: {}.", quoted(text), error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_wanted(globs: &[&str], base: &str, wanted: &[&str], unwanted: &[&str]) {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        let path = VPath::new(Mount::Project, base).unwrap();
        let compiled = Globs::new(&globs, &path, false).unwrap();
        for file in wanted {
            assert!(compiled.wants_file(file), "{globs:?} {file}");
        }
        for file in unwanted {
            assert!(!compiled.wants_file(file), "{globs:?} {file}");
        }
    }

    #[test]
    fn globs_are_about_names_or_paths() {
        check_wanted(&[], "", &["a", "a/b"], &[]);
        check_wanted(&["*.md"], "", &["a.md", "x/y/a.md"], &["a.mdx", "a.md.txt"]);
        check_wanted(&["@project/**/*.md"], "", &["a.md", "x/y/a.md"], &["a.txt"]);
        check_wanted(&["{project-root}/*.md"], "", &["a.md"], &["x/a.md"]);
        check_wanted(&["{artifacts-root}/*.md"], "", &["artifacts/a.md"], &["a.md"]);
        check_wanted(&["@project"], "", &["a", "b/c"], &[]);
        check_wanted(&["src/**/*.rs"], "", &["src/a.rs", "src/x/a.rs"], &["a.rs", "lib/src/a.rs"]);
        check_wanted(&["/src/*.rs"], "", &["src/a.rs"], &["x/src/a.rs"]);
        check_wanted(&["./src/*.rs"], "", &["src/a.rs"], &["x/src/a.rs"]);
        check_wanted(&["*.{ts,tsx}"], "", &["x/a.ts", "a.tsx"], &["a.t"]);
        check_wanted(&["docs"], "", &["docs/a", "x/docs/y/z"], &["docsx/a"]);
        check_wanted(&["docs/"], "", &["docs/a", "x/docs/a"], &["docs"]);
        check_wanted(&["a.md", "!x"], "", &["a.md", "y/a.md"], &["x/a.md", "b.md"]);
        check_wanted(&["!*.lock"], "", &["a.md"], &["Cargo.lock", "x/y.lock"]);
        check_wanted(&["src/*.rs"], "sub", &["sub/src/a.rs", "src/a.rs"], &["sub/x/a.rs"]);
    }

    #[test]
    fn a_bad_glob_is_told_with_the_reason() {
        let path = VPath::new(Mount::Project, "").unwrap();
        for (glob, why) in [
            ("[", "unclosed character class"),
            ("a{b", "unclosed alternate"),
            ("@pkg/*.md", "another mount"),
            ("{package-root}/*.md", "another mount"),
            ("", "empty"),
            ("[z-a]", "range"),
        ] {
            let refusal = Globs::new(&[glob.to_owned()], &path, false).err().unwrap();
            assert!(refusal.message.contains(why), "{glob}: {}", refusal.message);
        }
        assert!(Globs::new(&vec!["a".to_owned(); 65], &path, false).is_err());
        assert!(Globs::new(&["x".repeat(513)], &path, false).is_err());
    }

    #[test]
    fn a_named_file_is_wanted_with_the_folders_on_the_way() {
        let path = VPath::new(Mount::Project, "").unwrap();
        let globs = Globs::new(&["@project/artifacts/epics.md".to_owned()], &path, false).unwrap();
        for named in ["artifacts", "artifacts/epics.md"] {
            assert!(globs.names(named), "{named}");
        }
        for other in ["art", "artifacts/epics", "artifacts/other.md", "x/artifacts"] {
            assert!(!globs.names(other), "{other}");
        }
    }
}
