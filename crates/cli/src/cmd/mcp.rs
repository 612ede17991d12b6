//! `crewagent mcp …`: manages and tests tool servers.

mod add;
mod list;
mod rm;
mod test;

use std::path::PathBuf;

use crewagent_core::tool::server_tool::ServerName;
use crewagent_engine::store::{KnownServersError, SettingsError, Store};
use serde_json::json;

use crate::args::{McpArgs, McpCommand, McpNamesArgs};
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::model;
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};

pub(crate) fn run(
    args: McpArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let store = Store::open(home)?;
    match args.command.unwrap_or(McpCommand::List(args.list)) {
        McpCommand::List(args) => list::run(&args, &store, console),
        McpCommand::Add(args) => add::run(args, &store, console),
        McpCommand::Test(args) => test::run(&args, &store, console),
        McpCommand::Enable(args) => switch(&args, Switch::On, &store, console),
        McpCommand::Disable(args) => switch(&args, Switch::Off, &store, console),
        McpCommand::Rm(args) => rm::run(&args, &store, console),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// Enables or disables servers for runs.
fn switch(
    args: &McpNamesArgs,
    switch: Switch,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let servers = store.tool_servers();
    let names = servers.find_all(&args.names).map_err(problem)?;
    servers.switch(&names, switch == Switch::On).map_err(problem)?;
    if args.json {
        let names: Vec<&str> = names.iter().map(ServerName::as_str).collect();
        let enabled = switch == Switch::On;
        console.line(paint::json(&json!({ "servers": names, "enabled": enabled })));
        return Ok(Outcome::Done);
    }
    let word = if switch == Switch::On {
        text!("enabled", "已启用")
    } else {
        text!("disabled", "已停用")
    };
    for name in &names {
        console.line(format_args!("{} {}", paint::styled(GOOD, word), paint::styled(NAME, name)));
    }
    if switch == Switch::On {
        remind(&names, store, console);
    }
    Ok(Outcome::Done)
}

/// Turns errors that the user can fix into usage errors; IO errors stay as they are.
fn problem(error: KnownServersError) -> anyhow::Error {
    match error {
        KnownServersError::Unknown { .. } => UsageError(say!(
            "{}; `crewagent mcp list` shows what there is",
            "{}；`crewagent mcp list` 列出所有服务器",
            shown(&error)
        ))
        .into(),
        KnownServersError::Settings(error @ SettingsError::Wrong { .. }) => {
            UsageError(shown(&error)).into()
        }
        KnownServersError::Settings(error) => error.into(),
        KnownServersError::Secret(error) => model::key_problem(error),
    }
}

/// Warns if the policy keeps out an enabled server.
fn remind(names: &[ServerName], store: &Store, console: &mut Console) {
    let policy = store.settings().for_runs().policy.mcp;
    if !policy.enabled {
        console.line(text!("\nRuns may not use MCP servers yet: that is a matter of policy. Allow it with:\n  crewagent config set policy.mcp.enabled true", "\n策略尚未允许运行使用 MCP 服务器。允许的方法：\n  crewagent config set policy.mcp.enabled true"));
        return;
    }
    let kept_out = names.iter().filter(|name| !policy.allows(name));
    for name in kept_out {
        console.line(say!("\nThe policy does not name {name} among the servers that may be used. See:\n  crewagent config get policy.mcp.allowed-servers", "\n策略允许使用的服务器中没有 {name}。查看：\n  crewagent config get policy.mcp.allowed-servers"
        ));
    }
}
