//! Conversations at a terminal.
#![cfg(unix)]

use crewagent_testkit::pty::Terminal;

use crate::conversation::sessions;
use crate::support::CliFixture;
use crate::terminal::{ended, prompt, start};

/// Writes a model that gives these replies one after the other.
fn world(scenario: &str) -> CliFixture {
    let world = CliFixture::new();
    std::fs::create_dir(world.path("project")).unwrap();
    world.write("scenario.yaml", scenario);
    world
}

fn greeter() -> CliFixture {
    let scenario = sessions().join("002-front-desk/scenario.yaml");
    world(&std::fs::read_to_string(scenario).unwrap())
}

fn converse(world: &CliFixture, command: &[&str]) -> Terminal {
    let model = ["--model", "scripted:scenario.yaml"];
    start(world, &[command, &model[..]].concat())
}

fn agent(world: &CliFixture) -> Terminal {
    let package = sessions().join("package");
    converse(world, &["agent", package.to_str().unwrap(), "--project", "project"])
}

/// Types a line at the prompt and sends it once it is on the screen, so that the next prompt is a new one.
fn say(terminal: &mut Terminal, words: &str) {
    prompt(terminal);
    terminal.press(words).unwrap();
    terminal.wait_for(format!("You: {words}").trim_end()).unwrap();
    terminal.press("\r").unwrap();
}

#[test]
fn an_agent_is_chosen_then_something_from_its_menu() {
    let world = greeter();
    let mut terminal = agent(&world);
    terminal.wait_for("2  🍳 Max, Cook (cook)").unwrap();
    terminal.wait_for("Who?").unwrap();
    terminal.press("7\r").unwrap();
    terminal.wait_for("there is no agent `7`").unwrap();
    terminal.press("\u{8}nora\r").unwrap();
    terminal.wait_for("[DA] Let the porter go").unwrap();
    terminal.wait_for("/help shows what works.").unwrap();
    say(&mut terminal, "check");
    terminal.wait_for("2 match equally well").unwrap();
    say(&mut terminal, "2");
    terminal.wait_for("Rooms 12 and 14 are free.").unwrap();
    // An empty line shows the menu, and a trigger is completed.
    say(&mut terminal, "");
    terminal.wait_for("Type a number or a word").unwrap();
    prompt(&mut terminal);
    terminal.press("check-i\t").unwrap();
    terminal.wait_for("You: check-in").unwrap();
    terminal.press("\u{1b}\rThe guest is Ana.\r").unwrap();
    terminal.wait_for("Ana has room 12.").unwrap();
    say(&mut terminal, "/last");
    terminal.wait_for("sha256After").unwrap();
    say(&mut terminal, "/nonsense");
    terminal.wait_for("There is no command /nonsense").unwrap();
    terminal.press("\u{3}").unwrap();
    say(&mut terminal, "/dismiss");
    terminal.wait_for("The agent has left").unwrap();
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Go on with it: crewagent chat"), "{said}");
    assert!(said.contains("+ Ana, room 12"), "a written file is shown: {said}");
    assert!(world.path("project/artifacts/card.md").exists());
}

const SLOW: &str = "scenario: slow\npace: { characters: 2, milliseconds: 20 }\nchat:\n  - say: \"Begin here and take a long while to say it, because there is a lot to say.\"\n    calls: [{ fs.list: { path: \"@project\" } }]\n  - say: \"It is **empty**.\"\n  - say: \"As I said.\"\n";

#[test]
fn ctrl_c_pauses_the_work_and_the_conversation_goes_on() {
    let world = world(SLOW);
    let mut terminal = converse(&world, &["chat", "--project", "project"]);
    terminal.wait_for("You:").unwrap();
    say(&mut terminal, "What is here?");
    terminal.wait_for("Begin").unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Pausing after the call in hand").unwrap();
    // The whole reply arrived; its call waits.
    terminal.wait_for("lot to say.").unwrap();
    terminal.wait_until("a prompt", |screen| screen.text().matches("You:").count() == 2).unwrap();
    assert!(!terminal.screen.text().contains("empty"), "{:?}", terminal.screen);
    say(&mut terminal, "Go on.");
    terminal.wait_for("It is empty.").unwrap();
    terminal.wait_until("a prompt", |screen| screen.text().matches("You:").count() == 3).unwrap();
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 0, "{said}");
    assert_eq!(said.matches("fs.list").count(), 1, "{said}");
}

#[test]
fn a_failed_model_is_asked_again_with_enter() {
    let world =
        world("scenario: fails once\nchat:\n  - fault: { fail: rate, message: \"overloaded\" }\n");
    let mut terminal = converse(&world, &["chat", "--project", "project"]);
    terminal.wait_for("You:").unwrap();
    say(&mut terminal, "Hello?");
    terminal.wait_for("Press Enter to try again").unwrap();
    terminal.wait_until("a prompt", |screen| screen.text().matches("You:").count() == 2).unwrap();
    terminal.press("\r").unwrap();
    terminal
        .wait_until("another failure", |screen| {
            screen.text().matches("Press Enter to try again").count() == 2
        })
        .unwrap();
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 5, "{said}");
    // Another process continues the conversation.
    world.write("scenario.yaml", "scenario: works\nchat:\n  - say: \"Here I am.\"\n");
    let mut terminal = converse(&world, &["chat", "latest"]);
    terminal.wait_for("Here I am.").unwrap();
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    assert_eq!(ended(terminal).0, 0);
}
