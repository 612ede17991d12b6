//! JSON and YAML as trees that remember where everything stood.

pub mod json;
pub mod yaml;

use std::collections::HashSet;

use crate::code::Code;
use crate::text::Span;

/// A value and the place it was written at.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Where it stands. For a YAML collection this is only its beginning.
    pub span: Span,
    pub value: Value,
}

impl Tree {
    /// The JSON Pointer of the value, or of the key, that stands at `span`: the innermost one there is.
    pub fn pointer(&self, span: Span) -> String {
        let mut pointer = String::new();
        let mut tree = self;
        while tree.span != span {
            // Children stand in the order of the text, so the last that begins before the span holds it.
            tree = match &tree.value {
                Value::List(items) => {
                    let after = items.partition_point(|item| item.span.start <= span.start);
                    let Some(item) = after.checked_sub(1).and_then(|at| items.get(at)) else {
                        break;
                    };
                    pointer.push_str(&format!("/{}", after - 1));
                    item
                }
                Value::Map(entries) => {
                    let after = entries.partition_point(|entry| entry.key_span.start <= span.start);
                    let Some(entry) = after.checked_sub(1).and_then(|at| entries.get(at)) else {
                        break;
                    };
                    pointer.push('/');
                    pointer.push_str(&entry.key.replace('~', "~0").replace('/', "~1"));
                    &entry.tree
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => break,
            };
        }
        pointer
    }
}

/// What JSON and YAML have in common.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    String(String),
    List(Vec<Tree>),
    /// A map, in the order of the file, keys unique.
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub tree: Tree,
}

/// The keys of a map that is being read. Most maps are small, and looking through a few keys beats hashing them.
#[derive(Default)]
struct Keys {
    many: HashSet<String>,
}

impl Keys {
    const FEW: usize = 16;

    /// True when `key` is not among `entries`, which only ever grow.
    fn is_new(&mut self, key: &str, entries: &[Entry]) -> bool {
        if entries.len() < Self::FEW {
            return !entries.iter().any(|entry| entry.key == key);
        }
        if self.many.is_empty() {
            self.many.extend(entries.iter().map(|entry| entry.key.clone()));
        }
        self.many.insert(key.to_owned())
    }
}

/// Why a text could not be read as a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub code: Code,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

impl Tree {
    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The items, if this is a list.
    pub fn as_list(&self) -> Option<&[Tree]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    /// The entries, if this is a map.
    pub fn as_map(&self) -> Option<&[Entry]> {
        if let Value::Map(entries) = &self.value { Some(entries) } else { None }
    }

    /// The value of `key`, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| entry.key == key)
    }

    /// The `index`-th item, if this is a list that has it.
    pub fn item(&self, index: usize) -> Option<&Tree> {
        self.as_list()?.get(index)
    }

    /// How many values it consists of, itself included.
    pub fn count(&self) -> usize {
        let inside: usize = match &self.value {
            Value::List(items) => items.iter().map(Tree::count).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.tree.count()).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
        inside + 1
    }

    /// The same value without places.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(value) => value.clone().into(),
            Value::String(value) => value.clone().into(),
            Value::List(items) => items.iter().map(Tree::to_json).collect(),
            Value::Map(entries) => entries
                .iter()
                .map(|entry| (entry.key.clone(), entry.tree.to_json()))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        }
    }

    /// What a person calls this kind of value.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "an object",
        }
    }
}
