//! Dependency rules: the crates' trees, their manifests, and the size of the lock file.

use std::collections::BTreeSet;
use std::path::Path;

use toml::{Table, Value};

use super::limits::{TidyLimits, TreeLimits};
use super::{TidyFinding, TidyRule};
use crate::repo::Repo;
use crate::shell::{self, cargo};

const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks the dependency trees that must stay small or without certain crates.
pub(super) fn check_trees(root: &Path, limits: &TidyLimits) -> Vec<TidyFinding> {
    let list = |tree: &TreeLimits, kinds| {
        let args = ["tree", "--locked", "-p", &tree.package, "-e", kinds, "--prefix", "none"];
        shell::capture(&mut cargo(root, &args))
            .map_err(|error| TidyRule::Layers.at(&tree.manifest, 1, format!("no tree: {error:#}")))
    };
    let check = |tree: &TreeLimits| {
        let mut findings = list(tree, "normal")
            .map_or_else(|finding| vec![finding], |listing| check_listing(tree, &listing));
        if let Some(allowed) = tree.packages {
            let listing = list(tree, "normal,build");
            findings.extend(match listing {
                Ok(listing) => check_package_count(tree, allowed, &listing),
                Err(finding) => Some(finding),
            });
        }
        findings
    };
    limits.tree.iter().flat_map(check).collect()
}

/// Compares the number of packages, including the crate itself, with the limit.
fn check_package_count(tree: &TreeLimits, allowed: usize, listing: &str) -> Option<TidyFinding> {
    let package = |line: &str| {
        let words: Vec<_> = line.split_whitespace().take(2).collect();
        (!words.is_empty()).then(|| words.join(" "))
    };
    let packages: BTreeSet<_> = listing.lines().filter_map(package).collect();
    let count = packages.len();
    println!("{}: {count} packages to build, {allowed} allowed", tree.package);
    (count > allowed).then(|| {
        let message = format!(
            "{} builds {count} packages, {allowed} are allowed; drop a dependency, or move it up a layer",
            tree.package,
        );
        TidyRule::Layers.at(&tree.manifest, 1, message)
    })
}

/// Checks a listing, which has one crate per line: `name v1.2.3 (more)`.
fn check_listing(tree: &TreeLimits, listing: &str) -> Vec<TidyFinding> {
    let names: BTreeSet<_> =
        listing.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let banned = tree.without.iter().filter(|name| names.contains(name.as_str()));
    let finding = |name: &String| {
        let message = format!(
            "{package} must not depend on `{name}`; \
             `cargo tree -p {package} -e normal -i {name}` shows who brings it",
            package = tree.package,
        );
        TidyRule::Layers.at(&tree.manifest, 1, message)
    };
    banned.map(finding).collect()
}

/// Checks crates that only some manifests may name.
pub(super) fn check_manifests(repo: &Repo, limits: &TidyLimits) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (path, text) in repo.texts_ending("Cargo.toml") {
        let manifest = match text.parse::<Table>() {
            Ok(manifest) => manifest,
            Err(error) => {
                let message = format!("is not TOML: {}", error.message());
                findings.push(TidyRule::Parse.at(path, 1, message));
                continue;
            }
        };
        for (key, package) in dependencies(&manifest) {
            let Some(allowed) = limits.only_in.get(&package) else { continue };
            if !allowed.iter().any(|manifest| manifest == path) {
                let message =
                    format!("`{package}` may be named only in {}; do without", allowed.join(", "));
                findings.push(TidyRule::Dependency.at(path, line_of_key(text, &key), message));
            }
        }
    }
    findings
}

/// Returns every dependency of a manifest, of all kinds and targets: its key and its package.
fn dependencies(manifest: &Table) -> Vec<(String, String)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let per_target = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let tables = std::iter::once(manifest).chain(per_target);
    let entries = tables.flat_map(|table| {
        let kinds = DEPENDENCY_TABLES.into_iter().filter_map(|kind| table.get(kind)?.as_table());
        kinds.flat_map(Table::iter)
    });
    let named = entries.map(|(key, value)| {
        let package = value.get("package").and_then(Value::as_str).unwrap_or(key);
        (key.clone(), package.to_string())
    });
    named.collect()
}

fn line_of_key(text: &str, key: &str) -> usize {
    let is_it = |line: &str| {
        let head = line.split(['=', '.']).next().unwrap_or_default();
        head.trim() == key || line.trim_end().ends_with(&format!("dependencies.{key}]"))
    };
    text.lines().position(is_it).map_or(1, |index| index + 1)
}

