//! `crewagent package rm`: removes packages from the store, damaged ones too.

use crewagent_engine::store::{FoundPackage, NeededBy, Store};

use super::import::waiting;
use crate::args::RmArgs;
use crate::cmd::removal::{self, Removed};
use crate::console::Console;
use crate::language::{say, text};
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
                "{}",
                say!(
                    "the package {name} is in use by {first}; stop it, and remove the package then",
                    "包 {name} 正被 {first} 使用；请先停止它，再删除包"
                )
            );
        }
        if !args.force && !needed.runs.is_empty() {
            return Err(UsageError(refusal(&one, &needed)).into());
        }
        found.push((one, needed));
    }
    let question =
        say!("Remove {}?", "要删除 {}吗？", paint::counted(found.len(), ("package", "个包")));
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
        [one] => (
            say!("the unfinished run {one} needs it", "未完成的运行 {one} 需要它"),
            text!("that run", "该运行"),
        ),
        _ => (
            say!("the unfinished runs {} need it", "未完成的运行 {} 需要它", runs.join(", ")),
            text!("those runs", "这些运行"),
        ),
    };
    say!(
        "the package {name} is not removed: {which}; finish {them} with `crewagent resume {first}` or remove with `crewagent runs rm {first}`, or add --force to remove the package all the same",
        "没有删除包 {name}：{which}；请用 `crewagent resume {first}` 完成{them}，或用 `crewagent runs rm {first}` 删除；加上 --force 则仍然删除包",
        first = runs.first().copied().unwrap_or_default()
    )
}

/// Describes a package and what cannot be resumed without it.
fn line((found, needed): &(FoundPackage, NeededBy)) -> String {
    let mut text = name(found);
    if let FoundPackage::Installed(installed) = found {
        let imported = installed.imported.strftime("%Y-%m-%d %H:%M");
        text.push_str(&say!(
            "  {}  imported {imported}",
            "  {}  导入于 {imported}",
            installed.digest.short()
        ));
    }
    let lost = [
        (needed.runs.len(), ("unfinished run", "次未完成的运行")),
        (needed.conversations, ("conversation", "个对话")),
    ];
    let lost = lost.iter().filter(|(count, _)| *count > 0);
    let lost: Vec<String> = lost.map(|(count, what)| paint::counted(*count, *what)).collect();
    if !lost.is_empty() {
        text.push_str(&say!(
            "  {} cannot be resumed without it",
            "  没有它，{} 无法继续",
            lost.join(text!(" and ", "和 "))
        ));
    }
    text
}

fn name(found: &FoundPackage) -> String {
    match found {
        FoundPackage::Installed(installed) => format!("{} {}", installed.name, installed.version),
        FoundPackage::Damaged(damaged) => damaged.folder_name(),
    }
}
