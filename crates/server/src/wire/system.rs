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
    /// What steps call the user; may be blank.
    pub user_name: String,
    /// The default model; none when none is set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why that model cannot be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_problem: Option<String>,
    /// Whether the web app is built in.
    pub has_web: bool,
    /// The largest package that is taken as a file, in bytes.
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
    /// Whether nothing is broken.
    pub ok: bool,
    /// Every check.
    pub checks: Vec<DoctorCheck>,
}

/// One check of the doctor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DoctorCheck {
    /// What was checked.
    pub name: String,
    /// `ok`, `warn` or `fail`.
    pub status: String,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub advice: Vec<String>,
}
