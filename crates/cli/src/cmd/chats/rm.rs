//! `crewagent chats rm`: removes conversations from the store, with the runs that they started.

use crewagent_engine::store::{RunError, RunId, Store};

use crate::args::ChatsRmArgs;
use crate::ask;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME};

pub(super) fn run(
    args: &ChatsRmArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let conversations = store.conversations();
    // All names are resolved before the first removal, so that a typo in the second one removes nothing.
    let mut ids: Vec<RunId> = Vec::new();
    for reference in &args.chats {
        let id = super::find(reference, store)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let mut runs = 0;
    for id in &ids {
        if let Some(holder) = conversations.runs().holder(id)? {
            return Err(RunError::InUse { id: id.clone(), holder }.into());
        }
        // An unreadable conversation can still be removed.
        runs += conversations.runs_of(id).map_or(0, |runs| runs.len());
    }
    if !args.yes && ask::is_possible() {
        let what = paint::counted(ids.len(), "conversation");
        let with = match runs {
            0 => String::new(),
            _ if args.keep_runs => String::new(),
            runs => format!(" and {} that began there", paint::counted(runs, "run")),
        };
        let names: Vec<&str> = ids.iter().map(RunId::as_str).collect();
        if !ask::confirm(&format!("Remove {what}{with} ({})?", names.join(", ")))? {
            console.line("Nothing was removed.");
            return Ok(Outcome::Cancelled);
        }
    }
    for id in &ids {
        let removed = if args.keep_runs {
            conversations.runs().remove(id)?;
            Vec::new()
        } else {
            conversations.remove(id)?
        };
        for gone in std::iter::once(id).chain(&removed) {
            let gone = paint::styled(NAME, gone);
            console.line(format_args!("{} {gone}", paint::styled(GOOD, "removed")));
        }
    }
    Ok(Outcome::Done)
}
