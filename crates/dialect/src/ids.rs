//! Ids of calls in the form of a provider. Ours stay internal.

use std::collections::HashSet;

use crewagent_format::integrity::Digest;

use super::profile::IdForm;

/// Maximum length of an id in the safe form.
const LONGEST: usize = 40;
/// Length of the short form.
const NINE: usize = 9;

/// Ids that a request has used so far. No two calls share one, though ours are only unique within a reply. An id
/// depends on the calls before it alone.
#[derive(Debug, Default)]
pub(super) struct Ids {
    used: HashSet<String>,
    /// Ids in the order of the calls.
    order: Vec<String>,
}

impl Ids {
    /// Returns the number of ids.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Forgets all but the first ones.
    pub(super) fn truncate(&mut self, len: usize) {
        for id in self.order.drain(len.min(self.order.len())..) {
            self.used.remove(&id);
        }
    }

    /// Returns the id of the next call, whose tool has this wire name.
    pub(super) fn next(&mut self, form: IdForm, id: &str, name: &str) -> String {
        let place = self.order.len();
        let wire = match form {
            IdForm::Safe => self.safe(id, place),
            IdForm::Nine => self.nine(id, place),
            // It is unique, because it counts and ends with the number.
            IdForm::Numbered => format!("functions.{name}:{place}"),
        };
        self.used.insert(wire.clone());
        self.order.push(wire.clone());
        wire
    }

    fn safe(&self, id: &str, place: usize) -> String {
        let legal =
            |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
        let mut stem: String = id.chars().map(legal).take(LONGEST).collect();
        if stem.is_empty() {
            stem.push_str("call");
        }
        if !self.used.contains(&stem) {
            return stem;
        }
        let distinct = (place..).map(|number| {
            let number = format!("_{number}");
            let front = stem.get(..LONGEST - number.len()).unwrap_or(&stem);
            format!("{front}{number}")
        });
        self.first_unused(distinct)
    }

    fn nine(&self, id: &str, place: usize) -> String {
        let is_legal = id.len() == NINE && id.chars().all(|c| c.is_ascii_alphanumeric());
        let own = if is_legal { id.to_owned() } else { digest(id) };
        let distinct = (place..).map(|number| digest(&format!("{id}\n{number}")));
        self.first_unused(std::iter::once(own).chain(distinct))
    }

    fn first_unused(&self, mut ids: impl Iterator<Item = String>) -> String {
        ids.find(|id| !self.used.contains(id)).unwrap_or_default()
    }
}

/// Returns nine letters and digits derived from a text.
fn digest(text: &str) -> String {
    let hex = Digest::of(text.as_bytes()).to_string();
    let mut number =
        hex.get(..16).and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or_default();
    let mut digits = String::with_capacity(NINE);
    for _ in 0..NINE {
        let digit = u8::try_from(number % 62).unwrap_or_default();
        digits.push(char::from(match digit {
            0..10 => b'0' + digit,
            10..36 => b'a' + digit - 10,
            _ => b'A' + digit - 36,
        }));
        number /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config as ProptestConfig, RngSeed};

    use super::*;

    fn all(form: IdForm, ids: &[&str]) -> Vec<String> {
        let mut used = Ids::default();
        ids.iter().map(|id| used.next(form, id, "fs_read")).collect()
    }

    #[test]
    fn legal_ids_stay() {
        let nine = ["abcDEF123", "000000000"];
        assert_eq!(all(IdForm::Nine, &nine), nine);
        let safe = ["call_1", "toolu_01-x", &"x".repeat(40)];
        assert_eq!(all(IdForm::Safe, &safe), safe);
    }

    #[test]
    fn illegal_ids_look_alike_where_they_can() {
        let long = "x".repeat(41);
        assert_eq!(
            all(IdForm::Safe, &["functions.fs_read:0", "", &long]),
            ["functions_fs_read_0", "call", &"x".repeat(40)]
        );
    }

    #[test]
    fn an_id_that_comes_again_becomes_another() {
        let long = "x".repeat(40);
        assert_eq!(
            all(IdForm::Safe, &["a", "a", "a_1", &long, &long]),
            ["a", "a_1", "a_1_2", &long, &format!("{}_4", "x".repeat(38))]
        );
        let nine = all(IdForm::Nine, &["abcDEF123", "abcDEF123"]);
        assert_ne!(nine[0], nine[1]);
    }

    #[test]
    fn numbered_ids_count() {
        assert_eq!(
            all(IdForm::Numbered, &["a", "a"]),
            ["functions.fs_read:0", "functions.fs_read:1"]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn ids_are_legal_distinct_and_follow_from_what_is_before(
            ids in proptest::collection::vec("[ab_.é1]{0,2}([a-z]{39,42})?|[ab]{9}", 0..20),
            keep in 0usize..20,
            nine: bool,
        ) {
            let form = if nine { IdForm::Nine } else { IdForm::Safe };
            let mut used = Ids::default();
            let wire: Vec<String> = ids.iter().map(|id| used.next(form, id, "x")).collect();
            let distinct: HashSet<&String> = wire.iter().collect();
            prop_assert_eq!(distinct.len(), ids.len());
            for id in &wire {
                let legal = id.chars().all(|c| c.is_ascii_alphanumeric() || (!nine && (c == '_' || c == '-')));
                prop_assert!(legal && !id.is_empty() && id.len() <= LONGEST && (!nine || id.len() == NINE), "{}", id);
            }
            used.truncate(keep);
            let again: Vec<String> = ids.iter().skip(used.len()).map(|id| used.next(form, id, "x")).collect();
            prop_assert_eq!(&wire[ids.len() - again.len()..], again.as_slice());
        }
    }
}
