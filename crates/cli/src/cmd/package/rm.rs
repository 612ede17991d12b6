//! `crewagent package rm`: removes packages from the store, damaged ones too.

use crewagent_engine::store::{FoundPackage, Store};

use super::import::waiting;
use crate::args::RmArgs;
use crate::ask;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME};

pub(super) fn run(args: &RmArgs, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let packages = store.packages();
    // All names are resolved before the first removal, so that a typo in the second one removes nothing.
    let mut found: Vec<FoundPackage> = Vec::new();
    for reference in &args.packages {
        let one = packages.find_any(reference)?;
        if !found.iter().any(|other| other.folder() == one.folder()) {
            found.push(one);
        }
    }
    let mut unfinished = 0;
    for one in &found {
        let needed = packages.needed_by(one)?;
        if let Some(first) = needed.held.first() {
            anyhow::bail!(
                "the package {} is in use by {first}; stop it, and remove the package then",
                name(one)
            );
        }
        unfinished += needed.unfinished;
    }
    if unfinished > 0 && !args.yes && ask::is_possible() {
        let count = paint::grouped(unfinished);
        let question = format!(
            "Runs and conversations that cannot go on without it: {count}. Remove it nevertheless?"
        );
        if !ask::confirm(&question)? {
            console.line("Nothing was removed.");
            return Ok(Outcome::Cancelled);
        }
    }
    for one in found {
        packages.remove(&one, &mut || waiting(console))?;
        console.line(format_args!(
            "{} {}",
            paint::styled(GOOD, "removed"),
            paint::styled(NAME, paint::printable(&name(&one)))
        ));
    }
    Ok(Outcome::Done)
}

fn name(found: &FoundPackage) -> String {
    match found {
        FoundPackage::Installed(installed) => format!("{} {}", installed.name, installed.version),
        FoundPackage::Damaged(damaged) => damaged.folder_name(),
    }
}
