//! `crewagent mcp rm`: servers leave the settings, and their secrets with them.

use std::path::Path;

use crewagent_engine::mcp::stored_keys;
use crewagent_engine::store::{KeySource, SettingsFile, Store};

use super::{find, known};
use crate::args::McpRm;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, GOOD, NAME};
use crate::{ask, model};

pub(super) fn run(
    args: &McpRm,
    store: &Store,
    path: &Path,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let names = known(&args.names, store)?;
    if !args.yes && ask::is_possible() {
        let what = paint::counted(names.len(), "MCP server");
        let question = format!("Remove {what} and their secrets ({})?", args.names.join(", "));
        if !ask::agreed(&question)? {
            console.line("Nothing was removed.");
            return Ok(Outcome::Cancelled);
        }
    }
    let mut file = SettingsFile::open(path)?;
    for name in &names {
        file.remove(&["mcp", "servers", name.as_str()])?;
    }
    file.save()?;
    for name in &names {
        let (_, settings) = find(name.as_str(), store)?;
        let mut forgotten = 0;
        for key in stored_keys(name, &settings) {
            let was_there = store.secrets().remove(&KeySource::File, &key);
            forgotten += usize::from(was_there.map_err(model::key_problem)?);
        }
        let secrets = match forgotten {
            0 => String::new(),
            count => format!(" and {}", paint::counted(count, "secret")),
        };
        let name = paint::styled(NAME, name);
        console.line(format_args!("{} {name}{secrets}", paint::styled(GOOD, "removed")));
    }
    Ok(Outcome::Done)
}
