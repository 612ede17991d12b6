//! Measures the dialect of a server, with a handful of small requests.

mod measurements;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use self::measurements::Measurements;
use super::client::Client;
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::ModelError;

/// Result of the measurements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    pub findings: Vec<Measurement>,
    /// Fields in which the server differs from the profile.
    pub changes: Map<String, Json>,
}

/// Single measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Measurement {
    pub name: &'static str,
    /// True if the server supports it; none if that is unknown.
    pub found: Option<bool>,
    pub message: String,
}

/// Measures a server. Each finding is reported as it is made. A model that does not answer at all is an error.
pub fn probe(
    endpoint: &Endpoint,
    client: &Client,
    tell: &mut dyn FnMut(&Measurement),
) -> Result<Probe, ModelError> {
    let mut measurements = Measurements::new(endpoint.clone(), client, tell);
    measurements.words()?;
    measurements.room()?;
    let called = measurements.one_call()?;
    if called.is_some() {
        measurements.dotted_names()?;
        measurements.two_calls()?;
    }
    measurements.history(called)?;
    measurements.system_in_the_middle()?;
    measurements.window()?;
    Ok(measurements.done(&endpoint.profile))
}
