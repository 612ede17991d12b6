//! Finds a package by what the user types: a name, a name and a version, the start of a digest, or the name of its
//! folder in the store.

use std::path::Path;

use crewagent_format::integrity::Digest;
use crewagent_format::wording::distance;
use crewagent_source::names::{is_same, slug, stem};
use semver::Version;
use thiserror::Error;

use super::record::PackageRecord;
use super::{Damaged, Installed, PackageListing, Packages};
use crate::store::StoreError;
use crate::store::layout::{DIGEST_DIGITS, folder_name};

/// Shortest prefix of a digest that is accepted.
const MIN_DIGITS: usize = 4;

/// Error of finding a package.
#[derive(Debug, Error)]
pub enum FindError {
    /// The store has no package at all.
    #[error(
        "there is no package `{reference}`: nothing has been imported yet; import one with `crewagent package import`"
    )]
    Empty { reference: String },
    /// No package has this name or digest.
    #[error(
        "there is no package `{reference}`{}; `crewagent package list` shows what there is{}",
        suggestion(similar.as_deref()), mention(damaged)
    )]
    Unknown {
        reference: String,
        /// Similar name.
        similar: Option<String>,
        /// Names of damaged folders.
        damaged: Vec<String>,
    },
    #[error("there is no version {version} of `{name}`; there is {}", known.join(", "))]
    UnknownVersion { name: String, version: Version, known: Vec<String> },
    /// Several packages match.
    #[error("`{reference}` can mean several packages: {}; write more of it", candidates.join(", "))]
    Ambiguous { reference: String, candidates: Vec<String> },
    /// Several packages have the name, or the name and the version, where only one may be meant.
    #[error(
        "`{reference}` is the name of {} packages: {}; write the digest of the one that you mean, or its version",
        candidates.len(), candidates.join(", ")
    )]
    Several {
        reference: String,
        /// Each as `name version (digest, time of its import)`.
        candidates: Vec<String>,
    },
    #[error(transparent)]
    Damaged(Box<Damaged>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Result of a search: an intact or a damaged package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundPackage {
    /// Package that looks intact.
    Installed(Installed),
    /// Folder that can be removed, and most often repaired.
    Damaged(Damaged),
}

impl FoundPackage {
    /// Returns its folder in the store.
    pub fn folder(&self) -> &Path {
        match self {
            Self::Installed(installed) => &installed.folder,
            Self::Damaged(damaged) => &damaged.folder,
        }
    }
}

/// Lists the damaged folders, as the end of a sentence.
fn mention(damaged: &[String]) -> String {
    match damaged {
        [] => String::new(),
        [one] => format!("; the folder `{one}` is damaged"),
        many => format!("; the folders `{}` are damaged", many.join("`, `")),
    }
}

fn suggestion(similar: Option<&str>) -> String {
    similar.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

impl Packages<'_> {
    /// Finds one package. Without a version it returns the newest one; of several with one version, the last imported.
    pub fn find(&self, reference: &str) -> Result<Installed, FindError> {
        match self.find_any(reference)? {
            FoundPackage::Installed(installed) => Ok(installed),
            FoundPackage::Damaged(damaged) => Err(FindError::Damaged(Box::new(damaged))),
        }
    }

    /// Finds the one package, intact or damaged, that is to be removed. A name that several versions or builds have is
    /// refused.
    pub fn find_one(&self, reference: &str) -> Result<FoundPackage, FindError> {
        let listing = self.list()?;
        let found = choose_any(listing.clone(), reference)?;
        let FoundPackage::Installed(one) = &found else { return Ok(found) };
        let rivals = rivals(&listing.installed, one, reference);
        if rivals.len() < 2 {
            return Ok(found);
        }
        let described = |one: &&Installed| {
            let (time, digits) = (one.imported.strftime("%Y-%m-%d %H:%M"), one.digest.short());
            format!("{} {} ({digits}, imported {time})", one.name, one.version)
        };
        let candidates = rivals.iter().map(described).collect();
        Err(FindError::Several { reference: reference.to_owned(), candidates })
    }

    /// Finds a package, intact or damaged.
    pub fn find_any(&self, reference: &str) -> Result<FoundPackage, FindError> {
        choose_any(self.list()?, reference)
    }

    /// Finds the package with this digest. Name and version only tell where to look first. Its content is not verified.
    pub fn find_by_digest(
        &self,
        name: &str,
        version: &Version,
        digest: Digest,
    ) -> Result<Option<Installed>, StoreError> {
        for digits in DIGEST_DIGITS {
            let folder = self.folder().join(folder_name(name, version, &digest, digits));
            match PackageRecord::read(&folder) {
                Ok(Some(installed)) if installed.digest == digest => return Ok(Some(installed)),
                Ok(None) => break,
                Ok(Some(_)) | Err(_) => {}
            }
        }
        Ok(self.list()?.installed.into_iter().find(|one| one.digest == digest))
    }
}

/// Chooses an intact package, or a damaged one if no intact one matches.
fn choose_any(listing: PackageListing, reference: &str) -> Result<FoundPackage, FindError> {
    let PackageListing { installed, mut damaged } = listing;
    let is_folder = |folder: &Path| folder.file_name().is_some_and(|name| name == reference);
    if let Some(at) = damaged.iter().position(|one| is_folder(&one.folder)) {
        return Ok(FoundPackage::Damaged(damaged.swap_remove(at)));
    }
    if let Some(one) = installed.iter().find(|one| is_folder(&one.folder)) {
        return Ok(FoundPackage::Installed(one.clone()));
    }
    let error = match choose(installed, reference) {
        Ok(installed) => return Ok(FoundPackage::Installed(installed)),
        Err(
            error @ (FindError::Ambiguous { .. } | FindError::Damaged(_) | FindError::Store(_)),
        ) => {
            return Err(error);
        }
        Err(error) => error,
    };
    let fits: Vec<usize> =
        (0..damaged.len()).filter(|at| is_meant(&damaged[*at], reference)).collect();
    let names = |damaged: &[Damaged]| damaged.iter().map(Damaged::folder_name).collect();
    match (fits[..].as_ref(), error) {
        ([at], _) => Ok(FoundPackage::Damaged(damaged.swap_remove(*at))),
        ([], FindError::Unknown { reference, similar, .. }) => {
            Err(FindError::Unknown { reference, similar, damaged: names(&damaged) })
        }
        ([], FindError::Empty { reference }) if !damaged.is_empty() => {
            Err(FindError::Unknown { reference, similar: None, damaged: names(&damaged) })
        }
        ([], error) => Err(error),
        (many, _) => {
            let candidates = many.iter().map(|at| damaged[*at].folder_name()).collect();
            Err(FindError::Ambiguous { reference: reference.to_owned(), candidates })
        }
    }
}

/// Returns all packages that a reference could mean instead of the chosen one, and this one, too. A digest or a folder
/// means one package alone.
fn rivals<'i>(
    installed: &'i [Installed],
    chosen: &Installed,
    reference: &str,
) -> Vec<&'i Installed> {
    let is_name = is_same(&chosen.name, reference);
    let is_versioned = reference.rsplit_once('@').is_some_and(|(name, version)| {
        is_same(&chosen.name, name) && version == chosen.version.to_string()
    });
    let fits = |one: &&Installed| {
        one.digest == chosen.digest
            || one.name == chosen.name && (is_name || is_versioned && one.version == chosen.version)
    };
    installed.iter().filter(fits).collect()
}

