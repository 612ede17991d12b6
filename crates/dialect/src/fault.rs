//! What can be wrong with an answer, and what to do about it.

mod signs;
mod told;

use std::time::Duration;

use serde_json::Value as Json;

use self::told::Told;

/// Why an answer is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which kind.
    pub kind: FaultKind,
    /// The status of the answer, where there was one.
    pub status: Option<u16>,
    /// What the provider said, in its own words: one line, bounded, without control characters.
    pub said: Option<String>,
    /// How long the provider wants us to wait.
    pub retry_after: Option<Duration>,
}

/// The kinds of faults that call for different answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The key is missing, wrong or may not do this.
    Auth,
    /// There is no credit left.
    Credit,
    /// Too many requests.
    Rate,
    /// The request does not fit the window.
    Window,
    /// There is no such model.
    NoModel,
    /// There is nothing at this address.
    NoEndpoint,
    /// The model or the server does not take tools.
    NoTools,
    /// The server does not stream.
    NoStreaming,
    /// The provider holds the request or the answer to be harmful.
    Filter,
    /// The request is refused for another reason.
    Rejected,
    /// The server failed, or has too much to do.
    Server,
    /// The model wrote what its server could not read; another try may do.
    ModelOutput,
    /// The answer ended before its end.
    CutOff,
    /// The answer is not what chat completions are.
    Malformed,
    /// The answer is longer than we take.
    TooLong,
}

impl Fault {
    /// A fault without a word from the provider.
    pub fn new(kind: FaultKind) -> Self {
        Self { kind, status: None, said: None, retry_after: None }
    }

    /// What is wrong with an answer that is none: its status is an error, or its body is an error, a web page or empty.
    pub fn of_response(
        status: u16,
        retry_after: Option<Duration>,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Self {
        let is_fine = status < 300;
        let told = Told::of_body(content_type, body, !is_fine);
        let status = if is_fine { told.status.unwrap_or(status) } else { status };
        let retry_after = retry_after.or(told.wait);
        let kind = signs::kind(Some(status), &told, retry_after.is_some());
        Self { kind, status: Some(status), said: told.said(), retry_after }
    }

    /// The error that stands where a piece of the answer should.
    pub fn in_stream(event: &Json) -> Option<Self> {
        let told = Told::of_event(event)?;
        let kind = signs::kind(told.status, &told, told.wait.is_some());
        Some(Self { kind, status: told.status, said: told.said(), retry_after: told.wait })
    }

    /// Whether the same request may work the next time.
    pub fn is_retryable(&self) -> bool {
        self.retries(1) > 0
    }

    /// How many more tries it is worth, if `most` are allowed. Another try of a model that wrote nonsense is worth it
    /// once.
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

    /// What to do about it, in plain English.
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
