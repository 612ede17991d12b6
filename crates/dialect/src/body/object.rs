//! JSON objects that are written field by field.

use serde::Serialize;

/// JSON object that is being written.
pub(super) struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> ObjectWriter<'o> {
    /// Begins an object.
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, is_empty: true }
    }

    /// Writes a field.
    pub(super) fn put(&mut self, key: &str, value: &(impl Serialize + ?Sized)) {
        write(self.key(key), value);
    }

    /// Begins a field; its value is written next.
    pub(super) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        write(self.out, key);
        self.out.push(b':');
        self.out
    }

    /// Ends the object.
    pub(super) fn end(self) {
        self.out.push(b'}');
    }
}

/// Writes a value as JSON. Texts, numbers and JSON values never fail.
pub(super) fn write(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    serde_json::to_writer(out, value).unwrap_or_default();
}
