//! `crewagent agent`, `chat` and `chats`, as users and programs call them.

use std::path::PathBuf;

use serde_json::Value as Json;

use crate::support::{CliFixture, Ran, repository};

/// Returns the folder with the package and the scenarios of the golden sessions.
pub(crate) fn sessions() -> PathBuf {
    repository().join("crates/engine/tests/sessions")
}

struct ConversationFixture {
    world: CliFixture,
}

impl ConversationFixture {
    fn new() -> Self {
        let world = CliFixture::new();
        std::fs::create_dir(world.path("project")).unwrap();
        Self { world }
    }

    fn run(&self, command: &[&str], inputs: &[&str]) -> Ran {
        let scenario = sessions().join("002-front-desk/scenario.yaml");
        let model = format!("scripted:{}", scenario.display());
        let mut args: Vec<&str> = command.to_vec();
        args.extend(["--model", &model]);
        inputs.iter().for_each(|input| args.extend(["--input", input]));
        self.world.run(&args)
    }

    fn agent(&self, inputs: &[&str]) -> Ran {
        let package = sessions().join("package");
        let package = package.to_str().unwrap();
        self.run(&["agent", package, "porter", "--project", "project"], inputs)
    }

    /// Returns the JSON output of a command.
    fn json(&self, args: &[&str]) -> Json {
        serde_json::from_str(&self.world.run(args).out).unwrap()
    }

    /// Returns the id of the only conversation.
    fn chat(&self) -> String {
        let listed = self.json(&["chats", "list", "--all", "--json"]);
        listed["conversations"][0]["id"].as_str().unwrap().to_owned()
    }
}

