//! Tables `[models]`, `[profiles]` and `[prices]`: the models, and how to reach and use them.

mod changes;
mod choice;
mod key;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(super) use self::tests::EVERYTHING;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use crewagent_dialect::prices::PriceSettings;
use crewagent_dialect::profile::Profile;
use crewagent_format::wording::did_you_mean;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value as Json};

pub use self::changes::{ProfileChanges, ProfileSettings};
pub use self::choice::{ChosenModel, Environment, MEASURED, UnknownModel};
pub use self::key::KeySource;
use super::Settings;
use super::timeout::Timeout;

/// Configured model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ModelSettings {
    /// Id of the model at the provider.
    #[serde(deserialize_with = "some_text")]
    pub model: String,
    /// Profile of the provider; recognised by the address when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Address; the profile's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "address")]
    pub base_url: Option<String>,
    /// Source of the key; every usual source is tried when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeySource>,
    /// Context window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<NonZeroU64>,
    /// Longest reply, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "temperature")]
    pub temperature: Option<f64>,
    /// Further attempts after a transient failure.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "retries")]
    pub retries: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<Timeout>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_timeout: Option<Timeout>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<Timeout>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<Timeout>,
    /// Price of its tokens; from the price tables when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<PriceSettings>,
    /// Headers of every request. `env:VARIABLE` stands for the value of the variable.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "key::headers"
    )]
    pub headers: BTreeMap<String, String>,
    /// Fields of every request, in addition to those of the profile.
    #[serde(default, skip_serializing_if = "Map::is_empty", deserialize_with = "fields")]
    pub fields: Map<String, Json>,
    /// Differences from the profile.
    #[serde(default, skip_serializing_if = "ProfileChanges::is_empty")]
    pub changes: ProfileChanges,
}

fn some_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(de::Error::custom("expected what the provider calls the model"));
    }
    Ok(text.trim().to_owned())
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let url = String::deserialize(deserializer)?;
    crewagent_dialect::profile::endpoint(&url, "models").map_err(de::Error::custom)?;
    Ok(Some(url.trim().to_owned()))
}

fn temperature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let temperature = f64::deserialize(deserializer)?;
    if (0.0..=2.0).contains(&temperature) {
        Ok(Some(temperature))
    } else {
        Err(de::Error::custom("a temperature is a number from 0 to 2"))
    }
}

fn retries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    const MOST: u64 = 100;
    match u64::deserialize(deserializer)? {
        retries @ 0..=MOST => Ok(u32::try_from(retries).ok()),
        _ => Err(de::Error::custom(format!("expected a number of tries up to {MOST}"))),
    }
}

/// Parses fields; refuses those that the runtime writes itself.
fn fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Json>, D::Error> {
    const OURS: [&str; 6] =
        ["messages", "model", "stream", "stream_options", "tools", "tool_choice"];
    let fields = Map::<String, Json>::deserialize(deserializer)?;
    match OURS.into_iter().find(|name| fields.contains_key(*name)) {
        Some(name) => {
            Err(de::Error::custom(format!("the field `{name}` is written by the runtime itself")))
        }
        None => Ok(fields),
    }
}

/// Returns the profile of this name: the user's own, else a built-in one.
fn profile(own: &BTreeMap<String, ProfileSettings>, name: &str) -> Option<Profile> {
    match own.get(name) {
        Some(settings) => settings.profile(name),
        None => Profile::built_in(name).cloned(),
    }
}

impl Settings {
    /// Returns the profile of this name: the user's own, else a built-in one.
    pub fn profile(&self, name: &str) -> Option<Profile> {
        profile(&self.profiles, name)
    }

    /// Finds a conflict between settings: the key that has to change, and why.
    pub(super) fn contradiction(&self) -> Option<(Vec<&str>, String)> {
        for (name, model) in &self.models {
            if let Some(problem) = bad_name(name) {
                return Some((vec!["models", name], problem));
            }
            let Some(wanted) = model.profile.as_deref() else { continue };
            if profile(&self.profiles, wanted).is_none() {
                let mut known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
                known.extend(Profile::names().map(|name| -> &str { name }));
                let near = did_you_mean(wanted, known.iter().copied());
                let known = known.join(", ");
                let problem = format!("there is no profile `{wanted}`{near}; there are {known}");
                return Some((vec!["models", name, "profile"], problem));
            }
        }
        None
    }
}

/// Returns why a model cannot have this name.
pub(crate) fn bad_name(name: &str) -> Option<String> {
    const OTHERS: [&str; 2] = ["scripted:", "replay:"];
    if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Some("the name of a model has no blanks in it".to_owned());
    }
    let other = OTHERS.into_iter().find(|other| name.starts_with(other))?;
    Some(format!("the name of a model cannot begin with `{other}`; it means another kind of model"))
}
