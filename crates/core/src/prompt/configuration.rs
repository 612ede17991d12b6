//! The `config` line of `STATE_SUMMARY`: what is fixed for a run, and no tool can change.

use serde_json::{Map, Value as Json};

use super::line::json_line;
use crate::bindings::Bindings;

/// Maximum size of the line, in bytes.
const CONFIG_BYTES: usize = 2 * 1024;
/// Maximum size of a value, in bytes.
const VALUE_BYTES: usize = 256;
/// Names that say nothing to a model.
const INNER: [&str; 3] = ["project-root", "directory_name", "timestamp"];

/// Renders the bindings of a run as one line of JSON; none if there are none.
pub(super) fn config_line(bindings: &Bindings) -> Option<String> {
    let mut shown = Map::new();
    let mut bytes = 2;
    for (name, value) in bindings.iter().filter(|(name, _)| !INNER.contains(name)) {
        let added = name.len() + value.len() + 6;
        if value.len() <= VALUE_BYTES && bytes + added <= CONFIG_BYTES {
            bytes += added;
            shown.insert(name.to_owned(), Json::from(value));
        }
    }
    (!shown.is_empty()).then(|| json_line(&Json::Object(shown), CONFIG_BYTES).0)
}
