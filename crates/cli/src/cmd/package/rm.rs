//! `crewagent package rm`: removes packages from the store, damaged ones too.

use crewagent_engine::store::{FoundPackage, NeededBy, Store};

use super::import::waiting;
use crate::args::RmArgs;
use crate::cmd::removal::{self, Removed};
use crate::console::Console;
use crate::outcome::{Outcome, UsageError};
use crate::paint;

pub(super) fn run(args: &RmArgs, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let packages = store.packages();
    // All names are resolved before the first removal, so that a typo in the second one removes nothing.
    let mut found: Vec<(FoundPackage, NeededBy)> = Vec::new();
    for reference in &args.packages {
        let one = packages.find_one(reference)?;
        if found.iter().any(|(other, _)| other.folder() == one.folder()) {
            continue;
        }
        let needed = packages.needed_by(&one)?;
        if let Some(first) = needed.held.first() {
            let name = name(&one);
            anyhow::bail!(
                "the package {name} is in use by {first}; stop it, and remove the package then"
            );
        }
        if !args.force && !needed.runs.is_empty() {
            return Err(UsageError(refusal(&one, &needed)).into());
        }
        found.push((one, needed));
    }
    let question = format!("Remove {}?", paint::counted(found.len(), "package"));
    if !removal::agreed(found.iter().map(line), &question, args.removal, console)? {
        return Ok(Outcome::Cancelled);
    }
    let mut removed = Removed::new(args.removal);
    for (one, _) in found {
        packages.remove(&one, &mut || waiting(console))?;
        removed.report(&name(&one), "", console);
    }
    Ok(removed.finish(console))
}

/// Names the runs that need a package, and what to do about it.
fn refusal(found: &FoundPackage, needed: &NeededBy) -> String {
    let name = name(found);
    let runs: Vec<&str> = needed.runs.iter().map(|id| id.as_str()).collect();
    let (which, them) = match runs[..] {
        [one] => (format!("the unfinished run {one} needs it"), "that run"),
        _ => (format!("the unfinished runs {} need it", runs.join(", ")), "those runs"),
    };
    format!(
        "the package {name} is not removed: {which}; finish {them} with `crewagent resume {first}` or remove with `crewagent runs rm {first}`, or add --force to remove the package all the same",
        first = runs.first().copied().unwrap_or_default()
    )
}

/// Describes a package and what cannot be resumed without it.
fn line((found, needed): &(FoundPackage, NeededBy)) -> String {
    let mut text = name(found);
    if let FoundPackage::Installed(installed) = found {
        let imported = installed.imported.strftime("%Y-%m-%d %H:%M");
        text.push_str(&format!("  {}  imported {imported}", installed.digest.short()));
    }
    let lost = [(needed.runs.len(), "unfinished run"), (needed.conversations, "conversation")];
    let lost = lost.iter().filter(|(count, _)| *count > 0);
    let lost: Vec<String> = lost.map(|(count, what)| paint::counted(*count, what)).collect();
    if !lost.is_empty() {
        text.push_str(&format!("  {} cannot be resumed without it", lost.join(" and ")));
    }
    text
}

fn name(found: &FoundPackage) -> String {
    match found {
        FoundPackage::Installed(installed) => format!("{} {}", installed.name, installed.version),
        FoundPackage::Damaged(damaged) => damaged.folder_name(),
    }
}
