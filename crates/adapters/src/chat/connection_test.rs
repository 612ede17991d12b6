//! Connection test of a model, step by step, so that the failing step can be named.

pub(super) mod ask;
pub(super) mod models;
mod reach;

use std::time::{Duration, Instant};

use crewagent_core::event::{Finish, Reply};
use crewagent_dialect::fault::{Fault, FaultKind};
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::ModelError;
use crewagent_lenient::calls::{self as leaked, CallsInText};
use serde::Serialize;

use self::ask::{AskOutcome, TestQuestion, ask};
use self::models::ModelList;
use super::client::Client;
use super::failure::{ConnectionLayer, Failure, Timer};

/// Time limit of an answer: a slower model is no use for a run.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Time limit of a name lookup, and of a connection to each address.
const CONNECT: Duration = Duration::from_secs(10);

/// Step of a connection test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestStep {
    pub name: StepName,
    pub status: StepStatus,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// Steps in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepName {
    Url,
    /// The name of the host has an address.
    Dns,
    /// The host accepts a connection.
    Tcp,
    Tls,
    Endpoint,
    Key,
    Model,
    Streaming,
    Tools,
}

impl StepName {
    const ALL: [Self; 9] = [
        Self::Url,
        Self::Dns,
        Self::Tcp,
        Self::Tls,
        Self::Endpoint,
        Self::Key,
        Self::Model,
        Self::Streaming,
        Self::Tools,
    ];

    /// Returns the word for users.
    pub fn word(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Dns => "dns",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
            Self::Endpoint => "endpoint",
            Self::Key => "key",
            Self::Model => "model",
            Self::Streaming => "streaming",
            Self::Tools => "tools",
        }
    }
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    Ok,
    Failed,
    Skipped,
}

/// Tests a model. Each step is reported as it is done. `no_key` is the reason why a required key is missing.
pub fn test_connection(
    endpoint: &Endpoint,
    no_key: Option<&str>,
    client: &Client,
    tell: &mut dyn FnMut(&TestStep),
) -> Result<Vec<TestStep>, ModelError> {
    let mut endpoint = endpoint.clone();
    let timeouts = &mut endpoint.timeouts;
    timeouts.first_byte = timeouts.first_byte.min(TIMEOUT);
    timeouts.idle = timeouts.idle.min(TIMEOUT);
    let mut checks = Checks { steps: Vec::new(), tell };
    // The error only leaves the sequence of steps; the failure itself is reported.
    let _ = checks.walk(&endpoint, no_key, client)?;
    checks.skip_the_rest();
    Ok(checks.steps)
}

struct Checks<'t> {
    steps: Vec<TestStep>,
    tell: &'t mut dyn FnMut(&TestStep),
}

/// Failure of a step, which makes the others pointless.
struct Stopped;

type WalkResult = Result<(), Stopped>;

