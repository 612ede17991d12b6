//! `crewagent mcp …`: which servers of tools there are, and whether they work.

mod add;
mod list;
mod rm;
mod test;

use std::path::{Path, PathBuf};

use crewagent_core::tool::served::ServerName;
use crewagent_engine::store::{ServerSettings, ServerWay, Settings, SettingsFile, Store};

use crate::args::{Mcp, McpCommand, McpNames};
use crate::console::Console;
use crate::outcome::{Outcome, Usage};
use crate::paint::{self, GOOD, NAME};

pub(crate) fn run(
    args: Mcp,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let folder = home.clone().map_or_else(Store::default_home, Ok)?;
    let store = Store::open(home)?;
    let path = Settings::path(&folder);
    match args.command.unwrap_or(McpCommand::List(args.list)) {
        McpCommand::List(args) => list::run(&args, &store, console),
        McpCommand::Add(args) => add::run(args, &store, &path, console),
        McpCommand::Test(args) => test::run(&args, &store, console),
        McpCommand::Enable(args) => switch(&args, Switch::On, &store, &path, console),
        McpCommand::Disable(args) => switch(&args, Switch::Off, &store, &path, console),
        McpCommand::Rm(args) => rm::run(&args, &store, &path, console),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// Lets runs use servers, or no longer.
fn switch(
    args: &McpNames,
    switch: Switch,
    store: &Store,
    path: &Path,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let names = known(&args.names, store)?;
    let mut file = SettingsFile::open(path)?;
    for name in &names {
        let key = ["mcp", "servers", name.as_str(), "enabled"];
        file.set(&key, &(switch == Switch::On).into())?;
    }
    file.save()?;
    let word = if switch == Switch::On { "enabled" } else { "disabled" };
    for name in &names {
        console.line(format_args!("{} {}", paint::styled(GOOD, word), paint::styled(NAME, name)));
    }
    if switch == Switch::On {
        remind(&names, store, console);
    }
    Ok(Outcome::Done)
}

/// A server that is enabled does nothing while the policy keeps it out.
fn remind(names: &[ServerName], store: &Store, console: &mut Console) {
    let policy = store.settings().for_runs().policy.mcp;
    if !policy.enabled {
        console.line("\nRuns may not use MCP servers yet: that is a matter of policy. Allow it with:\n  crewagent config set policy.mcp.enabled true");
        return;
    }
    let kept_out = names.iter().filter(|name| !name.is_allowed(&policy));
    for name in kept_out {
        console.line(format_args!(
            "\nThe policy does not name {name} among the servers that may be used. See:\n  crewagent config get policy.mcp.allowed-servers"
        ));
    }
}

/// Servers that are set up. A slip in one name is told before anything is done.
fn known(names: &[String], store: &Store) -> Result<Vec<ServerName>, Usage> {
    names.iter().map(|name| find(name, store).map(|(name, _)| name)).collect()
}

/// A server that is set up.
fn find(name: &str, store: &Store) -> Result<(ServerName, ServerSettings), Usage> {
    let servers = &store.settings().mcp.servers;
    let found = servers.iter().find(|(known, _)| known.as_str() == name);
    found.map(|(name, settings)| (name.clone(), settings.clone())).ok_or_else(|| {
        Usage(format!("there is no MCP server `{name}`; `crewagent mcp list` shows what there is"))
    })
}

/// How a server is reached, in one line, without what is filled in.
fn way(settings: &ServerSettings) -> String {
    match &settings.way {
        ServerWay::Child { command, args, .. } => {
            let words = args.iter().map(|arg| arg.as_str());
            [command.as_str()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
        }
        ServerWay::Http { url, .. } => url.to_string(),
    }
}
