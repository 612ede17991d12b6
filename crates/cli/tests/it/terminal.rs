//! Prompts and output on a pseudoterminal.
#![cfg(unix)]

use crewagent_testkit::pty::{self, Terminal};

use crate::support::CliFixture;

const ROWS: u16 = 50;
const COLUMNS: u16 = 60;

/// Hosts the program of every terminal below; each starts this test as a child.
#[test]
fn host() {
    pty::become_program_if_asked();
}

pub(crate) fn start(world: &CliFixture, args: &[&str]) -> Terminal {
    start_in(world, args, ROWS, COLUMNS)
}

fn start_in(world: &CliFixture, args: &[&str], rows: u16, columns: u16) -> Terminal {
    let mut command = world.command();
    command.args(args).env("TERM", "xterm-256color");
    Terminal::start(&command, &["--exact", "terminal::host"], rows, columns).unwrap()
}

/// Waits until the prompt accepts input. Keys typed before it may be lost.
pub(crate) fn prompt(terminal: &mut Terminal) {
    let is_asked = |text: &str| text.ends_with("You:") || text.ends_with("Your answer:");
    terminal.wait_until("a prompt", |screen| is_asked(screen.text().trim_end())).unwrap();
}

/// Returns the exit code and the whole output.
pub(crate) fn ended(terminal: Terminal) -> (i32, String) {
    let (code, said) = terminal.end().unwrap();
    (code.unwrap_or(-1), said)
}

const RUN: [&str; 6] = ["run", "tiny", "--project", "project", "--model", "scripted:tiny.yaml"];

/// Returns the command line with this model.
fn run_of(model: &str) -> [&str; 6] {
    ["run", "tiny", "--project", "project", "--model", model]
}

fn request(world: &CliFixture) -> String {
    std::fs::read_to_string(world.path("project/artifacts/request.md")).unwrap()
}

#[test]
fn a_person_is_asked_and_their_answer_goes_to_the_run() {
    let world = CliFixture::with_tiny();
    let mut terminal = start(&world, &RUN);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("\r").unwrap();
    terminal.wait_for("The answer is empty").unwrap();
    terminal.press("a flyer\r").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("✓ Completed"), "{said}");
    assert!(said.contains("Your answer: a flyer\n"), "{said}");
    assert!(!said.contains("The answer is empty"), "{said}");
    assert_eq!(request(&world), "# Request\na flyer\n");
}

#[test]
fn escape_and_ctrl_d_leave_the_run_waiting_and_ctrl_c_interrupts() {
    let world = CliFixture::with_tiny();
    let mut terminal = start(&world, &RUN);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("\u{1b}").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("crewagent resume"), "{said}");
    for (key, expected) in [("\u{4}", 3), ("\u{3}", 130)] {
        let mut terminal = start(&world, &["resume", "--model", "scripted:tiny.yaml"]);
        terminal.wait_for("Your answer:").unwrap();
        terminal.press(key).unwrap();
        let (code, said) = ended(terminal);
        assert_eq!(code, expected, "{said}");
    }
}

#[test]
fn ctrl_c_clears_a_line_before_it_interrupts() {
    let world = CliFixture::with_tiny();
    let mut terminal = start(&world, &RUN);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("no, wait").unwrap();
    terminal.wait_for("no, wait").unwrap();
    terminal.press("\u{3}").unwrap();
    terminal.wait_until("an empty line", |screen| !screen.text().contains("no, wait")).unwrap();
    terminal.press("a poster\r").unwrap();
    assert_eq!(ended(terminal).0, 0);
    assert_eq!(request(&world), "# Request\na poster\n");
}

