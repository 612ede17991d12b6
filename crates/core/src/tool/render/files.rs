//! `fs.read` and `fs.list`: lines of a file, names in a folder.

use super::{DigestRule, Fields, counted, push_hint, push_line};
use crate::tool::window::line_count;

/// Returns the lines of a file with their numbers.
pub(super) fn read(answer: Fields<'_>, digest: DigestRule) -> Option<String> {
    let (path, bytes) = (answer.text("path")?, answer.number("bytes")?);
    let digest = digest.item(answer, "sha256");
    let total = answer.number("totalLines");
    let whole = answer.text("content");
    let text = whole.or_else(|| answer.text("contentPreview"))?;
    if bytes == 0 {
        return Some(format!("{path} is empty{digest}."));
    }
    let start = answer.number("startLine").unwrap_or(1);
    let size = match total {
        Some(total) => format!("{} in {}", counted(bytes, "byte"), counted(total, "line")),
        None => counted(bytes, "byte"),
    };
    let is_beginning = whole.is_none() && !answer.has("startLine");
    let mut out = match start.saturating_add(line_count(text) as u64).checked_sub(1) {
        _ if is_beginning => format!("{path}, {size}{digest}; its beginning:"),
        Some(end) if end >= start => {
            let total = total.unwrap_or(end);
            format!("{path}, lines {start}-{end} of {total}{digest}")
        }
        Some(_) | None => format!("{path}, {size}{digest}"),
    };
    for (number, line) in (start..).zip(text.lines()) {
        push_line(&mut out, number, line);
    }
    if whole.is_none() && !text.ends_with('\n') {
        out.push('…');
    }
    if is_beginning {
        out.push_str("\nSearch it, then read lines.");
    } else {
        push_hint(&mut out, answer);
    }
    Some(out)
}

/// Returns the names in a folder, one a line.
pub(super) fn list(answer: Fields<'_>) -> Option<String> {
    let path = answer.text("path")?;
    let entries = answer.texts("entries").or_else(|| answer.texts("entriesPreview"))?;
    if entries.clone().next().is_none() {
        return Some(format!("{path} is empty."));
    }
    let mut out = path.to_owned();
    for entry in entries {
        out.push('\n');
        out.push_str(entry);
    }
    push_hint(&mut out, answer);
    Some(out)
}
