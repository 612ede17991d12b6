//! Finds a package by what a person types: a name, a name and a version, or the beginning of a digest.

use semver::Version;
use thiserror::Error;

use super::{Installed, Packages};
use crate::store::StoreError;
use crate::store::layout::slug;

/// Fewer digits of a digest are not taken for one.
const MIN_DIGITS: usize = 4;

/// Why a package was not found.
#[derive(Debug, Error)]
pub enum FindError {
    /// There is no package at all.
    #[error(
        "there is no package `{reference}`: nothing has been imported yet; import one with `crewagent package import`"
    )]
    Empty {
        /// What was asked for.
        reference: String,
    },
    /// No package has this name or digest.
    #[error("there is no package `{reference}`{}; `crewagent package list` shows what there is", suggestion(similar.as_deref()))]
    Unknown {
        /// What was asked for.
        reference: String,
        /// A name that looks like it.
        similar: Option<String>,
    },
    /// The package is there, but not in this version.
    #[error("there is no version {version} of `{name}`; there is {}", known.join(", "))]
    UnknownVersion {
        /// The package.
        name: String,
        /// The version that was asked for.
        version: Version,
        /// The versions that are there.
        known: Vec<String>,
    },
    /// Several packages fit.
    #[error("`{reference}` can mean several packages: {}; write more of it", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// What it can mean.
        candidates: Vec<String>,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn suggestion(similar: Option<&str>) -> String {
    similar.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

impl Packages<'_> {
    /// Finds one package. Without a version, the newest one is meant; of several with one version, the last imported.
    pub fn find(&self, reference: &str) -> Result<Installed, FindError> {
        choose(self.list()?.installed, reference)
    }
}

/// Chooses from a list in which the newest of each name comes last.
fn choose(mut installed: Vec<Installed>, reference: &str) -> Result<Installed, FindError> {
    let own = || reference.to_owned();
    if installed.is_empty() {
        return Err(FindError::Empty { reference: own() });
    }
    let (name, version) = match reference.rsplit_once('@') {
        Some((name, version)) if !named(&installed, reference) => match Version::parse(version) {
            Ok(version) => (name, Some(version)),
            Err(_) => (reference, None),
        },
        _ => (reference, None),
    };
    if let Some(name) = full_name(&installed, name)? {
        let known: Vec<String> = installed
            .iter()
            .filter(|one| one.name == name)
            .map(|one| one.version.to_string())
            .collect();
        let fits = |one: &Installed| {
            one.name == name && version.as_ref().is_none_or(|version| one.version == *version)
        };
        return match (installed.iter().rposition(fits), version) {
            (Some(at), _) => Ok(installed.swap_remove(at)),
            (None, Some(version)) => {
                Err(FindError::UnknownVersion { name, version, known: distinct(known) })
            }
            (None, None) => Err(FindError::Unknown { reference: own(), similar: None }),
        };
    }
    let digits = reference.to_ascii_lowercase();
    let by_digest =
        |one: &Installed| digits.len() >= MIN_DIGITS && one.digest.to_string().starts_with(&digits);
    let fits: Vec<usize> = (0..installed.len()).filter(|at| by_digest(&installed[*at])).collect();
    match fits[..] {
        [] => Err(FindError::Unknown { reference: own(), similar: similar(&installed, name) }),
        [at] => Ok(installed.swap_remove(at)),
        _ => {
            let candidates = fits.iter().map(|at| &installed[*at]);
            let candidates =
                candidates.map(|one| format!("{} ({})", one.digest, one.reference())).collect();
            Err(FindError::Ambiguous { reference: own(), candidates })
        }
    }
}

fn named(installed: &[Installed], name: &str) -> bool {
    installed.iter().any(|one| one.name == name)
}

