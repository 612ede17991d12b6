//! `crewagent package import`: a package that is known good goes into the store.

use crewagent_core::package::Package;
use crewagent_engine::store::{self, ImportError, Imported, Store};

use crate::args::Import;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME, QUIET, WARNING};
use crate::render::{self, Amount};

pub(super) fn run(args: &Import, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::Done;
    for path in &args.packages {
        let shown = path.display().to_string();
        let one = match store.packages().prepare(path) {
            Ok(prepared) => {
                announce(prepared.package(), console);
                let imported = prepared.commit()?;
                report(&shown, &imported, console);
                Outcome::Done
            }
            Err(ImportError::Rejected(rejection)) => {
                render::findings(
                    &shown,
                    &rejection.findings,
                    &rejection.sources,
                    Amount::Some,
                    console,
                );
                console.line("Nothing was imported.");
                Outcome::Invalid
            }
            Err(error) if args.packages.len() > 1 => Outcome::of_error(&error.into(), console),
            Err(error) => return Err(error.into()),
        };
        if one != Outcome::Done {
            outcome = one;
        }
    }
    Ok(outcome)
}

/// What a user should know before a package is in the store.
fn announce(package: &Package, console: &mut Console) {
    let needs_network =
        package.manifest().runtime.as_ref().and_then(|needs| needs.requires_network);
    if needs_network == Some(true) {
        let name = paint::printable(&package.manifest().name);
        console.line(format_args!(
            "{} {name} says that its steps need the network",
            paint::styled(WARNING, "note:")
        ));
    }
}

fn report(shown: &str, imported: &Imported, console: &mut Console) {
    if !imported.findings.is_empty() {
        render::findings(shown, &imported.findings, &imported.sources, Amount::Some, console);
    }
    let installed = &imported.installed;
    let name = paint::styled(
        NAME,
        format_args!("{} {}", paint::printable(&installed.name), installed.version),
    );
    let verdict = match imported.outcome {
        store::Outcome::New => "imported",
        store::Outcome::AlreadyThere => "already imported",
        store::Outcome::Repaired => "repaired",
    };
    let files = paint::counted(usize::try_from(installed.files).unwrap_or(usize::MAX), "file");
    console.line(format_args!(
        "{} {name} ({files}, {})",
        paint::styled(GOOD, verdict),
        paint::bytes(installed.bytes)
    ));
    console.line(paint::styled(QUIET, format_args!("sha256 {}", installed.digest)));
}
