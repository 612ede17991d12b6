//! Sizes of crates, of the workspace and of the release binary.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::limits::TidyLimits;
use super::source::RustSources;
use super::{TidyFinding, TidyRule, area};
use crate::shell;

/// Lines of a crate outside of tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct CrateLines {
    pub(super) product: usize,
    /// Without blank lines and comments.
    pub(super) code: usize,
}

/// Counts the lines of every crate.
pub(super) fn measure(sources: &RustSources) -> BTreeMap<&str, CrateLines> {
    let mut crates: BTreeMap<&str, CrateLines> = BTreeMap::new();
    for (path, source) in sources.iter() {
        let lines = crates.entry(area(path)).or_default();
        lines.product += source.count_lines();
        lines.code += source.count_code(1..=usize::MAX);
    }
    crates
}

/// Checks that no crate is larger than the limit, or than its own entry.
pub(super) fn check(crates: &BTreeMap<&str, CrateLines>, limits: &TidyLimits) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (name, lines) in crates {
        let allowed = limits.crate_lines.get(*name).copied().unwrap_or(limits.sizes.crate_lines);
        if lines.product > allowed {
            let message = format!(
                "{name} has {} product lines, {allowed} are allowed; split it where a tool can check the rule",
                lines.product,
            );
            findings.push(TidyRule::CrateSize.at(&format!("crates/{name}/Cargo.toml"), 1, message));
        }
    }
    findings
}

/// Returns the lines of the workspace and of each crate, as text.
pub(super) fn summary(crates: &BTreeMap<&str, CrateLines>) -> String {
    let product: usize = crates.values().map(|lines| lines.product).sum();
    let code: usize = crates.values().map(|lines| lines.code).sum();
    let each: Vec<_> =
        crates.iter().map(|(name, lines)| format!("{name} {}", lines.product)).collect();
    format!("{product} product lines, {code} of them code ({})", each.join(", "))
}

/// Checks the size of the release binary, if one was built.
pub(super) fn check_binary(root: &Path, limits: &TidyLimits) -> Vec<TidyFinding> {
    let path = shell::target_dir(root).join("release/crewagent");
    let Ok(about) = fs::metadata(&path) else { return Vec::new() };
    let allowed = limits.binary.kilobytes * 1000;
    println!("release binary: {:.1} MB", about.len() as f64 / 1e6);
    if about.len() <= allowed {
        return Vec::new();
    }
    let message = format!(
        "the release binary has {} bytes, {allowed} are allowed; look for a new dependency",
        about.len()
    );
    vec![TidyRule::Binary.at("Cargo.toml", 1, message)]
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;
    use crate::repo::Repo;

    #[test]
    fn a_crate_over_the_limit_is_found() {
        let large = "//! A.\n".repeat(6);
        let test = "//! A.\n".repeat(90);
        let files = [("crates/a/src/lib.rs", &*large), ("crates/a/tests/it.rs", &test)];
        let (sources, _) = RustSources::parse(&Repo::of(&files));
        let crates = measure(&sources);
        assert_eq!(crates["a"], CrateLines { product: 6, code: 0 });
        let mut limits = TidyLimits::for_test();
        limits.sizes.crate_lines = 5;
        assert_places(&check(&crates, &limits), &["crates/a/Cargo.toml:1"]);
        limits.crate_lines.insert("a".into(), 6);
        assert_places(&check(&crates, &limits), &[]);
        assert_eq!(summary(&crates), "6 product lines, 0 of them code (a 6)");
    }

    #[test]
    fn a_large_binary_is_found_where_there_is_one() {
        let root = tempfile::tempdir().unwrap();
        let limits = TidyLimits::for_test();
        // The target folder may be set for the whole machine.
        if std::env::var_os("CARGO_TARGET_DIR").is_none() {
            assert_places(&check_binary(root.path(), &limits), &[]);
            fs::create_dir_all(root.path().join("target/release")).unwrap();
            fs::write(root.path().join("target/release/crewagent"), [0; 1001]).unwrap();
            assert_places(&check_binary(root.path(), &limits), &["Cargo.toml:1"]);
        }
    }
}
