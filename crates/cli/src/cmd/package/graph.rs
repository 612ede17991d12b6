//! `crewagent package graph`: a workflow as a picture.

use std::path::Path;

use anyhow::Context as _;
use crewagent_core::draw::{self, Theme};
use crewagent_core::package::{Package, Workflow};
use crewagent_engine::store::Store;

use crate::args::{Graph, GraphFormat, GraphTheme};
use crate::console::Console;
use crate::outcome::{Outcome, Usage};
use crate::paint::{self, GOOD};

pub(super) fn run(args: &Graph, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let Some(package) = super::load(&args.package, store, console)? else {
        return Ok(Outcome::Invalid);
    };
    let workflow = choose(&package, args.workflow.as_deref())?;
    let drawing = draw(workflow, &package, format(args)?, args.theme);
    match &args.output {
        None => console.text(&drawing),
        Some(path) => {
            std::fs::write(path, drawing)
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            console.line(format_args!("{} {}", paint::styled(GOOD, "wrote"), path.display()));
        }
    }
    Ok(Outcome::Done)
}

fn choose<'p>(package: &'p Package, id: Option<&str>) -> Result<&'p Workflow, Usage> {
    let workflows = package.workflows();
    let Some(id) = id else {
        return workflows.first().ok_or_else(|| Usage("this package has no workflow".into()));
    };
    package.workflow(id).ok_or_else(|| {
        let ids: Vec<&str> =
            workflows.iter().filter_map(|workflow| Some(workflow.id.as_ref()?.as_str())).collect();
        let known = if ids.is_empty() {
            "it has only its default one; leave out --workflow".into()
        } else {
            format!("it has: {}", ids.join(", "))
        };
        Usage(format!("this package has no workflow {id:?}; {known}"))
    })
}

/// What was asked for, else what the output's ending says, else Mermaid, which reads well as text.
fn format(args: &Graph) -> Result<GraphFormat, Usage> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(path) = &args.output else { return Ok(GraphFormat::Mermaid) };
    match ending(path).as_str() {
        "svg" => Ok(GraphFormat::Svg),
        "dot" | "gv" => Ok(GraphFormat::Dot),
        "json" => Ok(GraphFormat::Json),
        "mmd" | "mermaid" | "md" => Ok(GraphFormat::Mermaid),
        other => Err(Usage(format!(
            "what to draw is not clear from the ending {other:?}; add --format mermaid, dot, svg or json"
        ))),
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Draws a workflow.
pub(super) fn draw(
    workflow: &Workflow,
    package: &Package,
    format: GraphFormat,
    theme: GraphTheme,
) -> String {
    let diagram = workflow.diagram(package);
    match format {
        GraphFormat::Mermaid => draw::mermaid(&diagram),
        GraphFormat::Dot => draw::dot(&diagram),
        GraphFormat::Json => draw::json(&diagram),
        GraphFormat::Svg => {
            let theme = match theme {
                GraphTheme::Auto => Theme::Auto,
                GraphTheme::Light => Theme::Light,
                GraphTheme::Dark => Theme::Dark,
            };
            draw::svg(&diagram, theme)
        }
    }
}
