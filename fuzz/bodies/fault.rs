//! Fuzzes status, headers and body of an error: it becomes a fault whose text is safe to show, with a bounded wait.
//!
//! The first line is the status, then come headers up to an empty line, then the body.

use std::time::Duration;

use crewagent_dialect::fault::Fault;
use crewagent_dialect::retry::{backoff, retry_after};
use crewagent_format::text::is_unsafe_char;
use jiff::Timestamp;

fn check(fault: &Fault) {
    assert!(!fault.advice().is_empty());
    assert_eq!(fault.is_retryable(), fault.retries(3) > 0);
    if let Some(said) = &fault.said {
        assert!(!said.is_empty() && said.chars().count() <= 501);
        assert!(!said.chars().any(is_unsafe_char));
    }
    assert!(fault.retry_after.is_none_or(|wait| wait <= Duration::from_secs(365 * 24 * 60 * 60)));
}

/// Checks one input.
pub(crate) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status: u16 = lines.next().and_then(|line| line.trim().parse().ok()).unwrap_or(200);
    let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(": ")).collect();
    let now = Timestamp::from_second(1_795_176_000).expect("a time");
    let wait = retry_after(&mut headers.iter().copied(), now);
    let kind = headers.iter().find(|(name, _)| *name == "content-type").map(|(_, value)| *value);
    check(&Fault::of_response(status, wait, kind, body.as_bytes()));
    if let Ok(event) = serde_json::from_str(body)
        && let Some(fault) = Fault::in_stream(&event)
    {
        check(&fault);
    }
    assert!(backoff(u32::from(status), bytes.len() as u64) <= Duration::from_secs(30));
}
