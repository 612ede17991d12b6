//! `xtask/tidy.toml`: limits and lists of the checks.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct TidyLimits {
    pub(super) sizes: SizeLimits,
    pub(super) lock: LockLimits,
    pub(super) binary: BinaryLimits,
    /// Product lines of crates that are over `sizes.crate-lines`.
    #[serde(default)]
    pub(super) crate_lines: BTreeMap<String, usize>,
    /// Crates whose modules depend on each other, with the size of the largest such set.
    #[serde(default)]
    pub(super) knots: BTreeMap<String, usize>,
    #[serde(default)]
    pub(super) tree: Vec<TreeLimits>,
    /// Packages, each with the only manifests that may name it.
    #[serde(default)]
    pub(super) only_in: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SizeLimits {
    pub(super) file_lines: usize,
    pub(super) function_lines: usize,
    pub(super) crate_lines: usize,
    pub(super) readme_lines: usize,
    pub(super) architecture_lines: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockLimits {
    pub(super) packages: usize,
}

/// Limits of the release build.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BinaryLimits {
    pub(super) kilobytes: u64,
}

/// Limits of a package's dependency tree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TreeLimits {
    pub(super) package: String,
    /// Manifest that a finding points at.
    pub(super) manifest: String,
    /// Crates that must not be among its normal dependencies.
    pub(super) without: Vec<String>,
    /// Maximum number of packages in its build, normal and build dependencies.
    pub(super) packages: Option<usize>,
}

impl TidyLimits {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// Returns the limits of the architecture, without lists.
    #[cfg(test)]
    pub(super) fn for_test() -> Self {
        Self {
            sizes: SizeLimits {
                file_lines: 500,
                function_lines: 80,
                crate_lines: 25_000,
                readme_lines: 120,
                architecture_lines: 300,
            },
            lock: LockLimits { packages: 3 },
            binary: BinaryLimits { kilobytes: 1 },
            crate_lines: BTreeMap::new(),
            knots: BTreeMap::new(),
            tree: Vec::new(),
            only_in: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "\
[sizes]
file-lines = 1
function-lines = 2
crate-lines = 3
readme-lines = 4
architecture-lines = 5
[lock]
packages = 6
[binary]
kilobytes = 7
";

    #[test]
    fn the_lists_may_be_left_out() {
        let limits = TidyLimits::parse(SMALL).unwrap();
        assert_eq!(limits.sizes.function_lines, 2);
        assert!(limits.tree.is_empty() && limits.only_in.is_empty());
    }

    #[test]
    fn a_misspelt_key_is_an_error() {
        let error = TidyLimits::parse(&SMALL.replace("file-lines", "file-line")).unwrap_err();
        assert!(error.to_string().contains("file-line"), "{error}");
    }
}
