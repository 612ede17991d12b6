//! Paths inside a package: relative, clean, and the same on every platform.

use std::borrow::{Borrow, Cow};
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use thiserror::Error;
use unicode_normalization::UnicodeNormalization as _;

use crate::text::{folded, is_invisible_char};
use crate::wording::quoted;

const MAX_COMPONENT: usize = 255;
const MAX_PATH: usize = 1024;

/// Path inside a package. It cannot lead out, and it names a file on every platform.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct PackagePath(String);

/// Reason why a text is not a path inside a package.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    /// Begins at a root: `/`, `\\`, or a drive letter.
    #[error("it is absolute")]
    Absolute,
    #[error("it climbs up with `..`")]
    Parent,
    /// Has a name that is not portable, for this reason.
    #[error("{0}")]
    Name(String),
}

const EMPTY_NAME: &str = "it has an empty name between two slashes, or none at all";

impl PathError {
    /// Returns the remedy for a bad name in this path; `None` if the path leads elsewhere.
    pub fn remedy(&self, path: &str) -> Option<String> {
        match self {
            Self::Absolute | Self::Parent => None,
            Self::Name(_) if path.contains('\\') => {
                Some(format!("write `/` between folders: {}", quoted(&path.replace('\\', "/"))))
            }
            Self::Name(_) if path.contains(':') => Some(
                "write another character for `:` in the file's name and in `file`: a step file need not be named after its node"
                    .to_owned(),
            ),
            Self::Name(_) => Some("rename it so that it works on every platform".to_owned()),
        }
    }
}

impl PackagePath {
    /// Parses a path exactly as an archive must hold it.
    pub fn new(text: &str) -> Result<Self, PathError> {
        check(text)?;
        Ok(Self(text.to_owned()))
    }

    /// Parses a path as an author may write it in a reference, with an optional leading `./`.
    pub fn reference(text: &str) -> Result<Self, PathError> {
        match text.strip_prefix("./") {
            Some(rest) if rest.starts_with('/') => Err(PathError::Name(EMPTY_NAME.to_owned())),
            Some(rest) => Self::new(rest),
            None => Self::new(text),
        }
    }

    /// Resolves a path relative to the folder of this file. `..` may not leave the package.
    pub fn sibling(&self, relative: &str) -> Result<Self, PathError> {
        let mut parts: Vec<&str> = self.0.split('/').collect();
        parts.pop();
        if relative.starts_with('/') {
            return Err(PathError::Absolute);
        }
        for part in relative.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop().ok_or(PathError::Parent)?),
                part => parts.push(part),
            }
        }
        Self::new(&parts.join("/"))
    }

    /// Makes a key for searches in sorted paths; it need not be a valid path.
    pub(crate) fn lower_bound(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Iterates over the folders above this path, nearest first.
    pub fn parents(&self) -> impl Iterator<Item = &str> {
        let mut rest = self.as_str();
        std::iter::from_fn(move || {
            rest = rest.rsplit_once('/')?.0;
            Some(rest)
        })
    }

    /// Returns true if both look the same, whatever the encoding of their accents.
    pub fn looks_like(&self, other: &Self) -> bool {
        self.0.nfc().eq(other.0.nfc())
    }

    /// Folds the path: equal results name one file where neither case nor the spelling of accents matters.
    pub fn folded(&self) -> String {
        folded(&self.0)
    }
}

impl Borrow<str> for PackagePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PackagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl JsonSchema for PackagePath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PackagePath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_PATH,
            "description": "A path inside the package: relative to its root, separated by `/`, without `..`."
        })
    }
}

fn check(text: &str) -> Result<(), PathError> {
    let bytes = text.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    if text.starts_with(['/', '\\']) || drive {
        return Err(PathError::Absolute);
    }
    if text.split(['/', '\\']).any(|part| part == "..") {
        return Err(PathError::Parent);
    }
    if text.len() > MAX_PATH {
        return Err(PathError::Name(format!("it is longer than {MAX_PATH} bytes")));
    }
    text.split('/').try_for_each(check_component)
}

