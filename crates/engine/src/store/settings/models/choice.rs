//! Resolves the name of a model to everything about it except its key.

use std::fmt;

use crewagent_dialect::prices::{Price, Prices};
use crewagent_dialect::profile::Profile;
use crewagent_format::wording::{distance, nearest, ticked_up_to};
use thiserror::Error;

use super::{KeySource, ModelSettings, ProfileChanges, profile};
use crate::store::settings::Settings;

/// Variable that names the model when no flag does.
const MODEL: &str = "CREWAGENT_MODEL";
/// Variable with the address of a model that is not configured.
const BASE_URL: &str = "CREWAGENT_BASE_URL";
/// Variable with the key of a model that is not configured.
const API_KEY: &str = "CREWAGENT_API_KEY";
/// Variables that other programs read for the same purpose.
const OTHER_BASE_URL: &str = "OPENAI_BASE_URL";
const OTHER_API_KEY: &str = "OPENAI_API_KEY";

/// Fields of a profile that a probe measures.
pub const MEASURED: [&str; 14] = [
    "names",
    "ids",
    "system-role",
    "systems",
    "output-limit",
    "temperature",
    "stream",
    "stream-usage",
    "tool-choice",
    "parallel-calls",
    "reasoning",
    "no-words",
    "speaks-after-tools",
    "window",
];

type VariableReader<'e> = dyn Fn(&str) -> Option<String> + 'e;

/// Environment variables of this process, or of a test.
pub struct Environment<'e>(Box<VariableReader<'e>>);

impl Environment<'static> {
    /// Returns the variables of this process.
    pub fn of_process() -> Self {
        Self(Box::new(|name| std::env::var(name).ok()))
    }
}

impl<'e> Environment<'e> {
    /// Returns variables that `read` looks up.
    pub fn new(read: impl Fn(&str) -> Option<String> + 'e) -> Self {
        Self(Box::new(read))
    }

    /// Returns the value of a variable. A blank one counts as unset.
    pub fn get(&self, name: &str) -> Option<String> {
        let value = (self.0)(name)?;
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

impl fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

impl Settings {
    /// Lists all environment variables that may hold the key of a model, configured or not.
    pub fn key_variables(&self) -> Vec<String> {
        let names = Profile::names().map(str::to_owned).chain(self.profiles.keys().cloned());
        let profiles = names.filter_map(|name| profile(&self.profiles, &name)?.key_variable);
        let models = self.models.values().filter_map(|model| match &model.key {
            Some(KeySource::Variable(name)) => Some(name.clone()),
            Some(KeySource::File | KeySource::Keyring | KeySource::None) | None => None,
        });
        let plain = [API_KEY, OTHER_API_KEY].map(str::to_owned);
        plain.into_iter().chain(profiles).chain(models).collect()
    }
}

/// Resolved model, with everything except its key.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenModel {
    pub name: String,
    /// True if it is in the settings.
    pub is_configured: bool,
    pub settings: ModelSettings,
    pub profile_name: String,
    /// Profile of the provider, adapted to this model.
    pub profile: Profile,
    pub base_url: String,
    /// Context window, if known.
    pub window: Option<u64>,
    /// Price of its tokens, if known.
    pub price: Option<Price>,
    /// Possible sources of its key; the first one that has a key is used.
    pub keys: Vec<KeySource>,
}

/// Error of resolving a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownModel {
    /// Nothing names a model.
    #[error("no model is chosen; {advice}")]
    NotChosen { advice: String },
    #[error("there is no model `{name}`{origin}; {advice}")]
    Unknown {
        name: String,
        /// Source of the name, unless it is the command line.
        origin: &'static str,
        advice: String,
    },
    #[error(
        "it is not known where the model `{name}` is: the profile `{profile}` has no address of its own; set one with `crewagent config set models.{name}.base-url URL`"
    )]
    NoAddress { name: String, profile: String },
    /// The address in the environment is invalid.
    #[error("the address in `{variable}` cannot be used: {problem}")]
    BadAddress { variable: &'static str, problem: String },
}

