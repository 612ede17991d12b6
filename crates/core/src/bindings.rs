//! Bindings: names whose values are fixed for a run, and the texts that they are put into.

mod nested;
mod texts;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crewagent_format::placeholder;
use serde::{Deserialize, Serialize};

pub use self::nested::{MOST_NESTED, VALUE_MAX_BYTES, is_value};
pub use self::texts::{filled, of_workflow, uses_bindings};

/// Names of a run with their values. A variable of the state changes during a run; a binding never does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bindings(BTreeMap<String, String>);

impl Bindings {
    /// Returns bindings with these values, in which names of other values are resolved: at most eight deep. Values that
    /// name each other in a circle keep their braces.
    pub fn resolved(values: BTreeMap<String, String>) -> Self {
        Self(nested::resolved(&Self::default(), &values))
    }

    /// Returns these bindings with those of a workflow or a step, which win.
    #[must_use]
    pub fn with(&self, local: &BTreeMap<String, String>) -> Self {
        if local.is_empty() {
            return self.clone();
        }
        let mut values = self.0.clone();
        values.extend(nested::resolved(self, local));
        Self(values)
    }

    /// Returns true if nothing is bound.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Iterates over the names with their values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Puts the values into a text: `{name}`, `{{name}}` and `{{.name}}` become the value, in one pass. An inserted
    /// value is not looked at again, and all other braces stay.
    pub fn fill<'t>(&self, text: &'t str) -> Cow<'t, str> {
        fill_with(text, |name| self.named(name).map(Cow::Borrowed))
    }

    /// Returns the value that a text means with a name. `{{config.a.b}}` and `{{.b}}` mean `b`.
    fn named(&self, name: &str) -> Option<&str> {
        let is_deep = name.starts_with('.') || name.starts_with("config.");
        let leaf = || name.rsplit('.').next().filter(|_| is_deep);
        self.get(name).or_else(|| self.get(leaf()?))
    }
}

impl FromIterator<(String, String)> for Bindings {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(values: T) -> Self {
        Self::resolved(values.into_iter().collect())
    }
}

/// Replaces the names in braces that `value` knows.
fn fill_with<'t, 'v>(
    text: &'t str,
    mut value: impl FnMut(&str) -> Option<Cow<'v, str>>,
) -> Cow<'t, str> {
    let mut filled = String::new();
    let (mut rest, mut is_same) = (text, true);
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        let found = placeholder::at_start(from);
        let (written, after) = match found.and_then(|(name, length)| Some((value(name)?, length))) {
            Some((value, length)) => {
                is_same = false;
                (value, &from[length..])
            }
            None => (Cow::Borrowed("{"), &from[1..]),
        };
        filled.push_str(&written);
        rest = after;
    }
    if is_same {
        return Cow::Borrowed(text);
    }
    filled.push_str(rest);
    Cow::Owned(filled)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bindings() -> Bindings {
        [
            ("user_name", "Ana"),
            ("output_folder", "@project/_bmad-output"),
            ("planning_artifacts", "{output_folder}/planning"),
            ("braces", "{user_name}"),
            ("tricky", "{nobody}"),
            ("workflow.greeting", "Hello"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .collect()
    }

    fn check_filled(text: &str, expected: &str) {
        assert_eq!(bindings().fill(text), expected, "{text:?}");
    }

    #[test]
    fn names_in_braces_become_their_values() {
        check_filled("{user_name}", "Ana");
        check_filled("{{user_name}}", "Ana");
        check_filled("{{ user_name }}", "Ana");
        check_filled("{{.user_name}}", "Ana");
        check_filled("{{config.core.user_name}}", "Ana");
        check_filled("{{config.user_name}}", "Ana");
        check_filled("{workflow.greeting}, {user_name}!", "Hello, Ana!");
        check_filled(
            "save to `{planning_artifacts}/x.md`",
            "save to `@project/_bmad-output/planning/x.md`",
        );
        check_filled("{{{user_name}}}", "{Ana}");
        check_filled("${user_name}", "$Ana");
        check_filled("{{user_name}", "{Ana");
        check_filled("{user_name}{user_name}", "AnaAna");
    }

    #[test]
    fn everything_else_stays() {
        for text in [
            "",
            "{}",
            "{{}}",
            "{ }",
            "{unknown}",
            "{{unknown}}",
            "{user name}",
            "{User_Name}",
            "{\"user_name\": 1}",
            "<user_name>",
            "user_name",
            "{user_name",
            "{{user_name",
            "}user_name{",
            "%user_name%",
        ] {
            check_filled(text, text);
        }
    }

    #[test]
    fn an_inserted_value_is_not_looked_at_again() {
        check_filled("{tricky}", "{nobody}");
        let bindings = Bindings(BTreeMap::from([
            ("a".to_owned(), "{b}".to_owned()),
            ("b".to_owned(), "x".to_owned()),
        ]));
        assert_eq!(bindings.fill("{a} {b}"), "{b} x");
    }

    #[test]
    fn a_value_names_others_once() {
        check_filled("{braces}", "Ana");
    }

    #[test]
    fn a_step_can_name_what_the_run_knows_and_wins_over_it() {
        let local = BTreeMap::from([
            ("outputFile".to_owned(), "{planning_artifacts}/prd.md".to_owned()),
            ("user_name".to_owned(), "the user".to_owned()),
        ]);
        let all = bindings().with(&local);
        assert_eq!(all.fill("{outputFile}"), "@project/_bmad-output/planning/prd.md");
        assert_eq!(all.fill("{user_name}"), "the user");
    }

    #[test]
    fn a_text_full_of_braces_takes_no_longer_than_any_other() {
        let text = "{".repeat(1 << 20);
        assert!(matches!(bindings().fill(&text), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn a_text_without_known_names_never_changes(text in "[{}a-z_. \\n<>$中]{0,200}") {
            prop_assert_eq!(Bindings::default().fill(&text), text.as_str());
            let known = ["user_name", "output_folder", "planning_artifacts", "braces", "tricky"];
            if !known.iter().any(|name| text.contains(name)) {
                prop_assert_eq!(bindings().fill(&text), text.as_str());
            }
        }

        #[test]
        fn whatever_stands_around_a_name_stays(
            before in "[^{}]{0,40}",
            after in "[^{}]{0,40}",
        ) {
            let filled = bindings().fill(&format!("{before}{{user_name}}{after}")).into_owned();
            prop_assert_eq!(filled, format!("{before}Ana{after}"));
        }
    }
}
