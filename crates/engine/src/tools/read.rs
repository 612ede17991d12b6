//! `fs.read`: reads a file, or some of its lines.
//!
//! The file is streamed, so that a window of a huge file needs no more memory than the window.

use crewagent_core::call::ReadCall;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::tool::window::{NotText, bounds, decode, preview};
use crewagent_core::vpath::VPath;
use serde::Serialize;

use crate::mounts::{Measured, MountResult, Mounts};

/// Bytes shown of a file that is too large to be read whole.
const PREVIEW: usize = 4096;
/// Bytes in which a NUL byte is searched.
const SNIFFED: usize = 8 * 1024;

/// Result of `fs.read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileExcerpt {
    pub path: VPath,
    /// Size of the whole file.
    pub bytes: u64,
    /// SHA-256 of the whole file.
    pub sha256: String,
    /// True if the file has more than the shown lines.
    pub truncated: bool,
    /// Shown lines, if the call asked for lines.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub window: Option<Shown>,
    /// Number of lines in the file.
    pub total_lines: usize,
    /// Requested text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Beginning of the requested text if it exceeds the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_preview: Option<String>,
    /// Advice on how to get the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The range of the shown lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// First line, from 1.
    pub start_line: usize,
    pub end_line: usize,
}

/// Reads a file or a window of it, up to `limit` bytes.
pub fn read(mounts: &Mounts, call: &ReadCall, limit: u64) -> MountResult<FileExcerpt> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut lines = LineCollector::new(call, limit);
    let measured = match mounts.stream(&call.path, |piece| lines.take(piece))? {
        Ok(measured) => measured,
        Err(refusal) => return Ok(Err(refusal)),
    };
    Ok(answer(call, &lines, measured, limit))
}

fn answer(
    call: &ReadCall,
    lines: &LineCollector,
    measured: Measured,
    limit: usize,
) -> Result<FileExcerpt, Refusal> {
    let (path, bytes) = (call.path.clone(), measured.size);
    let text = lines.text().map_err(|why| binary(call, measured, why))?;
    let total = lines.total();
    let (first, last) = bounds(total, call.start, call.end)?;
    let is_window = call.start.is_some() || call.end.is_some();
    let mut read = FileExcerpt {
        path,
        bytes,
        sha256: measured.sha256.to_string(),
        truncated: lines.is_over(),
        window: is_window.then_some(Shown { start_line: first, end_line: last }),
        total_lines: total,
        content: None,
        content_preview: None,
        hint: None,
    };
    if !lines.is_over() {
        read.content = Some(text.to_owned());
    } else if let Some(window) = &mut read.window {
        let shown = preview(text, limit);
        let whole = shown.bytes().filter(|byte| *byte == b'\n').count();
        let next = first + whole;
        window.end_line = if shown.ends_with('\n') { next - 1 } else { next };
        read.hint = Some(go_on(limit, first, next, last));
        read.content_preview = Some(shown.to_owned());
    } else {
        read.content_preview = Some(preview(text, limit.min(PREVIEW)).to_owned());
        read.hint = Some(format!(
            "The file has {bytes} bytes in {total} lines; one read gives at most {limit} bytes. Find the place with \
             fs.search, then read a window with startLine and endLine."
        ));
    }
    Ok(read)
}

/// Returns a hint for a window that is too large.
fn go_on(limit: usize, first: usize, next: usize, last: usize) -> String {
    if next > first {
        return format!(
            "These lines have more than {limit} bytes. Go on with startLine {next} and endLine {last}."
        );
    }
    let mut hint = format!(
        "Line {first} alone has more than {limit} bytes; fs.search shows the part of it around a match."
    );
    if first < last {
        hint.push_str(&format!(" Go on with startLine {} and endLine {last}.", first + 1));
    }
    hint
}

fn binary(call: &ReadCall, measured: Measured, why: NotText) -> Refusal {
    let message = format!("`{}` cannot be shown as text: it is {why}.", call.path);
    Refusal::new(RefusalCode::InvalidArguments, message)
        .hint("Only text files can be read; work with a text version of it, or ask the user.")
        .detail("binary", true)
        .detail("bytes", measured.size)
        .detail("sha256", measured.sha256.to_string())
}

/// The requested lines, collected from a stream.
struct LineCollector {
    first: u64,
    last: u64,
    limit: usize,
    /// Line of the next byte, from 1.
    line: u64,
    /// Bytes streamed so far.
    seen: usize,
    /// Offset of the first requested line.
    from: usize,
    /// Requested bytes, up to one byte over the limit.
    kept: Vec<u8>,
    nul: Option<usize>,
    /// True if the last byte ended a line.
    is_ended: bool,
}

impl LineCollector {
    fn new(call: &ReadCall, limit: usize) -> Self {
        Self {
            first: call.start.unwrap_or(1).max(1),
            last: call.end.unwrap_or(u64::MAX),
            limit,
            line: 1,
            seen: 0,
            from: 0,
            kept: Vec::new(),
            nul: None,
            is_ended: true,
        }
    }

    fn take(&mut self, piece: &[u8]) {
        if self.seen < SNIFFED && self.nul.is_none() {
            let head = &piece[..piece.len().min(SNIFFED - self.seen)];
            self.nul = head.iter().position(|byte| *byte == 0).map(|at| self.seen + at);
        }
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.first <= self.line && self.line <= self.last {
                if self.kept.is_empty() {
                    self.from = self.seen;
                }
                // One byte over the limit shows that there is more.
                let room = self.limit.saturating_add(1) - self.kept.len();
                self.kept.extend_from_slice(&part[..part.len().min(room)]);
            }
            self.seen += part.len();
            self.is_ended = part.ends_with(b"\n");
            self.line += u64::from(self.is_ended);
        }
    }

    fn is_over(&self) -> bool {
        self.kept.len() > self.limit
    }

    /// Returns the number of lines in the file.
    fn total(&self) -> usize {
        let total = if self.is_ended { self.line - 1 } else { self.line };
        usize::try_from(total).unwrap_or(usize::MAX)
    }

    fn text(&self) -> Result<&str, NotText> {
        if let Some(at) = self.nul {
            return Err(NotText::Nul { at });
        }
        match decode(&self.kept) {
            Ok(text) => Ok(text),
            Err(NotText::Nul { at }) => Err(NotText::Nul { at: self.from + at }),
            Err(NotText::NotUtf8 { at }) => {
                // The limit cut this character, so the file itself may be valid.
                let (good, rest) = self.kept.split_at(at);
                let is_cut = self.is_over()
                    && std::str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
                let text = std::str::from_utf8(good).ok().filter(|_| is_cut);
                text.ok_or(NotText::NotUtf8 { at: self.from + at })
            }
        }
    }
}
