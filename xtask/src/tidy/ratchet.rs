//! `xtask/ratchet.toml`: findings of some rules are counted by crate, and the sum of a rule may only fall.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{TidyFinding, TidyRule, area};

/// File of the counts.
pub(super) const PATH: &str = "xtask/ratchet.toml";

/// Comment above the counts, so that lowering them does not lose the explanation.
const COMMENT: &str = "\
# Findings that are still allowed, by rule and crate. `cargo xtask tidy --list RULE` shows them.
# The sum of a rule may only fall, so code may move between crates. `cargo xtask tidy --shrink`
# lowers the counts to those found.
";

/// Counts by the name of a rule and the crate.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Ratchet(BTreeMap<String, BTreeMap<String, usize>>);

impl Ratchet {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(toml::from_str(text)?)
    }

    pub(super) fn render(&self) -> anyhow::Result<String> {
        Ok(format!("{COMMENT}\n{}", toml::to_string(self)?))
    }

    /// Counts findings by rule and crate.
    pub(super) fn count(findings: &[TidyFinding]) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            let crates = counts.0.entry(finding.rule.name().to_owned()).or_default();
            *crates.entry(area(&finding.path).to_owned()).or_default() += 1;
        }
        counts
    }

    /// Returns one finding for each rule whose sum is above the allowed one.
    pub(super) fn check(&self, found: &Self) -> Vec<TidyFinding> {
        let risen = found.0.keys().filter(|rule| found.sum(rule) > self.sum(rule));
        let finding = |rule: &String| {
            let of = |counts: &Self, name: &str| {
                counts.0.get(rule).and_then(|crates| crates.get(name)).copied().unwrap_or_default()
            };
            let crates = found.0.get(rule).into_iter().flat_map(BTreeMap::keys);
            let higher = crates.filter(|name| of(found, name) > of(self, name));
            let higher: Vec<_> = higher
                .map(|name| format!("{name} {} (allowed {})", of(found, name), of(self, name)))
                .collect();
            let message = format!(
                "rule `{rule}` has {} findings, {} are allowed; more than before: {}; \
                 `cargo xtask tidy --list {rule}` shows them",
                found.sum(rule),
                self.sum(rule),
                higher.join(", "),
            );
            TidyRule::Ratchet.at(PATH, 1, message)
        };
        risen.map(finding).collect()
    }

    /// Returns a line for each rule, with its sum and the allowed one.
    pub(super) fn summary(&self, found: &Self) -> Vec<String> {
        let line = |rule: &String| match (found.sum(rule), self.sum(rule)) {
            (now, allowed) if now < allowed => {
                format!("{rule}: {now}, {allowed} allowed; `cargo xtask tidy --shrink` lowers it")
            }
            (now, allowed) => format!("{rule}: {now}, {allowed} allowed"),
        };
        self.0.keys().map(line).collect()
    }

    /// Returns the new counts of every rule whose sum did not rise, and the old ones of the others.
    pub(super) fn lowered(&self, found: &Self) -> Self {
        let rule = |(rule, allowed): (&String, &BTreeMap<String, usize>)| {
            let counts = if found.sum(rule) <= self.sum(rule) {
                found.0.get(rule).cloned().unwrap_or_default()
            } else {
                allowed.clone()
            };
            (!counts.is_empty()).then(|| (rule.clone(), counts))
        };
        Self(self.0.iter().filter_map(rule).collect())
    }

    fn sum(&self, rule: &str) -> usize {
        self.0.get(rule).map_or(0, |crates| crates.values().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;

    const ALLOWED: &str = "[word]\ncore = 2\nengine = 1\n";

    fn found(core: usize, engine: usize) -> Ratchet {
        let at = |name: &str| TidyRule::Word.at(&format!("crates/{name}/src/a.rs"), 1, "");
        let findings = (0..core).map(|_| at("core")).chain((0..engine).map(|_| at("engine")));
        Ratchet::count(&findings.collect::<Vec<_>>())
    }

    fn check_sum(core: usize, engine: usize, expected: &[&str]) {
        let allowed = Ratchet::parse(ALLOWED).unwrap();
        assert_places(&allowed.check(&found(core, engine)), expected);
    }

    #[test]
    fn a_sum_may_fall_and_move_and_never_rise() {
        check_sum(2, 1, &[]);
        check_sum(1, 1, &[]);
        check_sum(0, 3, &[]);
        check_sum(2, 2, &["xtask/ratchet.toml:1"]);
    }

    #[test]
    fn a_rule_without_an_entry_allows_nothing() {
        assert_places(&Ratchet::default().check(&found(1, 0)), &["xtask/ratchet.toml:1"]);
    }

    #[test]
    fn a_risen_sum_names_the_crates_that_rose() {
        let message = &Ratchet::parse(ALLOWED).unwrap().check(&found(1, 3))[0].message;
        assert!(message.contains("4 findings, 3 are allowed"), "{message}");
        assert!(message.contains("engine 3 (allowed 1)") && !message.contains("core"), "{message}");
    }

    #[test]
    fn lowering_follows_moves_and_never_raises() {
        let allowed = Ratchet::parse(ALLOWED).unwrap();
        assert_eq!(allowed.lowered(&found(0, 2)), found(0, 2));
        assert_eq!(allowed.lowered(&found(5, 0)), allowed);
        assert_eq!(allowed.lowered(&found(0, 0)), Ratchet::default());
        let text = allowed.render().unwrap();
        assert!(text.starts_with("# Findings"), "{text}");
        assert_eq!(Ratchet::parse(&text).unwrap(), allowed);
    }
}