/// The exact name that is meant: the same, or the only one that looks the same in a folder's name.
fn full_name(installed: &[Installed], name: &str) -> Result<Option<String>, FindError> {
    if named(installed, name) {
        return Ok(Some(name.to_owned()));
    }
    let same = |one: &&Installed| {
        one.name.chars().any(char::is_alphanumeric) && slug(&one.name) == slug(name)
    };
    let mut candidates =
        distinct(installed.iter().filter(same).map(|one| one.name.clone()).collect());
    match candidates.len() {
        0 => Ok(None),
        1 => Ok(candidates.pop()),
        _ => Err(FindError::Ambiguous { reference: name.to_owned(), candidates }),
    }
}

fn distinct(mut names: Vec<String>) -> Vec<String> {
    names.dedup();
    names
}

fn similar(installed: &[Installed], name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let distance = |one: &Installed| strsim::damerau_levenshtein(&one.name.to_lowercase(), &name);
    let best = installed.iter().min_by_key(|one| distance(one))?;
    (distance(best) <= best.name.chars().count().max(3) / 3).then(|| best.name.clone())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crewagent_core::integrity::Digest;
    use jiff::Timestamp;

    use super::*;

    fn installed(name: &str, version: &str, content: &[u8], second: i64) -> Installed {
        Installed {
            name: name.to_owned(),
            version: Version::parse(version).unwrap(),
            digest: Digest::of(content),
            folder: PathBuf::from("x"),
            imported: Timestamp::from_second(second).unwrap(),
            origin: String::new(),
            files: 1,
            bytes: 1,
        }
    }

    /// As the store lists them.
    fn list() -> Vec<Installed> {
        vec![
            installed("Big Flow", "1.0.0", b"big", 1),
            installed("a@1.0.0", "2.0.0", b"at", 1),
            installed("demo", "0.9.0", b"one", 9),
            installed("demo", "0.10.0-rc.1", b"two", 1),
            installed("demo", "0.10.0", b"three", 1),
            installed("demo", "0.10.0", b"four", 2),
            installed("twin x", "1.0.0", b"five", 2),
            installed("twin-x", "1.0.0", b"six", 2),
        ]
    }

    fn check_found(reference: &str, content: &[u8]) {
        assert_eq!(choose(list(), reference).unwrap().digest, Digest::of(content), "{reference}");
    }

    fn check_refused(reference: &str, expected: &str) {
        let error = choose(list(), reference).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} has no {expected:?}");
    }

    #[test]
    fn the_newest_version_and_then_the_last_import_is_meant() {
        check_found("demo", b"four");
        check_found("demo@0.10.0", b"four");
        check_found("demo@0.9.0", b"one");
        check_found("demo@0.10.0-rc.1", b"two");
    }

    #[test]
    fn a_name_need_not_be_typed_exactly() {
        check_found("big-flow", b"big");
        check_found("BIG FLOW@1.0.0", b"big");
        check_found("a@1.0.0", b"at");
        check_found("a@1.0.0@2.0.0", b"at");
        check_found("twin-x", b"six");
        check_refused("Twin_X", "can mean several packages: twin x, twin-x");
    }

    #[test]
    fn a_digest_may_be_cut_short() {
        let digest = Digest::of(b"three").to_string();
        check_found(&digest, b"three");
        check_found(&digest[..8], b"three");
        check_found(&digest[..8].to_uppercase(), b"three");
        check_refused(&digest[..3], "there is no package");
        let mut twins = list();
        twins.push(twins[0].clone());
        let error = choose(twins, &Digest::of(b"big").short()).unwrap_err();
        assert!(matches!(error, FindError::Ambiguous { .. }), "{error}");
    }

    #[test]
    fn what_is_not_there_is_explained() {
        check_refused("dmeo", "did you mean `demo`?");
        check_refused("nothing-like-it", "`crewagent package list`");
        check_refused(
            "demo@3.0.0",
            "no version 3.0.0 of `demo`; there is 0.9.0, 0.10.0-rc.1, 0.10.0",
        );
        let error = choose(Vec::new(), "demo").unwrap_err().to_string();
        assert!(error.contains("nothing has been imported yet"), "{error}");
    }
}
