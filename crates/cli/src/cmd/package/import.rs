//! `crewagent package import`: puts valid packages, and those made of foreign sources, into the store.

use std::path::Path;

use crewagent_engine::store::{
    self, FoundPackage, ImportError, Imported, Installed, PackageDifference, PreparedImport,
    SourceOptions, Store,
};
use crewagent_format::package::Package;
use crewagent_source::bytes;
use serde_json::{Value as Json, json};

use super::list::as_json;
use super::validate::finding;
use crate::args::ImportArgs;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME, QUIET, WARNING};
use crate::render::{self, Amount, ReportOptions, source_report};
use crate::shell;

/// Import of the sources of one command.
struct SourceImport<'a> {
    store: &'a Store,
    options: SourceOptions,
    args: &'a ImportArgs,
}

/// Package that was imported from the same place before.
struct EarlierImport {
    installed: Installed,
    difference: PackageDifference,
    /// Number of runs and conversations that need it.
    unfinished: usize,
}

pub(super) fn run(
    args: &ImportArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let (mut outcome, mut reports) = (Outcome::Done, Vec::new());
    let import = SourceImport { store, options: args.source.options()?, args };
    for path in &args.sources {
        let one = import.one(path, console).unwrap_or_else(|error| {
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

impl SourceImport<'_> {
    /// Imports one source and returns the outcome, also as JSON.
    fn one(&self, path: &Path, console: &mut Console) -> anyhow::Result<(Outcome, Json)> {
        let name = path.display().to_string();
        let prepared = match self.store.packages().prepare_with(path, &self.options) {
            Ok(prepared) => prepared,
            Err(ImportError::Rejected(rejection)) => {
                let found = rejection.findings.iter().map(|found| finding(found, &name));
                let report =
                    json!({ "outcome": "rejected", "findings": found.collect::<Vec<_>>() });
                let options = self.aside();
                render::findings(&name, &rejection.findings, &rejection.sources, options, console);
                console.error(text!("Nothing was imported.", "没有导入任何内容。"));
                return Ok((Outcome::Invalid, report));
            }
            Err(error) => return Err(error.into()),
        };
        announce(prepared.package(), console);
        let older = match prepared.foreign() {
            Some(_) => older(&prepared, self.store)?,
            None => None,
        };
        if !self.args.json {
            self.describe(&name, &prepared, older.as_ref(), console);
        }
        let mut report = json!({});
        if let Some(foreign) = prepared.foreign() {
            if !foreign.is_known {
                let found = prepared.findings().iter().map(|found| finding(found, &name));
                report["findings"] = found.collect();
            }
            report["import"] = foreign.report.clone();
        }
        if let Some(older) = &older {
            report["older"] = as_json(&older.installed);
            report["difference"] = json!(older.difference);
            report["unfinished"] = json!(older.unfinished);
        }
        if self.args.dry_run {
            let manifest = prepared.package().manifest();
            report["name"] = json!(manifest.name);
            report["version"] = json!(manifest.version);
            report["outcome"] = json!("dry-run");
            if !self.args.json {
                console.line(text!("Nothing was stored.", "没有存入任何内容。"));
            }
            return Ok((Outcome::Done, report));
        }
        let imported = prepared.commit(&mut || waiting(console))?;
        if !self.args.json {
            conclude(&imported, console);
        }
        let Json::Object(installed) = as_json(&imported.installed) else {
            return Ok((Outcome::Done, report));
        };
        if let Some(report) = report.as_object_mut() {
            report.extend(installed);
        }
        report["outcome"] = json!(match imported.outcome {
            store::ImportOutcome::New => "new",
            store::ImportOutcome::AlreadyThere => "already-there",
            store::ImportOutcome::Repaired => "repaired",
        });
        Ok((Outcome::Done, report))
    }

    fn aside(&self) -> ReportOptions {
        let amount = if self.args.all { Amount::All } else { Amount::Some };
        ReportOptions { amount, ..ReportOptions::ASIDE }
    }

    /// Prints what was found, and the findings.
    fn describe(
        &self,
        name: &str,
        prepared: &PreparedImport<'_>,
        older: Option<&EarlierImport>,
        console: &mut Console,
    ) {
        let findings = prepared.findings();
        if let Some(foreign) = prepared.foreign() {
            console.text(&source_report::overview(&foreign.report, prepared.package()));
            if foreign.is_known {
                let words = say!(
                    "Unchanged since its import. `crewagent package validate {}` shows the findings.",
                    "自上次导入后没有变化。用 `crewagent package validate {}` 查看发现。",
                    shell::path(Path::new(name))
                );
                console.line(paint::styled(QUIET, paint::printable(&words)));
            }
        }
        if let Some(EarlierImport { installed, difference, unfinished }) = older {
            let reference = installed.digest.short();
            console.text(&source_report::difference(&reference, difference, *unfinished));
        }
        if findings.needs_attention() {
            render::findings(name, findings, prepared.sources(), self.aside(), console);
        }
    }
}

/// Finds the package that was imported from the same place before, and what differs.
fn older(prepared: &PreparedImport<'_>, store: &Store) -> anyhow::Result<Option<EarlierImport>> {
    let packages = store.packages();
    let Some(installed) = prepared.older()? else { return Ok(None) };
    // One that cannot be read any more has nothing to compare.
    let Ok(package) = packages.load(&installed) else { return Ok(None) };
    let difference = PackageDifference::between(&package, prepared.package());
    let needed = packages.needed_by(&FoundPackage::Installed(installed.clone()))?;
    let unfinished = needed.unfinished() + needed.held.len();
    Ok(Some(EarlierImport { installed, difference, unfinished }))
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

fn conclude(imported: &Imported, console: &mut Console) {
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
