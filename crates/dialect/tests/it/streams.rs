//! Tests of streams and whole bodies: the emitted text, and the reply. `cargo xtask accept dialect` updates the
//! expectations; read the difference.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crewagent_dialect::assemble::AnswerLimits;
use crewagent_dialect::profile::Profile;
use crewagent_lenient::calls as leaked;
use proptest::prelude::*;
use serde_json::Value as Json;

use super::wire::{Outcome, chunks, streamed, whole};
use super::{folder, is_update, names, property_cases};

/// Recorded answer with its expectations.
#[derive(Clone, Debug)]
pub(super) struct Case {
    name: String,
    bytes: Vec<u8>,
    is_stream: bool,
    pub(super) expected: Json,
    file: PathBuf,
}

pub(super) fn cases() -> Vec<Case> {
    let folder = folder("streams");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension != "json"));
    files.sort();
    let case = |answer: &PathBuf| {
        let file = answer.with_extension("json");
        Case {
            name: answer.file_stem().unwrap().to_str().unwrap().to_owned(),
            bytes: std::fs::read(answer).unwrap(),
            is_stream: answer.extension().is_some_and(|extension| extension == "sse"),
            expected: serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap(),
            file,
        }
    };
    files.iter().map(case).collect()
}

impl Case {
    fn profile(&self) -> Profile {
        let changes = &self.expected["profile"];
        if changes.is_null() {
            Profile::default()
        } else {
            serde_json::from_value(changes.clone()).unwrap()
        }
    }

    fn limits(&self) -> AnswerLimits {
        let limit = |key: &str, default: usize| {
            self.expected["limits"][key]
                .as_u64()
                .map_or(default, |limit| usize::try_from(limit).unwrap())
        };
        let default = AnswerLimits::default();
        AnswerLimits {
            reply_bytes: limit("replyBytes", default.reply_bytes),
            calls: limit("calls", default.calls),
        }
    }

    fn in_chunks(&self, chunks: &[&[u8]]) -> Outcome {
        if self.is_stream {
            streamed(chunks, self.limits(), &names(), self.profile().calls_in_text)
        } else {
            whole(&self.bytes, self.limits(), &names(), self.profile().calls_in_text)
        }
    }
}

#[test]
fn answers_become_what_is_expected_in_chunks_of_any_size() {
    let mut wrong = Vec::new();
    for case in cases() {
        let outcome = case.in_chunks(&[&case.bytes]);
        for size in [1, 2, 3, 7, 13] {
            assert_eq!(
                case.in_chunks(&chunks(&case.bytes, size)),
                outcome,
                "{} by {size}",
                case.name
            );
        }
        let mut found = case.expected.clone();
        for key in ["told", "reply", "fault"] {
            found.as_object_mut().unwrap().shift_remove(key);
        }
        for (key, value) in outcome.to_json().as_object().unwrap() {
            found[key] = value.clone();
        }
        if found == case.expected {
            continue;
        }
        if is_update() {
            std::fs::write(&case.file, serde_json::to_string_pretty(&found).unwrap() + "\n")
                .unwrap();
        } else {
            wrong.push(format!("{}:\n{found:#}\n", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[test]
fn replies_can_be_sent_again() {
    for case in cases() {
        let Ok(reply) = case.in_chunks(&[&case.bytes]).reply else { continue };
        let ids: BTreeSet<&str> = reply.tool_calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids.len(), reply.tool_calls.len(), "{}: ids are their own", case.name);
        for call in &reply.tool_calls {
            assert!(!call.id.is_empty() && !call.name.is_empty(), "{}", case.name);
            assert!(!call.arguments.inline().unwrap().is_empty(), "{}", case.name);
            assert!(!call.extra.values().any(Json::is_null), "{}", case.name);
        }
        assert!(!reply.extra.values().any(Json::is_null), "{}", case.name);
        assert!(
            reply.content.as_deref().is_none_or(|words| !words.trim().is_empty()),
            "{}",
            case.name
        );
        let leaks =
            reply.tool_calls.is_empty() && reply.content.as_deref().is_some_and(leaked::detect);
        assert_eq!(leaks, case.expected["leaks"].as_bool().unwrap_or(false), "{}", case.name);
    }
}

proptest! {
    #![proptest_config(property_cases(512))]

    #[test]
    fn any_split_of_the_same_bytes_gives_the_same(
        at in any::<prop::sample::Index>(),
        sizes in prop::collection::vec(1_usize..90, 1..24),
    ) {
        let cases = all();
        let case = &cases[at.index(cases.len())];
        let mut sizes = sizes.iter().cycle();
        let (mut pieces, mut rest) = (Vec::new(), case.bytes.as_slice());
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(sizes.next().map_or(1, |size| (*size).min(rest.len())));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(case.in_chunks(&pieces), case.in_chunks(&[&case.bytes]), "{}", case.name);
    }
}

fn all() -> &'static [Case] {
    static CASES: std::sync::OnceLock<Vec<Case>> = std::sync::OnceLock::new();
    CASES.get_or_init(|| cases().into_iter().filter(|case| case.is_stream).collect())
}
