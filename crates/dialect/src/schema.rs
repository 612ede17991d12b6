//! Schemas of tools in the form that a provider accepts.
//!
//! A provider that cannot read a schema refuses every request, so keywords that it may not know are dropped. The
//! provider then checks less; the tool still checks everything. Schemas come from strangers: depth, number and size of
//! what is read are bounded, whatever they refer to.

mod keyword;
#[cfg(test)]
mod tests;
mod view;

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

use self::keyword::{Kinds, Values};
use self::view::{NestedSchema, SchemaView};
use super::profile::SchemaForm;

/// Maximum depth of nested schemas.
const DEEPEST: usize = 24;
/// Maximum number of keywords, fields and values that are read.
const MOST: usize = 20_000;
/// Maximum bytes of names and texts.
const LARGEST: usize = 256 * 1024;

/// Returns an equivalent schema of a tool's arguments, as far as this form allows. It is always an object.
pub fn sanitise(schema: &Json, form: SchemaForm) -> Json {
    let mut written = SchemaWriter::pass(schema, form);
    // One pass may enable another simplification. Every pass that changes the schema shrinks it.
    for _ in 0..DEEPEST {
        let again = SchemaWriter::pass(&written, form);
        if again == written {
            break;
        }
        written = again;
    }
    written
}

/// Returns an object without any fields.
fn object() -> Map<String, Json> {
    Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), Map::new().into()),
        ("required".to_owned(), Vec::<Json>::new().into()),
    ])
}

struct SchemaWriter<'s> {
    root: &'s Json,
    form: SchemaForm,
    /// Remaining number of keywords, fields and values to read.
    left: usize,
    /// Remaining number of bytes to write.
    bytes: usize,
}

impl<'s> SchemaWriter<'s> {
    fn pass(schema: &'s Json, form: SchemaForm) -> Json {
        let mut writer = Self { root: schema, form, left: MOST, bytes: LARGEST };
        let view = SchemaView::of(&NestedSchema::root(schema), schema, &mut writer.left);
        let mut written = writer.write(view, 0);
        if written.get("type").and_then(Json::as_str) != Some("object") {
            let description = written.remove("description");
            written = object();
            written.extend(description.map(|text| ("description".to_owned(), text)));
        }
        Json::Object(written)
    }

    /// Writes a nested schema; none for `false`.
    fn child(&mut self, child: &NestedSchema<'s>, depth: usize) -> Option<Json> {
        if matches!(child.schema, Json::Bool(false)) {
            return None;
        }
        let view = SchemaView::of(child, self.root, &mut self.left);
        Some(self.write(view, depth).into())
    }

    fn write(&mut self, mut view: SchemaView<'s>, depth: usize) -> Map<String, Json> {
        if depth > DEEPEST {
            return self.anything();
        }
        let variants = self.settle(&mut view, depth);
        let kinds = self.kinds(&view, depth);
        let values = Values::of(&view, &kinds, self.form);
        let mut written = Map::new();
        for key in &view.order {
            self.keyword(key, &view, &kinds, &values, depth, &mut written);
        }
        if !variants.is_empty() {
            written.insert("anyOf".to_owned(), variants.into());
        }
        self.complete(&view, &kinds, depth, &mut written);
        if let Some(text) = values.in_words() {
            describe(&mut written, &text);
        }
        written
    }

    /// Returns the schema of an unknown value.
    fn anything(&self) -> Map<String, Json> {
        match self.form {
            SchemaForm::Plain => Map::new(),
            SchemaForm::Narrow => Map::from_iter([("type".to_owned(), "string".into())]),
        }
    }

    fn kinds(&self, view: &SchemaView<'s>, depth: usize) -> Kinds {
        let kinds = Kinds::of(view);
        if depth == 0 && (kinds.is_empty() || kinds.has("object")) {
            return Kinds::one("object");
        }
        match self.form {
            SchemaForm::Plain => kinds,
            SchemaForm::Narrow if kinds.is_empty() => Kinds::one("string"),
            SchemaForm::Narrow => kinds.first(),
        }
    }

    /// Writes one keyword, at its old position.
    fn keyword(
        &mut self,
        key: &str,
        view: &SchemaView<'s>,
        kinds: &Kinds,
        values: &Values,
        depth: usize,
        written: &mut Map<String, Json>,
    ) {
        let (key, value) = match key {
            "type" => (key, kinds.to_json()),
            "enum" | "const" => ("enum", values.to_json()),
            "properties" if kinds.has("object") => return self.properties(view, depth, written),
            "required" if kinds.has("object") => return self.required(view, depth, written),
            "items" | "prefixItems" if kinds.has("array") => ("items", self.items(view, depth)),
            "additionalProperties" if kinds.has("object") => (key, self.additional(view, depth)),
            _ => {
                (key, view.get(key).and_then(|value| keyword::simple(key, value, kinds, self.form)))
            }
        };
        if let Some(value) = value
            && self.spend(size(&value))
        {
            written.insert(key.to_owned(), value);
        }
    }

