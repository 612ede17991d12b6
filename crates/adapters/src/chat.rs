//! Models over the network: any server of chat completions.
//!
//! `crewagent_dialect` writes requests and reads answers; this module sends them, with one connection pool, four
//! timeouts, and retries where they may help.

mod checkup;
mod client;
mod exchange;
mod failure;
mod lesson;
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
use crewagent_dialect::names::Names;
use crewagent_dialect::profile::endpoint as address;
use crewagent_dialect::retry::backoff;
use crewagent_dialect::usage::looks_cut;

pub use self::checkup::{Step, StepName, StepStatus, checkup};
pub use self::client::Client;
pub(crate) use self::client::connections;
use self::exchange::{Exchange, Failed};
use self::failure::Failure;
pub use self::failure::Layer;
use self::lesson::Manner;
pub use self::probe::{Finding, Probe, probe};
use self::speaker::{Speaker, Told};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::{
    Again, Endpoint, Memo, Model, ModelError, ModelErrorKind, Progress, Request,
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
    manner: Mutex<Arc<Manner>>,
}

/// State kept between two requests of one run.
#[derive(Default)]
struct Desk {
    body: Body,
    names: Option<Wording>,
}

/// Names of one list of tools.
struct Wording {
    tools: Arc<[ToolSpec]>,
    manner: Arc<Manner>,
    names: Arc<Names>,
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
            manner: Mutex::new(Arc::new(Manner::of(&endpoint))),
            endpoint: Arc::new(endpoint),
        })
    }

    /// Returns the endpoint.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn manner(&self) -> Arc<Manner> {
        self.manner.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Prepares one request.
    fn exchange(&self, request: &Request, manner: &Arc<Manner>, desk: &mut Desk) -> Exchange {
        let names = desk.names_for(request, manner);
        let options = Options {
            model: &self.endpoint.model,
            source: &self.source,
            profile: &manner.profile,
            max_output: self.endpoint.max_output,
            temperature: self.endpoint.temperature.filter(|_| manner.sends_temperature),
            stream: manner.streams,
            tools: true,
        };
        desk.body.render(&options, &names, &request.messages, &request.tools);
        Exchange {
            endpoint: self.endpoint.clone(),
            http: self.http.clone(),
            url: self.url.clone(),
            profile: manner.profile.clone(),
            names,
            body: desk.body.lend().into(),
            is_streamed: manner.streams,
        }
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
                Told::Progress(progress) => tell(progress),
                Told::Ended(result) => return result,
            }
        }
        let said =
            Some("the connection's own thread failed; this is a mistake of CrewAgent".to_owned());
        Err(Fault { said, ..Fault::new(FaultKind::CutOff) }.into())
    }

    /// Returns the wait before the next attempt, if there is one.
    fn wait(&self, failure: &Failure, tries: u32) -> Option<Duration> {
        let patience = &self.endpoint.patience;
        if tries > failure.retries(patience.retries) {
            return None;
        }
        match failure.asked_wait() {
            Some(asked) if asked > patience.longest_wait => None,
            Some(asked) => Some(asked + backoff(1, random_bits()) / 10),
            None => Some(backoff(tries, random_bits()).min(patience.longest_wait)),
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
        manner: &Manner,
    ) -> Result<Reply, ModelError> {
        let sent: u64 = request.messages.iter().map(|message| message.bytes()).sum();
        if manner.profile.cuts_silently && looks_cut(&reply.usage, sent / TOKEN_BYTES) {
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

/// Returns bits for the jitter of a backoff.
fn random_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}

impl Desk {
    fn names_for(&mut self, request: &Request, manner: &Arc<Manner>) -> Arc<Names> {
        let known = self.names.as_ref().filter(|known| {
            Arc::ptr_eq(&known.tools, &request.tools) && Arc::ptr_eq(&known.manner, manner)
        });
        if let Some(known) = known {
            return known.names.clone();
        }
        let names = Arc::new(Names::new(manner.profile.names, &request.tools));
        let tools = request.tools.clone();
        self.names = Some(Wording { tools, manner: manner.clone(), names: names.clone() });
        names
    }
}

impl Model for Chat {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn reply(
        &self,
        request: &Request,
        memo: &mut Memo,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError> {
        let mut tries = 0;
        loop {
            let manner = self.manner();
            let desk: &mut Desk = memo.of();
            let exchange = self.exchange(request, &manner, desk);
            let body = exchange.body.clone();
            let result = self.attempt(exchange, tell, until);
            if let Ok(body) = body.try_into_mut() {
                desk.body.give_back(body.into());
            }
            let Failed { failure, partial } = match result {
                Ok(reply) => return self.settle(reply, request, &manner),
                Err(failed) => failed,
            };
            if let Some((better, why)) = manner.learn(&failure) {
                *self.manner.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(better);
                tell(Progress::Again(Again { attempt: tries + 1, wait: Duration::ZERO, why }));
                continue;
            }
            tries += 1;
            let Some(wait) = self.wait(&failure, tries) else {
                return Err(failure.into_error(&self.endpoint, tries, partial));
            };
            let why = failure.words(&self.endpoint);
            tell(Progress::Again(Again { attempt: tries, wait, why }));
            self.pause(wait, until)
                .map_err(|failure| failure.into_error(&self.endpoint, tries, String::new()))?;
        }
    }
}
