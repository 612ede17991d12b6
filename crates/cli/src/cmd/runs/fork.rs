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
use crate::language::{say, text};
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
                let why = text!(
                    "--json never asks; add --yes to restore the project's files",
                    "使用 --json 时从不询问；要恢复项目文件请加上 --yes"
                );
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
    console.line(say!(
        "{} {} from {run} at {}",
        "{} {}，来自 {run} 的 {}",
        paint::styled(GOOD, text!("forked", "已分叉")),
        paint::styled(NAME, &forked.id),
        paint::printable(&visit.node)
    ));
    console.text(&describe_copies(&forked, args.files));
    let next = summary::next(
        text!("It waits. Go on with:", "它正在等待。继续："),
        &[resume_hint.resume(forked.id.as_str())],
    );
    console.text(&next);
    Ok(Outcome::Done)
}

/// Says what is copied, and what is not.
fn describe_copies(forked: &Forked, with_files: bool) -> String {
    let state = &forked.place.state;
    let copied = [
        paint::counted(forked.documents, ("state document", "个状态文档")),
        paint::counted(state.variables.len(), ("variable", "个变量")),
        paint::counted(state.artifacts.len(), ("artifact", "个产物")),
        paint::counted(forked.words.len(), ("message", "条消息")),
    ];
    let files = match with_files {
        true => text!(
            "the files of the project are back as they were then, but for those named above",
            "项目文件已恢复到当时的样子，上面列出的除外"
        ),
        false => text!("the files of the project are as they are now", "项目文件保持现状"),
    };
    let rows = [
        (text!("copied", "已复制"), copied.join(", ")),
        (
            text!("not", "未复制"),
            say!(
                "tool calls, what you allowed for the run; {files}",
                "工具调用、你为运行授予的许可；{files}"
            ),
        ),
    ];
    let row = |(name, value): (&str, String)| {
        format!("  {}  {value}\n", paint::styled(QUIET, paint::padded(name, 8)))
    };
    rows.into_iter().map(row).collect()
}
