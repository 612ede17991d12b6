//! Calls as they are recorded: with the name of the tool that is meant, and with arguments that every provider can read.
//!
//! The history then shows the model the right form, and a replay needs no repair.

use crewagent_lenient::json::Repair;
use serde_json::{Map, Value as Json};

use super::arguments::understand;
use crate::event::{Finish, RepairedCall, Reply};
use crate::tool::server_tool::{is_server_tool, own_name};
use crate::tool::{Tool, ToolSpec, without_prefix};

/// Maximum size of arguments that are repaired, in bytes.
const MOST_BYTES: usize = 32 << 20;

/// Arguments that could be read after repairs.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The arguments as compact JSON.
    pub text: String,
    pub value: Map<String, Json>,
    /// Kinds of repairs, each once.
    pub repairs: Vec<Repair>,
}

/// Repairs the arguments of a call. Returns none if they need no repair, or cannot be repaired.
pub fn repair_arguments(name: &str, text: &str) -> Option<Repaired> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let arguments = understand(Tool::named(name), text).ok()?;
    if arguments.repairs.is_empty() {
        return None;
    }
    let value = arguments.object;
    let text = serde_json::to_string(&value).ok()?;
    Some(Repaired { text, value, repairs: arguments.repairs })
}

/// Repairs the calls of a reply before it is recorded. Nothing is repaired in a call that was cut by length, which is
/// the last one. `offered` are the tools of the request.
pub fn repair_calls(reply: &mut Reply, offered: &[ToolSpec]) {
    let last = reply.tool_calls.len().checked_sub(1);
    let cut = last.filter(|_| reply.finish == Finish::Length);
    for (index, call) in reply.tool_calls.iter_mut().enumerate() {
        let name =
            resolve_name(&call.name, offered).map(|meant| std::mem::replace(&mut call.name, meant));
        let text = call.arguments.inline().filter(|_| cut != Some(index));
        let repaired = text.and_then(|text| repair_arguments(&call.name, text));
        if name.is_none() && repaired.is_none() {
            continue;
        }
        let mut record = RepairedCall { index, name, ..RepairedCall::default() };
        if let Some(Repaired { text, repairs, .. }) = repaired {
            record.repairs = repairs.iter().map(|repair| repair.name().to_owned()).collect();
            record.arguments = Some(std::mem::replace(&mut call.arguments, text.into()));
        }
        reply.repaired_calls.push(record);
    }
}

/// Returns the name to record for a call, if it is another than the model wrote.
fn resolve_name(name: &str, offered: &[ToolSpec]) -> Option<String> {
    if Tool::named(name).is_some() {
        return None;
    }
    let is_taken = |name: &str| offered.iter().any(|tool| own_name(&tool.name) == Some(name));
    let meant = match Tool::resolve(name, is_taken) {
        Some(tool) => tool.name(),
        None => Some(without_prefix(name)).filter(|name| is_server_tool(name))?,
    };
    (meant != name).then(|| meant.to_owned())
}
