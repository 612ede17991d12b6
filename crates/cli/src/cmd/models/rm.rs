//! `crewagent models rm`: removes models and their keys from the settings.

use std::path::Path;

use crewagent_engine::store::{KeySource, SettingsFile, Store};

use crate::args::ModelsRmArgs;
use crate::cmd::removal::{self, Removed};
use crate::console::Console;
use crate::language::{near, say, text};
use crate::outcome::{Outcome, UsageError};
use crate::{model, paint};

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
            let near = near(name, settings.models.keys().map(String::as_str));
            let words = say!(
                "there is no model `{name}`{near}; `crewagent models list` shows what there is",
                "没有模型 `{name}`{near}；`crewagent models list` 列出所有模型"
            );
            return Err(UsageError(words).into());
        }
    }
    let lines = settings.models.iter().filter(|(name, _)| args.names.contains(name));
    let lines = lines.map(|(name, own)| format!("{name}  {}", own.model));
    let count = paint::counted(args.names.len(), ("model", "个模型"));
    let question =
        say!("Remove {count}, with the keys kept for them?", "要删除 {count}及其保存的密钥吗？");
    if !removal::agreed(lines, &question, args.removal, console)? {
        return Ok(Outcome::Cancelled);
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
    let mut removed = Removed::new(args.removal);
    for name in &args.names {
        let place = settings.models.get(name).and_then(|own| own.key.as_ref());
        let in_keyring = place == Some(&KeySource::Keyring);
        let place = if in_keyring { KeySource::Keyring } else { KeySource::File };
        let forgot = store.secrets().remove(&place, name).map_err(model::key_problem)?;
        removed.report(name, if forgot { text!(" and its key", "及其密钥") } else { "" }, console);
    }
    Ok(removed.finish(console))
}
