//! `crewagent package rm`: packages leave the store.

use crewagent_engine::store::Store;

use crate::args::Rm;
use crate::console::Console;
use crate::outcome::{Outcome, Usage};
use crate::paint::{self, GOOD, NAME};

pub(super) fn run(args: &Rm, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let packages = store.packages();
    // All are found before the first is removed: a slip in the second name removes nothing.
    let mut found = Vec::new();
    for reference in &args.packages {
        let installed = packages.find(reference).map_err(|error| Usage(error.to_string()))?;
        if !found.contains(&installed) {
            found.push(installed);
        }
    }
    for installed in found {
        packages.remove(&installed)?;
        let name = format!("{} {}", paint::printable(&installed.name), installed.version);
        console.line(format_args!(
            "{} {}",
            paint::styled(GOOD, "removed"),
            paint::styled(NAME, name)
        ));
    }
    Ok(Outcome::Done)
}
