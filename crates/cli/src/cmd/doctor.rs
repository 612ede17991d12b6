//! `crewagent doctor`: looks at everything a run depends on, and says what to do where something is wrong.

mod checks;

use std::path::PathBuf;

use serde::Serialize;
use serde_json::json;

use crate::args::Doctor;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, WARNING};
use crate::render::flow::indented;

/// Where messages stand: behind the verdict and the name.
const BEHIND: usize = 16;

/// What one look found.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Health,
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    advice: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Health {
    Ok,
    Warn,
    Fail,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: Health::Ok, message: message.into(), advice: Vec::new() }
    }

    fn warn(name: &'static str, message: impl Into<String>) -> Self {
        Self { status: Health::Warn, ..Self::ok(name, message) }
    }

    fn fail(name: &'static str, message: impl Into<String>) -> Self {
        Self { status: Health::Fail, ..Self::ok(name, message) }
    }

    fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice.push(advice.into());
        self
    }
}

pub(crate) fn run(
    args: &Doctor,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let checks = checks::all(home)?;
    let worst = checks.iter().map(|check| check.status).max().unwrap_or(Health::Ok);
    if args.json {
        console.line(paint::json(&json!({ "ok": worst != Health::Fail, "checks": checks })));
    } else {
        checks.iter().for_each(|check| human(check, console));
        console.line(match worst {
            Health::Ok => "\nEverything is in order.",
            Health::Warn => "\nNothing is broken; the warnings say what could be better.",
            Health::Fail => "\nSomething is broken; the lines above say what to do.",
        });
    }
    Ok(if worst == Health::Fail { Outcome::Failed } else { Outcome::Done })
}

fn human(check: &Check, console: &mut Console) {
    let (style, word) = match check.status {
        Health::Ok => (GOOD, "ok  "),
        Health::Warn => (WARNING, "warn"),
        Health::Fail => (ERROR, "fail"),
    };
    let name = paint::styled(NAME, paint::padded(check.name, 8));
    let message = indented(&check.message, BEHIND, paint::text_width());
    console.line(format_args!("{}  {name}  {message}", paint::styled(style, word)));
    for advice in &check.advice {
        let advice = indented(advice, BEHIND + 2, paint::text_width());
        let indent = " ".repeat(BEHIND);
        console.line(format_args!("{indent}{} {advice}", paint::styled(ACCENT, "→")));
    }
}
