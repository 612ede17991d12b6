//! Conditions of edges as pictures show them: the author's text, or a JSONLogic rule as a sentence.

use std::fmt::Write;

use serde_json::Value as Json;

/// Maximum number of bytes of a sentence; the rest is `…`.
const MAX_SENTENCE: usize = 600;
/// Maximum number of operations inside each other.
const MAX_DEPTH: usize = 24;

/// Condition of an edge.
#[derive(Debug, Clone, PartialEq)]
pub enum DiagramCondition {
    /// Text of the author.
    Text(String),
    /// JSONLogic.
    Rule(Json),
}

impl DiagramCondition {
    /// Returns the text of the author, or else the rule.
    pub fn of(text: Option<&str>, rule: Option<&Json>) -> Option<DiagramCondition> {
        let text = text.map(|text| DiagramCondition::Text(text.to_owned()));
        text.or_else(|| rule.cloned().map(DiagramCondition::Rule))
    }

    /// Returns the condition as the JSON of a picture has it: the text, or the rule as compact JSON.
    pub(super) fn as_written(&self) -> String {
        match self {
            DiagramCondition::Text(text) => text.clone(),
            DiagramCondition::Rule(rule) => rule.to_string(),
        }
    }

    /// Returns the condition for readers. A rule becomes a sentence of at most about [`MAX_SENTENCE`] bytes.
    pub(super) fn sentence(&self) -> String {
        match self {
            DiagramCondition::Text(text) => text.clone(),
            DiagramCondition::Rule(rule) => sentence(rule),
        }
    }
}

/// Strength of an operator; what is looser than its place asks for gets parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// `if … then … else …` and `every item of … satisfies …`, which take everything up to their end.
    Open,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Sign,
    Atom,
}

/// Meaning of `var` at a place of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameScope {
    Variables,
    /// Below the second argument of `all`, `filter`, `map`, …
    Item,
    /// Below the second argument of `reduce`: `current` and `accumulator`.
    Fold,
}

/// Renders a rule as a sentence. An operator without a form, or with arguments that do not fit it, is compact JSON.
fn sentence(rule: &Json) -> String {
    let mut writer = SentenceWriter { out: String::new(), depth: 0 };
    writer.put(rule, Strength::Open, NameScope::Variables);
    let mut out = writer.out;
    if out.len() > MAX_SENTENCE {
        let end = (0..=MAX_SENTENCE).rev().find(|&at| out.is_char_boundary(at)).unwrap_or(0);
        out.truncate(end);
        out.push('…');
    }
    out
}

struct SentenceWriter {
    out: String,
    depth: usize,
}

impl SentenceWriter {
    /// Writes a value where an operator of `least` strength fits.
    fn put(&mut self, value: &Json, least: Strength, scope: NameScope) {
        if self.out.len() > MAX_SENTENCE {
            return;
        }
        if self.depth >= MAX_DEPTH {
            self.out.push('…');
            return;
        }
        self.depth += 1;
        match value {
            Json::Array(items) => {
                self.out.push('[');
                self.list(items, scope);
                self.out.push(']');
            }
            Json::Object(_) => self.operation(value, least, scope),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => self.json(value),
        }
        self.depth -= 1;
    }

    fn operation(&mut self, value: &Json, least: Strength, scope: NameScope) {
        let operation = RuleOperation::of(value, scope);
        let Some(operation) = operation.filter(|operation| operation.fits()) else {
            return self.json(value);
        };
        let in_parentheses = operation.strength() < least;
        if in_parentheses {
            self.out.push('(');
        }
        self.form(&operation);
        if in_parentheses {
            self.out.push(')');
        }
    }

