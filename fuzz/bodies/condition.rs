//! Fuzzes the text of a condition: it is refused, or it can be evaluated without a panic.

use crewagent_format::condition::Condition;
use crewagent_format::syntax::json;

/// Checks one input.
pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(tree) = json::parse(text) else { return };
    if let Ok(condition) = Condition::parse(&tree) {
        let variables = [
            ("projectType".to_owned(), "greenfield".into()),
            ("count".to_owned(), 3.into()),
            ("list".to_owned(), vec![1, 2, 3].into()),
        ];
        let _ = condition.holds(&variables.into_iter().collect());
        let _ = condition.holds(&Default::default());
    }
}
