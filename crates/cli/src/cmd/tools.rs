//! `crewagent tools`: prints the policy for tools as it is enforced.

use std::path::PathBuf;

use crewagent_core::policy::rules::Verdict;
use crewagent_core::policy::survey::{Decider, FolderRule, Layers, Limit, Surveyed};
use crewagent_engine::store::Store;
use serde_json::json;

use super::agent;
use super::run::{bounded, installed};
use crate::args::{ToolsArgs, ToolsCommand, ToolsListArgs};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, ERROR, GOOD, NAME, QUIET, WARNING};
use crate::render::table::{TableCell, table};

pub(crate) fn run(
    args: ToolsArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let args = args.command.map(|ToolsCommand::List(args)| *args).unwrap_or_default();
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
    console.text(&table(
        &[
            text!("TOOL", "工具"),
            text!("MAY BE USED", "可否使用"),
            text!("DECIDED BY", "由谁决定"),
            text!("LIMIT", "上限"),
        ],
        &rows,
    ));
    let folders: Vec<Vec<TableCell>> = layers.folders().iter().map(folder).collect();
    if !folders.is_empty() {
        console.line("");
        console.text(&table(
            &[
                text!("WRITING BELOW A FOLDER", "写入某文件夹之下"),
                text!("MAY BE DONE", "可否进行"),
                text!("DECIDED BY", "由谁决定"),
            ],
            &folders,
        ));
    }
    let Limit { value, by } = layers.call_seconds();
    let note = say!(
        "One call takes at most {value} seconds ({}).",
        "一次调用最多 {value} 秒（{}）。",
        name(by)
    );
    console.line(format_args!("\n{}", paint::styled(QUIET, note)));
    Ok(Outcome::Done)
}

fn verdict_cell(verdict: Verdict) -> TableCell {
    match verdict {
        Verdict::Allow => TableCell::new(GOOD, text!("yes", "是")),
        Verdict::Ask => TableCell::new(WARNING, text!("asks first", "先询问")),
        Verdict::Deny => TableCell::new(ERROR, text!("no", "否")),
    }
}

fn folder(rule: &FolderRule) -> Vec<TableCell> {
    let pattern = TableCell::new(NAME, &rule.pattern.to_string());
    vec![pattern, verdict_cell(rule.verdict), TableCell::new(QUIET, name(rule.by))]
}

fn row(tool: &Surveyed) -> Vec<TableCell> {
    let verdict = match tool.state_only {
        true => TableCell::new(WARNING, text!("for the state of the run", "仅用于运行的状态")),
        false => verdict_cell(tool.verdict),
    };
    let by = match &tool.rule {
        Some(rule) => say!("rule {}, {}", "规则 {}，{}", rule.pattern, name(tool.by)),
        None => name(tool.by).to_owned(),
    };
    let limit = tool.max_bytes.map_or_else(String::new, |Limit { value, by }| {
        let bytes = crewagent_source::bytes(value);
        say!("{bytes} ({})", "{bytes}（{}）", name(by))
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
        Decider::Settings => text!("settings", "设置"),
        Decider::Run => text!("command line", "命令行"),
        Decider::Agent => text!("agent", "智能体"),
        Decider::Runtime => text!("always there", "始终可用"),
    }
}
