//! Values of a project's configuration files, for the start of a run.

mod layered;
pub mod structural;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use layered::resolve;

/// Names of the folder that an installation lives in.
pub const ROOTS: [&str; 3] = ["_bmad", ".bmad", "bmad"];
/// Largest configuration file that is read, in bytes.
pub const MAX_LAYER_BYTES: usize = 256 * 1024;
/// Most modules whose configuration is read.
pub const MAX_MODULES: usize = 64;
/// Most names of all layers.
pub const MAX_NAMES: usize = 256;
/// Largest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 1024;

/// Configuration file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigLayer {
    /// Path in the project.
    pub path: String,
    /// Its text, or the reason why it cannot be read.
    pub content: Result<Arc<str>, String>,
}

/// Values of all layers. A value may still name others in braces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigValues {
    pub values: BTreeMap<String, String>,
    pub faults: Vec<ConfigFault>,
}

/// Mistake in the configuration of a project, which never stops a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    pub kind: ConfigFaultKind,
    /// Description with the file or the name that it is about.
    pub message: String,
}

/// Kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFaultKind {
    /// A layer, or a value, that cannot be used.
    Missing,
    /// Two layers that should agree, and do not.
    Differs,
    /// A path that leads out of the project.
    Outside,
}

impl ConfigFaultKind {
    /// Returns the code of its diagnostic.
    pub fn code(self) -> &'static str {
        match self {
            Self::Missing => "BM943",
            Self::Differs => "BM944",
            Self::Outside => "BM945",
        }
    }
}

/// Returns the paths of the layers in an installation, the strongest last. `folders` are the folders in its root.
pub fn layer_paths(root: &str, folders: &[String]) -> Vec<String> {
    let mut modules: Vec<&str> = folders.iter().map(|name| name.trim_end_matches('/')).collect();
    // `core` comes first; folders with an underscore are no modules.
    modules.retain(|name| *name != "core" && !name.starts_with(['_', '.']) && *name != "custom");
    modules.sort_unstable();
    modules.truncate(MAX_MODULES);
    let yaml = ["core"].into_iter().chain(modules).map(|name| format!("{root}/{name}/config.yaml"));
    let toml = ["config.toml", "config.user.toml", "custom/config.toml", "custom/config.user.toml"];
    yaml.chain(toml.map(|name| format!("{root}/{name}"))).collect()
}
