//! Folders of a package that stand for folders of the project.

use std::collections::BTreeMap;

use crewagent_core::vpath::{Mount, VPath};

use crate::mounts::Mounts;

/// Returns the path in the package that a path of the project stands for, if the package has it.
pub(crate) fn real(
    mounts: &Mounts,
    aliases: &BTreeMap<String, String>,
    path: &VPath,
) -> Option<VPath> {
    if path.mount() != Mount::Project || aliases.is_empty() {
        return None;
    }
    let (first, rest) = path.relative().split_once('/').unwrap_or((path.relative(), ""));
    let folder = aliases.get(first)?;
    let below = if rest.is_empty() { folder.clone() } else { format!("{folder}/{rest}") };
    let real = VPath::new(Mount::Package, &below)?;
    mounts.exists(&real).is_ok_and(|found| found == Ok(true)).then_some(real)
}
