//! The permissions of tools, as they are enforced, and who decided them.

use crewagent_core::policy::survey::Layers;
use crewagent_engine::store::Store;

use super::packages::load;
use crate::app::App;
use crate::endpoint::{ApiEndpoint, ParsedRequest, get};
use crate::problem::Problem;
use crate::wire::{ToolQuery, ToolSurvey};

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![get("/api/tools", "Says what each tool may do, and who decided it", survey)]
}

fn survey(asked: ParsedRequest<(), ToolQuery>) -> Result<ToolSurvey, Problem> {
    let ParsedRequest { app, query, .. } = asked;
    let store = app.store()?;
    let package = query.package.map(|reference| load(&store, &reference)).transpose()?;
    let agent = match (&query.agent, &package) {
        (Some(name), Some(package)) => {
            let found = package.agent_named(name);
            Some(found.ok_or_else(|| Problem::missing(format!("there is no agent `{name}`")))?)
        }
        (Some(_), None) => return Err(Problem::invalid("an agent is one of a package")),
        (None, _) => None,
    };
    let policy = store.settings().for_runs().policy;
    let layers = Layers {
        settings: &policy,
        run: &policy,
        agent: agent.and_then(|agent| agent.tools.as_ref()),
    };
    Ok(ToolSurvey {
        agent_id: agent.map(|agent| agent.id.to_string()),
        tools: layers.survey(&store.tool_servers().enabled(), &offered(&app, &store)),
        folders: layers.folders(),
        call_seconds: layers.call_seconds(),
    })
}

/// Returns the tools of enabled servers, as far as these were tested.
fn offered(app: &App, store: &Store) -> Vec<String> {
    let servers = store.settings().mcp.servers.iter().filter(|(_, server)| server.enabled);
    let mut names = Vec::new();
    for (name, settings) in servers {
        let Some(test) = app.mcp_tests.last(name, settings) else { continue };
        if let Ok(listed) = &test.found.offer.listed {
            names.extend(listed.tools.iter().map(|tool| tool.name()));
        }
    }
    names
}
