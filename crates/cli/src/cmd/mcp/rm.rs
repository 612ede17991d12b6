//! `crewagent mcp rm`: removes servers and their secrets from the settings.

use crewagent_engine::store::{RemovedServer, Store};

use super::problem;
use crate::args::McpRmArgs;
use crate::ask;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME};

pub(super) fn run(
    args: &McpRmArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let servers = store.tool_servers();
    let names = servers.find_all(&args.names).map_err(problem)?;
    if !args.yes && ask::is_possible() {
        let what = paint::counted(names.len(), "MCP server");
        let question = format!("Remove {what} and their secrets ({})?", args.names.join(", "));
        if !ask::confirm(&question)? {
            console.line("Nothing was removed.");
            return Ok(Outcome::Cancelled);
        }
    }
    for RemovedServer { name, secrets } in servers.remove(&names).map_err(problem)? {
        let secrets = match secrets {
            0 => String::new(),
            count => format!(" and {}", paint::counted(count, "secret")),
        };
        let name = paint::styled(NAME, name);
        console.line(format_args!("{} {name}{secrets}", paint::styled(GOOD, "removed")));
    }
    Ok(Outcome::Done)
}
