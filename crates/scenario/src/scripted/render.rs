//! Turns a line of a scenario into the reply to a request.

use crewagent_core::event::Reply;
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::usage::Usage;
use crewagent_engine::model::Request;
use serde_json::{Map, Value as Json};

use super::scenario::{Arguments, JsonTemplate, ScriptCall, ScriptLine};
use super::view::RequestView;

/// Returns the reply, or the template that could not be filled.
pub(super) fn reply(
    line: &ScriptLine,
    view: &RequestView<'_>,
    request: &Request,
) -> Result<Reply, String> {
    let content = line.say.as_ref().map(|say| say.text(view)).transpose()?;
    let mut extra = Map::new();
    if let Some(think) = &line.think {
        extra.insert("reasoning_content".to_owned(), think.text(view)?.into());
    }
    let mut reply = Reply {
        content: content.filter(|text| !text.is_empty()),
        finish: line.finish,
        extra,
        ..Reply::default()
    };
    for call in &line.calls {
        for number in 1..=call.times {
            view.set_number(number);
            let call = tool_call(call, view, reply.tool_calls.len() + 1)?;
            reply.tool_calls.push(call);
        }
    }
    reply.usage = line.usage.unwrap_or_else(|| estimate(request, &reply));
    Ok(reply)
}

fn tool_call(
    call: &ScriptCall,
    view: &RequestView<'_>,
    position: usize,
) -> Result<ToolCall, String> {
    let arguments = match &call.arguments {
        Arguments::Value(shape) => fill(shape, view)?.to_string(),
        Arguments::Raw(template) => template.text(view)?,
    };
    let id = call.id.clone();
    let id = id.unwrap_or_else(|| format!("call_{}_{position}", view.place().turn));
    Ok(ToolCall { id, name: call.tool.clone(), arguments: arguments.into(), extra: Map::new() })
}

fn fill(shape: &JsonTemplate, view: &RequestView<'_>) -> Result<Json, String> {
    match shape {
        JsonTemplate::Text(template) => template.value(view),
        JsonTemplate::Plain(value) => Ok(value.clone()),
        JsonTemplate::List(items) => items.iter().map(|item| fill(item, view)).collect(),
        JsonTemplate::Map(entries) => {
            let filled = entries.iter().map(|(key, value)| Ok((key.clone(), fill(value, view)?)));
            filled.collect::<Result<Map<_, _>, String>>().map(Json::Object)
        }
    }
}

/// Estimates the usage at about four bytes per token, as with most models.
fn estimate(request: &Request, reply: &Reply) -> Usage {
    let sent: u64 = request.messages.iter().map(|message| message.bytes()).sum();
    let answer = Message::Assistant {
        content: reply.content.as_deref().map(Into::into),
        tool_calls: reply.tool_calls.clone(),
        from: None,
        extra: Map::new(),
    };
    Usage {
        input_tokens: sent.div_ceil(4),
        output_tokens: answer.bytes().div_ceil(4),
        ..Usage::default()
    }
}
