//! Tests with answers of real servers, which the adapters' tests recorded.

use crewagent_dialect::assemble::AnswerLimits;
use crewagent_dialect::fault::Fault;
use crewagent_dialect::profile::CallsInText;

use super::names;
use super::repository;
use super::wire::{chunks, streamed, whole};

/// Kinds of the recordings. Their texts are noise and differ with every recording.
const EXPECTED: &[(&str, &str)] = &[
    ("both-auto-streamed", "Stop, 0 calls"),
    ("both-call", "Stop, 1 calls"),
    ("both-call-streamed", "Stop, 1 calls"),
    ("both-cut-call", "Stop, 1 calls"),
    ("both-cut-call-streamed", "Stop, 1 calls"),
    ("both-plain-streamed", "Stop, 0 calls"),
    ("both-window", "Window"),
    ("both-window-streamed", "Stop, 0 calls"),
    ("litellm-bad-request", "Rejected"),
    ("litellm-call", "Stop, 1 calls"),
    ("litellm-call-streamed", "Stop, 0 calls"),
    ("litellm-cut-call", "Stop, 1 calls"),
    ("litellm-empty-key", "Auth"),
    ("litellm-filter", "Filter"),
    ("litellm-no-model", "NoModel"),
    ("litellm-overloaded", "Server"),
    ("litellm-plain", "Stop, 0 calls"),
    ("litellm-plain-streamed", "Stop, 0 calls"),
    ("litellm-rate", "Rate"),
    ("litellm-server", "Server"),
    ("litellm-slow", "Server"),
    ("litellm-window", "Window"),
    ("litellm-wrong-key", "Auth"),
    ("litellm-wrong-path", "NoEndpoint"),
    ("llama-auto-streamed", "CutOff"),
    ("llama-bad-request", "Rejected"),
    ("llama-call", "Stop, 1 calls"),
    ("llama-call-auto", "Stop, 1 calls"),
    ("llama-call-streamed", "Stop, 1 calls"),
    ("llama-cut-call", "Stop, 1 calls"),
    ("llama-cut-call-streamed", "Stop, 1 calls"),
    ("llama-length", "Length, 0 calls"),
    ("llama-length-streamed", "Length, 0 calls"),
    ("llama-no-json", "Server"),
    ("llama-no-such-tool", "Server"),
    ("llama-plain", "Stop, 0 calls"),
    ("llama-plain-streamed", "Stop, 0 calls"),
    ("llama-talk-auto", "Stop, 0 calls"),
    ("llama-window", "Window"),
    ("llama-window-streamed", "CutOff"),
    ("llama-wrong-key", "Auth"),
    ("llama-wrong-path", "NoEndpoint"),
];

/// Reads the table in the recordings' README: name, status, content type.
fn recorded() -> Vec<(String, u16, String)> {
    let readme = repository().join("crates/adapters/tests/corpus/real/README.md");
    let text = std::fs::read_to_string(readme).unwrap();
    let line = |line: &str| {
        let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
        let name = cells.next()?.strip_suffix('`')?.to_owned();
        Some((name, cells.next()?.parse().ok()?, cells.next()?.to_owned()))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn answers_of_real_servers_are_read() {
    let (limits, names, mode) = (AnswerLimits::default(), names(), CallsInText::All);
    let mut found: Vec<(String, String)> = Vec::new();
    for (name, status, kind) in recorded() {
        let file = repository().join(format!("crates/adapters/tests/corpus/real/{name}.txt"));
        let bytes = std::fs::read(&file).unwrap();
        let reply = if status != 200 {
            Err(Fault::of_response(status, None, Some(&kind), &bytes))
        } else if kind.contains("event-stream") {
            let outcome = streamed(&[&bytes], limits, &names, mode);
            for size in [1, 7, 100] {
                assert_eq!(
                    streamed(&chunks(&bytes, size), limits, &names, mode),
                    outcome,
                    "{name}"
                );
            }
            outcome.reply
        } else {
            whole(&bytes, limits, &names, mode).reply
        };
        let outcome = match reply {
            Ok(reply) => format!("{:?}, {} calls", reply.finish, reply.tool_calls.len()),
            Err(fault) => format!("{:?}", fault.kind),
        };
        found.push((name, outcome));
    }
    found.sort();
    let expected =
        EXPECTED.iter().map(|(name, outcome)| ((*name).to_owned(), (*outcome).to_owned()));
    assert_eq!(found, expected.collect::<Vec<_>>());
}