impl Settings {
    /// Returns the name of the model to use, and its source: a flag, the environment, the setting `run.model`, or the
    /// only configured model.
    pub fn model_name(
        &self,
        flag: Option<&str>,
        environment: &Environment<'_>,
    ) -> Result<(String, &'static str), UnknownModel> {
        let given = |name: &str| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        if let Some(name) = flag.and_then(given) {
            return Ok((name, ""));
        }
        if let Some(name) = environment.get(MODEL) {
            return Ok((name, " (from CREWAGENT_MODEL)"));
        }
        if let Some(name) = self.run.model.as_deref().and_then(given) {
            return Ok((name, " (from the setting run.model)"));
        }
        let mut configured = self.models.keys();
        match (configured.next(), configured.next()) {
            (Some(only), None) => Ok((only.clone(), " (the only one that is set up)")),
            (_, _) => Err(UnknownModel::NotChosen { advice: self.how_to_choose(environment) }),
        }
    }

    /// Resolves a model: a configured one; else one at the address in the environment; else `PROFILE/MODEL`.
    pub fn model(
        &self,
        name: &str,
        origin: &'static str,
        environment: &Environment<'_>,
    ) -> Result<ChosenModel, UnknownModel> {
        if let Some(settings) = self.models.get(name) {
            return self.configured(name, settings);
        }
        if environment.get(BASE_URL).is_some() {
            return self.at_address(name, BASE_URL, environment);
        }
        if let Some((prefix, model)) = name.split_once('/')
            && !model.trim().is_empty()
            && let Some(found) = self.of_profile(name, prefix, model.trim())
        {
            return Ok(found);
        }
        if environment.get(OTHER_BASE_URL).is_some() {
            return self.at_address(name, OTHER_BASE_URL, environment);
        }
        let advice = self.what_there_is(name, environment);
        Err(UnknownModel::Unknown { name: name.to_owned(), origin, advice })
    }

    fn configured(
        &self,
        name: &str,
        settings: &ModelSettings,
    ) -> Result<ChosenModel, UnknownModel> {
        let recognised = settings.base_url.as_deref().map(Profile::recognise);
        let profile_name = settings.profile.as_deref().or(recognised).unwrap_or("generic");
        let found = profile(&self.profiles, profile_name).unwrap_or_default();
        let address = settings.base_url.clone().or_else(|| found.base_url.clone());
        let Some(base_url) = address else {
            return Err(UnknownModel::NoAddress {
                name: name.to_owned(),
                profile: profile_name.to_owned(),
            });
        };
        let keys = match &settings.key {
            Some(source) => vec![source.clone()],
            None => self.usual_keys(profile_name, &found, &base_url),
        };
        let mut chosen = self.chosen(name, settings.clone(), profile_name, found, base_url, keys);
        chosen.is_configured = true;
        Ok(chosen)
    }

    /// Returns a model without its measured changes.
    pub fn unmeasured(&self, chosen: &ChosenModel) -> ChosenModel {
        let mut settings = chosen.settings.clone();
        settings.changes.remove(&MEASURED);
        let unmeasured = match chosen.is_configured {
            true => self.configured(&chosen.name, &settings).ok(),
            false => None,
        };
        unmeasured.unwrap_or_else(|| chosen.clone())
    }

    /// Returns the usual sources of a key. A provider's key goes to that provider only; another address needs its own.
    fn usual_keys(&self, name: &str, profile: &Profile, base_url: &str) -> Vec<KeySource> {
        let is_own = profile.base_url.as_deref() == Some(base_url)
            || Profile::recognise(base_url) == name
            || self.profiles.get(name).is_some_and(|own| own.changes.has("key-variable"));
        let variable = profile.key_variable.clone().filter(|_| is_own);
        variable.map(KeySource::Variable).into_iter().chain([KeySource::File]).collect()
    }

    /// Resolves an unconfigured model at the address that a variable holds.
    fn at_address(
        &self,
        name: &str,
        variable: &'static str,
        environment: &Environment<'_>,
    ) -> Result<ChosenModel, UnknownModel> {
        let base_url = environment.get(variable).unwrap_or_default();
        crewagent_dialect::profile::endpoint(&base_url, "models")
            .map_err(|problem| UnknownModel::BadAddress { variable, problem })?;
        let profile_name = Profile::recognise(&base_url);
        let found = profile(&self.profiles, profile_name).unwrap_or_default();
        let own = found.key_variable.clone();
        let mut keys = vec![KeySource::Variable(API_KEY.to_owned())];
        // Never send one provider's key to another.
        let is_for_anyone = own.is_none() || variable == OTHER_BASE_URL;
        keys.extend(own.map(KeySource::Variable));
        if is_for_anyone {
            keys.push(KeySource::Variable(OTHER_API_KEY.to_owned()));
        }
        let settings = ModelSettings::of(name);
        Ok(self.chosen(name, settings, profile_name, found, base_url, keys))
    }

