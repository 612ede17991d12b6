//! Ids of workflows and agents: made to fit the pattern, and longer only where two would be equal.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::code::Code;
use crewagent_format::id::MAX_BYTES;

use crate::recorder::ImportRecorder;

/// Longest id that is made, so that a module and a number can be added.
const FITTED_BYTES: usize = 80;

/// Makes an id of a name: letters, digits, `.`, `_` and `-`; runs of other characters become one `-`.
pub(crate) fn fitted(name: &str, otherwise: &str) -> String {
    let mut id = String::new();
    for c in name.trim().chars() {
        if c.is_ascii_alphanumeric() || (matches!(c, '.' | '_' | '-') && !id.is_empty()) {
            id.push(c.to_ascii_lowercase());
        } else if !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
        if id.len() >= FITTED_BYTES {
            break;
        }
    }
    let id = id.trim_end_matches(['-', '.', '_']);
    if id.is_empty() { otherwise.to_owned() } else { id.to_owned() }
}

/// Name that wants an id.
pub(crate) struct IdClaim<'a> {
    /// Name as the source has it.
    pub(crate) name: &'a str,
    /// Id if the name has no letter that an id may have.
    pub(crate) otherwise: String,
    pub(crate) module: Option<&'a str>,
    /// File that the id is for.
    pub(crate) file: &'a str,
}

/// Gives every claim an id of its own. Where two are equal, all of them get their module in front, and a number where
/// that does not suffice.
pub(crate) fn assigned(
    what: &str,
    claims: &[IdClaim<'_>],
    recorder: &mut ImportRecorder,
) -> Vec<String> {
    let plain: Vec<String> =
        claims.iter().map(|claim| fitted(claim.name, &claim.otherwise)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for id in &plain {
        *counts.entry(id).or_default() += 1;
    }
    let is_single = |id: &String| counts.get(id.as_str()) == Some(&1);
    let mut used: BTreeSet<String> = plain.iter().filter(|id| is_single(id)).cloned().collect();
    let mut ids = Vec::with_capacity(claims.len());
    for (claim, id) in claims.iter().zip(&plain) {
        if is_single(id) {
            ids.push(id.clone());
            continue;
        }
        let module = claim.module.map(|module| fitted(module, "module"));
        let longer = module.map_or_else(|| id.clone(), |module| format!("{module}.{id}"));
        let longer = unused(&longer, &used);
        let message =
            format!("{what} `{id}` is there more than once; this one is called `{longer}`");
        recorder.file(Code::IdMadeLonger, claim.file, message, "use the longer id");
        used.insert(longer.clone());
        ids.push(longer);
    }
    ids
}

/// Returns the id, with a number if it is used.
pub(crate) fn unused(id: &str, used: &BTreeSet<String>) -> String {
    let id = id.get(..id.len().min(MAX_BYTES - 8)).unwrap_or(id);
    if !used.contains(id) {
        return id.to_owned();
    }
    (2..).map(|number| format!("{id}-{number}")).find(|id| !used.contains(id)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_to_fit() {
        for (name, expected) in [
            ("Create PRD", "create-prd"),
            ("bmad-agent_x.y", "bmad-agent_x.y"),
            ("  -- a//b  ", "a-b"),
            ("Über uns", "ber-uns"),
            ("产品", "other"),
            ("...", "other"),
        ] {
            assert_eq!(fitted(name, "other"), expected);
        }
        assert!(fitted(&"x".repeat(1000), "").len() <= FITTED_BYTES);
    }

    #[test]
    fn equal_ids_get_their_module_all_of_them() {
        let claim = |name, module| IdClaim { name, otherwise: "w".to_owned(), module, file: "f" };
        let claims =
            [claim("a", Some("m")), claim("b", None), claim("A", Some("n")), claim("a", Some("n"))];
        let mut recorder = ImportRecorder::default();
        assert_eq!(assigned("workflow", &claims, &mut recorder), ["m.a", "b", "n.a", "n.a-2"]);
    }
}
