//! Links of a Steps Index: which of them lead into the package, and to which file.

use crate::path::PackagePath;

/// Target of a link into the package.
pub(super) struct LinkTarget {
    path: String,
    /// True if the path starts at the root of the package.
    from_root: bool,
}

/// Prefixes of links into the user's project or into a run, which are unknown here.
const ELSEWHERE: &[&str] = &[
    "@project",
    "@state",
    "{project-root}",
    "{artifacts-root}",
    "{state-root}",
    "artifacts/",
    "//",
];

impl LinkTarget {
    /// Parses a link; `None` if it does not lead into the package.
    pub(super) fn of(link: &str) -> Option<Self> {
        let path = percent_decoded(link.split(['#', '?']).next().unwrap_or_default());
        let leads_elsewhere = path.is_empty()
            || has_scheme(&path)
            || ELSEWHERE.iter().any(|prefix| path.starts_with(prefix));
        if leads_elsewhere {
            return None;
        }
        let root = ["@pkg/", "{package-root}/"].iter().find_map(|root| path.strip_prefix(root));
        Some(match root {
            Some(rest) => Self { path: rest.to_owned(), from_root: true },
            None => Self { path, from_root: false },
        })
    }

    /// Returns the files that it may mean, for a link in `document`.
    pub(super) fn candidates(&self, document: &PackagePath) -> Vec<PackagePath> {
        let beside = (!self.from_root).then(|| document.sibling(&self.path).ok()).flatten();
        beside.into_iter().chain(PackagePath::reference(&self.path).ok()).collect()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.path
    }
}

/// Returns true for `https:`, `mailto:` and the like.
fn has_scheme(link: &str) -> bool {
    let Some((scheme, _)) = link.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Replaces every `%XX` by its byte. Returns the text unchanged if the result is not UTF-8.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digit = |at: usize| char::from(*tail.get(at)?).to_digit(16);
        let escaped = (*first == b'%').then(|| Some(digit(0)? * 16 + digit(1)?)).flatten();
        match escaped.and_then(|value| u8::try_from(value).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_target(link: &str, expected: Option<&str>) {
        assert_eq!(LinkTarget::of(link).map(|target| target.path).as_deref(), expected, "{link}");
    }

    #[test]
    fn a_link_leads_into_the_package_or_is_left_alone() {
        check_target("steps/one.md#goal", Some("steps/one.md"));
        check_target("@pkg/steps/one.md", Some("steps/one.md"));
        check_target("{package-root}/steps/one.md", Some("steps/one.md"));
        for elsewhere in [
            "",
            "#goal",
            "https://example.org/x.md",
            "mailto:a@example.org",
            "vscode:x",
            "//example.org/x.md",
            "@project/docs/x.md",
            "@state/workflow.md",
            "artifacts/x.md",
            "{artifacts-root}/x.md",
        ] {
            check_target(elsewhere, None);
        }
    }

    #[test]
    fn escapes_of_any_character_are_read() {
        check_target("steps/a%20b.md", Some("steps/a b.md"));
        check_target("steps/%E4%B8%AD.md", Some("steps/中.md"));
        check_target("steps/100%.md", Some("steps/100%.md"));
        check_target("steps/%4", Some("steps/%4"));
        check_target("steps/%FF.md", Some("steps/%FF.md"));
        check_target("steps/%+1.md", Some("steps/%+1.md"));
    }
}
