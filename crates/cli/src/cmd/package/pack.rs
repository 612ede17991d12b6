//! `crewagent package pack`: a folder becomes one file.

use std::path::PathBuf;

use anyhow::Context as _;
use crewagent_engine::inspect::inspect;
use crewagent_engine::pack::{PackError, pack};
use crewagent_engine::store::Store;

use crate::args::Pack;
use crate::console::Console;
use crate::outcome::{Outcome, Usage};
use crate::paint::{self, GOOD, NAME, QUIET};
use crate::render::{self, Amount};

pub(super) fn run(args: &Pack, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let limits = &store.settings().import;
    let shown = args.folder.display().to_string();
    if args.folder.is_file() {
        return Err(Usage(format!(
            "`{shown}` is a file; `pack` takes the folder that holds bmad.json"
        ))
        .into());
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None => default_name(args, store)?,
    };
    match pack(&args.folder, &output, limits) {
        Ok(packed) => {
            if !packed.findings.is_empty() {
                render::findings(&shown, &packed.findings, &packed.sources, Amount::Some, console);
            }
            let (from, to) =
                (paint::bytes(packed.unpacked_bytes), paint::bytes(packed.packed_bytes));
            let name = paint::styled(NAME, packed.path.display());
            console.line(format_args!(
                "{} {name} ({}, {from} → {to})",
                paint::styled(GOOD, "packed"),
                paint::counted(packed.files, "file")
            ));
            console.line(paint::styled(QUIET, format_args!("sha256 {}", packed.digest)));
            Ok(Outcome::Done)
        }
        Err(PackError::Rejected(rejection)) => {
            render::findings(
                &shown,
                &rejection.findings,
                &rejection.sources,
                Amount::Some,
                console,
            );
            Ok(Outcome::Invalid)
        }
        Err(error) => Err(error.into()),
    }
}

/// NAME-VERSION.bmad, or the folder's name while the manifest cannot be read: then packing reports why.
fn default_name(args: &Pack, store: &Store) -> anyhow::Result<PathBuf> {
    let inspected = inspect(&args.folder, &store.settings().import)?;
    let stem = match &inspected.package {
        Some(package) => format!("{}-{}", package.manifest().name, package.manifest().version),
        None => {
            let folder = args
                .folder
                .canonicalize()
                .with_context(|| format!("cannot find `{}`", args.folder.display()))?;
            folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
        }
    };
    let safe: String = stem
        .chars()
        .map(|c| if c.is_alphanumeric() || "-._+".contains(c) { c } else { '-' })
        .collect();
    Ok(PathBuf::from(format!("{}.bmad", safe.trim_start_matches(['.', '-']))))
}
