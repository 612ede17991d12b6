//! Golden sessions: each folder of `tests/sessions` is played, and the result is compared with the accepted one.
//! `cargo xtask accept golden` rewrites the expectations; read the difference before you commit it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crewagent_core::event::{AssistantMessage, Event, EventKind, ModelEvent};
use crewagent_core::settings::RunSettings;
use crewagent_engine::control::Control;
use crewagent_engine::conversation::{Conversation, Guest, Launch, Mode, Reaction};
use crewagent_engine::disk::Disk;
use crewagent_engine::runtime::{Runtime, SettingsChange, StartConversation};
use crewagent_engine::store::{Of, RunId, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_format::package::agents::Surface;
use crewagent_format::syntax::yaml;
use crewagent_scenario::scripted::Scripted;
use serde::Deserialize;
use serde_json::Map;
use tempfile::TempDir;

use crate::disk_hook::{Fault, Recorder};
use crate::golden::{compare_text, journal, transcript};
use crate::golden_fixture::{GoldenFixture, Watched, ask_about_no_names, copy, golden, ticking};
use crate::support::scratch;

/// `session.yaml` of a folder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    package: Option<String>,
    agent: Option<String>,
    project: Option<String>,
    inputs: Vec<String>,
    #[serde(default)]
    restart_after: Vec<usize>,
}

/// A folder, and a place to play it.
struct ConversationFixture {
    folder: PathBuf,
    script: Script,
    scratch: TempDir,
}

fn sessions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions")
}

fn guest() -> Guest {
    let settings = RunSettings::default();
    Guest { user_name: "Ana".to_owned(), surface: Surface::Ide, settings }
}

impl ConversationFixture {
    fn set(name: &str) -> Self {
        let folder = sessions().join(name);
        let text = fs::read_to_string(folder.join("session.yaml")).unwrap();
        let script: Script = serde_json::from_value(yaml::parse(&text).unwrap().to_json()).unwrap();
        let scratch = scratch();
        let project = scratch.path().join("project");
        match &script.project {
            Some(name) => copy(&golden().join(name).join("project"), &project),
            None => fs::create_dir_all(&project).unwrap(),
        }
        let fixture = Self { folder, script, scratch };
        ask_about_no_names(fixture.store().home());
        fixture
    }

    fn store(&self) -> Store {
        Store::open(Some(self.scratch.path().join("home"))).unwrap()
    }

    fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    fn begin<'s>(&self, store: &'s Store) -> Conversation<'s> {
        self.begin_with(store, RunSettings::default().window_tokens)
    }

    /// Starts a conversation with a model that has a window of this size.
    fn begin_with<'s>(&self, store: &'s Store, window_tokens: u64) -> Conversation<'s> {
        let package = self.script.package.as_ref().map(|name| match name.as_str() {
            "." => sessions().join("package"),
            name => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/examples").join(name),
        });
        let package =
            package.map(|path| store.packages().import(&path, &mut || {}).unwrap().installed);
        let plan = StartConversation {
            id: None,
            package,
            agent: self.script.agent.clone(),
            project: self.project(),
            settings: RunSettings { window_tokens, ..RunSettings::default() },
        };
        Conversation::begin(
            store,
            Runtime::new(store, ToolServers::none()).by(ticking()),
            &plan,
            guest(),
        )
        .unwrap()
    }

    fn reopen<'s>(&self, store: &'s Store, id: &RunId) -> Conversation<'s> {
        let runtime = Runtime::new(store, ToolServers::none()).by(ticking());
        Conversation::reopen(store, runtime, id, &SettingsChange::default(), guest()).unwrap()
    }
}

