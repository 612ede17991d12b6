//! `crewagent package …`: write, check, pack, import and draw packages.

mod explain;
mod graph;
mod import;
mod list;
mod new;
mod pack;
mod rm;
mod show;
mod validate;

use std::path::{Path, PathBuf};

use crewagent_core::package::{Package, check};
use crewagent_engine::inspect::{Inspected, inspect};
use crewagent_engine::runtime_version;
use crewagent_engine::store::Store;

use crate::args::{GraphFormat, GraphTheme, PackageCommand};
use crate::console::Console;
use crate::outcome::{Outcome, Usage};
use crate::render::{self, Amount};

pub(crate) fn run(
    command: PackageCommand,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    match command {
        PackageCommand::Explain(args) => explain::run(&args, console),
        PackageCommand::New(args) => new::run(args, console),
        PackageCommand::Validate(args) => validate::run(&args, &Store::open(home)?, console),
        PackageCommand::Pack(args) => pack::run(&args, &Store::open(home)?, console),
        PackageCommand::Import(args) => import::run(&args, &Store::open(home)?, console),
        PackageCommand::List(args) => list::run(&args, &Store::open(home)?, console),
        PackageCommand::Show(args) => show::run(&args, &Store::open(home)?, console),
        PackageCommand::Rm(args) => rm::run(&args, &Store::open(home)?, console),
        PackageCommand::Graph(args) => graph::run(&args, &Store::open(home)?, console),
    }
}

/// The default workflow of a package, drawn.
pub(crate) fn graph_of(
    package: &Package,
    format: GraphFormat,
    theme: GraphTheme,
) -> anyhow::Result<String> {
    let workflow =
        package.workflows().first().ok_or_else(|| Usage("this package has no workflow".into()))?;
    Ok(graph::draw(workflow, package, format, theme))
}

/// Looks at what PACKAGE means: a path if something is there or it looks like one, else an imported package.
pub(crate) fn look_up(reference: &str, store: &Store) -> anyhow::Result<Inspected> {
    let path = Path::new(reference);
    let is_path = path.exists()
        || reference.contains(['/', '\\'])
        || [".bmad", ".zip"].iter().any(|ending| reference.to_ascii_lowercase().ends_with(ending));
    if is_path {
        return Ok(inspect(path, &store.settings().import)?);
    }
    let packages = store.packages();
    let installed = packages
        .find(reference)
        .map_err(|error| Usage(format!("{error} (and no file or folder has this name)")))?;
    let source = packages.open(&installed)?;
    let checked = check(&source, &runtime_version());
    Ok(Inspected {
        source: Some(source),
        package: checked.package,
        findings: checked.findings,
        sources: checked.sources,
    })
}

/// The package that PACKAGE means; when it has errors they are printed, and there is none.
pub(crate) fn load(
    reference: &str,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Option<Package>> {
    let inspected = look_up(reference, store)?;
    if inspected.package.is_none() {
        render::findings(reference, &inspected.findings, &inspected.sources, Amount::Some, console);
    }
    Ok(inspected.package)
}
