//! Measures the dialect of a server, with a handful of small requests.

mod lab;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use self::lab::Lab;
use super::client::Client;
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::ModelError;

/// Result of the measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    pub findings: Vec<Finding>,
    /// Fields in which the server differs from the profile.
    pub changes: Map<String, Json>,
}

/// Single measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub name: &'static str,
    /// True if the server supports it; none if that is unknown.
    pub found: Option<bool>,
    pub message: String,
}

/// Measures a server. Each finding is reported as it is made. A model that does not answer at all is an error.
pub fn probe(
    endpoint: &Endpoint,
    client: &Client,
    tell: &mut dyn FnMut(&Finding),
) -> Result<Probe, ModelError> {
    let mut lab = Lab::new(endpoint.clone(), client, tell);
    lab.words()?;
    lab.room()?;
    let called = lab.one_call()?;
    if called.is_some() {
        lab.dotted_names()?;
        lab.two_calls()?;
    }
    lab.history(called)?;
    lab.system_in_the_middle()?;
    lab.window()?;
    Ok(lab.done(&endpoint.profile))
}
