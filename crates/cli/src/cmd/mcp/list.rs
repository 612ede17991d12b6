//! `crewagent mcp list`: one line a tool server.

use anstyle::Style;
use crewagent_core::tool::server_tool::ServerName;
use crewagent_engine::store::{ServerSettings, ServerState, ServerWay, Store};
use serde_json::{Value as Json, json};

use crate::args::McpListArgs;
use crate::console::Console;
use crate::language::text;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME, QUIET, WARNING};
use crate::render::table::{TableCell, table};

pub(super) fn run(
    args: &McpListArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let servers = &store.settings().mcp.servers;
    let policy = store.settings().for_runs().policy.mcp;
    if args.json {
        let rows: Vec<Json> = servers
            .iter()
            .map(|(name, settings)| as_json(name, settings, policy.allows(name)))
            .collect();
        console.line(paint::json(&json!({ "servers": rows, "policyEnabled": policy.enabled })));
        return Ok(Outcome::Done);
    }
    if servers.is_empty() {
        console.line(text!("No MCP servers are set up. `crewagent mcp add NAME -- COMMAND` sets one up; `crewagent mcp add --from FILE` takes over those of another tool.", "还没有配置 MCP 服务器。`crewagent mcp add NAME -- COMMAND` 添加一个；`crewagent mcp add --from FILE` 从其他工具导入。"));
        return Ok(Outcome::Done);
    }
    let row = |(name, settings): (&ServerName, &ServerSettings)| {
        let (style, state) = match store.tool_servers().state(name, settings) {
            ServerState::Enabled => (GOOD, text!("enabled", "已启用")),
            ServerState::KeptOut => (WARNING, text!("kept out by policy", "策略未允许")),
            ServerState::Disabled => (QUIET, text!("disabled", "已停用")),
        };
        let way = settings.way.line();
        vec![
            TableCell::new(NAME, name.as_str()),
            TableCell::new(style, state),
            TableCell::new(Style::new(), &way),
        ]
    };
    let rows: Vec<Vec<TableCell>> = servers.iter().map(row).collect();
    console.text(&table(
        &[text!("NAME", "名称"), text!("STATE", "状态"), text!("REACHED BY", "连接方式")],
        &rows,
    ));
    if !policy.enabled && servers.values().any(|server| server.enabled) {
        console.line(text!("\nRuns may not use MCP servers: `crewagent config set policy.mcp.enabled true` allows it.", "\n运行尚不能使用 MCP 服务器：用 `crewagent config set policy.mcp.enabled true` 允许。"));
    }
    Ok(Outcome::Done)
}

fn as_json(name: &ServerName, settings: &ServerSettings, is_allowed: bool) -> Json {
    let transport = match &settings.way {
        ServerWay::Child { .. } => "stdio",
        ServerWay::Http { .. } => "http",
    };
    json!({
        "name": name,
        "enabled": settings.enabled,
        "allowed": is_allowed,
        "transport": transport,
        "reachedBy": settings.way.line(),
    })
}
