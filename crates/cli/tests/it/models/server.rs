//! A server of chat completions with the deviations that a test selects.

use std::io::Write as _;
use std::net::TcpListener;

use crewagent_testkit::model_server::{AfterAnswer, HttpRequest, ModelServer};
use serde_json::{Value as Json, json};

/// Deviations of the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quirks {
    pub(crate) no_stream: bool,
    pub(crate) no_usage: bool,
    /// Answers are whole, also when a stream is requested.
    pub(crate) whole: bool,
    pub(crate) no_tools: bool,
    pub(crate) no_calls: bool,
    pub(crate) no_dots: bool,
    pub(crate) no_null: bool,
    pub(crate) no_middle: bool,
    pub(crate) new_limit: bool,
    pub(crate) one_call: bool,
    pub(crate) thinks: bool,
    /// Key that it requires.
    pub(crate) key: Option<&'static str>,
    /// Every answer is this web page.
    pub(crate) page: Option<(u16, &'static str)>,
}

pub(crate) struct Server {
    /// None when nothing listens.
    http: Option<ModelServer>,
    url: String,
}

impl Server {
    pub(crate) fn new(quirks: Quirks) -> Self {
        let http = ModelServer::start(move |_, request, stream| {
            let _ = stream.write_all(quirks.answer(request).as_bytes());
            AfterAnswer::Close
        });
        let http = http.unwrap();
        Self { url: http.url(), http: Some(http) }
    }

    /// Returns an address at which nothing listens any more.
    pub(crate) fn gone() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Self { url: format!("http://{}/v1", listener.local_addr().unwrap()), http: None }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    pub(crate) fn seen(&self) -> Vec<HttpRequest> {
        self.http.as_ref().map(ModelServer::requests).unwrap_or_default()
    }
}

fn answer(status: u16, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn complaint(status: u16, words: &str) -> String {
    let body = json!({ "error": { "message": words, "type": "invalid_request_error" } });
    answer(status, "application/json", &body.to_string())
}

impl Quirks {
    fn answer(&self, request: &HttpRequest) -> String {
        if let Some((status, page)) = self.page {
            return answer(status, "text/html", page);
        }
        if let Some(key) = self.key
            && !request.head.contains(&format!("Bearer {key}\r\n"))
        {
            return complaint(401, "Incorrect API key provided");
        }
        if request.line.starts_with("GET /v1/models ") {
            let models = json!({ "data": [
                { "id": "m1", "context_length": 32_000 },
                { "id": "m2" },
            ] });
            return answer(200, "application/json", &models.to_string());
        }
        if !request.line.starts_with("POST /v1/chat/completions ") {
            return answer(404, "text/html", "<html>nothing here</html>");
        }
        match self.refusal(&request.body) {
            Some((status, words)) => complaint(status, words),
            None => self.reply(&request.body),
        }
    }

    fn refusal(&self, body: &Json) -> Option<(u16, &'static str)> {
        let messages = body["messages"].as_array().unwrap();
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let has_dot = |tool: &Json| tool["function"]["name"].as_str().unwrap().contains('.');
        let is_null =
            |message: &Json| message["role"] == "assistant" && message["content"].is_null();
        let late = |message: &Json| message["role"] == "system";
        if !["m1", "m2"].contains(&body["model"].as_str().unwrap()) {
            Some((404, "The model `x` does not exist"))
        } else if self.no_stream && body["stream"] == true {
            Some((400, "streaming is not supported by this model"))
        } else if self.no_tools && !tools.is_empty() {
            Some((400, "this model does not support tools"))
        } else if self.no_dots && tools.iter().any(has_dot) {
            Some((400, "Invalid 'tools[0].function.name': string does not match pattern"))
        } else if self.no_null && messages.iter().any(is_null) {
            Some((400, "content must be a string"))
        } else if self.no_middle && messages.iter().skip(1).any(late) {
            Some((400, "System message must be at the beginning."))
        } else if self.new_limit && body["max_tokens"].is_u64() {
            Some((400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."))
        } else {
            None
        }
    }

    fn reply(&self, body: &Json) -> String {
        let last = body["messages"].as_array().unwrap().last().unwrap();
        let said = last["content"].as_str().unwrap_or_default();
        let call = |index: usize, text: &str| {
            json!({
                "index": index,
                "id": format!("call_{index}"),
                "type": "function",
                "function": {
                    "name": body["tools"][0]["function"]["name"],
                    "arguments": json!({ "text": text }).to_string(),
                },
            })
        };
        let wants_call = said.contains("Call the tool") && !self.no_calls;
        let limit = body["max_tokens"].as_u64().or(body["max_completion_tokens"].as_u64());
        let (mut message, finish) = if wants_call && said.contains("two times") && !self.one_call {
            (json!({ "tool_calls": [call(0, "red"), call(1, "green")] }), "tool_calls")
        } else if wants_call {
            (json!({ "tool_calls": [call(0, "blue")] }), "tool_calls")
        } else if said.starts_with("Count") && limit.is_some() {
            (json!({ "content": "1 2 3 4 5" }), "length")
        } else {
            (json!({ "content": "OK" }), "stop")
        };
        if self.thinks {
            message["reasoning_content"] = json!("Let me see.");
        }
        message["role"] = json!("assistant");
        let usage = match self.no_usage {
            true => Json::Null,
            false => json!({ "prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25 }),
        };
        if body["stream"] != true || self.whole {
            let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
            let body = json!({ "id": "x", "choices": [choice], "usage": usage });
            return answer(200, "application/json", &body.to_string());
        }
        let first = json!({ "choices": [{ "index": 0, "delta": message }] });
        let last = json!({
            "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }], "usage": usage,
        });
        let body = format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n");
        answer(200, "text/event-stream", &body)
    }
}