#[test]
fn what_was_typed_before_comes_back() {
    let world = CliFixture::with_tiny();
    let mut terminal = start(&world, &RUN);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("一张传单 🏃\r").unwrap();
    assert_eq!(ended(terminal).0, 0);
    // The next run does not find the files of this one.
    std::fs::remove_dir_all(world.path("project/artifacts")).unwrap();
    let mut terminal = start(&world, &RUN);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("\u{1b}[A").unwrap();
    terminal.wait_for("Your answer: 一张传单 🏃").unwrap();
    // The cursor is after wide letters of 2 columns each.
    assert_eq!(terminal.screen.cursor().1, 13 + 4 * 2 + 1 + 2);
    terminal.press("!\r").unwrap();
    assert_eq!(ended(terminal).0, 0);
    assert_eq!(request(&world), "# Request\n一张传单 🏃!\n");
    let history = std::fs::read_to_string(world.path("store/history")).unwrap();
    assert_eq!(history, "一张传单 🏃\n一张传单 🏃!\n");
}

#[test]
fn an_input_may_have_several_lines() {
    let world = CliFixture::with_tiny();
    let mut terminal = start(&world, &RUN);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("one\u{1b}\rtwo\\\rthree").unwrap();
    terminal.wait_for("three").unwrap();
    assert!(!terminal.screen.text().contains('\\'), "{:?}", terminal.screen);
    terminal.press("\r").unwrap();
    assert_eq!(ended(terminal).0, 0);
    assert_eq!(request(&world), "# Request\none\ntwo\nthree\n");
}

#[test]
fn a_thousand_pasted_lines_are_one_input() {
    let world = CliFixture::with_tiny();
    let mut terminal = start(&world, &RUN);
    terminal.wait_for("Your answer:").unwrap();
    let lines: Vec<String> = (1..=1000).map(|n| format!("第 {n} 行 \\")).collect();
    terminal.paste(&lines.join("\n")).unwrap();
    terminal.wait_for("第 1000 行").unwrap();
    terminal.press(".\r").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 0, "{said}");
    assert_eq!(request(&world), format!("# Request\n{}.\n", lines.join("\n")));
}

#[test]
fn paths_of_the_project_are_completed() {
    let world = CliFixture::with_tiny();
    world.write("project/notes/一.md", "");
    world.write("project/notes/two.md", "");
    let mut terminal = start(&world, &RUN);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("see @pro\t").unwrap();
    terminal.wait_for("see @project/").unwrap();
    // The only folder is shown as a hint before it is completed.
    terminal.press("no").unwrap();
    terminal.wait_for("see @project/notes/").unwrap();
    terminal.press("\tt\t\r").unwrap();
    assert_eq!(ended(terminal).0, 0);
    assert_eq!(request(&world), "# Request\nsee @project/notes/two.md\n");
}

#[test]
fn commands_at_the_prompt_are_not_sent_to_the_run() {
    let world = CliFixture::with_tiny();
    let mut terminal = start_in(&world, &RUN, 90, 90);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("/he\t\r").unwrap();
    terminal.wait_for("where the run is, and what it took").unwrap();
    prompt(&mut terminal);
    terminal.press("/status\r").unwrap();
    terminal.wait_for("1/3 step-01-ask").unwrap();
    terminal.wait_for("1,130 tokens").unwrap();
    prompt(&mut terminal);
    terminal.press("/last\r").unwrap();
    terminal.wait_for("No tool was called").unwrap();
    prompt(&mut terminal);
    terminal.press("/pause\r").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 3, "{said}");
    let mut terminal = start(&world, &["resume", "--model", "scripted:tiny.yaml"]);
    terminal.wait_for("Your answer:").unwrap();
    terminal.press("/stop\r").unwrap();
    let (code, said) = ended(terminal);
    assert!(code == 130 && said.contains("crewagent resume"), "{said}");
}

