//! Which model answers: by flag, environment or setting.

use std::path::Path;

use anyhow::Context as _;
use crewagent_core::integrity::Digest;
use crewagent_engine::model::Model;
use crewagent_engine::model::replay::Replay;
use crewagent_engine::model::scripted::Scripted;
use crewagent_engine::store::Store;

use crate::outcome::Usage;

/// Names a model when no flag does.
const VARIABLE: &str = "CREWAGENT_MODEL";

const WHAT_WORKS: &str = "models over the network come with the next version, so add `--model scripted:FILE` to answer from a scenario file or `--model replay:RUN` to answer as a recorded run was answered, or try `crewagent demo`";

/// The model that the flag, the environment or the settings name.
pub(crate) fn open(flag: Option<&str>, store: &Store) -> anyhow::Result<Box<dyn Model>> {
    let variable = std::env::var(VARIABLE).ok().filter(|name| !name.trim().is_empty());
    let (name, origin) = match (flag, variable.as_deref(), store.settings().run.model.as_deref()) {
        (Some(name), _, _) => (name, ""),
        (None, Some(name), _) => (name, " (from CREWAGENT_MODEL)"),
        (None, None, Some(name)) => (name, " (from the setting run.model)"),
        (None, None, None) => {
            return Err(Usage(format!("no model is chosen; {WHAT_WORKS}")).into());
        }
    };
    named(name.trim(), store)?
        .ok_or_else(|| Usage(format!("there is no model `{name}`{origin}; {WHAT_WORKS}")).into())
}

fn named(name: &str, store: &Store) -> anyhow::Result<Option<Box<dyn Model>>> {
    Ok(match name.split_once(':') {
        Some(("scripted", file)) => Some(Box::new(scripted(Path::new(file))?)),
        Some(("replay", run)) => Some(Box::new(replay(run, store)?)),
        _ => None,
    })
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
