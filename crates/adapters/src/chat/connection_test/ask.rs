//! One small question to a model, asked as in a run.

use std::sync::Arc;
use std::time::Duration;

use crewagent_core::event::Reply;
use crewagent_core::message::Message;
use crewagent_core::tool::ToolSpec;
use crewagent_dialect::names::ToolNames;
use crewagent_dialect::profile::Profile;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::Endpoint;
use crewagent_engine::model::{ModelError, Request, TurnPosition};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use secrecy::ExposeSecret as _;
use serde_json::{Value as Json, json};

use crate::chat::client::Client;
use crate::chat::exchange::Failed;
use crate::chat::failure::Failure;
use crate::chat::lesson::RequestOptions;
use crate::chat::{CachedBody, Chat};

/// Longest wait that a provider may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Tool that models are asked to call. Its name has a dot, like those of runs.
pub(in crate::chat) const TOOL: &str = "test.note";

/// Node that questions come from, as in a run.
const NODE: &str = "test";

/// Question to a model.
#[derive(Clone, Debug)]
pub(in crate::chat) struct TestQuestion {
    pub(in crate::chat) messages: Vec<Message>,
    pub(in crate::chat) tools: Vec<ToolSpec>,
    /// Tokens for the reply.
    pub(in crate::chat) room: u64,
}

/// Result of a question.
#[derive(Debug)]
pub(in crate::chat) struct AskOutcome {
    pub(in crate::chat) reply: Result<Reply, Failure>,
    /// Request options that worked.
    pub(in crate::chat) request_options: Arc<RequestOptions>,
    /// Deviations from the profile.
    pub(in crate::chat) lessons: Vec<String>,
    names: ToolNames,
}

impl AskOutcome {
    /// Returns true if a tool of this name was offered.
    pub(in crate::chat) fn is_known(&self, name: &str) -> bool {
        self.names.offers(name)
    }
}

impl TestQuestion {
    /// Returns a question for a word or two.
    pub(in crate::chat) fn words() -> Self {
        let messages = vec![
            system("You are being tried out. Do exactly what you are asked, and nothing else."),
            user("Answer with the word OK."),
        ];
        Self { messages, tools: Vec::new(), room: 1024 }
    }

    /// Returns a question for one call of a tool.
    pub(in crate::chat) fn one_call() -> Self {
        Self::calls("Call the tool for notes once, with the text blue. Do not answer in words.")
    }

    /// Returns a question for calls of a tool.
    pub(in crate::chat) fn calls(words: &str) -> Self {
        let messages = vec![
            system("You are being tried out. Do exactly what you are asked, and nothing else."),
            user(words),
        ];
        let parameters = json!({
            "type": "object",
            "properties": { "text": { "type": "string", "description": "The note." } },
            "required": ["text"],
            "additionalProperties": false
        });
        let description = "Writes down a note.".to_owned();
        let tools = vec![ToolSpec { name: TOOL.to_owned(), description, parameters }];
        Self { messages, tools, room: 4096 }
    }

    fn request(self) -> Request {
        Request {
            messages: Arc::new(self.messages.into_iter().map(Arc::new).collect()),
            tools: self.tools.into(),
            place: TurnPosition { node_id: Some(NODE.to_owned()), ..TurnPosition::default() },
            sha256: String::new(),
        }
    }
}

fn chat(endpoint: &Endpoint, client: &Client, question: &TestQuestion) -> Result<Chat, ModelError> {
    let mut endpoint = endpoint.clone();
    let room = endpoint.max_output.map_or(question.room, |most| most.min(question.room));
    endpoint.max_output = Some(room);
    Chat::new(endpoint, client)
}

/// Returns true if an answer is streamed on request. A server may silently send it as a whole.
pub(in crate::chat) fn streams(endpoint: &Endpoint, client: &Client) -> Result<bool, ModelError> {
    let question = TestQuestion::words();
    let chat = chat(endpoint, client, &question)?;
    let request_options = chat.request_options();
    if !request_options.streams {
        return Ok(false);
    }
    let exchange = chat.exchange(&question.request(), &request_options, &mut CachedBody::default());
    let mut request = exchange
        .http
        .post(exchange.url)
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "text/event-stream")
        .body(exchange.body);
    if let Some(key) = &endpoint.key {
        request = request.bearer_auth(key.expose_secret());
    }
    for (name, value) in &endpoint.headers {
        request = request.header(name, value.expose_secret());
    }
    let timeouts = endpoint.timeouts.first_byte;
    // The beginning of the answer is enough, so the rest is not read.
    let answer = client.block_on(async { tokio::time::timeout(timeouts, request.send()).await });
    let Ok(Ok(answer)) = answer else { return Ok(true) };
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    Ok(!answer.status().is_success() || !kind.is_some_and(|kind| kind.contains("json")))
}

pub(in crate::chat) fn system(words: &str) -> Message {
    Message::System { content: words.into() }
}

pub(in crate::chat) fn user(words: &str) -> Message {
    Message::User { content: words.into() }
}

/// Returns the profile with which the question was answered.
pub(in crate::chat) fn learned(asked: &AskOutcome) -> Profile {
    let mut profile = (*asked.request_options.profile).clone();
    profile.stream = asked.request_options.streams;
    profile.temperature &= asked.request_options.sends_temperature;
    profile
}

/// Returns the field in which a model sent its thoughts.
pub(in crate::chat) fn thoughts(reply: &Reply) -> Option<&'static str> {
    const FIELDS: [&str; 4] =
        ["reasoning_content", "reasoning", "reasoning_text", "reasoning_details"];
    FIELDS.into_iter().find(|field| match reply.extra.get(*field) {
        Some(Json::String(text)) => !text.trim().is_empty(),
        Some(Json::Array(parts)) => !parts.is_empty(),
        Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => false,
    })
}

/// Asks, learns from refusals, and retries once if that may help.
pub(in crate::chat) fn ask(
    endpoint: &Endpoint,
    client: &Client,
    question: TestQuestion,
) -> Result<AskOutcome, ModelError> {
    let chat = chat(endpoint, client, &question)?;
    let names = ToolNames::new(endpoint.profile.names, &question.tools);
    let request = question.request();
    let (until, mut cached) = (Deadline::default(), CachedBody::default());
    let (mut request_options, mut lessons, mut tries) = (chat.request_options(), Vec::new(), 0);
    loop {
        let exchange = chat.exchange(&request, &request_options, &mut cached);
        let failure = match chat.attempt(exchange, &mut |_| {}, &until) {
            Ok(reply) => {
                return Ok(AskOutcome { reply: Ok(reply), request_options, lessons, names });
            }
            Err(Failed { failure, .. }) => failure,
        };
        if let Some((better, why)) = request_options.learn(&failure) {
            request_options = Arc::new(better);
            lessons.push(why);
            continue;
        }
        tries += 1;
        let wait = failure.asked_wait().unwrap_or(Duration::from_millis(500));
        if tries > failure.retries(1) || wait > LONGEST_WAIT {
            return Ok(AskOutcome { reply: Err(failure), request_options, lessons, names });
        }
        // This wait cannot be cancelled.
        let _ = chat.pause(wait, &until);
    }
}
