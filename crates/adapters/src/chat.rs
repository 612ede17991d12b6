//! Models over the network: any server of chat completions.
//!
//! `crewagent_dialect` writes requests and reads answers; this module sends them, with one connection pool, four
//! timeouts, and retries where they may help.

mod client;
mod connection_test;
mod exchange;
mod failure;
mod lesson;
mod local;
mod meter;
mod probe;
mod speaker;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crewagent_core::event::Reply;
use crewagent_core::tool::ToolSpec;
use crewagent_dialect::body::{Body, Options};
use crewagent_dialect::fault::{Fault, FaultKind};
use crewagent_dialect::names::ToolNames;
use crewagent_dialect::profile::{CallsInText, endpoint as address};
use crewagent_dialect::retry::backoff;
use crewagent_dialect::usage::looks_cut;

pub use self::client::Client;
pub(crate) use self::client::connections;
pub use self::connection_test::{StepName, StepStatus, TestStep, test_connection};
use self::exchange::{Exchange, Failed};
pub use self::failure::ConnectionLayer;
use self::failure::Failure;
use self::lesson::RequestOptions;
pub use self::local::{FoundServer, local_servers};
pub use self::probe::{Measurement, Probe, probe};
use self::speaker::{Speaker, Update};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::{
    Endpoint, Model, ModelError, ModelErrorKind, Progress, Request, RequestCache, RequestOutline,
    Retry,
};

/// Estimated bytes per token, as with most models.
const TOKEN_BYTES: u64 = 4;

/// Model that is reached over the network.
#[derive(Debug)]
pub struct Chat {
    endpoint: Arc<Endpoint>,
    client: Client,
    http: reqwest::Client,
    url: reqwest::Url,
    /// Our name of the model: `profile/model`.
    source: String,
    /// Options of requests, with what was learned from refusals.
    request_options: Mutex<Arc<RequestOptions>>,
}

/// State kept between two requests of one run.
#[derive(Default)]
struct CachedBody {
    body: Body,
    names: Option<Wording>,
}

/// Names of one list of tools.
struct Wording {
    tools: Arc<[ToolSpec]>,
    request_options: Arc<RequestOptions>,
    names: Arc<ToolNames>,
}

impl Chat {
    /// Creates a model at an endpoint. No request is sent yet.
    pub fn new(endpoint: Endpoint, client: &Client) -> Result<Self, ModelError> {
        let unfit = |why: String| {
            let name = &endpoint.name;
            let message = format!("The base URL of the model `{name}` cannot be used: {why}.");
            ModelError::new(ModelErrorKind::Rejected, message)
        };
        let url = address(&endpoint.base_url, "chat/completions").map_err(unfit)?;
        let url = reqwest::Url::parse(&url).map_err(|error| unfit(error.to_string()))?;
        Ok(Self {
            http: client.pool(&endpoint)?,
            client: client.clone(),
            url,
            source: format!("{}/{}", endpoint.profile_name, endpoint.model),
            request_options: Mutex::new(Arc::new(RequestOptions::of(&endpoint))),
            endpoint: Arc::new(endpoint),
        })
    }

    /// Returns the endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn request_options(&self) -> Arc<RequestOptions> {
        self.request_options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Prepares one request.
    fn exchange(
        &self,
        request: &Request,
        request_options: &Arc<RequestOptions>,
        cached: &mut CachedBody,
    ) -> Exchange {
        let names = self.render(request, request_options, cached);
        Exchange {
            endpoint: self.endpoint.clone(),
            http: self.http.clone(),
            url: self.url.clone(),
            calls_in_text: calls_in_text(request, request_options),
            names,
            body: cached.body.lend().into(),
            is_streamed: request_options.streams,
        }
    }

    /// Renders the body of a request, and returns the names of its tools.
    fn render(
        &self,
        request: &Request,
        request_options: &Arc<RequestOptions>,
        cached: &mut CachedBody,
    ) -> Arc<ToolNames> {
        let names = cached.names_for(request, request_options);
        let options = Options {
            model: &self.endpoint.model,
            source: &self.source,
            profile: &request_options.profile,
            max_output: self.endpoint.max_output,
            temperature: self.endpoint.temperature.filter(|_| request_options.sends_temperature),
            stream: request_options.streams,
            tools: true,
        };
        cached.body.render(&options, &names, &request.messages, &request.tools);
        names
    }

