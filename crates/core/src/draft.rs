//! Drafts: texts that are written once, shown to the user, and saved by reference.
//!
//! A draft is a file below `@state/drafts`. A model writes it with `fs.write`, or in a reply: the lines between
//! `<draft name="x">` and `</draft>`, each mark alone on its line. The marks are taken out of the recorded reply, and
//! put back where the model reads its own words again.

mod marks;
mod stream;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::marks::{MarkedText, read_marks, with_marks};
pub use self::stream::MarkFilter;
use crate::vpath::{Mount, VPath};

/// Folder of the drafts, below the state of the run.
pub const DRAFTS: &str = "drafts";
/// Ending of the file of a draft.
const ENDING: &str = ".md";
/// Longest name of a draft, in characters.
const NAME_CHARS: usize = 64;

/// Name of a draft: one part of a path, without the ending of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct DraftName(String);

impl DraftName {
    /// Parses a name, as models write it: alone, with the ending, or as the path of the draft. The error says what is
    /// wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let folder = format!("{}/{DRAFTS}/", Mount::State.name());
        let name = text.strip_prefix(&folder).unwrap_or(text);
        let name = name.strip_suffix(ENDING).unwrap_or(name).trim();
        let shown = crewagent_format::wording::quoted_up_to(name, NAME_CHARS);
        if name.is_empty() {
            return Err("a draft needs a name".to_owned());
        }
        if name.chars().nth(NAME_CHARS).is_some() {
            return Err(format!("the name {shown} has more than {NAME_CHARS} characters"));
        }
        let is_part = !name.contains('/') && !name.starts_with('.');
        match VPath::new(Mount::State, &format!("{DRAFTS}/{name}{ENDING}")) {
            Some(_) if is_part => Ok(Self(name.to_owned())),
            Some(_) | None => Err(format!("{shown} is no name of a file")),
        }
    }

    /// Returns the draft that a path names.
    pub fn of(path: &VPath) -> Option<Self> {
        let below = path.relative().strip_prefix(DRAFTS)?.strip_prefix('/')?;
        let name = below.strip_suffix(ENDING).filter(|_| path.mount() == Mount::State)?;
        Self::parse(name).ok().filter(|parsed| parsed.0 == name)
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the mount path of the draft.
    pub fn path(&self) -> String {
        format!("{}/{DRAFTS}/{}{ENDING}", Mount::State.name(), self.0)
    }
}

impl fmt::Display for DraftName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A draft in the text of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ReplyDraft {
    /// The name of the draft.
    pub name: String,
    /// The offset of its first byte in the text of the reply.
    pub start: usize,
    /// The offset behind its last byte.
    pub end: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_path() {
        for (text, expected) in [
            ("vision", "vision"),
            (" vision.md ", "vision"),
            ("@state/drafts/vision.md", "vision"),
            ("目标 1", "目标 1"),
            ("a.b", "a.b"),
        ] {
            let name = DraftName::parse(text).unwrap();
            assert_eq!(name.as_str(), expected);
            let path = VPath::parse(&name.path()).unwrap();
            assert_eq!(DraftName::of(&path), Some(name));
        }
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let long = "x".repeat(65);
        for text in [
            "",
            " ",
            ".md",
            "..",
            "../x",
            "a/b",
            "a\\b",
            ".hidden",
            "a\u{7}b",
            "a\u{202e}b",
            "con",
            "a:b",
            "@state/workflow.md",
            "@state/drafts/../workflow.md",
            &long,
        ] {
            assert!(DraftName::parse(text).is_err(), "{text:?}");
        }
        for path in ["@state/workflow.md", "@project/drafts/x.md", "@state/drafts/a/b.md"] {
            assert_eq!(DraftName::of(&VPath::parse(path).unwrap()), None, "{path}");
        }
    }
}
