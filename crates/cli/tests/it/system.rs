//! `config`, `doctor` and `completions`.

use serde_json::Value as Json;

use crate::support::{CliFixture, repository};

#[test]
fn a_setting_is_got_set_and_kept_with_its_comment() {
    let world = CliFixture::new();
    world.write("store/config.toml", "# mine\n[run]\nmax-turns = 9 # few\n");
    assert_eq!(world.run(&["config", "get", "run.max-turns"]).out, "9\n");
    assert_eq!(world.run(&["config", "set", "run.max-turns", "12"]).code, 0);
    let text = std::fs::read_to_string(world.path("store/config.toml")).unwrap();
    assert_eq!(text, "# mine\n[run]\nmax-turns = 12 # few\n");
    let all = world.run(&["config"]);
    assert!(all.out.contains("run.max-turns") && all.out.contains("policy.fs.enabled"), "{all:?}");
}

#[test]
fn the_first_setting_makes_the_file() {
    let world = CliFixture::new();
    let path = world.run(&["config", "path"]).out;
    assert_eq!(path, "[WORLD]/store/config.toml\n");
    assert_eq!(world.run(&["config", "set", "run.timeout", "10m"]).code, 0);
    let text = std::fs::read_to_string(world.path("store/config.toml")).unwrap();
    assert_eq!(text, "[run]\ntimeout = \"10m\"\n");
    let unset = world.run(&["config", "get", "run.model"]);
    assert_eq!((unset.out.as_str(), unset.code), ("", 0));
}

#[test]
fn a_setting_that_cannot_be_is_refused_and_the_file_stays() {
    let world = CliFixture::new();
    world.write("store/config.toml", "[run]\nmax-turns = 9\n");
    for (key, value, says) in [
        ("run.max-turn", "5", "there is no setting"),
        ("max-turns", "5", "`run.max-turns`"),
        ("run.max-turns", "0", "above zero"),
        ("run.mode", "fast", "guided"),
        ("run.max-cost", "-1", "above zero"),
    ] {
        let ran = world.run(&["config", "set", key, value]);
        assert_eq!(ran.code, 2, "{key}: {ran:?}");
        assert!(ran.err.contains(says), "{key}: {}", ran.err);
    }
    let text = std::fs::read_to_string(world.path("store/config.toml")).unwrap();
    assert_eq!(text, "[run]\nmax-turns = 9\n");
}

#[cfg(unix)]
#[test]
fn the_editor_gets_a_file_that_says_what_can_be_set() {
    let world = CliFixture::new();
    let ran = world.command().args(["config", "edit"]).env("EDITOR", "cat").output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let shown = String::from_utf8(ran.stdout).unwrap();
    assert!(shown.contains("# max-turns = 50"), "{shown}");
    assert_eq!(world.run(&["config", "get", "run.max-turns"]).out, "50\n");
    let ran =
        world.command().args(["config", "edit"]).env("EDITOR", "no-such-editor").output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
}

#[test]
fn the_doctor_is_content_with_a_fresh_home() {
    let world = CliFixture::new();
    let ran = world.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("ok    store") && !ran.out.contains("fail"), "{}", ran.out);
    assert!(!world.path("store").exists(), "looking makes nothing");
}

#[test]
fn the_doctor_finds_what_is_broken_and_says_what_to_do() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    world.write("store/config.toml", "[run]\nmax-turns = 0\n");
    let settings = world.run(&["doctor"]);
    assert_eq!(settings.code, 1, "{settings:?}");
    assert!(settings.out.contains("fail  settings") && settings.out.contains("config edit"));
    std::fs::remove_file(world.path("store/config.toml")).unwrap();
    let package = std::fs::read_dir(world.path("store/packages"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("tiny-"))
        .unwrap();
    std::fs::remove_file(package.join("import.json")).unwrap();
    std::fs::rename(world.path("project"), world.path("moved")).unwrap();
    let ran = world.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let report: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["ok"], false);
    let status = |name: &str| {
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["status"].clone()
    };
    assert_eq!(
        (status("packages"), status("projects")),
        ("fail".into(), "warn".into()),
        "{report:#}"
    );
}

#[test]
fn completions_are_there_for_every_shell() {
    let world = CliFixture::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = world.run(&["completions", shell]);
        assert_eq!(ran.code, 0, "{shell}");
        assert!(ran.out.contains("CREWAGENT_COMPLETE"), "{shell}: {}", ran.out);
    }
    assert_eq!(world.run(&["completions", "tcsh"]).code, 2);
}

#[test]
fn help_lists_the_exit_codes() {
    let world = CliFixture::new();
    for args in [["--help"].as_slice(), &["run", "--help"], &["resume", "--help"]] {
        let ran = world.run(args);
        for code in ["0", "1", "2", "3", "4", "5", "130"] {
            assert!(ran.out.contains(&format!("{code}  ")), "{args:?}: {}", ran.out);
        }
    }
}

#[test]
fn the_documented_settings_are_all_there_are() {
    let world = CliFixture::new();
    let text = std::fs::read_to_string(repository().join("docs/settings.md")).unwrap();
    let example = text.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    world.write("store/config.toml", example);
    let ran = world.run(&["config", "get"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.out.contains("(not set)"), "{}", ran.out);
}

#[test]
fn completions_know_what_is_in_the_store() {
    let world = CliFixture::with_tiny();
    world.run_tiny("tiny.yaml", &[]);
    world.run(&["models", "add", "big", "--model", "m", "--profile", "ollama"]);
    let id = world.run_id();
    for (words, expected) in [
        (&["runs", "show", ""][..], id.as_str()),
        (&["package", "rm", ""], "tiny"),
        (&["run", "ti"], "tiny"),
        (&["agent", "tiny", ""], "guide"),
        (&["config", "get", "run.ma"], "run.max-turns"),
        (&["run", "tiny", "--model", ""], "big"),
        (&["package", "explain", "BM50"], "BM503"),
        (&["packag"], "package"),
    ] {
        let mut command = world.command();
        command.env("CREWAGENT_COMPLETE", "fish").args(["--", "crewagent"]).args(words);
        let ran = world.ran(command.output().unwrap());
        let found = ran.out.lines().any(|line| line.split('\t').next() == Some(expected));
        assert!(found && ran.code == 0, "{words:?} {expected}: {ran:?}");
    }
}

#[test]
fn a_usage_line_does_not_ask_for_what_the_environment_says() {
    let world = CliFixture::new();
    let ran = world.run(&["runs", "rm"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("Usage: crewagent runs rm"), "{}", ran.err);
    assert_eq!(world.run(&["config", "path"]).out, "[WORLD]/store/config.toml\n");
}
