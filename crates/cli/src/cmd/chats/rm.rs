//! `crewagent chats rm`: removes conversations from the store, with the runs that they started.

use crewagent_engine::store::{RunError, RunId, Store};

use crate::args::ChatsRmArgs;
use crate::cmd::removal::{self, Removed};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint;

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
    let mut lines = Vec::new();
    for id in &ids {
        if let Some(holder) = conversations.runs().holder(id)? {
            return Err(RunError::InUse { id: id.clone(), holder }.into());
        }
        // An unreadable conversation can still be removed.
        let title = conversations.title(id).ok().flatten().unwrap_or_default();
        lines.push(format!("{id}  {title}"));
        let runs = conversations.runs_of(id).unwrap_or_default();
        if !args.keep_runs {
            lines.extend(
                runs.iter().map(|run| say!("{run}  run that began there", "{run}  由其开始的运行")),
            );
        }
    }
    let count = paint::counted(ids.len(), ("conversation", "个对话"));
    let with = if lines.len() > ids.len() {
        text!(" and the runs that began there", "及由其开始的运行")
    } else {
        ""
    };
    if !removal::agreed(
        lines,
        &say!("Remove {count}{with}?", "要删除 {count}{with}吗？"),
        args.removal,
        console,
    )? {
        return Ok(Outcome::Cancelled);
    }
    let mut report = Removed::new(args.removal);
    for id in &ids {
        let removed = if args.keep_runs {
            conversations.runs().remove(id)?;
            Vec::new()
        } else {
            conversations.remove(id)?
        };
        for gone in std::iter::once(id).chain(&removed) {
            report.report(gone.as_str(), "", console);
        }
    }
    Ok(report.finish(console))
}
