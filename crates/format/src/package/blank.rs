//! Schemas of texts that may or must not be blank.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema};

/// Schema of a non-blank text, for lists and optional texts.
pub(crate) struct NonBlank;

impl JsonSchema for NonBlank {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NonBlank".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "string", "pattern": r"\S" })
    }
}

/// Schema of `T`, or of a blank text where other tools write one for an absent value.
pub(crate) struct BlankOr<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for BlankOr<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("BlankOr{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [value, { "type": "string", "pattern": r"^\s*$" }] })
    }
}
