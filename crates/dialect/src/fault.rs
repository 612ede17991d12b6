//! Faults of an answer, and advice about them.

mod error_body;
mod signs;

use std::time::Duration;

use serde_json::Value as Json;

use self::error_body::ErrorBody;

/// Reason why an answer is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    /// HTTP status of the answer, if there was one.
    pub status: Option<u16>,
    /// Message of the provider: one line, bounded, without control characters.
    pub said: Option<String>,
    /// Wait that the provider asks for.
    pub retry_after: Option<Duration>,
}

/// Kinds of faults that need different handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The key is missing, wrong or lacks permission.
    Auth,
    /// There is no credit left.
    Credit,
    Rate,
    /// The request does not fit the window.
    Window,
    NoModel,
    /// No endpoint exists at this address.
    NoEndpoint,
    /// The model or the server does not accept tools.
    NoTools,
    NoStreaming,
    /// The provider considers the request or the answer harmful.
    Filter,
    /// The request is refused for another reason.
    Rejected,
    /// The server failed, or is overloaded.
    Server,
    /// The model wrote output that its server could not parse; a retry may help.
    ModelOutput,
    /// The answer was cut off.
    CutOff,
    /// The answer is not a chat completion.
    Malformed,
    /// The answer exceeds our limit.
    TooLong,
}

impl Fault {
    /// Creates a fault without a message of the provider.
    pub fn new(kind: FaultKind) -> Self {
        Self { kind, status: None, said: None, retry_after: None }
    }

    /// Diagnoses an answer that is no reply: its status is an error, or its body is an error, a web page or empty.
    pub fn of_response(
        status: u16,
        retry_after: Option<Duration>,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Self {
        let is_fine = status < 300;
        let body = ErrorBody::of_body(content_type, body, !is_fine);
        let status = if is_fine { body.status.unwrap_or(status) } else { status };
        let retry_after = retry_after.or(body.wait);
        let kind = signs::kind(Some(status), &body, retry_after.is_some());
        Self { kind, status: Some(status), said: body.message(), retry_after }
    }

    /// Returns the error in place of a piece of the answer.
    pub fn in_stream(event: &Json) -> Option<Self> {
        let body = ErrorBody::of_event(event)?;
        let kind = signs::kind(body.status, &body, body.wait.is_some());
        Some(Self { kind, status: body.status, said: body.message(), retry_after: body.wait })
    }

    /// Returns true if the same request may succeed next time.
    pub fn is_retryable(&self) -> bool {
        self.retries(1) > 0
    }

    /// Returns the number of useful retries, if `most` are allowed. A model that wrote malformed output gets one.
    pub fn retries(&self, most: u32) -> u32 {
        match self.kind {
            FaultKind::Rate | FaultKind::Server | FaultKind::CutOff => most,
            FaultKind::ModelOutput | FaultKind::Malformed => most.min(1),
            FaultKind::Auth
            | FaultKind::Credit
            | FaultKind::Window
            | FaultKind::NoModel
            | FaultKind::NoEndpoint
            | FaultKind::NoTools
            | FaultKind::NoStreaming
            | FaultKind::Filter
            | FaultKind::Rejected
            | FaultKind::TooLong => 0,
        }
    }

    /// Returns advice for the user, in plain English.
    pub fn advice(&self) -> &'static str {
        let said = self.said.as_deref().unwrap_or_default().to_lowercase();
        let special =
            signs::ADVICE.iter().find(|(kind, part, _)| *kind == self.kind && said.contains(part));
        special.map_or_else(|| self.kind.advice(), |(_, _, advice)| advice)
    }
}

impl FaultKind {
    fn advice(self) -> &'static str {
        match self {
            Self::Auth => {
                "Check the API key of this model: it is missing, wrong or expired, or it may not use this model."
            }
            Self::Credit => {
                "Add credit or raise the spending limit in the account of the provider, or choose another model."
            }
            Self::Rate => {
                "Wait a while and resume the run. If it happens often, ask the provider for higher limits or run less at once."
            }
            Self::Window => {
                "Choose a model with a larger window, or make the request smaller: shorter files, fewer tools, a fresh run."
            }
            Self::NoModel => {
                "Check the name of the model: spell it as the provider lists it. A local server must have it installed."
            }
            Self::NoEndpoint => {
                "Check the base URL: there must be a chat-completions endpoint behind it. Most base URLs end in `/v1`."
            }
            Self::NoTools => {
                "Choose a model that can call tools; workflows cannot run without them."
            }
            Self::NoStreaming => {
                "Turn streaming off for this model: set `stream = false` in its profile."
            }
            Self::Filter => {
                "The provider's filter stepped in. Say it differently, take out what offends, or choose another provider."
            }
            Self::Rejected => {
                "Read what the provider says. A field that it refuses can be switched off in the profile of the model."
            }
            Self::Server => {
                "The provider has trouble. Resume the run later, or choose another model."
            }
            Self::ModelOutput => {
                "The model wrote what its server cannot read. Resume the run to try again, or choose another model."
            }
            Self::CutOff => {
                "The connection ended too early. Resume the run; if it happens again, look at the server or at proxies on the way."
            }
            Self::Malformed => {
                "The server does not speak chat completions. Check the base URL, and what stands between here and the server."
            }
            Self::TooLong => {
                "The answer became too long to take. Resume the run and ask for smaller steps, or set a limit for the output."
            }
        }
    }
}
