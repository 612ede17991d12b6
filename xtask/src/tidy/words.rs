//! One concept, one word: retired words of `xtask/words.toml` in identifiers and comments.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::source::{RustSource, RustSources};
use super::{TidyFinding, TidyRule, script};
use crate::repo::Repo;

/// File of the retired words.
pub(super) const PATH: &str = "xtask/words.toml";
/// Number of words from which a name may use any: names of tests are sentences.
const SENTENCE_WORDS: usize = 5;
/// Keywords that declare a type.
const TYPE_KEYWORDS: [&str; 4] = ["struct", "enum", "trait", "type"];

/// Retired words, each with its replacement.
type Retired = BTreeMap<String, String>;

/// Retired words, by the place in which they are searched.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Glossary {
    identifier: Retired,
    part: Retired,
    /// Keyed by the keyword before the name.
    declared: BTreeMap<String, Retired>,
    prose: Retired,
    within: Vec<Within>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Within {
    /// Part of the path.
    path: String,
    types: Retired,
}

impl Glossary {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// Returns a finding for every retired word in Rust files and in those of the web app.
    pub(super) fn check(&self, repo: &Repo, sources: &RustSources) -> Vec<TidyFinding> {
        let rust = sources.iter().flat_map(|(path, source)| self.in_rust(path, source));
        let scripts = repo.texts().filter(|(path, _)| script::is_ours(path));
        let scripts = scripts.flat_map(|(path, text)| self.in_script(path, text));
        rust.chain(scripts).collect()
    }

    fn in_rust(&self, path: &str, source: &RustSource) -> Vec<TidyFinding> {
        let mut findings = Vec::new();
        for (index, token) in source.tokens.iter().enumerate() {
            let Some(word) = token.word() else { continue };
            let keyword = index.checked_sub(1).and_then(|before| source.tokens[before].word());
            let entry = self.of_identifier(word).or_else(|| self.of_declared(path, keyword?, word));
            findings.extend(entry.map(|entry| found(path, token.line, word, entry)));
        }
        for doc in &source.docs {
            findings.extend(self.in_prose(path, doc.line, &doc.text));
        }
        findings
    }

    fn in_script(&self, path: &str, text: &str) -> Vec<TidyFinding> {
        let mut findings = Vec::new();
        for piece in script::pieces(text) {
            match piece.kind {
                script::PieceKind::Identifier => {
                    let entry = self.of_identifier(piece.text);
                    findings.extend(entry.map(|entry| found(path, piece.line, piece.text, entry)));
                }
                script::PieceKind::Comment => {
                    findings.extend(self.in_prose(path, piece.line, piece.text));
                }
            }
        }
        findings
    }

    /// Checks the text of a comment, and identifiers in backticks.
    fn in_prose(&self, path: &str, line: usize, text: &str) -> Vec<TidyFinding> {
        let mut findings = Vec::new();
        for (index, piece) in text.split('`').enumerate() {
            if index % 2 == 1 {
                let names = piece.split(|c: char| !c.is_alphanumeric() && c != '_');
                let retired = names.filter_map(|name| Some((name, self.of_identifier(name)?)));
                findings.extend(retired.map(|(name, entry)| found(path, line, name, entry)));
            } else {
                findings.extend(self.phrases(piece).map(|entry| found(path, line, entry.0, entry)));
            }
        }
        findings
    }

