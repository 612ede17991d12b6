//! Changes of the state: where the run is now.

use super::{Fields, counted};

/// Returns what was written, and the position after the change.
pub(super) fn render(answer: Fields<'_>) -> Option<String> {
    let state = answer.object("state");
    let mut sentences = vec!["Done.".to_owned()];
    let files = answer.objects("files").into_iter().flatten().filter_map(|file| {
        let size = counted(file.number("bytes")?, "byte");
        Some(format!("{} ({size})", file.text("path")?))
    });
    let files: Vec<String> = files.collect();
    if !files.is_empty() {
        sentences.push(format!("Wrote {}.", files.join(", ")));
    }
    let moved = answer.object("moved").and_then(|moved| moved.text("to"));
    let current = state.and_then(|state| state.text("currentNodeId"));
    let is_complete = answer.is("complete") || state.is_some_and(|state| state.is("complete"));
    match (moved, current) {
        _ if is_complete => sentences.push("The workflow is complete.".to_owned()),
        (Some(to), _) => sentences.push(format!("Now at {to}.")),
        // Tools that move in silence do not say whether they did.
        (None, Some(at)) if !answer.has("moved") => sentences.push(format!("Now at {at}.")),
        (None, Some(at)) => sentences.push(format!("Still at {at}.")),
        (None, None) => return None,
    }
    if let Some(workflow) = state.and_then(|state| state.text("calls")) {
        sentences.push(format!("It calls {workflow}, which begins now."));
    }
    let warnings = state.and_then(|state| state.texts("warnings")).into_iter().flatten();
    sentences.extend(warnings.map(str::to_owned));
    Some(sentences.join(" "))
}
