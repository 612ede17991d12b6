//! Benchmark of the time that tools of MCP servers add to a turn: no tools, a hundred, and a server that is not used.
//!
//! `cargo bench -p crewagent-adapters --bench server_tools`. Fails when a hundred tools add more than 1 ms to a turn, from
//! the end of a reply to the next request on the wire.
#![allow(clippy::print_stderr, reason = "a benchmark says what it missed")]

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use crewagent_adapters::chat::{Chat, Client};
use crewagent_adapters::mcp::tool_servers;
use crewagent_core::settings::RunSettings;
use crewagent_dialect::profile::Profile;
use crewagent_engine::control::Control;
use crewagent_engine::model::{Endpoint, Timeouts};
use crewagent_engine::runtime::{Runtime, StartConversation};
use crewagent_engine::store::{Settings, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_testkit::loopback::{
    self, AnswerCall, AnswerPlan, ExchangeRecord, Loopback, ModelAnswer,
};
use crewagent_testkit::mcp::{BEHAVIOUR, serve};
use crewagent_testkit::report;

const TURNS: usize = 100;
const ROUNDS: usize = 5;
/// Maximum time that a hundred tools may add to a turn.
const GOAL: Duration = Duration::from_millis(1);

type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    if let Some(code) = loopback::serve_if_asked() {
        return code;
    }
    // This program is also the server.
    if let Ok(behaviour) = std::env::var(BEHAVIOUR) {
        serve(&behaviour);
        return ExitCode::SUCCESS;
    }
    // `cargo test --all-targets` runs this without the flag; there is nothing to test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("a goal is missed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("the benchmark cannot run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Servers of a conversation.
#[derive(Clone, Copy)]
enum Case {
    None,
    /// A hundred tools in every request.
    Hundred,
    /// A configured server that the policy excludes.
    Idle,
}

fn run() -> Result<bool, Failure> {
    let cases = [Case::None, Case::Hundred, Case::Idle];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        // The cases alternate, so that other load on the machine affects all of them.
        for (case, times) in cases.iter().zip(&mut times) {
            times.extend(turns(*case)?);
        }
    }
    let [none, hundred, idle] = times.map(|mut times| report::median(&mut times));
    let (added, idly) = (hundred.saturating_sub(none), idle.saturating_sub(none));
    let table = format!(
        "| end of a reply → next request at the server | median of {} | adds | goal |\n|---|--:|--:|--:|\n\
         | no MCP server | {} | | |\n\
         | 100 tools of an MCP server in every request | {} | **{}** | ≤ {} |\n\
         | a configured server that is not used | {} | {} | |\n",
        ROUNDS * (TURNS - 1),
        micros(none),
        micros(hundred),
        micros(added),
        micros(GOAL),
        micros(idle),
        micros(idly),
    );
    report::publish("served", &table);
    Ok(added <= GOAL)
}

fn micros(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}

/// Measures the time between each reply and the next request of one conversation.
fn turns(case: Case) -> Result<Vec<Duration>, Failure> {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (home, project) = (scratch.path().join("home"), scratch.path().join("project"));
    fs::create_dir_all(&home)?;
    fs::create_dir_all(&project)?;
    let program = std::env::current_exe()?;
    let table = format!(
        "[mcp.servers.s]\nenabled = true\ncommand = {program:?}\nenv = {{ {BEHAVIOUR} = \"hundred\" }}\n"
    );
    fs::write(Settings::path(&home), table)?;
    let store = Store::open(Some(home))?;
    let mut settings = RunSettings::default();
    settings.limits.turns = u64::MAX;
    settings.policy.mcp.enabled = matches!(case, Case::Hundred);
    // The same search twice would be answered with a pointer, and end as a loop.
    let search = |turn: usize| AnswerCall {
        name: "fs_search".to_owned(),
        arguments: format!(r#"{{"query":"word {turn}"}}"#),
    };
    let answer = |turn: usize| ModelAnswer { calls: vec![search(turn)], ..ModelAnswer::default() };
    let mut answers: Vec<ModelAnswer> = (1..TURNS).map(answer).collect();
    answers.push(ModelAnswer { content: Some("Done.".to_owned()), ..ModelAnswer::default() });
    let server = Loopback::start()?;
    server.play(&AnswerPlan::burst(answers))?;
    let model = Chat::new(endpoint(&server), &Client::new()?)?;
    let runtime = match case {
        Case::None => Runtime::new(&store, ToolServers::none()),
        Case::Hundred | Case::Idle => Runtime::new(&store, tool_servers(&store)),
    };
    let plan = StartConversation { id: None, package: None, agent: None, project, settings };
    let mut conversation = runtime.start_conversation(&plan)?;
    conversation.say("Go.", &mut |_| ())?;
    conversation.drive(&model, &Control::default(), &mut |_| ())?;
    let records = server.records()?.requests;
    assert!(records.len() == TURNS, "{} requests", records.len());
    let is_fat = records[0].bytes > 20_000;
    assert!(is_fat == matches!(case, Case::Hundred), "{} bytes", records[0].bytes);
    let gap = |pair: &[ExchangeRecord]| Duration::from_nanos(pair[1].arrived - pair[0].answered);
    Ok(records.windows(2).map(gap).collect())
}

fn endpoint(server: &Loopback) -> Endpoint {
    Endpoint {
        name: "loopback".to_owned(),
        base_url: server.url(),
        model: "loopback".to_owned(),
        profile_name: "generic".to_owned(),
        profile: Profile::default(),
        key: None,
        headers: Vec::new(),
        max_output: None,
        temperature: None,
        window: None,
        price: None,
        timeouts: Timeouts::default(),
    }
}
