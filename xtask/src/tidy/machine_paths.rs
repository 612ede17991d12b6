//! Machine paths: no file names a folder of the machine it was written on.

use super::{TidyFinding, TidyRule};
use crate::repo::Repo;

/// Roots of such paths, in two pieces each, so that this file does not find itself.
const MACHINE_ROOTS: [&str; 4] =
    [concat!("/", "work/"), concat!("/", "home/"), concat!("/", "root/"), concat!("/", "tmp/bash")];

pub(super) fn check(repo: &Repo) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (path, text) in repo.texts() {
        for (index, line) in text.lines().enumerate() {
            if let Some(root) = MACHINE_ROOTS.into_iter().find(|root| starts_a_path(line, root)) {
                let message = format!("names the machine path `{root}`; write a relative path");
                findings.push(TidyRule::MachinePath.at(path, index + 1, message));
            }
        }
    }
    findings
}

/// Returns true if the root starts an absolute path, and is not inside a longer path or address.
fn starts_a_path(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(index, _)| {
        let before = &line[..index];
        before.ends_with("file://")
            || before.chars().next_back().is_none_or(|c| !is_path_character(c))
    })
}

fn is_path_character(c: char) -> bool {
    c.is_alphanumeric() || "/.-_~@*$%}>)".contains(c)
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;

    fn check_line(line: &str, expected: &[&str]) {
        assert_places(&check(&Repo::of(&[("a.md", &format!("first\n{line}\n"))])), expected);
    }

    #[test]
    fn a_machine_path_is_found() {
        for root in MACHINE_ROOTS {
            check_line(&format!("{root}x"), &["a.md:2"]);
            check_line(&format!("see `{root}x`"), &["a.md:2"]);
            check_line(&format!("PATH=bin:{root}x"), &["a.md:2"]);
            check_line(&format!("[x](file://{root}x)"), &["a.md:2"]);
        }
    }

    #[test]
    fn the_same_letters_inside_another_path_are_no_finding() {
        for root in MACHINE_ROOTS {
            check_line(&format!("@project{root}x"), &[]);
            check_line(&format!("..{root}x"), &[]);
            check_line(&format!("https://example.com{root}x"), &[]);
            check_line(&format!("{{base}}{root}x"), &[]);
        }
        check_line("a homework/ and a rooted/ folder", &[]);
    }
}
