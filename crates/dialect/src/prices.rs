//! Prices of tokens. The built-in table is data, in `prices.toml`; users may set their own.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crewagent_core::usage::Usage;
use serde::{Deserialize, Serialize};

use super::profile::matches;

/// Price per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Price {
    /// Tokens that are sent.
    pub input: f64,
    /// Tokens that are returned, thoughts included.
    pub output: f64,
    /// Tokens that are sent and were cached; the price of `input` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// Price in the settings. Users may set its amounts one by one; it counts once the two that are needed are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PriceSettings {
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_amount")]
    pub input: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_amount")]
    pub output: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_amount")]
    pub cached: Option<f64>,
}

impl PriceSettings {
    /// Returns the price, if it has both amounts.
    pub fn whole(&self) -> Option<Price> {
        let Self { input, output, cached } = *self;
        Some(Price { input: input?, output: output?, cached })
    }
}

impl From<Price> for PriceSettings {
    fn from(Price { input, output, cached }: Price) -> Self {
        Self { input: Some(input), output: Some(output), cached }
    }
}

impl Price {
    /// Returns the cost of this usage.
    pub fn of(&self, usage: &Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let sum = fresh as f64 * self.input
            + cached as f64 * self.cached.unwrap_or(self.input)
            + usage.output_tokens as f64 * self.output;
        sum / 1_000_000.0
    }
}

fn amount<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let amount = f64::deserialize(deserializer)?;
    if amount.is_finite() && amount >= 0.0 {
        Ok(amount)
    } else {
        Err(serde::de::Error::custom("a price is zero or more"))
    }
}

fn optional_amount<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    amount(deserializer).map(Some)
}

/// Prices by model. The names are `profile/model` or just the model; `*` stands for anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(pub BTreeMap<String, PriceSettings>);

impl Prices {
    /// Returns the list prices of some providers, as of [`Prices::as_of`].
    pub fn built_in() -> &'static Self {
        &table().prices
    }

    /// Returns the date of the built-in prices.
    pub fn as_of() -> &'static str {
        &table().as_of
    }

    /// Returns true if there are no prices.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the price of a model, by the most precise pattern.
    pub fn find(&self, profile: &str, model: &str) -> Option<Price> {
        let whole = format!("{profile}/{model}");
        let fits = |pattern: &str| matches(pattern, &whole) || matches(pattern, model);
        let said = |pattern: &str| {
            let stars = pattern.matches('*').count();
            (stars == 0, pattern.len() - stars)
        };
        let fitting = self.0.iter().filter(|(pattern, _)| fits(pattern));
        let whole = fitting.filter_map(|(pattern, price)| Some((pattern, price.whole()?)));
        whole.max_by_key(|(pattern, _)| said(pattern)).map(|(_, price)| price)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct PriceTable {
    as_of: String,
    prices: Prices,
}

fn table() -> &'static PriceTable {
    static TABLE: OnceLock<PriceTable> = OnceLock::new();
    // A test reads the file, so there is no error to report.
    TABLE.get_or_init(|| toml::from_str(include_str!("prices.toml")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(input: f64) -> Price {
        Price { input, output: 2.0 * input, cached: None }
    }

    #[test]
    fn the_built_in_table_can_be_read() {
        let table: PriceTable = toml::from_str(include_str!("prices.toml")).unwrap();
        assert_eq!(table.as_of.len(), "2025-01-01".len());
        assert!(table.prices.0.len() > 10);
        for (name, price) in &table.prices.0 {
            let (profile, _) = name.split_once('/').unwrap();
            assert!(super::super::profile::Profile::built_in(profile).is_some(), "{name}");
            let price = price.whole().unwrap();
            assert!(price.output >= price.input, "{name}");
            assert!(price.cached.unwrap_or(0.0) <= price.input, "{name}");
        }
    }

    #[test]
    fn the_pattern_that_says_most_counts() {
        let prices = Prices(
            [("*", 1.0), ("big-*", 2.0), ("big-model*", 3.0), ("there/big-model-2", 4.0)]
                .map(|(pattern, input)| (pattern.to_owned(), price(input).into()))
                .into(),
        );
        let found = |profile, model| prices.find(profile, model).unwrap().input;
        assert_eq!(found("here", "small"), 1.0);
        assert_eq!(found("here", "BIG-one"), 2.0);
        assert_eq!(found("here", "big-model-2"), 3.0);
        assert_eq!(found("there", "big-model-2"), 4.0);
        assert_eq!(found("router", "there/big-model-2"), 4.0);
        assert_eq!(Prices::default().find("a", "b"), None);
    }

    #[test]
    fn a_model_is_priced_where_its_maker_serves_it() {
        let built_in = Prices::built_in();
        assert_eq!(built_in.find("openai", "gpt-4o").unwrap().output, 10.0);
        assert_eq!(built_in.find("openai", "gpt-4o-2024-08-06").unwrap().output, 10.0);
        assert_eq!(built_in.find("openai", "gpt-4o-audio-preview"), None);
        assert_eq!(built_in.find("ollama", "gpt-4o"), None);
        assert_eq!(built_in.find("generic", "gpt-4o"), None);
    }

    #[test]
    fn what_was_at_hand_costs_less() {
        let price = Price { input: 2.0, output: 8.0, cached: Some(0.5) };
        let usage = Usage {
            input_tokens: 1_000_000,
            cached_tokens: 500_000,
            output_tokens: 250_000,
            ..Usage::default()
        };
        assert_eq!(price.of(&usage), 1.0 + 0.25 + 2.0);
        let odd = Usage { input_tokens: 1, cached_tokens: 5, ..Usage::default() };
        assert_eq!(price.of(&odd), 0.5 / 1_000_000.0);
    }

    #[test]
    fn a_price_is_a_number_from_zero() {
        let parsed = |text: &str| toml::from_str::<PriceSettings>(text);
        assert!(parsed("input = 0\noutput = 0.0").unwrap().whole().is_some());
        assert!(parsed("input = -1\noutput = 0").is_err());
        assert!(parsed("input = nan\noutput = 0").is_err());
    }

    #[test]
    fn a_price_counts_when_it_has_both_amounts() {
        let table = "[small]\ninput = 1\n[\"*\"]\ninput = 2\noutput = 4\n";
        let prices: Prices = toml::from_str(table).unwrap();
        assert_eq!(prices.find("here", "small").unwrap().input, 2.0);
    }
}
