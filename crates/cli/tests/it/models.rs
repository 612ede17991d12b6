//! `models`: add, use, test and probe, against a local server.

mod server;

use serde_json::Value as Json;

use self::server::{Quirks, Server};
use crate::support::{CliFixture, Ran, example, repository};

const KEY: &str = "sk-very-secret-1234";

/// Creates a fixture with a model `a` at this server.
fn with_model(server: &Server, more: &str) -> CliFixture {
    let world = CliFixture::new();
    let text = format!("[models.a]\nmodel = \"m1\"\nbase-url = \"{}\"\n{more}", server.url());
    world.write("store/config.toml", text);
    world
}

fn config(world: &CliFixture) -> String {
    std::fs::read_to_string(world.path("store/config.toml")).unwrap()
}

fn run_with(world: &CliFixture, set: &[(&str, &str)], args: &[&str]) -> Ran {
    let output = world.command().envs(set.iter().copied()).args(args).output().unwrap();
    Ran {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

fn piped(world: &CliFixture, input: &str, args: &[&str]) -> Ran {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut command = world.command();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Ran {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

/// Returns the step that `models test` fails at, and its message with the advice.
fn tested(world: &CliFixture, args: &[&str]) -> (Option<String>, String) {
    let ran = world.run(&[&["models", "test", "--json"], args].concat());
    let report: Json = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"));
    let failed = report["failed"].as_str().map(str::to_owned);
    assert_eq!(ran.code, if failed.is_some() { 5 } else { 0 }, "{ran:?}");
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 9, "every step is told: {}", ran.out);
    let step = steps.iter().find(|step| step["status"] == "failed");
    let words = step.map(|step| format!("{} {}", step["message"], step["advice"]));
    (failed, words.unwrap_or_default())
}

fn check_failed(world: &CliFixture, args: &[&str], name: &str, parts: &[&str]) {
    let (failed, words) = tested(world, args);
    assert_eq!(failed.as_deref(), Some(name), "{words}");
    for part in parts {
        assert!(words.contains(part), "{words:?} has no {part:?}");
    }
    assert!(!words.contains(KEY), "{words}");
}

#[test]
fn a_model_that_works_passes_every_step() {
    let server = Server::new(Quirks { key: Some(KEY), ..Quirks::default() });
    let world = with_model(&server, "key = \"env:MY_KEY\"\n");
    let ran = run_with(&world, &[("MY_KEY", KEY)], &["models", "test"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for line in ["ok       endpoint", "ok       key", "ok       streaming", "ok       tools"] {
        assert!(ran.out.contains(line), "{}", ran.out);
    }
    assert!(ran.out.contains("skipped  tls") && ran.out.contains("The model works"), "{}", ran.out);
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY));
    assert!(server.seen().iter().all(|seen| seen.head.contains(&format!("Bearer {KEY}"))));
}

#[test]
fn how_replies_come_is_told() {
    for (quirks, words) in [
        (Quirks::default(), "replies come in pieces, with usage"),
        (Quirks { no_usage: true, ..Quirks::default() }, "it is estimated"),
        (Quirks { whole: true, ..Quirks::default() }, "as a whole though pieces are asked for"),
        (Quirks { no_stream: true, ..Quirks::default() }, "there is none: replies come as a whole"),
    ] {
        let ran = with_model(&Server::new(quirks), "").run(&["models", "test"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains(words), "{}", ran.out);
    }
}

#[test]
fn the_step_that_fails_is_named() {
    let gone = Server::gone();
    check_failed(&with_model(&gone, ""), &[], "tcp", &["connection", "server runs"]);

    let page = Quirks { page: Some((404, "<html>Not Found</html>")), ..Quirks::default() };
    check_failed(&with_model(&Server::new(page), ""), &[], "endpoint", &["404", "base URL"]);
    let page = Quirks { page: Some((200, "<html>Welcome</html>")), ..Quirks::default() };
    check_failed(&with_model(&Server::new(page), ""), &[], "endpoint", &[]);

    let locked = Server::new(Quirks { key: Some(KEY), ..Quirks::default() });
    check_failed(&with_model(&locked, ""), &[], "key", &["401"]);

    let server = Server::new(Quirks::default());
    let world = with_model(&server, "");
    assert_eq!(world.run(&["config", "set", "models.a.model", "m11"]).code, 0);
    check_failed(&world, &[], "model", &["404", "the server has m1, m2"]);

    let words = Server::new(Quirks { no_calls: true, ..Quirks::default() });
    check_failed(&with_model(&words, ""), &[], "tools", &["in words", "another"]);
    let refuses = Server::new(Quirks { no_tools: true, ..Quirks::default() });
    check_failed(&with_model(&refuses, ""), &[], "tools", &["tools"]);
}

#[test]
fn a_secure_address_at_a_plain_server_fails_at_tls() {
    let server = Server::new(Quirks::default());
    let world = with_model(&server, "");
    let secure = server.url().replace("http:", "https:");
    assert_eq!(world.run(&["config", "set", "models.a.base-url", &secure]).code, 0);
    check_failed(&world, &[], "tls", &["http://"]);
}

#[test]
fn a_host_without_an_address_fails_at_dns() {
    let world = CliFixture::new();
    let text = "[models.a]\nmodel = \"m\"\nbase-url = \"http://no-such-host.invalid/v1\"\nconnect-timeout = \"5s\"\n";
    world.write("store/config.toml", text);
    check_failed(&world, &[], "dns", &["no-such-host.invalid", "base-url"]);
}

#[test]
fn a_key_that_is_missing_is_told_and_the_way_is_looked_at() {
    let server = Server::new(Quirks::default());
    let world = with_model(&server, "key = \"env:NOT_SET\"\n");
    check_failed(&world, &["a"], "key", &["`NOT_SET` is not set"]);
    let posts = server.seen().iter().filter(|seen| seen.line.starts_with("POST")).count();
    assert_eq!(posts, 0, "nothing is asked without the key");
}

#[test]
fn a_model_that_is_nothing_is_bad_usage() {
    let world = CliFixture::new();
    assert_eq!(world.run(&["models", "test"]).code, 2);
    assert_eq!(world.run(&["models", "test", "nope"]).code, 2);
    assert_eq!(world.run(&["models", "probe", "scripted:x.yaml"]).code, 2);
    assert_eq!(world.run(&["models", "use", "nope"]).code, 2);
    assert_eq!(world.run(&["models", "rm", "nope", "-y"]).code, 2);
    let bad = [("CREWAGENT_BASE_URL", "nowhere")];
    assert_eq!(run_with(&world, &bad, &["models", "test", "m"]).code, 2);
}

#[test]
fn what_a_server_wants_is_measured_and_remembered() {
    let quirks = Quirks {
        no_stream: true,
        no_null: true,
        no_middle: true,
        no_dots: true,
        new_limit: true,
        one_call: true,
        thinks: true,
        ..Quirks::default()
    };
    let server = Server::new(quirks);
    let world = with_model(&server, "window = 5000 # mine\n");
    let before = config(&world);
    let dry = world.run(&["models", "probe", "--dry-run"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(dry.out.contains("stream = false"), "{}", dry.out);
    assert_eq!(config(&world), before, "a dry run writes nothing");

    let ran = world.run(&["models", "probe", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let report: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["written"], true);
    let expected = serde_json::json!({
        "output-limit": "max_completion_tokens",
        "stream": false,
        "no-words": "empty",
        "window": 32_000,
    });
    let mut found = report["changes"].as_object().unwrap().clone();
    found.sort_keys();
    let mut wanted = expected.as_object().unwrap().clone();
    wanted.sort_keys();
    assert_eq!(found, wanted, "{}", ran.out);
    let finding = |name: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["name"] == name).unwrap()["found"].clone()
    };
    assert_eq!(finding("streaming"), false);
    assert_eq!(finding("usage"), true);
    assert_eq!(finding("tools"), true);
    assert_eq!(finding("dotted names"), false);
    assert_eq!(finding("parallel calls"), false);
    assert_eq!(finding("system messages"), false);
    assert_eq!(finding("thoughts"), true);
    let text = config(&world);
    assert!(text.starts_with(&before), "{text}");
    assert!(text.contains("[models.a.changes]"), "{text}");

    let again = world.run(&["models", "probe"]);
    assert!(again.out.contains("known already"), "{}", again.out);
    assert_eq!(config(&world), text);
    assert_eq!(tested(&world, &[]).0, None, "it works as measured");
}

#[test]
fn a_server_that_takes_everything_keeps_its_names() {
    let server = Server::new(Quirks::default());
    let world = with_model(&server, "window = 32000\n[models.a.changes]\nno-words = \"empty\"\n");
    let ran = world.run(&["models", "probe", "--json", "a"]);
    let report: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["changes"]["names"], "dotted", "{}", ran.out);
    assert_eq!(report["changes"]["no-words"], Json::Null, "measured again: {}", ran.out);
    assert!(!config(&world).contains("no-words"), "{}", config(&world));
}

#[test]
fn a_probe_of_a_model_that_does_not_answer_says_what_to_do() {
    let server = Server::new(Quirks { key: Some(KEY), ..Quirks::default() });
    let ran = with_model(&server, "").run(&["models", "probe"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("crewagent models test a"), "{}", ran.err);
}

#[test]
fn models_are_added_listed_chosen_and_removed() {
    let world = CliFixture::new();
    let none = world.run(&["models"]);
    assert!(none.out.contains("models add"), "{none:?}");
    let args = ["models", "add", "big", "--profile", "deepseek", "--model", "m1", "--key-stdin"];
    let added = piped(&world, &format!("{KEY}\n"), &args);
    assert_eq!(added.code, 0, "{added:?}");
    let local =
        ["models", "add", "ollama", "--model", "qwen3", "--window", "8000", "--price", "0,0"];
    assert_eq!(world.run(&local).code, 0);

    let listed = world.run(&["models", "list", "--json"]);
    let report: Json = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(report["models"][0]["key"], "credentials.toml", "{}", listed.out);
    assert_eq!(report["models"][1]["profile"], "ollama", "by its name");
    assert_eq!(report["models"][1]["window"], 8000);
    assert_eq!(report["default"], Json::Null);

    assert_eq!(world.run(&["models", "use", "big"]).code, 0);
    let listed = world.run(&["models"]);
    assert!(listed.out.contains("*  big"), "{}", listed.out);
    assert_eq!(world.run(&["config", "get", "run.model"]).out, "big\n");

    for text in [&added.out, &added.err, &listed.out, &config(&world)] {
        assert!(!text.contains(KEY), "{text}");
    }
    let kept = std::fs::read_to_string(world.path("store/credentials.toml")).unwrap();
    assert!(kept.contains(KEY));

    let removed = world.run(&["models", "rm", "big", "--yes"]);
    assert!(removed.out.contains("and its key"), "{removed:?}");
    assert!(!config(&world).contains("big"), "{}", config(&world));
    let kept = std::fs::read_to_string(world.path("store/credentials.toml")).unwrap();
    assert!(!kept.contains(KEY), "the key is forgotten");
}

#[test]
fn a_model_that_is_there_is_changed() {
    let world = CliFixture::new();
    world.write("store/config.toml", "[models.a] # mine\nmodel = \"m\"\nprofile = \"deepseek\"\n");
    let ran = world.run(&["models", "add", "a", "--window", "5000", "--use"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("changed"), "{}", ran.out);
    let text = config(&world);
    assert!(text.contains("# mine") && text.contains("window = 5000"), "{text}");
    assert!(text.contains("profile = \"deepseek\""), "{text}");
}

#[test]
fn what_cannot_be_added_is_refused_and_nothing_is_written() {
    let world = CliFixture::new();
    for (args, says) in [
        (["add", "--model", "m"].as_slice(), "name the model"),
        (&["add", "x", "--profile", "deepseek"], "--model ID"),
        (&["add", "x", "--model", "m"], "--base-url"),
        (&["add", "x", "--model", "m", "--profile", "nope"], "no profile `nope`"),
        (&["add", "x", "--model", "m", "--profile", "generic"], "not known where"),
        (&["add", "x", "--model", "m", "--base-url", "nowhere"], "https://"),
        (&["add", "a b", "--model", "m", "--profile", "deepseek"], "no blanks"),
        (&["add", "x", "--model", "m", "--profile", "deepseek", "--price", "1"], "two or three"),
        (&["add", "x", "--model", "m", "--profile", "deepseek", "--key-stdin"], "it is empty"),
        (
            &["add", "x", "--model", "m", "--profile", "deepseek", "--key-env", "1 2"],
            "env:VARIABLE",
        ),
        (&["add", "x", "--model", "m", "--profile", "deepseek", "--keyring"], "--key-stdin"),
    ] {
        let ran = world.run(&[&["models"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
    assert!(!world.path("store").exists());
}

#[cfg(unix)]
#[test]
fn keys_that_others_can_read_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Server::new(Quirks::default());
    let world = with_model(&server, "key = \"file\"\n");
    let path = world.write("store/credentials.toml", format!("[keys]\na = \"{KEY}\"\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = world.run(&["models", "test"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("chmod 600") && !ran.err.contains(KEY), "{}", ran.err);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(world.run(&["models", "test"]).code, 0);
    assert!(server.seen()[0].head.contains(KEY));
}

#[test]
fn settings_of_models_are_got_and_set_one_by_one() {
    let server = Server::new(Quirks::default());
    let world = with_model(&server, "");
    assert_eq!(world.run(&["config", "set", "models.a.window", "1000"]).code, 0);
    assert_eq!(world.run(&["config", "get", "models.a.window"]).out, "1000\n");
    assert_eq!(world.run(&["config", "set", "models.a.changes.stream", "false"]).code, 0);
    assert_eq!(world.run(&["config", "set", "models.a.price.cached", "1"]).code, 0);
    let all = world.run(&["config"]);
    assert!(all.out.contains("models.a.window") && all.out.contains("models.a.changes.stream"));
    let refused = world.run(&["config", "set", "models.a.key", KEY]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(!refused.err.contains(KEY) && refused.err.contains("env:VARIABLE"), "{}", refused.err);
}

#[test]
fn a_run_has_the_window_of_its_model() {
    let server = Server::new(Quirks { key: Some(KEY), ..Quirks::default() });
    let window = |more: &str| {
        let world = CliFixture::with_tiny();
        let model =
            format!("[models.a]\nmodel = \"m1\"\nbase-url = \"{}\"\nretries = 0\n", server.url());
        world.write("store/config.toml", format!("{more}{model}window = 9000\n"));
        let ran = world.run(&["run", "tiny", "--project", "project", "--json"]);
        assert_eq!(ran.code, 5, "the key is refused: {ran:?}");
        let first: Json = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
        first["settings"]["windowTokens"].clone()
    };
    assert_eq!(window(""), 9000);
    assert_eq!(window("[run]\nwindow-tokens = 7000\n"), 7000);
}

#[test]
fn a_model_needs_no_setting_up_where_the_environment_says_all() {
    let server = Server::new(Quirks { key: Some(KEY), ..Quirks::default() });
    let world = CliFixture::new();
    let url = server.url();
    for set in [
        [
            ("CREWAGENT_BASE_URL", url.as_str()),
            ("CREWAGENT_API_KEY", KEY),
            ("CREWAGENT_MODEL", "m1"),
        ],
        [("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", KEY), ("CREWAGENT_MODEL", "m1")],
    ] {
        let ran = run_with(&world, &set, &["models", "test"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert!(!world.path("store").exists(), "looking makes nothing");
}

#[test]
fn the_doctor_tells_the_model_and_its_key_without_asking_it() {
    let server = Server::new(Quirks::default());
    let world = with_model(&server, "key = \"env:MY_KEY\"\n");
    let ran = run_with(&world, &[("MY_KEY", KEY)], &["doctor"]);
    assert!(ran.out.contains("ok    model") && ran.out.contains("MY_KEY"), "{}", ran.out);
    assert!(!ran.out.contains(KEY));
    let ran = world.run(&["doctor"]);
    assert!(ran.out.contains("warn  model") && ran.out.contains("MY_KEY"), "{}", ran.out);
    assert!(server.seen().is_empty());
}

#[test]
fn the_documented_tables_can_be_read() {
    let text = std::fs::read_to_string(repository().join("docs/settings.md")).unwrap();
    let blocks: Vec<&str> =
        text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2);
    let world = CliFixture::new();
    world.write("store/config.toml", blocks.concat());
    let ran = world.run(&["config", "get"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for key in [
        "models.deepseek.headers.X-Title",
        "profiles.house.names",
        "prices.\"deepseek-v4-*\".input",
    ] {
        assert!(ran.out.contains(key), "{key}: {}", ran.out);
    }
}

#[test]
fn every_setting_of_the_documentation_can_be_set_alone() {
    let world = CliFixture::new();
    let half = world.run(&["config", "set", "prices.\"gpt-4.1\".input", "2"]);
    assert_eq!(half.code, 0, "{half:?}");
    assert!(half.err.contains("until prices.\"gpt-4.1\".output is set"), "{}", half.err);
    let whole = world.run(&["config", "set", "prices.\"gpt-4.1\".output", "8", "--json"]);
    assert_eq!((whole.code, whole.err.as_str()), (0, ""), "{whole:?}");
    assert!(whole.out.contains("\"value\": 8"), "{}", whole.out);
    let kept = world.run(&["config", "get", "prices.\"gpt-4.1\".input"]);
    assert_eq!(kept.out, "2.0\n");
    let list = world.run(&["config", "get", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list.out).unwrap();
    let names = list["settings"].as_array().unwrap().iter().map(|one| &one["name"]);
    assert_eq!(names.filter(|name| *name == "prices.\"gpt-4.1\".output").count(), 1);
}

#[test]
fn a_name_that_is_almost_right_is_recognised() {
    let world = CliFixture::new();
    world.run(&["models", "add", "big", "--model", "m", "--profile", "ollama"]);
    world.run(&["mcp", "add", "notes", "--", "notes-server"]);
    let package = example("multi-workflows");
    let draft = ["package", "graph", &package, "--workflow", "draft-reveiw"];
    for (args, expected) in [
        (&["config", "get", "run.modle"][..], "did you mean `run.model`?"),
        (&["config", "set", "policy.deny", "abc"], "expected a list"),
        (&["models", "test", "opnai/gpt"], "did you mean `openai/gpt`?"),
        (&["models", "rm", "bgi", "--yes"], "did you mean `big`?"),
        (&["models", "add", "x", "--model", "m", "--profile", "olama"], "did you mean `ollama`?"),
        (&["mcp", "test", "ntoes"], "did you mean `notes`?"),
        (&["package", "explain", "BM5O1"], "did you mean `BM501`?"),
        (&["package", "explain", "duplicate-node"], "did you mean `duplicate-node-id`?"),
        (&draft, "did you mean `draft-review`?"),
    ] {
        let ran = world.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
    }
}
