//! The settings, one by one. A change applies at once: every request and every run reads them again.

use crewagent_engine::store::{Settings, SettingsError, SettingsFile};
use serde_json::Value as Json;

use crate::endpoint::{ApiEndpoint, ParsedRequest, get, patch};
use crate::problem::Problem;
use crate::wire::{Code, SetSetting, Setting, SettingList};

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        get("/api/settings", "Lists the settings with their values and defaults", list),
        patch("/api/settings", "Changes a setting; the rest of the file stays as it is", set),
    ]
}

fn list(asked: ParsedRequest) -> Result<SettingList, Problem> {
    let store = asked.app.store()?;
    let path = Settings::path(asked.app.home()).display().to_string();
    Ok(SettingList { settings: all(store.settings()), path })
}

/// Returns every setting; those of models have endpoints of their own.
fn all(settings: &Settings) -> Vec<Setting> {
    let own = serde_json::to_value(settings).unwrap_or_default();
    let default = serde_json::to_value(Settings::default()).unwrap_or_default();
    let keys = Settings::keys().iter().filter(|key| !key.is_family());
    keys.map(|key| Setting {
        key: key.name.to_owned(),
        value: value_of(key.name, &own),
        default: value_of(key.name, &default),
        about: key.about.to_owned(),
    })
    .collect()
}

fn value_of(name: &str, settings: &Json) -> Option<Json> {
    name.split('.').try_fold(settings, |table, part| table.get(part)).cloned()
}

fn set(asked: ParsedRequest<(), (), SetSetting>) -> Result<SettingList, Problem> {
    let SetSetting { key, value } = asked.body;
    let path = Settings::path(asked.app.home());
    let parts: Vec<&str> = key.split('.').collect();
    let known = Settings::key(&parts).filter(|key| !key.is_family());
    let known = known.ok_or_else(|| Problem::missing(format!("there is no setting `{key}`")))?;
    let mut file = SettingsFile::open(&path)?;
    let changed = match &value {
        None | Some(Json::Null) => file.remove(&parts).map(drop),
        Some(value) => file.set(&parts, value),
    };
    changed.map_err(|error| match error {
        SettingsError::Wrong { message, .. } => {
            let message = format!("{key} cannot be this: {message}");
            Problem::new(Code::Invalid, message).hint(format!("It is: {}", known.about))
        }
        error @ (SettingsError::Read { .. }
        | SettingsError::Write { .. }
        | SettingsError::Edit { .. }) => error.into(),
    })?;
    file.save()?;
    Ok(SettingList { settings: all(&file.settings()?), path: path.display().to_string() })
}
