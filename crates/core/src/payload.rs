//! Texts that may be long: inline, or stored elsewhere under their digest.

use std::sync::Arc;

use crewagent_format::integrity::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text, or where it is kept. Equal means: the same place and the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "ts",
    derive(ts_rs::TS),
    ts(type = "string | { blob: string, bytes: number }")
)]
pub enum Payload {
    /// The text itself.
    Inline(Arc<str>),
    /// The text is in the blobs of the run.
    Blob {
        /// Its digest, which is also its name.
        sha256: Digest,
        /// Its size.
        bytes: u64,
    },
}

impl Payload {
    /// Returns the size of the text.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Inline(text) => text.len() as u64,
            Self::Blob { bytes, .. } => *bytes,
        }
    }

    /// Returns the digest of the text.
    pub fn digest(&self) -> Digest {
        match self {
            Self::Inline(text) => Digest::of(text.as_bytes()),
            Self::Blob { sha256, .. } => *sha256,
        }
    }

    /// Returns the text, if it is inline.
    pub fn inline(&self) -> Option<&Arc<str>> {
        match self {
            Self::Inline(text) => Some(text),
            Self::Blob { .. } => None,
        }
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Self::Inline(text.into())
    }
}

impl From<String> for Payload {
    fn from(text: String) -> Self {
        Self::Inline(text.into())
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::from("")
    }
}

/// As JSON: the text, or `{"blob": "<sha256>", "bytes": n}`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Text(String),
    Kept { blob: String, bytes: u64 },
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Inline(text) => serializer.serialize_str(text),
            Self::Blob { sha256, bytes } => {
                Written::Kept { blob: sha256.to_string(), bytes: *bytes }.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Text(text) => Ok(text.into()),
            Written::Kept { blob, bytes } => match Digest::parse(&blob) {
                Some(sha256) => Ok(Self::Blob { sha256, bytes }),
                None => Err(serde::de::Error::custom("`blob` is not a SHA-256")),
            },
        }
    }
}

impl JsonSchema for Payload {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Payload".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_its_text_or_the_name_of_a_blob() {
        let text = Payload::from("hello");
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""hello""#);
        let blob = Payload::Blob { sha256: text.digest(), bytes: 5 };
        let json = serde_json::to_string(&blob).unwrap();
        assert_eq!(serde_json::from_str::<Payload>(&json).unwrap(), blob);
        assert_eq!((blob.bytes(), blob.digest()), (text.bytes(), text.digest()));
        assert!(serde_json::from_str::<Payload>(r#"{"blob":"x","bytes":1}"#).is_err());
    }
}