#[test]
fn the_last_call_is_shown_in_full_and_a_written_file_as_what_changed() {
    let world = CliFixture::with_tiny();
    world.write("project/plan.md", "# Plan\none\ntwo\nthree\n");
    world.write(
        "edit.yaml",
        "scenario: edit\nnodes:\n  step-01-ask:\n    - calls: [{ fs.read: { path: \"@project/plan.md\" } }]\n    - calls: [{ fs.write: { path: \"@project/plan.md\", content: \"# Plan\\none\\n二\\nthree\\n\" } }]\n    - say: Done. What else?\n",
    );
    let mut terminal = start(&world, &run_of("scripted:edit.yaml"));
    terminal.wait_for("You:").unwrap();
    let seen = terminal.screen.text();
    assert!(seen.contains("✓ fs.write @project/plan.md"), "{seen}");
    assert!(seen.contains("   3 - two\n       3 + 二\n"), "{seen}");
    assert!(seen.contains("   2   one\n") && !seen.contains("+ one"), "{seen}");
    prompt(&mut terminal);
    terminal.press("/last\r").unwrap();
    terminal.wait_for("path: @project/plan.md").unwrap();
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    assert_eq!(ended(terminal).0, 3);
}

#[test]
fn the_model_is_shown_as_it_means_it() {
    let world = CliFixture::with_tiny();
    world.write(
        "form.yaml",
        "scenario: form\notherwise:\n  say: \"# 标题\\n\\nSome **bold** words.\\n\\n| 名字 | n |\\n|---|--:|\\n| 一二三 | 1 |\\n| 🏃 | 23 |\\n\\n- one\\n- two\"\n",
    );
    let mut terminal = start(&world, &run_of("scripted:form.yaml"));
    terminal.wait_for("You:").unwrap();
    let seen = terminal.screen.text();
    let expected = "  标题\n\n  Some bold words.\n\n  名字   │  n\n  ───────┼───\n  一二三 │  1\n  🏃     │ 23\n\n  • one\n  • two\n";
    assert!(seen.contains(expected), "{seen}");
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    assert_eq!(ended(terminal).0, 3);
}

#[test]
fn text_follows_the_window() {
    let world = CliFixture::with_tiny();
    let paragraph = "word ".repeat(40);
    world.write(
        "slow.yaml",
        format!("scenario: slow\npace: {{ characters: 5, milliseconds: 10 }}\notherwise: {{ say: \"FIRST {paragraph}\\n\\nSECOND {paragraph}\\n\\nTHIRD {paragraph}?\" }}\n"),
    );
    let mut terminal = start(&world, &run_of("scripted:slow.yaml"));
    terminal.wait_for("SECOND").unwrap();
    terminal.resize(ROWS, 36).unwrap();
    terminal.wait_for("You:").unwrap();
    let seen = terminal.screen.text();
    let third = seen.split("THIRD").nth(1).unwrap();
    let widest = third.lines().filter(|line| line.contains("word")).map(str::len).max();
    assert!(widest.is_some_and(|widest| (28..=36).contains(&widest)), "{seen}");
    assert_eq!(third.matches("word").count(), 40, "{seen}");
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    assert_eq!(ended(terminal).0, 3);
}

/// Starts a run whose model says a few words and then stalls.
fn hanging(world: &CliFixture) -> Terminal {
    world.write("hang.yaml", "scenario: hang\notherwise: { say: Wait., fault: { hang: true } }\n");
    let mut terminal = start(world, &run_of("scripted:hang.yaml"));
    terminal.wait_for("Ctrl-C pauses").unwrap();
    terminal
}

#[test]
fn ctrl_c_twice_stops_a_model_that_hangs() {
    let world = CliFixture::with_tiny();
    let mut terminal = hanging(&world);
    assert!(terminal.screen.text().contains("model scripted"), "{:?}", terminal.screen);
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("Pausing after the call in hand").unwrap();
    terminal.wait_for("pausing, Ctrl-C stops now").unwrap();
    terminal.press("\u{3}").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 130, "{said}");
    assert!(said.contains("Stopped") && said.contains("crewagent resume"), "{said}");
    // The status line is gone, and nothing was overwritten.
    assert!(!said.contains("Ctrl-C pauses") && !said.contains("^C"), "{said}");
    assert!(said.contains("Pausing after the call in hand. Press"), "{said}");
}

