//! Failures of a request, and the decision to retry.

use std::error::Error;
use std::io;
use std::time::Duration;

use crewagent_dialect::fault::{Fault, FaultKind};
use secrecy::ExposeSecret as _;

use crewagent_engine::model::Endpoint;
use crewagent_engine::model::{ModelError, ModelErrorKind};

/// Reason why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The server's answer is no reply.
    Fault(Fault),
    /// The server was not reached, or the connection broke before it answered.
    Unreachable {
        layer: ConnectionLayer,
        why: String,
    },
    Silent(Timer),
    Cancelled,
}

/// Layer at which a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionLayer {
    /// Lookup of the host's name.
    Dns,
    Tcp,
    Tls,
    Http,
}

/// Event that was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Connect,
    FirstByte,
    Idle,
    Call,
}

impl Failure {
    /// Classifies the error of a request without an answer.
    pub(super) fn of_request(error: &reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::Silent(Timer::Connect);
        }
        Self::Unreachable { layer: ConnectionLayer::of(error), why: causes(error) }
    }

    /// Returns the number of useful retries, if `most` are allowed.
    pub(super) fn retries(&self, most: u32) -> u32 {
        match self {
            Self::Fault(fault) => fault.retries(most),
            Self::Unreachable { layer: ConnectionLayer::Tcp | ConnectionLayer::Http, .. }
            | Self::Silent(Timer::Connect | Timer::Idle) => most,
            Self::Unreachable { layer: ConnectionLayer::Dns, .. }
            | Self::Silent(Timer::FirstByte) => most.min(1),
            Self::Unreachable { layer: ConnectionLayer::Tls, .. }
            | Self::Silent(Timer::Call)
            | Self::Cancelled => 0,
        }
    }

    /// Returns the wait that the provider asks for.
    pub(super) fn asked_wait(&self) -> Option<Duration> {
        match self {
            Self::Fault(fault) => fault.retry_after,
            Self::Unreachable { .. } | Self::Silent(_) | Self::Cancelled => None,
        }
    }

    /// Describes the failure in a sentence.
    pub(super) fn words(&self, endpoint: &Endpoint) -> String {
        let who = format!("`{}` ({})", endpoint.name, address(endpoint));
        let timeouts = &endpoint.timeouts;
        match self {
            Self::Fault(fault) => {
                let what = what(fault.kind);
                let status =
                    fault.status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
                let said = fault.said.as_deref().map(|said| scrubbed(said, endpoint));
                let said = said.map_or_else(String::new, |said| format!(": {said}"));
                let stop = if said.ends_with(['.', '!', '?']) { "" } else { "." };
                format!("The model {who} {what}{status}{said}{stop}")
            }
            Self::Unreachable { layer, why } => {
                let what = match layer {
                    ConnectionLayer::Dns => "its host has no address",
                    ConnectionLayer::Tcp => "no connection",
                    ConnectionLayer::Tls => "no secure connection",
                    ConnectionLayer::Http => "the connection was lost",
                };
                format!("The model {who} cannot be reached: {what} ({}).", scrubbed(why, endpoint))
            }
            Self::Silent(timer) => {
                let (what, limit) = match timer {
                    Timer::Connect => ("gave no connection", timeouts.connect),
                    Timer::FirstByte => ("did not begin to answer", timeouts.first_byte),
                    Timer::Idle => ("fell silent in the middle of its answer", timeouts.idle),
                    Timer::Call => ("did not finish its answer", timeouts.call),
                };
                format!("The model {who} {what} within {} seconds.", limit.as_secs_f64())
            }
            Self::Cancelled => "The reply was cancelled.".to_owned(),
        }
    }

    /// Returns advice for the user.
    fn advice(&self, endpoint: &Endpoint) -> String {
        match self {
            Self::Fault(fault) => fault.advice().to_owned(),
            Self::Unreachable { layer: ConnectionLayer::Dns, .. } => {
                "Check the base URL of the model and the network, then resume the run.".to_owned()
            }
            Self::Unreachable { layer: ConnectionLayer::Tcp, .. } => {
                "Check that the server runs and that the base URL has the right port, then resume the run.".to_owned()
            }
            Self::Unreachable { layer: ConnectionLayer::Tls, .. } => {
                "Check the base URL: a plain server needs http://, and a company's own certificate must be known to the \
                 system or named in SSL_CERT_FILE."
                    .to_owned()
            }
            Self::Unreachable { layer: ConnectionLayer::Http, .. } => "Resume the run to try again.".to_owned(),
            Self::Silent(timer) => {
                let setting = match timer {
                    Timer::Connect => "connect-timeout",
                    Timer::FirstByte => "first-byte-timeout",
                    Timer::Idle => "idle-timeout",
                    Timer::Call => "call-timeout",
                };
                format!(
                    "Resume the run to try again, or set a longer `{setting}` for this model; `crewagent models test {}` shows where it fails.",
                    endpoint.name
                )
            }
            Self::Cancelled => String::new(),
        }
    }

    /// Converts to the error of the port.
    pub(super) fn into_error(self, endpoint: &Endpoint, tries: u32, partial: String) -> ModelError {
        let mut message = self.words(endpoint);
        if tries > 1 {
            message.push_str(&format!(" It was tried {tries} times."));
        }
        let advice = self.advice(endpoint);
        if !advice.is_empty() {
            message.push(' ');
            message.push_str(&advice);
        }
        let partial = Some(partial).filter(|partial| !partial.is_empty());
        ModelError { kind: self.kind(), message, partial }
    }

    fn kind(&self) -> ModelErrorKind {
        match self {
            Self::Fault(fault) => match fault.kind {
                FaultKind::Auth => ModelErrorKind::Auth,
                FaultKind::Credit | FaultKind::Rate => ModelErrorKind::Rate,
                FaultKind::Window => ModelErrorKind::Window,
                FaultKind::NoModel
                | FaultKind::NoEndpoint
                | FaultKind::NoTools
                | FaultKind::NoStreaming
                | FaultKind::Filter
                | FaultKind::Rejected => ModelErrorKind::Rejected,
                FaultKind::Server | FaultKind::CutOff => ModelErrorKind::Network,
                FaultKind::ModelOutput | FaultKind::Malformed | FaultKind::TooLong => {
                    ModelErrorKind::Malformed
                }
            },
            Self::Unreachable { .. } => ModelErrorKind::Network,
            Self::Silent(_) => ModelErrorKind::Timeout,
            Self::Cancelled => ModelErrorKind::Cancelled,
        }
    }
}

