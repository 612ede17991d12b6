//! Finds the key of a model and builds its endpoint.

use std::time::Duration;

use crewagent_dialect::profile::KeyRule;
use secrecy::SecretString;

use super::{SecretError, Secrets};
use crate::model::{Endpoint, Timeouts};
use crate::store::settings::{ChosenModel, Environment, KeySource, Timeout};

/// Key with its source. The key is `None` where the model needs none.
#[derive(Clone, Debug)]
pub struct FoundKey {
    pub source: KeySource,
    /// Never shown.
    pub key: Option<SecretString>,
}

impl ChosenModel {
    /// Finds its key. A missing key is an error if the model needs one.
    pub fn key(
        &self,
        secrets: &Secrets,
        environment: &Environment<'_>,
    ) -> Result<FoundKey, SecretError> {
        for source in &self.keys {
            let key = match source {
                KeySource::Variable(name) => match environment.get(name) {
                    Some(text) => Some(super::key_of(&text)?),
                    None => None,
                },
                KeySource::File | KeySource::Keyring => self.stored(source, secrets)?,
                KeySource::None => None,
            };
            if key.is_some() {
                return Ok(FoundKey { source: source.clone(), key });
            }
        }
        let is_wanted = self.settings.key.as_ref().is_some_and(|key| *key != KeySource::None);
        let is_needed = self.profile.key == KeyRule::Required
            && self.settings.key != Some(KeySource::None)
            && !self.has_own_authorization();
        if is_wanted || is_needed {
            return Err(self.missing(secrets));
        }
        Ok(FoundKey { source: KeySource::None, key: None })
    }

    /// Returns the stored key. It is for one server, so that a changed address does not send it elsewhere.
    fn stored(
        &self,
        source: &KeySource,
        secrets: &Secrets,
    ) -> Result<Option<SecretString>, SecretError> {
        let key = secrets.get(source, &self.name)?;
        match secrets.bound_elsewhere(&self.name, &self.base_url)? {
            Some(bound) if key.is_some() => Err(SecretError::Elsewhere {
                model: self.name.clone(),
                bound,
                address: super::server_of(&self.base_url),
            }),
            Some(_) | None => Ok(key),
        }
    }

    /// Builds the endpoint with key and headers.
    pub fn endpoint(
        &self,
        secrets: &Secrets,
        environment: &Environment<'_>,
    ) -> Result<Endpoint, SecretError> {
        let key = self.key(secrets, environment)?.key;
        let mut headers = Vec::new();
        for (header, value) in &self.settings.headers {
            let value = match value.strip_prefix("env:") {
                None => value.clone(),
                Some(variable) => environment.get(variable).ok_or_else(|| SecretError::Header {
                    model: self.name.clone(),
                    header: header.clone(),
                    variable: variable.to_owned(),
                })?,
            };
            headers.push((header.clone(), SecretString::from(value)));
        }
        Ok(self.with(key, headers))
    }

    /// Builds the endpoint without key and headers.
    pub fn bare_endpoint(&self) -> Endpoint {
        self.with(None, Vec::new())
    }

    fn with(&self, key: Option<SecretString>, headers: Vec<(String, SecretString)>) -> Endpoint {
        let settings = &self.settings;
        Endpoint {
            name: self.name.clone(),
            base_url: self.base_url.clone(),
            model: settings.model.clone(),
            profile_name: self.profile_name.clone(),
            profile: self.profile.clone(),
            key,
            headers,
            max_output: settings.max_output.map(std::num::NonZeroU64::get),
            temperature: settings.temperature,
            window: self.window,
            price: self.price,
            timeouts: self.timeouts(),
        }
    }

    fn timeouts(&self) -> Timeouts {
        let usual = Timeouts::default();
        let or = |set: Option<Timeout>, usual: Duration| {
            set.map_or(usual, |timeout| Duration::from_secs(timeout.seconds()))
        };
        let settings = &self.settings;
        Timeouts {
            connect: or(settings.connect_timeout, usual.connect),
            first_byte: or(settings.first_byte_timeout, usual.first_byte),
            idle: or(settings.idle_timeout, usual.idle),
            call: or(settings.call_timeout, usual.call),
            retries: settings.retries.unwrap_or(usual.retries),
            ..usual
        }
    }

    /// Returns true if a header replaces the key.
    fn has_own_authorization(&self) -> bool {
        let headers = self.settings.headers.keys();
        headers.into_iter().any(|name| {
            let name = name.to_ascii_lowercase();
            name.contains("auth") || name.contains("key")
        })
    }

    fn missing(&self, secrets: &Secrets) -> SecretError {
        let places: Vec<String> = self
            .keys
            .iter()
            .map(|source| match source {
                KeySource::Variable(name) => format!("`{name}` is not set"),
                KeySource::File => format!("none is kept in `{}`", secrets.path().display()),
                KeySource::Keyring => "none is kept in the keyring".to_owned(),
                KeySource::None => "it needs none".to_owned(),
            })
            .collect();
        let variable = self.keys.iter().find_map(|source| match source {
            KeySource::Variable(name) => Some(name.as_str()),
            KeySource::File | KeySource::Keyring | KeySource::None => None,
        });
        let keep = format!("keep one with `crewagent models add {} --key-stdin`", self.name);
        let advice = match (variable, self.is_configured) {
            (Some(name), true) => format!("set `{name}`, or {keep}"),
            (Some(name), false) => format!("set `{name}`"),
            (None, _) => keep,
        };
        let problem = places.join(", and ");
        SecretError::Missing { model: self.name.clone(), problem, advice }
    }
}
