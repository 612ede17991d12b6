//! Core schema of YAML 1.2: which plain scalars are null, booleans and numbers, and which are text.

use serde_json::Number;

use super::Value;

/// Resolves a scalar. `tag` tells whether it belongs to the core schema, and its name. Returns `None` if the tag is
/// unknown or does not fit.
pub(super) fn resolve(text: String, plain: bool, tag: Option<(bool, &str)>) -> Option<Value> {
    match tag {
        // `!` alone means text, whatever it looks like.
        Some((false, "")) | Some((true, "str")) => Some(Value::String(text)),
        Some((true, name @ ("null" | "bool" | "int" | "float"))) => {
            let value = untagged(text);
            let fits = match &value {
                Value::Null => name == "null",
                Value::Bool(_) => name == "bool",
                Value::Number(number) => name == "float" || (name == "int" && !number.is_f64()),
                Value::String(_) | Value::List(_) | Value::Map(_) => false,
            };
            fits.then_some(value)
        }
        Some(_) => None,
        None if plain => Some(untagged(text)),
        None => Some(Value::String(text)),
    }
}

fn untagged(text: String) -> Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(&text).map_or(Value::String(text), Value::Number),
    }
}

/// Parses decimal, octal and hexadecimal integers, and decimal fractions. Infinity and NaN stay text: JSON has
/// neither.
fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(digits) = text.strip_prefix("0o").filter(|digits| !digits.starts_with('+')) {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+')) {
        return radix(digits, 16);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !unsigned.is_empty() && is_digits(unsigned) {
        let whole = text.strip_prefix('+').unwrap_or(text);
        return whole
            .parse::<i64>()
            .map(Number::from)
            .ok()
            .or_else(|| whole.parse::<u64>().ok().map(Number::from))
            .or_else(|| fraction(text));
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !before.is_empty() || !after.is_empty();
    let well_formed = has_digits
        && !exponent.is_empty()
        && is_digits(before)
        && is_digits(after)
        && is_digits(exponent);
    if well_formed { fraction(text) } else { None }
}

fn fraction(text: &str) -> Option<Number> {
    Number::from_f64(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::syntax::Tree;
    use crate::text::Span;

    fn check_plain(text: &str, expected: Json) {
        let value = resolve(text.to_owned(), true, None).unwrap();
        assert_eq!(Tree { span: Span::default(), value }.to_json(), expected, "{text:?}");
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for text in ["", "~", "null", "NULL"] {
            check_plain(text, json!(null));
        }
        for (text, number) in
            [("0", 0), ("12", 12), ("-7", -7), ("+5", 5), ("012", 12), ("0o17", 15), ("0xff", 255)]
        {
            check_plain(text, json!(number));
        }
        for (text, number) in
            [("1.5", 1.5), ("-.5", -0.5), ("2.", 2.0), ("1e3", 1000.0), ("1.1", 1.1)]
        {
            check_plain(text, json!(number));
        }
        check_plain("true", json!(true));
        check_plain("False", json!(false));
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "y",
            "1_000",
            "0x",
            "0o8",
            "-",
            "+",
            ".",
            "e5",
            "1e",
            "--1",
            ".inf",
            ".nan",
            "1.2.3",
            "2026-01-02",
            "nUll",
        ] {
            check_plain(text, json!(text));
        }
        check_plain("99999999999999999999", json!(1e20));
    }

    #[test]
    fn quotes_and_tags_decide() {
        assert_eq!(resolve("1".into(), false, None), Some(Value::String("1".into())));
        assert_eq!(resolve("1".into(), true, Some((true, "str"))), Some(Value::String("1".into())));
        assert_eq!(resolve("1".into(), false, Some((true, "int"))), Some(Value::Number(1.into())));
        assert_eq!(resolve("x".into(), true, Some((true, "int"))), None);
        assert_eq!(resolve("x".into(), true, Some((false, "mine"))), None);
    }
}
