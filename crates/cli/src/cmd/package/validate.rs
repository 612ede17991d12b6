//! `crewagent package validate`: reports every mistake of every package at once.

use crewagent_engine::store::Store;
use crewagent_format::diagnostic::{Diagnostic, Location, Severity};
use crewagent_source::inspect::Inspected;
use serde_json::{Value as Json, json};

use crate::args::{ReportFormat, ValidateArgs};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, ERROR};
use crate::render::{self, Amount, Bar, ReportOptions};

pub(super) fn run(
    args: &ValidateArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    let mut reports = Vec::new();
    for (index, reference) in args.packages.iter().enumerate() {
        let inspected = super::look_up(reference, store);
        let passed = inspected.as_ref().is_ok_and(|inspected| is_good(inspected, args));
        if !passed {
            outcome = Outcome::Invalid;
        }
        match args.format {
            ReportFormat::Json => {
                reports.push(report(&reference.to_string_lossy(), &inspected, passed))
            }
            ReportFormat::Human => {
                if index > 0 {
                    console.line("");
                }
                human(&reference.to_string_lossy(), &inspected, args, console);
            }
        }
    }
    if args.format == ReportFormat::Json {
        let valid = outcome == Outcome::Done;
        console
            .line(serde_json::to_string_pretty(&json!({ "valid": valid, "packages": reports }))?);
    } else if args.packages.len() > 1 && outcome == Outcome::Invalid {
        console.line(say!(
            "\n{} not every package is valid",
            "\n{} 有的包无效",
            paint::styled(ERROR, text!("error:", "错误："))
        ));
    }
    Ok(outcome)
}

fn is_good(inspected: &Inspected, args: &ValidateArgs) -> bool {
    inspected.package.is_some()
        && (!args.strict || inspected.findings.count(Severity::Warning) == 0)
}

fn human(
    reference: &str,
    inspected: &anyhow::Result<Inspected>,
    args: &ValidateArgs,
    console: &mut Console,
) {
    let amount = if args.all { Amount::All } else { Amount::Some };
    let bar = if args.strict { Bar::Warnings } else { Bar::Errors };
    let options = ReportOptions { amount, bar, ..ReportOptions::RESULT };
    match inspected {
        Ok(inspected) => {
            render::findings(reference, &inspected.findings, &inspected.sources, options, console)
        }
        Err(error) => {
            Outcome::of_error(error, console);
        }
    }
}

fn report(reference: &str, inspected: &anyhow::Result<Inspected>, passed: bool) -> Json {
    match inspected {
        Err(error) => {
            json!({ "package": reference, "valid": false, "problem": format!("{error:#}"), "findings": [] })
        }
        Ok(inspected) => {
            let findings: Vec<Json> = inspected.findings.iter().map(finding).collect();
            let count = |severity| inspected.findings.count(severity);
            let total = count(Severity::Error) + count(Severity::Warning);
            let mut report = json!({ "package": reference, "valid": passed });
            if let Some(package) = &inspected.package {
                report["name"] = json!(package.manifest().name);
                report["version"] = json!(package.manifest().version);
            }
            report["errors"] = json!(count(Severity::Error));
            report["warnings"] = json!(count(Severity::Warning));
            report["omitted"] = json!(total - findings.len());
            report["findings"] = Json::Array(findings);
            report
        }
    }
}

fn finding(found: &Diagnostic) -> Json {
    let mut report = json!({ "code": found.code.as_str(), "name": found.code.name(), "severity": found.severity() });
    put_place(&mut report, &found.place);
    report["message"] = json!(found.message);
    if let Some(help) = &found.help {
        report["help"] = json!(help);
    }
    if let Some(related) = &found.related {
        let mut other = json!({});
        put_place(&mut other, &related.place);
        other["message"] = json!(related.message);
        report["related"] = other;
    }
    report
}

fn put_place(report: &mut Json, place: &Location) {
    report["file"] = json!(place.file);
    if let Some(position) = place.position {
        report["line"] = json!(position.line);
        report["column"] = json!(position.column);
    }
    if let Some(pointer) = &place.pointer {
        report["pointer"] = json!(pointer);
    }
    if let Some(span) = place.span {
        report["span"] = json!(span);
    }
}
