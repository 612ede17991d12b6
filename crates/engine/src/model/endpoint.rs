//! What it takes to reach a model.

use std::time::Duration;

use crewagent_dialect::prices::Price;
use crewagent_dialect::profile::Profile;
use secrecy::SecretString;

/// A model somewhere, and how to speak to it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// What the user calls it.
    pub name: String,
    /// Where it is: with or without `/v1` at the end.
    pub base_url: String,
    /// What the provider calls it.
    pub model: String,
    /// The name of the profile.
    pub profile_name: String,
    /// How the provider wants to be spoken to.
    pub profile: Profile,
    /// Sent as a bearer token, and never written anywhere.
    pub key: Option<SecretString>,
    /// Headers that a gateway wants.
    pub headers: Vec<(String, SecretString)>,
    /// The longest reply, in tokens.
    pub max_output: Option<u64>,
    /// How freely it chooses its words.
    pub temperature: Option<f64>,
    /// The size of its window, in tokens.
    pub window: Option<u64>,
    /// What its tokens cost.
    pub price: Option<Price>,
    /// How long we wait, and how often we try.
    pub patience: Patience,
}

/// How long we wait for a model, and how often we try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the first byte of an answer. Some servers queue requests for minutes.
    pub first_byte: Duration,
    /// Between two bytes of it.
    pub idle: Duration,
    /// For the whole of it.
    pub call: Duration,
    /// Further tries after a failure that may pass.
    pub retries: u32,
    /// The longest wait before another try; a provider that wants more is taken at its word and the request fails.
    pub longest_wait: Duration,
}

impl Default for Patience {
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
