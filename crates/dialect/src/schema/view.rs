//! A schema as read: its own keywords, those it refers to, and those of all of `allOf`, merged.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::Value as Json;

use super::keyword::{self, Kinds, is_word};

/// Maximum number of references and `allOf` followed from one schema.
const HOPS: usize = 32;
/// Maximum number of variants, and parts of a tuple, that are read.
const VARIANTS: usize = 64;
/// Maximum size of a reference, in bytes.
const POINTER_BYTES: usize = 1_024;

/// Nested schema, and the references that led to it.
#[derive(Clone)]
pub(super) struct NestedSchema<'s> {
    pub(super) schema: &'s Json,
    path: Option<Rc<ReferencePath<'s>>>,
}

struct ReferencePath<'s> {
    target: &'s str,
    before: Option<Rc<ReferencePath<'s>>>,
}

impl<'s> NestedSchema<'s> {
    pub(super) fn root(schema: &'s Json) -> Self {
        Self { schema, path: None }
    }

    fn with(&self, schema: &'s Json) -> Self {
        Self { schema, path: self.path.clone() }
    }

    fn came_by(&self, target: &str) -> bool {
        let mut path = self.path.as_ref();
        while let Some(step) = path {
            if step.target == target {
                return true;
            }
            path = step.before.as_ref();
        }
        false
    }
}

/// Merged view of one schema. The first value wins.
#[derive(Default)]
pub(super) struct SchemaView<'s> {
    /// Keywords in their order.
    pub(super) order: Vec<&'s str>,
    simple: Vec<(&'s str, &'s Json)>,
    pub(super) properties: Vec<(&'s str, NestedSchema<'s>)>,
    names: HashSet<&'s str>,
    pub(super) required: Vec<&'s str>,
    /// One schema for all items, or one for each.
    pub(super) items: Vec<NestedSchema<'s>>,
    pub(super) additional: Option<NestedSchema<'s>>,
    /// Allowed values, if they are listed.
    pub(super) values: Vec<&'s Json>,
    pub(super) variants: Vec<NestedSchema<'s>>,
    /// True if the schema refers to one that contains it.
    pub(super) is_cycle: bool,
}

impl<'s> SchemaView<'s> {
    /// Reads a schema. Every read is charged to `left`; when it is used up, the view is empty.
    pub(super) fn of(child: &NestedSchema<'s>, root: &'s Json, left: &mut usize) -> Self {
        let mut view = Self::default();
        view.read(child, root, left, HOPS);
        view
    }

    /// Returns the view of a value that fits one of several schemas.
    pub(super) fn one_of(variants: &[NestedSchema<'s>]) -> Self {
        Self { variants: variants.to_vec(), ..Self::default() }
    }

    fn read(&mut self, child: &NestedSchema<'s>, root: &'s Json, left: &mut usize, hops: usize) {
        let Json::Object(keys) = child.schema else { return };
        for (key, value) in keys {
            if *left == 0 {
                return;
            }
            *left -= 1;
            self.read_key(key, value, child, left);
        }
        if hops == 0 {
            return;
        }
        let target = keys.get("$ref").and_then(Json::as_str);
        if let Some(target) = target.filter(|target| target.len() <= POINTER_BYTES) {
            if child.came_by(target) {
                self.is_cycle = true;
            } else if let Some(schema) = find(root, target) {
                let path = ReferencePath { target, before: child.path.clone() };
                self.read(
                    &NestedSchema { schema, path: Some(Rc::new(path)) },
                    root,
                    left,
                    hops - 1,
                );
            }
        }
        let all = keys.get("allOf").and_then(Json::as_array);
        for schema in all.into_iter().flatten().take(VARIANTS) {
            self.read(&child.with(schema), root, left, hops - 1);
        }
    }

    fn read_key(
        &mut self,
        key: &'s str,
        value: &'s Json,
        child: &NestedSchema<'s>,
        left: &mut usize,
    ) {
        if keyword::is_known(key) && !self.order.contains(&key) {
            self.order.push(key);
        }
        match (key, value) {
            ("properties", Json::Object(properties)) => {
                for (name, schema) in properties.iter().take(charge(left, properties.len())) {
                    if self.names.insert(name) {
                        self.properties.push((name, child.with(schema)));
                    }
                }
            }
            ("required", Json::Array(names)) => {
                let names = names.iter().take(charge(left, names.len()));
                self.required.extend(names.filter_map(Json::as_str));
            }
            ("items" | "prefixItems", Json::Array(tuple)) => {
                let room = VARIANTS.saturating_sub(self.items.len());
                self.items.extend(tuple.iter().take(room).map(|item| child.with(item)));
            }
            ("items", Json::Object(_) | Json::Bool(_)) if self.items.is_empty() => {
                self.items.push(child.with(value));
            }
            ("additionalProperties", Json::Object(_) | Json::Bool(_)) => {
                self.additional.get_or_insert_with(|| child.with(value));
            }
            ("enum", Json::Array(values)) if self.values.is_empty() => {
                self.values.extend(values.iter().take(charge(left, values.len())));
            }
            ("const", value) if self.values.is_empty() => self.values.push(value),
            ("anyOf" | "oneOf", Json::Array(variants)) if self.variants.is_empty() => {
                self.variants
                    .extend(variants.iter().take(VARIANTS).map(|variant| child.with(variant)));
            }
            _ if keyword::is_simple(key) && self.get(key).is_none() => {
                self.simple.push((key, value))
            }
            _ => {}
        }
    }

    /// Returns a keyword with a plain value.
    pub(super) fn get(&self, key: &str) -> Option<&'s Json> {
        self.simple.iter().find(|(known, _)| *known == key).map(|(_, value)| *value)
    }