    /// Adds the keywords that every schema of its kind has.
    fn complete(
        &mut self,
        view: &SchemaView<'s>,
        kinds: &Kinds,
        depth: usize,
        written: &mut Map<String, Json>,
    ) {
        if !written.contains_key("type")
            && let Some(kind) = kinds.to_json()
        {
            written.shift_insert(0, "type".to_owned(), kind);
        }
        if kinds.is("object") {
            self.required(view, depth, written);
        }
        if kinds.is("array") && !written.contains_key("items") {
            let items = self.items(view, depth).unwrap_or_else(|| self.anything().into());
            written.insert("items".to_owned(), items);
        }
    }

    fn properties(&mut self, view: &SchemaView<'s>, depth: usize, written: &mut Map<String, Json>) {
        if written.contains_key("properties") {
            return;
        }
        let mut properties = Map::new();
        for (name, child) in &view.properties {
            if self.spend(name.len())
                && let Some(schema) = self.child(child, depth + 1)
            {
                properties.insert((*name).to_owned(), schema);
            }
        }
        written.insert("properties".to_owned(), properties.into());
    }

    /// Writes the required fields that exist.
    fn required(&mut self, view: &SchemaView<'s>, depth: usize, written: &mut Map<String, Json>) {
        if written.contains_key("required") {
            return;
        }
        self.properties(view, depth, written);
        let known = written.get("properties").and_then(Json::as_object);
        let mut seen = HashSet::new();
        let names = view.required.iter().filter(|name| {
            known.is_some_and(|known| known.contains_key(**name)) && seen.insert(**name)
        });
        let names: Vec<Json> = names.map(|name| (*name).into()).collect();
        written.insert("required".to_owned(), names.into());
    }

    /// Writes one schema for all items. Tuples have one for each.
    fn items(&mut self, view: &SchemaView<'s>, depth: usize) -> Option<Json> {
        match view.items.as_slice() {
            [] => None,
            [one] => self.child(one, depth + 1),
            several => Some(self.write(SchemaView::one_of(several), depth + 1).into()),
        }
    }

    fn additional(&mut self, view: &SchemaView<'s>, depth: usize) -> Option<Json> {
        match (self.form, view.additional.as_ref()?) {
            (SchemaForm::Narrow, _) => None,
            (SchemaForm::Plain, NestedSchema { schema: Json::Bool(allowed), .. }) => {
                Some((*allowed).into())
            }
            (SchemaForm::Plain, child) => self.child(child, depth + 1),
        }
    }

    /// Merges a schema with its variants. If that is impossible, the variants are returned.
    fn settle(&mut self, view: &mut SchemaView<'s>, depth: usize) -> Vec<Json> {
        while !view.variants.is_empty() {
            let variants = std::mem::take(&mut view.variants);
            let views = variants.iter().filter(|variant| !matches!(variant.schema, Json::Bool(_)));
            let mut views: Vec<SchemaView<'s>> =
                views.map(|variant| SchemaView::of(variant, self.root, &mut self.left)).collect();
            views.retain(|variant| !variant.is_null());
            let is_known = depth == 0 || !Kinds::of(view).is_empty();
            if views.len() <= 1 {
                views.into_iter().for_each(|only| view.merge(only));
            } else if views.iter().all(SchemaView::is_words) {
                views.into_iter().for_each(|words| view.merge_words(words));
            } else if is_known {
                view.merge_optional(views);
            } else {
                match self.form {
                    SchemaForm::Narrow => {
                        views.into_iter().take(1).for_each(|first| view.merge(first))
                    }
                    SchemaForm::Plain => return self.variants(views, depth),
                }
            }
        }
        Vec::new()
    }

    fn variants(&mut self, views: Vec<SchemaView<'s>>, depth: usize) -> Vec<Json> {
        let mut written: Vec<Json> = Vec::new();
        for view in views {
            let schema = Json::Object(self.write(view, depth + 1));
            if !written.contains(&schema) {
                written.push(schema);
            }
        }
        written
    }

    /// Returns true if this many bytes fit.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}

/// Adds a description of what the form cannot express.
fn describe(written: &mut Map<String, Json>, text: &str) {
    let said = written.get("description").and_then(Json::as_str).unwrap_or_default();
    let said = if said.is_empty() { text.to_owned() } else { format!("{said} {text}") };
    written.insert("description".to_owned(), keyword::shortened(&said).into());
}

/// Returns the size of a keyword's value. Nested schemas are counted where they are written.
fn size(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(values) => values.iter().map(size).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => 8,
    }
}
