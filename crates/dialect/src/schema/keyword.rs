//! Keywords that hold no schemas: types, values, limits, texts.

use serde_json::Value as Json;

use super::view::SchemaView;
use crate::profile::SchemaForm;

/// Maximum size of a description, in bytes.
const DESCRIPTION_BYTES: usize = 4_096;
/// Maximum size of any other text, in bytes.
const TEXT_BYTES: usize = 512;
/// Maximum number of listed values.
const VALUES: usize = 400;
/// Maximum number of values in a description.
const SPOKEN: usize = 32;

const KINDS: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Keywords with a plain value.
const SIMPLE: [&str; 17] = [
    "type",
    "description",
    "title",
    "default",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
];

/// Keywords with a reader of their own.
const OTHERS: [&str; 7] =
    ["enum", "const", "properties", "required", "items", "prefixItems", "additionalProperties"];

pub(super) fn is_simple(key: &str) -> bool {
    SIMPLE.contains(&key)
}

/// Returns true if the keyword may be written.
pub(super) fn is_known(key: &str) -> bool {
    is_simple(key) || OTHERS.contains(&key)
}

/// Types of a value, without `null`: an optional field need not accept `null`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kinds(Vec<&'static str>);

impl Kinds {
    pub(super) fn one(kind: &'static str) -> Self {
        Self(vec![kind])
    }

    /// Returns the types that a schema names, or else those implied by its keywords.
    pub(super) fn of(view: &SchemaView<'_>) -> Self {
        let mut kinds = Vec::new();
        let mut add = |name: &Json| {
            let kind = KINDS.into_iter().find(|kind| name.as_str() == Some(kind));
            kinds.extend(kind.filter(|kind| !kinds.contains(kind)));
        };
        match view.get("type") {
            Some(Json::Array(names)) => names.iter().take(KINDS.len() + 1).for_each(add),
            Some(name) => add(name),
            None => {}
        }
        if kinds.is_empty() {
            kinds.extend(describe(view));
        }
        Self(kinds)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has(&self, kind: &str) -> bool {
        self.0.contains(&kind)
    }

    /// Returns true if this is the only type.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.0 == [kind]
    }

    pub(super) fn first(mut self) -> Self {
        self.0.truncate(1);
        self
    }

    pub(super) fn to_json(&self) -> Option<Json> {
        match self.0.as_slice() {
            [] => None,
            [one] => Some((*one).into()),
            several => Some(several.into()),
        }
    }

    /// Returns true if a value may be of these types. Without any it may be of all.
    fn take(&self, value: &Json) -> bool {
        let kind = kind(value);
        self.is_empty()
            || kind.is_some_and(|kind| self.has(kind) || (kind == "integer" && self.has("number")))
    }

    fn has_numbers(&self) -> bool {
        self.has("number") || self.has("integer")
    }
}

fn describe(view: &SchemaView<'_>) -> Option<&'static str> {
    if view.is_cycle || !view.properties.is_empty() || view.additional.is_some() {
        return Some("object");
    }
    if !view.items.is_empty() {
        return Some("array");
    }
    let mut kinds = view.values.iter().filter(|value| !value.is_null()).map(|value| kind(value));
    let first = kinds.next()??;
    kinds.all(|kind| kind == Some(first)).then_some(first)
}

/// Returns the type of a value that can be listed.
fn kind(value: &Json) -> Option<&'static str> {
    match value {
        Json::String(_) => Some("string"),
        Json::Bool(_) => Some("boolean"),
        Json::Number(number) if number.is_f64() => Some("number"),
        Json::Number(_) => Some("integer"),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// Returns true for a text that can be listed.
pub(super) fn is_word(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text.len() <= TEXT_BYTES)
}

/// Listed values, in the schema or in its description.
pub(super) struct Values {
    listed: Vec<Json>,
    is_spoken: bool,
}

impl Values {
    pub(super) fn of(view: &SchemaView<'_>, kinds: &Kinds, form: SchemaForm) -> Self {
        let mut listed: Vec<Json> = Vec::new();
        let not_null = view.values.iter().filter(|value| !value.is_null()).take(VALUES + 1);
        for value in not_null {
            let is_small = kind(value).is_some() && (!value.is_string() || is_word(value));
            if is_small && kinds.take(value) && !listed.contains(value) {
                listed.push((*value).clone());
            }
        }
        if listed.len() > VALUES {
            listed.clear();
        }
        let is_spoken = match form {
            SchemaForm::Plain => false,
            SchemaForm::Narrow => !kinds.is("string"),
        };
        Self { listed, is_spoken }
    }

    pub(super) fn to_json(&self) -> Option<Json> {
        (!self.is_spoken && !self.listed.is_empty()).then(|| self.listed.clone().into())
    }

    /// Describes the values if they cannot be listed.
    pub(super) fn in_words(&self) -> Option<String> {
        if !self.is_spoken || self.listed.is_empty() {
            return None;
        }
        let words: Vec<String> = self.listed.iter().take(SPOKEN).map(Json::to_string).collect();
        let more = if self.listed.len() > SPOKEN { ", …" } else { "" };
        Some(format!("One of: {}{more}.", words.join(", ")))
    }
}

/// Rewrites a keyword with a plain value.
pub(super) fn simple(key: &str, value: &Json, kinds: &Kinds, form: SchemaForm) -> Option<Json> {
    let is_plain = match form {
        SchemaForm::Plain => true,
        SchemaForm::Narrow => false,
    };
    let text =
        |longest: usize| value.as_str().filter(|text| !text.is_empty() && text.len() <= longest);
    let keep = match key {
        "description" => {
            return value
                .as_str()
                .filter(|text| !text.is_empty())
                .map(|text| shortened(text).into());
        }
        "title" => is_plain && text(TEXT_BYTES).is_some(),
        "format" => text(TEXT_BYTES)
            .is_some_and(|format| is_plain || (format == "date-time" && kinds.has("string"))),
        "pattern" => is_plain && kinds.has("string") && text(TEXT_BYTES).is_some(),
        "default" => {
            let is_small = kind(value).is_some() && (!value.is_string() || is_word(value));
            is_plain && is_small && kinds.take(value)
        }
        "minimum" | "maximum" => kinds.has_numbers() && value.is_number(),
        "exclusiveMinimum" | "exclusiveMaximum" => {
            is_plain && kinds.has_numbers() && value.is_number()
        }
        "multipleOf" => {
            is_plain && kinds.has_numbers() && value.as_f64().is_some_and(|number| number > 0.0)
        }
        "minItems" | "maxItems" => kinds.has("array") && value.is_u64(),
        "minLength" | "maxLength" => is_plain && kinds.has("string") && value.is_u64(),
        "minProperties" => is_plain && kinds.has("object") && value.is_u64(),
        "uniqueItems" => is_plain && kinds.has("array") && value.is_boolean(),
        _ => false,
    };
    keep.then(|| value.clone())
}

/// Shortens a description.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= DESCRIPTION_BYTES {
        return text.to_owned();
    }
    let mut end = DESCRIPTION_BYTES - '…'.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}
