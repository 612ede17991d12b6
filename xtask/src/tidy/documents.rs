//! Documents that a reader sees first: README and ARCHITECTURE stay short, and no relative link or anchor is broken.

mod anchors;

use self::anchors::has_anchor;
use super::limits::TidyLimits;
use super::{TidyFinding, TidyRule};
use crate::repo::Repo;

pub(super) fn check(repo: &Repo, limits: &TidyLimits) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let sizes = &limits.sizes;
    for (path, allowed, remedy) in [
        ("README.md", sizes.readme_lines, "move detail to docs/"),
        ("ARCHITECTURE.md", sizes.architecture_lines, "move reasons to docs/design/"),
    ] {
        let lines = repo.text(path).unwrap_or_default().lines().count();
        if lines > allowed {
            let message = format!("has {lines} lines, {allowed} are allowed; {remedy}");
            findings.push(TidyRule::Document.at(path, allowed + 1, message));
        }
    }
    for (path, text) in repo.texts_ending(".md").filter(|(path, _)| is_ours(path)) {
        for (line, target) in links(text) {
            if let Some(problem) = problem_of(repo, path, &target) {
                let message = format!("the link to `{target}` {problem}; mend or remove it");
                findings.push(TidyRule::Document.at(path, line, message));
            }
        }
    }
    findings
}

/// Returns true for a document that we write for readers; packages and test inputs have their own links.
fn is_ours(path: &str) -> bool {
    match path.split_once('/') {
        None => true,
        Some(("docs", _)) => true,
        Some(("spec", rest)) => !rest.starts_with("examples/"),
        Some(_) => false,
    }
}

fn problem_of(repo: &Repo, document: &str, target: &str) -> Option<&'static str> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = file.split('?').next().unwrap_or_default();
    if has_scheme(file) {
        return None;
    }
    let path = match file {
        "" => Some(document.to_owned()),
        file => resolve(document, &percent_decode(file)),
    };
    match path {
        None => Some("leads out of the repository"),
        Some(path) if !repo.exists(&path) => Some("leads to no file"),
        Some(path) => {
            let text = repo.text(&path).filter(|_| path.ends_with(".md") && !anchor.is_empty());
            let is_dead = text.is_some_and(|text| !has_anchor(text, &percent_decode(anchor)));
            is_dead.then_some("leads to no heading")
        }
    }
}

fn has_scheme(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    target.starts_with("//")
        || scheme.is_some_and(|scheme| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
        })
}

/// Resolves a link of a document to a path from the root; none if it leaves the root.
fn resolve(document: &str, target: &str) -> Option<String> {
    let folder = document.rsplit_once('/').filter(|_| !target.starts_with('/'));
    let mut parts: Vec<&str> = folder.map_or(Vec::new(), |(folder, _)| folder.split('/').collect());
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            Some(_) | None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the targets of all links and images of a Markdown text, with their lines; code is skipped.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                let line = without_code(line);
                let targets = inline_targets(&line)
                    .chain(definition_target(&line))
                    .chain(html_targets(&line))
                    .map(|target| (index + 1, target.to_string()));
                links.extend(targets);
            }
        }
    }
    links
}

/// Returns the line without the text between backticks.
fn without_code(line: &str) -> String {
    let outside = line.split('`').enumerate().filter(|(index, _)| index % 2 == 0);
    outside.map(|(_, part)| part).collect::<Vec<_>>().join("`")
}