/// Returns true if a damaged folder matches by its record, or without one by its name, which consists of name, version
/// and digest.
fn is_meant(damaged: &Damaged, reference: &str) -> bool {
    let folder = damaged.folder_name();
    let (package, digits) = folder.rsplit_once('-').unwrap_or((&folder, ""));
    let typed = reference.to_ascii_lowercase();
    let whole = damaged.digest.map(|digest| digest.to_string());
    let by_digest =
        typed.len() >= MIN_DIGITS && whole.as_deref().unwrap_or(digits).starts_with(&typed);
    let versioned = reference
        .rsplit_once('@')
        .and_then(|(name, version)| Some((name, Version::parse(version).ok()?)));
    let by_name = match &damaged.name {
        Some(own) => {
            is_same(own, reference)
                || versioned.is_some_and(|(name, version)| {
                    is_same(own, name) && damaged.version == Some(version)
                })
        }
        None => {
            let version = slug(reference).and_then(|slug| {
                package.strip_prefix(&slug)?.strip_prefix('-').map(Version::parse)
            });
            version.is_some_and(|version| version.is_ok())
                || versioned.is_some_and(|(name, version)| {
                    slug(name).is_some() && stem(name, &version) == package
                })
        }
    };
    by_digest || by_name
}

/// Chooses from a list in which the newest package of each name comes last.
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
            (None, None) => {
                Err(FindError::Unknown { reference: own(), similar: None, damaged: Vec::new() })
            }
        };
    }
    let digits = reference.to_ascii_lowercase();
    let by_digest =
        |one: &Installed| digits.len() >= MIN_DIGITS && one.digest.to_string().starts_with(&digits);
    let fits: Vec<usize> = (0..installed.len()).filter(|at| by_digest(&installed[*at])).collect();
    match fits[..] {
        [] => Err(FindError::Unknown {
            reference: own(),
            similar: similar(&installed, name),
            damaged: Vec::new(),
        }),
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

/// Resolves the exact name: the same, or the only one that this one can mean.
fn full_name(installed: &[Installed], name: &str) -> Result<Option<String>, FindError> {
    if named(installed, name) {
        return Ok(Some(name.to_owned()));
    }
    let same = |one: &&Installed| is_same(&one.name, name);
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
    let distance = |one: &Installed| distance(&one.name.to_lowercase(), &name);
    let best = installed.iter().min_by_key(|one| distance(one))?;
    (distance(best) <= best.name.chars().count().max(3) / 3).then(|| best.name.clone())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use jiff::Timestamp;

    use super::*;
    use crate::store::Harm;

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

    /// Returns packages in the order of the store's list.
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
    fn a_removal_names_one_package() {
        let list = list();
        let count = |reference: &str| {
            let chosen = choose(list.clone(), reference).unwrap();
            rivals(&list, &chosen, reference).len()
        };
        assert_eq!(count("demo"), 4);
        assert_eq!(count("DEMO"), 4);
        assert_eq!(count("demo@0.10.0"), 2);
        assert_eq!(count("demo@0.9.0"), 1);
        assert_eq!(count("big-flow"), 1);
        assert_eq!(count("a@1.0.0"), 1);
        assert_eq!(count(&Digest::of(b"three").short()), 1);
    }

    #[test]
    fn a_name_of_any_script_means_itself_alone() {
        let list = || {
            let names = ["我的流程", "另一个流程", "Über uns", "💥"];
            let one = |name: &&str| installed(name, "0.1.0", name.as_bytes(), 1);
            names.iter().map(one).collect::<Vec<_>>()
        };
        for (reference, content) in [
            ("我的流程", "我的流程"),
            ("我的流程@0.1.0", "我的流程"),
            ("über-uns", "Über uns"),
            ("💥", "💥"),
        ] {
            let found = choose(list(), reference).unwrap();
            assert_eq!(found.digest, Digest::of(content.as_bytes()), "{reference}");
        }
        for reference in ["删除一切", "我的", "package", "🎉", "ber-uns", "...", ""] {
            let error = choose(list(), reference).unwrap_err();
            assert!(matches!(error, FindError::Unknown { .. }), "{reference}: {error}");
        }
    }

    #[test]
    fn a_damaged_folder_is_meant_by_the_name_in_its_record() {
        let folder = PathBuf::from("package-0.1.0-0badc0de");
        let recorded = Damaged::new(&folder, String::new(), Harm::Broken).of(Some(&installed(
            "我的流程",
            "0.1.0",
            b"x",
            1,
        )));
        let bare = Damaged::new(&folder, String::new(), Harm::Broken);
        for (damaged, reference, expected) in [
            (&recorded, "我的流程", true),
            (&recorded, "我的流程@0.1.0", true),
            (&recorded, "我的流程@0.2.0", false),
            (&recorded, "另一个流程", false),
            (&recorded, "package", false),
            (&bare, "package", true),
            (&bare, "package@0.1.0", true),
            (&bare, "💥", false),
            (&bare, "💥@0.1.0", false),
            (&bare, "0bad", true),
        ] {
            assert_eq!(is_meant(damaged, reference), expected, "{reference}");
        }
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
