//! `fs.search`: hits as grep shows them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Fields, GAP, counted, push_hint};

/// Lines of one file by number: a hit, or a line around one.
type FileLines<'j> = BTreeMap<u64, (LineRole, &'j str)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineRole {
    Hit,
    Context,
}

/// Returns each path once, then its hits with the lines around them. Windows that touch become one.
pub(super) fn render(answer: Fields<'_>) -> Option<String> {
    let mut hits = 0;
    let mut files: Vec<(&str, FileLines<'_>)> = Vec::new();
    for found in answer.objects("matches")? {
        // The last one may lack its text where the answer was cut.
        let (Some(path), Some(line), Some(text)) =
            (found.text("path"), found.number("line"), found.text("text"))
        else {
            continue;
        };
        hits += 1;
        if files.last().is_none_or(|(last, _)| *last != path) {
            files.push((path, FileLines::new()));
        }
        let Some((_, lines)) = files.last_mut() else { continue };
        let before: Vec<&str> = found.texts("before").into_iter().flatten().collect();
        let first = line.saturating_sub(before.len() as u64);
        let after = found.texts("after").into_iter().flatten();
        let around = (first..).zip(before).chain((line.saturating_add(1)..).zip(after));
        for (number, context) in around {
            lines.entry(number).or_insert((LineRole::Context, context));
        }
        lines.insert(line, (LineRole::Hit, text));
    }
    let mut out = if hits > 0 { counted(hits, "hit") } else { none(answer) };
    for (path, lines) in &files {
        out.push('\n');
        out.push_str(path);
        push_lines(&mut out, lines);
    }
    push_hint(&mut out, answer);
    Some(out)
}

fn push_lines(out: &mut String, lines: &FileLines<'_>) {
    let mut last = None;
    for (number, (role, text)) in lines {
        if last.is_some_and(|last: u64| last.saturating_add(1) < *number) {
            out.push('\n');
            out.push_str(GAP);
        }
        last = Some(*number);
        let mark = match role {
            LineRole::Hit => ':',
            LineRole::Context => '-',
        };
        // Writing to a string never fails.
        let _ = write!(out, "\n{number}{mark}{text}");
    }
}

fn none(answer: Fields<'_>) -> String {
    match answer.object("stats").and_then(|stats| stats.number("filesScanned")) {
        Some(files) => format!("No hits in {}.", counted(files, "file")),
        None => "No hits.".to_owned(),
    }
}
