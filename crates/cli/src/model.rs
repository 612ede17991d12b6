//! Which model answers: by flag, environment or setting.

use crewagent_engine::model::chat::Client;
use crewagent_engine::model::{NamedError, NamedModel, OpenedModel};
use crewagent_engine::store::{SecretError, Store};
use crewagent_engine::turn::Halt;

use crate::outcome::Usage;

/// The model that the flag, the environment or the settings name.
pub(crate) fn open(flag: Option<&str>, store: &Store) -> anyhow::Result<OpenedModel> {
    choose(flag, store)?.open(store, Client::new).map_err(|error| match error {
        NamedError::Unknown(error) => Usage(error.to_string()).into(),
        NamedError::Scenario(error) => Usage(error.to_string()).into(),
        NamedError::Replay(error) => anyhow::Error::from(error)
            .context("the model `replay` answers from a run that is in the store"),
        NamedError::Key(error) => key_problem(error),
        NamedError::Client(error) => Halt::Model(error).into(),
    })
}

/// What is meant, without opening it.
pub(crate) fn choose(flag: Option<&str>, store: &Store) -> Result<NamedModel, Usage> {
    NamedModel::of(flag, store).map_err(|error| Usage(error.to_string()))
}

/// What is wrong with a key is for the user to put right, unless the disk failed.
pub(crate) fn key_problem(error: SecretError) -> anyhow::Error {
    match error {
        SecretError::Io { .. } => error.into(),
        SecretError::Exposed { .. }
        | SecretError::Wrong { .. }
        | SecretError::Keyring(_)
        | SecretError::NotAKey(_)
        | SecretError::Missing { .. }
        | SecretError::Header { .. } => Usage(error.to_string()).into(),
    }
}
