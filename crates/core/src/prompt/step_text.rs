//! The text of a step as the brief shows it: verbatim, but for the call that the brief itself ends with.

use serde_json::{Map, Value as Json};

use crate::state::document::STATE_FILE;
use crate::vpath::with_mounts;

/// Mark in the place of the call.
const BELOW: &str = "(below)";

/// Text of a step, and the example values of the call that was taken out of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ShownStep {
    pub(super) text: String,
    pub(super) examples: Map<String, Json>,
}

/// Returns the text of a step with the mounts that tools take, and verbatim otherwise.
pub(super) fn verbatim(body: &str) -> String {
    with_mounts(body.trim()).into_owned()
}

/// Returns the text of a step in which a fenced call that updates the state document is replaced by a mark: the brief
/// ends with the call that does it.
pub(super) fn without_calls(body: &str) -> ShownStep {
    let whole = verbatim(body);
    let mut shown = ShownStep::default();
    let mut lines = whole.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let Some((fence, is_json)) = opening_fence(line) else {
            shown.text.push_str(line);
            continue;
        };
        let mut block = String::new();
        let mut close = None;
        for line in lines.by_ref() {
            if line.trim() == fence {
                close = Some(line);
                break;
            }
            block.push_str(line);
        }
        match (close, example_values(&block).filter(|_| is_json)) {
            (Some(close), Some(values)) => {
                shown.examples.extend(values);
                let indent = &line[..line.len() - line.trim_start().len()];
                let end = if close.ends_with('\n') { "\n" } else { "" };
                shown.text.push_str(&format!("{indent}{BELOW}{end}"));
            }
            (close, _) => {
                shown.text.push_str(line);
                shown.text.push_str(&block);
                shown.text.push_str(close.unwrap_or_default());
            }
        }
    }
    shown
}

/// Returns the fence that a line opens, and true if its content may be JSON.
fn opening_fence(line: &str) -> Option<(&str, bool)> {
    let line = line.trim();
    let name = line.trim_start_matches('`');
    let fence = &line[..line.len() - name.len()];
    let is_fence = fence.len() >= 3 && !name.contains('`');
    is_fence.then_some((fence, matches!(name.trim(), "json" | "")))
}

/// Returns the variables that a call sets, if the text is a call that updates the state document.
fn example_values(text: &str) -> Option<Map<String, Json>> {
    let call: Json = serde_json::from_str(text).ok()?;
    let call = call.get("arguments").unwrap_or(&call);
    let is_state = call.get("path").and_then(Json::as_str) == Some(STATE_FILE);
    let update = call.get("update").filter(|_| is_state)?;
    let variables = update.get("variables");
    let set = variables.and_then(|variables| variables.get("set").or(Some(variables)));
    Some(set.and_then(Json::as_object).cloned().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_updates_the_state_is_taken_out_and_nothing_else() {
        let body = "# A\n\n   ```markdown\n   x\n   ```\n\n```json\n{\"path\": \"x.json\"}\n```\n\nMove on:\n\n```json\n{\"path\": \"@state/workflow.md\", \"operation\": \"updateFrontmatter\",\n \"update\": {\"variables\": {\"set\": {\"a\": 1}}, \"currentNodeId\": {\"set\": \"b\"}}}\n```\n\nEnd {package-root}/x.\n";
        let shown = without_calls(body);
        assert_eq!(
            shown.text,
            "# A\n\n   ```markdown\n   x\n   ```\n\n```json\n{\"path\": \"x.json\"}\n```\n\nMove on:\n\n(below)\n\nEnd @pkg/x."
        );
        assert_eq!(Json::Object(shown.examples), serde_json::json!({"a": 1}));
    }

    #[test]
    fn a_fence_that_is_not_closed_stays() {
        let body = "```json\n{\"path\": \"@state/workflow.md\", \"update\": {}}";
        assert_eq!(without_calls(body), ShownStep { text: body.to_owned(), examples: Map::new() });
    }
}
