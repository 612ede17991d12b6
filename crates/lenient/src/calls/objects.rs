//! Objects that are calls: a name and its arguments, under the keys that models use for them.

use serde_json::{Map, Value as Json};

use super::literal::{self, LiteralFault};
use super::{CallFault, IsOffered, LeakedCall, is_name, offered};

/// Keys of a name, the usual one first.
const NAMES: &[&str] = &["name", "tool", "tool_name", "function", "action"];
/// Keys of arguments, the usual ones first.
const ARGUMENTS: &[&str] =
    &["arguments", "parameters", "args", "input", "params", "tool_input", "action_input"];
/// Keys of arguments that make an object with an unknown name a call.
const SURE_ARGUMENTS: &[&str] = &["arguments", "parameters"];
/// Other keys of a call.
const OTHERS: &[&str] = &["type", "id", "index"];
/// Maximum distance within which the name of an unreadable call is looked for, in bytes.
const AHEAD: usize = 256;

/// Calls of a value, or the fault of one of them.
type Calls = Result<Vec<LeakedCall>, CallFault>;

/// Parses a content that is one call, or a list of calls, and nothing else.
pub(super) fn bare(content: &str, is_offered: IsOffered<'_>) -> Option<Calls> {
    let text = content.trim();
    let is_list = text.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'));
    if !text.starts_with('{') && !is_list {
        return None;
    }
    let (value, rest) = literal::value(text).ok()?;
    let items = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
    let is_sure = |item: &Json| {
        let keys = unwrapped(item)?;
        let has_arguments = SURE_ARGUMENTS.iter().any(|key| keys.contains_key(*key));
        (item.get("function").is_some_and(Json::is_object) || has_arguments).then_some(())
    };
    if !rest.is_empty() || items.is_empty() || !items.iter().all(|item| is_sure(item).is_some()) {
        return None;
    }
    calls(&value, is_offered)
}

/// Returns the calls of an object or a list of objects. None if it is something else.
pub(super) fn calls(value: &Json, is_offered: IsOffered<'_>) -> Option<Calls> {
    let listed = value.as_object().filter(|keys| keys.len() == 1);
    let value = listed.and_then(|keys| keys.get("tool_calls")).unwrap_or(value);
    match value {
        Json::Array(items) if !items.is_empty() => {
            let items: Option<Vec<_>> = items.iter().map(|item| call(item, is_offered)).collect();
            Some(items?.into_iter().collect())
        }
        Json::Object(_) => Some(call(value, is_offered)?.map(|call| vec![call])),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
    }
}

/// Returns true if a text begins with an object that names an offered tool, even if it is cut or unreadable.
pub(super) fn names_tool(text: &str, is_offered: IsOffered<'_>) -> bool {
    let head = &text[..text.floor_char_boundary(AHEAD)];
    let parts: Vec<&str> = head.split(['"', '\'']).collect();
    parts.windows(3).any(|part| match part {
        [key, between, name] => {
            NAMES.contains(key) && between.trim() == ":" && offered(name, is_offered).is_some()
        }
        _ => false,
    })
}

fn call(value: &Json, is_offered: IsOffered<'_>) -> Option<Result<LeakedCall, CallFault>> {
    let keys = unwrapped(value)?;
    if let Some(call) = only_key(keys, is_offered) {
        return Some(Ok(call));
    }
    let name_key = NAMES.iter().find(|key| keys.get(**key).is_some_and(Json::is_string))?;
    let arguments_key = ARGUMENTS.iter().find(|key| keys.contains_key(**key));
    let is_known = |key: &str| {
        key == *name_key
            || arguments_key.is_some_and(|known| *known == key)
            || OTHERS.contains(&key)
    };
    let arguments = arguments_key.and_then(|key| keys.get(*key));
    if !keys.keys().all(|key| is_known(key)) || arguments.is_some_and(is_schema) {
        return None;
    }
    let name = keys.get(*name_key)?.as_str()?.trim();
    let Some(offered) = offered(name, is_offered) else {
        let is_sure = arguments_key.is_some_and(|key| SURE_ARGUMENTS.contains(key))
            || (arguments_key.is_some() && *name_key != "name");
        let is_call = is_sure && !name.is_empty() && name.chars().all(is_name);
        return is_call.then(|| Err(CallFault::unknown(name)));
    };
    Some(read_arguments(arguments).map(|arguments| (offered.to_owned(), arguments)))
}

/// Reads `{"name": {…}}`.
fn only_key(keys: &Map<String, Json>, is_offered: IsOffered<'_>) -> Option<LeakedCall> {
    let (key, value) = keys.iter().next().filter(|_| keys.len() == 1)?;
    let is_other = NAMES.contains(&key.as_str()) || ARGUMENTS.contains(&key.as_str());
    let name = offered(key, is_offered).filter(|_| !is_other && value.is_object())?;
    Some((name.to_owned(), value.to_string()))
}

/// Returns the keys of a call, without the wrapping `{"type": "function", "function": {…}}`.
fn unwrapped(value: &Json) -> Option<&Map<String, Json>> {
    let keys = value.as_object()?;
    match keys.get("function") {
        Some(Json::Object(function)) => {
            let is_known = |key: &String| key == "function" || OTHERS.contains(&key.as_str());
            keys.keys().all(is_known).then_some(function)
        }
        Some(_) | None => Some(keys),
    }
}

/// Returns true if a value describes arguments instead of being some.
fn is_schema(value: &Json) -> bool {
    value.get("type").is_some_and(|kind| kind == "object")
        && value.get("properties").is_some_and(Json::is_object)
}

fn read_arguments(arguments: Option<&Json>) -> Result<String, CallFault> {
    match arguments {
        None | Some(Json::Null) => Ok("{}".to_owned()),
        Some(Json::Object(_)) => Ok(arguments.map(Json::to_string).unwrap_or_default()),
        Some(Json::String(text)) if text.trim().is_empty() => Ok("{}".to_owned()),
        Some(Json::String(text)) => match literal::value(text) {
            Ok((value @ Json::Object(_), rest)) if rest.trim().is_empty() => Ok(value.to_string()),
            Err(LiteralFault::Unclosed) => Err(CallFault::Unclosed),
            Ok(_) | Err(LiteralFault::Invalid | LiteralFault::Unnamed) => Err(CallFault::NoObject),
        },
        Some(Json::Bool(_) | Json::Number(_) | Json::Array(_)) => Err(CallFault::NoObject),
    }
}
