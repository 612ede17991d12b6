//! Which model answers: by flag, environment or setting.

use std::path::Path;

use anyhow::Context as _;
use crewagent_core::integrity::Digest;
use crewagent_engine::model::Model;
use crewagent_engine::model::chat::{Chat, Client};
use crewagent_engine::model::replay::Replay;
use crewagent_engine::model::scripted::Scripted;
use crewagent_engine::store::{ChosenModel, KeySource, SecretError, Store, Surroundings};
use crewagent_engine::turn::Halt;

use crate::outcome::Usage;

/// A model that is ready to answer.
pub(crate) struct Opened {
    pub(crate) model: Box<dyn Model>,
    /// The size of its window, where it is known.
    pub(crate) window: Option<u64>,
}

/// What a name means.
pub(crate) enum Choice {
    /// Answers from a scenario file.
    Scripted(String),
    /// Answers as a recorded run was answered.
    Replay(String),
    /// Answers over the network.
    Chat(Box<ChosenModel>),
}

/// The model that the flag, the environment or the settings name.
pub(crate) fn open(flag: Option<&str>, store: &Store) -> anyhow::Result<Opened> {
    let model: Box<dyn Model> = match choose(flag, store)? {
        Choice::Scripted(file) => Box::new(scripted(Path::new(&file))?),
        Choice::Replay(run) => Box::new(replay(&run, store)?),
        Choice::Chat(chosen) => {
            let surroundings = Surroundings::of_process();
            let endpoint = chosen.endpoint(&store.secrets(), &surroundings).map_err(key_problem)?;
            let client = Client::new().map_err(Halt::Model)?;
            let chat = Chat::new(endpoint, &client).map_err(Halt::Model)?;
            return Ok(Opened { model: Box::new(chat), window: chosen.window });
        }
    };
    Ok(Opened { model, window: None })
}

/// What is meant, without opening it.
pub(crate) fn choose(flag: Option<&str>, store: &Store) -> Result<Choice, Usage> {
    let (settings, surroundings) = (store.settings(), Surroundings::of_process());
    let unknown = |error: crewagent_engine::store::UnknownModel| Usage(error.to_string());
    let (name, origin) = settings.model_name(flag, &surroundings).map_err(unknown)?;
    Ok(match name.split_once(':') {
        Some(("scripted", file)) => Choice::Scripted(file.to_owned()),
        Some(("replay", run)) => Choice::Replay(run.to_owned()),
        _ => Choice::Chat(Box::new(settings.model(&name, origin, &surroundings).map_err(unknown)?)),
    })
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

/// Where a key is, for people.
pub(crate) fn key_words(source: &KeySource) -> String {
    match source {
        KeySource::Variable(name) => name.clone(),
        KeySource::File => "credentials.toml".to_owned(),
        KeySource::Keyring => "keyring".to_owned(),
        KeySource::None => "none".to_owned(),
    }
}

fn scripted(file: &Path) -> Result<Scripted, Usage> {
    Scripted::load(file).map_err(|error| Usage(error.to_string()))
}

fn replay(reference: &str, store: &Store) -> anyhow::Result<Replay> {
    let runs = store.runs();
    let id = runs
        .find(reference)
        .context("the model `replay` answers from a run that is in the store")?;
    let view = runs.look(&id)?;
    let blobs = view.blobs;
    Ok(Replay::from_events(view.recovered.events, move |digest: Digest| blobs.text(digest).ok()))
}
