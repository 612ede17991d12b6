//! `crewagent demo`: what CrewAgent does with a package, offline, in a scratch folder.

mod example;

use anyhow::{Context as _, anyhow};
use crewagent_engine::author;
use crewagent_engine::pack::{Output, pack};
use crewagent_engine::source::bytes;
use crewagent_engine::store::Store;

use super::package::{graph_of, import_verdict, look_up};
use crate::args::{GraphFormat, GraphTheme};
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME, QUIET};
use crate::render::{self, Manner};

pub(crate) fn run(console: &mut Console) -> anyhow::Result<Outcome> {
    let scratch = tempfile::Builder::new()
        .prefix("crewagent-demo-")
        .tempdir()
        .context("cannot make a scratch folder")?
        .keep();
    let folder = scratch.join("create-story-micro");
    author::write(&folder, &example::files())?;
    heading(
        1,
        "Validate",
        "A package is a folder: a manifest, agents, a graph and small Markdown steps.",
        console,
    );
    let store = Store::open(Some(scratch.join("store")))?;
    let inspected = look_up(&folder, &store)?;
    render::findings(
        "create-story-micro",
        &inspected.findings,
        &inspected.sources,
        Manner::RESULT,
        console,
    );
    let package =
        inspected.package.ok_or_else(|| anyhow!("the example package of this build is broken"))?;

    heading(
        2,
        "A mistake, explained",
        "One edge is misspelled; this is what the author sees.",
        console,
    );
    let broken = scratch.join("broken");
    author::write(&broken, &example::broken_files())?;
    let report = look_up(&broken, &store)?;
    render::findings(
        "create-story-micro (broken)",
        &report.findings,
        &report.sources,
        Manner::RESULT,
        console,
    );

    heading(3, "Pack", "The same files always give the same bytes, with a digest inside.", console);
    let archive = scratch.join("create-story-micro-0.1.0.bmad");
    let packed = pack(&folder, Output::File(&archive), &store.settings().import)?;
    console.line(format_args!(
        "{} {} ({})",
        paint::styled(GOOD, "packed"),
        archive.display(),
        bytes(packed.packed_bytes)
    ));
    console.line(paint::styled(QUIET, format_args!("sha256 {}", packed.digest)));

    heading(
        4,
        "Import",
        "Into a store: content-addressed, read-only, whole or not at all. Twice changes nothing.",
        console,
    );
    for path in [&archive, &folder] {
        let imported = store.packages().import(path, &mut || {})?;
        let verdict = import_verdict(imported.outcome);
        console.line(format_args!("{} {}", paint::styled(GOOD, verdict), path.display()));
    }

    heading(5, "Draw", "The graph is the one truth about legal moves.", console);
    for (name, format) in [("graph.svg", GraphFormat::Svg), ("graph.mmd", GraphFormat::Mermaid)] {
        let path = scratch.join(name);
        let drawing = graph_of(&package, format, GraphTheme::Auto)?;
        std::fs::write(&path, &drawing)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        console.line(format_args!("{} {}", paint::styled(GOOD, "wrote"), path.display()));
        if format == GraphFormat::Mermaid {
            console.line("");
            console.text(&drawing);
        }
    }
    console.line(format_args!("\nEverything is in {}", paint::styled(NAME, scratch.display())));
    console.line("Next: `crewagent package new my-workflow` makes a package of your own.");
    Ok(Outcome::Done)
}

fn heading(number: usize, title: &str, text: &str, console: &mut Console) {
    let title = paint::styled(NAME, format_args!("{number}. {title}"));
    console.line(format_args!("\n{title}  {}\n", paint::styled(QUIET, text)));
}
