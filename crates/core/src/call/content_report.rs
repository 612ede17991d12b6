//! Facts about the new content of a file, for the answer of a tool that changed it.

use serde::Serialize;

use super::holes::holes;
use super::{WriteCall, WriteMode};
use crate::tool::text_patch::{ChangedLines, changed_lines};

/// The new content of a file, compared with the old one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContentReport {
    /// Size of the file.
    pub bytes: usize,
    /// Number of its lines.
    pub lines: usize,
    /// True if there was no file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new: bool,
    /// Size of the content that a write replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_bytes: Option<u64>,
    /// True if the file had this content.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unchanged: bool,
    /// Holes of a template in a written text, the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holes: Vec<String>,
    /// Lines that a patch changed, with one line around them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedLines>,
    /// Number of such lines that are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_lines: usize,
}

/// Relation of the new content to the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentChange {
    New,
    Same,
    Changed,
}

impl ContentReport {
    /// Returns the report of a file with this content.
    pub fn new(content: &[u8], change: ContentChange) -> Self {
        let ended = content.iter().filter(|byte| **byte == b'\n').count();
        let is_open = content.last().is_some_and(|byte| *byte != b'\n');
        Self {
            bytes: content.len(),
            lines: ended + usize::from(is_open),
            new: change == ContentChange::New,
            replaced_bytes: None,
            unchanged: change == ContentChange::Same,
            holes: Vec::new(),
            changed: Vec::new(),
            more_lines: 0,
        }
    }

    /// Adds what a write did to a file of this size.
    #[must_use]
    pub fn written(mut self, call: &WriteCall, old_size: Option<u64>) -> Self {
        self.replaced_bytes = old_size.filter(|_| call.mode == WriteMode::Overwrite);
        self.holes = holes(&call.content);
        self
    }

    /// Adds the lines that a patch changed, if both contents are text.
    #[must_use]
    pub fn patched(mut self, old: &[u8], new: &[u8]) -> Self {
        if let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) {
            (self.changed, self.more_lines) = changed_lines(old, new);
        }
        self
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
