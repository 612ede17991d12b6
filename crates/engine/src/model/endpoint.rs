//! Everything needed to reach a model.

use std::time::Duration;

use crewagent_dialect::prices::Price;
use crewagent_dialect::profile::Profile;
use secrecy::SecretString;

/// A model of a provider, and how to send requests to it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Name that the user gave it.
    pub name: String,
    /// With or without `/v1` at the end.
    pub base_url: String,
    /// Name that the provider gave it.
    pub model: String,
    pub profile_name: String,
    pub profile: Profile,
    /// Sent as a bearer token and never written anywhere.
    pub key: Option<SecretString>,
    /// Headers that a gateway requires.
    pub headers: Vec<(String, SecretString)>,
    /// Limit of a reply in tokens.
    pub max_output: Option<u64>,
    pub temperature: Option<f64>,
    /// Context window in tokens.
    pub window: Option<u64>,
    pub price: Option<Price>,
    pub timeouts: Timeouts,
}

/// Timeouts and retries of requests to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Time to connect.
    pub connect: Duration,
    /// Time until the first byte of a reply. Some servers queue requests for minutes.
    pub first_byte: Duration,
    /// Time between two bytes of a reply.
    pub idle: Duration,
    /// Time for the whole reply.
    pub call: Duration,
    /// Retries after a transient failure.
    pub retries: u32,
    /// Longest wait before a retry; if the provider asks for more, the request fails.
    pub longest_wait: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(120),
            call: Duration::from_secs(1800),
            retries: 4,
            longest_wait: Duration::from_secs(120),
        }
    }
}