    fn form(&mut self, operation: &RuleOperation) {
        let RuleOperation { operator, arguments, scope } = *operation;
        match (operator, arguments) {
            ("var", _) => self.variable(arguments, scope),
            ("and" | "or" | "if" | "?:" | "+" | "*" | "max" | "min", [only]) => match operator {
                "+" => self.prefixed("+", only, Strength::Sign, scope),
                _ => self.put(only, Strength::Atom, scope),
            },
            ("or", _) => self.infix(" or ", arguments, Strength::And, scope),
            ("and", _) => self.infix(" and ", arguments, Strength::Not, scope),
            ("!", [only]) => self.negation(only, scope),
            ("!!", [only]) => self.prefixed("!!", only, Strength::Sign, scope),
            ("-", [only]) => self.prefixed("-", only, Strength::Sign, scope),
            ("==" | "===" | "!=" | "!==" | "<" | "<=" | ">" | ">=" | "in", _) => {
                self.infix(&format!(" {operator} "), arguments, Strength::Sum, scope);
            }
            ("+", _) => self.infix(" + ", arguments, Strength::Product, scope),
            ("-", _) => self.infix(" - ", arguments, Strength::Product, scope),
            ("*" | "/" | "%", _) => {
                self.infix(&format!(" {operator} "), arguments, Strength::Sign, scope);
            }
            ("if" | "?:", _) => self.choice(arguments, scope),
            ("missing", [only]) => {
                self.name(only);
                self.out.push_str(" is missing");
            }
            ("missing", _) => {
                self.out.push_str("any of ");
                self.names(arguments);
                self.out.push_str(" is missing");
            }
            ("missing_some", [least, Json::Array(names)]) => {
                self.out.push_str("fewer than ");
                self.put(least, Strength::Atom, scope);
                self.out.push_str(" of ");
                self.names(names);
                self.out.push_str(" are set");
            }
            ("all", [list, test]) => self.each("every item of ", list, test, scope),
            ("none", [list, test]) => self.each("no item of ", list, test, scope),
            ("some", [list, test]) => self.each("some item of ", list, test, scope),
            ("filter", [list, test]) => {
                self.out.push_str("[items of ");
                self.put(list, Strength::Comparison, scope);
                self.out.push_str(" where ");
                self.put(test, Strength::Or, NameScope::Item);
                self.out.push(']');
            }
            ("map", [list, value]) => {
                self.out.push('[');
                self.put(value, Strength::Or, NameScope::Item);
                self.out.push_str(" for every item of ");
                self.put(list, Strength::Comparison, scope);
                self.out.push(']');
            }
            ("reduce", [list, step, first]) => {
                self.out.push_str("reduce(");
                self.put(list, Strength::Or, scope);
                self.out.push_str(", ");
                self.put(step, Strength::Or, NameScope::Fold);
                self.out.push_str(", ");
                self.put(first, Strength::Or, scope);
                self.out.push(')');
            }
            // `max`, `min`, `merge`, `cat`, `substr`.
            _ => {
                let _ = write!(self.out, "{operator}(");
                self.list(arguments, scope);
                self.out.push(')');
            }
        }
    }

    fn variable(&mut self, arguments: &[Json], scope: NameScope) {
        let name = match arguments.first() {
            Some(Json::String(name)) => name.clone(),
            Some(Json::Number(index)) => index.to_string(),
            _ => String::new(),
        };
        match (scope, name.is_empty()) {
            (NameScope::Variables, true) => self.out.push_str("variables"),
            (NameScope::Item, true) => self.out.push_str("item"),
            (NameScope::Item, false) => {
                let _ = write!(self.out, "item.{name}");
            }
            (NameScope::Variables | NameScope::Fold, _) => self.out.push_str(&name),
        }
        if let Some(fallback) = arguments.get(1) {
            self.out.push_str(" (else ");
            self.put(fallback, Strength::Or, scope);
            self.out.push(')');
        }
    }

    fn negation(&mut self, only: &Json, scope: NameScope) {
        let inner = RuleOperation::of(only, scope).filter(RuleOperation::fits);
        match inner.map(|inner| (inner.operator, inner.arguments)) {
            Some(("missing", names)) => {
                self.names(names);
                self.out.push_str(if names.len() == 1 { " is set" } else { " are set" });
            }
            _ => self.prefixed("not ", only, Strength::Not, scope),
        }
    }

    fn prefixed(&mut self, prefix: &str, only: &Json, least: Strength, scope: NameScope) {
        self.out.push_str(prefix);
        self.put(only, least, scope);
    }

    fn infix(&mut self, operator: &str, arguments: &[Json], least: Strength, scope: NameScope) {
        for (at, argument) in arguments.iter().enumerate() {
            if at > 0 {
                self.out.push_str(operator);
            }
            self.put(argument, least, scope);
        }
    }

    fn choice(&mut self, arguments: &[Json], scope: NameScope) {
        let mut rest = arguments;
        while let [test, then, more @ ..] = rest {
            self.out.push_str("if ");
            self.put(test, Strength::Or, scope);
            self.out.push_str(" then ");
            self.put(then, Strength::Or, scope);
            if !more.is_empty() {
                self.out.push_str(" else ");
            }
            rest = more;
        }
        if let [last] = rest {
            self.put(last, Strength::Or, scope);
        }
    }

