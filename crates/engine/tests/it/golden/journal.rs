//! Journals of golden runs without texts, which test `History` in core and `reduce` on the page.

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
    let mut lines = if run_id.is_empty() { lines } else { lines.replace(&run_id, "RUN") };
    for (at, id) in started_runs(events).iter().enumerate() {
        let name = format!("STARTED-{}", at + 1);
        let short = id.rsplit('-').next().unwrap_or(id);
        lines = lines.replace(id.as_str(), &name);
        lines = lines.replace(&format!("(run {short})"), &format!("(run {name})"));
    }
    compare_text(&folder().join(format!("{name}.jsonl")), &mask_digests(&lines));
}

/// Returns the runs that a conversation started. Their ids are random.
fn started_runs(events: &[Event]) -> Vec<String> {
    let mut ids = Vec::new();
    for event in events {
        let json = serde_json::to_value(event).unwrap();
        if let (Some("session.run"), Some(id)) = (json["type"].as_str(), json["id"].as_str())
            && !ids.iter().any(|known| known == id)
        {
            ids.push(id.to_owned());
        }
    }
    ids
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
    for call in json.get_mut("toolCalls").and_then(Json::as_array_mut).into_iter().flatten() {
        empty(call.pointer_mut("/function/arguments"), "{}");
    }
    json.to_string()
}
