//! Installed servers, and calls of them.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crewagent_adapters::mcp::McpServer;
use crewagent_core::tool::server_tool::ServerTool;
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::store::{Settings, Store};
use crewagent_engine::tool_server::{
    ResultPart, ServerFault, ServerOffer, ServerOrder, ToolResult, ToolServer as _,
};
use crewagent_testkit::eventually;
use serde_json::Value as Json;
use tempfile::TempDir;

/// Time limit on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the folder in which `cargo xtask` installed the servers.
pub(crate) fn installed() -> PathBuf {
    let folder = std::env::var_os("CREWAGENT_MCP_SERVERS").expect(
        "these tests are run by `cargo xtask nightly --only mcp`, which installs the servers",
    );
    PathBuf::from(folder)
}

/// Returns the program of an npm package.
pub(crate) fn npm(package: &str) -> String {
    let name = format!("node_modules/@modelcontextprotocol/{package}/dist/index.js");
    installed().join(name).to_str().unwrap().to_owned()
}

/// Server with its own store.
pub(crate) struct ServerFixture {
    pub(crate) server: McpServer,
    pub(crate) scratch: TempDir,
}

impl ServerFixture {
    /// Creates a server from the lines of its table; `{scratch}` stands for its own folder.
    pub(crate) fn new(table: &str) -> Self {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let home = scratch.path().join("home");
        fs::create_dir_all(&home).unwrap();
        let table = table.replace("{scratch}", scratch.path().to_str().unwrap());
        let text = format!("[mcp.servers.s]\nstartup-timeout = \"2m\"\n{table}");
        fs::write(Settings::path(&home), text).unwrap();
        let store = Store::open(Some(home)).unwrap();
        let (name, settings) = store.settings().mcp.servers.iter().next().unwrap();
        let server = McpServer::new(name.clone(), settings.clone(), store.secrets());
        Self { server, scratch }
    }

    /// Creates a server that node runs, and that writes its process id to the file `pid`.
    pub(crate) fn node(package: &str, args: &[&str]) -> Self {
        let script = "echo $$ > \"$0\"; exec \"$@\"";
        let program = npm(package);
        let mut words = vec!["-c", script, "{scratch}/pid", "node", &program];
        words.extend(args);
        Self::new(&format!("command = \"sh\"\nargs = {words:?}\n"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(crate) fn offer(&self) -> Arc<ServerOffer> {
        self.server.wake();
        self.server.offer(&soon())
    }

    pub(crate) fn tools(&self) -> Vec<ServerTool> {
        self.offer().listed.clone().unwrap().tools
    }

    pub(crate) fn call(&self, name: &str, arguments: Json) -> Result<ToolResult, ServerFault> {
        self.call_until(name, arguments, &soon())
    }

    pub(crate) fn call_until(
        &self,
        name: &str,
        arguments: Json,
        deadline: &Deadline,
    ) -> Result<ToolResult, ServerFault> {
        let Json::Object(arguments) = arguments else { panic!("no object") };
        self.server.call(ServerOrder::Tool { name, arguments }, deadline)
    }

    pub(crate) fn read(&self, uri: &str) -> Result<ToolResult, ServerFault> {
        self.server.call(ServerOrder::Resource { uri: uri.to_owned() }, &soon())
    }
}

pub(crate) fn soon() -> Deadline {
    Deadline::after(TIMEOUT, &Cancel::default())
}

/// Returns the text of a result.
pub(crate) fn text(output: &ToolResult) -> String {
    let words = output.parts.iter().filter_map(|part| match part {
        ResultPart::Text(text) => Some(text.as_str()),
        ResultPart::Attachment { .. } => None,
    });
    words.collect::<Vec<_>>().join("\n")
}

/// Kills the process whose id is in a file, as the system would.
pub(crate) fn kill(file: &Path) {
    let pid = fs::read_to_string(file).unwrap();
    assert!(Command::new("kill").args(["-9", pid.trim()]).status().unwrap().success());
}

/// Server over HTTP. It ends with the value.
pub(crate) struct Listening {
    pub(crate) url: String,
    child: Child,
}

impl Listening {
    pub(crate) fn everything() -> Self {
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let child = Command::new("node")
            .args([npm("server-everything").as_str(), "streamableHttp"])
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        eventually(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok());
        Self { url: format!("http://127.0.0.1:{port}/mcp"), child }
    }

    pub(crate) fn end(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
