//! The number of tokens that an answer reports.

use serde_json::Value as Json;

use crewagent_core::usage::Usage;

/// Smallest estimate that is judged: below it the estimate is too coarse.
const JUDGED: u64 = 2048;
/// Smallest window that servers cut to.
const SMALLEST_WINDOW: u64 = 2048;
/// Largest window that servers cut to without being asked.
const LARGEST_WINDOW: u64 = 1 << 18;

/// Returns true if a server seems to have cut the request at its front silently: it counted less than half of what was
/// sent, or less than was sent while its window is full to the last token. `estimate` is our own count of the request.
pub fn looks_cut(usage: &Usage, estimate: u64) -> bool {
    if usage.estimated || usage.input_tokens == 0 || estimate < JUDGED {
        return false;
    }
    let is_window = |tokens: u64| {
        tokens.is_power_of_two() && (SMALLEST_WINDOW..=LARGEST_WINDOW).contains(&tokens)
    };
    let is_full =
        [usage.input_tokens, usage.input_tokens + 1, usage.tokens()].into_iter().any(is_window);
    usage.input_tokens < estimate / 2 || (is_full && usage.input_tokens < estimate)
}

/// Token counts so far. Later numbers replace earlier ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TokenTally {
    input: Option<u64>,
    output: Option<u64>,
    total: Option<u64>,
    cached: Option<u64>,
    reasoning: Option<u64>,
    /// Tokens from and to a cache that `input` leaves out.
    beside: Option<u64>,
    cost: Option<f64>,
}

impl TokenTally {
    /// Reads the numbers of a chunk, or of a whole answer, in any field.
    pub(super) fn take(&mut self, event: &Json, choice: Option<&Json>) {
        let places = [
            Some(&event["usage"]),
            Some(&event["x_groq"]["usage"]),
            choice.map(|choice| &choice["usage"]),
            choice.map(|choice| &choice["delta"]["usage"]),
        ];
        for usage in places.into_iter().flatten().filter(|usage| usage.is_object()) {
            self.add(usage);
        }
    }

    fn add(&mut self, usage: &Json) {
        let first = |paths: &[&str]| paths.iter().find_map(|path| count(usage.pointer(path)?));
        let inclusive = first(&["/prompt_tokens"]);
        let input = inclusive.or_else(|| first(&["/input_tokens"]));
        let output = first(&["/completion_tokens", "/output_tokens"]);
        if input.unwrap_or(0) == 0 && output.unwrap_or(0) == 0 {
            // Some servers put zeros on every chunk but one.
            return;
        }
        let read = first(&["/cache_read_input_tokens"]);
        let details = [
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cached_tokens",
            "/num_cached_tokens",
        ];
        let cached = first(&details);
        if inclusive.is_none() && input.is_some() && cached.is_none() {
            let written = first(&["/cache_creation_input_tokens"]);
            let both = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
            self.beside = Some(both);
        }
        let reasoning = first(&[
            "/completion_tokens_details/reasoning_tokens",
            "/output_tokens_details/reasoning_tokens",
            "/reasoning_tokens",
        ]);
        self.input = input.or(self.input);
        self.output = output.or(self.output);
        self.total = first(&["/total_tokens"]).or(self.total);
        // A zero in one place does not outweigh a number in another.
        self.cached = cached.into_iter().chain(read).max().or(self.cached);
        self.reasoning = reasoning.or(self.reasoning);
        let cost = usage["cost"].as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0);
        self.cost = cost.or(self.cost);
    }

    /// Returns the sum: all sent tokens with the cached ones, all returned tokens with the thoughts.
    pub(super) fn usage(&self) -> Usage {
        let input = self.input.unwrap_or(0).saturating_add(self.beside.unwrap_or(0));
        let reasoning = self.reasoning.unwrap_or(0);
        let mut output = self.output.unwrap_or(0);
        if reasoning > output {
            output = output.saturating_add(reasoning);
        }
        // If thoughts are not in the returned tokens, they are in the total.
        output = output.max(self.total.unwrap_or(0).saturating_sub(input));
        Usage {
            input_tokens: input,
            output_tokens: output,
            cached_tokens: self.cached.unwrap_or(0).min(input),
            reasoning_tokens: reasoning.min(output),
            estimated: false,
            cost: self.cost,
        }
    }
}

