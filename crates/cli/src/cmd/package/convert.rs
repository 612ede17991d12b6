//! `crewagent package convert`: writes the package that is made of a foreign source.

use std::path::Path;

use crewagent_engine::store::{SourceOptions, Store};
use crewagent_source::author::write_converted;
use crewagent_source::inspect::Inspected;
use crewagent_source::pack::{PackOutput, pack_inspected};
use serde_json::json;

use super::validate::finding;
use crate::args::ConvertArgs;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};
use crate::render::{self, ReportOptions, source_report};

pub(super) fn run(
    args: &ConvertArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let options = SourceOptions { is_impersonal: !args.with_personal, ..args.options.options()? };
    let is_file = is_packed(&args.output);
    if is_file && !args.force && args.output.exists() {
        return Err(UsageError(say!(
            "`{}` is there already; add --force to replace it",
            "`{}` 已存在；加上 --force 可替换它",
            args.output.display()
        ))
        .into());
    }
    let (inspected, foreign) = store.packages().inspect_path(&args.source, &options)?;
    let name = args.source.display().to_string();
    let Inspected { source: Some(source), package: Some(package), findings, sources, .. } =
        &inspected
    else {
        let Inspected { findings, sources, .. } = &inspected;
        render::findings(&name, findings, sources, ReportOptions::ASIDE, console);
        console.error(text!("Nothing was written.", "没有写入任何内容。"));
        return Ok(Outcome::Invalid);
    };
    let Some(foreign) = foreign else {
        return Err(UsageError(say!(
            "`{name}` is a package already; `crewagent package pack` makes one file of it",
            "`{name}` 已经是包；用 `crewagent package pack` 可打成一个文件"
        ))
        .into());
    };
    let found: Vec<_> = findings.iter().map(|found| finding(found, &name)).collect();
    let mut report = json!({
        "name": package.manifest().name,
        "version": package.manifest().version,
        "output": args.output,
        "findings": found,
        "import": foreign.report,
    });
    if !args.json {
        console.text(&source_report::overview(&foreign.report, package));
        if findings.needs_attention() {
            render::findings(&name, findings, sources, ReportOptions::ASIDE, console);
        }
    }
    if is_file {
        let output = PackOutput::File(&args.output);
        let packed = pack_inspected(inspected, None, output, &store.settings().import)?;
        report["sha256"] = json!(packed.digest);
    } else {
        write_converted(&args.output, source, args.force)?;
    }
    if args.json {
        console.line(paint::json(&report));
    } else {
        let (wrote, output) = (text!("wrote", "已写入"), args.output.display().to_string());
        let output = paint::styled(NAME, paint::printable(&output));
        console.line(format_args!("{} {output}", paint::styled(GOOD, wrote)));
    }
    Ok(Outcome::Done)
}

/// Returns true if the output is one file.
fn is_packed(output: &Path) -> bool {
    output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bmad")) && !output.is_dir()
}
