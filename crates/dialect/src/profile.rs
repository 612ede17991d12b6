//! Profiles: differences between providers. The built-in ones are data, in `profiles.toml`; users may change every
//! field.

mod address;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

pub use crewagent_lenient::calls::CallsInText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use address::Address;
pub use address::endpoint;

/// Request format of one provider, or one server program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Profile {
    /// Name for people.
    pub title: String,
    /// Address of its endpoint, if it has a fixed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Ends of host names, or `host:port`, by which it is recognised in a base URL.
    pub hosts: Vec<String>,
    /// The environment variable in which its users keep the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// Need for a key.
    pub key: KeyRule,
    /// Names of tools that it accepts.
    pub names: NameForm,
    /// Ids of calls that it accepts.
    pub ids: IdForm,
    /// The role that the rules of the runtime are sent under.
    pub system_role: SystemRole,
    /// Positions that it accepts for system messages.
    pub systems: Systems,
    /// Number of user messages in a row that it accepts.
    pub users: Users,
    /// The field that bounds the reply.
    pub output_limit: OutputLimit,
    /// True if a temperature is sent, if the user sets one. Some models refuse any but their own.
    pub temperature: bool,
    /// True if replies are streamed.
    pub stream: bool,
    /// True if `stream_options.include_usage` is sent when streaming.
    pub stream_usage: bool,
    /// True if `"tool_choice": "auto"` is sent; it is the default everywhere.
    pub tool_choice: bool,
    /// Value of `parallel_tool_calls`, if it is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// Form in which the model's thoughts are sent back.
    pub reasoning: ReasoningEcho,
    /// Field in which they are sent back; the one in which they came if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_field: Option<String>,
    /// Text sent instead of empty thoughts where they are required and may not be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_placeholder: Option<String>,
    /// Other fields of an assistant message that are sent back unchanged, such as `reasoning_details`.
    pub echo: Vec<String>,
    /// True if unknown fields of a call, such as `extra_content`, are sent back.
    pub echo_calls: bool,
    /// Extra fields for calls of another model, if the provider refuses calls without them.
    pub foreign_call_extra: Map<String, Json>,
    /// Content of a message that only called tools.
    pub no_words: NoWords,
    /// True if an assistant message is required between a tool's answer and the user.
    pub speaks_after_tools: bool,
    /// Schemas of tools that it accepts.
    pub schemas: SchemaForm,
    /// Calls in the text of a reply that count as calls. Others are only reported. A boolean is read too: true means
    /// all, false never.
    pub calls_in_text: CallsInText,
    /// True if a request that is too long is silently cut at the front.
    pub cuts_silently: bool,
    /// The size of the window in tokens, where all its models share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Fields that every request carries, such as `thinking`.
    pub fields: Map<String, Json>,
    /// Differences of some of its models. All that match count, the last one most.
    pub models: Vec<ModelRule>,
}

/// Differences of some models of a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRule {
    /// Names of models. `*` means anything, and case does not matter.
    pub r#match: Vec<String>,
    /// Fields of the profile.
    #[serde(flatten)]
    pub changes: Map<String, Json>,
}

impl Default for Profile {
    /// Returns what the built-in profiles differ from. Every server accepts it.
    fn default() -> Self {
        Self {
            title: "Chat completions".to_owned(),
            base_url: None,
            hosts: Vec::new(),
            key_variable: None,
            key: KeyRule::Optional,
            names: NameForm::Plain,
            ids: IdForm::Safe,
            system_role: SystemRole::System,
            systems: Systems::OneInFront,
            users: Users::Joined,
            output_limit: OutputLimit::MaxTokens,
            temperature: true,
            stream: true,
            stream_usage: true,
            tool_choice: false,
            parallel_calls: None,
            reasoning: ReasoningEcho::Never,
            reasoning_field: None,
            reasoning_placeholder: None,
            echo: Vec::new(),
            echo_calls: true,
            foreign_call_extra: Map::new(),
            no_words: NoWords::Null,
            speaks_after_tools: false,
            schemas: SchemaForm::Plain,
            calls_in_text: CallsInText::Tagged,
            cuts_silently: false,
            window: None,
            fields: Map::new(),
            models: Vec::new(),
        }
    }
}

/// Built-in profiles, in the order in which they are shown.
const NAMES: [&str; 13] = [
    "openai",
    "anthropic",
    "gemini",
    "deepseek",
    "kimi",
    "qwen",
    "mistral",
    "openrouter",
    "ollama",
    "lm-studio",
    "llama-cpp",
    "vllm",
    GENERIC,
];

