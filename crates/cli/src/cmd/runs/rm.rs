//! `crewagent runs rm`: removes runs from the store. Files in the project stay.

use crewagent_engine::store::{RunError, RunId, Store};

use crate::args::RunsRmArgs;
use crate::cmd::removal::{self, Removed};
use crate::console::Console;
use crate::language::say;
use crate::outcome::Outcome;
use crate::paint;

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
    let lines = ids.iter().map(|id| line(id, store));
    let question = say!(
        "Remove {}, with journal and state?",
        "要删除 {}及其日志和状态吗？",
        paint::counted(ids.len(), ("run", "次运行"))
    );
    if !removal::agreed(lines, &question, args.removal, console)? {
        return Ok(Outcome::Cancelled);
    }
    let mut removed = Removed::new(args.removal);
    for id in &ids {
        store.runs().remove(id)?;
        removed.report(id.as_str(), "", console);
    }
    Ok(removed.finish(console))
}

/// Describes a run, as far as it can be read.
fn line(id: &RunId, store: &Store) -> String {
    match store.runs().summary(id) {
        Ok(run) => format!("{id}  {}  {}  {}", super::shown(run.status), run.package, run.workflow),
        Err(_) => id.to_string(),
    }
}