    fn each(&mut self, whose: &str, list: &Json, test: &Json, scope: NameScope) {
        self.out.push_str(whose);
        self.put(list, Strength::Comparison, scope);
        self.out.push_str(" satisfies ");
        self.put(test, Strength::Or, NameScope::Item);
    }

    fn list(&mut self, items: &[Json], scope: NameScope) {
        self.infix(", ", items, Strength::Or, scope);
    }

    /// Writes names of variables, which are strings in the rule.
    fn names(&mut self, names: &[Json]) {
        for (at, name) in names.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            self.name(name);
        }
    }

    fn name(&mut self, name: &Json) {
        match name.as_str() {
            Some(name) => self.out.push_str(name),
            None => self.json(name),
        }
    }

    fn json(&mut self, value: &Json) {
        let _ = write!(self.out, "{value}");
    }
}

/// RuleOperation of a rule: an object with one key.
#[derive(Debug, Clone, Copy)]
struct RuleOperation<'a> {
    operator: &'a str,
    arguments: &'a [Json],
    scope: NameScope,
}

impl<'a> RuleOperation<'a> {
    fn of(value: &'a Json, scope: NameScope) -> Option<RuleOperation<'a>> {
        let object = value.as_object()?;
        let (operator, argument) = object.iter().next().filter(|_| object.len() == 1)?;
        let alone = std::slice::from_ref(argument);
        let arguments = argument.as_array().map_or(alone, Vec::as_slice);
        Some(RuleOperation { operator, arguments, scope })
    }

    /// Returns true if there is a form for the operator with these arguments.
    fn fits(&self) -> bool {
        let count = self.arguments.len();
        match self.operator {
            "var" => {
                let name = self.arguments.first();
                let is_plain = |name: &Json| name.is_string() || name.is_number() || name.is_null();
                count <= 2 && name.is_none_or(is_plain)
            }
            "missing" => count > 0 && self.arguments.iter().all(Json::is_string),
            "missing_some" => matches!(
                self.arguments,
                [least, Json::Array(names)] if least.is_number() && names.iter().all(Json::is_string)
            ),
            "!" | "!!" => count == 1,
            "<" | "<=" => (2..=3).contains(&count),
            "==" | "===" | "!=" | "!==" | ">" | ">=" | "in" | "/" | "%" | "all" | "none"
            | "some" | "filter" | "map" => count == 2,
            "-" => (1..=2).contains(&count),
            "and" | "or" | "if" | "?:" | "+" | "*" | "max" | "min" => count > 0,
            "reduce" => count == 3,
            "merge" | "cat" | "substr" => true,
            _ => false,
        }
    }

    fn strength(&self) -> Strength {
        let is_alone = self.arguments.len() == 1;
        match self.operator {
            "and" | "or" | "if" | "?:" | "*" if is_alone => Strength::Atom,
            "if" | "?:" | "all" | "none" | "some" => Strength::Open,
            "or" => Strength::Or,
            "and" => Strength::And,
            "!" => Strength::Not,
            "==" | "===" | "!=" | "!==" | "<" | "<=" | ">" | ">=" | "in" | "missing"
            | "missing_some" => Strength::Comparison,
            "!!" => Strength::Sign,
            "+" | "-" if is_alone => Strength::Sign,
            "+" | "-" => Strength::Sum,
            "*" | "/" | "%" => Strength::Product,
            _ => Strength::Atom,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &str, expected: &str) {
        assert_eq!(sentence(&serde_json::from_str(rule).expect("it is JSON")), expected);
    }

    #[test]
    fn comparisons_and_their_combinations_read_as_a_sentence() {
        check(r#"{"and": [{"==": [{"var": "a"}, "b"]}, {"var": "c"}]}"#, r#"a == "b" and c"#);
        check(
            r#"{"and": [{"or": [{"var": "a"}, {"!": {"var": "b"}}]}, {"<": [1, {"var": "c.d"}, 5]}]}"#,
            "(a or not b) and 1 < c.d < 5",
        );
        check(
            r#"{"!": {"and": [{"var": "a"}, {"in": [{"var": "b"}, ["x", "y"]]}]}}"#,
            r#"not (a and b in ["x", "y"])"#,
        );
        check(r#"{"or": [{"var": "a"}]}"#, "a");
        check(r#"{"!==": [{"!!": [{"var": "a"}]}, true]}"#, "!!a !== true");
        check(r#"{"==": [{"==": [{"var": "a"}, 1]}, {"var": "b"}]}"#, "(a == 1) == b");
        check(r#"{">=": [{"var": ["score", 0]}, 8]}"#, "score (else 0) >= 8");
    }

    #[test]
    fn calculations_keep_their_order() {
        check(
            r#"{">": [{"*": [{"+": [{"var": "a"}, 1]}, {"-": {"var": "b"}}]}, {"%": [{"var": "c"}, 2]}]}"#,
            "(a + 1) * -b > c % 2",
        );
        check(
            r#"{"==": [{"-": [{"var": "a"}, {"-": [{"var": "b"}, 1]}]}, {"max": [1, 2]}]}"#,
            "a - (b - 1) == max(1, 2)",
        );
        check(
            r#"{"==": [{"substr": [{"cat": [{"var": "a"}, "-"]}, 0, 3]}, {"merge": []}]}"#,
            r#"substr(cat(a, "-"), 0, 3) == merge()"#,
        );
    }

    #[test]
    fn lists_and_choices_have_a_form() {
        check(
            r#"{"all": [{"var": "tasks"}, {"==": [{"var": "done"}, true]}]}"#,
            "every item of tasks satisfies item.done == true",
        );
        check(
            r#"{"and": [{"none": [{"var": "t"}, {"var": ""}]}, {"some": [{"var": "u"}, {"var": "x"}]}]}"#,
            "(no item of t satisfies item) and (some item of u satisfies item.x)",
        );
        check(
            r#"{"in": ["a", {"map": [{"filter": [{"var": "t"}, {"var": "on"}]}, {"var": "name"}]}]}"#,
            r#""a" in [item.name for every item of [items of t where item.on]]"#,
        );
        check(
            r#"{">": [{"reduce": [{"var": "t"}, {"+": [{"var": "current"}, {"var": "accumulator"}]}, 0]}, 3]}"#,
            "reduce(t, current + accumulator, 0) > 3",
        );
        check(
            r#"{"if": [{"var": "a"}, {"var": "b"}, {"var": "c"}, 1, false]}"#,
            "if a then b else if c then 1 else false",
        );
        check(r#"{"!": {"missing": ["a"]}}"#, "a is set");
        check(r#"{"!": {"missing": ["a", "b"]}}"#, "a, b are set");
        check(r#"{"missing": ["a", "b"]}"#, "any of a, b is missing");
        check(r#"{"missing_some": [1, ["a", "b"]]}"#, "fewer than 1 of a, b are set");
    }

    #[test]
    fn an_operation_without_a_form_is_compact_json() {
        for rule in [
            r#"{"var":{"cat":["a","b"]}}"#,
            r#"{"missing":[{"var":"names"}]}"#,
            r#"{"missing_some":[1,{"var":"names"}]}"#,
            r#"{"unknown":[1]}"#,
            r#"{"==":[1,2],"!=":[1,2]}"#,
            r#"{}"#,
        ] {
            check(rule, rule);
        }
    }

    #[test]
    fn every_operator_of_the_format_has_a_form() {
        for operator in crewagent_format::condition::operators() {
            let fits = (0..=3).any(|count| {
                let names: Vec<Json> = (0..count).map(|_| Json::from("a")).collect();
                RuleOperation { operator, arguments: &names, scope: NameScope::Variables }.fits()
            });
            assert!(fits || operator == "missing_some", "{operator}");
        }
    }

    #[test]
    fn sentences_are_bounded_whatever_the_rule() {
        let wide = Json::from((0..100_000).collect::<Vec<_>>());
        let wide = serde_json::json!({ "in": [{ "var": "a" }, wide] });
        let long = serde_json::json!({ "==": [{ "var": "a" }, "é".repeat(100_000)] });
        let deep = (0..100).fold(Json::from(1), |rule, _| serde_json::json!({ "!": [rule] }));
        for rule in [wide, long] {
            let text = sentence(&rule);
            assert!(text.len() <= MAX_SENTENCE + "…".len() && text.ends_with('…'), "{text}");
        }
        assert_eq!(sentence(&deep), format!("{}…", "not ".repeat(MAX_DEPTH)));
    }
}
