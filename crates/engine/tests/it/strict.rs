//! Runs whose state is changed by state tools: in strict mode, and if an agent has no file tools.

use std::fs;

use crewagent_core::event::{EventKind, Phase, StateEvent};
use crewagent_core::settings::RunSettings;
use crewagent_engine::runtime::{Runtime, StartRun};
use crewagent_engine::store::Store;
use crewagent_engine::tool_server::ToolServers;
use crewagent_scenario::scripted::Scripted;
use serde_json::Map;

use crate::golden_fixture::{drive, ticking};
use crate::support::{package, scratch, write_all};

/// Plays the generated package with a change and a model that completes each node once.
fn check_completed(settings: RunSettings, change: impl Fn(&str, String) -> String) {
    let scratch = scratch();
    let files = package().into_iter().map(|(name, text)| {
        let text = change(&name, text);
        (name, text)
    });
    write_all(&scratch.path().join("source"), files);
    let project = scratch.path().join("project");
    fs::create_dir(&project).unwrap();
    let store = Store::open(Some(scratch.path().join("home"))).unwrap();
    let source = scratch.path().join("source");
    let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
    let model = Scripted::parse("scenario.yaml", SCENARIO).unwrap();
    let plan = StartRun {
        package: installed,
        workflow: None,
        agent: None,
        project,
        variables: Map::new(),
        settings,
        user_name: "Ana".to_owned(),
        id: None,
        conversation: None,
        data: None,
        earlier: Vec::new(),
        adopt: crewagent_engine::runtime::Adopt::default(),
    };
    let mut run = Runtime::new(&store, ToolServers::none()).by(ticking()).start(&plan).unwrap();
    let mut events = Vec::new();
    let rest = drive(&mut run, &model, &mut events).unwrap();
    assert_eq!(rest.phase, Phase::Completed, "{rest:?}");
    let changes = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::State(StateEvent::Changed(_))));
    assert_eq!(changes.count(), 2);
}

const SCENARIO: &str = "
scenario: every node is completed
nodes:
  node-00000:
    - calls:
        - runtime.complete_node: { nodeId: node-00000 }
  node-00001:
    - calls:
        - runtime.complete_node: { nodeId: node-00001 }
complete:
  - say: Done.
";

#[test]
fn an_agent_without_file_tools_still_moves() {
    check_completed(RunSettings::default(), |name, text| match name {
        "agents.json" => text.replace(
            "\"menu\":",
            "\"tools\": { \"fs\": { \"enabled\": false } },\n      \"menu\":",
        ),
        _ => text,
    });
}

#[test]
fn a_node_without_a_way_out_completes_a_strict_run() {
    let mut settings = RunSettings::default();
    settings.policy.strict = true;
    check_completed(settings, |_, text| {
        text.replace("\"type\": \"end\"", "\"type\": \"step\"").replace("type: end", "type: step")
    });
}
