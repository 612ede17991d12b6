//! `ui.gate`: what the user decided, and what became of the drafts.

use super::{Fields, counted};

/// Next action of a model after a choice that does not lead on.
const AGAIN: &str = "Then show the result with ui_gate again.";

/// Returns the user's choice or words.
pub(super) fn render(answer: Fields<'_>) -> Option<String> {
    let Some(key) = answer.text("chosen") else {
        let words = answer.text("words")?;
        return Some(format!("The user answered in their own words:\n{words}\n{AGAIN}"));
    };
    let label = answer.text("label").unwrap_or_default();
    let mut sentences = vec![format!("The user chose {key} {label}.")];
    if let Some(text) = answer.text("text") {
        sentences.push(text.to_owned());
    }
    if let Some(document) = answer.text("document") {
        sentences.push(format!(
            "Read {document} and carry it out on the draft, here in this node; change the draft with fs_apply_patch."
        ));
    }
    let Some(saved) = answer.objects("committed") else {
        sentences.push(AGAIN.to_owned());
        return Some(sentences.join(" "));
    };
    let saved: Vec<String> = saved
        .filter_map(|saved| {
            let size = counted(saved.number("bytes")?, "byte");
            Some(format!("{} in {} ({size})", saved.text("name")?, saved.text("path")?))
        })
        .collect();
    if !saved.is_empty() {
        sentences.push(format!("Saved {}.", saved.join(", ")));
    }
    let left: Vec<&str> = answer.texts("remaining").into_iter().flatten().collect();
    if !left.is_empty() {
        sentences.push(format!(
            "Left: {}. Write each as a draft of that name and show it with ui_gate.",
            left.join(", ")
        ));
    }
    if let Some(to) = answer.object("moved").and_then(|moved| moved.text("to")) {
        sentences.push(format!("Now at {to}."));
    }
    Some(sentences.join(" "))
}
