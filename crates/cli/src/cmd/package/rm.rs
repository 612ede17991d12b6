//! `crewagent package rm`: packages leave the store, damaged ones too.

use crewagent_engine::store::{Found, Store};

use super::import::waiting;
use crate::args::Rm;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME};

pub(super) fn run(args: &Rm, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let packages = store.packages();
    // All are found before the first is removed: a slip in the second name removes nothing.
    let mut found: Vec<Found> = Vec::new();
    for reference in &args.packages {
        let one = packages.find_any(reference)?;
        if !found.iter().any(|other| other.folder() == one.folder()) {
            found.push(one);
        }
    }
    for one in found {
        packages.remove(&one, &mut || waiting(console))?;
        let name = match &one {
            Found::Installed(installed) => format!("{} {}", installed.name, installed.version),
            Found::Damaged(damaged) => damaged.folder_name(),
        };
        console.line(format_args!(
            "{} {}",
            paint::styled(GOOD, "removed"),
            paint::styled(NAME, paint::printable(&name))
        ));
    }
    Ok(Outcome::Done)
}
