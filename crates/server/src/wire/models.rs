//! Models and settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The models that are set up.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Models {
    /// By name.
    pub models: Vec<ModelItem>,
    /// The one that runs use when nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The providers that are known, for new models.
    pub profiles: Vec<ProfileItem>,
}

/// A model that is set up. Its key is never returned.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelItem {
    /// What the user calls it.
    pub name: String,
    /// What the provider calls it.
    pub model: String,
    /// The profile of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Where its key was found: a variable, `credentials.toml`, `keyring` or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The size of its window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The price of a million tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What is wrong with it.
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
    /// Those that come back.
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
    /// What people call it.
    pub title: String,
    /// Where its endpoint is, if it has one place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable in which its users keep the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
}

/// Settings of a model. Those that are absent stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SetModel {
    /// What the provider calls it.
    pub model: Option<String>,
    /// The profile of the provider.
    pub profile: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// Its key, which is stored and never returned.
    pub key: Option<String>,
    /// The environment variable that its key is in.
    pub key_variable: Option<String>,
    /// Whether it needs no key.
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub no_key: bool,
    /// The size of its window, in tokens.
    pub window: Option<u64>,
    /// The longest reply, in tokens.
    pub max_output: Option<u64>,
    /// How freely it speaks.
    pub temperature: Option<f64>,
    /// The price of a million tokens.
    pub price: Option<Price>,
    /// Whether runs use it from now on.
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub use_it: bool,
}

/// The connection test of a model, step by step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ModelTestResult {
    /// Whether it works.
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
    /// What was found.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProbeResult {
    /// One line each.
    pub findings: Vec<Measurement>,
    /// In what the server differs from its profile.
    pub changes: Json,
    /// Whether that was remembered.
    pub remembered: bool,
}

/// One thing that was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Measurement {
    /// What.
    pub name: String,
    /// Whether the server does it; none when that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<bool>,
    /// What was found.
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
    /// What it is without the user.
    pub default: Option<Json>,
    /// What it is for.
    pub about: String,
}

/// A setting that is to be changed.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SetSetting {
    /// Its name, such as `run.max-turns`.
    pub key: String,
    /// Its new value; as without the user when absent.
    pub value: Option<Json>,
}
