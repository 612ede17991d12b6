//! `xtask/tidy.toml`: the numbers and lists that the checks compare with.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Limits {
    pub(super) sizes: Sizes,
    pub(super) lock: Lock,
    #[serde(default)]
    pub(super) tree: Vec<Tree>,
    /// A package, and the manifests that alone may name it.
    #[serde(default)]
    pub(super) only_in: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Sizes {
    pub(super) file_lines: usize,
    pub(super) function_lines: usize,
    pub(super) readme_lines: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lock {
    pub(super) packages: usize,
}

/// What must not be in the tree of a package's normal dependencies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tree {
    pub(super) package: String,
    /// Where a finding points.
    pub(super) manifest: String,
    pub(super) without: Vec<String>,
}

impl Limits {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// The limits of the architecture, without lists.
    #[cfg(test)]
    pub(super) fn for_test() -> Self {
        Self {
            sizes: Sizes { file_lines: 500, function_lines: 80, readme_lines: 120 },
            lock: Lock { packages: 3 },
            tree: Vec::new(),
            only_in: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str =
        "[sizes]\nfile-lines = 1\nfunction-lines = 2\nreadme-lines = 3\n[lock]\npackages = 4\n";

    #[test]
    fn the_lists_may_be_left_out() {
        let limits = Limits::parse(SMALL).unwrap();
        assert_eq!(limits.sizes.function_lines, 2);
        assert!(limits.tree.is_empty() && limits.only_in.is_empty());
    }

    #[test]
    fn a_misspelt_key_is_an_error() {
        let error = Limits::parse(&SMALL.replace("file-lines", "file-line")).unwrap_err();
        assert!(error.to_string().contains("file-line"), "{error}");
    }
}
