//! Journals of golden runs, without texts: what `History` in core and `reduce` on the page are tested with.

use std::path::{Path, PathBuf};

use crewagent_core::event::Event;
use serde_json::Value as Json;

use super::compare_text;
use super::transcript::mask_digests;

/// Compares the journal of a golden run with the one in `crates/core/tests/history`.
pub(crate) fn check(name: &str, events: &[Event]) {
    let run_id = events.iter().find_map(|event| event.run_id.clone()).unwrap_or_default();
    let whole = events.iter().filter(|event| event.part.is_none());
    let lines: String = whole.map(|event| line(event) + "\n").collect();
    let lines = if run_id.is_empty() { lines } else { lines.replace(&run_id, "RUN") };
    compare_text(&folder().join(format!("{name}.jsonl")), &mask_digests(&lines));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/history")
}

/// Renders an event without prompts, arguments and answers.
fn line(event: &Event) -> String {
    let mut json = serde_json::to_value(event).unwrap();
    let empty = |text: Option<&mut Json>, value: &str| {
        if let Some(text) = text {
            *text = value.into();
        }
    };
    if let Some(request) = json.get_mut("request").and_then(Json::as_object_mut) {
        request.remove("added");
    }
    empty(json.get_mut("result"), "");
    empty(json.pointer_mut("/intent/answer/result"), "");
    empty(json.get_mut("data"), "");
    empty(json.get_mut("tools"), "");
    if json["type"] == "session.run" {
        // The id of a run that the conversation started is random.
        empty(json.get_mut("id"), "STARTED");
    }
    for call in json.get_mut("toolCalls").and_then(Json::as_array_mut).into_iter().flatten() {
        empty(call.pointer_mut("/function/arguments"), "{}");
    }
    json.to_string()
}
