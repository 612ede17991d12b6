//! Servers in the journal: requests are derived from it byte for byte, and a call happens at most once.

use crewagent_adapters::mcp::tool_servers;
use crewagent_core::event::{EventKind, Reply, ToolEvent, ToolFinished};
use crewagent_core::tool::server_tool::{ServerName, ServerToolList, ToolOffer};
use crewagent_engine::model::{Model, ModelError, Progress, Request, RequestCache};
use crewagent_engine::runtime::SettingsChange;
use crewagent_engine::store::RunId;
use crewagent_engine::tool_server::{Logs, ToolServer, ToolServers};
use crewagent_testkit::eventually;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;

/// Model that records its requests.
struct Watched<'m>(&'m Scripted, Mutex<Vec<Request>>);

impl Model for Watched<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn reply(
        &self,
        request: &Request,
        cache: &mut RequestCache,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError> {
        self.1.lock().unwrap().push(request.clone());
        self.0.reply(request, cache, tell, until)
    }
}

#[test]
fn requests_with_served_tools_are_made_again_byte_for_byte() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let calls = [
        ("fs.list", json!({ "path": "@project" })),
        ("mcp.s.grow", json!({})),
        ("mcp.s.echo", json!({ "text": "one" })),
        ("mcp.s.echo", json!({ "text": "two" })),
        ("mcp.s.grown", json!({ "text": "x" })),
    ];
    let file = fixture.path("scenario.yaml");
    fs::write(&file, scenario(&calls)).unwrap();
    let scripted = Scripted::load(&file).unwrap();
    let model = Watched(&scripted, Mutex::default());
    let runtime = Runtime::new(&fixture.store, tool_servers(&fixture.store));
    let plan = StartConversation {
        id: None,
        package: None,
        agent: None,
        project: fixture.path("project"),
        settings: fixture.settings(),
    };
    let mut run = runtime.start_conversation(&plan).unwrap();
    run.say("go", &mut |_| {}).unwrap();
    let control = Control::default();
    run.drive(&model, &control, &mut |_| {}).unwrap();
    let id = RunId::parse(run.id()).unwrap();
    drop(run);
    let sent = model.1.into_inner().unwrap();
    let again = runtime.requests_of_conversation(&id).unwrap();
    assert_eq!(again.len(), sent.len());
    for (sent, past) in sent.iter().zip(&again) {
        assert_eq!(past.recorded_sha256.as_deref(), Some(sent.sha256.as_str()));
        assert_eq!(past.request.sha256, sent.sha256);
        assert_eq!(past.request.tools, sent.tools);
    }
    // The server had fifteen tools, and then one more.
    let server_tool = |request: &Request| {
        request.tools.iter().filter(|tool| tool.name.starts_with("mcp.")).count()
    };
    assert_eq!((server_tool(&sent[0]), server_tool(sent.last().unwrap())), (15, 16));
    // Another process resumes the run, and its server has fifteen tools again.
    let mut run = runtime.reopen(&id, &SettingsChange::default()).unwrap();
    assert!(run.rest().is_some());
    run.say("and on", &mut |_| {}).unwrap();
}

/// Server in this process that counts its calls. The process "dies" in the middle of one.
struct Mortal {
    name: ServerName,
    logs: Logs,
    calls: Arc<AtomicUsize>,
}

impl ToolServer for Mortal {
    fn name(&self) -> &ServerName {
        &self.name
    }

    fn wake(&self) {}

    fn offer(&self, _: &Deadline) -> Arc<ServerOffer> {
        let tool = ToolOffer { name: "pay".to_owned(), ..ToolOffer::default() };
        let listed = Ok(ServerToolList::of(&self.name, vec![Ok(tool)], None));
        Arc::new(ServerOffer { listed, resources: Vec::new(), about: Default::default() })
    }

    fn call(&self, _: ServerOrder<'_>, _: &Deadline) -> Result<ToolResult, ServerFault> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        panic!("the process dies here");
    }

    fn logs(&self) -> &Logs {
        &self.logs
    }
}