    /// Returns true if the only value is `null`.
    pub(super) fn is_null(&self) -> bool {
        let is_type = self.get("type").and_then(Json::as_str) == Some("null");
        is_type || (!self.values.is_empty() && self.values.iter().all(|value| value.is_null()))
    }

    /// Returns true if the values are a list of words.
    pub(super) fn is_words(&self) -> bool {
        let kinds = Kinds::of(self);
        let is_word = |value: &&Json| value.is_null() || is_word(value);
        self.variants.is_empty()
            && kinds.is("string")
            && !self.values.is_empty()
            && self.values.iter().all(is_word)
    }

    /// Merges another view that also applies.
    pub(super) fn merge(&mut self, other: Self) {
        self.add_order(&other.order);
        for (key, value) in other.simple {
            if self.get(key).is_none() {
                self.simple.push((key, value));
            }
        }
        self.add_properties(other.properties);
        self.required.extend(other.required);
        if self.items.is_empty() {
            self.items = other.items;
        }
        if self.values.is_empty() {
            self.values = other.values;
        }
        self.additional = self.additional.take().or(other.additional);
        self.variants.extend(other.variants);
        self.is_cycle |= other.is_cycle;
    }

    /// Merges further allowed words.
    pub(super) fn merge_words(&mut self, other: Self) {
        self.add_order(&["enum"]);
        self.values.extend(other.values);
    }

    /// Merges one of several views: all their fields, and only the required ones that all share.
    pub(super) fn merge_optional(&mut self, others: Vec<Self>) {
        let mut common: Option<Vec<&'s str>> = None;
        for other in others {
            let wanted: HashSet<&str> = other.required.iter().copied().collect();
            match &mut common {
                Some(common) => common.retain(|name| wanted.contains(name)),
                None => common = Some(other.required),
            }
            self.add_properties(other.properties);
        }
        self.required.extend(common.unwrap_or_default());
    }

    fn add_order(&mut self, keys: &[&'s str]) {
        for key in keys {
            if !self.order.contains(key) {
                self.order.push(key);
            }
        }
    }

    fn add_properties(&mut self, properties: Vec<(&'s str, NestedSchema<'s>)>) {
        for (name, child) in properties {
            if self.names.insert(name) {
                self.properties.push((name, child));
            }
        }
    }
}

/// Returns the number of reads that are allowed, and charges them.
fn charge(left: &mut usize, wanted: usize) -> usize {
    let granted = wanted.min(*left);
    *left -= granted;
    granted
}

/// Finds the schema that a reference within the document points at.
fn find<'s>(root: &'s Json, target: &str) -> Option<&'s Json> {
    let pointer = target.strip_prefix('#')?;
    root.pointer(pointer).or_else(|| root.pointer(&unescaped(pointer)?))
}

/// Decodes the `%20` of a pointer in a URL.
fn unescaped(pointer: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match (first, digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..)?;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}
