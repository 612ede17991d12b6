//! Request to a model, and its outcome.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crewagent_adapters::chat::{Chat, Client};
use crewagent_core::call::schema;
use crewagent_core::event::{Channel, Reply};
use crewagent_core::message::Message;
use crewagent_core::policy::Policy;
use crewagent_dialect::profile::{NoWords, Profile};
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::model::{Endpoint, Timeouts};
use crewagent_engine::model::{
    Model, ModelError, ModelErrorKind, Progress, Request, RequestCache, Retry, TurnPosition,
};
use serde_json::{Map, Value as Json, json};

use crate::servers::{KEY, Server};

/// Returns the model at an endpoint. All share one connection pool, as in a process with many runs.
pub(crate) fn chat(endpoint: Endpoint) -> Chat {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    Chat::new(endpoint, CLIENT.get_or_init(|| Client::new().unwrap())).unwrap()
}

/// Returns the endpoint of a server's model, without retries.
pub(crate) fn endpoint(server: &Server, model: &str) -> Endpoint {
    Endpoint {
        name: model.to_owned(),
        base_url: server.base_url.clone(),
        model: model.to_owned(),
        profile_name: "generic".to_owned(),
        // llama-cpp-python does not accept `null` there.
        profile: Profile { no_words: NoWords::Empty, ..Profile::default() },
        key: Some(KEY.into()),
        headers: Vec::new(),
        max_output: None,
        temperature: None,
        window: None,
        price: None,
        timeouts: Timeouts { retries: 0, call: Duration::from_secs(300), ..Timeouts::default() },
    }
}

/// Turns streaming off.
pub(crate) fn whole(mut endpoint: Endpoint) -> Endpoint {
    endpoint.profile.stream = false;
    endpoint
}

/// Forces the model to call this tool.
pub(crate) fn forced(mut endpoint: Endpoint, tool: &str) -> Endpoint {
    let choice = json!({"type": "function", "function": {"name": tool}});
    endpoint.profile.fields = Map::from_iter([("tool_choice".to_owned(), choice)]);
    endpoint
}

/// Limits the tokens of the reply.
pub(crate) fn at_most(mut endpoint: Endpoint, tokens: u64) -> Endpoint {
    endpoint.max_output = Some(tokens);
    endpoint
}

/// Returns a short conversation with our tools.
pub(crate) fn with_tools() -> Request {
    Request { tools: schema::tools(&Policy::default()).into(), ..plain() }
}

/// Returns a short conversation without tools.
pub(crate) fn plain() -> Request {
    conversation(vec![Message::system("Be brief."), Message::user("Hello, wörld 🙂")])
}

pub(crate) fn conversation(messages: Vec<Message>) -> Request {
    Request {
        messages: Arc::new(messages.into_iter().map(Arc::new).collect()),
        tools: Arc::new([]),
        place: TurnPosition::default(),
        sha256: String::new(),
    }
}

/// Outcome of a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) end: Result<Reply, ModelError>,
    /// Text as emitted since the last attempt.
    pub(crate) words: String,
    pub(crate) tries: Vec<Retry>,
}

impl Answer {
    /// Returns the reply, after checking that the emitted text equals its own.
    #[track_caller]
    pub(crate) fn reply(self) -> Reply {
        let reply = self.end.unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(reply.content.as_deref().unwrap_or_default().trim(), self.words.trim());
        reply
    }

    #[track_caller]
    pub(crate) fn error(self) -> ModelError {
        let error = self.end.expect_err("this cannot be answered");
        assert!(!error.message.contains(KEY), "{error}");
        error
    }

    #[track_caller]
    pub(crate) fn check_error(self, kind: ModelErrorKind) {
        let error = self.error();
        assert_eq!(error.kind, kind, "{error}");
    }
}

pub(crate) fn ask(endpoint: Endpoint, request: &Request) -> Answer {
    ask_and(endpoint, request, &mut |_| {})
}

/// Asks, and calls a function with every piece of the reply.
pub(crate) fn ask_and(
    endpoint: Endpoint,
    request: &Request,
    each: &mut dyn FnMut(&Cancel),
) -> Answer {
    let model = chat(endpoint);
    let cancel = Cancel::default();
    let (mut words, mut tries) = (String::new(), Vec::new());
    let mut tell = |progress| match progress {
        Progress::Delta(delta) => {
            if delta.channel == Channel::Text {
                words.push_str(&delta.text);
                each(&cancel);
            }
        }
        Progress::Retry(again) => {
            tries.push(again);
            words.clear();
        }
    };
    let end =
        model.reply(request, &mut RequestCache::default(), &mut tell, &Deadline::whenever(&cancel));
    Answer { end, words, tries }
}

/// Returns the arguments of the only call, if they are complete.
#[track_caller]
fn parsed(reply: &Reply) -> Option<Json> {
    let [call] = reply.tool_calls.as_slice() else { panic!("not one call: {reply:?}") };
    serde_json::from_str(call.arguments.inline().unwrap()).ok()
}

/// Returns the arguments of the only call, which may be executed.
#[track_caller]
pub(crate) fn arguments(reply: &Reply) -> Json {
    parsed(reply).filter(Json::is_object).unwrap_or_else(|| panic!("a broken call: {reply:?}"))
}

/// Checks that the only call stays cut off and is not repaired, so that it cannot be mistaken for a complete one.
#[track_caller]
pub(crate) fn check_cut(reply: &Reply) {
    assert_eq!(parsed(reply), None, "{reply:?}");
}
