//! JSONLogic conditions on edges: checked when a package is read, evaluated against a run's variables. Only this
//! module uses `datalogic-rs`.

mod evaluation;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use datalogic_rs::Logic;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

pub use evaluation::{EvaluationError, Evaluator, MAX_WORK};

use crate::syntax::Tree;
use crate::text::Span;

/// JSONLogic operators that every implementation supports, with the minimum and maximum number of arguments.
const OPERATORS: &[(&str, usize, usize)] = &[
    ("var", 0, 2),
    ("missing", 0, usize::MAX),
    ("missing_some", 2, 2),
    ("if", 1, usize::MAX),
    ("?:", 1, usize::MAX),
    ("==", 2, 2),
    ("===", 2, 2),
    ("!=", 2, 2),
    ("!==", 2, 2),
    ("!", 1, 1),
    ("!!", 1, 1),
    ("or", 1, usize::MAX),
    ("and", 1, usize::MAX),
    (">", 2, 2),
    (">=", 2, 2),
    ("<", 2, 3),
    ("<=", 2, 3),
    ("max", 1, usize::MAX),
    ("min", 1, usize::MAX),
    ("+", 1, usize::MAX),
    ("-", 1, 2),
    ("*", 1, usize::MAX),
    ("/", 2, 2),
    ("%", 2, 2),
    ("map", 2, 2),
    ("reduce", 3, 3),
    ("filter", 2, 2),
    ("all", 2, 2),
    ("none", 2, 2),
    ("some", 2, 2),
    ("merge", 0, usize::MAX),
    ("in", 2, 2),
    ("cat", 0, usize::MAX),
    ("substr", 2, 3),
];

/// Operators that evaluate their second argument for each item; there `var` refers to the item, not to a variable.
const PER_ITEM: &[&str] = &["map", "reduce", "filter", "all", "none", "some"];

/// Returns the operators that a condition may have.
pub fn operators() -> impl Iterator<Item = &'static str> {
    OPERATORS.iter().map(|(name, ..)| *name)
}

/// A well-formed condition.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Condition {
    #[schemars(with = "serde_json::Map<String, Json>")]
    rule: Json,
    #[serde(skip)]
    #[schemars(skip)]
    uses: Vec<VariableUse>,
    #[serde(skip)]
    #[schemars(skip)]
    compiled: Compiled,
}

/// Compares the rules; their positions in the text don't count.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.rule == other.rule
    }
}

/// Reference to a variable in a condition.
#[derive(Clone, Debug)]
pub(crate) struct VariableUse {
    /// Part of the name before the first dot.
    pub(crate) variable: String,
    pub(crate) span: Span,
}

/// Rule, compiled for evaluation.
#[derive(Clone)]
struct Compiled(Arc<Logic>);

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compiled")
    }
}

/// Mistake in a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    pub span: Span,
    pub message: String,
    pub help: String,
}

impl Condition {
    /// Parses a condition of a graph and reports all its mistakes.
    pub fn parse(tree: &Tree) -> Result<Self, Vec<ConditionError>> {
        let mut reader = ConditionReader::default();
        if tree.as_map().is_some() {
            reader.expression(tree, VarScope::Variables);
        } else {
            reader.errors.push(ConditionError {
                span: tree.span,
                message: format!(
                    "a condition must be a JSONLogic object, but this is {}",
                    tree.kind()
                ),
                help: r#"write for example {"==": [{"var": "projectType"}, "greenfield"]}"#.into(),
            });
        }
        if !reader.errors.is_empty() {
            return Err(reader.errors);
        }
        let rule = tree.to_json();
        match evaluation::compile(&rule) {
            Ok(compiled) => Ok(Self { rule, uses: reader.uses, compiled: Compiled(compiled) }),
            Err(error) => {
                let message = format!("this condition is not valid JSONLogic: {error}");
                let help =
                    "simplify the condition, or leave it to the model with `conditionText`".into();
                Err(vec![ConditionError { span: tree.span, message, help }])
            }
        }
    }

    /// Returns the names of the variables that it reads (the part before the first dot).
    pub fn variables(&self) -> BTreeSet<&str> {
        self.uses.iter().map(|used| used.variable.as_str()).collect()
    }

    /// Returns its references to variables, in the order of the text.
    pub(crate) fn uses(&self) -> &[VariableUse] {
        &self.uses
    }

    /// Returns the condition as JSON.
    pub fn as_json(&self) -> &Json {
        &self.rule
    }

