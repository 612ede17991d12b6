//! `crewagent package explain`: explains a diagnostic code, with an example and a fix.

use crewagent_format::diagnostic::{Code, Severity};
use serde_json::{Value as Json, json};
use unicode_width::UnicodeWidthStr as _;

use crate::args::ExplainArgs;
use crate::console::Console;
use crate::language::{near, say};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, ERROR, NAME, QUIET, WARNING};

pub(super) fn run(args: &ExplainArgs, console: &mut Console) -> anyhow::Result<Outcome> {
    let Some(text) = &args.code else {
        match args.json {
            true => {
                let all: Vec<Json> = Code::ALL.iter().map(|code| as_json(*code)).collect();
                console.line(paint::json(&json!({ "codes": all })));
            }
            false => list(console),
        }
        return Ok(Outcome::Done);
    };
    let code = Code::find(text).ok_or_else(|| unknown(text))?;
    if args.json {
        let mut found = as_json(code);
        found["page"] = code.explanation().into();
        console.line(paint::json(&found));
        return Ok(Outcome::Done);
    }
    page(code.explanation(), console);
    Ok(Outcome::Done)
}

fn unknown(text: &str) -> UsageError {
    let names = Code::ALL.iter().flat_map(|code| [code.name(), code.as_str()]);
    let near = near(text, names);
    UsageError(say!(
        "there is no code `{text}`{near}; `crewagent package explain` without a code lists them all",
        "没有诊断代码 `{text}`{near}；不带代码的 `crewagent package explain` 列出全部"
    ))
}

fn as_json(code: Code) -> Json {
    json!({
        "code": code.as_str(),
        "name": code.name(),
        "severity": code.severity(),
        "summary": code.summary(),
    })
}

fn list(console: &mut Console) {
    for code in Code::ALL {
        let style = match code.severity() {
            Severity::Error => ERROR,
            Severity::Warning => WARNING,
            Severity::Note => QUIET,
        };
        let severity = paint::styled(style, format_args!("{:7}", code.severity().word()));
        console.line(format_args!(
            "{} {severity} {:26} {}",
            code.as_str(),
            code.name(),
            code.summary()
        ));
    }
}

/// Formats Markdown for a terminal: bold headings, wrapped paragraphs, and verbatim code, so that it can be copied.
fn page(markdown: &str, console: &mut Console) {
    let width = paint::width().min(100);
    let mut in_code = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            console.line(format_args!("    {line}"));
        } else if let Some(title) = line.strip_prefix('#') {
            console.line(paint::styled(NAME, title.trim_start_matches('#').trim_start()));
        } else {
            wrapped(&plain(line), width, console);
        }
    }
}

/// Returns the text of a line without emphasis marks and link targets.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        let link =
            after.split_once("](").and_then(|(label, tail)| Some((label, tail.split_once(')')?.1)));
        let Some((label, tail)) = link.filter(|(label, _)| !label.contains(['[', '`'])) else {
            text.push_str(before);
            text.push('[');
            rest = after;
            continue;
        };
        text.push_str(before);
        text.push_str(label);
        rest = tail;
    }
    text.push_str(rest);
    text.replace("**", "")
}

/// Wraps one paragraph or list item.
fn wrapped(text: &str, width: usize, console: &mut Console) {
    let hanging = text.len() - text.trim_start().trim_start_matches(['-', ' ']).len();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.trim().is_empty() && line.width() + 1 + word.width() > width {
            console.line(line.trim_end());
            line = " ".repeat(hanging);
        } else if !line.is_empty() && !line.ends_with("  ") || line.len() > hanging {
            line.push(' ');
        }
        line.push_str(word);
    }
    console.line(line.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_emphasis_become_plain_text() {
        assert_eq!(
            plain("**error**: see [BM214](BM214.md) and `a[0]`."),
            "error: see BM214 and `a[0]`."
        );
    }
}
