//! Literals of JSON, and of Python where they mean the same: `True`, single quotes, tuples.
//!
//! More than JSON is read only where it has one meaning. Nothing is closed, and no comma or colon is added.

use serde_json::{Map, Number, Value as Json};

/// Maximum depth of a value.
const DEPTH: usize = 96;

/// Fault of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralFault {
    /// The text ends before the literal does.
    Unclosed,
    Invalid,
    /// Arguments without names.
    Unnamed,
}

pub(super) type Parsed<T> = Result<T, LiteralFault>;

/// Reads the value at the beginning of a text, and returns it with the rest.
pub(super) fn value(text: &str) -> Parsed<(Json, &str)> {
    let mut reader = LiteralReader { text, at: 0 };
    let value = reader.value(DEPTH)?;
    Ok((value, reader.rest()))
}

/// Reads `key=value, …)`, or `{…})`, and returns the arguments with the rest behind the parenthesis.
pub(super) fn arguments(text: &str) -> Parsed<(Map<String, Json>, &str)> {
    let mut reader = LiteralReader { text, at: 0 };
    reader.blank();
    if !reader.take('{') {
        let arguments = reader.entries(')', &['=', ':'], DEPTH)?;
        return Ok((arguments, reader.rest()));
    }
    let arguments = reader.entries('}', &[':'], DEPTH)?;
    reader.blank();
    reader.take(',');
    reader.blank();
    if reader.take(')') { Ok((arguments, reader.rest())) } else { Err(reader.fault()) }
}

/// Returns true if a text begins with a name and its value, as arguments do.
pub(super) fn begins_named(text: &str) -> bool {
    let mut reader = LiteralReader { text, at: 0 };
    reader.blank();
    if reader.peek() == Some('{') {
        return true;
    }
    reader.identifier().is_some_and(|_| {
        reader.blank();
        reader.rest().starts_with('=')
    })
}