#[test]
fn a_silence_in_the_middle_of_words_is_told_below_them() {
    let world = CliFixture::with_tiny();
    world.write(
        "hang.yaml",
        "scenario: hang\notherwise: { say: \"So far and no\", fault: { hang: true } }\n",
    );
    let mut terminal = start(&world, &run_of("scripted:hang.yaml"));
    terminal.wait_for("Ctrl-C pauses").unwrap();
    assert!(terminal.screen.text().contains("  So far and\n  "), "{:?}", terminal.screen);
    terminal.press("\u{3}").unwrap();
    terminal.wait_for("pausing, Ctrl-C stops now").unwrap();
    terminal.press("\u{3}").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 130, "{said}");
    assert!(said.contains("  So far and\nPausing after the call in hand. Press"), "{said}");
    assert!(!said.contains("Ctrl-C stops now"), "{said}");
}

#[test]
fn ctrl_c_once_pauses_in_the_middle_of_words() {
    let world = CliFixture::with_tiny();
    world.write(
        "slow.yaml",
        "scenario: slow\npace: { characters: 4, milliseconds: 20 }\nnodes:\n  step-01-ask:\n    - say: \"Begin **here** and take a little while to say it.\\n\\nAt last the **end**.\"\n      calls: [{ fs.list: { path: \"@project\" } }]\n    - say: \"Never said.\"\n",
    );
    let mut terminal = start(&world, &run_of("scripted:slow.yaml"));
    terminal.wait_for("Begin").unwrap();
    terminal.press("\u{3}").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 130, "{said}");
    assert!(said.contains("Paused") && !said.contains("Never said."), "{said}");
    assert!(said.contains("Pausing after the call in hand") && !said.contains("^C"), "{said}");
    assert!(said.contains("  At last the end."), "{said}");
    for word in ["Begin", "little", "while", "say it."] {
        assert_eq!(said.matches(word).count(), 1, "{word}: {said}");
    }
}

#[test]
fn what_is_typed_ahead_waits_for_the_prompt() {
    let world = CliFixture::with_tiny();
    let slow = std::fs::read_to_string(world.path("tiny.yaml")).unwrap();
    world.write("slow.yaml", format!("pace: {{ characters: 2, milliseconds: 30 }}\n{slow}"));
    let mut terminal = start(&world, &run_of("scripted:slow.yaml"));
    terminal.wait_for("Hello.").unwrap();
    terminal.press("typed early\r").unwrap();
    let (code, said) = ended(terminal);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Hello. I need to know what to write.\n"), "{said}");
    assert_eq!(request(&world), "# Request\ntyped early\n");
}

#[test]
fn a_pipe_gets_no_escape_sequences() {
    let world = CliFixture::with_tiny();
    world.write("form.yaml", "scenario: form\notherwise: { say: \"# T\\n\\n**b**\\n\" }\n");
    let ran = world.run(&[&run_of("scripted:form.yaml")[..], &["--no-input"]].concat());
    assert!(ran.out.contains("  # T\n\n  **b**\n"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{ran:?}");
}

#[test]
fn without_colour_lines_are_final() {
    let world = CliFixture::with_tiny();
    world.write("form.yaml", "scenario: form\notherwise: { say: \"**b**\" }\n");
    let mut command = world.command();
    command.args(run_of("scripted:form.yaml")).arg("--no-input");
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    let terminal = Terminal::start(&command, &["--exact", "terminal::host"], 50, 60).unwrap();
    let (code, said) = ended(terminal);
    assert!(code == 3 && said.contains("  **b**\n"), "{said}");
}

#[test]
fn nobody_is_asked_who_does_not_want_to() {
    let world = CliFixture::with_tiny();
    let terminal = start(&world, &[&RUN[..], &["--no-input"]].concat());
    assert_eq!(ended(terminal).0, 3);
    let terminal = start(&world, &[&RUN[..], &["--json"]].concat());
    assert_eq!(ended(terminal).0, 3);
}

#[test]
fn removing_runs_asks_first() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    let id = world.run_id();
    let mut terminal = start(&world, &["runs", "rm", "latest"]);
    terminal.wait_for("Remove 1 run").unwrap();
    assert!(terminal.screen.text().contains(&id), "the run is named before the question");
    terminal.press("n\r").unwrap();
    assert_eq!(ended(terminal).0, 130);
    assert_eq!(world.run_id(), id);
    let mut terminal = start(&world, &["runs", "rm", "latest"]);
    terminal.wait_for("Remove 1 run").unwrap();
    terminal.press("y\r").unwrap();
    assert_eq!(ended(terminal).0, 0);
}

#[test]
fn the_files_are_on_the_screen_before_a_revert_asks() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &["--input", "a brief"]);
    let mut terminal = start(&world, &["runs", "revert", "latest"]);
    terminal.wait_for("Take back 2 files").unwrap();
    let shown = terminal.screen.text();
    let (files, question) =
        (shown.find("artifacts/brief.md").unwrap(), shown.find("Take back").unwrap());
    assert!(files < question, "{shown}");
    terminal.press("n\r").unwrap();
    assert_eq!(ended(terminal).0, 130);
    assert!(world.path("project/artifacts/brief.md").exists());
}

