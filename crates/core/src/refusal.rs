//! Refusals: the answer to a model that asks for something that is not allowed or does not exist.
//!
//! A refusal is a value inside `Ok`: the run continues, and the text must let the model correct itself in one try.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Reason why a call was not carried out.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum RefusalCode {
    /// The target does not exist.
    #[serde(rename = "ENOENT")]
    NotFound,
    /// The path leads out of its mount, or may not be written.
    #[serde(rename = "E_SANDBOX_VIOLATION")]
    Sandbox,
    /// The call asks to read more than is allowed.
    #[serde(rename = "E_READ_LIMIT")]
    ReadLimit,
    /// More was given than may be written.
    #[serde(rename = "E_WRITE_LIMIT")]
    WriteLimit,
    /// The arguments do not fit the tool.
    #[serde(rename = "E_INVALID_ARGS")]
    InvalidArguments,
    /// The frontmatter does not parse.
    #[serde(rename = "E_INVALID_FRONTMATTER")]
    InvalidFrontmatter,
    /// A value in the state document is not allowed.
    #[serde(rename = "E_SCHEMA_VALIDATION")]
    Schema,
    /// The graph does not allow this move.
    #[serde(rename = "E_INVALID_TRANSITION")]
    Transition,
    /// Something that must hold before does not.
    #[serde(rename = "E_PRECONDITION_FAILED")]
    Precondition,
    /// There is no such tool, or the policy does not allow it.
    #[serde(rename = "E_TOOL_NOT_AVAILABLE")]
    ToolNotAvailable,
    /// The call exceeded its time limit.
    #[serde(rename = "E_TIMEOUT")]
    Timeout,
    /// A completed workflow's state changes only with the user's word.
    #[serde(rename = "E_STATE_CHANGE_REQUIRES_CONFIRMATION")]
    ConfirmationRequired,
    /// It is unknown if the call took effect.
    #[serde(rename = "E_UNKNOWN_OUTCOME")]
    UnknownOutcome,
    /// The call came behind one that ends a reply, so it was not carried out.
    #[serde(rename = "E_NOT_EXECUTED")]
    NotExecuted,
    /// The tool server reported a failure.
    #[serde(rename = "E_TOOL_FAILED")]
    ToolFailed,
    /// The runtime failed.
    #[serde(rename = "E_INTERNAL")]
    Internal,
}

/// Call that was not carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub code: RefusalCode,
    pub message: String,
    pub hint: Option<String>,
    /// Data for programs, such as `allowedNext`.
    pub details: Box<Map<String, Json>>,
}

impl Refusal {
    /// Makes a refusal without hint and details.
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: Box::default() }
    }

    /// Sets the hint: what to do instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds data for programs.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Returns the answer to the model: `{ok:false,error:{code,message,details?}}`. The hint is part of the message,
    /// because models read that.
    pub fn to_json(&self) -> Json {
        let message = match &self.hint {
            Some(hint) => format!("{} {hint}", self.message),
            None => self.message.clone(),
        };
        let mut error = json!({ "code": self.code, "message": message });
        if !self.details.is_empty() {
            error["details"] = Json::Object((*self.details).clone());
        }
        json!({ "ok": false, "error": error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_the_documented_answer() {
        let refusal = Refusal::new(RefusalCode::Transition, "There is no edge from `a` to `c`.")
            .hint("Choose one of allowedNext.")
            .detail("allowedNext", json!(["b"]));
        let expected = r#"{"ok":false,"error":{"code":"E_INVALID_TRANSITION","message":"There is no edge from `a` to `c`. Choose one of allowedNext.","details":{"allowedNext":["b"]}}}"#;
        assert_eq!(refusal.to_json().to_string(), expected);
    }
}