#[test]
fn a_call_that_was_begun_is_not_made_again() {
    let fixture = McpFixture::new("");
    let calls = Arc::new(AtomicUsize::new(0));
    let mortal = Mortal { name: "s".parse().unwrap(), logs: Logs::default(), calls: calls.clone() };
    let servers = ToolServers::new(vec![Box::new(mortal)], 1000);
    let runtime = Runtime::new(&fixture.store, servers);
    let file = fixture.path("scenario.yaml");
    fs::write(&file, scenario(&[("mcp.s.pay", json!({}))])).unwrap();
    let model = Scripted::load(&file).unwrap();
    let plan = StartConversation {
        id: None,
        package: None,
        agent: None,
        project: fixture.path("project"),
        settings: fixture.settings(),
    };
    let mut run = runtime.start_conversation(&plan).unwrap();
    let id = RunId::parse(run.id()).unwrap();
    run.say("go", &mut |_| {}).unwrap();
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = run.drive(&model, &Control::default(), &mut |_| {});
    }));
    assert!(died.is_err());
    drop(run);
    // Twice: the second process resumes and is stopped at once, and the third continues.
    for _ in 0..2 {
        drop(runtime.reopen(&id, &SettingsChange::default()).unwrap());
    }
    let mut run = runtime.reopen(&id, &SettingsChange::default()).unwrap();
    let mut events = Vec::new();
    run.drive(&model, &Control::default(), &mut |event| events.push(event.clone())).unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    let told = events.iter().find_map(|event| match &event.kind {
        EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, tool, .. })) => {
            Some((answer.refused, tool.clone()))
        }
        _ => None,
    });
    assert_eq!(told, Some((Some(RefusalCode::UnknownOutcome), "mcp.s.pay".to_owned())));
    drop(run);
    // The outcome is recorded, and the requests are derived from it.
    for past in runtime.requests_of_conversation(&id).unwrap() {
        assert_eq!(past.recorded_sha256.as_deref(), Some(past.request.sha256.as_str()));
    }
    drop(runtime.reopen(&id, &SettingsChange::default()).unwrap());
}

/// Asserts that the possible effect of a call does not depend on the current policy, and that the next call is another
/// one.
#[test]
fn a_call_that_was_begun_stays_in_doubt_when_the_policy_denies_it_now() {
    let fixture = McpFixture::new("");
    let calls = Arc::new(AtomicUsize::new(0));
    let mortal = Mortal { name: "s".parse().unwrap(), logs: Logs::default(), calls: calls.clone() };
    let runtime = Runtime::new(&fixture.store, ToolServers::new(vec![Box::new(mortal)], 1000));
    let file = fixture.path("scenario.yaml");
    let list = ("fs.list", json!({ "path": "@project" }));
    fs::write(&file, scenario(&[("mcp.s.pay", json!({})), list])).unwrap();
    let model = Scripted::load(&file).unwrap();
    let plan = StartConversation {
        id: None,
        package: None,
        agent: None,
        project: fixture.path("project"),
        settings: fixture.settings(),
    };
    let mut run = runtime.start_conversation(&plan).unwrap();
    let id = RunId::parse(run.id()).unwrap();
    run.say("go", &mut |_| {}).unwrap();
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = run.drive(&model, &Control::default(), &mut |_| {});
    }));
    assert!(died.is_err());
    drop(run);
    let path = Settings::path(&fixture.path("home"));
    fs::write(&path, "[policy.mcp]\nenabled = false\n").unwrap();
    let store = Store::open(Some(fixture.path("home"))).unwrap();
    let runtime = Runtime::new(&store, tool_servers(&store));
    let mut run = runtime.reopen(&id, &SettingsChange::default()).unwrap();
    let mut events = Vec::new();
    run.drive(&model, &Control::default(), &mut |event| events.push(event.clone())).unwrap();
    let told: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, tool, .. })) => {
                Some((tool.as_str(), answer.refused))
            }
            _ => None,
        })
        .collect();
    let expected = [("mcp.s.pay", Some(RefusalCode::UnknownOutcome)), ("fs.list", None)];
    assert_eq!((told, calls.load(Ordering::SeqCst)), (expected.to_vec(), 1));
    drop(run);
    drop(runtime.reopen(&id, &SettingsChange::default()).unwrap());
}

#[test]
fn a_call_that_the_user_stops_is_answered_and_not_made_again() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let notes = fixture.path("notes");
    let control = Control::default();
    let runtime = Runtime::new(&fixture.store, tool_servers(&fixture.store));
    let script = scenario(&[("mcp.s.hang", json!({ "file": notes.to_str().unwrap() }))]);
    let mut talked = std::thread::scope(|scope| {
        let talked =
            scope.spawn(|| fixture.converse_with(&runtime, &script, fixture.settings(), &control));
        eventually(|| notes.exists());
        control.stop();
        talked.join().unwrap()
    });
    assert_eq!(talked.rest.reason, Some(crewagent_core::event::Reason::Stopped));
    assert_eq!(code(&talked.answers()[0]), Some(RefusalCode::UnknownOutcome));
    control.renew();
    let Talked { run, model, .. } = &mut talked;
    let rest = run.drive(model, &control, &mut |_| {}).unwrap();
    assert_eq!(rest.phase, crewagent_core::event::Phase::WaitingUser);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "hang\n");
}
