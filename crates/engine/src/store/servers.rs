//! Configured MCP servers: add, enable, disable and remove them with their secrets. Their definitions are in the
//! settings, their secrets with all others.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crewagent_core::tool::server_tool::ServerName;
use crewagent_format::wording::did_you_mean;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;
use thiserror::Error;

use super::secrets::server_of;
use super::{
    Environment, ImportedServer, KeySource, SecretError, ServerSettings, ServerWay, SettingsError,
    SettingsFile, Store, VariableTemplate, key_of,
};

/// MCP servers of a store.
#[derive(Clone, Copy, Debug)]
pub struct KnownServers<'s> {
    store: &'s Store,
}

/// Error of changing a server.
#[derive(Debug, Error)]
pub enum KnownServersError {
    #[error("there is no MCP server `{name}`{}", did_you_mean(name, known.iter().map(String::as_str)))]
    Unknown { name: String, known: Vec<String> },
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// Availability of a server to runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum ServerState {
    /// They may.
    Enabled,
    /// It is enabled, and the policy keeps it out.
    KeptOut,
    /// It is switched off.
    Disabled,
}

/// Server that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedServer {
    pub name: ServerName,
    /// Number of secrets removed with it.
    pub secrets: usize,
}

impl<'s> KnownServers<'s> {
    pub(super) fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// Returns a server by its name.
    pub fn find(
        &self,
        name: &str,
    ) -> Result<(&'s ServerName, &'s ServerSettings), KnownServersError> {
        let servers = &self.store.settings().mcp.servers;
        let found = servers.iter().find(|(known, _)| known.as_str() == name);
        found.ok_or_else(|| KnownServersError::Unknown {
            name: name.to_owned(),
            known: servers.keys().map(ServerName::to_string).collect(),
        })
    }

    /// Returns servers by their names. An unknown name is an error before anything is changed.
    pub fn find_all(&self, names: &[String]) -> Result<Vec<ServerName>, KnownServersError> {
        names.iter().map(|name| self.find(name).map(|(name, _)| name.clone())).collect()
    }

    /// Returns the names of the enabled servers.
    pub fn enabled(&self) -> Vec<String> {
        let servers = self.store.settings().mcp.servers.iter();
        servers.filter(|(_, server)| server.enabled).map(|(name, _)| name.to_string()).collect()
    }

    /// Returns whether runs may use a server.
    pub fn state(&self, name: &ServerName, settings: &ServerSettings) -> ServerState {
        let policy = self.store.settings().for_runs().policy.mcp;
        match (settings.enabled, policy.allows(name)) {
            (true, true) => ServerState::Enabled,
            (true, false) => ServerState::KeptOut,
            (false, _) => ServerState::Disabled,
        }
    }

    /// Returns true if a secret is stored for a variable of a server.
    pub fn has_secret(&self, server: &ServerName, variable: &str) -> bool {
        let stored = self.store.secrets().get(&KeySource::File, &stored_name(server, variable));
        stored.is_ok_and(|stored| stored.is_some())
    }

    /// Lists the variables that a server needs and that have no value.
    pub fn unset(&self, server: &ServerName, settings: &ServerSettings) -> Vec<String> {
        let environment = Environment::of_process();
        let is_set = |variable: &str| {
            environment.get(variable).is_some() || self.has_secret(server, variable)
        };
        let values = values_of(&settings.way).into_iter().flat_map(VariableTemplate::needs);
        let unset: BTreeSet<&str> = values.filter(|variable| !is_set(variable)).collect();
        unset.into_iter().map(str::to_owned).collect()
    }

    /// Adds or replaces servers. Removes secrets that no setting refers to any more, and those of a server whose address
    /// leads to another host now.
    pub fn put(&self, servers: &[ImportedServer]) -> Result<(), KnownServersError> {
        let mut file = self.file()?;
        for server in servers {
            let written = serde_json::to_value(&server.settings).unwrap_or_default();
            let fields = written.as_object().into_iter().flatten();
            let fields: Vec<(&str, Json)> =
                fields.map(|(name, value)| (name.as_str(), value.clone())).collect();
            file.replace(&table(&server.name), &fields)?;
        }
        let secrets = self.store.secrets();
        let known = &self.store.settings().mcp.servers;
        for server in servers {
            // A changed address must not send them elsewhere.
            if let Some(before) =
                known.get(&server.name).filter(|before| is_elsewhere(before, &server.settings))
            {
                for key in stored_keys(&server.name, before) {
                    secrets.remove(&KeySource::File, &key)?;
                }
            }
            for (variable, secret) in &server.secrets {
                let name = stored_name(&server.name, variable);
                secrets.put(&KeySource::File, &name, &key_of(secret)?)?;
            }
        }
        file.save()?;
        for server in servers {
            let Some(before) = known.get(&server.name) else { continue };
            let kept = stored_keys(&server.name, &server.settings);
            for key in stored_keys(&server.name, before).difference(&kept) {
                secrets.remove(&KeySource::File, key)?;
            }
        }
        Ok(())
    }

    /// Enables or disables servers.
    pub fn switch(&self, names: &[ServerName], on: bool) -> Result<(), KnownServersError> {
        let mut file = self.file()?;
        for name in names {
            let [mcp, servers, name] = table(name);
            file.set(&[mcp, servers, name, "enabled"], &on.into())?;
        }
        Ok(file.save()?)
    }

    /// Removes servers with their secrets.
    pub fn remove(&self, names: &[ServerName]) -> Result<Vec<RemovedServer>, KnownServersError> {
        let mut file = self.file()?;
        for name in names {
            file.remove(&table(name))?;
        }
        file.save()?;
        let secrets = self.store.secrets();
        let mut removed = Vec::new();
        for name in names {
            let mut forgotten = 0;
            if let Some(settings) = self.store.settings().mcp.servers.get(name) {
                for key in stored_keys(name, settings) {
                    forgotten += usize::from(secrets.remove(&KeySource::File, &key)?);
                }
            }
            removed.push(RemovedServer { name: name.clone(), secrets: forgotten });
        }
        Ok(removed)
    }

    fn file(&self) -> Result<SettingsFile, SettingsError> {
        SettingsFile::open(&self.store.layout.config())
    }
}

/// Returns true if secrets would go to another host than before.
fn is_elsewhere(before: &ServerSettings, after: &ServerSettings) -> bool {
    let host = |settings: &ServerSettings| match &settings.way {
        ServerWay::Http { url, .. } => Some(server_of(url.as_str())),
        ServerWay::Child { .. } => None,
    };
    host(after).is_some() && host(after) != host(before)
}

/// Returns the path of a server's table in the settings.
fn table(name: &ServerName) -> [&str; 3] {
    ["mcp", "servers", name.as_str()]
}

/// Returns the name under which a secret of a server is stored.
pub fn stored_name(server: &ServerName, variable: &str) -> String {
    format!("mcp:{server}:{variable}")
}

/// Returns the names under which secrets of a server may be stored.
fn stored_keys(server: &ServerName, settings: &ServerSettings) -> BTreeSet<String> {
    let variables = values_of(&settings.way).into_iter().flat_map(VariableTemplate::references);
    variables.map(|variable| stored_name(server, variable)).collect()
}

/// Returns all values of a server that may refer to variables.
fn values_of(way: &ServerWay) -> Vec<&VariableTemplate> {
    match way {
        ServerWay::Child { args, env, .. } => args.iter().chain(env.values()).collect(),
        ServerWay::Http { url, headers } => [url].into_iter().chain(headers.values()).collect(),
    }
}
