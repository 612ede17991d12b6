//! JSON and YAML as trees that remember the positions of all values.

pub mod json;
pub mod yaml;

use std::collections::HashSet;

use crate::code::Code;
use crate::text::Span;

/// Value and its span in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// For a YAML collection this is only its beginning.
    pub span: Span,
    pub value: Value,
}

impl Tree {
    /// Returns the JSON Pointer of the innermost value or key at `span`.
    pub fn pointer(&self, span: Span) -> String {
        let mut pointer = String::new();
        let mut tree = self;
        while tree.span != span {
            // Children are in the order of the text, so the last one that begins before the span holds it.
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

/// Values that JSON and YAML have in common.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    String(String),
    List(Vec<Tree>),
    /// Entries in the order of the file, with unique keys.
    Map(Vec<Entry>),
}

/// Key and value of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub tree: Tree,
}

/// Keys of a map that is being read. Most maps are small, and a scan of a few keys beats hashing them.
#[derive(Default)]
struct Keys {
    many: HashSet<String>,
}

impl Keys {
    const FEW: usize = 16;

    /// Returns true if `key` is not among `entries`, which only ever grow.
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

/// Reason why a text could not be read as a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub code: Code,
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

impl Tree {
    /// Returns the text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// Returns the items, if this is a list.
    pub fn as_list(&self) -> Option<&[Tree]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    /// Returns the entries, if this is a map.
    pub fn as_map(&self) -> Option<&[Entry]> {
        if let Value::Map(entries) = &self.value { Some(entries) } else { None }
    }

    /// Returns the entry of `key`, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.as_map()?.iter().find(|entry| entry.key == key)
    }

    /// Returns the `index`-th item, if this is a list that has it.
    pub fn item(&self, index: usize) -> Option<&Tree> {
        self.as_list()?.get(index)
    }

    /// Counts the values in it, itself included.
    pub fn count(&self) -> usize {
        let inside: usize = match &self.value {
            Value::List(items) => items.iter().map(Tree::count).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.tree.count()).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
        inside + 1
    }

    /// Returns the same value without spans.
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

    /// Names this kind of value for users.
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
