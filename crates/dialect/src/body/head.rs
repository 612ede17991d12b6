//! The part of a request before its messages.

use std::sync::Arc;

use crewagent_core::tool::ToolSpec;
use serde_json::{Value as Json, json};

use super::Options;
use super::object::{ObjectWriter, write};
use crate::names::ToolNames;
use crate::profile::OutputLimit;
use crate::schema::sanitise;

/// Fields that a profile may not set, because they would change the request itself.
const OURS: [&str; 5] = ["model", "messages", "stream", "tools", "functions"];

/// Tools as last rendered.
#[derive(Debug, Default)]
pub(super) struct RenderedTools {
    of: Option<Arc<[ToolSpec]>>,
    json: Vec<u8>,
}

/// Renders everything up to the first message. `called` are the tools that messages call.
pub(super) fn render(
    options: &Options<'_>,
    names: &ToolNames,
    tools: &Arc<[ToolSpec]>,
    called: &[String],
    rendered: &mut RenderedTools,
) -> Vec<u8> {
    let profile = options.profile;
    let mut out = Vec::new();
    let mut head = ObjectWriter::new(&mut out);
    let fields = || {
        profile
            .fields
            .iter()
            .filter(|(key, value)| !OURS.contains(&key.as_str()) && !value.is_null())
    };
    let mut put = |key: &str, value: Json| {
        // A field of a profile overrides ours.
        if !fields().any(|(field, _)| field == key) {
            head.put(key, &value);
        }
    };
    put("model", options.model.into());
    if options.stream {
        put("stream", true.into());
        if profile.stream_usage {
            put("stream_options", json!({ "include_usage": true }));
        }
    }
    let limit = match profile.output_limit {
        OutputLimit::MaxTokens => Some("max_tokens"),
        OutputLimit::MaxCompletionTokens => Some("max_completion_tokens"),
        OutputLimit::None => None,
    };
    if let (Some(key), Some(most)) = (limit, options.max_output) {
        put(key, most.into());
    }
    let temperature =
        options.temperature.filter(|number| profile.temperature && number.is_finite());
    if let Some(temperature) = temperature {
        put("temperature", temperature.into());
    }
    // Some providers refuse calls in the history of a request without tools.
    let has_tools =
        if options.tools { !tools.is_empty() || !called.is_empty() } else { !called.is_empty() };
    if has_tools {
        if let Some(parallel) = profile.parallel_calls {
            put("parallel_tool_calls", parallel.into());
        }
        if profile.tool_choice {
            put("tool_choice", if options.tools { "auto" } else { "none" }.into());
        }
    }
    for (key, value) in fields() {
        head.put(key, value);
    }
    if has_tools {
        rendered.write(head.key("tools"), options, names, tools, called);
    }
    head.key("messages").push(b'[');
    out
}

impl RenderedTools {
    fn write(
        &mut self,
        out: &mut Vec<u8>,
        options: &Options<'_>,
        names: &ToolNames,
        tools: &Arc<[ToolSpec]>,
        called: &[String],
    ) {
        if tools.is_empty() {
            let gone = |name: &String| tool(name, "No longer available.", &json!({}), options);
            return write(out, &called.iter().map(gone).collect::<Vec<_>>());
        }
        if !self.of.as_ref().is_some_and(|known| Arc::ptr_eq(known, tools)) {
            let list = tools.iter().map(|spec| {
                tool(&names.wire(&spec.name), &spec.description, &spec.parameters, options)
            });
            self.json.clear();
            write(&mut self.json, &list.collect::<Vec<_>>());
            self.of = Some(tools.clone());
        }
        out.extend_from_slice(&self.json);
    }
}

fn tool(name: &str, description: &str, parameters: &Json, options: &Options<'_>) -> Json {
    let mut function = json!({ "name": name });
    if !description.trim().is_empty() {
        function["description"] = description.into();
    }
    function["parameters"] = sanitise(parameters, options.profile.schemas);
    json!({ "type": "function", "function": function })
}
