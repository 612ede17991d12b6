//! Counts the values of a JSON text before it is parsed, because a tree takes many times the bytes of its text.

use super::MAX_VALUES;

/// Counter of the values in a JSON text that arrives in pieces. Of a text that is no JSON the number means nothing.
#[derive(Debug, Default)]
pub struct ValueCounter {
    /// Number of values but for the outermost.
    inner: usize,
    in_string: bool,
    is_escaped: bool,
    /// True after the start of a list or an object, before anything in it.
    is_opened: bool,
}

impl ValueCounter {
    /// Counts the values of a piece.
    pub fn read(&mut self, piece: &[u8]) {
        for byte in piece {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' if self.in_string => self.in_string = false,
                _ if self.in_string => {}
                b' ' | b'\t' | b'\r' | b'\n' => {}
                b']' | b'}' => self.is_opened = false,
                byte => {
                    self.inner += usize::from(self.is_opened || *byte == b',');
                    self.is_opened = matches!(byte, b'[' | b'{');
                    self.in_string = *byte == b'"';
                }
            }
        }
    }

    /// Returns true if there are more values than a document may have.
    pub fn is_over(&self) -> bool {
        self.inner >= MAX_VALUES
    }

    /// Returns true if a whole text has more values than a document may have.
    pub fn is_too_much(text: &str) -> bool {
        // A value takes at least a byte.
        if text.len() <= MAX_VALUES {
            return false;
        }
        let mut counter = Self::default();
        counter.read(text.as_bytes());
        counter.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_values(text: &str, expected: usize) {
        let mut counter = ValueCounter::default();
        text.as_bytes().chunks(2).for_each(|piece| counter.read(piece));
        assert_eq!(counter.inner + 1, expected, "{text}");
    }

    #[test]
    fn values_are_counted_without_a_tree() {
        check_values("7", 1);
        check_values(r#""a,[{\",\\""#, 1);
        check_values("[]", 1);
        check_values("[ ]", 1);
        check_values("[[], {}, [[]]]", 5);
        check_values(r#"{"a": 1, "b": [null, true], "c,": "]["}"#, 6);
        check_values(r#"{ "a" : { } }"#, 2);
    }

    #[test]
    fn the_budget_is_that_of_a_document() {
        let list = |values: usize| format!("[{}1]", "1,".repeat(values - 2));
        assert!(!ValueCounter::is_too_much(&list(MAX_VALUES)));
        assert!(ValueCounter::is_too_much(&list(MAX_VALUES + 1)));
        assert!(!ValueCounter::is_too_much(&format!("\"{}\"", ",".repeat(2 * MAX_VALUES))));
    }
}
