//! `crewagent mcp rm`: removes servers and their secrets from the settings.

use crewagent_engine::store::{RemovedServer, Store};

use super::problem;
use crate::args::McpRmArgs;
use crate::cmd::removal::{self, Removed};
use crate::console::Console;
use crate::language::say;
use crate::outcome::Outcome;
use crate::paint;

pub(super) fn run(
    args: &McpRmArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let servers = store.tool_servers();
    let names = servers.find_all(&args.names).map_err(problem)?;
    let known = &store.settings().mcp.servers;
    let lines = names.iter().map(|name| {
        let way = known.get(name).map(|server| server.way.line()).unwrap_or_default();
        format!("{name}  {way}")
    });
    let count = paint::counted(names.len(), ("MCP server", "个 MCP 服务器"));
    let question =
        say!("Remove {count}, with the secrets kept for them?", "要删除 {count}及其保存的密钥吗？");
    if !removal::agreed(lines, &question, args.removal, console)? {
        return Ok(Outcome::Cancelled);
    }
    let mut removed = Removed::new(args.removal);
    for RemovedServer { name, secrets } in servers.remove(&names).map_err(problem)? {
        let remark = match secrets {
            0 => String::new(),
            count => say!(" and {}", "及 {}", paint::counted(count, ("secret", "个密钥"))),
        };
        removed.report(name.as_str(), &remark, console);
    }
    Ok(removed.finish(console))
}