/// Parses a count of tokens, also as a text or with a decimal point.
fn count(value: &Json) -> Option<u64> {
    let number = match value {
        Json::Number(number) => number.as_u64().map(|n| n as f64).or_else(|| number.as_f64()),
        Json::String(text) => text.trim().parse().ok(),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
    };
    number.filter(|number| number.is_finite() && *number >= 0.0).map(|number| number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks input, output, cached and reasoning tokens.
    fn check_usage(usage: &[Json], expected: [u64; 4]) {
        let mut tally = TokenTally::default();
        for usage in usage {
            tally.take(&json!({ "usage": usage }), None);
        }
        let found = tally.usage();
        let found =
            [found.input_tokens, found.output_tokens, found.cached_tokens, found.reasoning_tokens];
        assert_eq!(found, expected, "{usage:?}");
    }

    #[test]
    fn tokens_are_counted_in_every_form() {
        check_usage(&[], [0; 4]);
        check_usage(&[json!(null), json!([]), json!("x"), json!({})], [0; 4]);
        check_usage(
            &[json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})],
            [10, 5, 0, 0],
        );
        check_usage(&[json!({"prompt_tokens": "10", "completion_tokens": "5.0"})], [10, 5, 0, 0]);
        check_usage(
            &[json!({"prompt_tokens": -4, "completion_tokens": null, "total_tokens": {}})],
            [0; 4],
        );
        check_usage(&[json!({"input_tokens": 10, "output_tokens": 5})], [10, 5, 0, 0]);
    }

    #[test]
    fn cached_tokens_are_found_wherever_they_are() {
        let with = |key: &str, value: Json| json!({"prompt_tokens": 10, "completion_tokens": 5, key: value});
        check_usage(&[with("prompt_tokens_details", json!({"cached_tokens": 8}))], [10, 5, 8, 0]);
        check_usage(&[with("prompt_cache_hit_tokens", json!(8))], [10, 5, 8, 0]);
        check_usage(&[with("cached_tokens", json!(8))], [10, 5, 8, 0]);
        check_usage(&[with("cache_read_input_tokens", json!(8))], [10, 5, 8, 0]);
        check_usage(&[with("cached_tokens", json!(99))], [10, 5, 10, 0]);
        let native = json!({"input_tokens": 10, "cache_read_input_tokens": 80,
            "cache_creation_input_tokens": 5, "output_tokens": 7});
        check_usage(&[native], [95, 7, 80, 0]);
    }

    #[test]
    fn thoughts_count_as_output_once() {
        let with = |output: u64, total: u64, thoughts: u64| {
            json!({"prompt_tokens": 10, "completion_tokens": output, "total_tokens": total,
                "completion_tokens_details": {"reasoning_tokens": thoughts}})
        };
        check_usage(&[with(50, 60, 40)], [10, 50, 0, 40]);
        check_usage(&[with(5, 55, 40)], [10, 45, 0, 40]);
        check_usage(&[with(5, 15, 40)], [10, 45, 0, 40]);
        check_usage(
            &[json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 95})],
            [10, 85, 0, 0],
        );
    }

    #[test]
    fn the_last_numbers_win_and_zeros_are_none() {
        let at = |output: u64| json!({"prompt_tokens": 10, "completion_tokens": output});
        check_usage(&[at(1), at(2), at(9)], [10, 9, 0, 0]);
        let zeros = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
        check_usage(&[zeros.clone(), at(9), zeros], [10, 9, 0, 0]);
        check_usage(&[json!({"input_tokens": 7}), json!({"output_tokens": 3})], [7, 3, 0, 0]);
    }

    #[test]
    fn usage_stands_in_many_places() {
        let numbers = json!({"prompt_tokens": 10, "completion_tokens": 5});
        let choice = json!({"usage": numbers});
        for (event, choice) in [
            (json!({"usage": numbers}), None),
            (json!({"x_groq": {"usage": numbers}}), None),
            (json!({"usage": null}), Some(&choice)),
        ] {
            let mut tally = TokenTally::default();
            tally.take(&event, choice);
            assert_eq!(tally.usage().tokens(), 15);
        }
        let mut tally = TokenTally::default();
        tally.take(
            &json!({"usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}}),
            None,
        );
        assert_eq!(tally.usage().cost, Some(0.25));
    }

    #[test]
    fn a_request_that_was_cut_silently_is_noticed() {
        let usage = |input, output| Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        };
        assert!(looks_cut(&usage(3_900, 196), 5_000));
        assert!(looks_cut(&usage(4_096, 50), 4_500));
        assert!(looks_cut(&usage(1_500, 50), 9_000));
        assert!(!looks_cut(&usage(4_800, 50), 5_000));
        assert!(!looks_cut(&usage(4_096, 50), 4_000));
        assert!(!looks_cut(&usage(100, 50), 300));
        assert!(!looks_cut(&usage(0, 0), 9_000));
        assert!(!looks_cut(&Usage { estimated: true, ..usage(1_500, 50) }, 9_000));
    }
}
