//! `crewagent package …`: creates, checks, packs, imports and draws packages.

mod convert;
mod explain;
mod graph;
mod import;
mod list;
mod new;
mod pack;
mod prune;
mod rm;
mod show;
mod validate;
mod walk;

use std::path::{Path, PathBuf};

use crewagent_engine::store::{FindError, SourceOptions, Store};
use crewagent_format::diagnostic::Severity;
use crewagent_format::package::Package;
use crewagent_source::inspect::Inspected;

use crate::args::{PackageArgs, PackageCommand};
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::say;
use crate::outcome::{Outcome, UsageError};
use crate::render::{self, ReportOptions};

pub(crate) fn run(
    args: PackageArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    match args.command.unwrap_or(PackageCommand::List(args.list)) {
        PackageCommand::Explain(args) => explain::run(&args, console),
        PackageCommand::New(args) => new::run(args, console),
        PackageCommand::Validate(args) => validate::run(&args, &Store::open(home)?, console),
        PackageCommand::Pack(args) => pack::run(&args, &Store::open(home)?, console),
        PackageCommand::Import(args) => import::run(&args, &Store::open(home)?, console),
        PackageCommand::Walk(args) => walk::run(&args, home, console),
        PackageCommand::Convert(args) => convert::run(&args, &Store::open(home)?, console),
        PackageCommand::List(args) => list::run(&args, &Store::open(home)?, console),
        PackageCommand::Show(args) => show::run(&args, &Store::open(home)?, console),
        PackageCommand::Rm(args) => rm::run(&args, &Store::open(home)?, console),
        PackageCommand::Prune(args) => prune::run(&args, &Store::open(home)?, console),
        PackageCommand::Graph(args) => graph::run(&args, &Store::open(home)?, console),
    }
}

pub(crate) use import::{announce, waiting};

/// Inspects the meaning of PACKAGE: a file or folder, else an imported package of that name.
pub(crate) fn look_up(reference: &Path, store: &Store) -> anyhow::Result<Inspected> {
    let packages = store.packages();
    let name = reference.to_str().filter(|_| !reference.exists());
    let installed = match name.map(|name| packages.find(name)) {
        None => None,
        Some(Ok(installed)) => Some(installed),
        // A text that looks like a path was meant as one.
        Some(Err(error)) if looks_like_path(reference) || matches!(error, FindError::Store(_)) => {
            None
        }
        Some(Err(error)) => {
            return Err(UsageError(say!(
                "{} (and no file or folder has this name)",
                "{}（也没有这个名称的文件或文件夹）",
                shown(&error)
            ))
            .into());
        }
    };
    let Some(installed) = installed else {
        return Ok(packages.inspect_path(reference, &SourceOptions::default())?.0);
    };
    Ok(packages.inspect(&installed)?)
}

/// Returns true if PACKAGE means a path: it exists, or looks like one.
pub(crate) fn is_path(reference: &Path) -> bool {
    reference.exists() || looks_like_path(reference)
}

fn looks_like_path(reference: &Path) -> bool {
    let text = reference.to_string_lossy().to_lowercase();
    text.contains(['/', '\\']) || text.ends_with(".bmad") || text.ends_with(".zip")
}

/// Returns the valid package that PACKAGE means; prints the findings of an invalid one and returns none.
pub(crate) fn load(
    reference: &Path,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Option<Loaded>> {
    let Inspected { package, findings, sources, .. } = look_up(reference, store)?;
    let warnings = findings.count(Severity::Warning);
    match package {
        Some(package) => Ok(Some(Loaded { package, warnings })),
        None => {
            render::findings(
                &reference.to_string_lossy(),
                &findings,
                &sources,
                ReportOptions::ASIDE,
                console,
            );
            Ok(None)
        }
    }
}

/// Formats a package with its number of warnings.
pub(crate) struct Loaded {
    pub(crate) package: Package,
    pub(crate) warnings: usize,
}
