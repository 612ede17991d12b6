//! The models and tool servers that the workers of this server reach.

use std::sync::{Mutex, PoisonError};

use crewagent_adapters::chat::Client;
use crewagent_adapters::mcp::tool_servers;
use crewagent_adapters::names::{NamedError, NamedModel};
use crewagent_engine::model::{Model, ModelError};
use crewagent_engine::runtime::Runtime;
use crewagent_engine::store::Store;
use crewagent_engine::workers::{Connector, ConnectorError};

/// Models by their names, over one HTTP client, and the tool servers of the settings.
#[derive(Debug, Default)]
pub(crate) struct Adapters {
    client: Mutex<Option<Client>>,
}

impl Adapters {
    /// Returns the client that all models over the network share.
    pub(crate) fn client(&self) -> Result<Client, ModelError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*client {
            return Ok(client.clone());
        }
        let fresh = Client::new()?;
        *client = Some(fresh.clone());
        Ok(fresh)
    }
}

impl Connector for Adapters {
    fn check_model(&self, name: Option<&str>, store: &Store) -> Result<(), ConnectorError> {
        NamedModel::of(name, store).map(drop).map_err(|error| NamedError::from(error).into())
    }

    fn open_model(
        &self,
        name: Option<&str>,
        store: &Store,
    ) -> Result<Box<dyn Model>, ConnectorError> {
        let named = NamedModel::of(name, store).map_err(NamedError::from)?;
        Ok(named.open(store, || self.client())?)
    }

    fn runtime<'s>(&self, store: &'s Store) -> Runtime<'s> {
        Runtime::new(store, tool_servers(store))
    }
}
