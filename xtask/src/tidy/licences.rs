//! Licences, banned crates and sources of every package, by the lists of `deny.toml`, which cargo-deny reads too.

use std::path::Path;

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use super::{TidyFinding, TidyRule};
use crate::repo::Repo;
use crate::shell::{self, cargo};

const PATH: &str = "deny.toml";
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checked part of `deny.toml`.
#[derive(Debug, Deserialize)]
struct DenyList {
    licenses: AllowedLicences,
    bans: BannedCrates,
}

#[derive(Debug, Deserialize)]
struct AllowedLicences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<LicenceException>,
}

#[derive(Debug, Deserialize)]
struct LicenceException {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct BannedCrates {
    #[serde(default)]
    deny: Vec<Banned>,
}

#[derive(Debug, Deserialize)]
struct Banned {
    #[serde(rename = "crate")]
    package: String,
    reason: String,
}

/// Fields of the output of `cargo metadata` that are read here.
#[derive(Debug, Deserialize)]
struct CargoMetadata {
    packages: Vec<LockedPackage>,
}

#[derive(Debug, Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    license: Option<String>,
    /// None for a member of the workspace.
    source: Option<String>,
    dependencies: Vec<LockedDependency>,
}

#[derive(Debug, Deserialize)]
struct LockedDependency {
    name: String,
    req: String,
    path: Option<String>,
}

/// Checks every package of the lock file, for all platforms and features.
pub(super) fn check(root: &Path, repo: &Repo) -> anyhow::Result<Vec<TidyFinding>> {
    let policy: DenyList = toml::from_str(repo.require(PATH)?)?;
    let args = ["metadata", "--format-version", "1", "--locked", "--all-features"];
    let metadata: CargoMetadata = serde_json::from_str(&shell::capture(&mut cargo(root, &args))?)?;
    Ok(metadata.packages.iter().flat_map(|package| policy.problems_of(package)).collect())
}

impl DenyList {
    fn problems_of(&self, package: &LockedPackage) -> Vec<TidyFinding> {
        let licence = self.licence_problem(package);
        let banned = self.bans.deny.iter().find(|banned| banned.package == package.name);
        let banned = banned.map(|banned| format!("is banned: {}", banned.reason));
        let source = package.source.as_deref().filter(|source| *source != CRATES_IO);
        let source =
            source.map(|source| format!("comes from `{source}`; only crates.io is allowed"));
        let is_open = |dependency: &&LockedDependency| {
            package.source.is_none() && dependency.req == "*" && dependency.path.is_none()
        };
        let open = package.dependencies.iter().find(is_open);
        let open =
            open.map(|dependency| format!("takes any version of `{}`; name one", dependency.name));
        let problems = [licence, banned, source, open].into_iter().flatten();
        let finding = |problem| {
            TidyRule::Licence.at(PATH, 1, format!("{} {} {problem}", package.name, package.version))
        };
        problems.map(finding).collect()
    }

    fn licence_problem(&self, package: &LockedPackage) -> Option<String> {
        let Some(licence) = &package.license else {
            return Some(
                "names no licence; look at it and add an exception, or do without".to_owned(),
            );
        };
        let own = self.licenses.exceptions.iter().filter(|entry| entry.package == package.name);
        let allowed: Vec<Licensee> = (self.licenses.allow.iter())
            .chain(own.flat_map(|entry| &entry.allow))
            .filter_map(|name| Licensee::parse(name).ok())
            .collect();
        // Old packages write `MIT/Apache-2.0`.
        let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
            return Some(format!("has the licence `{licence}`, which cannot be read"));
        };
        let is_allowed =
            expression.evaluate(|needed| allowed.iter().any(|one| one.satisfies(needed)));
        (!is_allowed)
            .then(|| format!("has the licence `{licence}`, which `licenses.allow` does not cover"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0 WITH LLVM-exception"]
        exceptions = [{ crate = "weak", allow = ["MPL-2.0"] }]
        [bans]
        deny = [{ crate = "openssl", reason = "needs a system library" }]
    "#;

    fn package(name: &str, license: &str) -> LockedPackage {
        let license = (!license.is_empty()).then(|| license.to_owned());
        let source = Some(CRATES_IO.to_owned());
        LockedPackage {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license,
            source,
            dependencies: Vec::new(),
        }
    }

    fn check_package(package: &LockedPackage, expected: &[&str]) {
        let policy: DenyList = toml::from_str(POLICY).unwrap();
        let found: Vec<_> = policy.problems_of(package).into_iter().map(|f| f.message).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn a_licence_must_be_allowed_as_a_whole() {
        check_package(&package("a", "MIT"), &[]);
        check_package(&package("a", "MIT OR GPL-3.0-only"), &[]);
        check_package(&package("a", "MIT/GPL-3.0"), &[]);
        check_package(&package("a", "Apache-2.0 WITH LLVM-exception"), &[]);
        check_package(&package("a", "MIT AND GPL-3.0-only"), &["does not cover"]);
        check_package(&package("a", "Apache-2.0"), &["does not cover"]);
        check_package(&package("a", "who knows"), &["cannot be read"]);
        check_package(&package("a", ""), &["no licence"]);
    }

    #[test]
    fn an_exception_is_for_its_package_alone() {
        check_package(&package("weak", "MPL-2.0"), &[]);
        check_package(&package("a", "MPL-2.0"), &["does not cover"]);
    }

    #[test]
    fn banned_packages_and_other_sources_are_found() {
        check_package(&package("openssl", "MIT"), &["needs a system library"]);
        let git = LockedPackage {
            source: Some("git+https://example.com/x".to_owned()),
            ..package("a", "MIT")
        };
        check_package(&git, &["only crates.io"]);
    }

    #[test]
    fn a_member_names_the_versions_it_takes() {
        let any = |path: Option<&str>| LockedDependency {
            name: "b".to_owned(),
            req: "*".to_owned(),
            path: path.map(str::to_owned),
        };
        let member = |path| LockedPackage {
            source: None,
            dependencies: vec![any(path)],
            ..package("a", "MIT")
        };
        check_package(&member(None), &["any version of `b`"]);
        check_package(&member(Some("../b")), &[]);
    }
}
