//! The forecast of a run: what it may cost, from earlier runs or by an estimate, and what its limits allow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::settings::Limits;
use crate::usage::{Usage, is_zero};

/// Cost of a run that completed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastRun {
    pub turns: u64,
    pub usage: Usage,
}

/// Expected cost of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Forecast {
    /// Requests to the model.
    #[schemars(with = "u32")]
    pub requests: u64,
    /// Tokens that are sent.
    pub input_tokens: u64,
    /// Tokens that are received.
    pub output_tokens: u64,
    /// Money, if the prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Number of earlier runs whose median this is; none for an estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(with = "u32")]
    pub runs: u64,
    /// Most requests of those runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<u32>")]
    pub most_requests: Option<u64>,
    /// Highest cost of those runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_cost: Option<f64>,
    /// The same in words, with what the limits allow.
    pub text: String,
    /// Limits that are below the forecast, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<String>,
}

impl Forecast {
    /// Returns the median of earlier runs; none without any.
    pub fn of_runs(runs: &[PastRun], limits: &Limits) -> Option<Self> {
        let median = |value: &dyn Fn(&PastRun) -> u64| {
            let mut values: Vec<u64> = runs.iter().map(value).collect();
            values.sort_unstable();
            values.get(values.len() / 2).copied()
        };
        let mut costs: Vec<f64> = runs.iter().filter_map(|run| run.usage.cost).collect();
        costs.sort_unstable_by(f64::total_cmp);
        // A run without a price says nothing about money.
        let is_priced = costs.len() == runs.len();
        let forecast = Self {
            requests: median(&|run| run.turns)?,
            input_tokens: median(&|run| run.usage.input_tokens)?,
            output_tokens: median(&|run| run.usage.output_tokens)?,
            cost: costs.get(costs.len() / 2).copied().filter(|_| is_priced),
            runs: runs.len() as u64,
            most_requests: runs.iter().map(|run| run.turns).max(),
            most_cost: costs.last().copied().filter(|_| is_priced),
            ..Self::default()
        };
        Some(forecast.with_texts(limits))
    }

    /// Returns an estimate, with its cost if the price is known.
    pub fn of_estimate(requests: u64, usage: Usage, limits: &Limits) -> Self {
        let Usage { input_tokens, output_tokens, cost, .. } = usage;
        let forecast = Self { requests, input_tokens, output_tokens, cost, ..Self::default() };
        forecast.with_texts(limits)
    }

    fn with_texts(mut self, limits: &Limits) -> Self {
        self.text = format!("{}. {}", self.expected(), ceiling(limits));
        self.above = self.limits_below(limits);
        self
    }

    fn expected(&self) -> String {
        let amount = |requests: u64, cost: Option<f64>| {
            let cost = cost.map(|cost| format!(", {}", money(cost))).unwrap_or_default();
            (counted(requests, "request"), cost)
        };
        let (requests, cost) = amount(self.requests, self.cost);
        let (sent, received) = (short(self.input_tokens), short(self.output_tokens));
        let origin = match self.most_requests {
            None => "estimate".to_owned(),
            Some(most) => {
                let (most, most_cost) = amount(most, self.most_cost);
                format!("median of {}; most: {most}{most_cost}", counted(self.runs, "run"))
            }
        };
        format!("About {requests}, {sent} tokens in, {received} out{cost} ({origin})")
    }

    fn limits_below(&self, limits: &Limits) -> Vec<String> {
        let tokens = self.input_tokens.saturating_add(self.output_tokens);
        let turns = Some(limits.turns).filter(|limit| self.requests > *limit);
        let turns = turns.map(|limit| counted(limit, "request"));
        let spent = limits.tokens.filter(|limit| tokens > *limit);
        let spent = spent.map(|limit| format!("{} tokens", short(limit)));
        let cost = limits.cost.filter(|limit| self.cost.is_some_and(|cost| cost > *limit));
        let below = [turns, spent, cost.map(money)].into_iter().flatten();
        below
            .map(|limit| {
                format!("That is above the limit of {limit} for one input, where the run stops and waits for you.")
            })
            .collect()
    }
}

/// Says what the limits allow.
fn ceiling(limits: &Limits) -> String {
    match (limits.cost, limits.tokens) {
        (Some(cost), _) => format!("Cannot exceed {}.", money(cost)),
        (None, Some(tokens)) => format!("Cannot exceed {} tokens.", short(tokens)),
        (None, None) => "No limit is set.".to_owned(),
    }
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Formats a number of tokens as `800`, `25k` or `1.2M`.
fn short(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..999_500 => format!("{}k", (count + 500) / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6).replace(".0M", "M"),
    }
}

/// Formats an amount as `$0.02`.
fn money(cost: f64) -> String {
    if cost > 0.0 && cost < 0.01 { "less than $0.01".to_owned() } else { format!("${cost:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(turns: u64, input_tokens: u64, output_tokens: u64, cost: Option<f64>) -> PastRun {
        let usage = Usage { input_tokens, output_tokens, cost, ..Usage::default() };
        PastRun { turns, usage }
    }

    fn limited(cost: Option<f64>, tokens: Option<u64>) -> Limits {
        Limits { cost, tokens, ..Limits::default() }
    }

    #[test]
    fn earlier_runs_are_forecast_by_their_median_and_their_most() {
        let runs = [
            run(9, 20_000, 2_000, Some(0.01)),
            run(19, 60_000, 9_000, Some(0.05)),
            run(11, 25_000, 3_000, Some(0.02)),
            run(10, 24_000, 2_500, Some(0.015)),
        ];
        let forecast = Forecast::of_runs(&runs, &limited(Some(1.5), None)).unwrap();
        assert_eq!(
            forecast.text,
            "About 11 requests, 25k tokens in, 3k out, $0.02 (median of 4 runs; most: 19 requests, $0.05). Cannot exceed $1.50."
        );
        assert_eq!(forecast.above, Vec::<String>::new());
        assert_eq!(Forecast::of_runs(&[], &Limits::default()), None);
    }

    #[test]
    fn an_unknown_price_leaves_the_money_out() {
        let runs = [run(1, 800, 90, Some(0.02)), run(1, 900, 90, None)];
        let forecast = Forecast::of_runs(&runs, &limited(None, Some(2_000_000))).unwrap();
        assert_eq!(
            forecast.text,
            "About 1 request, 900 tokens in, 90 out (median of 2 runs; most: 1 request). Cannot exceed 2M tokens."
        );
    }

    #[test]
    fn an_estimate_says_that_it_is_one() {
        let usage = run(0, 25_400, 3_000, Some(0.004)).usage;
        let forecast = Forecast::of_estimate(12, usage, &Limits::default());
        assert_eq!(
            forecast.text,
            "About 12 requests, 25k tokens in, 3k out, less than $0.01 (estimate). No limit is set."
        );
    }

    #[test]
    fn a_forecast_above_a_limit_says_so() {
        let limits = Limits { turns: 10, tokens: Some(20_000), cost: Some(0.01), seconds: None };
        let forecast = Forecast::of_estimate(12, run(0, 25_000, 3_000, Some(0.02)).usage, &limits);
        assert_eq!(
            forecast.above,
            [
                "That is above the limit of 10 requests for one input, where the run stops and waits for you.",
                "That is above the limit of 20k tokens for one input, where the run stops and waits for you.",
                "That is above the limit of $0.01 for one input, where the run stops and waits for you.",
            ]
        );
    }
}
