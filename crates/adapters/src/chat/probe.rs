//! Measures how a server wants to be spoken to, with a handful of small requests.

mod lab;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use self::lab::Lab;
use super::client::Client;
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::ModelError;

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// One line each.
    pub findings: Vec<Finding>,
    /// The fields in which the server differs from the profile.
    pub changes: Map<String, Json>,
}

/// One thing that was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub name: &'static str,
    /// Whether the server does it; nothing when that could not be told.
    pub found: Option<bool>,
    /// What was found.
    pub message: String,
}

/// Measures a server. Each finding is told as it is made. A model that does not answer at all is an error.
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
