//! Texts of a source with the positions of their lines.

use std::sync::Arc;

use crewagent_format::text::Span;

/// Largest file that is read as text. Larger ones are carried as data.
pub(crate) const MAX_TEXT_BYTES: usize = 10 * 1024 * 1024;

/// Text of a file, without a byte order mark.
#[derive(Clone, Debug)]
pub(crate) struct SourceText {
    text: Arc<str>,
    /// Byte at which each line begins.
    starts: Vec<usize>,
}

impl SourceText {
    /// Decodes a file. `None` if it is not UTF-8, or larger than [`MAX_TEXT_BYTES`].
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_TEXT_BYTES || bytes.contains(&0) {
            return None;
        }
        let text = std::str::from_utf8(bytes).ok()?;
        let text: Arc<str> = text.strip_prefix('\u{feff}').unwrap_or(text).into();
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect();
        Some(Self { text, starts })
    }

    /// Returns the whole text.
    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns the number of the line, counted from 1, that holds a byte.
    pub(crate) fn line_of(&self, byte: usize) -> u32 {
        let line = self.starts.partition_point(|start| *start <= byte);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// Counts the lines. A newline at the end begins no further line.
    pub(crate) fn lines(&self) -> u32 {
        let empty_last = self.starts.len() > 1 && self.starts.last() == Some(&self.text.len());
        u32::try_from(self.starts.len() - usize::from(empty_last)).unwrap_or(u32::MAX)
    }

    /// Returns the bytes of a line, counted from 1, without its line ending.
    pub(crate) fn line_span(&self, line: u32) -> Option<Span> {
        let start = *self.starts.get((line as usize).checked_sub(1)?)?;
        let rest = self.text.get(start..)?;
        let width = rest.lines().next().map_or(0, str::len);
        Some(Span::new(start, start + width))
    }
}