impl Checks<'_> {
    fn walk(
        &mut self,
        endpoint: &Endpoint,
        no_key: Option<&str>,
        client: &Client,
    ) -> Result<WalkResult, ModelError> {
        let Ok(url) = self.url(endpoint) else { return Ok(Err(Stopped)) };
        if self.way(&url, endpoint).is_err() {
            return Ok(Err(Stopped));
        }
        let listed = models::list(endpoint, client)?;
        if self.secure(&url, endpoint, &listed).is_err() {
            return Ok(Err(Stopped));
        }
        if let Some(why) = no_key {
            self.ok(StepName::Endpoint, "something answers there");
            return Ok(self.fail(StepName::Key, why, None));
        }
        let begun = Instant::now();
        let asked = ask(endpoint, client, TestQuestion::words())?;
        let took = begun.elapsed();
        let mut endpoint = endpoint.clone();
        endpoint.profile = ask::learned(&asked);
        let answered = match &asked.reply {
            Ok(reply) => self.answered(&endpoint, reply, took),
            Err(failure) => self.refused(&endpoint, failure, &listed),
        };
        if answered.is_err() {
            return Ok(Err(Stopped));
        }
        let streams = ask::streams(&endpoint, client)?;
        self.streamed(asked.reply.as_ref().ok(), streams, &asked);
        let asked = ask(&endpoint, client, TestQuestion::one_call())?;
        Ok(match &asked.reply {
            Ok(reply) => self.called(reply, &asked),
            Err(failure) => self.tools_refused(&endpoint, failure),
        })
    }

    fn url(&mut self, endpoint: &Endpoint) -> Result<reqwest::Url, Stopped> {
        let address = crewagent_dialect::profile::endpoint(&endpoint.base_url, "chat/completions");
        let parsed =
            address.and_then(|url| reqwest::Url::parse(&url).map_err(|error| error.to_string()));
        match parsed {
            Ok(url) => {
                self.ok(StepName::Url, url.as_str());
                Ok(url)
            }
            Err(problem) => {
                let advice = "correct `base-url` of this model, such as https://api.example.com/v1";
                let words = format!("{}: {problem}", endpoint.base_url);
                self.fail(StepName::Url, &words, Some(advice))?;
                Err(Stopped)
            }
        }
    }

    /// Tests the name of the host and the connection.
    fn way(&mut self, url: &reqwest::Url, endpoint: &Endpoint) -> WalkResult {
        if let Some(proxy) = reach::proxy(url) {
            let words = format!("the way goes through the proxy in {proxy}");
            self.skip(StepName::Dns, &words);
            self.skip(StepName::Tcp, &words);
            return Ok(());
        }
        let host = url.host_str().unwrap_or_default();
        let timeouts = endpoint.timeouts.connect.min(CONNECT);
        let addresses = match reach::look_up(url, timeouts) {
            Ok(addresses) => addresses,
            Err(why) => {
                let advice = "check the name in `base-url`, and whether this computer is online";
                return self.fail(
                    StepName::Dns,
                    &format!("{host} has no address: {why}"),
                    Some(advice),
                );
            }
        };
        if reach::is_address(url) {
            self.skip(StepName::Dns, &format!("{host} is an address already"));
        } else {
            self.ok(StepName::Dns, &reach::named(host, &addresses));
        }
        match reach::connect(&addresses, timeouts) {
            Ok((address, took)) => {
                self.ok(StepName::Tcp, &format!("{address} in {} ms", took.as_millis()));
                Ok(())
            }
            Err(why) => {
                let advice = "check that the server runs, that the port in `base-url` is right, and that no firewall is in the way";
                self.fail(StepName::Tcp, &format!("{host}: {why}"), Some(advice))
            }
        }
    }

    /// Tests that the connection is secure, or need not be.
    fn secure(
        &mut self,
        url: &reqwest::Url,
        endpoint: &Endpoint,
        listed: &ModelList,
    ) -> WalkResult {
        if let ModelList::Failed(failure) = listed
            && let Some(name) = broken_way(failure)
        {
            // The host accepts connections, so a failure belongs to the next step.
            let name =
                name.max(if url.scheme() == "https" { StepName::Tls } else { StepName::Endpoint });
            return self.fail(name, &failure.words(endpoint), Some(way_advice(name)));
        }
        if url.scheme() == "https" {
            self.ok(StepName::Tls, "the connection is secure");
        } else if endpoint.key.is_some() && !reach::is_local(url) {
            self.skip(StepName::Tls, "http:// is not secure: the key can be read on the way");
        } else {
            self.skip(StepName::Tls, "http:// is plain");
        }
        Ok(())
    }

    /// Reports the answer to the first question.
    fn answered(&mut self, endpoint: &Endpoint, reply: &Reply, took: Duration) -> WalkResult {
        self.ok(StepName::Endpoint, "chat completions are there");
        self.ok(
            StepName::Key,
            if endpoint.key.is_some() { "it is taken" } else { "none is needed" },
        );
        let said = reply.content.as_deref().map(str::trim).filter(|said| !said.is_empty());
        let seconds = took.as_secs_f64();
        let mut words = format!("{} answered in {seconds:.1} s", endpoint.model);
        if let Some(said) = said {
            let said: String = said.chars().take(40).collect();
            words.push_str(&format!(": {said:?}"));
        }
        if said.is_none() && ask::thoughts(reply).is_none() && reply.finish != Finish::Length {
            return self.fail(
                StepName::Model,
                &format!("{} answered nothing", endpoint.model),
                Some("try another model; this one gives empty replies"),
            );
        }
        self.ok(StepName::Model, &words);
        Ok(())
    }

    /// Reports the streaming of the first answer.
    fn streamed(&mut self, reply: Option<&Reply>, streams: bool, asked: &AskOutcome) {
        let counts = reply.is_some_and(|reply| reply.usage.tokens() > 0);
        let usage = if counts { "with usage" } else { "without usage: it is estimated" };
        let request_options = match (streams, asked.request_options.streams) {
            (true, _) => format!("replies come in pieces, {usage}"),
            (false, true) => {
                format!("replies come as a whole though pieces are asked for, {usage}")
            }
            (false, false) => format!("there is none: replies come as a whole, {usage}"),
        };
        self.ok(StepName::Streaming, &remarked(&request_options, asked));
    }

    /// Finds the step that is to blame for a failed first question.
    fn refused(
        &mut self,
        endpoint: &Endpoint,
        failure: &Failure,
        listed: &ModelList,
    ) -> WalkResult {
        let name = blamed(failure);
        let words = failure.words(endpoint);
        for earlier in self.open().filter(|step| *step < name) {
            self.ok(earlier, if earlier == StepName::Key { "it is taken" } else { "it is there" });
        }
        let advice = match failure {
            Failure::Fault(Fault { kind: FaultKind::NoModel, .. }) => listed.advice(&endpoint.model),
            Failure::Fault(fault) => fault.advice().to_owned(),
            Failure::Unreachable { .. } => way_advice(name).to_owned(),
            Failure::Silent(_) => {
                "try again; a local server may still load the model, and a busy one may queue requests"
                    .to_owned()
            }
            Failure::Cancelled => String::new(),
        };
        self.fail(name, &words, Some(&advice).filter(|it| !it.is_empty()).map(String::as_str))
    }

    /// Reports the answer to the second question.
    fn called(&mut self, reply: &Reply, asked: &AskOutcome) -> WalkResult {
        let words = reply.content.as_deref().unwrap_or_default();
        let advice = "runs need a model that calls tools: choose another one";
        match reply.tool_calls.first() {
            Some(call) if asked.is_known(&call.name) => {
                let words = match reply.text_calls {
                    0 => "it called the tool that it was asked to call",
                    _ => "it wrote the call into its text, from where it is taken",
                };
                self.ok(StepName::Tools, &remarked(words, asked));
                Ok(())
            }
            Some(call) => self.fail(
                StepName::Tools,
                &format!("it called a tool that is not there: {:?}", call.name),
                Some(advice),
            ),
            None if is_call(words, asked) => self.fail(
                StepName::Tools,
                "it wrote the call into its text, where it is not executed",
                Some("the server does not read the calls of this model: set its parser of tool calls or its chat template, choose another model, or set `calls-in-text` of its profile to `all`"),
            ),
            None if reply.finish == Finish::Length => self.fail(
                StepName::Tools,
                "it did not come to the point: its reply was cut off before it called the tool",
                Some("set a larger `max-output`, or choose a model that thinks less"),
            ),
            None => self.fail(
                StepName::Tools,
                "it was asked to call a tool and answered in words",
                Some(advice),
            ),
        }
    }

    fn tools_refused(&mut self, endpoint: &Endpoint, failure: &Failure) -> WalkResult {
        let advice = match failure {
            Failure::Fault(fault) => Some(fault.advice()),
            Failure::Unreachable { .. } | Failure::Silent(_) | Failure::Cancelled => None,
        };
        self.fail(StepName::Tools, &failure.words(endpoint), advice)
    }

    fn ok(&mut self, name: StepName, message: &str) {
        self.push(name, StepStatus::Ok, message, None);
    }

    fn skip(&mut self, name: StepName, message: &str) {
        self.push(name, StepStatus::Skipped, message, None);
    }

    fn fail(&mut self, name: StepName, message: &str, advice: Option<&str>) -> WalkResult {
        // Steps that passed stay passed: the next step has failed.
        let name = self.open().next().map_or(name, |next| name.max(next));
        self.push(name, StepStatus::Failed, message, advice);
        Err(Stopped)
    }

    fn push(&mut self, name: StepName, status: StepStatus, message: &str, advice: Option<&str>) {
        let (message, advice) = (message.to_owned(), advice.map(str::to_owned));
        let step = TestStep { name, status, message, advice };
        (self.tell)(&step);
        self.steps.push(step);
    }

    fn skip_the_rest(&mut self) {
        for name in self.open() {
            self.skip(name, "not tried");
        }
    }

    /// Returns the remaining steps.
    fn open(&self) -> impl Iterator<Item = StepName> + use<> {
        let done = self.steps.last().map(|step| step.name);
        StepName::ALL.into_iter().filter(move |name| done.is_none_or(|done| *name > done))
    }
}

