//! `crewagent runs revert`: restores files to their content before a run, or one of its steps, wrote them.

use crewagent_engine::changes::{self, Backward, Prospect, RevertScope, RunChanges};
use crewagent_engine::store::Store;
use crewagent_format::integrity::Digest;
use serde_json::{Value as Json, json};

use crate::args::RunsRevertArgs;
use crate::cmd::removal;
use crate::console::{Console, Stream};
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, QUIET, WARNING};

/// The confirmation before files are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RevertConfirmation {
    /// Asks once; without a terminal nothing is changed.
    Once,
    Nothing,
    /// Changes nothing.
    DryRun,
}

/// A skipped file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SkippedFile {
    /// The path, relative to the project.
    pub(super) path: String,
    pub(super) why: String,
}

pub(super) fn run(
    args: &RunsRevertArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let changes = RunChanges::of(store, &super::find(&args.run, store)?)?;
    let scope = match &args.at {
        Some(name) => {
            let seq = super::visit(changes.visits(), name)?.seq;
            if args.onward { RevertScope::Onward(seq) } else { RevertScope::Step(seq) }
        }
        // A journal begins with the first visit.
        None => RevertScope::Onward(changes.visits().first().map_or(1, |visit| visit.seq)),
    };
    let ask = match (args.dry_run, args.yes) {
        (true, _) => RevertConfirmation::DryRun,
        (false, true) => RevertConfirmation::Nothing,
        (false, false) => RevertConfirmation::Once,
    };
    if args.json && ask == RevertConfirmation::Once {
        let why = "--json never asks; add --yes to revert the files, or --dry-run to list them";
        return Err(UsageError(why.to_owned()).into());
    }
    let plan = args.json.then(|| changes.plan_revert(scope)).transpose()?;
    let to = if args.json { Stream::Notes } else { Stream::Result };
    let left = revert(&changes, scope, ask, (to, console))?;
    if let (Some(plan), Some(left)) = (plan, &left) {
        console.line(paint::json(&report(&plan, left, args.dry_run)));
    }
    match left {
        Some(left) if left.is_empty() => Ok(Outcome::Done),
        Some(_) => Ok(Outcome::Failed),
        None => Ok(Outcome::Cancelled),
    }
}

/// Describes what became of each file; for a dry run what would become of it.
fn report(plan: &[Backward], left: &[SkippedFile], is_dry: bool) -> Json {
    let file = |file: &Backward| {
        let left = left.iter().find(|left| left.path == file.path);
        let why = left.map(|left| left.why.as_str()).or_else(|| obstacle(file.prospect));
        let outcome = match (why, file.prospect, file.target) {
            (Some(_), ..) => "left",
            (None, Prospect::Done, _) => "unchanged",
            (None, _, Some(_)) => "restored",
            (None, _, None) => "removed",
        };
        json!({ "path": file.path, "outcome": outcome, "why": why })
    };
    json!({ "dryRun": is_dry, "files": plan.iter().map(file).collect::<Vec<_>>() })
}

/// Shows the changes and reverts them. Returns the skipped files; none when the user declines.
pub(super) fn revert(
    changes: &RunChanges,
    scope: RevertScope,
    ask: RevertConfirmation,
    (to, console): (Stream, &mut Console),
) -> anyhow::Result<Option<Vec<SkippedFile>>> {
    let way = changes.plan_revert(scope)?;
    let ready = way.iter().filter(|file| file.prospect == Prospect::Ready);
    let ready: Vec<(String, Option<Digest>)> =
        ready.map(|file| (file.path.clone(), file.now)).collect();
    for file in &way {
        console.line_to(to, line(file));
    }
    if ready.is_empty() {
        console.line_to(to, text!("Nothing to revert.", "没有需要撤销的内容。"));
    }
    if ask == RevertConfirmation::DryRun {
        return Ok(Some(Vec::new()));
    }
    if !ready.is_empty() {
        let what = paint::counted(ready.len(), ("file", "个文件"));
        let question = say!("Take back {what} of the project?", "要撤销项目中的 {what}吗？");
        if !removal::confirmed(&question, ask == RevertConfirmation::Nothing, console)? {
            console.line_to(to, text!("Nothing was changed.", "没有作任何更改。"));
            return Ok(None);
        }
    }
    let mut left: Vec<SkippedFile> = Vec::new();
    for file in &way {
        if let Some(why) = obstacle(file.prospect) {
            left.push(SkippedFile { path: file.path.clone(), why: why.to_owned() });
        }
    }
    for (path, outcome) in changes.revert(scope, &ready)? {
        let shown = paint::printable(&path);
        match outcome {
            changes::RevertOutcome::Reverted => {
                console.line_to(
                    to,
                    format_args!("{} {shown}", paint::styled(GOOD, text!("reverted", "已撤销"))),
                );
            }
            changes::RevertOutcome::Left(why) => {
                let word = paint::styled(WARNING, text!("left", "保留"));
                console.line_to(to, format_args!("{word} {shown}: {why}"));
                left.push(SkippedFile { path, why });
            }
        }
    }
    Ok(Some(left))
}

fn line(file: &Backward) -> String {
    let mut text = format!("  {}  ", paint::printable(&file.path));
    let what = match (file.prospect, file.target) {
        (Prospect::Ready, Some(_)) => {
            paint::styled(QUIET, text!("becomes what it was", "恢复原样"))
        }
        (Prospect::Ready, None) => paint::styled(
            QUIET,
            text!("is removed, because the run made it", "由运行创建，将被删除"),
        ),
        (Prospect::Done, _) => paint::styled(QUIET, text!("is as it was", "与原来相同")),
        (prospect, _) => paint::styled(WARNING, obstacle(prospect).unwrap_or_default()),
    };
    text.push_str(&what.to_string());
    if file.prospect == Prospect::Ready && !file.later.is_empty() {
        let later = file.later.iter().map(|node| paint::printable(node)).collect::<Vec<_>>();
        text.push_str(&say!(
            "; that also undoes what was written at {}",
            "；同时撤销在 {} 写入的内容",
            later.join(", ")
        ));
    }
    text
}

/// Explains why a file is skipped.
fn obstacle(prospect: Prospect) -> Option<&'static str> {
    match prospect {
        Prospect::Conflict => Some(text!(
            "is left alone, because somebody else has changed it since",
            "保留不动，因为此后有他人改过"
        )),
        Prospect::Lost => Some(text!(
            "is left alone, because what it was is kept nowhere",
            "保留不动，因为原内容没有保存"
        )),
        Prospect::Ready | Prospect::Done => None,
    }
}
