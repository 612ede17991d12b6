//! Tests with errors of many providers: the kind of fault, the message, the wait. `cargo xtask accept dialect` updates
//! the expectations; read the difference.

use std::path::PathBuf;
use std::time::Duration;

use crewagent_dialect::fault::{Fault, FaultKind};
use crewagent_dialect::retry::retry_after;
use crewagent_format::text::is_unsafe_char;
use jiff::Timestamp;
use serde_json::Value as Json;

use super::{fault_as_json, folder, is_update};

/// Time at which these answers arrive.
const NOW: &str = "2026-11-20T12:00:00Z";

fn files() -> Vec<(PathBuf, Vec<Json>)> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder("errors")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: PathBuf| {
        let cases = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        (file, cases)
    };
    files.into_iter().map(read).collect()
}

/// Reads every error, with the name of its file.
pub(super) fn cases() -> Vec<(String, Json)> {
    let named = |(file, cases): (PathBuf, Vec<Json>)| {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        cases.into_iter().map(move |case| (name.clone(), case))
    };
    files().into_iter().flat_map(named).collect()
}

/// Diagnoses a case. One without a status is a piece of a stream.
fn fault(case: &Json) -> Fault {
    let Some(status) = case["status"].as_u64() else {
        return Fault::in_stream(&case["body"]).unwrap();
    };
    let headers = case["headers"].as_object().cloned().unwrap_or_default();
    let mut headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap()));
    let kind = headers.clone().find(|(name, _)| *name == "content-type").map(|(_, value)| value);
    let wait = retry_after(&mut headers, NOW.parse::<Timestamp>().unwrap());
    let body = match &case["body"] {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        json => json.to_string(),
    };
    Fault::of_response(u16::try_from(status).unwrap(), wait, kind, body.as_bytes())
}

#[test]
fn errors_are_known_by_what_they_say() {
    let mut wrong = Vec::new();
    for (file, mut cases) in files() {
        let before = cases.clone();
        for case in &mut cases {
            let found = fault(case);
            let kind = format!("{:?}", found.kind);
            // A person decides the kind; an update never writes it.
            if case["fault"]["kind"] != kind.as_str() {
                wrong.push(format!(
                    "{}: {kind}, not {}: {}\n",
                    file.display(),
                    case["fault"]["kind"],
                    case["body"]
                ));
            }
            case["fault"] = fault_as_json(&found);
        }
        if cases == before {
            continue;
        }
        if is_update() && wrong.is_empty() {
            std::fs::write(&file, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
        } else {
            wrong.push(format!("{} is out of step\n", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[test]
fn what_is_said_is_one_short_line() {
    for (name, case) in cases() {
        let fault = fault(&case);
        assert!(!fault.advice().is_empty());
        let Some(said) = fault.said else { continue };
        assert!(!said.is_empty() && said.chars().count() <= 501, "{name}: {said}");
        assert!(!said.chars().any(is_unsafe_char), "{name}: {said:?}");
        assert_eq!(said.trim(), said, "{name}");
    }
}

#[test]
fn only_what_may_work_the_next_time_is_tried_again() {
    for (name, case) in cases() {
        let fault = fault(&case);
        let may = match fault.kind {
            FaultKind::Rate | FaultKind::Server | FaultKind::CutOff => 4,
            FaultKind::ModelOutput | FaultKind::Malformed => 1,
            _ => 0,
        };
        assert_eq!((fault.retries(4), fault.is_retryable()), (may, may > 0), "{name}: {fault:?}");
        if let Some(status) = fault.status {
            let never = matches!(status, 401..=405 | 413 | 422);
            assert!(
                !(never && fault.is_retryable()) || fault.kind == FaultKind::Rate,
                "{name}: {fault:?}"
            );
        }
    }
}

#[test]
fn advice_fits_what_was_said() {
    let advice = |kind: FaultKind, said: &str| {
        let fault = Fault { said: Some(said.to_owned()), ..Fault::new(kind) };
        fault.advice()
    };
    let vllm =
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set";
    assert!(advice(FaultKind::NoTools, vllm).contains("--tool-call-parser"));
    assert!(advice(FaultKind::NoTools, "tools param requires --jinja flag").contains("`--jinja`"));
    assert!(
        advice(FaultKind::NoModel, "model 'x' not found, try pulling it first")
            .contains("ollama pull")
    );
    assert_ne!(advice(FaultKind::NoTools, "x"), advice(FaultKind::NoTools, vllm));
}

#[test]
fn an_answer_may_be_anything() {
    let fault = |status: u16, body: &[u8]| {
        Fault::of_response(status, Some(Duration::from_secs(3)), None, body)
    };
    assert_eq!(fault(500, b"\xff\xfe\x00").kind, FaultKind::Server);
    assert_eq!(fault(400, "é".repeat(1 << 20).as_bytes()).said.unwrap().chars().count(), 501);
    assert_eq!(fault(0, b"").kind, FaultKind::CutOff);
    assert_eq!(fault(999, b"x").kind, FaultKind::Malformed);
    let deep = "{\"error\":".repeat(100) + "1" + &"}".repeat(100);
    assert_eq!(fault(400, deep.as_bytes()).kind, FaultKind::Rejected);
    let nested = serde_json::json!({"error": {"message": "{\"error\":{\"message\":\"{\\\"error\\\":\\\"too deep\\\"}\"}}"}});
    assert_eq!(fault(400, nested.to_string().as_bytes()).said.as_deref(), Some("too deep"));
}
