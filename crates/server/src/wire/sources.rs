//! Foreign content in the folder of a project.

use schemars::JsonSchema;
use serde::Serialize;

use super::CatalogPackage;

/// The foreign content in the folder of a project, and the package that was made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProjectSource {
    /// True if there is content that can be imported from the folder.
    pub found: bool,
    /// True if it is an installation, so that the folder is what its workflows work on.
    pub is_installation: bool,
    /// The package that was made of it last, with its workflows and agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<CatalogPackage>,
    /// True if that package was made of the content as it is now; if not, an import makes a new one.
    pub is_current: bool,
}
