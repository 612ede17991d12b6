//! `crewagent mcp test`: tests the connection to a tool server, step by step.

use std::time::Duration;

use crewagent_adapters::chat::StepStatus;
use crewagent_adapters::mcp::{ConnectionTest, test_connection};
use crewagent_core::tool::server_tool::ServerTool;
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::store::Store;
use crewagent_engine::tool_server::ServerOffer;
use serde_json::{Value as Json, json};

use super::problem;
use crate::args::McpTestArgs;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, ERROR, GOOD, NAME, QUIET};
use crate::render::flow::{Width, indented};

/// A server has its own timeout; this one is for a server that exceeds it.
const LONGEST: Duration = Duration::from_secs(3600);
/// The column of messages, behind the verdict and the name.
const BEHIND: usize = 20;
/// Maximum of resources shown.
const MOST_RESOURCES: usize = 20;

/// Maximum of log lines shown after a failure.
const MOST_LINES: usize = 10;

pub(super) fn run(
    args: &McpTestArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let (name, settings) = store.tool_servers().find(&args.name).map_err(problem)?;
    if !args.json {
        let title = format!("{name} ({})", settings.way.line());
        let title = paint::styled(NAME, paint::printable(&title));
        console.line(say!("Trying out {title}\n", "正在测试 {title}\n"));
        console.show();
    }
    let deadline = Deadline::after(LONGEST, &Cancel::default());
    let found = test_connection(name.clone(), settings.clone(), store.secrets(), &deadline);
    if args.json {
        let mut report = as_json(&found);
        report["server"] = name.as_str().into();
        console.line(paint::json(&report));
    } else {
        steps(&found, console);
        match &found.offer.listed {
            Ok(listed) => offered(&listed.tools, &listed.left_out, &found.offer, console),
            Err(_) => {
                for line in found.log.iter().rev().take(MOST_LINES).rev() {
                    let line = format!("  {}", paint::printable(&line.text));
                    console.line(paint::styled(QUIET, line));
                }
            }
        }
    }
    Ok(if found.failed().is_none() { Outcome::Done } else { Outcome::Failed })
}

fn steps(found: &ConnectionTest, console: &mut Console) {
    for step in &found.steps {
        let (style, verdict) = match step.status {
            StepStatus::Ok => (GOOD, text!("ok", "通过")),
            StepStatus::Failed => (ERROR, text!("failed", "失败")),
            StepStatus::Skipped => (QUIET, text!("skipped", "跳过")),
        };
        let verdict = paint::styled(style, paint::padded(verdict, 7));
        let word = paint::styled(NAME, paint::padded(step.layer.word(), 9));
        let message = indented(&paint::printable(&step.message), BEHIND, paint::text_width());
        let line = format!("{verdict}  {word}  {message}");
        console.line(line.trim_end());
    }
    if let Some(step) = found.failed() {
        console.line(say!("\nIt fails at: {}", "\n失败于：{}", step.layer.word()));
    }
}

fn offered(tools: &[ServerTool], left_out: &[String], offer: &ServerOffer, console: &mut Console) {
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
        let what = paint::styled(QUIET, say!("  left out {}", "  略去 {}", paint::printable(what)));
        console.line(what);
    }
    if !offer.resources.is_empty() {
        console.line(text!("\nResources:", "\n资源："));
    }
    for resource in offer.resources.iter().take(MOST_RESOURCES) {
        let name = paint::styled(QUIET, paint::printable(&resource.name));
        console.line(format_args!("  {}  {name}", paint::printable(&resource.uri)));
    }
    if let Some(more @ 1..) = offer.resources.len().checked_sub(MOST_RESOURCES) {
        console.line(say!("  and {more} more", "  另有 {more} 个"));
    }
    console.line(text!("\nThe server works.", "\n服务器工作正常。"));
}

fn as_json(found: &ConnectionTest) -> Json {
    let (offer, failed) = (&found.offer, found.failed());
    let log: Vec<&str> = found.log.iter().map(|line| line.text.as_str()).collect();
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
        "ok": failed.is_none(),
        "failed": failed.map(|step| step.layer),
        "problem": failed.map(|step| &step.message),
        "about": offer.about.title,
        "protocol": offer.about.protocol,
        "tools": tools,
        "leftOut": listed.map(|listed| &listed.left_out),
        "resources": resources,
        "log": log,
    })
}
