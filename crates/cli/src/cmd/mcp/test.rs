//! `crewagent mcp test`: the way to the tools of a server, step by step.

use std::time::Duration;

use crewagent_core::tool::served::ServedTool;
use crewagent_engine::deadline::Deadline;
use crewagent_engine::mcp::McpServer;
use crewagent_engine::model::Cancel;
use crewagent_engine::servers::{Layer, Offer, ServerFault, ToolServer as _};
use crewagent_engine::store::Store;
use serde_json::{Value as Json, json};

use super::{find, way};
use crate::args::McpTest;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, ERROR, GOOD, NAME, QUIET};
use crate::render::flow::{Width, indented};

/// A server has a time of its own; this one is for a server that does not keep to it.
const LONGEST: Duration = Duration::from_secs(3600);
/// Where messages stand: behind the verdict and the name.
const BEHIND: usize = 20;
/// Resources that are shown.
const MOST_RESOURCES: usize = 20;
/// The steps, in their order.
const LAYERS: [Layer; 4] = [Layer::Settings, Layer::Start, Layer::Handshake, Layer::List];

pub(super) fn run(args: &McpTest, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let (name, settings) = find(&args.name, store)?;
    if !args.json {
        let facts = format!("{name} ({})", way(&settings));
        let facts = paint::styled(NAME, paint::printable(&facts));
        console.line(format_args!("Trying out {facts}\n"));
        console.show();
    }
    let server = McpServer::new(name.clone(), settings, store.secrets());
    server.wake();
    let offer = server.offer(&Deadline::after(LONGEST, &Cancel::default()));
    let failed = offer.listed.as_ref().err();
    let logs = server.logs().after(&mut 0);
    if args.json {
        let log: Vec<String> = logs.into_iter().map(|line| line.text).collect();
        let mut report = as_json(&offer, failed);
        report["server"] = name.as_str().into();
        report["log"] = log.into();
        console.line(paint::json(&report));
    } else {
        steps(failed, &offer, console);
        match &offer.listed {
            Ok(listed) => offered(&listed.tools, &listed.left_out, &offer, console),
            Err(_) => {
                for line in logs.iter().rev().take(10).rev() {
                    let line = format!("  {}", paint::printable(&line.text));
                    console.line(paint::styled(QUIET, line));
                }
            }
        }
    }
    Ok(if failed.is_none() { Outcome::Done } else { Outcome::Failed })
}

fn failed_at(fault: Option<&ServerFault>) -> Option<Layer> {
    match fault? {
        ServerFault::Unavailable { layer, .. } => Some(*layer),
        ServerFault::TimedOut
        | ServerFault::Stopped
        | ServerFault::Lost(_)
        | ServerFault::Refused { .. } => Some(Layer::List),
    }
}

fn steps(fault: Option<&ServerFault>, offer: &Offer, console: &mut Console) {
    let stopped = failed_at(fault);
    for layer in LAYERS {
        let (style, verdict, message) = match stopped {
            Some(at) if layer == at => {
                (ERROR, "failed", fault.map(ToString::to_string).unwrap_or_default())
            }
            Some(at) if layer > at => (QUIET, "skipped", String::new()),
            Some(_) | None => (GOOD, "ok", told(layer, offer)),
        };
        let verdict = paint::styled(style, paint::padded(verdict, 7));
        let word = paint::styled(NAME, paint::padded(layer.word(), 9));
        let message = indented(&paint::printable(&message), BEHIND, paint::text_width());
        let line = format!("{verdict}  {word}  {message}");
        console.line(line.trim_end());
    }
    if let Some(layer) = stopped {
        console.line(format_args!("\nIt fails at: {}", layer.word()));
    }
}

/// What a step that worked brought.
fn told(layer: Layer, offer: &Offer) -> String {
    match (layer, &offer.listed) {
        (Layer::Handshake, _) if !offer.about.title.is_empty() => {
            format!("{}, protocol {}", offer.about.title, offer.about.protocol)
        }
        (Layer::List, Ok(listed)) => {
            let tools = paint::counted(listed.tools.len(), "tool");
            format!("{tools}, {}", paint::counted(offer.resources.len(), "resource"))
        }
        (Layer::Settings | Layer::Start | Layer::Handshake | Layer::List, _) => String::new(),
    }
}

fn offered(tools: &[ServedTool], left_out: &[String], offer: &Offer, console: &mut Console) {
    console.line("");
    for tool in tools {
        let name = tool.name();
        let about = tool.description.lines().next().unwrap_or_default();
        let room = match paint::text_width() {
            Width::Columns(columns) => columns.saturating_sub(name.len() + 4).max(24),
            Width::Endless => 120,
        };
        let about = paint::fitted(&paint::printable(about), room);
        let name = paint::styled(NAME, paint::printable(&name));
        console.line(format_args!("  {name}  {}", paint::styled(QUIET, about)));
    }
    for what in left_out {
        let what = paint::styled(QUIET, format!("  left out {}", paint::printable(what)));
        console.line(what);
    }
    if !offer.resources.is_empty() {
        console.line("\nResources:");
    }
    for resource in offer.resources.iter().take(MOST_RESOURCES) {
        let name = paint::styled(QUIET, paint::printable(&resource.name));
        console.line(format_args!("  {}  {name}", paint::printable(&resource.uri)));
    }
    if let Some(more @ 1..) = offer.resources.len().checked_sub(MOST_RESOURCES) {
        console.line(format_args!("  and {more} more"));
    }
    console.line("\nThe server works.");
}

fn as_json(offer: &Offer, fault: Option<&ServerFault>) -> Json {
    let listed = offer.listed.as_ref().ok();
    let tools: Vec<Json> = listed
        .into_iter()
        .flat_map(|listed| &listed.tools)
        .map(|tool| {
            json!({
                "name": tool.name(),
                "description": tool.description,
                "parameters": tool.parameters,
            })
        })
        .collect();
    let resources: Vec<Json> = offer
        .resources
        .iter()
        .map(|resource| json!({ "uri": resource.uri, "name": resource.name }))
        .collect();
    json!({
        "server": null,
        "ok": fault.is_none(),
        "failed": failed_at(fault),
        "problem": fault.map(ToString::to_string),
        "about": offer.about.title,
        "protocol": offer.about.protocol,
        "tools": tools,
        "leftOut": listed.map(|listed| &listed.left_out),
        "resources": resources,
    })
}
