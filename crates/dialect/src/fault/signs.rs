//! Fragments by which the providers' errors are recognised.

use super::FaultKind::{self, *};
use super::error_body::{BodyForm, ErrorBody};

/// Fragments, in lower case, of an error of this kind. All of a line must be present.
type FaultSign = &'static [&'static str];

/// Requests that can never succeed as they are, whatever the status says.
const TOO_LARGE: &[FaultSign] = &[
    &["request too large"],        // OpenAI 429 and Groq 413, on tokens per minute
    &["request_too_large"],        // Anthropic
    &["tokens must be reduced"],   // OpenAI
    &["payload too large"],        // proxies
    &["request entity too large"], // nginx
];

/// Errors of a request that does not fit the window. Every provider words it differently.
const WINDOW: &[FaultSign] = &[
    &["context_length_exceeded"],            // OpenAI, Azure, many others
    &["context length exceeded"],            //
    &["exceed_context_size"],                // llama.cpp
    &["exceeds the available context size"], // llama.cpp
    &["context size has been exceeded"],     // LM Studio
    &["input is too large to process"],      // llama.cpp, more than a batch
    &["exceed context window of"],           // llama-cpp-python
    &["exceeds the context window"],         // OpenAI
    &["exceeded the context window"],        //
    &["context window exceeds limit"],       // MiniMax
    &["context_window_exceeded"],            // z.ai, LiteLLM
    &["contextwindowexceeded"],              // LiteLLM
    &["maximum context length"], // OpenAI, DeepSeek, vLLM, OpenRouter, Mistral, Fireworks
    &["max context length"],     //
    &["maximum model length"],   // vLLM
    &["longer than the model's context length"], // SGLang
    &["greater than the context length"], // LM Studio
    &["context the overflows"],  // LM Studio, as it is spelt
    &["context length of only"], // LM Studio
    &["maximum prompt length"],  // xAI
    &["prompt is too long"],     // Anthropic, Fireworks
    &["prompt too long"],        // Ollama
    &["prompt tokens too long"], // Baidu
    &["prompt exceeds max length"], // z.ai
    &["input is too long"],      // Bedrock
    &["input length", "exceed"], // TGI, DashScope
    &["range of input length should be"], // DashScope
    &["input token count", "exceed"], // Gemini
    &["input tokens exceed"],    // Azure
    &["too many input tokens"],  // Bedrock
    &["exceeds the maximum number of tokens"], // Vertex
    &["exceeded model token limit"], // Kimi
    &["token limit exceeded"],   //
    &["exceeds the limit of", "token"], // Copilot
    &["reduce the length of the messages"], // Groq, Cerebras, OpenAI
    &["reduce the length of your"], //
    &["`inputs` tokens +"],      // TGI, Together
    &["`inputs` must have less than"], // TGI
    &["too many tokens: total number of tokens"], // Cohere
    &["too many tokens: size limit"], // Cohere
    &["max_seq_len"],            // SiliconFlow
    &["exceed max message tokens"], // Volcano
    &["max_prompt_tokens"],      //
    &["tokens_limit_reached"],   // GitHub Models
];

const CREDIT: &[FaultSign] = &[
    &["insufficient_quota"],          // OpenAI
    &["insufficient quota"],          //
    &["insufficient balance"],        // DeepSeek, MiniMax
    &["insufficient_balance"],        //
    &["insufficient credit"],         // OpenRouter
    &["insufficient fund"],           //
    &["balance is not enough"],       // SiliconFlow
    &["balance is insufficient"],     // SiliconFlow
    &["not enough balance"],          //
    &["balance is too low"],          // Anthropic
    &["requires more credits"],       // OpenRouter
    &["out of credits"],              //
    &["available credits"],           // xAI
    &["exceeded_current_quota"],      // Kimi
    &["exceeded your current quota"], // OpenAI; Gemini says so of limits a minute, with a wait
    &["billing_hard_limit_reached"],  // OpenAI
    &["billing_not_active"],          // OpenAI
    &["arrearage"],                   // DashScope
    &["freetieronly"],                // DashScope
    &["spending limit"],              // xAI, Together
    &["payment required"],            //
    &["key limit exceeded"],          // OpenRouter
];

