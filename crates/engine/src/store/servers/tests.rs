//! Tests of adding, changing and removing servers with their secrets.

use std::fs;

use super::*;

/// Creates a store with these settings in a temporary folder.
fn store(settings: &str) -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("config.toml"), settings).unwrap();
    let store = again(&home);
    (home, store)
}

fn again(home: &tempfile::TempDir) -> Store {
    Store::open(Some(home.path().to_owned())).unwrap()
}

fn text(home: &tempfile::TempDir, name: &str) -> String {
    fs::read_to_string(home.path().join(name)).unwrap_or_default()
}

/// Builds a server that is a program with these variables.
fn program(name: &str, env: &[(&str, &str)]) -> ImportedServer {
    let pair =
        |(name, value): &(&str, &str)| ((*name).to_owned(), VariableTemplate::new(*value).unwrap());
    let way = ServerWay::Child {
        command: "npx".to_owned(),
        args: vec![VariableTemplate::new("server").unwrap()],
        env: env.iter().map(pair).collect(),
        cwd: None,
    };
    let settings =
        ServerSettings { enabled: false, way, startup_timeout: None, call_timeout: None };
    ImportedServer::new(name.parse().unwrap(), settings).unwrap()
}

#[test]
fn a_server_goes_in_without_its_secrets_and_out_with_them() {
    let (home, store) = store("# mine\n[run]\nmax-turns = 3\n");
    let env = [("API_KEY", "hunter2-hunter2"), ("MODE", "fast"), ("DB", "pg://me:pw@host/db")];
    store.tool_servers().put(&[program("notes", &env)]).unwrap();
    let written = text(&home, "config.toml");
    assert!(written.starts_with("# mine\n[run]\nmax-turns = 3\n"), "{written}");
    assert!(!written.contains("hunter2") && !written.contains("me:pw"), "{written}");
    assert!(text(&home, "credentials.toml").contains("hunter2-hunter2"));
    let store = again(&home);
    let servers = store.tool_servers();
    let (name, settings) = servers.find("notes").unwrap();
    assert_eq!(servers.state(name, settings), ServerState::Disabled);
    assert!(servers.has_secret(name, "API_KEY") && servers.has_secret(name, "DB"));
    assert!(servers.unset(name, settings).is_empty());
    servers.switch(std::slice::from_ref(name), true).unwrap();
    let store = again(&home);
    let servers = store.tool_servers();
    let (name, settings) = servers.find("notes").unwrap();
    assert_eq!(servers.state(name, settings), ServerState::KeptOut, "the policy has servers off");
    let [removed] = servers.remove(std::slice::from_ref(name)).unwrap().try_into().unwrap();
    assert_eq!((removed.name.as_str(), removed.secrets), ("notes", 2));
    assert_eq!(text(&home, "config.toml"), "# mine\n[run]\nmax-turns = 3\n");
    assert!(!text(&home, "credentials.toml").contains("hunter2"));
}

#[test]
fn a_server_that_is_replaced_forgets_what_nothing_refers_to() {
    let (home, store) = store("");
    let before = program("notes", &[("API_KEY", "hunter2-hunter2"), ("TOKEN", "t0ken-t0ken")]);
    store.tool_servers().put(&[before]).unwrap();
    let store = again(&home);
    store.tool_servers().put(&[program("notes", &[("TOKEN", "${TOKEN}")])]).unwrap();
    let kept = text(&home, "credentials.toml");
    assert!(kept.contains("t0ken-t0ken") && !kept.contains("hunter2"), "{kept}");
}

#[test]
fn comments_of_a_server_that_is_changed_stay() {
    let (home, store) = store(
        "[mcp.servers.notes] # for work\ncommand = \"npx\" # slow\nargs = [\"old\"]\ncall-timeout = \"2m\"\n\n# others\n[run]\nmax-turns = 3\n",
    );
    store.tool_servers().put(&[program("notes", &[])]).unwrap();
    assert_eq!(
        text(&home, "config.toml"),
        "[mcp.servers.notes] # for work\ncommand = \"npx\" # slow\nargs = [\"server\"]\nenabled = false\n\n# others\n[run]\nmax-turns = 3\n"
    );
}

#[test]
fn what_is_set_nowhere_is_named() {
    let (_home, store) = store(
        "[mcp.servers.notes]\ncommand = \"x\"\nargs = [\"${CREWAGENT_TEST_UNSET}\", \"${CREWAGENT_TEST_REGION:-eu}\"]\n",
    );
    let servers = store.tool_servers();
    let (name, settings) = servers.find("notes").unwrap();
    assert_eq!(servers.unset(name, settings), ["CREWAGENT_TEST_UNSET"]);
    assert!(matches!(servers.find("note"), Err(KnownServersError::Unknown { .. })));
}

#[test]
fn secrets_of_a_server_stay_with_its_host() {
    let (home, store) = store("");
    let at = |url: &str, token: &str| {
        let template = |text: &str| VariableTemplate::new(text).unwrap();
        let headers = [("TOKEN".to_owned(), template(token))].into();
        let way = ServerWay::Http { url: template(url), headers };
        let settings =
            ServerSettings { enabled: false, way, startup_timeout: None, call_timeout: None };
        [ImportedServer::new("notes".parse().unwrap(), settings).unwrap()]
    };
    store.tool_servers().put(&at("https://one.test/mcp", "t0ken-t0ken")).unwrap();
    let store = again(&home);
    store.tool_servers().put(&at("https://one.test/other", "${TOKEN}")).unwrap();
    assert!(text(&home, "credentials.toml").contains("t0ken-t0ken"));
    let store = again(&home);
    store.tool_servers().put(&at("https://evil.test/mcp", "${TOKEN}")).unwrap();
    assert!(!text(&home, "credentials.toml").contains("t0ken-t0ken"));
}
