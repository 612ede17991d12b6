//! The model behind a name: a scenario, a recorded run, or a configured one.

use std::path::Path;

use crewagent_format::integrity::Digest;
use thiserror::Error;

use crate::chat::{Chat, Client};
use crewagent_engine::doctor::HealthCheck;
use crewagent_engine::model::{Model, ModelError};
use crewagent_engine::store::{
    ChosenModel, Environment, RunError, SecretError, Store, UnknownModel,
};
use crewagent_scenario::replay::Replay;
use crewagent_scenario::scripted::{ScenarioError, Scripted};

/// Meaning of a model name.
#[derive(Debug)]
pub enum NamedModel {
    Scripted(String),
    Replay(String),
    Chat(Box<ChosenModel>),
}

/// Reason why a model is not ready.
#[derive(Debug, Error)]
pub enum NamedError {
    #[error(transparent)]
    Unknown(#[from] UnknownModel),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error("the model `replay` answers from a run that is in the store: {0}")]
    Replay(#[from] RunError),
    #[error(transparent)]
    Key(#[from] SecretError),
    #[error(transparent)]
    Client(#[from] ModelError),
}

impl NamedModel {
    /// Resolves this name, or that of the environment, or of the settings.
    pub fn of(name: Option<&str>, store: &Store) -> Result<Self, UnknownModel> {
        let (settings, environment) = (store.settings(), Environment::of_process());
        let (name, origin) = settings.model_name(name, &environment)?;
        Ok(match name.split_once(':') {
            Some(("scripted", file)) => Self::Scripted(file.to_owned()),
            Some(("replay", run)) => Self::Replay(run.to_owned()),
            _ => Self::Chat(Box::new(settings.model(&name, origin, &environment)?)),
        })
    }

    /// Opens the model. The client is only created for a model over the network.
    pub fn open(
        &self,
        store: &Store,
        client: impl FnOnce() -> Result<Client, ModelError>,
    ) -> Result<Box<dyn Model>, NamedError> {
        Ok(match self {
            Self::Scripted(file) => Box::new(Scripted::load(Path::new(file))?),
            Self::Replay(run) => Box::new(replay(run, store)?),
            Self::Chat(chosen) => {
                let environment = Environment::of_process();
                let endpoint = chosen.endpoint(&store.secrets(), &environment)?;
                Box::new(Chat::new(endpoint, &client()?)?)
            }
        })
    }
}

/// Checks for the doctor which model is chosen and that its key is present. No request is sent.
pub fn check(store: &Store) -> HealthCheck {
    const NAME: &str = "model";
    let chosen = match NamedModel::of(None, store) {
        Ok(NamedModel::Chat(chosen)) => chosen,
        Ok(file @ (NamedModel::Scripted(_) | NamedModel::Replay(_))) => {
            return match file.open(store, Client::new) {
                Ok(opened) => HealthCheck::ok(NAME, opened.name().to_owned()),
                Err(error) => HealthCheck::warn(NAME, error.to_string()),
            };
        }
        Err(error) => return HealthCheck::warn(NAME, error.to_string()),
    };
    let place = format!("{}: {} at {}", chosen.name, chosen.settings.model, chosen.base_url);
    let environment = Environment::of_process();
    let reached = chosen.endpoint(&store.secrets(), &environment);
    match reached.and_then(|_| chosen.key(&store.secrets(), &environment)) {
        Ok(found) => HealthCheck::ok(NAME, format!("{place}, key: {}", found.source.words()))
            .advise("crewagent models test tries it out"),
        Err(error) => HealthCheck::warn(NAME, format!("{place}: {error}")),
    }
}

fn replay(reference: &str, store: &Store) -> Result<Replay, RunError> {
    let runs = store.runs();
    let view = runs.look(&runs.find(reference)?)?;
    let blobs = view.blobs;
    Ok(Replay::from_events(view.recovered.events, move |digest: Digest| blobs.text(digest).ok()))
}