const FILTER: &[FaultSign] = &[
    &["content_filter"],               // Azure
    &["responsibleaipolicyviolation"], // Azure
    &["content_policy_violation"],     // OpenAI
    &["content management policy"],    // Azure
    &["data_inspection_failed"],       // DashScope
    &["datainspectionfailed"],         // DashScope
    &["inappropriate content"],        // DashScope
    &["content exists risk"],          // DeepSeek
    &["violates usage guidelines"],    // xAI
    &["usage policies"],               // OpenAI
    &["invalid_prompt"],               // OpenAI
    &["moderation"],                   // OpenRouter, with the reasons
    &["flagged_input"],                //
    &["sensitive content"],            // z.ai, MiniMax
    &["contentfilter"],                // z.ai
    &["prohibited_content"],           // Gemini
    &["high risk", "rejected"],        // Kimi
];

const NO_TOOLS: &[FaultSign] = &[
    &["does not support tools"],                 // Ollama
    &["does not support tool use"],              //
    &["does not support tool call"],             //
    &["doesn't support tool"],                   //
    &["not support function call"],              //
    &["tool calling is not supported"],          // Groq
    &["tool use is not supported"],              //
    &["tools is not supported"],                 //
    &["tools are not supported"],                //
    &["function calling is not enabled"],        // Gemini
    &["function calling is not supported"],      //
    &["support tool use"],                       // OpenRouter: no endpoints found that …
    &["enable-auto-tool-choice"],                // vLLM
    &["tool-call-parser"],                       // vLLM, SGLang
    &["requires --jinja"],                       // llama.cpp
    &["use_jinja"],                              // llama.cpp
    &["jinja", "tool"],                          // llama.cpp
    &["unsupported parameter", "tools"],         //
    &["unrecognized request argument", "tools"], //
];

const NO_STREAMING: &[FaultSign] = &[
    &["does not support stream"],
    &["doesn't support stream"],
    &["streaming is not supported"],
    &["streaming not supported"],
    &["stream is not supported"],
    &["stream mode is not supported"],
    &["not support streaming"],
    &["stream must be false"],
    &["unsupported_value", "'stream'"], // OpenAI, organisations that are not verified
    &["must be verified to stream"],    // OpenAI
];

const MODEL_OUTPUT: &[FaultSign] = &[
    &["output that does not match the expected"], // llama.cpp
    &["failed to parse input at pos"],            // llama.cpp
    &["error parsing tool call"],                 // Ollama
    &["tool_use_failed"],                         // Groq
    &["failed to call a function"],               // Groq
    &["output_parse_failed"],                     // Groq
    &["tool call validation failed"],             // Groq
    &["malformed_function_call"],                 // Gemini
    &["unexpected tokens remaining in message"],  // vLLM, gpt-oss
    &["could not parse the tool call"],           //
];

const AUTH: &[FaultSign] = &[
    &["invalid_api_key"],
    &["invalid api key"],
    &["invalid api-key"],
    &["incorrect api key"],
    &["api key not valid"], // Gemini, with a 400
    &["api_key_invalid"],   // Gemini
    &["api key expired"],
    &["api key not found"],
    &["api key is missing"],
    &["missing api key"],
    &["no api key"],
    &["api secret key"], // MiniMax
    &["invalid x-api-key"],
    &["authentication_error"],
    &["authentication fails"],
    &["missing authentication header"],
    &["no auth credentials"],
    &["invalidapikey"],
    &["no_db_connection"], // LiteLLM, a key that it does not know
    &["unauthorized"],
    &["permission_denied"],
    &["permission_error"],
];

const NO_MODEL: &[FaultSign] = &[
    &["model_not_found"],
    &["model not found"],
    &["model not exist"], // DeepSeek
    &["model_not_exist"],
    &["no such model"],
    &["unknown model"],
    &["unknown_model"],
    &["invalid model"], // Mistral
    &["invalid_model"],
    &["not a valid model"],           // OpenRouter
    &["model", "does not exist"],     // OpenAI, vLLM
    &["not found the model"],         // Kimi
    &["models/", "is not found for"], // Gemini
    &["model_decommissioned"],        // Groq
    &["has been decommissioned"],     // Groq
    &["no endpoints found for"],      // OpenRouter
    &["no healthy deployments"],      // LiteLLM
    &["no models loaded"],            // LM Studio
    &["failed to load model"],        // LM Studio
];