fn check_session(name: &str) {
    let fixture = ConversationFixture::set(name);
    let store = fixture.store();
    let scripted = Scripted::load(&fixture.folder.join("scenario.yaml")).unwrap();
    let model = Watched { model: &scripted, requests: Mutex::default() };
    let mut session = fixture.begin(&store);
    let id = session.own_run().record().run_id.clone();
    let mut text = transcript::of(session.own_run().opening());
    for (at, words) in fixture.script.inputs.iter().enumerate() {
        let mut events: Vec<Event> = Vec::new();
        if fixture.script.restart_after.contains(&at) {
            // The process is killed: nothing is closed.
            drop(session);
            session = fixture.reopen(&store, &id);
            text.push_str("\n(another process)\n");
            let runs = [Some(session.own_run()), session.run()];
            let opened: Vec<Event> =
                runs.into_iter().flatten().flat_map(|run| run.opening().to_vec()).collect();
            text.push_str(&transcript::of(&opened));
        }
        let mode = session.mode();
        let reaction = session.hear(words, &mut |event| events.push(event.clone())).unwrap();
        let rest = session
            .drive(&model, &Control::default(), &mut |event| events.push(event.clone()))
            .unwrap_or_else(|halt| panic!("{name}, input {words:?}: {halt}"));
        text.push_str(&format!("\n{mode:?} › {}\n", words.replace('\n', "\\n")));
        text.push_str(&format!("{}\n", describe(&reaction)));
        text.push_str(&transcript::of(&events));
        text.push_str(&format!("{:?}, {:?}\n", session.mode(), rest.phase));
    }
    session.close(&mut |_| ()).unwrap();
    compare_text(&fixture.folder.join("transcript.txt"), &masked(&text));
    check_requests(&store, &id, &model.requests.into_inner().unwrap());
    let events = store.conversations().runs().look(&id).unwrap().recovered.events;
    journal::check(&format!("conversation-{name}"), &events);
}

/// Describes a reaction without ids.
fn describe(reaction: &Reaction) -> String {
    match reaction {
        Reaction::Started { .. } => "Started".to_owned(),
        Reaction::Resumed { .. } => "Resumed".to_owned(),
        Reaction::Left { .. } => "Left".to_owned(),
        Reaction::Menu { lines } => format!("Menu of {} items", lines.len()),
        Reaction::Clarify { reason, choices } => format!("Clarify {}: {reason}", choices.len()),
        Reaction::Refused { error } => format!("Refused {:?}", error.code),
        Reaction::Agents { agents } => {
            let ids: Vec<String> = agents.iter().map(|id| format!("AgentId({id:?})")).collect();
            format!("Agents([{}])", ids.join(", "))
        }
        Reaction::Met { agent_id } => format!("Met(AgentId({agent_id:?}))"),
        other => format!("{other:?}"),
    }
}

/// Checks that the journals alone reproduce every request, byte for byte.
fn check_requests(store: &Store, id: &RunId, sent: &[String]) {
    let runtime = Runtime::new(store, ToolServers::none());
    let mut again = runtime.requests_of_conversation(id).unwrap();
    for run in store.conversations().runs_of(id).unwrap() {
        assert_eq!(store.runs().look(&run).unwrap().record.conversation.as_ref(), Some(id));
        again.extend(runtime.requests(&run).unwrap());
    }
    let mut again: Vec<String> = again
        .into_iter()
        .map(|past| {
            assert_eq!(Some(&past.request.sha256), past.recorded_sha256.as_ref());
            serde_json::to_string(&past.request.messages).unwrap()
        })
        .collect();
    let mut sent = sent.to_vec();
    again.sort();
    sent.sort();
    assert_eq!(again, sent);
}