/// Returns the targets of `[text](target "title")` and `![text](<target>)`.
fn inline_targets(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").map(|(index, open)| {
        let rest = &line[index + open.len()..];
        if let Some(rest) = rest.strip_prefix('<') {
            return rest.split('>').next().unwrap_or_default();
        }
        let mut depth = 0_usize;
        let end = rest.find(|c: char| {
            match c {
                '(' => depth += 1,
                ')' if depth == 0 => return true,
                ')' => depth -= 1,
                _ => {}
            }
            c.is_whitespace()
        });
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// Returns the target of `[label]: target`; a footnote is no link.
fn definition_target(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('[').filter(|rest| !rest.starts_with('^'))?;
    let (_, target) = rest.split_once("]:")?;
    let target = target.split_whitespace().next()?;
    Some(target.trim_start_matches('<').trim_end_matches('>'))
}

/// Returns the targets of `src`, `href` and `srcset` in HTML.
fn html_targets(line: &str) -> impl Iterator<Item = &str> {
    [" src=\"", " href=\"", " srcset=\""].into_iter().flat_map(move |attribute| {
        line.match_indices(attribute).flat_map(|(index, found)| {
            let value = line[index + found.len()..].split('"').next().unwrap_or_default();
            // A `srcset` lists `address width` pairs.
            value.split(',').filter_map(|part| part.split_whitespace().next())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;

    fn check_in(path: &str, text: &str, expected: &[&str]) {
        let repo = Repo::of(&[
            (path, text),
            ("LICENSE", ""),
            ("docs/guide.md", "# A part\n"),
            ("docs/a file.md", ""),
            ("docs/x(1).md", ""),
            ("docs/images/run.svg", ""),
        ]);
        assert_places(&check(&repo, &TidyLimits::for_test()), expected);
    }

    #[test]
    fn a_long_first_document_is_found() {
        check_in("README.md", &"line\n".repeat(120), &[]);
        check_in("README.md", &"line\n".repeat(121), &["README.md:121"]);
        check_in("docs/long.md", &"line\n".repeat(121), &[]);
        check_in("ARCHITECTURE.md", &"line\n".repeat(301), &["ARCHITECTURE.md:301"]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        check_in("README.md", "\n[a](docs/gone.md)", &["README.md:2"]);
        check_in("docs/b.md", "![a](images/gone.svg \"title\")", &["docs/b.md:1"]);
        check_in("docs/b.md", "[a]: gone.md", &["docs/b.md:1"]);
        check_in("spec/README.md", "[a](../docs/gone.md#part)", &["spec/README.md:1"]);
        check_in("README.md", "<img alt=\"\" src=\"docs/gone.svg\">", &["README.md:1"]);
        check_in(
            "README.md",
            "<source srcset=\"docs/images/run.svg, no.svg 2x\">",
            &["README.md:1"],
        );
    }

    #[test]
    fn a_link_out_of_the_repository_is_found() {
        check_in("README.md", "[a](../secret.md)", &["README.md:1"]);
    }

    #[test]
    fn a_link_to_a_file_or_folder_is_no_finding() {
        check_in("README.md", "[a](docs/guide.md#a-part) [b](docs) [c](./docs/) [d](LICENSE)", &[]);
        check_in(
            "docs/b.md",
            "[a](guide.md) [b](../LICENSE) [c](/LICENSE) [d](images/run.svg)",
            &[],
        );
        check_in("docs/b.md", "[a](a%20file.md) [b](<a file.md>) [c](x(1).md)", &[]);
        check_in("docs/b.md", "[a]: guide.md 'title'\n[^1]: gone.md", &[]);
    }

    #[test]
    fn an_anchor_without_a_heading_is_found() {
        check_in("README.md", "[a](docs/guide.md#part)", &["README.md:1"]);
        check_in("README.md", "# Here\n[a](#here) [b](#there)", &["README.md:2"]);
        check_in("README.md", "[a](LICENSE#L3)", &[]);
    }

    #[test]
    fn addresses_and_code_are_no_findings() {
        check_in("README.md", "[a](https://example.com/x) [b](mailto:a@b.c)", &[]);
        check_in("README.md", "`[a](gone.md)`\n```md\n[a](gone.md)\n```\n", &[]);
    }

    #[test]
    fn documents_that_are_not_for_our_readers_are_left_alone() {
        check_in("spec/examples/one/workflow.md", "[a](gone.md)", &[]);
        check_in("tests/packages/bad/one/step.md", "[a](gone.md)", &[]);
    }
}
