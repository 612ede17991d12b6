//! Tests with misbehaving tool servers, and runs that survive them. Servers of other authors are in `tests/mcp`.

mod calls;
mod hostile;
mod journal;
mod rules;
mod ways;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crewagent_adapters::mcp::McpServer;
use crewagent_adapters::mcp::tool_servers;
use crewagent_core::event::{Event, EventKind, ToolEvent, ToolFinished, ToolsListed};
use crewagent_core::refusal::RefusalCode;
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::RunSettings;
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::control::Control;
use crewagent_engine::runtime::{Run, Runtime, StartConversation};
use crewagent_engine::store::{Settings, Store};
use crewagent_engine::tool_server::{
    ResultPart, ServerFault, ServerOffer, ServerOrder, ToolResult, ToolServer as _,
};
use crewagent_scenario::scripted::Scripted;
use crewagent_testkit::mcp::{BEHAVIOUR, serve};
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

/// Time limit on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Plays the server that the tests start: this program, with a variable set. Without the variable it does nothing.
#[test]
fn play() {
    if let Ok(behaviour) = std::env::var(BEHAVIOUR) {
        serve(&behaviour);
    }
}

/// Returns the table of settings for a server with this behaviour.
fn table(name: &str, behaviour: &str, more: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let args = ["--exact", "mcp::play", "--nocapture", "--test-threads", "1"];
    format!(
        "[mcp.servers.{name}]\nenabled = true\ncommand = {:?}\nargs = {args:?}\n{more}\n[mcp.servers.{name}.env]\n{BEHAVIOUR} = {behaviour:?}\n",
        program.to_str().unwrap()
    )
}

/// Store with servers, and a project.
struct McpFixture {
    scratch: TempDir,
    store: Store,
}

impl McpFixture {
    fn new(servers: &str) -> Self {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let home = scratch.path().join("home");
        fs::create_dir_all(&home).unwrap();
        fs::create_dir(scratch.path().join("project")).unwrap();
        let text = format!("[policy.mcp]\nenabled = true\n\n{servers}");
        fs::write(Settings::path(&home), text).unwrap();
        let store = Store::open(Some(home)).unwrap();
        Self { scratch, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Returns the only server, not started.
    fn server(&self) -> McpServer {
        let (name, settings) = self.store.settings().mcp.servers.iter().next().unwrap();
        McpServer::new(name.clone(), settings.clone(), self.store.secrets())
    }

    fn settings(&self) -> RunSettings {
        self.store.settings().for_runs()
    }

    /// Has one conversation with a model that replies from this scenario.
    fn converse(&self, scenario: &str, settings: RunSettings) -> Talked {
        let runtime = Runtime::new(&self.store, tool_servers(&self.store));
        self.converse_with(&runtime, scenario, settings, &Control::default())
    }

    fn converse_with(
        &self,
        runtime: &Runtime<'_>,
        scenario: &str,
        settings: RunSettings,
        control: &Control,
    ) -> Talked {
        let file = self.path("scenario.yaml");
        fs::write(&file, scenario).unwrap();
        let model = Scripted::load(&file).unwrap();
        let plan = StartConversation {
            id: None,
            package: None,
            agent: None,
            project: self.path("project"),
            settings,
        };
        let mut run = runtime.start_conversation(&plan).unwrap();
        let mut events = run.opening().to_vec();
        run.say("go", &mut |event| events.push(event.clone())).unwrap();
        let rest = run.drive(&model, control, &mut |event| events.push(event.clone())).unwrap();
        Talked { run, model, events, rest }
    }
}

/// Outcome of a conversation.
struct Talked {
    run: Run,
    model: Scripted,
    events: Vec<Event>,
    rest: Rest,
}

impl Talked {
    /// Returns the results of tools, as JSON.
    fn answers(&self) -> Vec<Json> {
        let answer = |event: &Event| match &event.kind {
            EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) => {
                Some(serde_json::from_str(answer.result.inline().unwrap()).unwrap())
            }
            _ => None,
        };
        self.events.iter().filter_map(answer).collect()
    }

    fn listed(&self) -> Vec<(String, Vec<String>, Option<String>)> {
        let listed = |event: &Event| match &event.kind {
            EventKind::Tool(ToolEvent::Listed(ToolsListed { server, names, error, .. })) => {
                Some((server.clone(), names.clone(), error.clone()))
            }
            _ => None,
        };
        self.events.iter().filter_map(listed).collect()
    }
}

fn soon() -> Deadline {
    Deadline::after(TIMEOUT, &Cancel::default())
}

/// Returns the offer of a server that was not used before.
fn offer(server: &McpServer) -> std::sync::Arc<ServerOffer> {
    server.wake();
    server.offer(&soon())
}

fn call(server: &McpServer, name: &str, arguments: Json) -> Result<ToolResult, ServerFault> {
    call_until(server, name, arguments, &soon())
}

fn call_until(
    server: &McpServer,
    name: &str,
    arguments: Json,
    deadline: &Deadline,
) -> Result<ToolResult, ServerFault> {
    server.call(ServerOrder::Tool { name, arguments: object(arguments) }, deadline)
}

fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn text(output: &ToolResult) -> &str {
    match output.parts.as_slice() {
        [ResultPart::Text(text)] => text,
        other => panic!("{other:?}"),
    }
}

/// Returns a scenario that makes these calls, one per reply, and ends.
fn scenario(calls: &[(&str, Json)]) -> String {
    let replies: Vec<Json> = calls
        .iter()
        .map(|(tool, arguments)| json!({ "calls": [{ "tool": tool, "arguments": arguments }] }))
        .chain([json!({ "say": "Done." })])
        .collect();
    json!({ "scenario": "calls", "chat": replies }).to_string()
}

fn code(answer: &Json) -> Option<RefusalCode> {
    serde_json::from_value(answer["error"]["code"].clone()).ok()
}
