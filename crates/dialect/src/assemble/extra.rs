//! Extra data that a provider sends with a message or a call, merged from its pieces.

use serde_json::map::Entry;
use serde_json::{Map, Value as Json};

use super::budget::Budget;
use crate::fault::{Fault, FaultKind};

/// Fields of a detail whose text arrives in pieces. The others arrive once, or are repeated.
const IN_PIECES: &[&str] = &["text", "summary", "data"];
/// Maximum number of details of a message. A piece is compared with all of them.
const DETAILS: usize = 4096;

/// Appends to a text.
pub(super) fn append(extra: &mut Map<String, Json>, key: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    match extra.get_mut(key) {
        Some(Json::String(before)) => before.push_str(text),
        Some(_) | None => {
            extra.insert(key.to_owned(), text.into());
        }
    }
}

/// Adds a piece: texts grow, details are matched, for the rest the last value counts. Null adds nothing.
pub(super) fn merge(
    extra: &mut Map<String, Json>,
    key: &str,
    value: &Json,
    budget: &mut Budget,
) -> Result<(), Fault> {
    let value = &without_nulls(value);
    if is_nothing(value) {
        return Ok(());
    }
    budget.spend(size(value).saturating_add(key.len()))?;
    match (extra.get_mut(key), value) {
        (_, Json::String(text)) => append(extra, key, text),
        (Some(Json::Array(details)), Json::Array(more)) if key == "reasoning_details" => {
            more.iter().try_for_each(|detail| add_detail(details, detail))?;
        }
        (_, Json::Array(more)) if key == "reasoning_details" => {
            let mut details = Vec::new();
            more.iter().try_for_each(|detail| add_detail(&mut details, detail))?;
            extra.insert(key.to_owned(), details.into());
        }
        (Some(before), value) => overlay(before, value),
        (None, value) => {
            extra.insert(key.to_owned(), value.clone());
        }
    }
    Ok(())
}

/// Merges one value over another: objects keep fields that are not repeated.
fn overlay(before: &mut Json, value: &Json) {
    match (before, value) {
        (Json::Object(before), Json::Object(value)) => {
            for (key, value) in value {
                match before.entry(key.as_str()) {
                    Entry::Occupied(mut entry) => overlay(entry.get_mut(), value),
                    Entry::Vacant(entry) => {
                        entry.insert(value.clone());
                    }
                }
            }
        }
        (before, value) => *before = value.clone(),
    }
}

/// Adds a piece to the detail that it belongs to, or fails if there are too many.
fn add_detail(details: &mut Vec<Json>, piece: &Json) -> Result<(), Fault> {
    let same = match piece {
        Json::Object(fields) => {
            let same = details.iter_mut().rev().find(|detail| is_same(detail, piece));
            same.and_then(Json::as_object_mut).zip(Some(fields))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
    };
    let Some((detail, fields)) = same else {
        if details.len() >= DETAILS {
            return Err(Fault::new(FaultKind::TooLong));
        }
        details.push(piece.clone());
        return Ok(());
    };
    for (key, value) in fields {
        match value.as_str().filter(|_| IN_PIECES.contains(&key.as_str())) {
            Some(text) => append(detail, key, text),
            None => {
                detail.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(())
}

/// Returns true if a piece belongs to a detail: by its type, then its index, then its id.
fn is_same(detail: &Json, piece: &Json) -> bool {
    let known = |key: &str| match (&detail[key], &piece[key]) {
        (Json::Null, _) | (_, Json::Null) => None,
        (one, other) => Some(one == other),
    };
    if known("type") == Some(false) || known("id") == Some(false) {
        return false;
    }
    known("index").or_else(|| known("id")).unwrap_or(false)
}

/// Returns a value without the fields that are null, at any depth.
fn without_nulls(value: &Json) -> Json {
    match value {
        Json::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            fields
                .map(|(key, value)| (key.clone(), without_nulls(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Json::Array(items) => items.iter().map(without_nulls).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
    }
}

fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Estimates the size of a value, in bytes.
fn size(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => 8,
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| size(item) + 8).sum(),
        Json::Object(fields) => fields.iter().map(|(key, value)| key.len() + size(value) + 8).sum(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_merged(pieces: &[Json], expected: Json) {
        let mut extra = Map::new();
        let mut budget = Budget::new(10_000);
        for piece in pieces {
            for (key, value) in piece.as_object().unwrap() {
                merge(&mut extra, key, value, &mut budget).unwrap();
            }
        }
        assert_eq!(Json::Object(extra), expected);
    }

    #[test]
    fn texts_grow_and_the_last_of_other_values_counts() {
        check_merged(
            &[json!({"a": "x", "n": 1}), json!({"a": "y", "n": 2})],
            json!({"a": "xy", "n": 2}),
        );
        check_merged(&[json!({"a": null, "b": "", "c": [], "d": {"e": null}})], json!({}));
        check_merged(&[json!({"a": "x"}), json!({"a": null})], json!({"a": "x"}));
        check_merged(&[json!({"a": 1}), json!({"a": "x"})], json!({"a": "x"}));
        check_merged(
            &[json!({"g": {"a": {"b": 1}}}), json!({"g": {"a": {"c": "s"}, "d": null}})],
            json!({"g": {"a": {"b": 1, "c": "s"}}}),
        );
    }

    #[test]
    fn a_message_has_a_limit_of_details() {
        let details = |count: usize| Json::from_iter((0..count).map(|at| json!({ "id": at })));
        let add = |count: usize| {
            let mut budget = Budget::new(usize::MAX);
            merge(&mut Map::new(), "reasoning_details", &details(count), &mut budget)
        };
        assert!(add(DETAILS).is_ok());
        assert_eq!(add(DETAILS + 1).unwrap_err().kind, FaultKind::TooLong);
    }

    #[test]
    fn details_grow_by_index_then_by_id_and_keep_their_order() {
        let text = |index: u64, text: &str| json!({"type": "reasoning.text", "index": index, "text": text});
        let sealed =
            json!({"type": "reasoning.encrypted", "index": 0, "id": "rs_1", "data": "AAA"});
        check_merged(
            &[
                json!({"reasoning_details": [text(0, "a"), text(1, "b")]}),
                json!({"reasoning_details": [sealed]}),
                json!({"reasoning_details": [text(0, "c")]}),
                json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "s", "id": null}]}),
            ],
            json!({"reasoning_details": [
                {"type": "reasoning.text", "index": 0, "text": "ac", "signature": "s"},
                text(1, "b"),
                sealed,
            ]}),
        );
        check_merged(
            &[
                json!({"reasoning_details": [{"id": "a", "summary": "x"}, {"id": "b", "summary": "y"}]}),
                json!({"reasoning_details": [{"id": "a", "summary": "z"}, {"text": "loose"}, 7]}),
            ],
            json!({"reasoning_details":
                [{"id": "a", "summary": "xz"}, {"id": "b", "summary": "y"}, {"text": "loose"}, 7]}),
        );
    }
}
