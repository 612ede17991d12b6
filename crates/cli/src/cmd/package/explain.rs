//! `crewagent package explain`: what a diagnostic code means, with an example and a fix.

use crewagent_core::diagnostic::{Code, Severity};

use crate::args::Explain;
use crate::console::Console;
use crate::outcome::{Outcome, Usage};
use crate::paint::{self, ERROR, NAME, QUIET, WARNING};

pub(super) fn run(args: &Explain, console: &mut Console) -> anyhow::Result<Outcome> {
    let Some(text) = &args.code else {
        list(console);
        return Ok(Outcome::Done);
    };
    let code = Code::find(text).ok_or_else(|| {
        Usage(format!(
            "there is no code {text:?}; `crewagent package explain` without a code lists them all"
        ))
    })?;
    page(code.explanation(), console);
    Ok(Outcome::Done)
}

fn list(console: &mut Console) {
    for code in Code::ALL {
        let style = match code.severity() {
            Severity::Error => ERROR,
            Severity::Warning => WARNING,
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

/// Markdown with its headings in bold; code keeps its colour-free shape, so that it can be copied.
fn page(markdown: &str, console: &mut Console) {
    let mut in_code = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
            console.line(paint::styled(QUIET, line));
        } else if let Some(title) = line.strip_prefix('#').filter(|_| !in_code) {
            console.line(paint::styled(NAME, title.trim_start_matches('#').trim_start()));
        } else if in_code {
            console.line(format_args!("    {line}"));
        } else {
            console.line(line);
        }
    }
}
