//! `[tiers]` table: the models for the tiers that steps advise.

use std::collections::BTreeMap;

use crewagent_core::settings::{TierModel, Tiers};
use crewagent_format::package::step::Tier;
use serde::{Deserialize, Serialize};

use super::Settings;
use super::models::Environment;

/// Models for the tiers, by their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TierSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strong: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<String>,
}

impl TierSettings {
    /// Returns the name of a tier's model.
    pub fn get(&self, tier: Tier) -> Option<&str> {
        let name = match tier {
            Tier::Fast => &self.fast,
            Tier::Strong => &self.strong,
            Tier::Review => &self.review,
        };
        name.as_deref().map(str::trim).filter(|name| !name.is_empty())
    }

    /// Returns the tiers that this model is set for.
    pub fn of(&self, model: &str) -> impl Iterator<Item = Tier> {
        Tier::ALL.into_iter().filter(move |tier| self.get(*tier) == Some(model))
    }
}

impl Settings {
    /// Returns the models of the tiers for a run: those that were named for it and, unless the run names its own model,
    /// those of the settings. A model that answers from a file answers for all tiers.
    pub fn tiers_of(&self, model: Option<&str>, given: &BTreeMap<Tier, String>) -> Tiers {
        let environment = Environment::of_process();
        let name = self.model_name(model, &environment).map(|(name, _)| name);
        let is_file =
            name.is_ok_and(|name| name.starts_with("scripted:") || name.starts_with("replay:"));
        let follows_settings = model.is_none() && !is_file;
        let mut tiers = Tiers::default();
        for tier in Tier::ALL {
            let named = given.get(&tier).map(String::as_str);
            let name = named.or_else(|| self.tiers.get(tier).filter(|_| follows_settings));
            let found = name.map(|name| TierModel {
                model: name.to_owned(),
                window_tokens: self.window(Some(name)),
                given: named.is_some(),
            });
            tiers.set(tier, found);
        }
        tiers
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const MODELS: &str = "[models.small]\nmodel = \"s\"\nbase-url = \"http://127.0.0.1:1\"\nwindow = 8000\n\n[models.large]\nmodel = \"l\"\nbase-url = \"http://127.0.0.1:1\"\nwindow = 200000\n\n";

    fn check_tiers(
        table: &str,
        model: Option<&str>,
        given: &[(Tier, &str)],
        expected: &[(Tier, &str, u64)],
    ) {
        let text = format!("{table}\n{MODELS}");
        let settings = Settings::parse(Path::new("c"), &text).unwrap();
        let given = given.iter().map(|(tier, name)| (*tier, (*name).to_owned())).collect();
        let tiers = settings.tiers_of(model, &given);
        let found: Vec<(Tier, &str, u64)> = Tier::ALL
            .into_iter()
            .filter_map(|tier| {
                tiers.get(tier).map(|at| (tier, at.model.as_str(), at.window_tokens))
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_run_has_the_tiers_of_the_settings_with_their_windows() {
        let table = "[run]\nmodel = \"large\"\n[tiers]\nfast = \"small\"\n";
        check_tiers(table, None, &[], &[(Tier::Fast, "small", 8000)]);
        check_tiers("[run]\nmodel = \"large\"\n", None, &[], &[]);
    }

    #[test]
    fn who_names_a_model_means_it_unless_tiers_are_named_too() {
        let table = "[tiers]\nfast = \"small\"\nreview = \"large\"\n";
        check_tiers(table, Some("large"), &[], &[]);
        let given = [(Tier::Strong, "large")];
        check_tiers(table, Some("small"), &given, &[(Tier::Strong, "large", 200_000)]);
        check_tiers(
            &format!("[run]\nmodel = \"large\"\n{table}"),
            None,
            &[(Tier::Fast, "large")],
            &[(Tier::Fast, "large", 200_000), (Tier::Review, "large", 200_000)],
        );
    }

    #[test]
    fn a_model_that_answers_from_a_file_answers_for_all_tiers() {
        let table = "[run]\nmodel = \"scripted:x.yaml\"\n[tiers]\nfast = \"small\"\n";
        check_tiers(table, None, &[], &[]);
    }
}