#[test]
fn a_terminal_gets_colour_and_lines_that_fit() {
    let world = CliFixture::with_tiny();
    world.write(
        "long.yaml",
        format!("scenario: long\notherwise: {{ say: \"{}\" }}\n", "word ".repeat(60)),
    );
    let model =
        ["run", "tiny", "--project", "project", "--model", "scripted:long.yaml", "--no-input"];
    let mut terminal = start(&world, &model);
    terminal.wait_for("Waiting for you").unwrap();
    assert!(terminal.written.windows(2).any(|pair| pair == b"\x1b["));
    let words = terminal.screen.text();
    let longest = words.lines().filter(|line| line.starts_with("  word")).map(str::len).max();
    assert!(longest.is_some_and(|longest| longest <= 60), "{words}");
    ended(terminal);
}

#[test]
fn a_model_is_set_up_by_questions_and_its_key_is_not_shown() {
    const KEY: &str = "sk-typed-secret";
    let world = CliFixture::new();
    let mut terminal = start(&world, &["models", "add"]);
    terminal.wait_for("Who serves the model?").unwrap();
    terminal.press("deepseek\r").unwrap();
    terminal.wait_for("Base URL:").unwrap();
    terminal.press("\r").unwrap();
    terminal.wait_for("Model:").unwrap();
    terminal.press("some-model\r").unwrap();
    terminal.wait_for("Key:").unwrap();
    terminal.press(&format!("{KEY}\r")).unwrap();
    terminal.wait_for("What do you want to call it?").unwrap();
    assert!(!String::from_utf8_lossy(&terminal.written).contains(KEY), "{:?}", terminal.screen);
    terminal.press("\r").unwrap();
    let (code, said) = ended(terminal);
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
    let world = CliFixture::new();
    let mut terminal = start(&world, &["models", "add"]);
    terminal.wait_for("Who serves the model?").unwrap();
    terminal.press("\u{1b}").unwrap();
    assert_eq!(ended(terminal).0, 130);
    assert!(!world.path("store").exists());
    world.write("store/config.toml", "[models.a]\nmodel = \"m\"\nprofile = \"ollama\"\n");
    let mut terminal = start(&world, &["models", "rm", "a"]);
    terminal.wait_for("Remove 1 model").unwrap();
    terminal.press("n\r").unwrap();
    assert_eq!(ended(terminal).0, 130);
    let mut terminal = start(&world, &["models", "rm", "a"]);
    terminal.wait_for("Remove 1 model").unwrap();
    terminal.press("y\r").unwrap();
    assert_eq!(ended(terminal).0, 0);
    assert_eq!(std::fs::read_to_string(world.path("store/config.toml")).unwrap().trim(), "");
}

