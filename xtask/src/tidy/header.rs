//! File headers: every Rust file opens with a `//!` line that describes it.

use super::{TidyFinding, TidyRule};
use crate::repo::Repo;

/// Minimum number of words; fewer say nothing beyond the file's name.
const MIN_WORDS: usize = 3;
/// Openings of a line that is only a placeholder.
const PLACEHOLDERS: [&str; 5] = ["todo", "fixme", "tbd", "xxx", "placeholder"];

pub(super) fn check(repo: &Repo) -> Vec<TidyFinding> {
    let missing = repo.texts_ending(".rs").filter_map(|(path, text)| {
        let problem = problem_of(text.lines().next().unwrap_or_default())?;
        Some(TidyRule::Header.at(
            path,
            1,
            format!("{problem}; say in one line what the file is for"),
        ))
    });
    missing.collect()
}

fn problem_of(line: &str) -> Option<&'static str> {
    let line = line.trim_start_matches('\u{feff}');
    let Some(text) = line.strip_prefix("//!") else {
        return Some("the first line is no `//!` line");
    };
    let words: Vec<_> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let placeholder = words.first().is_some_and(|word| PLACEHOLDERS.contains(&word.as_str()));
    (placeholder || words.len() < MIN_WORDS).then_some("the `//!` line is a placeholder")
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;

    fn check_header(text: &str, expected: &[&str]) {
        assert_places(&check(&Repo::of(&[("a.rs", text), ("notes.md", "")])), expected);
    }

    #[test]
    fn a_line_that_says_something_is_enough() {
        check_header("//! Paths from a model, checked.\nfn f() {}\n", &[]);
        check_header("\u{feff}//! Paths from a model.", &[]);
        check_header("//! Lists each TODO of a package.\n", &[]);
    }

    #[test]
    fn a_missing_line_is_found() {
        check_header("", &["a.rs:1"]);
        check_header("fn f() {}\n", &["a.rs:1"]);
        check_header("\n//! Late, but it says something.\n", &["a.rs:1"]);
        check_header("/// Of the next item, not of the file.\n", &["a.rs:1"]);
    }

    #[test]
    fn a_placeholder_is_found() {
        check_header("//!\n", &["a.rs:1"]);
        check_header("//! x\n", &["a.rs:1"]);
        check_header("//! Graph module.\n", &["a.rs:1"]);
        check_header("//! TODO: describe what this is for\n", &["a.rs:1"]);
    }
}
