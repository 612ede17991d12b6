//! `crewagent package prune`: removes the builds that a later import of the same name and version has replaced.

use crewagent_engine::store::{FoundPackage, Installed, Store};
use crewagent_source::bytes;

use super::import::waiting;
use crate::args::PruneArgs;
use crate::cmd::removal::{self, Removed};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint;

pub(super) fn run(
    args: &PruneArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let packages = store.packages();
    let superseded = packages.superseded()?;
    if superseded.is_empty() && !args.removal.json {
        console.line(text!(
            "Nothing to remove: every package is the newest of its version, or a run needs it.",
            "没有可删除的：每个包都是其版本中最新的，或有运行需要它。",
        ));
        return Ok(Outcome::Done);
    }
    let size = bytes(superseded.iter().map(|one| one.bytes).sum());
    let count = paint::counted(superseded.len(), ("old build", "个旧版本"));
    let question = say!("Remove {count} ({size})?", "要删除 {count}（{size}）吗？");
    if !removal::agreed(superseded.iter().map(line), &question, args.removal, console)? {
        return Ok(Outcome::Cancelled);
    }
    let mut removed = Removed::new(args.removal);
    for one in superseded {
        let name = line(&one);
        packages.remove(&FoundPackage::Installed(one), &mut || waiting(console))?;
        removed.report(&name, "", console);
    }
    Ok(removed.finish(console))
}

fn line(one: &Installed) -> String {
    let imported = one.imported.strftime("%Y-%m-%d %H:%M");
    say!(
        "{} {}  {}  imported {imported}",
        "{} {}  {}  导入于 {imported}",
        one.name,
        one.version,
        one.digest.short()
    )
}
