//! Models and settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Configured models.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Models {
    /// By name.
    pub models: Vec<ModelItem>,
    /// Default model of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The providers that are known, for new models.
    pub profiles: Vec<ProfileItem>,
}

/// Configured model. Its key is never returned.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelItem {
    /// Name that the user gave it.
    pub name: String,
    /// Name at the provider.
    pub model: String,
    /// The profile of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Address of its endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Location of its key: a variable, `credentials.toml`, `keyring` or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The size of its window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The price of a million tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Problem with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The price of a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Price {
    /// Those that are sent.
    pub input: f64,
    /// Tokens that are received.
    pub output: f64,
    /// Cached input; the price of other input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// A provider that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProfileItem {
    /// Its name.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Address of its endpoint, if it has a fixed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable in which its users keep the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
}

/// Model servers that run on this computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LocalServers {
    /// In the order of the providers.
    pub servers: Vec<LocalServer>,
}

/// A model server that runs on this computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LocalServer {
    /// The profile of the provider.
    pub profile: String,
    /// Name for people.
    pub title: String,
    /// Address of its endpoint.
    pub base_url: String,
    /// Models that it offers, by the names that it gives them.
    pub models: Vec<String>,
    /// True if it lists its models only with a key.
    pub needs_key: bool,
}

/// Settings of a model. Those that are absent stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SetModel {
    /// Name at the provider.
    pub model: Option<String>,
    /// The profile of the provider.
    pub profile: Option<String>,
    /// Address of its endpoint.
    pub base_url: Option<String>,
    /// Its key, which is stored and never returned.
    pub key: Option<String>,
    /// The environment variable that its key is in.
    pub key_variable: Option<String>,
    /// True if it needs no key.
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub no_key: bool,
    /// The size of its window, in tokens.
    pub window: Option<u64>,
    /// The longest reply, in tokens.
    pub max_output: Option<u64>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// The price of a million tokens.
    pub price: Option<Price>,
    /// True to make it the default model of runs.
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub use_it: bool,
}

/// The connection test of a model, step by step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelTestResult {
    /// True if it works.
    pub ok: bool,
    /// The steps, in their order.
    pub steps: Vec<CheckStep>,
}

/// One step of a connection test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CheckStep {
    /// `url`, `dns`, `tcp`, `tls`, `endpoint`, `key`, `model` and so on.
    pub name: String,
    /// `ok`, `failed` or `skipped`.
    pub status: String,
    /// Result of the step.
    pub message: String,
    /// Advice for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProbeResult {
    /// One line each.
    pub findings: Vec<Measurement>,
    /// Differences of the server from its profile.
    pub changes: Json,
    /// True if they were stored.
    pub remembered: bool,
}

/// One thing that was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Measurement {
    /// Name of the measurement.
    pub name: String,
    /// True if the server supports it; none when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<bool>,
    /// Result of the measurement.
    pub message: String,
}

/// The settings, one by one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SettingList {
    /// In the order of their documentation.
    pub settings: Vec<Setting>,
    /// The file they are in.
    pub path: String,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Setting {
    /// Its name, such as `run.max-turns`.
    pub key: String,
    /// Its value; none when it is not set and has no default.
    pub value: Option<Json>,
    /// Default value.
    pub default: Option<Json>,
    /// Purpose of the setting.
    pub about: String,
}

/// Setting to change.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SetSetting {
    /// Its name, such as `run.max-turns`.
    pub key: String,
    /// Its new value; as without the user when absent.
    pub value: Option<Json>,
}
