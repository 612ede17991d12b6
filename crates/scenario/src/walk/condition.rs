//! Values of variables for which an edge is open.

use std::collections::BTreeSet;

use crewagent_format::condition::Condition;
use crewagent_format::package::graph::{Edge, Graph};
use serde_json::{Map, Value as Json, json};

/// Combinations of values that are tried.
const MAX_TRIES: usize = 4_000;

/// Finds values for which the edge can be taken; the current ones if they do. Returns none if no tried combination opens it.
pub(super) fn values_for(
    edge: &Edge,
    graph: &Graph,
    variables: &Map<String, Json>,
) -> Option<Map<String, Json>> {
    let Some(own) = &edge.condition_expr else {
        return Some(Map::new());
    };
    let others: Vec<&Condition> = graph
        .outgoing(edge.from.as_str())
        .filter_map(|other| other.condition_expr.as_ref())
        .collect();
    let is_open = |variables: &Map<String, Json>| {
        let holds = |condition: &Condition| condition.holds(variables).unwrap_or(false);
        holds(own) || edge.is_default && !others.iter().any(|other| holds(other))
    };
    if is_open(variables) {
        return Some(Map::new());
    }
    let names: BTreeSet<&str> = own.variables();
    let mut constants = Vec::new();
    others.iter().for_each(|other| collect(other.as_json(), &mut constants));
    let candidates = candidates(constants);
    let names: Vec<&str> = names.into_iter().collect();
    let combinations = candidates.len().checked_pow(u32::try_from(names.len()).ok()?);
    let combinations = combinations.unwrap_or(MAX_TRIES).min(MAX_TRIES);
    (0..combinations).find_map(|number| {
        let (mut tried, mut changed, mut rest) = (variables.clone(), Map::new(), number);
        for name in &names {
            let value = &candidates[rest % candidates.len()];
            rest /= candidates.len();
            tried.insert((*name).to_owned(), value.clone());
            changed.insert((*name).to_owned(), value.clone());
        }
        is_open(&tried).then_some(changed)
    })
}

/// Returns the values that are tried: those that conditions name, those beside them, and one of each kind.
fn candidates(constants: Vec<Json>) -> Vec<Json> {
    let mut candidates: Vec<Json> = Vec::new();
    let mut add = |value: Json| {
        if !candidates.contains(&value) {
            candidates.push(value);
        }
    };
    for constant in constants {
        if let Some(number) = constant.as_i64() {
            add(json!(number + 1));
            add(json!(number - 1));
        }
        add(constant);
    }
    for value in [json!(true), json!(false), json!("walked"), json!(1), json!(0), json!(["walked"])]
    {
        add(value);
    }
    candidates
}

/// Collects the plain values of a rule, without the names of variables.
fn collect(rule: &Json, constants: &mut Vec<Json>) {
    match rule {
        Json::Object(rule) => {
            for (operator, arguments) in rule {
                if operator != "var" {
                    collect(arguments, constants);
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, constants)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
            constants.push(rule.clone());
        }
    }
}
