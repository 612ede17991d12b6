//! `crewagent runs fork`: starts a new run from a node of another one.

use crewagent_core::run::history::History;
use crewagent_engine::changes::{RevertScope, RunChanges};
use crewagent_engine::runtime::{ForkRun, Forked, Runtime};
use crewagent_engine::store::Store;
use crewagent_engine::tool_server::ToolServers;
use serde_json::json;

use super::revert;
use crate::args::RunsForkArgs;
use crate::console::{Console, Stream};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME, QUIET};
use crate::render::summary;
use crate::resume_hint::ResumeHint;

pub(super) fn run(
    args: &RunsForkArgs,
    store: &Store,
    resume_hint: &ResumeHint,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let run = super::find(&args.run, store)?;
    let visits = History::of(&store.runs().look(&run)?.recovered.events).visits;
    let visit = super::visit(&visits, &args.at)?;
    let runtime = Runtime::new(store, ToolServers::none());
    let plan = ForkRun { id: None, run: run.clone(), event: visit.seq };
    // The fork is checked before any file is changed.
    runtime.preview_fork(&plan)?;
    let mut left = Vec::new();
    if args.files {
        let changes = RunChanges::of(store, &run)?;
        let agreement = match args.yes {
            true => revert::RevertConfirmation::Nothing,
            false if args.json => {
                let why = "--json never asks; add --yes to restore the project's files";
                return Err(UsageError(why.to_owned()).into());
            }
            false => revert::RevertConfirmation::Once,
        };
        let to = if args.json { Stream::Notes } else { Stream::Result };
        match revert::revert(&changes, RevertScope::Onward(visit.seq), agreement, (to, console))? {
            Some(alone) => left = alone,
            None => return Ok(Outcome::Cancelled),
        }
    }
    let forked = runtime.fork(&plan)?;
    if args.json {
        let one = |file: &revert::SkippedFile| json!({ "path": file.path, "why": file.why });
        console.line(paint::json(&json!({
            "run": forked.id,
            "forkedFrom": { "run": run, "event": visit.seq, "node": visit.node },
            "state": forked.place.state,
            "documents": forked.documents,
            "words": forked.words.len(),
            "filesLeft": left.iter().map(one).collect::<Vec<_>>(),
        })));
        return Ok(Outcome::Done);
    }
    console.line(format_args!(
        "{} {} from {run} at {}",
        paint::styled(GOOD, "forked"),
        paint::styled(NAME, &forked.id),
        paint::printable(&visit.node)
    ));
    console.text(&describe_copies(&forked, args.files));
    let next = summary::next("It waits. Go on with:", &[resume_hint.resume(forked.id.as_str())]);
    console.text(&next);
    Ok(Outcome::Done)
}

/// Says what is copied, and what is not.
fn describe_copies(forked: &Forked, with_files: bool) -> String {
    let state = &forked.place.state;
    let copied = [
        paint::counted(forked.documents, "state document"),
        paint::counted(state.variables.len(), "variable"),
        paint::counted(state.artifacts.len(), "artifact"),
        paint::counted(forked.words.len(), "message"),
    ];
    let files = match with_files {
        true => "the files of the project are back as they were then, but for those named above",
        false => "the files of the project are as they are now",
    };
    let rows = [
        ("copied", copied.join(", ")),
        ("not", format!("tool calls, what you allowed for the run; {files}")),
    ];
    let row = |(name, value): (&str, String)| {
        format!("  {}  {value}\n", paint::styled(QUIET, paint::padded(name, 8)))
    };
    rows.into_iter().map(row).collect()
}