    /// Returns true if the condition holds for these variables.
    pub fn holds(
        &self,
        variables: &serde_json::Map<String, Json>,
    ) -> Result<bool, EvaluationError> {
        Evaluator::new(variables).holds(self)
    }
}

/// Meaning of `var` at one position of a rule.
#[derive(Clone, Copy, PartialEq)]
enum VarScope {
    Variables,
    Item,
}

#[derive(Default)]
struct ConditionReader {
    errors: Vec<ConditionError>,
    uses: Vec<VariableUse>,
}

impl ConditionReader {
    fn expression(&mut self, tree: &Tree, scope: VarScope) {
        if let Some(items) = tree.as_list() {
            return items.iter().for_each(|item| self.expression(item, scope));
        }
        let Some(entries) = tree.as_map() else { return };
        let [entry] = entries else {
            self.errors.push(ConditionError {
                span: entries.get(1).map_or(tree.span, |second| second.key_span),
                message: format!(
                    "an operation is an object with exactly one key, but this one has {}",
                    entries.len()
                ),
                help: r#"combine several conditions with {"and": [ … ]} or {"or": [ … ]}"#.into(),
            });
            return;
        };
        let operator = entry.key.as_str();
        let Some((_, least, most)) = OPERATORS.iter().find(|(name, ..)| *name == operator) else {
            self.errors.push(unknown_operator(operator, entry.key_span));
            return;
        };
        let (arguments, written) = match entry.tree.as_list() {
            Some(list) => (list, ArgumentList::List),
            None => (std::slice::from_ref(&entry.tree), ArgumentList::Alone),
        };
        if arguments.len() < *least || arguments.len() > *most {
            let (given, allowed) = (arguments.len(), (*least, *most));
            self.errors.push(wrong_count(operator, given, allowed, written, entry.key_span));
        }
        if scope == VarScope::Variables {
            self.note_variables(operator, arguments);
        }
        for (index, argument) in arguments.iter().enumerate() {
            let inner =
                if index == 1 && PER_ITEM.contains(&operator) { VarScope::Item } else { scope };
            self.expression(argument, inner);
        }
    }

    fn note_variables(&mut self, operator: &str, arguments: &[Tree]) {
        let names: Vec<&Tree> = match operator {
            "var" => arguments.iter().take(1).collect(),
            "missing" => arguments.iter().collect(),
            "missing_some" => {
                arguments.get(1).and_then(Tree::as_list).unwrap_or_default().iter().collect()
            }
            _ => return,
        };
        for name in names {
            let first = name.as_str().and_then(|text| text.split('.').next()).unwrap_or_default();
            if !first.is_empty() {
                self.uses.push(VariableUse { variable: first.to_owned(), span: name.span });
            }
        }
    }
}

fn unknown_operator(operator: &str, span: Span) -> ConditionError {
    let meant = match operator {
        "=" | "eq" | "equals" | "is" => Some("=="),
        "=>" => Some(">="),
        "=<" => Some("<="),
        "gte" => Some(">="),
        "lte" => Some("<="),
        "ne" | "not_equals" | "<>" => Some("!="),
        "not" => Some("!"),
        "&&" => Some("and"),
        "||" => Some("or"),
        "contains" => Some("in"),
        "gt" => Some(">"),
        "lt" => Some("<"),
        _ => crate::wording::nearest(operator, OPERATORS.iter().map(|(name, ..)| *name)),
    };
    ConditionError {
        span,
        message: format!("{} is not a JSONLogic operator", crate::wording::quoted(operator)),
        help: meant.map_or_else(
            || {
                "use one of JSONLogic, such as `==`, `>`, `and`, `in`, or leave the condition to the model with `conditionText`".to_owned()
            },
            |meant| format!("did you mean `{meant}`?"),
        ),
    }
}

/// Arguments of an operation, as written.
#[derive(Clone, Copy)]
enum ArgumentList {
    List,
    Alone,
}

