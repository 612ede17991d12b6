//! Tests of the server table, of references, and of files of other tools.

use std::path::Path;

use super::*;
use crate::store::settings::Settings;

pub(in crate::store::settings) const EVERYTHING: &str = "[mcp]\nmax-result-bytes = 1000\n[mcp.servers.files]\nenabled = true\ncommand = \"npx\"\nargs = [\"-y\", \"server\"]\ncwd = \"/srv\"\nstartup-timeout = \"1m\"\ncall-timeout = \"2m\"\n[mcp.servers.files.env]\nAPI_KEY = \"${API_KEY}\"\n[mcp.servers.web]\nurl = \"https://example.com/mcp\"\n[mcp.servers.web.headers]\nAuthorization = \"Bearer ${TOKEN}\"\n";

fn check_wrong(text: &str, expected: &str) {
    let error = Settings::parse(Path::new("c"), text).unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?} has no {expected:?}");
}

#[test]
fn servers_are_read_and_written() {
    let settings = Settings::parse(Path::new("c"), EVERYTHING).unwrap();
    assert_eq!(settings.mcp.servers.len(), 2);
    let text = toml::to_string(&settings.mcp).unwrap();
    let again: McpTable = toml::from_str(&text).unwrap();
    assert_eq!(again, settings.mcp);
    let new: ServerSettings = toml::from_str("command = \"x\"").unwrap();
    assert!(!new.enabled);
}

#[test]
fn a_wrong_server_is_named() {
    check_wrong("[mcp.servers.\"a.b\"]\ncommand = \"x\"\n", "cannot be the name of a server");
    check_wrong("[mcp.servers.a]\n", "a `command` that starts it");
    check_wrong("[mcp.servers.a]\ncommand = \"x\"\nurl = \"http://x\"\n", "a `command` that");
    check_wrong("[mcp.servers.a]\ncommand = \" \"\n", "not blank");
    check_wrong("[mcp.servers.a]\ncomand = \"x\"\n", "comand");
    check_wrong("[mcp.servers.a]\nurl = \"ftp://x\"\n", "begins with http");
    check_wrong("[mcp.servers.a]\nurl = \"http://me:pw@x/\"\n", "use a header");
    check_wrong("[mcp.servers.a]\nurl = \"http://x\"\nargs = [\"y\"]\n", "belong to a server");
    check_wrong("[mcp.servers.a]\ncommand = \"x\"\nargs = [\"${\"]\n", "no `}`");
    check_wrong(
        "[mcp.servers.a]\ncommand = \"x\"\nenv = { API_KEY = \"abc\" }\n",
        "looks like a secret",
    );
    check_wrong(
        "[mcp.servers.a]\nurl = \"http://x\"\nheaders = { Authorization = \"Bearer abc\" }\n",
        "looks like a secret",
    );
}

#[test]
fn names_of_secrets_are_known() {
    for secret in ["API_KEY", "GITHUB_TOKEN", "Authorization", "X-Api-Key", "GH_PAT", "Cookie"] {
        assert!(is_secret(secret), "{secret}");
    }
    for open in ["PATH", "KEYBOARD", "MONKEY", "REGION", "AUTHOR", "X-Tenant"] {
        assert!(!is_secret(open), "{open}");
    }
}

#[track_caller]
fn check_open_secrets(way: &str, expected: &[&str]) {
    let settings: ServerSettings = toml::from_str(way).unwrap();
    assert_eq!(settings.way.open_secrets(), expected, "{way}");
}

#[test]
fn secrets_in_arguments_and_addresses_are_known_by_their_names() {
    let args = |args: &str| format!("command = \"x\"\nargs = [{args}]");
    check_open_secrets(&args(r#""--token=abc", "--region=eu", "-y""#), &["abc"]);
    check_open_secrets(&args(r#""--api-key", "abc", "file", "--token", "--quiet""#), &["abc"]);
    check_open_secrets(&args(r#""--header", "Authorization: Bearer abc""#), &["abc"]);
    check_open_secrets(&args(r#""https://h/mcp?region=eu&api_key=abc""#), &["abc"]);
    check_open_secrets(&args(r#""--token=${TOKEN}", "--token", "${TOKEN}""#), &[]);
    check_open_secrets("url = \"https://h:1/sse?access_token=a:b#x\"", &["a:b"]);
    check_open_secrets("url = \"https://h/mcp?key=${KEY}\"", &[]);
}

#[test]
fn references_are_filled() {
    let get = |name: &str| (name == "T").then(|| "abc".into());
    let filled = |text: &str| {
        use secrecy::ExposeSecret as _;
        let filled = VariableTemplate::new(text).unwrap().filled(&get, &mut |_| {});
        filled.map(|text| text.expose_secret().to_owned())
    };
    assert_eq!(filled("Bearer ${T}!").unwrap(), "Bearer abc!");
    assert_eq!(filled("${env:T}").unwrap(), "abc");
    assert_eq!(filled("${R:-eu}${R:-}").unwrap(), "eu");
    assert_eq!(filled("$T {T}").unwrap(), "$T {T}");
    assert_eq!(filled("${R}").unwrap_err(), Missing("R".to_owned()));
    for bad in ["${", "${}", "${a b}", "${input:token}"] {
        assert!(VariableTemplate::new(bad).is_err(), "{bad}");
    }
}

#[test]
fn files_of_other_tools_are_read() {
    let text = r#"{"mcpServers": {
        "Brave Search": {"command": "npx", "args": ["-y", "x"], "env": {"BRAVE_API_KEY": "s3cret", "PORT": 80}},
        "remote": {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer t0ken", "X-Region": "${env:REGION}"}},
        "old": {"type": "sse", "url": "https://x/sse"},
        "none": {}
    }}"#;
    let file = import(text).unwrap();
    let names: Vec<&str> = file.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["Brave-Search", "remote"]);
    assert_eq!(file.problems.len(), 2, "{:?}", file.problems);
    let ServerWay::Child { command, args, env, .. } = &file.servers[0].settings.way else {
        panic!()
    };
    assert_eq!((command.as_str(), args.len()), ("npx", 2));
    assert_eq!(env["BRAVE_API_KEY"].as_str(), "${BRAVE_API_KEY}");
    assert_eq!(env["PORT"].as_str(), "80");
    assert_eq!(file.servers[0].secrets, [("BRAVE_API_KEY".to_owned(), "s3cret".to_owned())]);
    let ServerWay::Http { headers, .. } = &file.servers[1].settings.way else { panic!() };
    assert_eq!(headers["Authorization"].as_str(), "Bearer ${AUTHORIZATION}");
    assert_eq!(file.servers[1].secrets, [("AUTHORIZATION".to_owned(), "t0ken".to_owned())]);
    assert!(file.servers.iter().all(|server| !server.settings.enabled));
}

#[test]
fn other_shapes_of_the_same_are_read() {
    for text in [
        r#"{"a": {"command": "x"}}"#,
        r#"{"servers": {"a": {"command": ["x", "y"]}}}"#,
        r#"{"mcp": {"servers": {"a": {"command": "x"}}}}"#,
        r#"{"context_servers": {"a": {"command": {"path": "x", "args": []}}}}"#,
    ] {
        assert_eq!(import(text).unwrap().servers.len(), 1, "{text}");
    }
    for text in ["", "[]", "{}", "{\"mcpServers\": {}}"] {
        assert!(import(text).is_err(), "{text}");
    }
}
