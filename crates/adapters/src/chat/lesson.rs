//! Learning from refusals: a server that names the one field it does not accept is asked again without it.

use std::sync::Arc;

use crewagent_dialect::fault::FaultKind;
use crewagent_dialect::profile::{NoWords, OutputLimit, Profile, ReasoningEcho, SystemRole};
use crewagent_engine::model::Endpoint;

use super::failure::Failure;

/// Options of requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestOptions {
    pub(super) profile: Arc<Profile>,
    pub(super) streams: bool,
    pub(super) sends_temperature: bool,
}

impl RequestOptions {
    /// Returns the options of the profile.
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        let profile = endpoint.profile.for_model(&endpoint.model).into_owned();
        Self { streams: profile.stream, sends_temperature: true, profile: Arc::new(profile) }
    }

    /// Returns options that may work better, with a description of the change. Every change removes something, so
    /// learning ends.
    pub(super) fn learn(&self, failure: &Failure) -> Option<(Self, String)> {
        let Failure::Fault(fault) = failure else { return None };
        if fault.kind == FaultKind::NoStreaming && self.streams {
            let why = "The server does not stream, so the reply will come as a whole.";
            return Some((Self { streams: false, ..self.clone() }, why.to_owned()));
        }
        if fault.kind != FaultKind::Rejected {
            return None;
        }
        let said = fault.said.as_deref()?.to_lowercase();
        let profile = &self.profile;
        let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
        let with = |change: &dyn Fn(&mut Profile)| {
            let mut profile = (**profile).clone();
            change(&mut profile);
            Self { profile: Arc::new(profile), ..self.clone() }
        };
        if profile.stream_usage && has(&["stream_options", "include_usage"]) {
            let why = "The server takes no `stream_options`, so it is asked without them.";
            return Some((with(&|profile| profile.stream_usage = false), why.to_owned()));
        }
        if profile.output_limit == OutputLimit::MaxTokens && has(&["max_completion_tokens"]) {
            let why = "The server wants `max_completion_tokens` instead of `max_tokens`.";
            return Some((
                with(&|profile| profile.output_limit = OutputLimit::MaxCompletionTokens),
                why.to_owned(),
            ));
        }
        if self.sends_temperature && has(&["temperature"]) {
            let why = "The server does not take this temperature, so it is asked without one.";
            return Some((Self { sends_temperature: false, ..self.clone() }, why.to_owned()));
        }
        if profile.parallel_calls.is_some() && has(&["parallel_tool_calls"]) {
            let why = "The server takes no `parallel_tool_calls`, so it is asked without them.";
            return Some((with(&|profile| profile.parallel_calls = None), why.to_owned()));
        }
        if profile.tool_choice && has(&["tool_choice"]) {
            let why = "The server takes no `tool_choice`, so it is asked without it.";
            return Some((with(&|profile| profile.tool_choice = false), why.to_owned()));
        }
        if profile.system_role == SystemRole::Developer && has(&["developer"]) {
            let why = "The server knows no role `developer`, so `system` is used.";
            return Some((
                with(&|profile| profile.system_role = SystemRole::System),
                why.to_owned(),
            ));
        }
        if profile.no_words == NoWords::Null && has(&["valid string", "content must be a string"]) {
            let why = "The server wants an empty text where a reply has no words.";
            return Some((with(&|profile| profile.no_words = NoWords::Empty), why.to_owned()));
        }
        if profile.reasoning == ReasoningEcho::Never && has(&["reasoning_content"]) {
            let why = "The server wants the model's thoughts back, so they are sent.";
            return Some((
                with(&|profile| profile.reasoning = ReasoningEcho::Always),
                why.to_owned(),
            ));
        }
        None
    }
}