const NO_ENDPOINT: &[FaultSign] = &[
    &["unexpected endpoint or method"], // LM Studio, with a 200
    &["page not found"],
    &["no route"],
    &["unknown request url"],
    &["invalid url"],
    &["method not allowed"],
];

const RATE: &[FaultSign] = &[
    &["rate limit"],
    &["rate_limit"],
    &["ratelimit"],
    &["too many requests"],
    &["too_many_requests"],
    &["throttl"],
    &["resource_exhausted"], // Gemini
    &["requests per minute"],
    &["tokens per minute"],
    &["tokens per min"],
    &["max organization concurrency"], // Kimi
    &["concurrency limit"],
];

const SERVER: &[FaultSign] = &[
    &["overloaded"],
    &["server_error"],
    &["internal server error"],
    &["internalservererror"],
    &["internal_error"],
    &["server_busy"],
    &["server busy"],
    &["temporarily unavailable"],
    &["service unavailable"],
    &["bad gateway"],
    &["gateway timeout"],
    &["timed out"],
    &["loading model"], // llama.cpp
    &["no available"],
    &["at capacity"],
    &["over capacity"],
    &["capacity exceeded"], // Groq
    &["capacity_exceeded"], // Groq
    &["out of memory"],
];

const REJECTED: &[FaultSign] = &[
    &["invalid_request"],
    &["invalid request"],
    &["badrequest"],
    &["bad_request"],
    &["validation"],
    &["invalid_argument"],
];

/// More precise advice: the kind, a fragment of the message, the advice.
pub(super) const ADVICE: &[(FaultKind, &str, &str)] = &[
    (
        NoTools,
        "tool-call-parser",
        "Start vLLM with `--enable-auto-tool-choice` and the `--tool-call-parser` of this model.",
    ),
    (
        NoTools,
        "auto-tool-choice",
        "Start vLLM with `--enable-auto-tool-choice` and the `--tool-call-parser` of this model.",
    ),
    (
        NoTools,
        "jinja",
        "Start llama-server with `--jinja`, so that the model's own template for tools is used.",
    ),
    (
        NoTools,
        "support tool use",
        "None of the providers behind this model takes tools. Choose another model, or allow more providers in the account.",
    ),
    (NoModel, "try pulling", "Fetch the model first: `ollama pull MODEL`."),
    (NoModel, "loaded", "Load a model in LM Studio first, or switch on loading when it is needed."),
    (
        Window,
        "loaded with context length",
        "Load the model in LM Studio with a longer context, or choose a model with a larger window.",
    ),
    (
        Window,
        "available context size",
        "Start llama-server with a larger context (`-c`), or choose a model with a larger window.",
    ),
    (
        Window,
        "physical batch size",
        "Start llama-server with a larger batch (`-b` and `-ub`), or make the request smaller.",
    ),
    (
        Window,
        "per min",
        "The request alone is more than the account may send in a minute. Ask for a higher tier, or choose another model.",
    ),
    (
        NoStreaming,
        "verified",
        "Verify the organisation with the provider, or turn streaming off: set `stream = false` in the profile.",
    ),
    (
        Auth,
        "data policy",
        "Change the privacy settings in the account of the provider, or choose another model.",
    ),
    (
        Server,
        "loading model",
        "The server is still loading the model. Resume the run when it is ready.",
    ),
];

/// Error texts in lower case, to search for signs.
struct ErrorText {
    /// Codes and types.
    codes: String,
    /// Codes, types and messages.
    all: String,
}

impl ErrorText {
    fn have(&self, signs: &[FaultSign]) -> bool {
        signs.iter().any(|sign| sign.iter().all(|part| self.all.contains(part)))
    }