const GENERIC: &str = "generic";

impl Profile {
    /// Returns the built-in profile of this name.
    pub fn built_in(name: &str) -> Option<&'static Self> {
        static ALL: OnceLock<BTreeMap<String, Profile>> = OnceLock::new();
        // A test reads the file, so there is no error to report.
        let all =
            ALL.get_or_init(|| toml::from_str(include_str!("profiles.toml")).unwrap_or_default());
        all.get(name)
    }

    /// Returns the names of the built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.into_iter()
    }

    /// Returns the name of the built-in profile for an address: by its host, else by its port, else `generic`.
    pub fn recognise(base_url: &str) -> &'static str {
        let Ok(address) = Address::parse(base_url) else { return GENERIC };
        let of = |matches: &dyn Fn(&str) -> bool| {
            Self::names().find(|name| {
                Self::built_in(name)
                    .is_some_and(|profile| profile.hosts.iter().any(|host| matches(host)))
            })
        };
        of(&|host| address.is_at(host))
            .or_else(|| of(&|port| address.has_port(port)))
            .unwrap_or(GENERIC)
    }

    /// Returns this profile with some fields changed, named as in the file. The error describes the mistake.
    pub fn with(&self, changes: &Map<String, Json>) -> Result<Self, String> {
        let changed = self.replaced(changes)?;
        for rule in &changed.models {
            if rule.changes.contains_key("models") {
                return Err("`models` cannot stand within `models`".to_owned());
            }
            changed.replaced(&rule.changes).map_err(|problem| {
                format!("in `models` for {}: {problem}", rule.r#match.join(", "))
            })?;
        }
        Ok(changed)
    }

    /// Returns this profile for one of its models.
    pub fn for_model(&self, model: &str) -> Cow<'_, Self> {
        let mut changes = Map::new();
        for rule in &self.models {
            if rule.r#match.iter().any(|pattern| matches(pattern, model)) {
                changes.extend(rule.changes.clone());
            }
        }
        // Rules are checked where profiles are made, so an invalid rule is not reported again.
        if changes.is_empty() { None } else { self.replaced(&changes).ok() }
            .map_or(Cow::Borrowed(self), Cow::Owned)
    }

    fn replaced(&self, changes: &Map<String, Json>) -> Result<Self, String> {
        let problem = |error: serde_json::Error| error.to_string();
        let mut fields = match serde_json::to_value(self).map_err(problem)? {
            Json::Object(fields) => fields,
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
                Map::new()
            }
        };
        fields.extend(changes.clone());
        serde_json::from_value(Json::Object(fields)).map_err(problem)
    }
}

/// Returns true if a name matches a pattern in which `*` stands for anything.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_lowercase(), name.to_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

/// Need for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyRule {
    /// Nothing goes without one.
    Required,
    /// It is sent when there is one.
    Optional,
}

/// Accepted names of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NameForm {
    /// Letters, digits, `_` and `-`, a letter or `_` first, at most 64.
    Plain,
    /// Dots too.
    Dotted,
}

/// Accepted ids of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdForm {
    /// Letters, digits, `_` and `-`, at most 40. Ids that are so already stay.
    Safe,
    /// Exactly nine letters and digits.
    Nine,
    /// `functions.<name>:<number>`, counted over the request from 0.
    Numbered,
}

/// The role of the runtime's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`.
    Developer,
}

/// Accepted positions of system messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Systems {
    /// Anywhere, any number.
    AsTheyStand,
    /// One, at the front: those at the front become one, later ones are sent as the user.
    OneInFront,
    /// None: those at the front open the first message of the user, later ones are sent as the user.
    InUser,
}

/// Accepted number of user messages in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Users {
    /// One: neighbours become one, with a blank line between them.
    Joined,
    /// Any number.
    AsTheyStand,
}

/// The field that bounds the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimit {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// There is none.
    None,
}

/// Form in which the model's thoughts are sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningEcho {
    /// With every message that calls tools, even when there are none.
    Always,
    /// If there are any.
    WhenPresent,
    /// Not at all.
    Never,
    /// As a part of the content with the type `thinking`.
    AsPart,
}

/// Content of a message without text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoWords {
    /// `null`.
    Null,
    /// An empty text.
    Empty,
}

/// Accepted schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaForm {
    /// JSON Schema, without what some servers refuse: boolean schemas, tuples, siblings of `$ref`.
    Plain,
    /// The narrow subset: one type a value, enums of strings, no references, no unknown keywords.
    Narrow,
}
