//! Reads the `mcpServers` object in which other tools configure their servers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crewagent_core::tool::server_tool::ServerName;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{ServerSettings, ServerWay, VariableTemplate, is_secret};

/// Content of such a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServersFile {
    /// Servers that can be imported.
    pub servers: Vec<ImportedServer>,
    /// Servers that cannot, and why.
    pub problems: Vec<String>,
}

/// Server from such a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedServer {
    /// Name in the file.
    pub called: String,
    /// Name in the settings.
    pub name: ServerName,
    /// Settings without secrets.
    pub settings: ServerSettings,
    /// Secrets from the file: the variable that replaces each, and its value.
    pub secrets: Vec<(String, String)>,
}

/// Server as other tools write it. Unknown fields are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Foreign {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<String>,
    command: Option<Json>,
    args: Vec<String>,
    env: BTreeMap<String, Json>,
    cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    headers: BTreeMap<String, String>,
}

/// Reads a file with `mcpServers` (or `servers`, or `context_servers`), or the object itself.
pub fn import(text: &str) -> Result<ServersFile, String> {
    let whole: Json = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| format!("it is not JSON: {error}"))?;
    let named = ["mcpServers", "servers", "context_servers", "mcp"];
    let inner = named.into_iter().find_map(|key| whole.get(key).filter(|it| it.is_object()));
    // Some editors nest it: `{"mcp": {"servers": …}}`.
    let inner = inner.map(|it| it.get("servers").filter(|it| it.is_object()).unwrap_or(it));
    let Some(servers) = inner.unwrap_or(&whole).as_object() else {
        return Err("it has no object `mcpServers`".to_owned());
    };
    let mut file = ServersFile::default();
    for (called, value) in servers {
        match server(called, value) {
            Ok(server) if file.servers.iter().any(|known| known.name == server.name) => {
                file.problems.push(format!(
                    "`{called}`: another server of the file would be called `{}`, too",
                    server.name
                ));
            }
            Ok(server) => file.servers.push(server),
            Err(why) => file.problems.push(format!("`{called}`: {why}")),
        }
    }
    match file.servers.is_empty() && file.problems.is_empty() {
        true => Err("it names no server".to_owned()),
        false => Ok(file),
    }
}

fn server(called: &str, value: &Json) -> Result<ImportedServer, String> {
    let foreign: Foreign =
        serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    let name = ServerName::like(called).ok_or("it has no letters that a name can have")?;
    if foreign.kind.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case("sse")) {
        return Err("it speaks the old SSE transport, which is not supported; ask for its streamable HTTP address".to_owned());
    }
    let mut secrets = Vec::new();
    let way = match (foreign.command, foreign.url) {
        (Some(command), None) => {
            let (command, mut args) = command_of(command)?;
            args.extend(foreign.args);
            let mut env = BTreeMap::new();
            for (key, value) in foreign.env {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                env.insert(key.clone(), put_away(&key, &text, &mut secrets)?);
            }
            let args = args.into_iter().map(VariableTemplate::new).collect::<Result<_, _>>()?;
            ServerWay::Child { command, args, env, cwd: foreign.cwd }
        }
        (None, Some(url)) => {
            let mut headers = BTreeMap::new();
            for (key, text) in foreign.headers {
                headers.insert(key.clone(), put_away(&key, &text, &mut secrets)?);
            }
            ServerWay::Http { url: VariableTemplate::new(url)?, headers }
        }
        (_, _) => return Err("it has neither a `command` nor a `url`".to_owned()),
    };
    let settings =
        ServerSettings { enabled: false, way, startup_timeout: None, call_timeout: None };
    // Refuse what the settings file would refuse, with the same message.
    let written = super::ServerSettingsFile::from(settings);
    let settings = ServerSettings::try_from(written)?;
    Ok(ImportedServer { called: called.to_owned(), name, settings, secrets })
}

/// Splits a command: some tools write program and arguments as one list, or as `{path, args}`.
fn command_of(command: Json) -> Result<(String, Vec<String>), String> {
    let words = |list: &Json| -> Option<Vec<String>> {
        list.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
    };
    let wrong = || "its `command` is no text".to_owned();
    if let Some(command) = command.as_str() {
        return Ok((command.to_owned(), Vec::new()));
    }
    if let Some(path) = command["path"].as_str() {
        return Ok((path.to_owned(), words(&command["args"]).unwrap_or_default()));
    }
    let mut words = words(&command).ok_or_else(wrong)?.into_iter();
    Ok((words.next().ok_or_else(wrong)?, words.collect()))
}

/// Replaces the secret in a value by a variable: `Bearer abc` becomes `Bearer ${AUTHORIZATION}`.
pub(super) fn put_away(
    key: &str,
    text: &str,
    secrets: &mut Vec<(String, String)>,
) -> Result<VariableTemplate, String> {
    let template = VariableTemplate::new(text)?;
    let is_secret = is_secret(key) || template.has_password();
    if !is_secret || template.has_references() || text.trim().is_empty() {
        return Ok(template);
    }
    let (front, secret) = match text.trim().rsplit_once(' ') {
        Some((front, secret)) => (format!("{front} "), secret),
        None => (String::new(), text.trim()),
    };
    let variable: String = key
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    secrets.push((variable.clone(), secret.to_owned()));
    VariableTemplate::new(format!("{front}{}", VariableTemplate::variable(&variable)))
}

impl ImportedServer {
    /// Builds a server from a command line, with the secrets taken out of its values.
    pub fn new(name: ServerName, mut settings: ServerSettings) -> Result<Self, String> {
        let mut secrets = Vec::new();
        let values = match &mut settings.way {
            ServerWay::Child { env, .. } => env,
            ServerWay::Http { headers, .. } => headers,
        };
        for (key, value) in values {
            *value = put_away(key, value.as_str(), &mut secrets)?;
        }
        let settings = ServerSettings::try_from(super::ServerSettingsFile::from(settings))?;
        Ok(Self { called: name.to_string(), name, settings, secrets })
    }
}
