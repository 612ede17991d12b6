//! `run` and `resume`, as users and scripts call them.

use crate::support::{CliFixture, FILTERS};

macro_rules! assert_transcript {
    ($name:literal, $text:expr) => {
        insta::with_settings!({ filters => FILTERS.to_vec(), omit_expression => true }, {
            insta::assert_snapshot!($name, $text);
        });
    };
}

#[test]
fn a_run_with_its_answers_goes_to_the_end() {
    let world = CliFixture::with_tiny();
    let ran = world.run_tiny("tiny.yaml", &["--input", "a flyer"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert_transcript!("run_to_the_end", ran.out);
    let request = std::fs::read_to_string(world.path("project/artifacts/request.md")).unwrap();
    assert_eq!(request, "# Request\na flyer\n");
}

#[test]
fn without_an_answer_it_waits_and_says_how_to_go_on() {
    let world = CliFixture::with_tiny();
    let ran = world.run_tiny("tiny.yaml", &[]);
    assert_eq!((ran.code, ran.err.as_str()), (3, ""), "{ran:?}");
    assert_transcript!("run_waits", ran.out);
    let again = world.run(&["resume", "--model", "scripted:tiny.yaml"]);
    assert_eq!(again.code, 3);
    assert_transcript!("resume_still_waits", again.out);
    let last = ran.out.lines().last().unwrap().trim();
    let command = last.strip_prefix("crewagent ").unwrap().replace("\"your answer\"", "a-flyer");
    let done = world.run(&command.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, 0, "{done:?}");
    assert_transcript!("resume_to_the_end", done.out);
}

#[test]
fn words_after_the_end_go_to_the_model_too() {
    let world = CliFixture::with_tiny();
    let ran = world.run_tiny("tiny.yaml", &["--input", "a flyer", "--input", "thank you"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("You said: thank you."), "{}", ran.out);
    let more = world.run(&["resume", &world.run_id(), "--model", "scripted:tiny.yaml"]);
    assert_eq!(more.code, 0, "a run that is complete has nothing to do: {more:?}");
    assert!(more.out.contains("✓ Completed"), "{}", more.out);
}

#[test]
fn the_model_comes_from_flag_environment_or_settings() {
    let world = CliFixture::with_tiny();
    let start = ["run", "tiny", "--project", "project", "--input", "x"];
    let none = world.run(&start);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("crewagent demo") && none.err.contains("scripted:FILE"), "{none:?}");
    let output =
        world.command().args(start).env("CREWAGENT_MODEL", "scripted:tiny.yaml").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    world.run(&["config", "set", "run.model", "scripted:tiny.yaml"]);
    // The second run finds the files of the first one.
    let again = [&start[..], &["--outputs", "exist"]].concat();
    assert_eq!(world.run(&again).code, 0);
    let unknown = world.run(&[&start[..], &["--model", "gpt"]].concat());
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("there is no model `gpt`"), "{}", unknown.err);
}

#[test]
fn a_recorded_run_answers_another_one_until_they_differ() {
    let world = CliFixture::with_tiny();
    world.write("talk.yaml", "scenario: talk\nnodes:\n  step-01-ask:\n    - say: \"Hello?\"\n    - say: \"You said {{input}}. What else?\"\n");
    world.run_tiny("talk.yaml", &["--input", "tea"]);
    let model = format!("replay:{}", world.run_id());
    let again = |words: &str| {
        let start = ["run", "tiny", "--project", "project", "--model", &model];
        world.run(&[&start[..], &["--input", words]].concat())
    };
    let same = again("tea");
    assert_eq!(same.code, 3, "{same:?}");
    assert!(same.out.contains("You said tea."), "{}", same.out);
    let other = again("coffee");
    assert_eq!(other.code, 5, "{other:?}");
    assert!(other.err.contains("- tea") && other.err.contains("+ coffee"), "{}", other.err);
}

#[test]
fn a_package_is_run_from_a_folder_a_file_or_the_store() {
    let world = CliFixture::with_tiny();
    world.run(&["package", "pack", "tiny", "-o", "tiny.bmad"]);
    world.run(&["package", "import", "tiny.bmad"]);
    std::fs::rename(world.path("tiny"), world.path("folder")).unwrap();
    for package in ["folder", "tiny.bmad", "tiny", "tiny@0.1.0"] {
        let ran = world.run(&[
            "run",
            package,
            "--project",
            "project",
            "--model",
            "scripted:tiny.yaml",
            "--input",
            "x",
        ]);
        assert_eq!(ran.code, 0, "{package}: {ran:?}");
        std::fs::remove_dir_all(world.path("project/artifacts")).unwrap();
    }
    let listed = world.run(&["package", "list"]).out;
    assert_eq!(listed.lines().count(), 2, "the same bytes are one package: {listed}");
}

#[test]
fn variables_are_known_from_the_start() {
    let world = CliFixture::with_tiny();
    world.write("vars.yaml", "scenario: v\nnodes:\n  step-01-ask:\n    - when: { variables: { topic: tea, cups: 3 } }\n      say: \"Fine?\"\n");
    let ran = world.run_tiny("vars.yaml", &["--var", "topic=tea", "--var", "cups=3"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.out.contains("Fine?"));
    assert!(world.run(&["runs", "show"]).out.contains("topic = tea"));
    assert_eq!(world.run_tiny("vars.yaml", &["--var", "topic"]).code, 2);
}

#[test]
fn a_guided_run_asks_before_each_move() {
    let world = CliFixture::with_tiny();
    let ran = world.run_tiny("tiny.yaml", &["--guided", "--input", "a flyer"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(
        ran.out.contains("Go on from \"Ask for the request\" to \"Write the brief\"?"),
        "{}",
        ran.out
    );
    let more =
        world.run(&["resume", "--model", "scripted:tiny.yaml", "--input", "yes", "--input", "yes"]);
    assert_eq!(more.code, 0, "{more:?}");
}

#[test]
fn a_limit_stops_with_its_own_exit_code_and_can_be_raised() {
    let world = CliFixture::with_tiny();
    let ran = world.run_tiny("tiny.yaml", &["--input", "a flyer", "--max-turns", "2"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_transcript!("run_limited", ran.out);
    let more = world.run(&["resume", "--model", "scripted:tiny.yaml", "--max-turns", "50"]);
    assert_eq!(more.code, 0, "{more:?}");
}

#[test]
fn a_limit_of_the_settings_holds_too() {
    let world = CliFixture::with_tiny();
    world.run(&["config", "set", "run.max-tokens", "1"]);
    let ran = world.run_tiny("tiny.yaml", &["--input", "a flyer"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.out.contains("--max-tokens"), "{}", ran.out);
}

#[test]
fn a_limit_on_money_stops_the_run_and_says_which_it_was() {
    let world = CliFixture::with_tiny();
    world.write("dear.yaml", "scenario: dear\notherwise: { calls: [{ fs.search: { query: \"word {{turn}}\" } }], usage: { input: 1000, output: 10, cost: 0.02 } }\n");
    let ran = world.run_tiny("dear.yaml", &["--max-cost", "0.05"]);
    assert_eq!((ran.code, ran.err.as_str()), (4, ""), "{ran:?}");
    assert!(ran.out.contains("Stopped by the limit of cost"), "{}", ran.out);
    assert!(ran.out.contains("3 turns, 3,030 tokens, $0.0600"), "{}", ran.out);
    let advice = "The limit is $0.05 for one input. Go on with the same again, or with another one (--max-cost AMOUNT):";
    assert!(ran.out.contains(advice), "{}", ran.out);
    assert!(world.run(&["runs", "show"]).out.contains(advice));
    // The same limit again, then a larger one.
    let more = world.run(&["resume", "--model", "scripted:dear.yaml"]);
    assert_eq!(more.code, 4, "{more:?}");
    assert!(more.out.contains("6 turns"), "{}", more.out);
    let more = world.run(&["resume", "--model", "scripted:dear.yaml", "--max-cost", "0.1"]);
    assert!(more.out.contains("11 turns") && more.out.contains("The limit is $0.1 "), "{more:?}");
    let json = world.run(&["resume", "--model", "scripted:dear.yaml", "--json"]);
    assert!(json.out.contains("\"reason\":\"limit-cost\""), "{json:?}");
    assert!(json.err.contains("--max-cost AMOUNT"), "{json:?}");
}

#[test]
fn a_limit_on_money_that_cannot_be_kept_is_told_once() {
    let world = CliFixture::with_tiny();
    let warning = "warning: the price of this model is not known, so --max-cost cannot stop the run; say what it costs with `crewagent models add NAME --price IN,OUT`, or set --max-tokens N\n";
    for more in [["--max-cost", "1"].as_slice(), &["--max-cost", "1", "--json"]] {
        let ran = world.run_tiny("tiny.yaml", &[&["--input", "a flyer"], more].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.err.matches(warning).count(), 1, "{}", ran.err);
        std::fs::remove_dir_all(world.path("project/artifacts")).unwrap();
    }
    let ran = world.run_tiny("tiny.yaml", &["--input", "a flyer", "--max-tokens", "99000"]);
    assert_eq!(ran.err, "");
}

#[test]
fn resume_without_a_name_means_the_newest_unfinished_run() {
    let world = CliFixture::with_tiny();
    let none = world.run(&["resume", "--model", "scripted:tiny.yaml"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("there is no unfinished run"), "{}", none.err);
    world.run_tiny("tiny.yaml", &[]);
    std::fs::create_dir(world.path("other")).unwrap();
    let elsewhere = world.run(&["resume", "--project", "other", "--model", "scripted:tiny.yaml"]);
    assert_eq!(elsewhere.code, 2);
    let there = ["resume", "--project", "project", "--model", "scripted:tiny.yaml", "--input", "x"];
    assert_eq!(world.run(&there).code, 0);
    assert_eq!(world.run(&there).code, 2, "it is complete now");
}

#[test]
fn a_run_is_looked_for_in_the_project_that_is_named() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    std::fs::create_dir(world.path("other")).unwrap();
    let id = world.run_id();
    for reference in [id.as_str(), "latest"] {
        let resume = |project: &str| {
            let model = ["--model", "scripted:tiny.yaml", "--no-input"];
            world.run(&[&["resume", reference, "--project", project][..], &model].concat())
        };
        assert_eq!(resume("project").code, 3);
        assert_eq!(resume("other").code, 2);
    }
    let elsewhere = world.run(&["resume", &id, "--project", "other"]);
    let says = format!("the run {id} belongs to another project than `other`; leave out --project");
    assert!(elsewhere.err.contains(&says), "{}", elsewhere.err);
}

#[test]
fn a_package_that_needs_the_network_says_so_before_it_is_imported() {
    let world = CliFixture::with_tiny();
    let manifest = world.path("tiny/bmad.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let text = text.replacen('{', "{ \"runtime\": { \"requiresNetwork\": true },", 1);
    std::fs::write(&manifest, text).unwrap();
    let ran = world.run_tiny("tiny.yaml", &["--json"]);
    assert!(ran.err.contains("says that its steps need the network"), "{}", ran.err);
}

#[test]
fn a_run_goes_on_with_the_model_that_it_asked_for() {
    let world = CliFixture::with_tiny();
    world.write("other.yaml", "scenario: another one\notherwise: { say: I am another one. }\n");
    let set = ["config", "set", "run.model", "scripted:other.yaml"];
    assert_eq!(world.run(&set).code, 0);
    world.run_tiny("tiny.yaml", &[]);
    let id = world.run_id();
    // Its scenario is gone, and the default model does not replace it.
    std::fs::rename(world.path("tiny.yaml"), world.path("moved.yaml")).unwrap();
    let gone = world.run(&["resume", &id, "--input", "a flyer"]);
    assert_eq!(gone.code, 2);
    assert!(gone.err.contains("tiny.yaml") && gone.err.contains("--model"), "{}", gone.err);
    std::fs::rename(world.path("moved.yaml"), world.path("tiny.yaml")).unwrap();
    let ran = world.run(&["resume", &id, "--input", "a flyer"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // A model named on the command line stays the model of the run.
    let other = ["resume", &id, "--input", "Who?", "--model", "scripted:other.yaml"];
    for asked in [&other[..], &other[..4]] {
        let ran = world.run(asked);
        assert!(ran.out.contains("I am another one."), "{ran:?}");
    }
}

#[test]
fn a_run_is_named_by_the_beginning_or_the_end_of_its_id() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    let id = world.run_id();
    let (start, end) = (&id[..10], &id[id.len() - 5..]);
    for name in [id.as_str(), start, end, "latest"] {
        assert_eq!(world.run(&["runs", "show", name]).code, 0, "{name}");
    }
}

#[test]
fn a_run_is_named_after_the_first_answer_until_it_is_renamed() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &["--input", "a flyer", "--input", "thank you"]);
    let titled = |title: &str| {
        let listed = world.run(&["runs", "list", "--all", "--json"]).out;
        assert!(listed.contains(&format!("\"title\": \"{title}\"")), "{listed}");
    };
    titled("a flyer");
    let renamed = world.run(&["runs", "rename", "latest", " Flyers\tof May "]);
    assert_eq!(renamed.code, 0, "{renamed:?}");
    assert!(renamed.out.ends_with("Flyers of May\n"), "{renamed:?}");
    titled("Flyers of May");
    assert_eq!(world.run(&["runs", "rename", "latest", " "]).code, 2);
}

#[test]
fn output_is_plain_in_a_pipe_and_under_no_color() {
    let world = CliFixture::with_tiny();
    let ran = world.run_tiny("tiny.yaml", &["--input", "x"]);
    assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'));
    let forced =
        world.command().args(["runs", "show"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(
        String::from_utf8(forced.stdout).unwrap().contains('\u{1b}'),
        "colour can be asked for"
    );
    let plain = world
        .command()
        .args(["runs", "show"])
        .envs([("NO_COLOR", "1"), ("TERM", "xterm-256color")])
        .output()
        .unwrap();
    assert!(!String::from_utf8(plain.stdout).unwrap().contains('\u{1b}'));
}

#[test]
fn words_of_a_model_cannot_steer_the_terminal() {
    let world = CliFixture::with_tiny();
    let say = r#"{"scenario": "x", "otherwise": {"say": "a\u001b[31m\u202eb\u009bc\r\nd", "calls": [{"fs.read": {"path": "@project/\u001b[2J"}}]}}"#;
    world.write("evil.json", say);
    let ran = world.run_tiny("evil.json", &["--max-turns", "3"]);
    let json = world.run_tiny("evil.json", &["--max-turns", "3", "--json"]);
    let logs = world.run(&["runs", "logs"]);
    for text in [&ran.out, &ran.err, &json.out, &json.err, &logs.out] {
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{text:?}");
    }
    assert!(ran.out.contains("a\u{fffd}[31m"), "{}", ran.out);
}

/// Model that asks for a form and then repeats the answer.
pub(crate) const FORM: &str = r#"scenario: form
nodes:
  step-01-ask:
    - calls:
        - ui.ask_user:
            question: "For whom is it?"
            kind: form
            schema:
              properties:
                name: { type: string, title: "Your name", description: "As it stands on the door" }
                age: { type: integer, minimum: 18 }
                size: { enum: [small, large], default: small }
                extras: { type: array, items: { enum: [tea, cake, jam] } }
              required: [name, age]
    - when: { answers: ok }
      say: "For {{last.answer.name}} of {{last.answer.age}}, {{last.answer.size}}. What else?"
"#;

#[test]
fn a_form_is_answered_in_another_process() {
    let world = CliFixture::with_tiny();
    world.write("form.yaml", FORM);
    let asked = world.run_tiny("form.yaml", &[]);
    assert_eq!(asked.code, 3, "{asked:?}");
    assert_transcript!("run_asks_with_a_form", asked.out);
    let answer = |input: &str, more: &[&str]| {
        world.run(&[&["resume", "--model", "scripted:form.yaml", "--input", input], more].concat())
    };
    let wrong = answer("name: Ada\nage: 12\nsize: huge", &[]);
    assert_eq!(wrong.code, 3, "{wrong:?}");
    let told = "`age` must be at least 18; you wrote 12. `size` must be one of: 1 small, 2 large; you wrote \"huge\".";
    assert!(wrong.out.replace("\n    ", " ").contains(told), "{}", wrong.out);
    let wrong = answer(r#"{"name": "Ada", "age": 12}"#, &["--json"]);
    assert!(
        wrong.out.contains(r#""message":"`age` must be at least 18; you wrote 12. Or say"#),
        "{wrong:?}"
    );
    let right = answer("your name: Ada\nage: 36", &[]);
    assert!(right.out.contains("For Ada of 36, small."), "{right:?}");
}

/// Model that changes a file twice.
pub(crate) const EDITS: &str = r##"scenario: edits
nodes:
  step-01-ask:
    - calls: [{ fs.read: { path: "@project/plan.md" } }]
    - calls: [{ fs.write: { path: "@project/plan.md", content: "# Plan\nthree\n" } }]
    - any:
        - when: { refused: E_PRECONDITION_FAILED }
          say: "So I leave it. What else?"
        - calls: [{ fs.write: { path: "@project/plan.md", content: "# Plan\nfour\n" } }]
    - say: "Done. What else?"
"##;

#[test]
fn a_write_is_allowed_or_denied_in_another_process() {
    let world = CliFixture::with_tiny();
    world.write("project/plan.md", "# Plan\ntwo\n");
    world.write("edits.yaml", EDITS);
    let plan = || std::fs::read_to_string(world.path("project/plan.md")).unwrap();
    let asked = world.run_tiny("edits.yaml", &["--ask-writes"]);
    assert_eq!((asked.code, plan().as_str()), (3, "# Plan\ntwo\n"), "{asked:?}");
    assert_transcript!("run_asks_before_a_write", asked.out);
    let answer = |words: &str| {
        world.run(&["resume", "--model", "scripted:edits.yaml", "--input", words, "--json"])
    };
    let unclear = answer("go ahead");
    assert!(unclear.out.contains("Please answer once, run, or deny"), "{unclear:?}");
    // The shown change is outdated, so it is shown again.
    world.write("project/plan.md", "# Plan\nnine\n");
    let again = answer("once");
    assert!(again.out.contains(r#""kind":"approval""#), "{again:?}");
    assert!(again.out.contains(r#"-nine\n+three"#) && plan() == "# Plan\nnine\n", "{again:?}");
    let once = answer("once");
    assert!(once.out.contains(r#"-three\n+four"#) && plan() == "# Plan\nthree\n", "{once:?}");
    let denied = answer("deny: three is enough");
    let told = "The user does not allow this call of `fs.write` and says: \\\\\\\"three is enough\\\\\\\".";
    assert!(denied.out.contains(told) && plan() == "# Plan\nthree\n", "{denied:?}");
}

#[test]
fn the_tools_of_an_agent_are_listed_as_they_are_enforced() {
    let world = CliFixture::with_tiny();
    world.write("store/config.toml", "[policy]\ndeny = [\"fs.search\"]\ncall-seconds = 60\n");
    let flags = ["--ask-writes", "--allow", "fs.*(@project/artifacts)", "--max-read-bytes", "1000"];
    let list = ["tools", "list", "tiny", "--agent", "guide"];
    let listed = world.run(&[&list[..], &flags].concat());
    assert_eq!(listed.code, 0, "{listed:?}");
    assert_transcript!("tools_list", listed.out);
    let json = world.run(&[&list[..], &["--json"]].concat()).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json["tools"][2]["rule"],
        serde_json::json!({"pattern": "fs.search", "from": "settings"})
    );
    let bad = world.run(&["tools", "list", "--deny", "ui.ask_user"]);
    assert!(bad.code == 2 && bad.err.contains("there can be no rule about"), "{bad:?}");
}

#[test]
fn a_package_that_is_not_there_is_named_before_the_model() {
    let world = CliFixture::with_tiny();
    for package in ["NOPE", "./nope"] {
        let ran = world.run(&["run", package, "--project", "project"]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(
            !ran.err.contains("model") && ran.err.to_lowercase().contains("nope"),
            "{}",
            ran.err
        );
    }
    let ran = world.run(&["run", "tiny", "--project", "project"]);
    assert!(ran.err.contains("no model is chosen"), "{}", ran.err);
    assert!(world.run(&["package", "list"]).out.contains("No packages yet"), "nothing is imported");
}

#[test]
fn warnings_of_a_package_are_one_line_of_a_run() {
    let world = CliFixture::with_tiny();
    let step = world.path("tiny/steps/step-02-write.md");
    let text = std::fs::read_to_string(&step).unwrap();
    std::fs::write(&step, text.replace("## Goal", "## Aim")).unwrap();
    let ran = world.run_tiny("tiny.yaml", &["--input", "x"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let line = "tiny has 1 warning for its author: crewagent package validate tiny";
    assert!(ran.err.contains(line) && !ran.err.contains("-->"), "{}", ran.err);
}
