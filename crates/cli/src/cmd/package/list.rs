//! `crewagent package list`: lists the packages in the store.

use crewagent_engine::store::{Installed, Store};
use crewagent_source::bytes;
use serde_json::json;
use unicode_width::UnicodeWidthStr as _;

use crate::args::ListArgs;
use crate::console::Console;
use crate::language::text;
use crate::outcome::Outcome;
use crate::paint::{self, NAME, QUIET, WARNING};

pub(super) fn run(
    args: &ListArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let listing = store.packages().list()?;
    if args.json {
        let packages: Vec<_> = listing.installed.iter().map(as_json).collect();
        let damaged: Vec<_> = listing
            .damaged
            .iter()
            .map(|damaged| json!({ "folder": damaged.folder, "reason": damaged.reason }))
            .collect();
        console.line(paint::json(&json!({ "packages": packages, "damaged": damaged })));
        return Ok(Outcome::Done);
    }
    if listing.installed.is_empty() && listing.damaged.is_empty() {
        console.line(text!("No packages yet. Import one with `crewagent package import PACKAGE`, or make one with `crewagent package new`.", "还没有包。用 `crewagent package import PACKAGE` 导入，或用 `crewagent package new` 新建。"));
    }
    let names: Vec<String> =
        listing.installed.iter().map(|package| paint::printable(&package.name)).collect();
    let name_width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let version_width = listing
        .installed
        .iter()
        .map(|package| package.version.to_string().len())
        .max()
        .unwrap_or(0);
    for (package, name) in listing.installed.iter().zip(&names) {
        let pad = " ".repeat(name_width - name.width());
        let version = format!("{:version_width$}", package.version.to_string());
        let date = package.imported.to_string().chars().take(10).collect::<String>();
        let details = format!("{}  {date}  {}", package.digest.short(), bytes(package.bytes));
        console.line(format_args!(
            "{}{pad}  {version}  {}",
            paint::styled(NAME, name),
            paint::styled(QUIET, details)
        ));
    }
    for damaged in &listing.damaged {
        let text = paint::printable(&damaged.to_string());
        console.line(format_args!("{} {text}", paint::styled(WARNING, text!("damaged", "已损坏"))));
    }
    Ok(Outcome::Done)
}

fn as_json(package: &Installed) -> serde_json::Value {
    json!({
        "name": package.name,
        "version": package.version,
        "sha256": package.digest.to_string(),
        "imported": package.imported.to_string(),
        "origin": package.origin,
        "files": package.files,
        "bytes": package.bytes,
        "folder": package.folder,
    })
}