fn check_component(part: &str) -> Result<(), PathError> {
    let reason = if part.is_empty() {
        EMPTY_NAME.to_owned()
    } else if part == "." {
        "it has a `.` component".to_owned()
    } else if part.len() > MAX_COMPONENT {
        format!("it has a name longer than {MAX_COMPONENT} bytes")
    } else if let Some(bad) = part.chars().find(|c| is_forbidden(*c)) {
        format!("it has the character {}", spelled(bad))
    } else if part.ends_with(['.', ' ']) {
        "it has a name that ends in a dot or a blank, which Windows drops".to_owned()
    } else if part.starts_with(' ') {
        "it has a name that begins with a blank".to_owned()
    } else if is_device(part) {
        format!("`{part}` is the name of a device on Windows")
    } else {
        return Ok(());
    };
    Err(PathError::Name(reason))
}

fn is_forbidden(c: char) -> bool {
    is_invisible_char(c) || matches!(c, '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*')
}

fn spelled(c: char) -> String {
    if c == '\\' {
        "`\\`, which is no separator here".to_owned()
    } else if c.is_ascii_graphic() {
        format!("`{c}`")
    } else {
        format!("U+{:04X}", u32::from(c))
    }
}

/// Returns true if a part of a path names a device on Windows, such as `nul` or `com1.txt`.
pub fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$")
        || stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt")).is_some_and(|port| {
            matches!(
                port,
                "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_refused(text: &str, why: &str) {
        let error = PackagePath::new(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text:?}: {error}");
    }

    #[test]
    fn a_package_path_never_leads_out() {
        for text in ["/etc/passwd", "\\\\host\\share", "C:\\x", "c:x"] {
            check_refused(text, "absolute");
        }
        for text in ["..", "../x", "a/../../x", "a\\..\\x", "a/.."] {
            check_refused(text, "`..`");
        }
    }

    #[test]
    fn a_package_path_names_a_file_on_every_platform() {
        check_refused("", "empty name");
        check_refused("a//b", "empty name");
        check_refused("a/", "empty name");
        check_refused("./a", "`.` component");
        check_refused("a\0b", "U+0000");
        check_refused("a\\b", "no separator");
        check_refused("ab:c", "`:`");
        check_refused("a\u{202e}b", "U+202E");
        check_refused("a./b", "dot or a blank");
        check_refused("aux.md", "device");
        check_refused("x/COM1", "device");
        check_refused(&"x".repeat(256), "longer than 255");
        check_refused(&"x/".repeat(600), "longer than 1024");
        for fine in
            ["a", "steps/step-01.md", ".hidden", "ünïcode/中文.md", "a b.md", "console.md", "com10"]
        {
            assert!(PackagePath::new(fine).is_ok(), "{fine}");
        }
    }

    #[test]
    fn a_bad_reference_has_its_own_reason_and_remedy() {
        let error = |text: &str| PackagePath::reference(text).unwrap_err();
        assert!(error(".//workflow.md").to_string().contains("empty name"));
        let remedy = |text: &str| error(text).remedy(text).unwrap();
        assert!(remedy("steps\\draft.md").ends_with("\"steps/draft.md\""));
        assert!(remedy("steps/step:1.md").contains("another character for `:`"));
        assert!(remedy("aux.md").contains("rename it"));
        assert_eq!(error("../x").remedy("../x"), None);
    }

    #[test]
    fn twins_fold_to_one_name() {
        let folded = |text: &str| PackagePath::new(text).unwrap().folded();
        assert_eq!(folded("Steps/A.md"), folded("steps/a.MD"));
        assert_eq!(folded("caf\u{e9}.md"), folded("cafe\u{301}.md"));
        assert_eq!(folded("stra\u{df}e"), folded("STRASSE"));
        assert_eq!(folded("\u{3bf}\u{3c2}"), folded("\u{39f}\u{3a3}"));
        assert_eq!(folded("\u{fb01}n"), folded("FIN"));
        assert_ne!(folded("a.md"), folded("b.md"));
    }

    #[test]
    fn a_sibling_stays_inside() {
        let step = PackagePath::new("workflows/a/workflow.md").unwrap();
        assert_eq!(step.sibling("steps/x.md").unwrap().as_str(), "workflows/a/steps/x.md");
        assert_eq!(step.sibling("./../b/w.md").unwrap().as_str(), "workflows/b/w.md");
        assert_eq!(step.sibling("../../../x"), Err(PathError::Parent));
        assert_eq!(step.sibling("/x"), Err(PathError::Absolute));
        assert_eq!(step.parents().collect::<Vec<_>>(), ["workflows/a", "workflows"]);
    }
}