/// Checks the number of foreign packages in the lock file.
pub(super) fn check_lock(repo: &Repo, limits: &TidyLimits) -> Vec<TidyFinding> {
    let Some(text) = repo.text("Cargo.lock") else {
        return vec![TidyRule::Lock.at("Cargo.lock", 1, "is missing; commit it")];
    };
    let packages = text.lines().filter(|line| line.starts_with("source = ")).count();
    if packages <= limits.lock.packages {
        return Vec::new();
    }
    let message = format!(
        "has {packages} packages of others, the ceiling in xtask/tidy.toml is {}; drop a dependency",
        limits.lock.packages
    );
    vec![TidyRule::Lock.at("Cargo.lock", 1, message)]
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;

    fn core_without(names: &[&str]) -> TreeLimits {
        TreeLimits {
            package: "crewagent-core".into(),
            manifest: "crates/core/Cargo.toml".into(),
            without: names.iter().map(|name| name.to_string()).collect(),
            packages: None,
        }
    }

    const LISTING: &str =
        "crewagent-core v0.1.0 (path)\nserde v1.0.0\ntokio-macros v2.0.0\nserde v1.0.0 (*)\n";

    #[test]
    fn a_banned_crate_in_the_tree_is_found() {
        let findings = check_listing(&core_without(&["tokio-macros", "axum"]), LISTING);
        assert_places(&findings, &["crates/core/Cargo.toml:1"]);
        assert!(findings[0].message.contains("-i tokio-macros"), "{findings:?}");
    }

    #[test]
    fn a_crate_whose_name_only_starts_alike_is_no_finding() {
        assert_places(&check_listing(&core_without(&["tokio"]), LISTING), &[]);
    }

    #[test]
    fn a_tree_with_too_many_packages_is_found() {
        let tree = core_without(&[]);
        assert_eq!(check_package_count(&tree, 3, LISTING), None);
        let finding = check_package_count(&tree, 2, LISTING).unwrap();
        assert!(finding.message.contains("builds 3 packages"), "{finding}");
    }

    #[test]
    fn a_tree_that_cargo_cannot_draw_is_found() {
        let root = tempfile::tempdir().unwrap();
        let limits = TidyLimits { tree: vec![core_without(&[])], ..TidyLimits::for_test() };
        assert_places(&check_trees(root.path(), &limits), &["crates/core/Cargo.toml:1"]);
    }

    fn check_anyhow(path: &str, manifest: &str, expected: &[&str]) {
        let mut limits = TidyLimits::for_test();
        limits.only_in.insert("anyhow".into(), vec!["crates/cli/Cargo.toml".into()]);
        assert_places(&check_manifests(&Repo::of(&[(path, manifest)]), &limits), expected);
    }

    #[test]
    fn a_crate_named_in_another_manifest_is_found() {
        let path = "crates/core/Cargo.toml";
        let at = |line: usize| format!("{path}:{line}");
        check_anyhow(path, "[dependencies]\nserde = \"1\"\nanyhow = \"1\"\n", &[&at(3)]);
        check_anyhow(path, "[dev-dependencies]\nanyhow.workspace = true\n", &[&at(2)]);
        check_anyhow(path, "[dependencies.anyhow]\nversion = \"1\"\n", &[&at(1)]);
        check_anyhow(path, "[dependencies]\nany = { package = \"anyhow\" }\n", &[&at(2)]);
        check_anyhow(path, "[target.'cfg(unix)'.dependencies]\nanyhow = \"1\"\n", &[&at(2)]);
    }

    #[test]
    fn a_crate_named_where_it_may_be_is_no_finding() {
        check_anyhow("crates/cli/Cargo.toml", "[dependencies]\nanyhow = \"1\"\n", &[]);
        check_anyhow("Cargo.toml", "[workspace.dependencies]\nanyhow = \"1\"\n", &[]);
        check_anyhow("crates/core/Cargo.toml", "[dependencies]\nanyhow-like = \"1\"\n", &[]);
    }

    #[test]
    fn a_broken_manifest_is_found() {
        check_anyhow("crates/core/Cargo.toml", "[dependencies\n", &["crates/core/Cargo.toml:1"]);
    }

    fn check_lock_of(packages: usize, expected: &[&str]) {
        let own = "[[package]]\nname = \"a\"\n\n";
        let lock = own.to_owned() + &format!("{own}source = \"b\"\n").repeat(packages);
        assert_places(
            &check_lock(&Repo::of(&[("Cargo.lock", &lock)]), &TidyLimits::for_test()),
            expected,
        );
    }

    #[test]
    fn a_lock_file_over_the_ceiling_is_found() {
        check_lock_of(3, &[]);
        check_lock_of(4, &["Cargo.lock:1"]);
        assert_places(&check_lock(&Repo::default(), &TidyLimits::for_test()), &["Cargo.lock:1"]);
    }
}
