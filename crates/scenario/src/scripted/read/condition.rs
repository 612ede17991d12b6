//! Reads the conditions of a reply.

use crewagent_core::refusal::RefusalCode;
use crewagent_format::syntax::{Entry, Tree, Value};

use crate::scripted::reading::ScriptReader;
use crate::scripted::when::{ExpectedAnswers, ReplyCondition, TextPattern};

const KEYS: [&str; 7] =
    ["input", "turn", "nodeTurn", "variables", "refused", "answers", "contains"];

pub(super) fn when(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<ReplyCondition> {
    let entries = reading.map(tree, "`when`", &KEYS)?;
    let mut when = ReplyCondition::default();
    for Entry { key, tree, .. } in entries {
        match key.as_str() {
            "input" => {
                let text = reading.text(tree, "`input`")?;
                match TextPattern::new(text) {
                    Ok(pattern) => when.input = Some(pattern),
                    Err(why) => return reading.wrong(tree.span, format!("`input` {why}")),
                }
            }
            "turn" => when.turn = Some(reading.number(tree, "`turn`")?),
            "nodeTurn" => when.node_turn = Some(reading.number(tree, "`nodeTurn`")?),
            "variables" => {
                for entry in reading.any_map(tree, "`variables`")? {
                    when.variables.insert(entry.key.clone(), entry.tree.to_json());
                }
            }
            "refused" => when.refused = Some(verdicts(reading, tree, "`refused`", &[])?),
            "answers" => when.answers = Some(answers(reading, tree)?),
            "contains" => when.contains = Some(reading.text(tree, "`contains`")?.to_owned()),
            _ => {}
        }
    }
    Some(when)
}

/// Reads one verdict for every answer, or a list with one entry per answer.
fn answers(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<ExpectedAnswers> {
    const ALSO: [&str; 2] = ["ok", "any"];
    if tree.as_list().is_none() {
        return verdicts(reading, tree, "`answers`", &ALSO).map(ExpectedAnswers::Each);
    }
    let items = reading.list(tree, "`answers`")?;
    let each = items.iter().map(|item| verdicts(reading, item, "an answer", &ALSO));
    each.collect::<Option<_>>().map(ExpectedAnswers::Listed)
}

/// Reads a code, or several alternatives.
fn verdicts(
    reading: &mut ScriptReader<'_>,
    tree: &Tree,
    what: &str,
    also: &[&str],
) -> Option<Vec<String>> {
    match &tree.value {
        Value::List(items) => items.iter().map(|item| verdict(reading, item, what, also)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Map(_) => {
            Some(vec![verdict(reading, tree, what, also)?])
        }
    }
}

fn verdict(
    reading: &mut ScriptReader<'_>,
    tree: &Tree,
    what: &str,
    also: &[&str],
) -> Option<String> {
    let text = reading.text(tree, what)?;
    let is_code = serde_json::from_value::<RefusalCode>(text.into()).is_ok();
    if is_code || also.contains(&text) {
        return Some(text.to_owned());
    }
    let also = also.iter().map(|word| format!(", or `{word}`")).collect::<String>();
    let message = format!(
        "{what} must be the code of a refusal, such as `E_INVALID_TRANSITION`{also}, but this is {text:?}"
    );
    reading.wrong(tree.span, message)
}
