//! The transport of an MCP server, in requests and in answers.

use std::collections::BTreeMap;
use std::path::Path;

use crewagent_core::tool::server_tool::ServerName;
use crewagent_engine::store::{KnownServers, ServerWay, VariableTemplate};

use crate::problem::Problem;
use crate::wire::{McpTransport, McpValue};

/// Returns the transport for the page. A value that holds a password is omitted.
pub(super) fn write(servers: KnownServers<'_>, name: &ServerName, way: &ServerWay) -> McpTransport {
    let values = |values: &BTreeMap<String, VariableTemplate>| {
        let one = |(key, value): (&String, &VariableTemplate)| McpValue {
            name: key.clone(),
            value: (!value.has_password()).then(|| value.to_string()),
            stored: value.references().iter().any(|variable| servers.has_secret(name, variable)),
        };
        values.iter().map(one).collect()
    };
    match way {
        ServerWay::Child { command, args, env, cwd } => McpTransport::Stdio {
            command: command.clone(),
            args: args.iter().map(ToString::to_string).collect(),
            env: values(env),
            cwd: cwd.as_ref().map(|folder| folder.display().to_string()),
        },
        ServerWay::Http { url, headers } => {
            McpTransport::Http { url: url.to_string(), headers: values(headers) }
        }
    }
}

/// Reads the transport of a request. A value that it leaves out keeps its old content.
pub(super) fn read(way: McpTransport, before: Option<&ServerWay>) -> Result<ServerWay, Problem> {
    let (old_env, old_headers) = match before {
        Some(ServerWay::Child { env, .. }) => (Some(env), None),
        Some(ServerWay::Http { headers, .. }) => (None, Some(headers)),
        None => (None, None),
    };
    Ok(match way {
        McpTransport::Stdio { command, args, env, cwd } => ServerWay::Child {
            command: command.trim().to_owned(),
            args: args.into_iter().map(template).collect::<Result<_, _>>()?,
            env: values(env, old_env)?,
            cwd: match cwd.as_deref().map(str::trim).filter(|folder| !folder.is_empty()) {
                Some(folder) if !Path::new(folder).is_absolute() => {
                    return Err(Problem::invalid(
                        "the folder that a server is started in is a whole path",
                    ));
                }
                folder => folder.map(Into::into),
            },
        },
        McpTransport::Http { url, headers } => ServerWay::Http {
            url: template(url.trim().to_owned())?,
            headers: values(headers, old_headers)?,
        },
    })
}

fn values(
    given: Vec<McpValue>,
    before: Option<&BTreeMap<String, VariableTemplate>>,
) -> Result<BTreeMap<String, VariableTemplate>, Problem> {
    let mut values = BTreeMap::new();
    for McpValue { name, value, .. } in given {
        let name = name.trim().to_owned();
        let old = || before.and_then(|before| before.get(&name)).cloned();
        let value = match value {
            Some(value) => template(value)?,
            None => old().ok_or_else(|| Problem::invalid(format!("`{name}` needs a value")))?,
        };
        if values.insert(name.clone(), value).is_some() {
            return Err(Problem::invalid(format!("`{name}` is there twice")));
        }
    }
    Ok(values)
}

fn template(text: String) -> Result<VariableTemplate, Problem> {
    VariableTemplate::new(text).map_err(Problem::invalid)
}
