//! Reads YAML 1.2 into a [`Tree`], within a budget. The only place that knows `serde-saphyr`.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{AliasLimits, DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Error, Location, Options, Spanned};

use super::json::duplicate_key;
use super::{Entry, SyntaxError, Tree, Value};
use crate::diagnostic::Code;
use crate::text::Span;

/// Collections may stand this deep inside each other.
pub const MAX_DEPTH: usize = 32;
/// A document may have this many nodes, aliases expanded.
pub const MAX_NODES: usize = 20_000;
/// A document may use this many aliases.
pub const MAX_ALIASES: usize = 16;

/// Reads one YAML document. Text without content is an empty map.
pub fn parse(text: &str) -> Result<Tree, SyntaxError> {
    if text.lines().all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Tree { span: Span::new(0, 0), value: Value::Map(Vec::new()) });
    }
    match serde_saphyr::from_str_with_options::<Spanned<Wrapped>>(text, options()) {
        Ok(root) => Ok(place(root)),
        Err(error) => Err(explain(text, error.without_snippet())),
    }
}

fn options() -> Options {
    let mut alias_limits = AliasLimits::default();
    alias_limits.max_total_replayed_events = MAX_NODES;
    alias_limits.max_replay_stack_depth = MAX_DEPTH;
    alias_limits.max_alias_expansions_per_anchor = MAX_ALIASES;
    serde_saphyr::options! {
        strict_booleans: true,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        alias_limits: alias_limits,
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: MAX_NODES * 3,
            max_aliases: MAX_ALIASES,
            max_anchors: 1_000,
            max_documents: 1,
            flow_nesting_limit: MAX_DEPTH,
        },
    }
}

/// A value on its way into a tree; its own place comes from the [`Spanned`] around it.
struct Wrapped(Value);

impl<'de> Deserialize<'de> for Wrapped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue).map(Wrapped)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        // JSON has no infinity and no NaN; as text they stay what the author wrote.
        Ok(serde_json::Number::from_f64(value).map_or_else(|| Value::String(value.to_string()), Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<Spanned<Wrapped>>()? {
            items.push(place(item));
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Spanned<Wrapped>>()? {
            entries.push(Entry { key_span: span(key.referenced), key: key.value, tree: place(value) });
        }
        Ok(Value::Map(entries))
    }
}

fn place(spanned: Spanned<Wrapped>) -> Tree {
    Tree { span: span(spanned.referenced), value: spanned.value.0 }
}

fn span(location: Location) -> Span {
    let span = location.span();
    let start = span.byte_offset().unwrap_or_else(|| span.offset()) as usize;
    Span::new(start, start + span.byte_len().unwrap_or_else(|| span.len()) as usize)
}

fn explain(text: &str, error: &Error) -> SyntaxError {
    let at = error.location().map_or(Span::default(), span);
    let at = clamp(text, at);
    if let Error::DuplicateMappingKey { key, .. } = error {
        return duplicate_key(key.as_deref().unwrap_or("?"), at);
    }
    let message = first_line(&error.to_string());
    let too_deep = || {
        let message = format!("this frontmatter is nested more than {MAX_DEPTH} levels deep");
        SyntaxError { code: Code::TooDeep, span: at, message, help: Some("no part of a package needs such depth; flatten the value".into()) }
    };
    match error {
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } | Error::AliasReplayStackDepthExceeded { .. } => too_deep(),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => SyntaxError {
            code: Code::YamlLimit,
            span: at,
            message: format!("this frontmatter has more than {MAX_NODES} values, or more than {MAX_ALIASES} aliases"),
            help: Some("write the values out instead of using aliases, and keep bulk content in the body".into()),
        },
        _ if message.contains("nest") || message.contains("recursion") => too_deep(),
        _ => SyntaxError { code: Code::YamlSyntax, span: at, message, help: yaml_hint(text, at) },
    }
}

/// Recognises the two mistakes that YAML punishes most.
fn yaml_hint(text: &str, at: Span) -> Option<String> {
    let start = text.get(..at.start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..)?.lines().next()?;
    if line.starts_with('\t') || line.trim_start_matches(' ').starts_with('\t') {
        return Some("YAML is indented with spaces, never with tabs".into());
    }
    let value = line.split_once(": ").map(|(_, value)| value.trim());
    if value.is_some_and(|value| !value.starts_with(['"', '\'']) && value.contains(": ")) {
        return Some("put the value in double quotes: it contains `: `, which begins a new map".into());
    }
    None
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    // Positions are ours to print: theirs count from the inside of the frontmatter.
    match line.find("line ").filter(|_| line.contains(" column ")) {
        Some(0) => line.split_once(": ").map_or(line, |(_, rest)| rest).to_owned(),
        _ => line.split(" at line ").next().unwrap_or(line).to_owned(),
    }
}

fn clamp(text: &str, span: Span) -> Span {
    let mut start = span.start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = span.end.clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Span::new(start, end)
}
