//! Tests of the server through real sockets, with the real binary.

mod api;
mod client;
mod crowd;
mod forks;
mod instance;
mod jobs;
mod lists;
mod mcp;
mod model;
mod path;
mod resume;
mod security;
mod sources;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value as Json, json};

use self::client::{Answer, Browser};
use crate::support::CliFixture;

/// Server that a test started, killed when it is dropped.
pub(crate) struct UiServer {
    child: Child,
    /// Link that it printed.
    pub(crate) url: String,
    pub(crate) port: u16,
}

impl UiServer {
    /// Starts `crewagent ui` at this port, or at any if it is 0.
    pub(crate) fn start(world: &CliFixture, port: u16) -> Self {
        Self::of(world.command(), port)
    }

    pub(crate) fn of(mut command: Command, port: u16) -> Self {
        command.args(["ui", "--no-open", "--port", &port.to_string()]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        Self::of_plain(command)
    }

    /// Starts a command that serves.
    pub(crate) fn of_plain(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        let rest = url.strip_prefix("http://127.0.0.1:").unwrap_or_else(|| panic!("{url:?}"));
        let port = rest.split('/').next().unwrap().parse().unwrap();
        Self { child, url, port }
    }

    /// Returns a browser that has used the link.
    pub(crate) fn browser(&self) -> Browser {
        let mut browser = Browser::new(self.port);
        let entered = browser.get(self.url.split_once(&self.port.to_string()).unwrap().1);
        assert_eq!(entered.status, 303, "{entered:?}");
        browser.keep_cookie(&entered);
        browser
    }

    /// Takes its standard error, if that was piped.
    pub(crate) fn stderr(&mut self) -> std::process::ChildStderr {
        self.child.stderr.take().unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, and returns the exit code.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Kills it without a shutdown, as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for UiServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// Returns the JSON of a successful answer.
    pub(crate) fn good(&self) -> Json {
        assert_eq!(self.status, 200, "{}", self.text());
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", self.text()))
    }

    /// Returns the code of an error.
    pub(crate) fn code(&self) -> String {
        let fault: Json = serde_json::from_slice(&self.body).unwrap_or_default();
        assert!(fault["message"].as_str().is_some_and(|text| !text.is_empty()), "{}", self.text());
        fault["code"].as_str().unwrap_or_default().to_owned()
    }
}

/// Returns a fixture with the tiny package imported, a project, and a scenario.
pub(crate) fn tiny() -> CliFixture {
    let world = CliFixture::with_tiny();
    assert_eq!(world.run(&["package", "import", "tiny"]).code, 0);
    world
}

/// Returns the body that starts a run of the tiny package.
pub(crate) fn tiny_run(world: &CliFixture, project: &Json, scenario: &str) -> Json {
    let model = format!("scripted:{}", world.path(scenario).display());
    json!({ "project": project["id"], "package": "tiny", "model": model })
}
