//! The tools that a model can call, on the mounts.

pub mod list;
pub mod search;

use crewagent_core::refusal::Refusal;
use serde::Serialize;
use serde_json::{Value as Json, json};

/// The answer of a tool as the model gets it: `{ok:true,…}` with the fields of the result, or the refusal.
pub fn to_json<T: Serialize>(result: &Result<T, Refusal>) -> Result<Json, serde_json::Error> {
    let value = match result {
        Ok(value) => serde_json::to_value(value)?,
        Err(refusal) => return Ok(refusal.to_json()),
    };
    let mut answer = json!({ "ok": true });
    if let (Json::Object(answer), Json::Object(fields)) = (&mut answer, value) {
        answer.extend(fields);
    }
    Ok(answer)
}
