//! `crewagent package show`: describes a package on one screen.

use crewagent_engine::store::Store;
use crewagent_format::package::agents::{Agent, MenuItem};
use crewagent_format::package::graph::NodeKind;
use crewagent_format::package::{Package, Workflow};
use serde_json::{Value as Json, json};

use crate::args::ShowArgs;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, NAME, QUIET, WARNING};

pub(super) fn run(
    args: &ShowArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let Some(loaded) = super::load(&args.package, store, console)? else {
        return Ok(Outcome::Invalid);
    };
    if args.json {
        console.line(paint::json(&as_json(&loaded.package)));
        return Ok(Outcome::Done);
    }
    human(&loaded.package, console);
    if loaded.warnings > 0 {
        let count = paint::styled(WARNING, paint::counted(loaded.warnings, ("warning", "个警告")));
        console.line(say!(
            "\n{count}; see them with `crewagent package validate {}`",
            "\n{count}；用 `crewagent package validate {}` 查看",
            args.package.display()
        ));
    }
    Ok(Outcome::Done)
}

fn human(package: &Package, console: &mut Console) {
    let manifest = package.manifest();
    let title = format!("{} {}", paint::printable(&manifest.name), manifest.version);
    console.line(paint::styled(NAME, title));
    for text in [&manifest.description, &manifest.author].into_iter().flatten() {
        console.line(paint::printable(text));
    }
    let network = manifest.runtime.as_ref().and_then(|needs| needs.requires_network);
    let network =
        if network == Some(true) { text!(", needs the network", "，需要联网") } else { "" };
    console.line(paint::styled(
        QUIET,
        say!("format {}{network}", "格式 {}{network}", manifest.schema_version),
    ));
    console.line(format_args!("\n{}", paint::styled(NAME, text!("Workflows", "流程"))));
    for (index, workflow) in package.workflows().iter().enumerate() {
        show_workflow(workflow, index == 0 && package.workflows().len() > 1, console);
    }
    console.line(format_args!("\n{}", paint::styled(NAME, text!("Agents", "智能体"))));
    for agent in package.agents() {
        show_agent(agent, console);
    }
}

fn show_workflow(workflow: &Workflow, is_default: bool, console: &mut Console) {
    let graph = &workflow.graph;
    let count = |kind: NodeKind| graph.nodes().iter().filter(|node| node.kind == kind).count();
    let mut details = vec![
        paint::counted(graph.nodes().len(), ("node", "个节点")),
        paint::counted(graph.edges().len(), ("edge", "条边")),
    ];
    for (kind, word) in [
        (NodeKind::Decision, ("decision", "个判断")),
        (NodeKind::Subworkflow, ("sub-workflow call", "处子流程调用")),
    ] {
        if count(kind) > 0 {
            details.push(paint::counted(count(kind), word));
        }
    }
    let id = workflow.id.as_ref().map(|id| format!("{id}  ")).unwrap_or_default();
    let default = if is_default { text!(" (default)", "（默认）") } else { "" };
    let name = workflow.display_name.as_deref().unwrap_or(&workflow.front.workflow_type);
    console.line(format_args!("  {}{}{default}", paint::styled(NAME, id), paint::printable(name)));
    console.line(format_args!("    {}", paint::styled(QUIET, details.join(text!(", ", "，")))));
    for node in graph.nodes() {
        let title = node.title.as_deref().map(paint::printable).unwrap_or_default();
        let kind = if node.kind == NodeKind::Step {
            String::new()
        } else {
            format!(" [{}]", node.kind.word())
        };
        let calls = workflow
            .calls
            .get(&node.id)
            .map(|call| format!(" → {}", call.workflow))
            .unwrap_or_default();
        console.line(format_args!(
            "    {}{}{calls}  {}",
            node.id,
            paint::styled(QUIET, kind),
            paint::styled(QUIET, title)
        ));
    }
}

fn show_agent(agent: &Agent, console: &mut Console) {
    let metadata = &agent.metadata;
    let name =
        paint::printable(&format!("{} {}, {}", metadata.icon, metadata.name, metadata.title));
    console.line(format_args!("  {}  {}", paint::styled(NAME, &agent.id), name));
    for (index, item) in agent.menu.iter().enumerate() {
        let trigger = item
            .trigger
            .as_deref()
            .or(item.cmd.as_deref())
            .map(|word| format!("{word}: "))
            .unwrap_or_default();
        console.line(format_args!(
            "    {}. {}",
            index + 1,
            paint::printable(&format!("{trigger}{}", item.description))
        ));
    }
}

fn as_json(package: &Package) -> Json {
    let workflow = |workflow: &Workflow| {
        json!({
            "id": workflow.id,
            "displayName": workflow.display_name,
            "description": workflow.description,
            "workflow": workflow.document_path,
            "graph": workflow.graph,
            "calls": workflow.calls.iter().map(|(node, call)| (node.to_string(), json!(call.workflow))).collect::<serde_json::Map<_, _>>(),
        })
    };
    let menu =
        |item: &MenuItem| json!({ "trigger": item.trigger, "description": item.description });
    let agent = |agent: &Agent| json!({ "id": agent.id, "metadata": agent.metadata, "menu": agent.menu.iter().map(menu).collect::<Vec<_>>() });
    json!({
        "manifest": package.manifest(),
        "workflows": package.workflows().iter().map(workflow).collect::<Vec<_>>(),
        "agents": package.agents().iter().map(agent).collect::<Vec<_>>(),
    })
}
