//! `crewagent package import`: puts a valid package into the store.

use std::path::Path;

use crewagent_engine::store::{self, ImportError, Imported, Store};
use crewagent_format::package::Package;
use crewagent_source::bytes;
use serde_json::{Value as Json, json};

use super::list::as_json;
use crate::args::ImportArgs;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME, QUIET, WARNING};
use crate::render::{self, ReportOptions};

pub(super) fn run(
    args: &ImportArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let (mut outcome, mut reports) = (Outcome::Done, Vec::new());
    for path in &args.packages {
        let one = import(path, args.json, store, console).unwrap_or_else(|error| {
            let outcome = Outcome::of_error(&error, console);
            (outcome, json!({ "outcome": "failed", "problem": format!("{error:#}") }))
        });
        let mut report = one.1;
        report["source"] = json!(path);
        reports.push(report);
        outcome = outcome.max(one.0);
    }
    if args.json {
        console.line(paint::json(&json!({ "packages": reports })));
    }
    Ok(outcome)
}

/// Imports one package and returns the outcome, also as JSON.
fn import(
    path: &Path,
    is_json: bool,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<(Outcome, Json)> {
    let name = path.display().to_string();
    match store.packages().prepare(path) {
        Ok(prepared) => {
            announce(prepared.package(), console);
            let imported = prepared.commit(&mut || waiting(console))?;
            report(&name, &imported, is_json, console);
            let mut report = as_json(&imported.installed);
            report["outcome"] = json!(match imported.outcome {
                store::ImportOutcome::New => "new",
                store::ImportOutcome::AlreadyThere => "already-there",
                store::ImportOutcome::Repaired => "repaired",
            });
            Ok((Outcome::Done, report))
        }
        Err(ImportError::Rejected(rejection)) => {
            let options = ReportOptions::ASIDE;
            render::findings(&name, &rejection.findings, &rejection.sources, options, console);
            console.error(text!("Nothing was imported.", "没有导入任何内容。"));
            Ok((Outcome::Invalid, json!({ "outcome": "rejected" })))
        }
        Err(error) => Err(error.into()),
    }
}

/// Says once that another process holds the store.
pub(crate) fn waiting(console: &mut Console) {
    console.error(text!(
        "Waiting for another crewagent process that is changing the store…",
        "另一个 crewagent 进程正在修改库，等待中……"
    ));
}

/// Prints a note if the package needs the network, before it is in the store.
pub(crate) fn announce(package: &Package, console: &mut Console) {
    let needs_network =
        package.manifest().runtime.as_ref().and_then(|needs| needs.requires_network);
    if needs_network == Some(true) {
        let name = paint::printable(&package.manifest().name);
        console.error(say!(
            "{} {name} says that its steps need the network",
            "{} {name} 声明其步骤需要联网",
            paint::styled(WARNING, text!("note:", "注意:"))
        ));
    }
}

fn report(shown: &str, imported: &Imported, is_json: bool, console: &mut Console) {
    if imported.findings.needs_attention() {
        render::findings(
            shown,
            &imported.findings,
            &imported.sources,
            ReportOptions::ASIDE,
            console,
        );
    }
    if is_json {
        return;
    }
    let installed = &imported.installed;
    let name = paint::styled(
        NAME,
        format_args!("{} {}", paint::printable(&installed.name), installed.version),
    );
    let files =
        paint::counted(usize::try_from(installed.files).unwrap_or(usize::MAX), ("file", "个文件"));
    let verdict = paint::styled(GOOD, verdict(imported.outcome));
    console.line(format_args!("{verdict} {name} ({files}, {})", bytes(installed.bytes)));
    console.line(paint::styled(QUIET, format_args!("sha256 {}", installed.digest)));
}

/// Describes the import in a word.
fn verdict(outcome: store::ImportOutcome) -> &'static str {
    match outcome {
        store::ImportOutcome::New => text!("imported", "已导入"),
        store::ImportOutcome::AlreadyThere => text!("already imported", "先前已导入"),
        store::ImportOutcome::Repaired => text!("repaired", "已修复"),
    }
}