    /// Returns an entry for each occurrence of one of its phrases.
    fn phrases(&self, text: &str) -> impl Iterator<Item = (&String, &String)> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let text = format!(" {} ", words.collect::<Vec<_>>().join(" ").to_lowercase());
        self.prose.iter().flat_map(move |entry| {
            let times = text.matches(&format!(" {} ", entry.0)).count();
            std::iter::repeat_n(entry, times)
        })
    }

    fn of_identifier(&self, name: &str) -> Option<(&String, &String)> {
        if let Some(entry) = self.identifier.get_key_value(name) {
            return Some(entry);
        }
        let parts = parts(name);
        if parts.len() >= SENTENCE_WORDS {
            return None;
        }
        parts.iter().find_map(|part| {
            let singular = part.strip_suffix('s').unwrap_or(part);
            self.part.get_key_value(part).or_else(|| self.part.get_key_value(singular))
        })
    }

    fn of_declared(&self, path: &str, keyword: &str, name: &str) -> Option<(&String, &String)> {
        let here = self.within.iter().filter(|within| path.contains(&within.path));
        let mut types = here.filter(|_| TYPE_KEYWORDS.contains(&keyword));
        self.declared
            .get(keyword)
            .and_then(|names| names.get_key_value(name))
            .or_else(|| types.find_map(|within| within.types.get_key_value(name)))
    }
}

fn found(path: &str, line: usize, name: &str, (word, instead): (&String, &String)) -> TidyFinding {
    let message = if name == word {
        format!("`{name}` is retired: {instead}")
    } else {
        format!("`{name}` has the retired word `{word}`: {instead}")
    };
    TidyRule::Word.at(path, line, message)
}

/// Splits `two_words`, `TwoWords` and `twoWords` into words in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if letter == '_' || letter == '$' || letter.is_uppercase() && was_lower {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| letter.is_alphanumeric()) {
            part.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;

    const LIST: &str = r#"
        within = [{ path = "crates/a/", types = { Job = "CallJob" } }]
        [identifier]
        Fact = "EventKind"
        [part]
        desk = "session"
        [declared.fn]
        told = "a verb"
        [prose]
        nobody = "name the actor"
        "goes on" = "resumes"
    "#;

    fn check_words(path: &str, text: &str, expected: &[usize]) {
        let repo = Repo::of(&[(path, text)]);
        let (sources, errors) = RustSources::parse(&repo);
        assert_eq!(errors, []);
        let expected: Vec<_> = expected.iter().map(|line| format!("{path}:{line}")).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_places(&Glossary::parse(LIST).unwrap().check(&repo, &sources), &expected);
    }

    #[test]
    fn a_retired_identifier_is_found_wherever_it_stands() {
        check_words("a.rs", "use x::Fact;\nfn f(f: Fact) {}\nm!(Fact);", &[1, 2, 3]);
        check_words("a.rs", "struct Facts; struct OneFact; fn fact() {}", &[]);
    }

    #[test]
    fn a_retired_part_is_found_in_both_spellings() {
        check_words("a.rs", "struct FrontDesk;\nfn desk_of() {}\nmod desks {}", &[1, 2, 3]);
        check_words("a.rs", "struct Desktop; fn on_desktop() {}", &[]);
        check_words("web/src/a.ts", "const frontDesk = desktop\n", &[1]);
    }

    #[test]
    fn a_test_name_is_a_sentence() {
        check_words("a.rs", "fn a_person_at_the_desk_writes() {}", &[]);
    }

    #[test]
    fn a_declared_name_may_be_used_otherwise() {
        check_words("a.rs", "fn f(told: u8) {}\nfn told() {}", &[2]);
        check_words("crates/a/src/b.rs", "struct Job;\nfn f(job: Job) {}", &[1]);
        check_words("crates/b/src/b.rs", "struct Job;", &[]);
    }

    #[test]
    fn strings_and_plain_comments_are_free() {
        check_words("a.rs", "#[serde(rename = \"desk\")]\nstruct A; // nobody\n", &[]);
    }

    #[test]
    fn doc_comments_are_read_over_their_lines() {
        check_words("a.rs", "\n/// It goes\n/// on. Nobody knows.\nfn f() {}", &[2, 2]);
        check_words("a.rs", "/// A `Fact` of `Facts`.\nfn f() {}", &[1]);
        check_words("web/src/a.svelte", "<!-- nobody -->\n", &[1]);
    }

    #[test]
    fn names_split_into_words() {
        assert_eq!(parts("TwoWords"), ["two", "words"]);
        assert_eq!(parts("_two_words2Go"), ["two", "words2", "go"]);
        assert_eq!(parts("HTTP"), ["http"]);
    }
}
