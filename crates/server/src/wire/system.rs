//! The program itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link that opens the page, once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FreshLink {
    /// The address.
    pub url: String,
}

/// The running program.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Program {
    /// Its version.
    pub version: String,
    /// The system it runs on, such as `linux`.
    pub platform: String,
    /// The folder of the store.
    pub home: String,
    /// Name of the user in steps; may be blank.
    pub user_name: String,
    /// Default model; none when none is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Reason why that model cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_problem: Option<String>,
    /// True if the web app is built in.
    pub has_web: bool,
    /// Maximum size of an uploaded package, in bytes.
    pub max_upload: u32,
}

/// The health of the server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Health {
    /// Seconds since it began.
    pub uptime_seconds: u32,
    /// Runs and conversations at work.
    pub at_work: u32,
    /// Streams that are open.
    pub streams: u32,
}

/// The result of the doctor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Diagnosis {
    /// True if no check failed.
    pub ok: bool,
    /// Every check.
    pub checks: Vec<DoctorCheck>,
}

/// One check of the doctor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DoctorCheck {
    /// Name of the check.
    pub name: String,
    /// `ok`, `warn` or `fail`.
    pub status: String,
    /// Result of the check.
    pub message: String,
    /// Advice for the user.
    pub advice: Vec<String>,
}