/// Masks ids, which are random.
fn masked(text: &str) -> String {
    let is_id = |word: &str| {
        let mut parts = word.split('-');
        let digits = |part: Option<&str>, count: usize| {
            part.is_some_and(|part| {
                part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        digits(parts.next(), 8) && digits(parts.next(), 6) && parts.next().is_some()
    };
    let mut out = String::new();
    for piece in text.split_inclusive(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let word = piece.trim_end_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        let word_end = &piece[word.len()..];
        out.push_str(if is_id(word) { "ID" } else { word });
        out.push_str(word_end);
    }
    out
}

macro_rules! golden_sessions {
    ($($test:ident = $folder:literal;)*) => {
        $(#[test] fn $test() { check_session($folder); })*

        #[test]
        fn every_golden_session_is_played() {
            let mut found: Vec<String> = fs::read_dir(sessions())
                .unwrap()
                .map(Result::unwrap)
                .filter(|entry| entry.path().join("session.yaml").exists())
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect();
            found.sort();
            assert_eq!(found, [$($folder),*]);
        }
    };
}

golden_sessions! {
    an_agent_leads_to_a_workflow_and_back = "001-agent-first";
    a_menu_does_what_it_says_or_says_why_not = "002-front-desk";
    a_conversation_survives_its_processes = "003-restart";
    plain_chat_has_tools_and_nobody_in_particular = "004-plain-chat";
}

#[test]
fn both_entries_give_the_same_run() {
    let name = "001-create-story-micro";
    let golden_fixture = GoldenFixture::set(name);
    let by_workflow = golden_fixture.play();
    let fixture = ConversationFixture::set("001-agent-first");
    let store = fixture.store();
    let scripted = Scripted::load(&golden().join(name).join("scenario.yaml")).unwrap();
    let mut session = fixture.begin(&store);
    for words in ["create-story", "1-2-user-authentication"] {
        session.hear(words, &mut |_| ()).unwrap();
        session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
    }
    let run = session.run().unwrap().record().run_id.clone();
    session.close(&mut |_| ()).unwrap();
    let by_agent = store.runs().look(&run).unwrap().recovered.events;
    let journal = |events: &[Event], id: &RunId| {
        let kept = events.iter().filter(|event| event.part.is_none()).map(|event| {
            let json =
                serde_json::to_value(Event { time: String::new(), ..event.clone() }).unwrap();
            json.to_string().replace(id.as_str(), "RUN")
        });
        without_clock(&kept.collect::<Vec<_>>().join("\n"))
    };
    let (one, other) = (journal(&by_workflow.events, &by_workflow.id), journal(&by_agent, &run));
    for (at, (one, other)) in one.lines().zip(other.lines()).enumerate() {
        assert_eq!(one, other, "event {}", at + 1);
    }
    assert_eq!(one.lines().count(), other.lines().count());
    assert_eq!(
        crate::golden_fixture::tree(&golden_fixture.project()),
        crate::golden_fixture::tree(&fixture.project())
    );
}

/// Masks digests and times, which depend on the run's id and on the clock.
fn without_clock(text: &str) -> String {
    let mut out = String::new();
    for piece in text.split_inclusive('"') {
        let word = piece.trim_end_matches(['"', '\\']);
        let is_digest = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = word.len() >= 20 && word.starts_with("2026-") && word.ends_with('Z');
        out.push_str(if is_digest || is_time { "X\"" } else { piece });
    }
    out
}

#[test]
fn conversations_are_titled_listed_searched_renamed_and_removed() {
    let fixture = ConversationFixture::set("002-front-desk");
    let store = fixture.store();
    let conversations = store.conversations();
    let scripted = Scripted::load(&fixture.folder.join("scenario.yaml")).unwrap();
    // A conversation without messages leaves nothing.
    assert!(!fixture.begin(&store).close(&mut |_| ()).unwrap());
    assert!(conversations.list(Of::All).unwrap().conversations.is_empty());
    let mut session = fixture.begin(&store);
    let id = session.own_run().record().run_id.clone();
    for words in ["Who is in\nthe garden?", "CI\nThe guest is Ana."] {
        session.hear(words, &mut |_| ()).unwrap();
        session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
    }
    assert_eq!(session.mode(), Mode::Run);
    let run = session.run().unwrap().record().run_id.clone();
    assert!(conversations.get(&id).unwrap().holder.is_some());
    assert!(session.close(&mut |_| ()).unwrap());
    let listed = conversations.list(Of::All).unwrap().conversations;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].title.as_deref(), Some("Who is in the garden?"));
    assert_eq!(listed[0].agent_id.as_deref(), Some("porter"));
    assert_eq!(conversations.runs_of(&id).unwrap(), std::slice::from_ref(&run));
    assert_eq!(conversations.active_run(&id).unwrap(), Some(run.clone()));
    for (words, said) in [
        ("IN THE", Some("Who is in the garden?")),
        ("12 and 14", Some("Rooms 12 and 14 are free.")),
        // The user said this in the run.
        ("has room 12", Some("Ana has room 12.")),
        ("elephants", None),
    ] {
        let found = conversations.search(Of::All, words).unwrap();
        assert_eq!(found.first().map(|(_, said)| said.as_str()), said, "{words}");
    }
    conversations.rename(&id, "  Ana's \n stay ").unwrap();
    assert_eq!(conversations.title(&id).unwrap().as_deref(), Some("Ana's stay"));
    assert_eq!(conversations.remove(&id).unwrap(), std::slice::from_ref(&run));
    assert!(conversations.list(Of::All).unwrap().conversations.is_empty());
    assert!(store.runs().look(&run).is_err());
    let left = fs::read_dir(fixture.scratch.path().join("home/projects")).unwrap().count();
    assert!(left >= 1);
}

#[test]
fn a_failed_model_leaves_a_session_that_can_be_mended() {
    let fixture = ConversationFixture::set("003-restart");
    let store = fixture.store();
    let empty = Scripted::parse("empty.yaml", "scenario: says nothing\n").unwrap();
    let scripted = Scripted::load(&fixture.folder.join("scenario.yaml")).unwrap();
    let mut session = fixture.begin(&store);
    session.hear("Good morning!", &mut |_| ()).unwrap();
    session.drive(&empty, &Control::default(), &mut |_| ()).unwrap_err();
    assert!(session.is_broken());
    let mut session = session.mended().unwrap();
    let mut events = Vec::new();
    session.drive(&scripted, &Control::default(), &mut |event| events.push(event.clone())).unwrap();
    let says = |event: &Event| matches!(&event.kind, EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) if reply.content.as_deref() == Some("Good morning to you."));
    assert!(events.iter().any(says));
}

/// Returns the porter, with a model that plays the scenario of a folder.
fn porter(folder: &str) -> (ConversationFixture, Store, Scripted) {
    let fixture = ConversationFixture::set(folder);
    let store = fixture.store();
    let scripted = Scripted::load(&fixture.folder.join("scenario.yaml")).unwrap();
    (fixture, store, scripted)
}

#[test]
fn a_menu_that_was_asked_for_goes_before_a_question_that_waits() {
    let (fixture, store, scripted) = porter("003-restart");
    let mut session = fixture.begin(&store);
    for words in ["Good morning!", "tour"] {
        session.hear(words, &mut |_| ()).unwrap();
        session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
    }
    assert!(session.rest().unwrap().question.is_some());
    assert!(matches!(session.hear("/menu", &mut |_| ()).unwrap(), Reaction::Menu { .. }));
    // The question is dropped, because the user chose something else.
    assert_eq!(session.hear("3", &mut |_| ()).unwrap(), Reaction::Work);
    assert!(session.rest().is_none());
    // While the menu is open, `*` is for the menu first, and then for everything else.
    let (fixture, store, _) = porter("003-restart");
    let mut session = fixture.begin(&store);
    assert_eq!(session.hear("*status", &mut |_| ()).unwrap(), Reaction::Status);
    assert_eq!(session.hear("／help", &mut |_| ()).unwrap(), Reaction::Help);
}

#[test]
fn a_choice_that_is_too_long_does_not_stay_in_the_way() {
    let (fixture, store, scripted) = porter("002-front-desk");
    let mut session = fixture.begin_with(&store, 32_000);
    session.hear(&format!("rules\n{}", "long ".repeat(40_000)), &mut |_| ()).unwrap();
    let rest = session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
    assert_eq!(rest.reason, Some(crewagent_core::event::Reason::LimitWindow));
    session.hear("Sorry, forget that.", &mut |_| ()).unwrap();
    let rest = session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
    assert_eq!(rest.reason, Some(crewagent_core::event::Reason::StopPoint), "{rest:?}");
    let long = format!("rules\n{}", "x".repeat(2 << 20));
    assert!(session.hear(&long, &mut |_| ()).is_err());
    assert!(!session.is_broken());
}

#[test]
fn a_run_that_cannot_be_gone_on_with_leaves_the_conversation_open() {
    let (fixture, store, scripted) = porter("003-restart");
    let mut session = fixture.begin(&store);
    session.hear("check-in", &mut |_| ()).unwrap();
    session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
    let (id, run) = {
        let run = session.run().unwrap().record();
        (session.own_run().record().run_id.clone(), run.run_id.clone())
    };
    session.close(&mut |_| ()).unwrap();
    let held = store.runs().open(&run).unwrap();
    let session = fixture.reopen(&store, &id);
    assert!(session.trouble().unwrap().contains("is in use"), "{:?}", session.trouble());
    assert_eq!(session.mode(), Mode::Agent);
    drop((held, session));
    assert_eq!(fixture.reopen(&store, &id).mode(), Mode::Run);
    // A removed run is no trouble at all.
    store.runs().remove(&run).unwrap();
    let session = fixture.reopen(&store, &id);
    assert_eq!((session.mode(), session.trouble()), (Mode::Agent, None));
}

#[test]
fn words_for_a_run_do_not_go_astray_while_too_many_files_are_open() {
    let (fixture, store, scripted) = porter("003-restart");
    let mut session = fixture.begin(&store);
    session.hear("check-in", &mut |_| ()).unwrap();
    session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
    let id = session.own_run().record().run_id.clone();
    session.close(&mut |_| ()).unwrap();
    let reopen = |disk: Disk| {
        let store = fixture.store().on(disk);
        let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
        let change = SettingsChange::default();
        Conversation::reopen(&store, runtime, &id, &change, guest())
            .map(|session| (session.mode(), session.trouble().map(str::to_owned)))
    };
    let calm = Recorder::new(Fault::Never);
    assert_eq!(reopen(calm.disk()).unwrap(), (Mode::Run, None));
    for (at, operation) in calm.log().iter().enumerate() {
        let mode = reopen(Recorder::new(Fault::Once(at, 24)).disk());
        assert!(matches!(mode, Ok((Mode::Run, None)) | Err(_)), "{operation}: {mode:?}");
    }
}

#[test]
fn a_conversation_that_is_damaged_can_be_removed_and_is_in_nobodys_way() {
    let (fixture, store, scripted) = porter("003-restart");
    let mut ids = Vec::new();
    for words in ["Good morning!", "Good evening!"] {
        let mut session = fixture.begin(&store);
        ids.push(session.own_run().record().run_id.clone());
        session.hear(words, &mut |_| ()).unwrap();
        session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
        session.close(&mut |_| ()).unwrap();
    }
    let projects = fixture.scratch.path().join("home/projects");
    let project = fs::read_dir(&projects)
        .unwrap()
        .map(Result::unwrap)
        .find(|entry| entry.path().join("conversations").exists());
    let folder = project.unwrap().path().join("conversations").join(ids[0].as_str());
    fs::write(folder.join("run.json"), "{}").unwrap();
    let conversations = store.conversations();
    let listed = conversations.list(Of::All).unwrap();
    assert_eq!((listed.conversations.len(), listed.damaged.len()), (1, 1));
    assert_eq!(conversations.search(Of::All, "evening").unwrap().len(), 1);
    // Beyond the read limit a search uses titles only, and it stops when it is cancelled.
    let some = |bytes, is_wanted: bool| {
        let some = conversations.search_some(Of::All, "evening", bytes, &|| is_wanted).unwrap();
        (some.found.len(), some.is_whole)
    };
    assert_eq!((some(u64::MAX, true), some(u64::MAX, false)), ((1, true), (0, false)));
    conversations.rename(&ids[1], "Night").unwrap();
    assert_eq!((some(u64::MAX, true), some(0, true)), ((1, true), (0, false)));
    let (newest, total) = conversations.newest(Of::All, 1).unwrap();
    assert_eq!((newest.conversations.len() + newest.damaged.len(), total), (1, 2));
    conversations.remove(&ids[0]).unwrap();
    assert!(!folder.exists());
}

#[test]
fn a_change_that_failed_is_not_taken_for_the_next_one() {
    const STORY: &str = "scenario: a disk that fails once\nchat:\n  - calls: [{ fs.write: { path: \"@project/first.md\", content: \"one\" } }]\n  - calls: [{ fs.write: { path: \"@project/second.md\", content: \"two\" } }]\n  - when: { answers: ok }\n    say: Written.\n";
    let scripted = Scripted::parse("story.yaml", STORY).unwrap();
    let play = |fault: Fault| {
        let fixture = ConversationFixture::set("002-front-desk");
        let recorder = Recorder::new(fault);
        let store = fixture.store().on(recorder.disk());
        let mut session = fixture.begin(&store);
        session.hear("Write something.", &mut |_| ()).unwrap();
        let first = session.drive(&scripted, &Control::default(), &mut |_| ());
        if first.is_ok() {
            return (recorder, fixture);
        }
        // The change was announced and not made. The user wants something else now.
        let mut session = session.mended().unwrap();
        session.hear("rules", &mut |_| ()).unwrap();
        session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
        (recorder, fixture)
    };
    let (calm, _) = play(Fault::Never);
    let at = calm.log().iter().position(|line| line.contains("first.md") && line.contains("tmp"));
    let at = at.unwrap_or_else(|| panic!("{:#?}", calm.log()));
    const NO_SPACE: i32 = 28;
    let (faulty, fixture) = play(Fault::Once(at, NO_SPACE));
    assert_eq!(faulty.fired(), 1);
    assert!(!fixture.project().join("first.md").exists());
    assert_eq!(fs::read_to_string(fixture.project().join("second.md")).unwrap(), "two");
}

#[test]
fn a_workflow_is_started_without_a_menu_and_gone_on_with_later() {
    let fixture = ConversationFixture::set("001-agent-first");
    let store = fixture.store();
    let name = "001-create-story-micro";
    let scripted = Scripted::load(&golden().join(name).join("scenario.yaml")).unwrap();
    let mut session = fixture.begin(&store);
    let id = session.own_run().record().run_id.clone();
    let package = store.packages().list().unwrap().installed.remove(0);
    let launch = || Launch {
        package: package.clone(),
        workflow: None,
        agent: None,
        variables: Map::new(),
        settings: RunSettings::default(),
        message: None,
    };
    let started = session.launch(launch(), &mut |_| ()).unwrap();
    let Reaction::Started { run_id: first } = started else { panic!("{started:?}") };
    assert_eq!(session.mode(), Mode::Run);
    session.drive(&scripted, &Control::default(), &mut |_| ()).unwrap();
    // Another run leaves the first at its position.
    let started = session.launch(launch(), &mut |_| ()).unwrap();
    let Reaction::Started { run_id: second } = started else { panic!("{started:?}") };
    assert_eq!(store.conversations().runs_of(&id).unwrap(), [first.clone(), second.clone()]);
    let went_on = session.go_on_with(&first, &mut |_| ()).unwrap();
    assert_eq!(went_on, Reaction::Resumed { run_id: first.clone() });
    assert_eq!(
        session.go_on_with(&first, &mut |_| ()).unwrap(),
        Reaction::Resumed { run_id: first.clone() }
    );
    let stranger = RunId::parse("20260101-000000-aaaaa").unwrap();
    assert_eq!(session.go_on_with(&stranger, &mut |_| ()).unwrap(), Reaction::NoRun);
    // Another process can open the conversation, with the same active run.
    assert!(!session.release(&mut |_| ()).unwrap());
    let session = fixture.reopen(&store, &id);
    assert_eq!(session.run().unwrap().record().run_id, first);
}

#[test]
fn a_conversation_that_is_released_is_kept_even_if_nothing_was_said() {
    let fixture = ConversationFixture::set("002-front-desk");
    let store = fixture.store();
    let session = fixture.begin(&store);
    let id = session.own_run().record().run_id.clone();
    assert!(session.release(&mut |_| ()).unwrap());
    fixture.reopen(&store, &id);
}
