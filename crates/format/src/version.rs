//! Versions of the package format that this runtime reads.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// Version of the format: `1.1`, `1.2` or `1.3`, each with an optional patch number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemaVersion {
    minor: Minor,
    patch: Option<u32>,
}

/// Minor version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Minor {
    /// Format that other tools share.
    V1_1,
    /// Adds sub-workflows to the graph.
    V1_2,
    /// Adds gates, configuration and what an import needs.
    V1_3,
}

impl Minor {
    /// The newest version.
    pub const NEWEST: Self = Self::V1_3;

    /// Returns the version as documents state it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1_1 => "1.1",
            Self::V1_2 => "1.2",
            Self::V1_3 => "1.3",
        }
    }
}

impl SchemaVersion {
    /// Parses a version.
    pub fn parse(text: &str) -> Option<Self> {
        let minors = [Minor::V1_1, Minor::V1_2, Minor::V1_3];
        let stated = |minor: Minor| Some((minor, text.strip_prefix(minor.as_str())?));
        let (minor, rest) = minors.into_iter().find_map(stated)?;
        if rest.is_empty() {
            return Some(Self { minor, patch: None });
        }
        let digits = rest.strip_prefix('.')?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'));
        let patch = digits.parse().ok().filter(|_| plain)?;
        Some(Self { minor, patch: Some(patch) })
    }

    /// Returns the minor version, which decides the rules.
    pub fn minor(self) -> Minor {
        self.minor
    }
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.minor.as_str())?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

impl Serialize for SchemaVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for SchemaVersion {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SchemaVersion".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": r"^1\.[123](\.(0|[1-9][0-9]*))?$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_versions_are_read_and_written_the_same() {
        for text in ["1.1", "1.1.0", "1.1.12", "1.2", "1.2.3", "1.3", "1.3.0"] {
            assert_eq!(SchemaVersion::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "1",
            "1.10",
            "1.4",
            "1.30",
            "2.0",
            "1.1.",
            "1.1.x",
            "1.1.01",
            "1.1.+1",
            "1.2.3.4",
            " 1.1",
            "1.1.99999999999",
        ] {
            assert_eq!(SchemaVersion::parse(text), None, "{text:?}");
        }
    }
}
