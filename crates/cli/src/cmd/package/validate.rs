//! `crewagent package validate`: reports every mistake of every package at once.

mod lines;
mod sarif;

use std::path::PathBuf;

use crewagent_engine::store::Store;
use crewagent_format::diagnostic::{Diagnostic, Location, Severity};
use crewagent_source::inspect::Inspected;
use serde_json::{Value as Json, json};

use crate::args::{ReportFormat, ValidateArgs};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, ERROR};
use crate::render::{self, Amount, Bar, ReportOptions, path_of};

/// A package and what the check found.
struct CheckedPackage {
    /// The package as the user named it.
    reference: String,
    inspected: anyhow::Result<Inspected>,
    passed: bool,
}

pub(super) fn run(
    args: &ValidateArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let check = |reference: &PathBuf| {
        let inspected = super::look_up(reference, store);
        let inspected = match args.portable {
            true => inspected.map(Inspected::for_every_tool),
            false => inspected,
        };
        let passed = inspected.as_ref().is_ok_and(|inspected| is_good(inspected, args));
        CheckedPackage { reference: reference.to_string_lossy().into_owned(), inspected, passed }
    };
    let packages: Vec<CheckedPackage> = args.packages.iter().map(check).collect();
    let passed = packages.iter().all(|package| package.passed);
    match if args.json { ReportFormat::Json } else { args.format } {
        ReportFormat::Human => human(&packages, args, console),
        ReportFormat::Short => lines::short(&packages, args.all, console),
        ReportFormat::Github => lines::github(&packages, args.all, console),
        ReportFormat::Sarif => console.line(paint::json(&sarif::log(&packages))),
        ReportFormat::Json => {
            let reports: Vec<Json> = packages.iter().map(report).collect();
            console.line(paint::json(&json!({ "valid": passed, "packages": reports })));
        }
    }
    Ok(if passed { Outcome::Done } else { Outcome::Invalid })
}

fn is_good(inspected: &Inspected, args: &ValidateArgs) -> bool {
    inspected.package.is_some()
        && (!args.deny_warnings || inspected.findings.count(Severity::Warning) == 0)
}

fn human(packages: &[CheckedPackage], args: &ValidateArgs, console: &mut Console) {
    let amount = if args.all { Amount::All } else { Amount::Some };
    let bar = if args.deny_warnings { Bar::Warnings } else { Bar::Errors };
    let options = ReportOptions { amount, bar, ..ReportOptions::RESULT };
    for (index, CheckedPackage { reference, inspected, .. }) in packages.iter().enumerate() {
        if index > 0 {
            console.line("");
        }
        match inspected {
            Ok(inspected) => {
                let Inspected { findings, sources, .. } = inspected;
                render::findings(reference, findings, sources, options, console);
            }
            Err(error) => {
                Outcome::of_error(error, console);
            }
        }
    }
    if packages.len() > 1 && packages.iter().any(|package| !package.passed) {
        console.line(say!(
            "\n{} not every package is valid",
            "\n{} 有的包无效",
            paint::styled(ERROR, text!("error:", "错误:"))
        ));
    }
}

fn report(CheckedPackage { reference, inspected, passed }: &CheckedPackage) -> Json {
    match inspected {
        Err(error) => {
            json!({ "package": reference, "valid": false, "problem": format!("{error:#}"), "findings": [] })
        }
        Ok(inspected) => {
            let findings: Vec<Json> =
                inspected.findings.iter().map(|found| finding(found, reference)).collect();
            let count = |severity| inspected.findings.count(severity);
            let [errors, warnings, notes] =
                [Severity::Error, Severity::Warning, Severity::Note].map(count);
            let mut report = json!({ "package": reference, "valid": passed });
            if let Some(package) = &inspected.package {
                report["name"] = json!(package.manifest().name);
                report["version"] = json!(package.manifest().version);
            }
            report["errors"] = json!(errors);
            report["warnings"] = json!(warnings);
            report["notes"] = json!(notes);
            report["omitted"] = json!(errors + warnings + notes - findings.len());
            report["findings"] = Json::Array(findings);
            report
        }
    }
}

/// Returns a finding as JSON.
pub(super) fn finding(found: &Diagnostic, package: &str) -> Json {
    let mut report = json!({ "code": found.code.as_str(), "name": found.code.name(), "severity": found.severity() });
    put_place(&mut report, &found.place, package);
    report["message"] = json!(found.message);
    if let Some(help) = &found.help {
        report["help"] = json!(help);
    }
    if let Some(related) = &found.related {
        let mut other = json!({});
        put_place(&mut other, &related.place, package);
        other["message"] = json!(related.message);
        report["related"] = other;
    }
    report
}

fn put_place(report: &mut Json, place: &Location, package: &str) {
    report["file"] = json!(place.file);
    report["path"] = json!(path_of(package, &place.file));
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
