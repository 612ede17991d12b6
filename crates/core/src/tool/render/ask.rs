//! `ui.ask_user`: the user's answer.

use serde_json::Value as Json;

use super::Fields;

/// Returns the user's text verbatim, the chosen options, or the values of a form.
pub(super) fn render(arguments: &str, answer: Fields<'_>) -> Option<String> {
    Some(match answer.0.get("answer")? {
        Json::Bool(true) => "The user said yes.".to_owned(),
        Json::Bool(false) => "The user said no.".to_owned(),
        Json::String(value) if is_choice(arguments) => format!("The user chose: {value}."),
        Json::String(text) => format!("The user answered:\n{text}"),
        Json::Array(values) => {
            let values: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
            format!("The user chose: {}.", values.join(", "))
        }
        // None of the offered answers.
        Json::Null => format!("The user answered in their own words:\n{}", answer.text("words")?),
        form @ (Json::Object(_) | Json::Number(_)) => format!("The user answered:\n{form}"),
    })
}

/// Returns true if a question offers options.
fn is_choice(arguments: &str) -> bool {
    let Ok(Json::Object(call)) = serde_json::from_str::<Json>(arguments) else { return false };
    match call.get("kind").and_then(Json::as_str) {
        Some(kind) => kind == "choice",
        None => ["options", "choices"].iter().any(|key| call.contains_key(*key)),
    }
}