    /// Resolves an unconfigured model of a provider that has an address.
    fn of_profile(&self, name: &str, prefix: &str, model: &str) -> Option<ChosenModel> {
        let found = profile(&self.profiles, prefix)?;
        let base_url = found.base_url.clone()?;
        let mut keys = vec![KeySource::Variable(API_KEY.to_owned())];
        keys.extend(found.key_variable.clone().map(KeySource::Variable));
        Some(self.chosen(name, ModelSettings::of(model), prefix, found, base_url, keys))
    }

    fn chosen(
        &self,
        name: &str,
        settings: ModelSettings,
        profile_name: &str,
        profile: Profile,
        base_url: String,
        keys: Vec<KeySource>,
    ) -> ChosenModel {
        let mut profile = settings.changes.on(profile.for_model(&settings.model).into_owned());
        // They are applied already, and must not override the user's changes.
        profile.models.clear();
        profile.fields.extend(settings.fields.clone());
        let own = settings.price.and_then(|price| price.whole());
        let price = own.or_else(|| self.price(profile_name, &settings.model));
        let window = settings.window.map(std::num::NonZeroU64::get).or(profile.window);
        ChosenModel {
            name: name.to_owned(),
            is_configured: false,
            settings,
            profile_name: profile_name.to_owned(),
            profile,
            base_url,
            window,
            price,
            keys,
        }
    }

    /// Finds the price of a model: the user's, else the built-in one.
    fn price(&self, profile: &str, model: &str) -> Option<Price> {
        self.prices.find(profile, model).or_else(|| Prices::built_in().find(profile, model))
    }

    fn how_to_choose(&self, environment: &Environment<'_>) -> String {
        if environment.get(BASE_URL).is_some() || environment.get(OTHER_BASE_URL).is_some() {
            return "an address is in the environment, so name the model there with `--model ID` or CREWAGENT_MODEL".to_owned();
        }
        if self.models.is_empty() {
            return format!(
                "{ADD}; without one there are `--model scripted:FILE` and `crewagent demo`"
            );
        }
        format!(
            "there are {}: add `--model NAME`, or choose one for good with `crewagent models use NAME`",
            ticked_up_to(self.models.keys(), usize::MAX)
        )
    }

    /// Suggests what an unknown name could mean.
    fn what_there_is(&self, name: &str, environment: &Environment<'_>) -> String {
        let near = self.models.keys().find(|known| distance(known, name) <= 2);
        if let Some(near) = near {
            return format!("did you mean `{near}`?");
        }
        if let Some((prefix, model)) = name.split_once('/')
            && profile(&self.profiles, prefix).is_none()
        {
            let known = self.profiles.keys().map(String::as_str);
            let known = known.chain(Profile::names().map(|name| -> &str { name }));
            if let Some(near) = nearest(prefix, known) {
                return format!("did you mean `{near}/{model}`?");
            }
        }
        let has_key = |profile: &&str| {
            let variable = Profile::built_in(profile).and_then(|found| found.key_variable.as_ref());
            variable.is_some_and(|variable| environment.get(variable).is_some())
        };
        if let Some(provider) = Profile::names().find(has_key) {
            return format!("to use it at {provider}, write `--model {provider}/{name}`");
        }
        if self.models.is_empty() {
            return ADD.to_owned();
        }
        format!("`crewagent models list` shows what there is; {ADD}")
    }
}

const ADD: &str = "set one up with `crewagent models add NAME`, or write `--model PROVIDER/MODEL` (such as `openai/gpt-5` or `ollama/qwen3`)";

impl ModelSettings {
    /// Returns settings with only the provider's id of the model.
    pub fn of(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            profile: None,
            base_url: None,
            key: None,
            window: None,
            max_output: None,
            temperature: None,
            retries: None,
            connect_timeout: None,
            first_byte_timeout: None,
            idle_timeout: None,
            call_timeout: None,
            price: None,
            headers: std::collections::BTreeMap::new(),
            fields: serde_json::Map::new(),
            changes: ProfileChanges::default(),
        }
    }
}