fn what(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Auth => "refuses the key",
        FaultKind::Credit => "has no credit left",
        FaultKind::Rate => "is asked too often",
        FaultKind::Window => "finds the request too long for its window",
        FaultKind::NoModel => "is not known there",
        FaultKind::NoEndpoint => "has no chat completions at this address",
        FaultKind::NoTools => "takes no tools",
        FaultKind::NoStreaming => "does not stream",
        FaultKind::Filter => "holds the request or its answer to be harmful",
        FaultKind::Rejected => "refuses the request",
        FaultKind::Server => "has a problem",
        FaultKind::ModelOutput => "wrote what its server could not read",
        FaultKind::CutOff => "broke off in the middle of its answer",
        FaultKind::Malformed => "gave an answer that is none of chat completions",
        FaultKind::TooLong => "gave an answer that is too long",
    }
}

/// Returns the model and its host, for messages.
fn address(endpoint: &Endpoint) -> String {
    let url = reqwest::Url::parse(&endpoint.base_url).ok();
    let host = url.as_ref().and_then(reqwest::Url::host_str).unwrap_or("an unknown host");
    let port = url.as_ref().and_then(reqwest::Url::port);
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    format!("{} at {host}{port}", endpoint.model)
}

/// Removes the key, which some providers repeat in their error messages.
fn scrubbed(text: &str, endpoint: &Endpoint) -> String {
    let headers = endpoint.headers.iter().map(|(_, value)| value);
    let mut text = text.to_owned();
    for secret in endpoint.key.iter().chain(headers).map(|secret| secret.expose_secret()) {
        if secret.len() >= 4 {
            text = text.replace(secret, "[key]");
        }
    }
    text
}

impl ConnectionLayer {
    /// Returns the layer at which a request without an answer failed.
    pub(super) fn of(error: &reqwest::Error) -> Self {
        let mut next: Option<&(dyn Error + 'static)> = error.source();
        while let Some(cause) = next {
            let tls = |cause: &(dyn Error + 'static)| cause.is::<rustls::Error>();
            let wrapped = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            if tls(cause) || wrapped.is_some_and(|inner| inner.is::<rustls::Error>()) {
                return Self::Tls;
            }
            let text = cause.to_string();
            if text.starts_with("dns error") {
                return Self::Dns;
            }
            if text.starts_with("tcp connect error") {
                return Self::Tcp;
            }
            next = cause.source();
        }
        if error.is_connect() { Self::Tcp } else { Self::Http }
    }
}

/// Describes the libraries' errors, from the outermost informative cause to the innermost.
pub(super) fn causes(error: &reqwest::Error) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        let is_news = !text.starts_with("client error")
            && !words.last().is_some_and(|last| last.contains(&text));
        if is_news {
            words.push(text);
        }
        next = cause.source();
    }
    if words.is_empty() { error.to_string() } else { words.join(": ") }
}