    /// Returns true if the codes alone match. Messages may quote the request.
    fn are_coded(&self, signs: &[FaultSign]) -> bool {
        signs.iter().any(|sign| sign.iter().all(|part| self.codes.contains(part)))
    }

    fn first(&self, kinds: &[FaultKind]) -> Option<FaultKind> {
        kinds.iter().copied().find(|kind| self.have(signs_of(*kind)))
    }

    fn name_a_model(&self) -> bool {
        self.all.split(|c: char| !c.is_alphanumeric()).any(|word| word == "model")
    }
}

/// Returns the kind of an error. `status` is that of the answer, or the one inside the error.
pub(super) fn kind(status: Option<u16>, told: &ErrorBody, has_wait: bool) -> FaultKind {
    let words = ErrorText { codes: told.codes(), all: told.text() };
    match status {
        Some(401) => Auth,
        Some(402) => Credit,
        Some(403) => words.first(&[Filter, Credit, NoModel, Rate]).unwrap_or(Auth),
        Some(404) if told.form == BodyForm::Page => NoEndpoint,
        Some(404) if words.all.contains("data policy") => Auth,
        Some(404) => words
            .first(&[NoTools, NoModel, NoEndpoint])
            .unwrap_or(if words.name_a_model() { NoModel } else { NoEndpoint }),
        Some(405) => NoEndpoint,
        Some(408 | 409 | 425) => Server,
        Some(413) => Window,
        Some(429) if words.have(TOO_LARGE) => Window,
        Some(429) if !has_wait && words.have(CREDIT) => Credit,
        Some(429) => Rate,
        // Cerebras sends an empty body when the window is full.
        Some(400) if told.form == BodyForm::Empty => Window,
        Some(400 | 422) => refused(&words, has_wait),
        Some(501 | 505) => Rejected,
        // Some servers report our mistakes as their own.
        Some(500) if words.all.contains("validation error") => Rejected,
        Some(500..=599) => {
            let kinds = [NoTools, ModelOutput, Window, NoModel, Filter, NoStreaming];
            words.first(&kinds).unwrap_or(Server)
        }
        Some(300..=399) => NoEndpoint,
        Some(400..=499) => by_words(&words, has_wait).unwrap_or(Rejected),
        Some(_) | None => match told.form {
            BodyForm::Empty => CutOff,
            BodyForm::Page => NoEndpoint,
            BodyForm::Text | BodyForm::Other => Malformed,
            BodyForm::Error => by_words(&words, has_wait).unwrap_or(Server),
        },
    }
}

/// Classifies a refused request by its texts. It is retried only if a code permits it.
fn refused(words: &ErrorText, has_wait: bool) -> FaultKind {
    match by_words(words, has_wait) {
        Some(Rate) if !words.are_coded(RATE) => words.first(REFUSALS).unwrap_or(Rejected),
        Some(Server) if !words.are_coded(SERVER) => Rejected,
        kind => kind.unwrap_or(Rejected),
    }
}

/// Kinds to search for in texts, the most reliable first.
const REFUSALS: &[FaultKind] =
    &[NoTools, Window, Credit, ModelOutput, Filter, NoStreaming, Auth, NoEndpoint, NoModel];

/// Classifies an error by its texts alone.
fn by_words(words: &ErrorText, has_wait: bool) -> Option<FaultKind> {
    if words.have(TOO_LARGE) {
        return Some(Window);
    }
    if words.have(RATE) && (has_wait || !words.have(CREDIT)) {
        return Some(Rate);
    }
    words.first(REFUSALS).or_else(|| words.first(&[Server, Rejected]))
}

fn signs_of(kind: FaultKind) -> &'static [FaultSign] {
    match kind {
        Auth => AUTH,
        Credit => CREDIT,
        Rate => RATE,
        Window => WINDOW,
        NoModel => NO_MODEL,
        NoEndpoint => NO_ENDPOINT,
        NoTools => NO_TOOLS,
        NoStreaming => NO_STREAMING,
        Filter => FILTER,
        Rejected => REJECTED,
        Server => SERVER,
        ModelOutput => MODEL_OUTPUT,
        CutOff | Malformed | TooLong => &[],
    }
}
