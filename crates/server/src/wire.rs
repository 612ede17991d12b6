//! What goes over the wire, typed. The TypeScript of the web app and the OpenAPI document are made from these types.

mod changes;
mod conversations;
mod files;
mod mcp;
mod models;
mod packages;
mod projects;
mod runs;
mod sources;
mod stream;
mod system;
#[cfg(test)]
mod typescript;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::changes::*;
pub use self::conversations::*;
pub use self::files::*;
pub use self::mcp::*;
pub use self::models::*;
pub use self::packages::*;
pub use self::projects::*;
pub use self::runs::*;
pub use self::sources::*;
pub use self::stream::*;
pub use self::system::*;

/// Error of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fault {
    /// Kind of the error.
    pub code: Code,
    /// Cause, as text for users.
    pub message: String,
    /// Advice for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Code {
    /// The request makes no sense.
    Invalid,
    /// The browser was not let in.
    Unauthorized,
    /// The request does not come from our own page.
    Forbidden,
    /// It does not exist.
    NotFound,
    /// It exists, but not for this method.
    WrongMethod,
    /// The body did not come in time.
    TooSlow,
    /// The run is working; stop it first, or wait.
    Busy,
    /// Another process is using it.
    InUse,
    /// It is not what the request expects it to be.
    Changed,
    /// The body is too long.
    TooLarge,
    /// The body is of the wrong media type.
    WrongType,
    /// It cannot be done; the message gives the reason.
    Refused,
    /// The model is not ready.
    Model,
    /// The disk failed.
    Disk,
    /// The program has a bug.
    Internal,
    /// The server ends.
    Closing,
}

/// Nothing to say: `{}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "Record<string, never>"))]
pub struct Nothing {}
