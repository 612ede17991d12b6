//! Conditions that can be evaluated: none takes more work than a condition may.

use crate::condition::{EvaluationError, Evaluator, MAX_WORK};
use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::package::check::GraphRead;

/// Maximum work of the rule. Beyond that it is skipped: the runtime still keeps such an edge closed.
const WORK: u64 = 4 * MAX_WORK;

/// Reports conditions that take too much work even before a variable has a value.
pub(super) fn check(graphs: &[&GraphRead], findings: &mut Findings) {
    let mut left = WORK;
    for graph in graphs {
        for (index, edge) in graph.draft.edges.iter().enumerate() {
            let Some(Some(condition)) = &edge.condition_expr else { continue };
            let evaluator = Evaluator::new(&serde_json::Map::new());
            if evaluator.holds(condition) == Err(EvaluationError::TooMuchWork) {
                let path = ["edges".into(), index.into(), "conditionExpr".into()];
                let message = format!(
                    "this condition takes more than {MAX_WORK} operations to evaluate, so its edge would never open"
                );
                findings.push(
                    Diagnostic::new(Code::BadCondition, graph.document.place(&path), message)
                        .help("remove loops inside of loops, and texts or lists that grow in a `reduce`; or leave the choice to the model with `conditionText`"),
                );
            }
            left = left.saturating_sub(MAX_WORK - evaluator.work_left());
            if left == 0 {
                return;
            }
        }
    }
}