#[test]
fn agents_are_listed_when_none_is_named() {
    let fixture = ConversationFixture::new();
    let package = sessions().join("package");
    let ran = fixture.world.run(&["agent", package.to_str().unwrap(), "--project", "project"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("1  🛎️ Nora, Porter (porter)"), "{}", ran.out);
    assert!(ran.out.contains("2  🍳 Max, Cook (cook)"), "{}", ran.out);
    assert!(ran.err.contains("crewagent agent front-desk porter"), "{}", ran.err);
    let asked =
        fixture.run(&["agent", package.to_str().unwrap(), "--project", "project"], &["rooms"]);
    assert_eq!(asked.code, 2, "{asked:?}");
    assert!(asked.err.contains("name one of the agents: porter, cook"), "{}", asked.err);
    // No conversation was started.
    assert_eq!(fixture.json(&["chats", "--all", "--json"])["conversations"], serde_json::json!([]));
}

#[test]
fn a_greeting_shows_the_menu_and_a_command_does_what_it_says() {
    let fixture = ConversationFixture::new();
    let ran = fixture.agent(&["check", "2", "CI\nThe guest is Ana."]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for words in [
        "🛎️ Nora, Porter\nKnows the house.\n",
        " 1  check-in     [CI] Check a guest in\n",
        "10  bye          [DA] Let the porter go\n",
        "2 match equally well\n  1  [CI] Check a guest in\n  2  [CR] Say which rooms are free\n",
        "Rooms 12 and 14 are free.",
        "● 1/2 ask  Ask",
        "✓ fs.write @project/artifacts/card.md",
        "Ana has room 12.",
    ] {
        assert!(ran.out.contains(words), "{words} is missing in\n{}", ran.out);
    }
    assert!(!ran.out.contains("secret"), "an item for browsers is shown:\n{}", ran.out);
    assert!(ran.err.contains(&format!("crewagent chat {}", fixture.chat())), "{}", ran.err);
    assert!(fixture.world.path("project/artifacts/card.md").exists());
}

#[test]
fn what_cannot_be_done_is_said_with_its_reason() {
    let fixture = ConversationFixture::new();
    for (input, says) in [
        ("ghost", "The agent `porter` has no prompt"),
        ("audit", "is a classic workflow, which this runtime does not run"),
        ("lost", "There is no `@project/data/lost.json`"),
    ] {
        let ran = fixture.agent(&[input]);
        assert_eq!(ran.code, 2, "{input}: {ran:?}");
        assert!(ran.out.contains(says), "{input}: {}", ran.out);
    }
    let ran = fixture.agent(&["/resume"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("There is no run in this conversation"), "{}", ran.out);
}

#[test]
fn a_choice_that_stays_open_waits() {
    let fixture = ConversationFixture::new();
    let ran = fixture.agent(&["check"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let ran = fixture.agent(&["check", "2"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_program_is_told_how_to_go_on_and_what_cannot_be_kept() {
    let fixture = ConversationFixture::new();
    let package = sessions().join("package");
    let package = package.to_str().unwrap();
    let start = ["agent", package, "porter", "--project", "project", "--json"];
    let ran = fixture.run(&[&start[..], &["--max-cost", "1"]].concat(), &["rooms"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("\"type\":\"command.resolved\""), "{}", ran.out);
    let warning = "warning: the price of this model is not known, so --max-cost cannot stop";
    assert_eq!(ran.err.matches(warning).count(), 1, "{}", ran.err);
    let next = format!("Go on with it: crewagent chat {}", fixture.chat());
    assert!(ran.err.trim_end().ends_with(&next), "{}", ran.err);
    let ran = fixture.run(&start, &["/resume"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("There is no run in this conversation"), "{}", ran.err);
}

#[test]
fn help_and_status_say_what_works_and_where_it_stands() {
    let fixture = ConversationFixture::new();
    let ran = fixture.agent(&["/help", "rooms", "/status"]);
    for words in
        ["/menu ", "/dismiss ", "Type a number or a word", "🛎️ Nora, Porter", "conversation"]
    {
        assert!(ran.out.contains(words), "{words} is missing in\n{}", ran.out);
    }
}

#[test]
fn a_conversation_goes_on_in_another_process() {
    let fixture = ConversationFixture::new();
    fixture.agent(&["rooms", "check-in"]);
    let chat = fixture.chat();
    // The run was left at its first node, so messages go to it. `rooms` took the first reply of the conversation.
    let ran = fixture.run(&["chat", &chat[chat.len() - 5..]], &["/menu", "rules"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("Your words go to the run"), "{}", ran.out);
    assert!(ran.out.contains("No smoke, no noise, no dogs."), "{}", ran.out);
    let shown = fixture.world.run(&["chats", "show", "latest"]);
    for words in ["Rooms 12 and 14 are free.", "── run ", "› rules", "No smoke, no noise, no dogs."]
    {
        assert!(shown.out.contains(words), "{words} is missing in\n{}", shown.out);
    }
}

#[test]
fn conversations_are_listed_searched_renamed_and_removed() {
    let fixture = ConversationFixture::new();
    let none = fixture.world.run(&["chats"]);
    assert!(none.out.contains("No conversations yet."), "{none:?}");
    fixture.agent(&["rooms", "CI\nAna"]);
    let chat = fixture.chat();
    let listed = fixture.world.run(&["chats", "list", "--all"]);
    assert!(listed.out.contains("Say which rooms are free"), "{}", listed.out);
    assert!(listed.out.contains("porter of front-desk@1.0.0"), "{}", listed.out);
    let found = fixture.json(&["chats", "search", "ROOM 12", "--json"]);
    assert_eq!(found[0]["conversation"]["id"], chat);
    assert_eq!(found[0]["said"], "Ana has room 12.");
    assert!(fixture.world.run(&["chats", "search", "elephant"]).out.contains("Nobody said"));
    assert_eq!(fixture.world.run(&["chats", "rename", "latest", " Ana's\tstay "]).code, 0);
    assert!(fixture.world.run(&["chats", "--all"]).out.contains("Ana's stay"));
    assert_eq!(fixture.world.run(&["chats", "rename", "latest", " "]).code, 2);
    let removed = fixture.world.run(&["chats", "rm", &chat, "--yes"]);
    assert_eq!(removed.out.lines().count(), 2, "the run goes too: {}", removed.out);
    assert_eq!(fixture.json(&["runs", "list", "--all", "--json"])["runs"], serde_json::json!([]));
    let gone = fixture.world.run(&["chats", "show", &chat]);
    assert_eq!(gone.code, 2, "{gone:?}");
    assert!(gone.err.contains("there is no conversation"), "{}", gone.err);
    assert!(gone.err.contains("crewagent chats list"), "{}", gone.err);
}

#[test]
fn plain_chat_reads_and_writes_and_leaves_nothing_when_nothing_is_said() {
    let fixture = ConversationFixture::new();
    let scenario = sessions().join("004-plain-chat/scenario.yaml");
    let model = format!("scripted:{}", scenario.display());
    let ran = fixture.world.run(&[
        "chat",
        "--project",
        "project",
        "--model",
        &model,
        "--input",
        "What is here?",
        "--input",
        "Write that down.",
    ]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("It is in notes.md."), "{}", ran.out);
    assert!(fixture.world.path("project/notes.md").exists());
    let silent = fixture.world.run(&["chat", "--project", "project", "--model", &model]);
    assert_eq!(silent.code, 0, "{silent:?}");
    assert!(silent.err.contains("--input says something"), "{}", silent.err);
    let listed = fixture.json(&["chats", "list", "--all", "--json"]);
    assert_eq!(listed["conversations"].as_array().unwrap().len(), 1);
}

#[test]
fn a_model_that_fails_leaves_a_conversation_that_goes_on() {
    let fixture = ConversationFixture::new();
    let package = sessions().join("package");
    let scenario = fixture.world.write("silent.yaml", "scenario: has nothing to say\n");
    let model = format!("scripted:{}", scenario.display());
    let package = package.to_str().unwrap();
    let failed = fixture.world.run(&[
        "agent",
        package,
        "porter",
        "--project",
        "project",
        "--model",
        &model,
        "--input",
        "rooms",
        "--input",
        "never heard",
    ]);
    assert_eq!(failed.code, 5, "{failed:?}");
    assert!(failed.err.contains("has no reply left"), "{}", failed.err);
    // The request is repeated, and the message is answered.
    let ran = fixture.run(&["chat", &fixture.chat()], &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("Rooms 12 and 14 are free."), "{}", ran.out);
}

#[test]
fn wrong_names_are_told_apart() {
    let fixture = ConversationFixture::new();
    let package = sessions().join("package");
    let package = package.to_str().unwrap();
    let ran = fixture.world.run(&["agent", package, "nobody", "--project", "project"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("it has porter, cook"), "{}", ran.err);
    let ran = fixture.world.run(&["agent", "no-such-package"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let ran = fixture.world.run(&["chat", "latest"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("there is no conversation yet"), "{}", ran.err);
    let ran = fixture.world.run(&["agent", package, "porter", "--project", "nowhere"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("does not exist"), "{}", ran.err);
}
