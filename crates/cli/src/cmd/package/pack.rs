//! `crewagent package pack`: packs a folder into one file.

use std::path::Path;

use crewagent_engine::store::Store;
use crewagent_format::version::Minor;
use crewagent_source::bytes;
use crewagent_source::pack::{LeftOut, PackError, PackOutput, pack_as};
use serde_json::json;

use crate::args::{FormatVersion, PackArgs};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME, QUIET};
use crate::render::{self, Amount, ReportOptions};

pub(super) fn run(
    args: &PackArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let shown = args.folder.display().to_string();
    if args.folder.is_file() {
        return Err(UsageError(say!(
            "`{shown}` is a file; `pack` takes the folder that holds bmad.json",
            "`{shown}` 是文件；`pack` 需要含有 bmad.json 的文件夹"
        ))
        .into());
    }
    let output = args.output.as_deref().map_or(PackOutput::Folder(Path::new("")), PackOutput::File);
    let version = match args.format {
        Some(FormatVersion::V1_1) => Minor::V1_1,
        Some(FormatVersion::V1_2) => Minor::V1_2,
        Some(FormatVersion::V1_3) | None => Minor::V1_3,
    };
    match pack_as(&args.folder, output, &store.settings().import, version) {
        Ok(packed) => {
            let LeftOut { notes, sources } = &packed.left_out;
            if !notes.is_empty() {
                let options = ReportOptions { amount: Amount::All, ..ReportOptions::ASIDE };
                render::findings(&shown, notes, sources, options, console);
            }
            if packed.findings.needs_attention() {
                render::findings(
                    &shown,
                    &packed.findings,
                    &packed.sources,
                    ReportOptions::ASIDE,
                    console,
                );
            }
            if args.json {
                console.line(paint::json(&json!({
                    "path": packed.path,
                    "sha256": packed.digest,
                    "files": packed.files,
                    "bytes": packed.unpacked_bytes,
                    "packedBytes": packed.packed_bytes,
                    "leftOut": notes.iter().map(|note| super::validate::finding(note, &shown)).collect::<Vec<_>>(),
                })));
                return Ok(Outcome::Done);
            }
            let (from, to) = (bytes(packed.unpacked_bytes), bytes(packed.packed_bytes));
            let name = paint::styled(NAME, packed.path.display());
            let files = paint::counted(packed.files, ("file", "个文件"));
            console.line(format_args!(
                "{} {name} ({files}, {from} → {to})",
                paint::styled(GOOD, text!("packed", "已打包"))
            ));
            console.line(paint::styled(QUIET, format_args!("sha256 {}", packed.digest)));
            Ok(Outcome::Done)
        }
        Err(PackError::Rejected(rejection)) => {
            render::findings(
                &shown,
                &rejection.findings,
                &rejection.sources,
                ReportOptions::ASIDE,
                console,
            );
            Ok(Outcome::Invalid)
        }
        Err(error) => Err(error.into()),
    }
}
