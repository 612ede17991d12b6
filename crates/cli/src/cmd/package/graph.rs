//! `crewagent package graph`: draws a workflow.

use std::path::Path;

use anyhow::Context as _;
use crewagent_draw::{self as draw, Diagram, Theme};
use crewagent_engine::store::Store;
use crewagent_format::integrity::MANIFEST;
use crewagent_format::package::sketch::WorkflowSketch;
use crewagent_format::package::{Package, Workflow};
use crewagent_format::path::PackagePath;
use crewagent_source::inspect::Inspected;

use crate::args::{GraphArgs, GraphFormat, GraphTheme};
use crate::console::Console;
use crate::language::{near, say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD};
use crate::render::{self, ReportOptions};

pub(super) fn run(
    args: &GraphArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let inspected = super::look_up(&args.package, store)?;
    let (diagram, outcome) = match &inspected.package {
        Some(package) => (of_package(package, args.workflow.as_deref())?, Outcome::Done),
        // A picture of what can be read helps to find the mistakes.
        None => {
            let name = args.package.to_string_lossy();
            let Inspected { findings, sources, sketches, .. } = &inspected;
            render::findings(&name, findings, sources, ReportOptions::ASIDE, console);
            let Some(diagram) = of_sketches(sketches, &name, args.workflow.as_deref()) else {
                return Ok(Outcome::Invalid);
            };
            (diagram, Outcome::Invalid)
        }
    };
    let drawing = draw(&diagram, format(args)?, args.theme);
    match &args.output {
        None => console.text(&drawing),
        Some(path) => {
            refuse_own_file(&args.package, &inspected, path)?;
            write(path, &drawing)?;
            console.line(format_args!(
                "{} {}",
                paint::styled(GOOD, text!("wrote", "已写入")),
                path.display()
            ));
        }
    }
    Ok(outcome)
}

fn of_package(package: &Package, id: Option<&str>) -> Result<Diagram, UsageError> {
    Ok(Diagram::of(choose(package, id)?, package))
}

fn of_sketches(sketches: &[WorkflowSketch], name: &str, id: Option<&str>) -> Option<Diagram> {
    let is_asked = |sketch: &&WorkflowSketch| match id {
        Some(id) => sketch.id.as_ref().is_some_and(|own| own.as_str() == id),
        None => true,
    };
    let sketch = sketches.iter().find(is_asked)?;
    (!sketch.nodes.is_empty()).then(|| Diagram::of_sketch(sketch, name))
}

fn choose<'p>(package: &'p Package, id: Option<&str>) -> Result<&'p Workflow, UsageError> {
    let workflows = package.workflows();
    let Some(id) = id else {
        return workflows.first().ok_or_else(|| {
            UsageError(text!("this package has no workflow", "这个包没有流程").into())
        });
    };
    package.workflow(id).ok_or_else(|| {
        let ids: Vec<&str> =
            workflows.iter().filter_map(|workflow| Some(workflow.id.as_ref()?.as_str())).collect();
        let known = if ids.is_empty() {
            text!(
                "it has only its default one; leave out --workflow",
                "它只有默认流程；去掉 --workflow"
            )
            .into()
        } else {
            say!("it has: {}", "它有：{}", ids.join(", "))
        };
        let near = near(id, ids);
        UsageError(say!(
            "this package has no workflow `{id}`{near}; {known}",
            "这个包没有流程 `{id}`{near}；{known}"
        ))
    })
}

/// Checks that the drawing does not replace its source.
fn refuse_own_file(
    reference: &Path,
    inspected: &Inspected,
    output: &Path,
) -> Result<(), UsageError> {
    let (Ok(root), Ok(output)) = (reference.canonicalize(), output.canonicalize()) else {
        return Ok(());
    };
    let Ok(inside) = output.strip_prefix(&root) else { return Ok(()) };
    let package = inspected.package.as_ref();
    let workflows = package.map(Package::workflows).unwrap_or_default().iter();
    let files = workflows.flat_map(|workflow| {
        let steps = workflow.graph.nodes().iter().map(|node| &node.file);
        [&workflow.document_path, &workflow.graph_path].into_iter().chain(steps)
    });
    let agents = package.map(|package| &package.manifest().entry.agents);
    let sketched = inspected.sketches.iter().flat_map(|sketch| &sketch.files);
    let own = files.chain(agents).chain(sketched).map(PackagePath::as_str);
    match own.chain([MANIFEST, "agents.json"]).find(|path| Path::new(path) == inside) {
        Some(path) => Err(UsageError(say!(
            "`{path}` is a file of the package; write the drawing elsewhere",
            "`{path}` 是包里的文件；请把图写到别处"
        ))),
        None => Ok(()),
    }
}

/// Replaces the file as a whole or not at all.
fn write(path: &Path, drawing: &str) -> anyhow::Result<()> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = || -> std::io::Result<()> {
        // Created beside the target with its default mode, then renamed.
        let staged = folder.join(format!(".crewagent-{}.tmp", std::process::id()));
        let result = std::fs::write(&staged, drawing).and_then(|()| std::fs::rename(&staged, path));
        if result.is_err() {
            let _ = std::fs::remove_file(&staged);
        }
        result
    };
    written().with_context(|| {
        say!(
            "cannot write `{}`; check that its folder exists and is writable",
            "无法写入 `{}`；请检查其文件夹是否存在、是否可写",
            path.display()
        )
    })
}

/// Returns the requested format, else the one of the output's extension, else Mermaid, which reads well as text.
fn format(args: &GraphArgs) -> Result<GraphFormat, UsageError> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let Some(path) = &args.output else { return Ok(GraphFormat::Mermaid) };
    match ending(path).as_str() {
        "svg" => Ok(GraphFormat::Svg),
        "dot" | "gv" => Ok(GraphFormat::Dot),
        "json" => Ok(GraphFormat::Json),
        "mmd" | "mermaid" | "md" => Ok(GraphFormat::Mermaid),
        other => Err(UsageError(say!(
            "what to draw is not clear from the ending {other:?}; add --format mermaid, dot, svg or json",
            "从扩展名 {other:?} 看不出要画成什么；请加上 --format mermaid、dot、svg 或 json"
        ))),
    }
}

fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Draws a workflow.
fn draw(diagram: &Diagram, format: GraphFormat, theme: GraphTheme) -> String {
    match format {
        GraphFormat::Mermaid => draw::mermaid(diagram),
        GraphFormat::Dot => draw::dot(diagram),
        GraphFormat::Json => draw::json(diagram),
        GraphFormat::Svg => {
            let theme = match theme {
                GraphTheme::Auto => Theme::Auto,
                GraphTheme::Light => Theme::Light,
                GraphTheme::Dark => Theme::Dark,
            };
            draw::svg(diagram, theme)
        }
    }
}