#[test]
fn a_form_is_filled_in_field_by_field() {
    let world = CliFixture::with_tiny();
    world.write("form.yaml", crate::runs::FORM);
    let mut terminal = start_in(&world, &run_of("scripted:form.yaml"), 90, 70);
    terminal.wait_for("1/4 Your name").unwrap();
    prompt(&mut terminal);
    assert!(
        terminal.screen.text().contains("┃ As it stands on the door\n"),
        "{:?}",
        terminal.screen
    );
    terminal.press("\r").unwrap();
    terminal.wait_for("`name` is missing").unwrap();
    terminal.press("Ada\r").unwrap();
    terminal.wait_for("2/4 age").unwrap();
    prompt(&mut terminal);
    terminal.press("12\r").unwrap();
    terminal.wait_for("`age` must be at least 18; you wrote 12.").unwrap();
    terminal.press("\u{3}").unwrap();
    prompt(&mut terminal);
    // A command in between keeps the filled fields.
    terminal.press("/status\r").unwrap();
    terminal.wait_for("  spent ").unwrap();
    prompt(&mut terminal);
    terminal.press("36\r").unwrap();
    terminal.wait_for("3/4 size").unwrap();
    terminal.wait_for("Enter alone takes small").unwrap();
    prompt(&mut terminal);
    terminal.press("2\r").unwrap();
    terminal.wait_for("4/4 extras").unwrap();
    prompt(&mut terminal);
    terminal.press("1,3\r").unwrap();
    terminal.wait_for("For Ada of 36, large.").unwrap();
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    assert_eq!(ended(terminal).0, 3);
    let logs = world.run(&["runs", "logs", "--json"]).out;
    let typed = r#"{\"name\":\"Ada\",\"age\":36,\"size\":\"large\",\"extras\":[\"tea\",\"jam\"]}"#;
    assert!(logs.contains(typed), "{logs}");
}

#[test]
fn a_form_that_is_left_waits_for_its_answer() {
    let world = CliFixture::with_tiny();
    world.write("form.yaml", crate::runs::FORM);
    let mut terminal = start_in(&world, &run_of("scripted:form.yaml"), 90, 70);
    terminal.wait_for("1/4 Your name").unwrap();
    prompt(&mut terminal);
    terminal.press("Ada\r").unwrap();
    terminal.wait_for("2/4 age").unwrap();
    prompt(&mut terminal);
    terminal.press("\u{1b}").unwrap();
    assert_eq!(ended(terminal).0, 3);
    let input = r#"{"name": "Bob", "age": 40}"#;
    let ran = world.run(&["resume", "--model", "scripted:form.yaml", "--input", input]);
    assert!(ran.out.contains("For Bob of 40, small."), "{ran:?}");
}

#[test]
fn a_write_is_shown_and_waits_for_a_key() {
    let world = CliFixture::with_tiny();
    world.write("project/plan.md", "# Plan\ntwo\n");
    world.write("edits.yaml", crate::runs::EDITS);
    let mut terminal =
        start_in(&world, &[&run_of("scripted:edits.yaml")[..], &["--ask-writes"]].concat(), 60, 80);
    terminal.wait_for("Allow `fs.write` to change `@project/plan.md`?").unwrap();
    prompt(&mut terminal);
    let seen = terminal.screen.text();
    assert!(seen.contains("┃ -two\n") && seen.contains("┃ +three\n"), "{seen}");
    terminal.press("\r").unwrap();
    terminal.wait_for("Please answer once, run, or deny").unwrap();
    terminal.press("o\r").unwrap();
    terminal.wait_for("┃ +four").unwrap();
    prompt(&mut terminal);
    terminal.press("r\r").unwrap();
    terminal.wait_for("Done.").unwrap();
    prompt(&mut terminal);
    terminal.press("\u{4}").unwrap();
    assert_eq!(ended(terminal).0, 3);
    let plan = std::fs::read_to_string(world.path("project/plan.md")).unwrap();
    assert_eq!(plan, "# Plan\nfour\n");
}