struct LiteralReader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> LiteralReader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, mark: char) -> bool {
        let is_there = self.rest().starts_with(mark);
        if is_there {
            self.at += mark.len_utf8();
        }
        is_there
    }

    /// Returns the fault of a text that is not as expected here.
    fn fault(&self) -> LiteralFault {
        if self.rest().is_empty() { LiteralFault::Unclosed } else { LiteralFault::Invalid }
    }

    fn value(&mut self, depth: usize) -> Parsed<Json> {
        let depth = depth.checked_sub(1).ok_or(LiteralFault::Invalid)?;
        self.blank();
        match self.peek() {
            None => Err(LiteralFault::Unclosed),
            Some('{') => {
                self.at += 1;
                self.entries('}', &[':'], depth).map(Json::Object)
            }
            Some('[') => self.list(']', depth),
            Some('(') => self.list(')', depth),
            Some('"' | '\'') => self.string(false).map(Json::String),
            Some('r' | 'R') if self.is_prefix() => {
                self.at += 1;
                self.string(true).map(Json::String)
            }
            Some('u' | 'U') if self.is_prefix() => {
                self.at += 1;
                self.string(false).map(Json::String)
            }
            Some(_) => self.word(),
        }
    }

    /// Returns true if a letter stands before a quote.
    fn is_prefix(&self) -> bool {
        self.rest().get(1..).is_some_and(|rest| rest.starts_with(['"', '\'']))
    }

    fn list(&mut self, close: char, depth: usize) -> Parsed<Json> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blank();
            if self.take(close) {
                return Ok(Json::Array(items));
            }
            items.push(self.value(depth)?);
            self.blank();
            if !self.take(',') && self.peek() != Some(close) {
                return Err(self.fault());
            }
        }
    }

    /// Reads keys and values up to the closing mark. A key may occur twice only with the same value.
    fn entries(
        &mut self,
        close: char,
        between: &[char],
        depth: usize,
    ) -> Parsed<Map<String, Json>> {
        let mut entries = Map::new();
        loop {
            self.blank();
            if self.take(close) {
                return Ok(entries);
            }
            let key = match self.peek() {
                Some('"' | '\'') if close == '}' => self.string(false)?,
                None => return Err(LiteralFault::Unclosed),
                Some(_) => self.identifier().ok_or_else(|| self.unnamed(close))?.to_owned(),
            };
            self.blank();
            if !between.iter().any(|mark| self.take(*mark)) {
                return Err(self.unnamed(close));
            }
            let value = self.value(depth)?;
            match entries.get(&key) {
                Some(earlier) if *earlier != value => return Err(LiteralFault::Invalid),
                Some(_) => {}
                None => {
                    entries.insert(key, value);
                }
            }
            self.blank();
            if !self.take(',') && self.peek() != Some(close) {
                return Err(self.fault());
            }
        }
    }

    fn unnamed(&self, close: char) -> LiteralFault {
        let fault = self.fault();
        let is_unnamed = fault == LiteralFault::Invalid && close == ')';
        if is_unnamed { LiteralFault::Unnamed } else { fault }
    }

    fn identifier(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
            .unwrap_or(rest.len());
        let is_name = rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
        self.at += if is_name { end } else { 0 };
        is_name.then(|| &rest[..end])
    }

    /// Reads a number, or a word for one of three values.
    fn word(&mut self) -> Parsed<Json> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')))
            .unwrap_or(rest.len());
        let value = match &rest[..end] {
            "true" | "True" => Json::Bool(true),
            "false" | "False" => Json::Bool(false),
            "null" | "None" => Json::Null,
            _ if end == rest.len() => return Err(LiteralFault::Unclosed),
            number => serde_json::from_str::<Number>(number)
                .map(Json::Number)
                .map_err(|_| LiteralFault::Invalid)?,
        };
        self.at += end;
        Ok(value)
    }

    /// Reads a text in quotes. Line breaks and other control characters may stand in it as they are.
    fn string(&mut self, is_raw: bool) -> Parsed<String> {
        let quote = self.peek().ok_or(LiteralFault::Unclosed)?;
        let is_long = ["\"\"\"", "'''"].iter().any(|mark| self.rest().starts_with(mark));
        let marks = if is_long { 3 } else { 1 };
        let mark = &self.rest()[..marks];
        self.at += marks;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let stop = rest.find([quote, '\\']).ok_or(LiteralFault::Unclosed)?;
            text.push_str(&rest[..stop]);
            self.at += stop;
            if self.rest().starts_with(mark) {
                self.at += marks;
                return Ok(text);
            }
            self.at += 1;
            match rest.as_bytes().get(stop) {
                Some(b'\\') if is_raw => {
                    text.push('\\');
                    let next = self.peek().ok_or(LiteralFault::Unclosed)?;
                    text.push(next);
                    self.at += next.len_utf8();
                }
                Some(b'\\') => self.escape(&mut text)?,
                Some(_) | None => text.push(quote),
            }
        }
    }

    /// Reads what follows a backslash. An unknown escape stands for itself.
    fn escape(&mut self, text: &mut String) -> Parsed<()> {
        let escaped = self.peek().ok_or(LiteralFault::Unclosed)?;
        self.at += escaped.len_utf8();
        match escaped {
            '"' | '\'' | '\\' | '/' => text.push(escaped),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'u' => text.push(self.unicode()?),
            // Python continues the text on the next line.
            '\n' => {}
            unknown => text.extend(['\\', unknown]),
        }
        Ok(())
    }

    fn unicode(&mut self) -> Parsed<char> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).ok_or(LiteralFault::Invalid);
        }
        if !(self.take('\\') && self.take('u')) {
            return Err(self.fault());
        }
        let second = self.hex()?;
        let is_pair = (0xdc00..0xe000).contains(&second);
        let code = 0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff);
        char::from_u32(code).filter(|_| is_pair).ok_or(LiteralFault::Invalid)
    }

    fn hex(&mut self) -> Parsed<u32> {
        if self.rest().len() < 4 {
            return Err(LiteralFault::Unclosed);
        }
        let digits = self.rest().get(..4).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        code.ok_or(LiteralFault::Invalid)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use serde_json::json;

    use super::*;

    fn check(text: &str, expected: &Json) {
        let (found, rest) = value(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!((&found, rest), (expected, ""), "{text}");
    }

    fn check_fault(text: &str, expected: LiteralFault) {
        assert_eq!(value(text).map(|(value, _)| value), Err(expected), "{text}");
    }

    #[test]
    fn literals_of_both_languages_are_read() {
        check(
            r#"{"a": [1, -2.5e3, true, null], "b": {}}"#,
            &json!({"a": [1, -2.5e3, true, null], "b": {}}),
        );
        check("{'a': True, 'b': None, 'c': False}", &json!({"a": true, "b": null, "c": false}));
        check("{'a': \"it's\", \"b\": 'a \"word\"'}", &json!({"a": "it's", "b": "a \"word\""}));
        check("('a', 'b',)", &json!(["a", "b"]));
        check("{path: 'x', start-line: 3,}", &json!({"path": "x", "start-line": 3}));
        check("'''a\n'b' \"c\"'''", &json!("a\n'b' \"c\""));
        check("\"\"\"# Title\n\nA \"word\".\n\"\"\"", &json!("# Title\n\nA \"word\".\n"));
        check(r"r'\d+'", &json!(r"\d+"));
        check(r"u'ü'", &json!("ü"));
        check("\"a\nb\tc\"", &json!("a\nb\tc"));
        check(r#""\d \" \\ \/ \n \u00e4 \ud83d\ude00 é""#, &json!("\\d \" \\ / \n ä 😀 é"));
        check("\"a\\\nb\"", &json!("ab"));
        check("{\"a\": 1, \"a\": 1}", &json!({"a": 1}));
    }

    #[test]
    fn what_is_open_or_ambiguous_is_refused() {
        for text in [
            "",
            "{",
            "{\"a",
            "{\"a\":",
            "{\"a\": 1",
            "{\"a\": 1,",
            "[1, 'x",
            "'''a''",
            "\"\\",
            "\"\\u00",
            "{a",
            "tr",
        ] {
            check_fault(text, LiteralFault::Unclosed);
        }
        for text in [
            "{\"a\": \"say \"hi\"\"}",
            "{\"a\" 1}",
            "[1 2]",
            "{\"a\": 1 \"b\": 2}",
            "{\"a\": 1, \"a\": 2}",
            "{,}",
            "{1: 2}",
            "{\"a\": word}",
            "{\"a\": f'x'}",
            "[\"\\ud800\"]",
            "[\"\\uzzzz\"]",
            "[+]",
        ] {
            check_fault(text, LiteralFault::Invalid);
        }
    }

    #[test]
    fn arguments_have_names_or_are_one_object() {
        let read = |text: &'static str| arguments(text).map(|(it, rest)| (Json::Object(it), rest));
        assert_eq!(read(") x"), Ok((json!({}), " x")));
        assert_eq!(read("path='a', n = 3,)"), Ok((json!({"path": "a", "n": 3}), "")));
        assert_eq!(read("\n  path: \"a\"\n)\n"), Ok((json!({"path": "a"}), "\n")));
        assert_eq!(read("{'path': 'a'})"), Ok((json!({"path": "a"}), "")));
        assert_eq!(read("'a')"), Err(LiteralFault::Unnamed));
        assert_eq!(read("path)"), Err(LiteralFault::Unnamed));
        assert_eq!(read("path='a', 3)"), Err(LiteralFault::Unnamed));
        assert_eq!(read("path='a'"), Err(LiteralFault::Unclosed));
        assert_eq!(read("path"), Err(LiteralFault::Unclosed));
        assert_eq!(read("{'path': 'a'}"), Err(LiteralFault::Unclosed));
        assert_eq!(read("{'path': 'a'} x"), Err(LiteralFault::Invalid));
        assert_eq!(read("path=a)"), Err(LiteralFault::Invalid));
    }

    #[test]
    fn deep_values_end() {
        for mark in ["[", "{\"a\":", "("] {
            assert!(value(&mark.repeat(100_000)).is_err());
        }
    }

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            any::<f64>().prop_filter("finite", |it| it.is_finite()).prop_map(Json::from),
            "\\PC{0,12}|[\\x00-\\x1f\"'\\\\]{0,6}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::btree_map("\\PC{0,6}", inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn json_is_read_as_json(json in any_json()) {
            for text in [json.to_string(), format!("{json:#}")] {
                // A word at the end of a text may be cut.
                let text = format!("[{text}]");
                prop_assert_eq!(value(&text), Ok((Json::Array(vec![json.clone()]), "")));
            }
        }

        #[test]
        fn a_beginning_is_never_a_value(json in any_json(), at in any::<prop::sample::Index>()) {
            let text = Json::Array(vec![json]).to_string();
            let end = text.floor_char_boundary(at.index(text.len()));
            prop_assert_eq!(value(&text[..end]), Err(LiteralFault::Unclosed), "{}", &text[..end]);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\](){}'\"\\\\:,=a1 \\n-]{0,60}|\\PC{0,40}") {
            let _ = value(&text);
            let _ = arguments(&text);
        }
    }
}