/// Returns true if a text holds a call that is not taken from it.
fn is_call(text: &str, asked: &AskOutcome) -> bool {
    leaked::read(text, CallsInText::Never, &|name| asked.is_known(name)).unreadable.is_some()
}

/// Appends the deviations from the profile.
fn remarked(message: &str, asked: &AskOutcome) -> String {
    if asked.lessons.is_empty() {
        return message.to_owned();
    }
    format!("{message}. {} `crewagent models probe` remembers that", asked.lessons.join(" "))
}

/// Returns the step at which the connection broke.
fn broken_way(failure: &Failure) -> Option<StepName> {
    match failure {
        Failure::Unreachable { layer, .. } => Some(match layer {
            ConnectionLayer::Dns => StepName::Dns,
            ConnectionLayer::Tcp => StepName::Tcp,
            ConnectionLayer::Tls => StepName::Tls,
            ConnectionLayer::Http => StepName::Endpoint,
        }),
        Failure::Silent(Timer::Connect) => Some(StepName::Tcp),
        Failure::Silent(Timer::FirstByte | Timer::Idle | Timer::Call)
        | Failure::Fault(_)
        | Failure::Cancelled => None,
    }
}

/// Returns the step that a failure belongs to.
fn blamed(failure: &Failure) -> StepName {
    match failure {
        Failure::Fault(fault) => match fault.kind {
            FaultKind::Auth | FaultKind::Credit => StepName::Key,
            FaultKind::NoEndpoint | FaultKind::Malformed => StepName::Endpoint,
            FaultKind::NoStreaming => StepName::Streaming,
            FaultKind::Rate
            | FaultKind::Window
            | FaultKind::NoModel
            | FaultKind::NoTools
            | FaultKind::Filter
            | FaultKind::Rejected
            | FaultKind::Server
            | FaultKind::ModelOutput
            | FaultKind::CutOff
            | FaultKind::TooLong => StepName::Model,
        },
        Failure::Unreachable { .. } | Failure::Silent(_) | Failure::Cancelled => {
            broken_way(failure).unwrap_or(StepName::Model)
        }
    }
}

fn way_advice(name: StepName) -> &'static str {
    match name {
        StepName::Tls => {
            "a plain server needs http:// in `base-url`; a company's own certificate must be known to the system or named in SSL_CERT_FILE"
        }
        StepName::Dns => "check the name in `base-url`, the network, and the proxy if there is one",
        StepName::Url
        | StepName::Tcp
        | StepName::Endpoint
        | StepName::Key
        | StepName::Model
        | StepName::Streaming
        | StepName::Tools => {
            "check that the server runs and speaks HTTP at this address and port; a secure server needs https:// in `base-url`"
        }
    }
}
