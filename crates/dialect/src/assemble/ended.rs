//! Reason why an answer ended, in the vocabulary of every provider.

use serde_json::Value as Json;

use crate::fault::FaultKind;

/// Reason why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Stop,
    /// The provider withheld content.
    Filter,
    /// The reply reached its limit.
    Length,
    Failed(FaultKind),
}

/// Reasons by fragments of their names, in lower case; the first match counts.
const REASONS: &[(&str, Ended)] = &[
    ("malformed_function_call", Ended::Failed(FaultKind::ModelOutput)),
    ("unexpected_tool_call", Ended::Failed(FaultKind::ModelOutput)),
    ("error", Ended::Failed(FaultKind::Server)),
    ("fail", Ended::Failed(FaultKind::Server)),
    ("abort", Ended::Failed(FaultKind::Server)),
    ("cancel", Ended::Failed(FaultKind::Server)),
    ("insufficient_system_resource", Ended::Failed(FaultKind::Server)),
    ("length", Ended::Length),
    ("max_tokens", Ended::Length),
    ("max_output_tokens", Ended::Length),
    ("max_completion_tokens", Ended::Length),
    ("token_limit", Ended::Length),
    ("context_window", Ended::Length),
    ("incomplete", Ended::Length),
    ("filter", Ended::Filter),
    ("sensitive", Ended::Filter),
    ("safety", Ended::Filter),
    ("refusal", Ended::Filter),
    ("recitation", Ended::Filter),
    ("prohibited", Ended::Filter),
    ("blocklist", Ended::Filter),
    ("spii", Ended::Filter),
    ("moderat", Ended::Filter),
];

impl Ended {
    /// Parses the reason, if one is given. An unknown word means that the model was done.
    pub(super) fn of(reason: &Json) -> Option<Self> {
        let reason = reason.as_str()?.trim().to_ascii_lowercase().replace('-', "_");
        if reason.is_empty() || reason == "null" {
            return None;
        }
        let known = REASONS.iter().find(|(part, _)| reason.contains(part));
        Some(known.map_or(Self::Stop, |(_, ended)| *ended))
    }

    /// Returns the worse of two reasons.
    pub(super) fn and(self, other: Option<Self>) -> Self {
        let worse = |ended: &Self| match ended {
            Self::Stop => 0,
            Self::Filter => 1,
            Self::Length => 2,
            Self::Failed(_) => 3,
        };
        other.filter(|other| worse(other) > worse(&self)).unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_reasons(reasons: &[&str], expected: Option<Ended>) {
        for reason in reasons {
            assert_eq!(Ended::of(&Json::from(*reason)), expected, "{reason}");
        }
    }

    #[test]
    fn every_reason_has_a_meaning() {
        check_reasons(&["", " ", "null"], None);
        assert_eq!(Ended::of(&Json::Null), None);
        let stops =
            ["stop", "STOP", "eos", "end", "end_turn", "tool_calls", "function_call", "tool_use"];
        check_reasons(&stops, Some(Ended::Stop));
        check_reasons(
            &["stop_sequence", "eos_token", "something_new", "completed"],
            Some(Ended::Stop),
        );
        let lengths =
            ["length", "MAX_TOKENS", "max_output_tokens", "model_length", "token_limit_reached"];
        check_reasons(&lengths, Some(Ended::Length));
        check_reasons(&["model_context_window_exceeded", "incomplete"], Some(Ended::Length));
        let filters =
            ["content_filter", "content-filter", "sensitive", "SAFETY", "RECITATION", "refusal"];
        check_reasons(&filters, Some(Ended::Filter));
        let errors = ["error", "network_error", "failed", "abort", "insufficient_system_resource"];
        check_reasons(&errors, Some(Ended::Failed(FaultKind::Server)));
        let malformed = ["function_call_filter: MALFORMED_FUNCTION_CALL"];
        check_reasons(&malformed, Some(Ended::Failed(FaultKind::ModelOutput)));
    }
}
