//! MCP servers: set them up, test them, switch them. A server is a program that runs on this computer, so nothing is
//! started before the user asks for it. Secrets are written and never returned.

mod transport;

use crewagent_core::policy::Policy;
use crewagent_core::policy::survey::Layers;
use crewagent_core::tool::server_tool::ServerName;
use crewagent_engine::cancel::Cancel;
use crewagent_engine::store::{ImportedServer, ServerSettings, Store, Timeout, import_servers};
use crewagent_engine::tool_server::ServerOffer;
use serde::Deserialize;
use tokio::runtime::Handle;

use self::transport::{read, write};
use super::models::word;
use crate::app::App;
use crate::endpoint::{ApiEndpoint, ParsedRequest, delete, get, patch, post, put};
use crate::mcp_tests::McpTest;
use crate::problem::Problem;
use crate::wire::{
    CheckStep, Code, McpFile, McpImport, McpImportServer, McpResource, McpServerItem, McpServers,
    McpSwitch, McpTestResult, McpTool, Nothing, SetMcpServer,
};

/// Resources that a report lists.
const MAX_RESOURCES: usize = 200;

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        get("/api/mcp", "Lists the MCP servers that are set up", list),
        put("/api/mcp/servers/{name}", "Sets up an MCP server, or changes it", set),
        patch("/api/mcp/servers/{name}", "Lets runs use an MCP server, or no longer", switch),
        delete("/api/mcp/servers/{name}", "Removes an MCP server and its secrets", remove),
        post("/api/mcp/servers/{name}/test", "Starts an MCP server, and says what it has", test),
        post("/api/mcp/import", "Takes over MCP servers of another tool, or looks at them", import),
    ]
}

/// The server in a path.
#[derive(Deserialize)]
struct ServerPath {
    name: String,
}

fn list(asked: ParsedRequest) -> Result<McpServers, Problem> {
    let store = asked.app.store()?;
    let settings = store.settings();
    let servers = settings.mcp.servers.iter();
    Ok(McpServers {
        servers: servers.map(|(name, own)| item(&asked.app, &store, name, own)).collect(),
        policy_enabled: settings.for_runs().policy.mcp.enabled,
    })
}

/// Returns a server as it is now.
fn show(app: &App, name: &str) -> Result<McpServerItem, Problem> {
    let store = app.store()?;
    let (name, settings) = store.tool_servers().find(name)?;
    Ok(item(app, &store, name, settings))
}

fn item(app: &App, store: &Store, name: &ServerName, settings: &ServerSettings) -> McpServerItem {
    let servers = store.tool_servers();
    let policy = store.settings().for_runs().policy;
    let last = app.mcp_tests.last(name, settings);
    McpServerItem {
        name: name.to_string(),
        state: servers.state(name, settings),
        way: write(servers, name, &settings.way),
        line: settings.way.line(),
        unset: servers.unset(name, settings),
        startup_timeout: settings.startup_timeout.map(|time| time.to_string()),
        call_timeout: settings.call_timeout.map(|time| time.to_string()),
        last: last.map(|test| report(&test, &policy)),
    }
}

/// Returns the result of a test, with the current policy.
fn report(test: &McpTest, policy: &Policy) -> McpTestResult {
    let ServerOffer { listed, resources, .. } = &*test.found.offer;
    let layers = Layers { settings: policy, run: policy, agent: None };
    let listed = listed.as_ref().ok();
    let tools = listed.into_iter().flat_map(|listed| &listed.tools);
    let resources = resources.iter().take(MAX_RESOURCES);
    McpTestResult {
        ok: test.found.failed().is_none(),
        at: test.at.to_string(),
        steps: test
            .found
            .steps
            .iter()
            .map(|step| CheckStep {
                name: step.layer.word().to_owned(),
                status: word(&step.status),
                message: step.message.clone(),
                advice: None,
            })
            .collect(),
        tools: tools
            .map(|tool| McpTool {
                name: tool.tool.clone(),
                description: tool.description.clone(),
                rule: layers.server_tool(tool),
            })
            .collect(),
        left_out: listed.map(|listed| listed.left_out.clone()).unwrap_or_default(),
        resources: resources
            .map(|one| McpResource { uri: one.uri.clone(), name: one.name.clone() })
            .collect(),
        log: test.found.log.iter().map(|line| line.text.clone()).collect(),
    }
}

