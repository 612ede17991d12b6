//! Tokens and money that a run has used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tokens, and money where the prices are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Usage {
    /// Tokens that were sent.
    pub input_tokens: u64,
    /// Tokens that were received.
    pub output_tokens: u64,
    /// Those of the sent ones that the provider had at hand from an earlier request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Those of the returned ones that were thoughts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// True if some of the numbers are our own estimate, because the provider gave none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Money, in the currency of the price table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Usage {
    /// Returns all tokens.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.estimated |= other.estimated;
        self.cost = match (self.cost, other.cost) {
            (None, None) => None,
            (one, two) => {
                // JSON has no infinity.
                Some((one.unwrap_or(0.0) + two.unwrap_or(0.0)).min(f64::MAX))
            }
        };
    }
}

/// Returns true if a count need not be written.
pub(crate) fn is_zero<N: Default + PartialEq>(count: &N) -> bool {
    *count == N::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_never_add_up_to_infinity() {
        let mut usage = Usage { cost: Some(1e308), ..Usage::default() };
        usage += usage;
        usage += usage;
        assert_eq!(usage.cost, Some(f64::MAX));
    }
}
