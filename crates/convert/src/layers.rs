//! Files of TOML as JSON, and layers of them.

use serde_json::{Map, Value as Json};
use toml::{Table, Value};

use crate::bindings::structural;

/// Largest file of TOML that is read.
const MAX_TOML_BYTES: usize = 1024 * 1024;

/// Layers of TOML, merged as they come.
#[derive(Debug, Default)]
pub(crate) struct TomlLayers(Table);

impl TomlLayers {
    /// Merges a text over those before. The error says what is wrong, in one line.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), String> {
        if text.len() > MAX_TOML_BYTES {
            return Err(format!("it has more than {MAX_TOML_BYTES} bytes"));
        }
        let layer: Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        structural::merge(&mut self.0, layer);
        Ok(())
    }

    /// Returns what all layers say; dates become text.
    pub(crate) fn into_json(self) -> Map<String, Json> {
        self.0.into_iter().map(|(key, value)| (key, to_json(value))).collect()
    }
}

fn to_json(value: Value) -> Json {
    match value {
        Value::String(text) => Json::String(text),
        Value::Integer(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::Boolean(value) => value.into(),
        Value::Datetime(time) => Json::String(time.to_string()),
        Value::Array(items) => items.into_iter().map(to_json).collect(),
        Value::Table(table) => {
            Json::Object(table.into_iter().map(|(key, value)| (key, to_json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_become_json() {
        let mut layers = TomlLayers::default();
        layers.add("a = 1\n[[m]]\ncode = 'A'\nd = 2026-01-02").unwrap();
        layers.add("a = 2\n[[m]]\ncode = 'B'").unwrap();
        let json = Json::Object(layers.into_json()).to_string();
        assert_eq!(json, r#"{"a":2,"m":[{"code":"A","d":"2026-01-02"},{"code":"B"}]}"#);
    }

    #[test]
    fn bombs_are_refused() {
        let mut layers = TomlLayers::default();
        assert!(layers.add(&format!("a = {}", "[".repeat(200_000))).is_err());
        assert!(layers.add(&"x".repeat(MAX_TOML_BYTES + 1)).is_err());
        assert!(layers.add(&format!("{}b = 1", "a.".repeat(100_000))).is_err());
    }
}