    /// Runs the request on the client's threads, and forwards its progress.
    fn attempt(
        &self,
        exchange: Exchange,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, Failed> {
        let (listener, told) = mpsc::channel();
        let mut speaker = Speaker::new(listener);
        let end = until.clone();
        self.client.spawn(async move {
            let result = exchange.run(&mut speaker, &end).await;
            speaker.end(result);
        });
        for told in told {
            match told {
                Update::Progress(progress) => tell(progress),
                Update::Ended(result) => return *result,
            }
        }
        let said =
            Some("the connection's own thread failed; this is a mistake of CrewAgent".to_owned());
        Err(Fault { said, ..Fault::new(FaultKind::CutOff) }.into())
    }

    /// Returns the wait before the next attempt, if there is one.
    fn wait(&self, failure: &Failure, tries: u32) -> Option<Duration> {
        let timeouts = &self.endpoint.timeouts;
        if tries > failure.retries(timeouts.retries) {
            return None;
        }
        match failure.asked_wait() {
            Some(asked) if asked > timeouts.longest_wait => None,
            Some(asked) => Some(asked + backoff(1, random_bits()) / 10),
            None => Some(backoff(tries, random_bits()).min(timeouts.longest_wait)),
        }
    }

    fn pause(&self, wait: Duration, until: &Deadline) -> Result<(), Failure> {
        self.client.block_on(async {
            tokio::select! {
                biased;
                () = until.over() => Err(Failure::Cancelled),
                () = tokio::time::sleep(wait) => Ok(()),
            }
        })
    }

    /// Completes a reply with its cost.
    fn settle(
        &self,
        mut reply: Reply,
        request: &Request,
        request_options: &RequestOptions,
    ) -> Result<Reply, ModelError> {
        let sent: u64 = request.messages.iter().map(|message| message.bytes()).sum();
        if request_options.profile.cuts_silently && looks_cut(&reply.usage, sent / TOKEN_BYTES) {
            return Err(self.cut(reply.usage.input_tokens, sent / TOKEN_BYTES));
        }
        let usage = &mut reply.usage;
        if usage.tokens() == 0 {
            let calls =
                reply.tool_calls.iter().map(|call| call.arguments.bytes() + call.name.len() as u64);
            let came =
                reply.content.as_ref().map_or(0, |words| words.len() as u64) + calls.sum::<u64>();
            usage.input_tokens = sent.div_ceil(TOKEN_BYTES);
            usage.output_tokens = came.div_ceil(TOKEN_BYTES);
            usage.estimated = true;
        }
        if usage.cost.is_none() {
            usage.cost = self.endpoint.price.map(|price| price.of(usage));
        }
        reply.from = Some(self.source.clone());
        Ok(reply)
    }

    fn cut(&self, read: u64, sent: u64) -> ModelError {
        let Endpoint { name, model, .. } = &*self.endpoint;
        let message = format!(
            "The server of the model `{name}` ({model}) cut the request without a word: it read {read} tokens of about \
             {sent}, so the model has not seen its rules. Give the server a larger window (for Ollama set \
             OLLAMA_CONTEXT_LENGTH, or `num_ctx` in a Modelfile), or set `window` of this model to what the server has, \
             then resume the run."
        );
        ModelError::new(ModelErrorKind::Window, message)
    }
}

/// Returns the calls in text that count. Outside of a node, the text is the answer, and may show what calls look like.
fn calls_in_text(request: &Request, request_options: &RequestOptions) -> CallsInText {
    let mode = request_options.profile.calls_in_text;
    if request.place.node_id.is_some() { mode } else { mode.min(CallsInText::Tagged) }
}

/// Returns bits for the jitter of a backoff.
fn random_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}

impl CachedBody {
    fn names_for(
        &mut self,
        request: &Request,
        request_options: &Arc<RequestOptions>,
    ) -> Arc<ToolNames> {
        let known = self.names.as_ref().filter(|known| {
            Arc::ptr_eq(&known.tools, &request.tools)
                && Arc::ptr_eq(&known.request_options, request_options)
        });
        if let Some(known) = known {
            return known.names.clone();
        }
        let names = Arc::new(ToolNames::new(request_options.profile.names, &request.tools));
        let tools = request.tools.clone();
        self.names =
            Some(Wording { tools, request_options: request_options.clone(), names: names.clone() });
        names
    }
}

impl Model for Chat {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn outline(&self, request: &Request, cache: &mut RequestCache) -> Option<RequestOutline> {
        let cached: &mut CachedBody = cache.of();
        // The body that is rendered here is reused when the request is sent.
        self.render(request, &self.request_options(), cached);
        let bytes = cached.body.size() as u64;
        Some(RequestOutline { model: self.endpoint.name.clone(), bytes })
    }

    fn reply(
        &self,
        request: &Request,
        cache: &mut RequestCache,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError> {
        let mut tries = 0;
        loop {
            let request_options = self.request_options();
            let cached: &mut CachedBody = cache.of();
            let exchange = self.exchange(request, &request_options, cached);
            let body = exchange.body.clone();
            let result = self.attempt(exchange, tell, until);
            if let Ok(body) = body.try_into_mut() {
                cached.body.give_back(body.into());
            }
            let Failed { failure, partial } = match result {
                Ok(reply) => return self.settle(reply, request, &request_options),
                Err(failed) => failed,
            };
            if let Some((better, why)) = request_options.learn(&failure) {
                *self.request_options.lock().unwrap_or_else(PoisonError::into_inner) =
                    Arc::new(better);
                tell(Progress::Retry(Retry { attempt: tries + 1, wait: Duration::ZERO, why }));
                continue;
            }
            tries += 1;
            let Some(wait) = self.wait(&failure, tries) else {
                return Err(failure.into_error(&self.endpoint, tries, partial));
            };
            let why = failure.words(&self.endpoint);
            tell(Progress::Retry(Retry { attempt: tries, wait, why }));
            self.pause(wait, until)
                .map_err(|failure| failure.into_error(&self.endpoint, tries, String::new()))?;
        }
    }
}
