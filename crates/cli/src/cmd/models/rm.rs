//! `crewagent models rm`: removes models and their keys from the settings.

use std::path::Path;

use crewagent_engine::store::{KeySource, SettingsFile, Store};

use crate::args::ModelsRmArgs;
use crate::console::Console;
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};
use crate::{ask, model};

pub(super) fn run(
    args: &ModelsRmArgs,
    store: &Store,
    path: &Path,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let settings = store.settings();
    // All names are checked before the first removal, so that a typo in the second one removes nothing.
    for name in &args.names {
        if !settings.models.contains_key(name) {
            let words =
                format!("there is no model `{name}`; `crewagent models list` shows what there is");
            return Err(UsageError(words).into());
        }
    }
    if !args.yes && ask::is_possible() {
        let what = paint::counted(args.names.len(), "model");
        let question =
            format!("Remove {what} and what is kept of their keys ({})?", args.names.join(", "));
        if !ask::confirm(&question)? {
            console.line("Nothing was removed.");
            return Ok(Outcome::Cancelled);
        }
    }
    let mut file = SettingsFile::open(path)?;
    for name in &args.names {
        file.remove(&["models", name])?;
        if settings.run.model.as_deref() == Some(name) {
            file.remove(&["run", "model"])?;
        }
        for tier in settings.tiers.of(name) {
            file.remove(&["tiers", tier.name()])?;
        }
    }
    file.save()?;
    for name in &args.names {
        let place = settings.models.get(name).and_then(|own| own.key.as_ref());
        let in_keyring = place == Some(&KeySource::Keyring);
        let place = if in_keyring { KeySource::Keyring } else { KeySource::File };
        let forgot = store.secrets().remove(&place, name).map_err(model::key_problem)?;
        console.line(format_args!(
            "{} {}{}",
            paint::styled(GOOD, "removed"),
            paint::styled(NAME, paint::printable(name)),
            if forgot { " and its key" } else { "" }
        ));
    }
    Ok(Outcome::Done)
}
