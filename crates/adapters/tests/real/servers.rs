//! Real servers: each is started once, when the first test needs it, and ends with the tests.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::json;

/// Key that both servers require.
pub(crate) const KEY: &str = "sk-real-1234";
/// Window of the llama models in tokens, which are bytes. A request of a run has some thousands.
pub(crate) const WINDOW: u64 = 65_536;
pub(crate) const SHORT_WINDOW: u64 = 256;

/// Time limit on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) struct Server {
    /// Base URL with `/v1`.
    pub(crate) base_url: String,
    /// Ends when its standard input is closed, which happens when this process exits.
    _leash: Child,
}

/// Starts llama.cpp with models whose text is noise. `short` is a talkative one with a small window.
pub(crate) fn llama() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| start_llama("llama", false))
}

/// Starts llama.cpp with its default: it serves one request, and a second one ends the stream of the first.
pub(crate) fn impatient_llama() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| start_llama("impatient-llama", true))
}

fn start_llama(name: &str, interrupts: bool) -> Server {
    let port = free_port();
    let model = |alias: &str, weights: &str, window: u64| {
        json!({
            "model": folder().join(format!("{weights}.gguf")),
            "model_alias": alias,
            "n_ctx": window,
            "chat_format": "chatml-function-calling",
            "logits_all": false,
            "verbose": false,
        })
    };
    let settings = json!({
        "host": "127.0.0.1",
        "port": port,
        "api_key": KEY,
        "interrupt_requests": interrupts,
        "models": [
            model("talker", "talker", WINDOW),
            model("caller", "caller", WINDOW),
            model("endless", "endless", WINDOW),
            model("short", "talker", SHORT_WINDOW),
        ],
    });
    let file = folder().join(format!("{name}.json"));
    fs::write(&file, settings.to_string()).unwrap();
    let mut command = Command::new(folder().join("llama/bin/python"));
    command.args(["-m", "llama_cpp.server", "--config_file"]).arg(file);
    start(name, &command, port)
}

/// Starts LiteLLM's proxy with the models of `litellm.yaml`, the other server behind it.
pub(crate) fn litellm() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let port = free_port();
        let mut command = Command::new(folder().join("litellm/bin/litellm"));
        command.arg("--config").arg(sources().join("litellm.yaml"));
        command.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
        command.env("LITELLM_KEY", KEY).env("LLAMA_KEY", KEY);
        command.env("LLAMA_BASE_URL", &llama().base_url);
        // Otherwise it requests prices from the network.
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
        start("litellm", &command, port)
    })
}

/// Returns the folder of `cargo xtask real-models`.
fn folder() -> PathBuf {
    let folder = std::env::var_os("CREWAGENT_REAL_MODELS").expect("run `cargo xtask real-models`");
    PathBuf::from(folder)
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real")
}

/// Returns an unused port of the loopback.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a server and waits until it listens.
fn start(name: &str, server: &Command, port: u16) -> Server {
    let log = folder().join(format!("{name}.log"));
    let mut command = Command::new(folder().join("llama/bin/python"));
    command.arg(sources().join("leash.py")).arg(port.to_string());
    command.arg(server.get_program()).args(server.get_args());
    command.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log).unwrap());
    let mut leash = command.spawn().unwrap();
    let mut says = BufReader::new(leash.stdout.take().unwrap());
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let _ = says.read_line(&mut line);
        // The receiver is gone after a timeout.
        let _ = tell.send(line);
    });
    let line = told.recv_timeout(TIMEOUT).unwrap_or_default();
    if line.trim() != "listening" {
        let log = fs::read_to_string(log).unwrap_or_default();
        panic!("{name} does not listen. Its log:\n{log}");
    }
    Server { base_url: format!("http://127.0.0.1:{port}/v1"), _leash: leash }
}
