//! `[mcp]` table: the MCP servers, and how to reach them.

mod import;
mod template;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) use self::tests::EVERYTHING;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crewagent_core::tool::server_tool::ServerName;
use serde::{Deserialize, Serialize};

pub use self::import::{ImportedServer, ServersFile, import};
pub use self::template::{Missing, VariableTemplate};
use super::timeout::Timeout;

/// MCP servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct McpTable {
    /// Longest result that a model gets in full.
    pub max_result_bytes: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<ServerName, ServerSettings>,
}

impl Default for McpTable {
    fn default() -> Self {
        Self { max_result_bytes: 128 << 10, servers: BTreeMap::new() }
    }
}

/// Settings of one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ServerSettingsFile", into = "ServerSettingsFile")]
pub struct ServerSettings {
    /// True if runs may use it; false for a new server.
    pub enabled: bool,
    pub way: ServerWay,
    /// Time until the server has listed its tools; 30 seconds when absent.
    pub startup_timeout: Option<Timeout>,
    /// Timeout of one call; that of the policy when absent, and never longer.
    pub call_timeout: Option<Timeout>,
}

/// Transport of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerWay {
    /// Child process, over its standard input and output.
    Child {
        command: String,
        args: Vec<VariableTemplate>,
        /// Variables in addition to the few that every server gets.
        env: BTreeMap<String, VariableTemplate>,
        /// Working directory; ours when absent.
        cwd: Option<PathBuf>,
    },
    /// Streamable HTTP.
    Http {
        url: VariableTemplate,
        /// Headers of every request.
        headers: BTreeMap<String, VariableTemplate>,
    },
}

/// Form of [`ServerSettings`] in the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct ServerSettingsFile {
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<VariableTemplate>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, VariableTemplate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<VariableTemplate>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, VariableTemplate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    startup_timeout: Option<Timeout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_timeout: Option<Timeout>,
}

impl TryFrom<ServerSettingsFile> for ServerSettings {
    type Error = String;

    fn try_from(written: ServerSettingsFile) -> Result<Self, Self::Error> {
        let ServerSettingsFile { enabled, command, args, env, cwd, url, headers, .. } = written;
        let (startup_timeout, call_timeout) = (written.startup_timeout, written.call_timeout);
        let has_child = !args.is_empty() || !env.is_empty() || cwd.is_some();
        let way = match (command, url) {
            (Some(command), None) if headers.is_empty() => {
                if command.trim().is_empty() {
                    return Err("the command of a server is not blank".to_owned());
                }
                env.iter().try_for_each(|(name, value)| check_variable(name, value))?;
                ServerWay::Child { command, args, env, cwd }
            }
            (None, Some(url)) if !has_child => {
                check_url(&url)?;
                headers.iter().try_for_each(|(name, value)| check_header(name, value))?;
                ServerWay::Http { url, headers }
            }
            (Some(_), None) => return Err("`headers` belong to a server with a `url`".to_owned()),
            (None, Some(_)) => {
                return Err(
                    "`args`, `env` and `cwd` belong to a server with a `command`".to_owned()
                );
            }
            (_, _) => {
                return Err(
                    "a server has a `command` that starts it, or a `url` where it is".to_owned()
                );
            }
        };
        Ok(Self { enabled, way, startup_timeout, call_timeout })
    }
}

impl From<ServerSettings> for ServerSettingsFile {
    fn from(settings: ServerSettings) -> Self {
        let ServerSettings { enabled, way, startup_timeout, call_timeout } = settings;
        let rest = Self { enabled, startup_timeout, call_timeout, ..Self::default() };
        match way {
            ServerWay::Child { command, args, env, cwd } => {
                Self { command: Some(command), args, env, cwd, ..rest }
            }
            ServerWay::Http { url, headers } => Self { url: Some(url), headers, ..rest },
        }
    }
}

impl ServerWay {
    /// Formats the command or address in one line, with references left unresolved.
    pub fn line(&self) -> String {
        match self {
            Self::Child { command, args, .. } => {
                let words = args.iter().map(VariableTemplate::as_str);
                [command.as_str()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
            }
            Self::Http { url, .. } => url.to_string(),
        }
    }

    /// Finds secrets in its arguments and its address, recognised by name: `--token=…`, `--token …`, `?api_key=…`,
    /// `Authorization: Bearer …`.
    pub fn open_secrets(&self) -> Vec<&str> {
        let mut found = Vec::new();
        match self {
            Self::Child { args, .. } => {
                let mut is_next = false;
                for arg in args.iter().map(VariableTemplate::as_str) {
                    found.extend((is_next && !arg.starts_with('-')).then_some(arg));
                    found.extend(named_secrets(arg));
                    is_next = arg.starts_with('-') && !arg.contains('=') && is_secret(arg);
                }
            }
            Self::Http { url, .. } => found.extend(named_secrets(url.as_str())),
        }
        found.retain(|secret| !secret.is_empty() && !secret.contains("${"));
        found
    }
}

/// Returns the values of parameters whose names suggest a secret.
fn named_secrets(text: &str) -> impl Iterator<Item = &str> {
    let pairs = text.split(['?', '&', '#']).filter_map(|pair| pair.split_once(['=', ':']));
    let secrets = pairs.filter(|(name, _)| is_secret(name)).map(|(_, value)| value.trim());
    // `Bearer` and similar schemes are not part of the secret.
    secrets.map(|value| value.rsplit(' ').next().unwrap_or(value))
}

/// Returns true if a variable or a header of this name likely holds a secret.
pub(super) fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "key",
        "keys",
        "apikey",
        "token",
        "secret",
        "password",
        "passwd",
        "pat",
        "auth",
        "authorization",
        "cookie",
        "credentials",
    ];
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

fn check_variable(name: &str, value: &VariableTemplate) -> Result<(), String> {
    if !template::is_variable(name) {
        return Err(format!("`{name}` is not the name of an environment variable"));
    }
    check_open(name, value)
}

fn check_header(name: &str, value: &VariableTemplate) -> Result<(), String> {
    const OURS: [&str; 4] = ["content-type", "content-length", "host", "accept"];
    let small = name.to_ascii_lowercase();
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_legal) {
        return Err(format!("`{name}` is not the name of a header"));
    }
    if OURS.contains(&small.as_str()) || small.starts_with("mcp-") {
        return Err(format!("the header `{name}` is written by the runtime itself"));
    }
    check_open(name, value)
}

/// Refuses a secret in plain text in the settings.
fn check_open(name: &str, value: &VariableTemplate) -> Result<(), String> {
    if is_secret(name) && !value.has_references() && !value.as_str().is_empty() {
        return Err(format!(
            "`{name}` looks like a secret, which never stands in the settings; write ${{VARIABLE}} and set that, or let `crewagent mcp add` put it away"
        ));
    }
    Ok(())
}

fn check_url(url: &VariableTemplate) -> Result<(), String> {
    let text = url.as_str();
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let rest = if text.starts_with("${") { Some(text) } else { rest };
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(char::is_whitespace) => {
            match rest.split('/').next().is_some_and(|host| host.contains('@')) {
                true => Err("the `url` has a name or a password in it; use a header".to_owned()),
                false => Ok(()),
            }
        }
        Some(_) | None => Err("the `url` of a server begins with http:// or https://".to_owned()),
    }
}
