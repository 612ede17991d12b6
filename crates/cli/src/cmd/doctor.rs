//! `crewagent doctor`: checks everything a run depends on, and says how to fix problems.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use crewagent_adapters::names;
use crewagent_engine::doctor::{CheckHealth, HealthCheck, checks};
use serde_json::json;

use crate::args::DoctorArgs;
use crate::console::Console;
use crate::language::text;
use crate::outcome::Outcome;
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, WARNING};
use crate::render::flow::indented;

/// The column of messages, behind the verdict and the name.
const BEHIND: usize = 16;

pub(crate) fn run(
    args: &DoctorArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let mut checks = checks(home, names::check)?;
    checks.push(terminal());
    let worst = checks.iter().map(|check| check.status).max().unwrap_or(CheckHealth::Ok);
    if args.json {
        console.line(paint::json(&json!({ "ok": worst != CheckHealth::Fail, "checks": checks })));
    } else {
        checks.iter().for_each(|check| human(check, console));
        console.line(match worst {
            CheckHealth::Ok => text!("\nEverything is in order.", "\n一切正常。"),
            CheckHealth::Warn => text!(
                "\nNothing is broken; the warnings say what could be better.",
                "\n没有故障；警告说明了可以改进之处。"
            ),
            CheckHealth::Fail => text!(
                "\nSomething is broken; the lines above say what to do.",
                "\n有故障；以上各行说明了该怎么办。"
            ),
        });
    }
    Ok(if worst == CheckHealth::Fail { Outcome::Failed } else { Outcome::Done })
}

fn human(check: &HealthCheck, console: &mut Console) {
    let (style, word) = match check.status {
        CheckHealth::Ok => (GOOD, text!("ok  ", "通过")),
        CheckHealth::Warn => (WARNING, text!("warn", "警告")),
        CheckHealth::Fail => (ERROR, text!("fail", "故障")),
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

fn terminal() -> HealthCheck {
    const NAME: &str = "terminal";
    if !std::io::stdout().is_terminal() {
        return HealthCheck::ok(
            NAME,
            "standard output is not a terminal: plain text, no questions",
        );
    }
    let columns = paint::width();
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let colour = if set("NO_COLOR") { "no colour (NO_COLOR)" } else { "colour" };
    let details = format!("{columns} columns, {colour}");
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let is_utf8 = locale.as_ref().is_none_or(|name| {
        let name = name.to_lowercase();
        name.contains("utf-8") || name.contains("utf8")
    });
    if is_utf8 || cfg!(windows) {
        HealthCheck::ok(NAME, details)
    } else {
        let locale = locale.unwrap_or_default();
        HealthCheck::warn(NAME, format!("{details}, but the locale {locale} is not UTF-8"))
            .advise("set LANG to a UTF-8 locale, such as C.UTF-8")
    }
}
