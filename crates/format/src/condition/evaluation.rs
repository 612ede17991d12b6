//! Evaluation of conditions with a bound on their work, so that neither nested loops nor a text that doubles itself
//! can take all time or memory.
//!
//! The library has no such bound. So each operation is compiled as the argument of an operator of ours, which sees the
//! value of the operation, charges for it, and ends the evaluation when the work is used up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use datalogic_rs::bumpalo::Bump;
use datalogic_rs::operator::EvalContext;
use datalogic_rs::{CustomOperator, DataValue, Engine, Logic};
use serde_json::{Map, Value as Json, json};
use thiserror::Error;

use super::{Condition, PER_ITEM};

/// Maximum work of an evaluator: an operation costs one, and so does each value or 16 bytes of text that it looks at.
pub const MAX_WORK: u64 = 1_000_000;

/// Bytes of text that cost as much as an operation.
const BYTES_A_UNIT: usize = 16;

/// Name of the operator that counts. No condition can name it, because it is not in the table of operators.
const METERED: &str = "metered";

/// Failed evaluation of a well-formed condition on the given variables.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum EvaluationError {
    /// The operators do not fit the values.
    #[error("the condition cannot be evaluated: {0}")]
    Unfit(String),
    /// The work is used up.
    #[error(
        "its condition takes more than {MAX_WORK} operations to evaluate, because it repeats a loop inside another or makes a text or a list grow"
    )]
    TooMuchWork,
}

/// Evaluates conditions on one set of variables. The conditions share the work of [`MAX_WORK`].
pub struct Evaluator {
    engine: Engine,
    left: Arc<AtomicU64>,
    variables: Json,
}

impl Evaluator {
    /// Makes an evaluator for these variables.
    pub fn new(variables: &Map<String, Json>) -> Self {
        let left = Arc::new(AtomicU64::new(MAX_WORK));
        let engine = Engine::builder().add_operator(METERED, WorkMeter(Arc::clone(&left))).build();
        Self { engine, left, variables: Json::Object(variables.clone()) }
    }

    /// Returns true if the condition holds for the variables.
    pub fn holds(&self, condition: &Condition) -> Result<bool, EvaluationError> {
        let mut session = self.engine.session();
        match session.eval_borrowed(&condition.compiled.0, &self.variables) {
            Ok(value) => Ok(self.engine.truthy(value)),
            Err(_) if self.work_left() == 0 => Err(EvaluationError::TooMuchWork),
            Err(error) => Err(EvaluationError::Unfit(error.to_string())),
        }
    }

    /// Returns the work that is left.
    pub(crate) fn work_left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }
}

/// Compiles a rule whose operations have been checked.
pub(super) fn compile(rule: &Json) -> Result<Arc<Logic>, String> {
    let meter = WorkMeter(Arc::new(AtomicU64::new(MAX_WORK)));
    let engine = Engine::builder().add_operator(METERED, meter).build();
    engine.compile_arc(&metered(rule)).map_err(|error| error.to_string())
}

