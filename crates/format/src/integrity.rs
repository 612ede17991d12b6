//! Digest of a package: one SHA-256 over the names and contents of all its files.
//!
//! `bmad.json` may hold the digest of its own package, so it is hashed without its `integrity` key, in the canonical
//! form of RFC 8785. A folder and the archive packed from it therefore have the same digest.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::path::PackagePath;

/// Path of the manifest.
pub const MANIFEST: &str = "bmad.json";

/// SHA-256 of a content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Hashes some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Wraps a digest that was computed incrementally.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Parses 64 hexadecimal digits, upper or lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let value = |digit: u8| char::from(digit).to_digit(16);
            *byte = (value(pair[0])? * 16 + value(pair[1])?) as u8;
        }
        Some(Self(bytes))
    }

    /// Returns the first eight hexadecimal digits, for names that users read.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A lookup table, because long journals hold many digests and the formatter would be called for every byte.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(2 * self.0.len());
        for byte in &self.0 {
            text.extend([byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)] as char));
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Digest {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// Computes the digest of a package from the digests of its files. `manifest` is the content of `bmad.json`; its entry
/// in `files`, if there is one, is ignored.
pub fn package_digest(manifest: &[u8], files: &BTreeMap<PackagePath, Digest>) -> Digest {
    let mut hasher = Sha256::new();
    let mut manifest_done = false;
    let mut line = |path: &str, digest: Digest| {
        hasher.update(path.as_bytes());
        hasher.update([0]);
        hasher.update(digest.to_string().as_bytes());
        hasher.update(b"\n");
    };
    for (path, digest) in files {
        if !manifest_done && path.as_str() >= MANIFEST {
            line(MANIFEST, Digest::of(&canonical_manifest(manifest)));
            manifest_done = true;
        }
        if path.as_str() != MANIFEST {
            line(path.as_str(), *digest);
        }
    }
    if !manifest_done {
        line(MANIFEST, Digest::of(&canonical_manifest(manifest)));
    }
    Digest(hasher.finalize().into())
}

/// Returns `bmad.json` without its `integrity` key, keys sorted, no blanks. Content that is not JSON stays unchanged.
fn canonical_manifest(bytes: &[u8]) -> Vec<u8> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match serde_json::from_slice::<Json>(text) {
        Ok(mut manifest) => {
            if let Json::Object(keys) = &mut manifest {
                keys.shift_remove("integrity");
            }
            manifest.sort_all_objects();
            manifest.to_string().into_bytes()
        }
        Err(_) => bytes.to_vec(),
    }
}

/// Returns the manifest with `integrity.sha256` set: the same values and key order in a new layout. Returns `None` if
/// the text is not a JSON object.
pub fn with_integrity(manifest: &str, digest: Digest) -> Option<String> {
    let mut value: Json =
        serde_json::from_str(manifest.strip_prefix('\u{feff}').unwrap_or(manifest)).ok()?;
    value
        .as_object_mut()?
        .insert("integrity".into(), serde_json::json!({ "sha256": digest.to_string() }));
    let mut text = serde_json::to_string_pretty(&value).ok()?;
    text.push('\n');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(manifest: &str, files: &[(&str, &str)]) -> String {
        let files = files
            .iter()
            .map(|(path, content)| {
                (PackagePath::new(path).unwrap(), Digest::of(content.as_bytes()))
            })
            .collect();
        package_digest(manifest.as_bytes(), &files).to_string()
    }

    #[test]
    fn the_digest_is_the_documented_one() {
        // sha256 of: "a.md\0<sha256 of x>\n" + "bmad.json\0<sha256 of {"name":"n"}>\n" + "z.md\0<sha256 of y>\n"
        let expected = {
            let line =
                |path: &str, content: &str| format!("{path}\0{}\n", Digest::of(content.as_bytes()));
            let all =
                line("a.md", "x") + &line("bmad.json", r#"{"name":"n"}"#) + &line("z.md", "y");
            Digest::of(all.as_bytes()).to_string()
        };
        assert_eq!(digest(r#"{ "name": "n" }"#, &[("a.md", "x"), ("z.md", "y")]), expected);
    }

    #[test]
    fn the_integrity_key_and_the_layout_of_the_manifest_do_not_count() {
        let plain = digest(r#"{"version":"1","name":"n"}"#, &[("a", "x")]);
        assert_eq!(
            digest(
                "\u{feff}{\n \"name\": \"n\",\n \"version\": \"1\",\n \"integrity\": {\"sha256\": \"00\"}}",
                &[("a", "x")]
            ),
            plain
        );
        assert_ne!(digest(r#"{"version":"1","name":"m"}"#, &[("a", "x")]), plain);
        assert_ne!(digest(r#"{"version":"1","name":"n"}"#, &[("a", "y")]), plain);
        assert_ne!(digest(r#"{"version":"1","name":"n"}"#, &[("b", "x")]), plain);
    }

    #[test]
    fn writing_the_digest_does_not_change_it() {
        let manifest = "{\"name\": \"n\"}";
        let before = package_digest(manifest.as_bytes(), &BTreeMap::new());
        let written = with_integrity(manifest, before).unwrap();
        assert_eq!(package_digest(written.as_bytes(), &BTreeMap::new()), before);
        assert!(written.contains(&before.to_string()));
    }

    #[test]
    fn a_digest_is_read_and_written_the_same() {
        let one = Digest::of(b"x");
        assert_eq!(Digest::parse(&one.to_string()), Some(one));
        assert_eq!(Digest::parse(&one.to_string().to_uppercase()), Some(one));
        for bad in ["", "abc", &"g".repeat(64), &"a".repeat(63)] {
            assert_eq!(Digest::parse(bad), None);
        }
    }
}
