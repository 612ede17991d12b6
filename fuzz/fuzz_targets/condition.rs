//! Any text as a condition: it is refused, or it can be evaluated without a panic.
#![no_main]

use crewagent_core::condition::Condition;
use crewagent_core::syntax::json;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
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
});