/// Returns the rule with each operation inside of the operator that counts.
fn metered(rule: &Json) -> Json {
    match rule {
        Json::Array(items) => items.iter().map(metered).collect(),
        Json::Object(operation) => {
            let literals = operation.values().map(literal_cost).sum::<u64>();
            let inner: Map<String, Json> = operation
                .iter()
                .map(|(name, arguments)| (name.clone(), metered_arguments(name, arguments)))
                .collect();
            counted(Json::Object(inner), literals)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => rule.clone(),
    }
}

fn metered_arguments(operator: &str, arguments: &Json) -> Json {
    let mut arguments = metered(arguments);
    // A loop is counted even if it repeats a mere value.
    if PER_ITEM.contains(&operator)
        && let Some(body) = arguments.get_mut(1)
        && !body.is_object()
    {
        *body = counted(body.take(), 0);
    }
    arguments
}

fn counted(operation: Json, literals: u64) -> Json {
    json!({ METERED: [operation, literals] })
}

/// Returns the cost of the values that stand in a rule; its operations are counted where they are evaluated.
fn literal_cost(value: &Json) -> u64 {
    match value {
        Json::Array(items) => items.iter().map(literal_cost).sum::<u64>() + items.len() as u64,
        Json::String(text) => text_cost(text),
        Json::Object(_) | Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

fn text_cost(text: &str) -> u64 {
    (text.len() / BYTES_A_UNIT) as u64
}

/// Operator that charges for the value of an operation and passes it on.
struct WorkMeter(Arc<AtomicU64>);

impl CustomOperator for WorkMeter {
    fn evaluate<'a>(
        &self,
        args: &[&'a DataValue<'a>],
        _: &mut EvalContext<'_, 'a>,
        _: &'a Bump,
    ) -> datalogic_rs::Result<&'a DataValue<'a>> {
        let missing = || datalogic_rs::Error::custom_message("an operation has no value");
        let value = *args.first().ok_or_else(missing)?;
        let literals = args.get(1).and_then(|cost| cost.as_f64()).unwrap_or_default() as u64;
        let left = self.0.load(Ordering::Relaxed);
        let rest = left.checked_sub(literals + 1).and_then(|left| charged(value, left));
        self.0.store(rest.unwrap_or(0), Ordering::Relaxed);
        match rest {
            Some(1..) => Ok(value),
            Some(0) | None => Err(datalogic_rs::Error::custom_message("the work is used up")),
        }
    }
}

/// Returns the work that is left after a look at a value; `None` if it does not suffice.
fn charged(value: &DataValue<'_>, left: u64) -> Option<u64> {
    match value {
        DataValue::String(text) => left.checked_sub(text_cost(text)),
        DataValue::Array(items) => items
            .iter()
            .try_fold(left.checked_sub(items.len() as u64)?, |left, item| charged(item, left)),
        DataValue::Object(entries) => entries
            .iter()
            .try_fold(left.checked_sub(entries.len() as u64)?, |left, (name, item)| {
                charged(item, left.checked_sub(text_cost(name))?)
            }),
        DataValue::Null | DataValue::Bool(_) | DataValue::Number(_) => Some(left),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use serde_json::json;

    use super::*;
    use crate::syntax::json::parse;

    fn condition(rule: &Json) -> Condition {
        Condition::parse(&parse(&rule.to_string()).unwrap()).unwrap()
    }

    #[track_caller]
    fn check_too_much(rule: Json, variables: &Json) {
        let evaluator = Evaluator::new(variables.as_object().unwrap());
        let result = evaluator.holds(&condition(&rule));
        assert_eq!(result, Err(EvaluationError::TooMuchWork), "{rule}");
    }

    fn hundred() -> Json {
        (0..100).collect()
    }

    #[test]
    fn a_text_that_doubles_itself_ends_soon() {
        let doubled = json!({"cat": [{"var": "accumulator"}, {"var": "accumulator"}]});
        check_too_much(json!({"reduce": [hundred(), doubled, "x"]}), &json!({}));
        let merged = json!({"merge": [{"var": "accumulator"}, {"var": "accumulator"}]});
        check_too_much(
            json!({"reduce": [{"var": "list"}, merged, [1]]}),
            &json!({"list": hundred()}),
        );
        let nested = json!([{"var": "accumulator"}, {"var": "accumulator"}]);
        check_too_much(
            json!({"reduce": [{"var": "list"}, nested, 1]}),
            &json!({"list": hundred()}),
        );
    }

    #[test]
    fn loops_inside_of_loops_end_soon() {
        for operator in ["some", "map", "filter", "none", "all"] {
            let end = json!(operator == "all");
            let rule = (0..6).fold(end, |body, _| json!({operator: [hundred(), body]}));
            check_too_much(rule, &json!({}));
        }
    }

    #[test]
    fn long_values_of_the_rule_count_wherever_they_are_looked_at() {
        let long = "x".repeat(100_000);
        let rule = json!({"some": [{"var": "list"}, {"in": ["y", long]}]});
        check_too_much(rule, &json!({"list": vec![0; 1000]}));
    }

    #[test]
    fn conditions_of_one_evaluator_share_the_work() {
        let rule = condition(&json!({"none": [{"var": "list"}, {"==": [{"var": ""}, 1]}]}));
        let variables = json!({"list": vec![0; 10_000]});
        let evaluator = Evaluator::new(variables.as_object().unwrap());
        assert_eq!(evaluator.holds(&rule), Ok(true), "a long list is no problem");
        let mut results = std::iter::repeat_with(|| evaluator.holds(&rule));
        assert!(results.any(|result| result == Err(EvaluationError::TooMuchWork)));
    }

    fn value() -> impl Strategy<Value = Json> {
        prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Json::from),
            (-3..4).prop_map(Json::from),
            "[ab1]{0,2}".prop_map(Json::from),
            prop::collection::vec((-2..3).prop_map(Json::from), 0..4).prop_map(Json::from),
            prop::sample::select(vec![
                "a",
                "b",
                "list",
                "list.0",
                "none",
                "",
                "accumulator",
                "current"
            ])
            .prop_map(|name| json!({"var": name})),
            Just(json!({"var": ["none", 7]})),
            Just(json!({"missing": ["a", "none"]})),
        ]
    }

    fn rule() -> impl Strategy<Value = Json> {
        let one = prop::sample::select(vec!["!", "!!"]);
        let two = prop::sample::select(vec!["==", "===", "!=", "<", ">=", "%", "in", "-"]);
        let any = prop::sample::select(vec!["and", "or", "if", "max", "+", "*", "merge", "cat"]);
        let each = prop::sample::select(vec!["map", "filter", "all", "none", "some"]);
        value().prop_recursive(4, 24, 4, move |inner| {
            let many = prop::collection::vec(inner.clone(), 1..4);
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                (one.clone(), inner.clone()).prop_map(|(name, a)| json!({name: [a]})),
                (two.clone(), pair.clone()).prop_map(|(name, (a, b))| json!({name: [a, b]})),
                (any.clone(), many).prop_map(|(name, all)| json!({name: all})),
                (each.clone(), pair.clone()).prop_map(|(name, (a, b))| json!({name: [a, b]})),
                (pair, inner).prop_map(|((a, b), c)| json!({"reduce": [a, b, c]})),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn counting_changes_no_answer(rule in rule()) {
            let rule = if rule.is_object() { rule } else { json!({"!!": [rule]}) };
            let variables = json!({"a": 1, "b": "ab", "list": [1, "b", 0]});
            let plain = Engine::new();
            let compiled = plain.compile_arc(&rule).unwrap();
            let mut session = plain.session();
            let bare = session.eval_borrowed(&compiled, &variables).map(|value| plain.truthy(value));
            let evaluator = Evaluator::new(variables.as_object().unwrap());
            prop_assert_eq!(evaluator.holds(&condition(&rule)).ok(), bare.ok(), "{}", rule);
        }
    }
}
