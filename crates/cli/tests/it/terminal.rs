//! The person at the terminal: a real one, as far as the program can tell.
#![cfg(unix)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::Child;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::World;

/// A program in a terminal.
struct Terminal {
    screen: File,
    child: Child,
    seen: String,
}

impl Terminal {
    fn start(world: &World, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize { ws_row: 50, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap();
        let slave = || File::options().read(true).write(true).open(path.to_str().unwrap()).unwrap();
        let mut command = world.command();
        command.args(args).env("TERM", "xterm").stdin(slave()).stdout(slave()).stderr(slave());
        let child = command.spawn().unwrap();
        Self { screen: File::from(master), child, seen: String::new() }
    }

    /// Reads until a text has come.
    fn wait_for(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !plain(&self.seen).contains(text) {
            let count = self.screen.read(&mut buffer).unwrap_or(0);
            assert!(count > 0, "it ended before it said {text:?}: {}", plain(&self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    }

    fn press(&mut self, keys: &str) {
        self.seen.clear();
        self.screen.write_all(keys.as_bytes()).unwrap();
    }

    /// How it ended, and what it said last.
    fn end(mut self) -> (i32, String) {
        let mut buffer = [0; 4096];
        // On Linux a terminal that nobody has open any more is an error for its reader.
        while let Ok(count @ 1..) = self.screen.read(&mut buffer) {
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        (self.child.wait().unwrap().code().unwrap(), plain(&self.seen))
    }
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string().replace('\r', "")
}

const RUN: [&str; 6] = ["run", "tiny", "--project", "project", "--model", "scripted:tiny.yaml"];

#[test]
fn a_person_is_asked_and_their_answer_goes_to_the_run() {
    let world = World::with_tiny();
    let mut terminal = Terminal::start(&world, &RUN);
    terminal.wait_for("Your answer:");
    terminal.press("\r");
    terminal.wait_for("The answer is empty");
    terminal.press("a flyer\r");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("✓ Completed"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
    let request = std::fs::read_to_string(world.path("project/artifacts/request.md")).unwrap();
    assert_eq!(request, "# Request\na flyer\n");
}

#[test]
fn escape_leaves_the_run_waiting_and_ctrl_c_interrupts() {
    let world = World::with_tiny();
    let mut terminal = Terminal::start(&world, &RUN);
    terminal.wait_for("Your answer:");
    terminal.press("\u{1b}");
    let (code, said) = terminal.end();
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("crewagent resume"), "{said}");
    let mut terminal = Terminal::start(&world, &["resume", "--model", "scripted:tiny.yaml"]);
    terminal.wait_for("Your answer:");
    terminal.press("\u{3}");
    let (code, said) = terminal.end();
    assert_eq!(code, 130, "{said}");
}

#[test]
fn nobody_is_asked_who_does_not_want_to() {
    let world = World::with_tiny();
    let terminal = Terminal::start(&world, &[&RUN[..], &["--no-input"]].concat());
    assert_eq!(terminal.end().0, 3);
    let terminal = Terminal::start(&world, &[&RUN[..], &["--json"]].concat());
    assert_eq!(terminal.end().0, 3);
}

#[test]
fn removing_runs_asks_first() {
    let world = World::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    let id = world.run_id();
    let mut terminal = Terminal::start(&world, &["runs", "rm", "latest"]);
    terminal.wait_for("Remove 1 run");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 130);
    assert_eq!(world.run_id(), id);
    let mut terminal = Terminal::start(&world, &["runs", "rm", "latest"]);
    terminal.wait_for("Remove 1 run");
    terminal.press("y\r");
    assert_eq!(terminal.end().0, 0);
}

#[test]
fn a_terminal_gets_colour_and_lines_that_fit() {
    let world = World::with_tiny();
    world.write(
        "long.yaml",
        format!("scenario: long\notherwise: {{ say: \"{}\" }}\n", "word ".repeat(60)),
    );
    let model =
        ["run", "tiny", "--project", "project", "--model", "scripted:long.yaml", "--no-input"];
    let mut terminal = Terminal::start(&world, &model);
    terminal.wait_for("Waiting for you");
    assert!(terminal.seen.contains("\u{1b}["), "{}", terminal.seen);
    let words = plain(&terminal.seen);
    let longest = words.lines().filter(|line| line.starts_with("  word")).map(str::len).max();
    assert!(longest.is_some_and(|longest| longest <= 60), "{words}");
    terminal.end();
}

#[test]
fn a_model_is_set_up_by_questions_and_its_key_is_not_shown() {
    const KEY: &str = "sk-typed-secret";
    let world = World::new();
    let mut terminal = Terminal::start(&world, &["models", "add"]);
    terminal.wait_for("Who serves the model?");
    terminal.press("deepseek\r");
    terminal.wait_for("Base URL:");
    terminal.press("\r");
    terminal.wait_for("Model:");
    terminal.press("some-model\r");
    terminal.wait_for("Key:");
    terminal.press(&format!("{KEY}\r"));
    terminal.wait_for("What do you want to call it?");
    assert!(!plain(&terminal.seen).contains(KEY), "{}", terminal.seen);
    terminal.press("\r");
    let (code, said) = terminal.end();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("added deepseek") && !said.contains(KEY), "{said}");
    let settings = std::fs::read_to_string(world.path("store/config.toml")).unwrap();
    let expected =
        "[models.deepseek]\nprofile = \"deepseek\"\nmodel = \"some-model\"\nkey = \"file\"\n";
    assert_eq!(settings, expected);
    let kept = std::fs::read_to_string(world.path("store/credentials.toml")).unwrap();
    assert!(kept.contains(KEY));
}

#[test]
fn setting_up_a_model_can_be_left_and_removing_one_asks_first() {
    let world = World::new();
    let mut terminal = Terminal::start(&world, &["models", "add"]);
    terminal.wait_for("Who serves the model?");
    terminal.press("\u{1b}");
    assert_eq!(terminal.end().0, 130);
    assert!(!world.path("store").exists());
    world.write("store/config.toml", "[models.a]\nmodel = \"m\"\nprofile = \"ollama\"\n");
    let mut terminal = Terminal::start(&world, &["models", "rm", "a"]);
    terminal.wait_for("Remove 1 model");
    terminal.press("n\r");
    assert_eq!(terminal.end().0, 130);
    let mut terminal = Terminal::start(&world, &["models", "rm", "a"]);
    terminal.wait_for("Remove 1 model");
    terminal.press("y\r");
    assert_eq!(terminal.end().0, 0);
    assert_eq!(std::fs::read_to_string(world.path("store/config.toml")).unwrap().trim(), "");
}