fn wrong_count(
    operator: &str,
    given: usize,
    (least, most): (usize, usize),
    written: ArgumentList,
    span: Span,
) -> ConditionError {
    let wanted = match (least, most) {
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    let last = if most == usize::MAX { least } else { most };
    let arguments = if last == 1 { "argument" } else { "arguments" };
    let verb = if given == 1 { "is" } else { "are" };
    let help = match (given < least, written) {
        (true, ArgumentList::List) => "add what is missing".to_owned(),
        (true, ArgumentList::Alone) => {
            format!(r#"write the arguments as a list: {{"{operator}": [ … ]}}"#)
        }
        (false, _) if most == 1 => {
            format!(r#"remove what is too much; {{"{operator}": …}} needs no list"#)
        }
        (false, _) => "remove what is too much".to_owned(),
    };
    ConditionError {
        span,
        message: format!("`{operator}` takes {wanted} {arguments}, but {given} {verb} given"),
        help,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::syntax::json;

    fn parse(text: &str) -> Result<Condition, Vec<ConditionError>> {
        Condition::parse(&json::parse(text).unwrap())
    }

    fn check_holds(rule: &str, variables: Json, expected: bool) {
        let condition = parse(rule).unwrap();
        assert_eq!(
            condition.holds(variables.as_object().unwrap()).unwrap(),
            expected,
            "{rule} on {variables}"
        );
    }

    fn check_refused(rule: &str, at: &str, says: &str) {
        let errors = parse(rule).unwrap_err();
        let error = &errors[0];
        assert_eq!(&rule[error.span.start..error.span.end], at);
        let all = format!("{} / {}", error.message, error.help);
        assert!(all.contains(says), "{all}");
    }

    #[test]
    fn conditions_hold_as_json_logic_says() {
        let rule = r#"{"==": [{"var": "projectType"}, "greenfield"]}"#;
        check_holds(rule, json!({"projectType": "greenfield"}), true);
        check_holds(rule, json!({"projectType": "brownfield"}), false);
        check_holds(rule, json!({}), false);
        check_holds(
            r#"{"and": [{"var": "a"}, {">": [{"var": "b.c"}, 2]}]}"#,
            json!({"a": 1, "b": {"c": 3}}),
            true,
        );
        check_holds(r#"{"!": {"var": "a"}}"#, json!({"a": []}), true);
        check_holds(
            r#"{"some": [{"var": "list"}, {"==": [{"var": ""}, 2]}]}"#,
            json!({"list": [1, 2]}),
            true,
        );
        check_holds(r#"{"in": ["x", {"var": "tags"}]}"#, json!({"tags": ["x"]}), true);
        check_holds(r#"{"missing": ["a"]}"#, json!({"a": 1}), false);
        check_holds(r#"{"?:": [{"var": "a"}, true, false]}"#, json!({"a": 1}), true);
    }

    #[test]
    fn every_operator_in_the_table_is_one_the_engine_knows() {
        let engine = datalogic_rs::Engine::new();
        let known: Vec<_> = engine.builtin_operator_names().collect();
        for (name, ..) in OPERATORS {
            assert!(known.contains(name), "{name}");
        }
    }

    #[test]
    fn mistakes_are_found_at_their_place() {
        check_refused(r#""yes""#, r#""yes""#, "must be a JSONLogic object");
        check_refused(r#"{"equals": [1, 1]}"#, r#""equals""#, "did you mean `==`?");
        check_refused(r#"{"=>": [1, 1]}"#, r#""=>""#, "did you mean `>=`?");
        check_refused(r#"{"weather": [1]}"#, r#""weather""#, "or leave the condition to the model");
        check_refused(r#"{"and": [{"vra": "x"}]}"#, r#""vra""#, "did you mean `var`?");
        check_refused(r#"{"==": [1]}"#, r#""==""#, "takes 2 arguments, but 1 is given / add what");
        check_refused(r#"{"==": 1}"#, r#""==""#, "write the arguments as a list");
        check_refused(r#"{"!": [1, 2]}"#, r#""!""#, "`!` takes 1 argument, but 2 are given");
        check_refused(r#"{"and": []}"#, r#""and""#, "takes at least 1 argument, but 0 are");
        check_refused(r#"{"<": [1, 2, 3, 4]}"#, r#""<""#, "takes 2 to 3 arguments");
        check_refused(r#"{"==": [1, 1], "!=": [1, 2]}"#, r#""!=""#, "exactly one key");
        check_refused("{}", "{}", "exactly one key");
        assert_eq!(parse(r#"{"or": [{"x": 1}, {"y": 1}]}"#).unwrap_err().len(), 2);
    }

    #[test]
    fn variables_are_named_by_their_first_part_and_items_are_not_variables() {
        let rule = r#"{"and": [{"var": ["a.b", 0]}, {"missing": ["c"]}, {"filter": [{"var": "d"}, {"var": "name"}]}, {"var": ""}]}"#;
        let condition = parse(rule).unwrap();
        assert_eq!(condition.variables().into_iter().collect::<Vec<_>>(), ["a", "c", "d"]);
        let places = condition.uses().iter().map(|used| &rule[used.span.start..used.span.end]);
        assert_eq!(places.collect::<Vec<_>>(), [r#""a.b""#, r#""c""#, r#""d""#]);
    }
}
