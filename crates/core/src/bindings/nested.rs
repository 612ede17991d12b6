//! Values that name other values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crewagent_format::text::is_unsafe_char;

use super::{Bindings, fill_with};

/// Largest number of values that lie inside of each other.
pub const MOST_NESTED: usize = 8;
/// Maximum size of a value, in bytes.
pub const VALUE_MAX_BYTES: usize = 1024;

/// Value of a name whose value is that of the clock.
const OF_THE_SYSTEM: &str = "system-generated";

/// Mounts that begin a path anew when they stand in the middle of it.
const MOUNTS: [&str; 3] = ["@project", "@pkg", "@state"];

/// Returns true if a text can be a value: one line of at most 1 KiB without control characters.
pub fn is_value(text: &str) -> bool {
    text.len() <= VALUE_MAX_BYTES && !text.chars().any(is_unsafe_char)
}

/// Resolves the names in values, by each other and by `known` ones. What cannot be resolved stays as it is written.
pub(super) fn resolved(
    known: &Bindings,
    values: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut nest = Nest { known, values, done: BTreeMap::new() };
    let usable = values.iter().filter(|(name, value)| {
        // The runtime's own value stays.
        let is_own = value.trim() == OF_THE_SYSTEM && known.get(name).is_some();
        is_value(value) && !is_own
    });
    usable
        .map(|(name, value)| {
            let resolved = nest.value(name, value).map(|found| found.text);
            (name.clone(), resolved.unwrap_or_else(|| value.clone()))
        })
        .collect()
}

/// Values that are resolved together.
struct Nest<'n> {
    known: &'n Bindings,
    values: &'n BTreeMap<String, String>,
    /// Values that were resolved already; none while one is being resolved, and where it cannot be.
    done: BTreeMap<&'n str, Option<NestedValue>>,
}

/// A resolved value.
#[derive(Clone)]
struct NestedValue {
    text: String,
    /// Number of values that lie inside of each other in it, itself included.
    depth: usize,
}

impl<'n> Nest<'n> {
    /// Returns a value with the names in it resolved; none if it is too deep, too long, or lies in a circle.
    fn value(&mut self, name: &'n str, text: &'n str) -> Option<NestedValue> {
        if let Some(done) = self.done.get(name) {
            return done.clone();
        }
        self.done.insert(name, None);
        let (known, values) = (self.known, self.values);
        let (mut is_sound, mut depth) = (is_value(text), 1);
        let filled = fill_with(text, |inner| {
            let own = values.get_key_value(inner).filter(|(inner, _)| *inner != name);
            let Some((inner, value)) = own else {
                // A name that stands in its own value means the value of the run.
                return known.named(inner).map(|value| Cow::Owned(value.to_owned()));
            };
            let found = self.value(inner, value);
            is_sound &= found.is_some();
            let found = found.filter(|_| is_sound)?;
            depth = depth.max(found.depth + 1);
            Some(Cow::Owned(found.text))
        });
        let text = from_last_mount(&filled).to_owned();
        let found = Some(NestedValue { text, depth });
        let found =
            found.filter(|found| is_sound && found.depth <= MOST_NESTED && is_value(&found.text));
        self.done.insert(name, found.clone());
        found
    }
}

/// Returns a path from its last mount on: both a folder and what is built on it may begin with one.
fn from_last_mount(text: &str) -> &str {
    let begins = MOUNTS.iter().any(|mount| text.starts_with(mount));
    let last = MOUNTS.iter().filter_map(|mount| text.rfind(&format!("/{mount}/"))).max();
    match last {
        Some(at) if begins => &text[at + 1..],
        Some(_) | None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_resolved(values: &[(&str, &str)], name: &str, expected: &str) {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let bindings = Bindings::resolved(values.collect());
        assert_eq!(bindings.get(name), Some(expected), "{name}");
    }

    #[test]
    fn names_in_values_are_resolved() {
        check_resolved(&[("a", "{b}/x"), ("b", "{{c}}"), ("c", "d")], "a", "d/x");
        check_resolved(&[("a", "{unknown}/x")], "a", "{unknown}/x");
        check_resolved(&[("a", "plain")], "a", "plain");
    }

    #[test]
    fn a_mount_in_the_middle_begins_a_path_anew() {
        let values = [("root", "@project"), ("out", "{root}/out"), ("plans", "{root}/{out}/plans")];
        check_resolved(&values, "plans", "@project/out/plans");
        check_resolved(&[("a", "mail@project/x")], "a", "mail@project/x");
        check_resolved(&[("a", "see @pkg/x/@pkg/y")], "a", "see @pkg/x/@pkg/y");
    }

    #[test]
    fn a_circle_stays_as_it_is_written() {
        let values = [("a", "{b}"), ("b", "{a}"), ("c", "x{c}"), ("d", "{a}/d")];
        check_resolved(&values, "a", "{b}");
        check_resolved(&values, "b", "{a}");
        check_resolved(&values, "c", "x{c}");
        check_resolved(&values, "d", "{a}/d");
    }

    #[test]
    fn values_lie_eight_deep_inside_of_each_other_and_no_deeper() {
        let chain = |length: usize| -> BTreeMap<String, String> {
            let link = |at: usize| match at {
                at if at == length => (format!("n{at}"), "end".to_owned()),
                at => (format!("n{at}"), format!("{{n{}}}", at + 1)),
            };
            (1..=length).map(link).collect()
        };
        assert_eq!(Bindings::resolved(chain(MOST_NESTED)).get("n1"), Some("end"));
        assert_eq!(Bindings::resolved(chain(MOST_NESTED + 1)).get("n1"), Some("{n2}"));
    }

    #[test]
    fn values_that_multiply_stay_small() {
        let mut values = BTreeMap::from([("n0".to_owned(), "x".repeat(100))]);
        for at in 1..9 {
            values.insert(format!("n{at}"), format!("{{n{}}}", at - 1).repeat(100));
        }
        let bindings = Bindings::resolved(values);
        assert!(bindings.iter().all(|(_, value)| value.len() <= VALUE_MAX_BYTES));
    }

    #[test]
    fn what_is_no_single_short_line_is_no_value() {
        for text in ["a\nb", "a\u{0}b", "a\u{202e}b", "\u{1b}[2J"] {
            assert!(!is_value(text), "{text:?}");
        }
        assert!(!is_value(&"x".repeat(VALUE_MAX_BYTES + 1)));
        assert!(is_value("Zürich 中文, ok"));
        let values = BTreeMap::from([("a".to_owned(), "x\ny".to_owned())]);
        assert_eq!(Bindings::resolved(values).get("a"), None);
    }
}
