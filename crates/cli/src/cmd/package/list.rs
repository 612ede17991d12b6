//! `crewagent package list`: lists the packages in the store.

use anstyle::Style;
use crewagent_engine::store::{Installed, Store};
use crewagent_source::bytes;
use serde_json::json;

use crate::args::ListArgs;
use crate::console::Console;
use crate::language::text;
use crate::outcome::Outcome;
use crate::paint::{self, NAME, QUIET, WARNING};
use crate::render::table::{TableCell, table};
use crate::when::date;

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
    let row = |package: &Installed| {
        vec![
            TableCell::new(NAME, &package.name),
            TableCell::new(Style::new(), &package.version.to_string()),
            TableCell::whole(QUIET, &package.digest.short()),
            TableCell::new(QUIET, &date(package.imported)),
            TableCell::right(QUIET, &bytes(package.bytes)),
        ]
    };
    let rows: Vec<Vec<TableCell>> = listing.installed.iter().map(row).collect();
    if !rows.is_empty() {
        let heading = [
            text!("PACKAGE", "包"),
            text!("VERSION", "版本"),
            text!("DIGEST", "摘要"),
            text!("IMPORTED", "导入日期"),
            text!("SIZE", "大小"),
        ];
        console.text(&table(&heading, &rows));
    }
    for damaged in &listing.damaged {
        let text = paint::printable(&damaged.to_string());
        console.line(format_args!("{} {text}", paint::styled(WARNING, text!("damaged", "已损坏"))));
    }
    Ok(Outcome::Done)
}

pub(super) fn as_json(package: &Installed) -> serde_json::Value {
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
