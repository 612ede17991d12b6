//! `crewagent runs rm`: removes runs from the store. Files in the project stay.

use crewagent_engine::store::{RunError, RunId, Store};

use crate::args::RunsRmArgs;
use crate::ask;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME};

pub(super) fn run(
    args: &RunsRmArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    // All names are resolved before the first removal, so that a typo in the second one removes nothing.
    let mut ids: Vec<RunId> = Vec::new();
    for reference in &args.runs {
        let id = super::find(reference, store)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    for id in &ids {
        // An unreadable run can still be removed.
        if let Ok(view) = store.runs().look(id)
            && let Some(holder) = view.holder
        {
            return Err(RunError::InUse { id: id.clone(), holder }.into());
        }
    }
    if !args.yes && ask::is_possible() {
        let names: Vec<&str> = ids.iter().map(RunId::as_str).collect();
        let what = paint::counted(ids.len(), "run");
        let question = format!("Remove {what} with journal and state ({})?", names.join(", "));
        if !ask::confirm(&question)? {
            console.line("Nothing was removed.");
            return Ok(Outcome::Cancelled);
        }
    }
    for id in &ids {
        store.runs().remove(id)?;
        console.line(format_args!(
            "{} {}",
            paint::styled(GOOD, "removed"),
            paint::styled(NAME, id)
        ));
    }
    Ok(Outcome::Done)
}
