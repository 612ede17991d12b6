//! Arguments as text: one JSON object, in any wrapping that models put around it.

use crewagent_format::syntax::json;
use crewagent_format::wording::kind;
use crewagent_lenient::json::{self as lenient, BrokenJson, Repair};
use serde_json::{Map, Value as Json};

use crate::policy::Policy;
use crate::refusal::{Refusal, RefusalCode};
use crate::tool::Tool;

/// Number of bytes that arguments may always have.
const ALWAYS: u64 = 8 << 20;
/// Bytes that arguments may have beyond twice the largest write, because escapes make a text longer.
const SLACK: u64 = 1 << 20;
/// Number of wrappings inside one another that are opened.
const MOST_WRAPPERS: usize = 3;
/// Keys that hold the arguments of a call where it is written as an object.
const WRAPPERS: [&str; 2] = ["arguments", "parameters"];
/// Number of faults that a refusal names.
const SHOWN: usize = 8;

/// Arguments that could be read.
pub(super) struct CallArguments {
    pub(super) object: Map<String, Json>,
    /// Kinds of repairs that were needed, each once.
    pub(super) repairs: Vec<Repair>,
}

/// Parses the arguments of a call. Blank arguments are an empty object.
pub(super) fn read(tool: Tool, text: &str, policy: &Policy) -> Result<Map<String, Json>, Refusal> {
    let limit = policy.fs.max_write_bytes.saturating_mul(2).saturating_add(SLACK).max(ALWAYS);
    if text.len() as u64 > limit {
        return Err(too_long(tool, text.len(), limit));
    }
    match understand(Some(tool), text) {
        Ok(arguments) => Ok(arguments.object),
        Err(broken) => {
            let hint = format!("Send one JSON object. Example: {}.", tool.example());
            Err(refusal([tool.name(), tool.wire_name()], &broken, &hint))
        }
    }
}

/// Parses a structured value that a model sent as text.
pub(super) fn unwrapped(text: &str) -> Option<Json> {
    let text = text.trim();
    text.starts_with(['{', '[']).then(|| strict(text)).flatten()
}

/// Reads arguments: strictly, else with repairs. The keys of a tool that is not given are not known.
pub(super) fn understand(tool: Option<Tool>, text: &str) -> Result<CallArguments, BrokenJson> {
    let mut repairs = Vec::new();
    let mut value = value(text, &mut repairs)?;
    for _ in 0..MOST_WRAPPERS {
        match inner(tool, &mut value) {
            None => break,
            Some(Json::String(text)) => {
                repairs.push(Repair::Wrapper);
                value = self::value(&text, &mut repairs).map_err(BrokenJson::inside)?;
            }
            Some(object) => {
                repairs.push(Repair::Wrapper);
                value = object;
            }
        }
    }
    repairs.sort_unstable();
    repairs.dedup();
    match value {
        Json::Object(object) => Ok(CallArguments { object, repairs }),
        Json::Null => Ok(CallArguments { object: Map::new(), repairs }),
        Json::String(text) if text.trim().is_empty() => {
            Ok(CallArguments { object: Map::new(), repairs })
        }
        other @ (Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) => {
            let kind = kind(&other);
            Err(BrokenJson::of(format!("they must be one JSON object, but this is {kind}")))
        }
    }
}

/// Takes out the value that a wrapping holds: a text with JSON, or the only key of an object, which the tool must not
/// have itself.
fn inner(tool: Option<Tool>, value: &mut Json) -> Option<Json> {
    let holds_json = |value: &Json| value.as_str().is_some_and(|text| text.contains('{'));
    if holds_json(value) {
        return Some(value.take());
    }
    let parameters = tool?.parameters();
    let object = value.as_object_mut().filter(|object| object.len() == 1)?;
    let (key, inner) = object.iter_mut().next()?;
    let is_wrapper = WRAPPERS.contains(&key.as_str()) && !parameters.contains(&key.as_str());
    (is_wrapper && (inner.is_object() || holds_json(inner))).then(|| inner.take())
}

/// Reads a value: strictly, else with repairs. A blank text is null.
fn value(text: &str, repairs: &mut Vec<Repair>) -> Result<Json, BrokenJson> {
    if text.trim().is_empty() {
        return Ok(Json::Null);
    }
    if let Some(value) = strict(text) {
        return Ok(value);
    }
    let (value, needed) = lenient::read(text)?;
    repairs.extend(needed);
    Ok(value)
}

/// Parses JSON of bounded depth and size, in which no key stands twice.
fn strict(text: &str) -> Option<Json> {
    // The parser would skip a byte order mark, and a provider that gets it back would not.
    let tree = json::parse(text).ok().filter(|_| !text.starts_with('\u{feff}'))?;
    Some(tree.to_json())
}

/// Returns the refusal of arguments that cannot be read. It names every fault. The tool has a canonical name and one
/// that models see.
pub(super) fn refusal([name, wire_name]: [&str; 2], broken: &BrokenJson, hint: &str) -> Refusal {
    let mut faults = broken.faults.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
    if let Some(more) = broken.faults.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        faults.push_str(&format!("; and {more} more faults"));
    }
    let Some(missing) = &broken.unclosed else {
        let message = format!("The arguments of {name} cannot be read: {faults}.");
        return Refusal::new(RefusalCode::InvalidArguments, message).hint(hint);
    };
    let message = format!(
        "{wire_name} was not executed: its arguments end before they are closed ({missing})."
    );
    let mut hint = "Either closing marks were forgotten: send the same call again, complete. Or the reply was cut at \
                    the output limit: send less at once, long files in pieces with fs_write and mode append."
        .to_owned();
    if !faults.is_empty() {
        hint.push_str(&format!(" Also: {faults}."));
    }
    Refusal::new(RefusalCode::InvalidArguments, message).hint(hint)
}

fn too_long(tool: Tool, size: usize, limit: u64) -> Refusal {
    let code =
        if tool.is_write() { RefusalCode::WriteLimit } else { RefusalCode::InvalidArguments };
    let message = format!(
        "The arguments of {} have {size} bytes; {limit} are allowed. Nothing was done.",
        tool.name()
    );
    let hint = if tool.is_write() {
        "Write the file in several pieces, with mode `append`, or several files."
    } else {
        "Send less."
    };
    Refusal::new(code, message).hint(hint).detail("limitBytes", limit)
}
