//! Chooses the model: by flag, environment or setting.

use std::collections::BTreeMap;

use crewagent_adapters::chat::Client;
use crewagent_adapters::names::{NamedError, NamedModel};
use crewagent_core::settings::RunSettings;
use crewagent_engine::model::{Model, TieredModel};
use crewagent_engine::runtime::Run;
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{SecretError, Store};
use crewagent_format::package::step::Tier;

use crate::language::errors::shown;
use crate::language::{say, text};
use crate::outcome::UsageError;

/// Opens the model that the flag, the environment or the settings name.
pub(crate) fn open(flag: Option<&str>, store: &Store) -> anyhow::Result<Box<dyn Model>> {
    opened(flag, store).map_err(|error| match error {
        NamedError::Unknown(error) => UsageError(shown(&error)).into(),
        NamedError::Scenario(error) => UsageError(shown(&error)).into(),
        NamedError::Replay(error) => anyhow::Error::from(error).context(text!(
            "the model `replay` answers from a run that is in the store",
            "模型 `replay` 用库中的一次运行作答"
        )),
        NamedError::Key(error) => key_problem(error),
        NamedError::Client(error) => Halt::Model(error).into(),
    })
}

fn opened(flag: Option<&str>, store: &Store) -> Result<Box<dyn Model>, NamedError> {
    NamedModel::of(flag, store)?.open(store, Client::new)
}

/// Returns the model together with those of the run's tiers.
pub(crate) fn tiered(own: Box<dyn Model>, settings: &RunSettings, store: &Store) -> Box<dyn Model> {
    TieredModel::open(own, &settings.tiers, |name| {
        // The text is recorded, so it stays English.
        opened(Some(name), store).map_err(|error| error.to_string())
    })
}

/// Checks that the names of the command line mean models.
pub(crate) fn check_tiers(given: &BTreeMap<Tier, String>, store: &Store) -> Result<(), UsageError> {
    given.values().try_for_each(|name| choose(Some(name), store).map(drop))
}

/// Opens the model of the flag, if there is one. Errors are reported before a run is resumed.
pub(crate) fn asked(flag: Option<&str>, store: &Store) -> anyhow::Result<Option<Box<dyn Model>>> {
    flag.map(|name| open(Some(name), store)).transpose()
}

/// Returns the requested model, else opens the one that the run used before, else the configured one.
pub(crate) fn or_own(
    asked: Option<Box<dyn Model>>,
    run: &Run,
    store: &Store,
) -> anyhow::Result<Box<dyn Model>> {
    let own = run.settings().model.as_deref();
    let opened = asked.map_or_else(|| open(own, store), Ok);
    opened.map_err(|error| match (error.downcast_ref::<UsageError>(), own) {
        (Some(UsageError(why)), Some(_)) => UsageError(say!(
            "the run asked for its model before: {why}, or choose with --model",
            "运行先前用的模型：{why}；或用 --model 另选"
        ))
        .into(),
        _ => error,
    })
}

/// Resolves the name without opening the model.
pub(crate) fn choose(flag: Option<&str>, store: &Store) -> Result<NamedModel, UsageError> {
    NamedModel::of(flag, store).map_err(|error| UsageError(shown(&error)))
}

/// Turns key errors into usage errors, because the user can fix them; IO errors stay as they are.
pub(crate) fn key_problem(error: SecretError) -> anyhow::Error {
    match error {
        SecretError::Io { .. } => error.into(),
        SecretError::Exposed { .. }
        | SecretError::Wrong { .. }
        | SecretError::Keyring(_)
        | SecretError::NotAKey(_)
        | SecretError::Missing { .. }
        | SecretError::Elsewhere { .. }
        | SecretError::Header { .. } => UsageError(shown(&error)).into(),
    }
}
