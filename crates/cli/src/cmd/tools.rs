//! `crewagent tools`: prints the policy for tools as it is enforced.

use std::path::PathBuf;

use crewagent_core::policy::rules::Verdict;
use crewagent_core::policy::survey::{Decider, FolderRule, Layers, Limit, Surveyed};
use crewagent_engine::store::Store;
use serde_json::json;

use super::agent;
use super::run::{bounded, installed};
use crate::args::{ToolsCommand, ToolsListArgs};
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, ERROR, GOOD, NAME, QUIET, WARNING};
use crate::render::table::{TableCell, table};

pub(crate) fn run(
    command: ToolsCommand,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let ToolsCommand::List(args) = command;
    list(&args, home, console)
}

fn list(
    args: &ToolsListArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let store = Store::open(home)?;
    let package = match &args.package {
        None => None,
        Some(reference) => match installed(reference, &store, console)? {
            None => return Ok(Outcome::Invalid),
            Some(installed) => Some(store.packages().load(&installed)?),
        },
    };
    let agent = match (&args.agent, &package) {
        (Some(name), Some(package)) => Some(agent::named(name, package)?),
        (_, _) => None,
    };
    let settings = store.settings().for_runs();
    let run = bounded(settings.clone(), &args.bounds);
    let layers = Layers {
        settings: &settings.policy,
        run: &run.policy,
        agent: agent.and_then(|agent| agent.tools.as_ref()),
    };
    let servers = store.tool_servers().enabled();
    // The tools of a server are known only while it runs, and this command starts none.
    let rows = layers.survey(&servers, &[]);
    if args.json {
        let list = json!({
            "agentId": agent.map(|agent| agent.id.to_string()),
            "policy": layers.policy(),
            "callSeconds": layers.call_seconds(),
            "tools": rows,
        });
        console.line(paint::json(&list));
        return Ok(Outcome::Done);
    }
    let rows: Vec<Vec<TableCell>> = rows.iter().map(row).collect();
    console.text(&table(&["TOOL", "MAY BE USED", "DECIDED BY", "LIMIT"], &rows));
    let folders: Vec<Vec<TableCell>> = layers.folders().iter().map(folder).collect();
    if !folders.is_empty() {
        console.line("");
        console.text(&table(&["WRITING BELOW A FOLDER", "MAY BE DONE", "DECIDED BY"], &folders));
    }
    let Limit { value, by } = layers.call_seconds();
    let note = format!("One call takes at most {value} seconds ({}).", name(by));
    console.line(format_args!("\n{}", paint::styled(QUIET, note)));
    Ok(Outcome::Done)
}

fn verdict_cell(verdict: Verdict) -> TableCell {
    match verdict {
        Verdict::Allow => TableCell::new(GOOD, "yes"),
        Verdict::Ask => TableCell::new(WARNING, "asks first"),
        Verdict::Deny => TableCell::new(ERROR, "no"),
    }
}

fn folder(rule: &FolderRule) -> Vec<TableCell> {
    let pattern = TableCell::new(NAME, &rule.pattern.to_string());
    vec![pattern, verdict_cell(rule.verdict), TableCell::new(QUIET, name(rule.by))]
}

fn row(tool: &Surveyed) -> Vec<TableCell> {
    let verdict = match tool.state_only {
        true => TableCell::new(WARNING, "for the state of the run"),
        false => verdict_cell(tool.verdict),
    };
    let by = match &tool.rule {
        Some(rule) => format!("rule {}, {}", rule.pattern, name(tool.by)),
        None => name(tool.by).to_owned(),
    };
    let limit = tool.max_bytes.map_or_else(String::new, |Limit { value, by }| {
        let bytes = crewagent_source::bytes(value);
        format!("{bytes} ({})", name(by))
    });
    vec![
        TableCell::new(NAME, &tool.tool),
        verdict,
        TableCell::new(QUIET, &by),
        TableCell::new(QUIET, &limit),
    ]
}

fn name(by: Decider) -> &'static str {
    match by {
        Decider::Settings => "settings",
        Decider::Run => "command line",
        Decider::Agent => "agent",
        Decider::Runtime => "always there",
    }
}