fn set(asked: ParsedRequest<ServerPath, (), SetMcpServer>) -> Result<McpServerItem, Problem> {
    let ParsedRequest { app, path, body, .. } = asked;
    let name: ServerName = path.name.parse().map_err(Problem::invalid)?;
    let store = app.store()?;
    let servers = store.tool_servers();
    let before = servers.find(name.as_str()).ok().map(|(_, settings)| settings);
    let was_enabled = before.is_some_and(|before| before.enabled);
    let settings = ServerSettings {
        enabled: body.enabled.unwrap_or(was_enabled),
        way: read(body.way, before.map(|before| &before.way))?,
        startup_timeout: time(body.startup_timeout)?,
        call_timeout: time(body.call_timeout)?,
    };
    let server = ImportedServer::new(name.clone(), settings).map_err(Problem::invalid)?;
    servers.put(&[server])?;
    app.mcp_tests.forget(&name);
    show(&app, name.as_str())
}

fn time(text: Option<String>) -> Result<Option<Timeout>, Problem> {
    let text = text.filter(|text| !text.trim().is_empty());
    text.map(|text| text.parse().map_err(Problem::invalid)).transpose()
}

fn switch(asked: ParsedRequest<ServerPath, (), McpSwitch>) -> Result<McpServerItem, Problem> {
    let ParsedRequest { app, path: ServerPath { name }, body, .. } = asked;
    let store = app.store()?;
    let names = store.tool_servers().find_all(std::slice::from_ref(&name))?;
    store.tool_servers().switch(&names, body.enabled)?;
    show(&app, &name)
}

fn remove(asked: ParsedRequest<ServerPath>) -> Result<Nothing, Problem> {
    let ParsedRequest { app, path: ServerPath { name }, .. } = asked;
    let store = app.store()?;
    let names = store.tool_servers().find_all(&[name])?;
    store.tool_servers().remove(&names)?;
    names.iter().for_each(|name| app.mcp_tests.forget(name));
    Ok(Nothing {})
}

fn test(asked: ParsedRequest<ServerPath, (), Nothing>) -> Result<McpTestResult, Problem> {
    let ParsedRequest { app, path: ServerPath { name }, .. } = asked;
    let store = app.store()?;
    let (name, settings) = store.tool_servers().find(&name)?;
    let cancel = Cancel::default();
    // Shutdown does not wait for a tool server that starts.
    let (mut closing, stop) = (app.closing.clone(), cancel.clone());
    let watch = Handle::current().spawn(async move {
        let _ = closing.wait_for(|is_closing| *is_closing).await;
        stop.cancel();
    });
    let result = app.mcp_tests.run(name, settings, store.secrets(), &cancel);
    watch.abort();
    let result = result.ok_or_else(|| {
        Problem::new(Code::Busy, format!("the MCP server `{name}` is being tried out already"))
            .hint("Wait until that is done.")
    })?;
    Ok(report(&result, &store.settings().for_runs().policy))
}

fn import(asked: ParsedRequest<(), (), McpFile>) -> Result<McpImport, Problem> {
    let ParsedRequest { app, body, .. } = asked;
    let read = import_servers(&body.text).map_err(|why| {
        Problem::invalid(format!("no server can be taken over: {why}"))
            .hint("Paste JSON with an object `mcpServers`, as other tools keep it.")
    })?;
    let store = app.store()?;
    let servers = store.tool_servers();
    let found = read.servers.iter().map(|server| McpImportServer {
        called: server.called.clone(),
        name: server.name.to_string(),
        line: server.settings.way.line(),
        replaces: servers.find(server.name.as_str()).is_ok(),
        secrets: server.secrets.iter().map(|(variable, _)| variable.clone()).collect(),
    });
    let taken = McpImport { servers: found.collect(), problems: read.problems };
    if body.save {
        servers.put(&read.servers)?;
        read.servers.iter().for_each(|server| app.mcp_tests.forget(&server.name));
    }
    Ok(taken)
}
