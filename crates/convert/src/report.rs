//! The report of a conversion, which the package carries as `import.json`.

use serde::Serialize;

/// Content of `import.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    /// Digest of the files that were read.
    pub source_digest: String,
}
