//! `fs.write`, `fs.apply_patch`, `fs.move` and `fs.delete`: what became of each file.

use super::{DigestRule, Fields, GAP, counted, push_line, state};

/// Returns one sentence for each file, and the lines that a patch changed.
pub(super) fn render(answer: Fields<'_>, digest: DigestRule) -> Option<String> {
    let Some(files) = answer.objects("files") else {
        if answer.is("unchanged") {
            return Some("Unchanged: the file has exactly this content.".to_owned());
        }
        return one(answer, digest);
    };
    let moved: Vec<&str> = files.clone().filter_map(|report| report.text("movedFrom")).collect();
    // The sentence about the new path also names the old one.
    let is_named = |report: &Fields<'_>| {
        report.is("deleted") && report.text("path").is_some_and(|path| moved.contains(&path))
    };
    let reports = files.filter(|report| !is_named(report));
    let texts: Option<Vec<String>> = reports.map(|report| one(report, digest)).collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
}

fn one(report: Fields<'_>, digest: DigestRule) -> Option<String> {
    if report.has("state") {
        return state::render(report);
    }
    let path = report.text("path")?;
    let digest = digest.item(report, "sha256After");
    if report.is("deleted") {
        return Some(format!("Deleted {path}."));
    }
    if let Some(from) = report.text("movedFrom") {
        let lines = changed_lines(report);
        let end = if lines.is_empty() { "." } else { ", and changed:" };
        return Some(format!("Moved {from} to {path}{end}{lines}"));
    }
    if report.is("unchanged") {
        return Some(format!("Unchanged: {path} has exactly this content."));
    }
    if report.is("new") || report.has("bytesWritten") {
        return written(report, path, &digest);
    }
    let size = report.number("bytes").map(|bytes| format!(" ({}{digest})", counted(bytes, "byte")));
    let size = size.unwrap_or_default();
    let lines = changed_lines(report);
    let end = if lines.is_empty() { "." } else { ":" };
    Some(format!("Changed {path}{size}{end}{lines}"))
}

fn written(report: Fields<'_>, path: &str, digest: &str) -> Option<String> {
    let bytes = report.number("bytes").or_else(|| report.number("bytesWritten"))?;
    let mut size = counted(bytes, "byte");
    if let Some(lines) = report.number("lines") {
        size.push_str(&format!(", {}", counted(lines, "line")));
    }
    let replaced = report.number("replacedBytes").map(|bytes| counted(bytes, "byte"));
    let mut out = match (report.is("new"), replaced, report.number("bytesWritten")) {
        (true, _, _) => format!("Wrote {path} ({size}, new{digest})."),
        (false, Some(replaced), _) => {
            format!("Wrote {path} ({size}, replaced {replaced}{digest}).")
        }
        (false, None, Some(added)) if report.has("bytes") => {
            format!("Appended {} to {path} (now {size}{digest}).", counted(added, "byte"))
        }
        (false, None, _) => format!("Wrote {path} ({size}{digest})."),
    };
    let holes: Vec<&str> = report.texts("holes").into_iter().flatten().collect();
    if !holes.is_empty() {
        out.push_str(&format!(" Left in it: {}.", holes.join(", ")));
    }
    Some(out)
}

/// Returns the changed lines with their numbers, each on a new line.
fn changed_lines(report: Fields<'_>) -> String {
    let mut out = String::new();
    for part in report.objects("changed").into_iter().flatten() {
        let start = part.number("startLine").unwrap_or(1);
        if !out.is_empty() {
            out.push('\n');
            out.push_str(GAP);
        }
        for (number, line) in (start..).zip(part.texts("lines").into_iter().flatten()) {
            push_line(&mut out, number, line);
        }
    }
    if let Some(more) = report.number("moreLines") {
        out.push_str(&format!("\n… and {} more.", counted(more, "line")));
    }
    out
}
