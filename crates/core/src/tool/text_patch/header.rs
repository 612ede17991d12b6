//! The `@@` line of a hunk, as people, git and models write it.

/// Contents of a `@@` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// `@@ -1,2 +3,4 @@ heading`.
    Numbered {
        old: HunkExtent,
        /// `None` when only the old side is given.
        new: Option<HunkExtent>,
        heading: Option<String>,
    },
    /// `@@ a line of the file`, optionally with a second `@@` after it.
    Context(String),
    /// `@@` alone, or with dots.
    Bare,
}

/// Line number and number of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HunkExtent {
    pub(super) line: usize,
    pub(super) count: usize,
}

impl HunkExtent {
    /// Returns the index of the first line, or of the line before which new lines go: with no lines, the number is that
    /// of the line before.
    pub(super) fn index(self) -> usize {
        if self.count == 0 { self.line } else { self.line.saturating_sub(1) }
    }
}

/// Parses a line that begins with `@@`.
pub(super) fn parse(line: &str) -> Header {
    let rest = line.trim_start_matches('@');
    if let Some(header) = numbered(rest.trim_start()) {
        return header;
    }
    let text = rest.trim_end();
    let text = text.strip_suffix("@@").unwrap_or(text).trim_end();
    let text = text.strip_prefix(' ').unwrap_or(text);
    if text.trim().is_empty() || matches!(text.trim(), "..." | "…") {
        Header::Bare
    } else {
        Header::Context(text.to_owned())
    }
}

fn numbered(text: &str) -> Option<Header> {
    let (old, rest) = side(text.strip_prefix('-')?)?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let (new, rest) = match rest.strip_prefix('+').and_then(side) {
        Some((new, rest)) => (Some(new), rest),
        None => (None, rest),
    };
    let rest = rest.trim();
    let heading = rest.strip_prefix("@@").unwrap_or(rest).trim();
    let heading = (!heading.is_empty()).then(|| heading.to_owned());
    Some(Header::Numbered { old, new, heading })
}

fn side(text: &str) -> Option<(HunkExtent, &str)> {
    let (line, rest) = number(text)?;
    match rest.strip_prefix(',').and_then(number) {
        Some((count, rest)) => Some((HunkExtent { line, count }, rest)),
        None => Some((HunkExtent { line, count: 1 }, rest)),
    }
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    // A number that is too large is as wrong as any other, as long as sums with it stay in range.
    (end > 0).then(|| (text[..end].parse().unwrap_or(usize::MAX).min(1 << 40), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_numbered(line: &str, expected: (usize, usize), heading: &str) {
        let Header::Numbered { old, heading: found, .. } = parse(line) else { panic!("{line}") };
        assert_eq!(
            ((old.line, old.count), found.as_deref()),
            (expected, Some(heading).filter(|text| !text.is_empty()))
        );
    }

    #[track_caller]
    fn check_context(line: &str, expected: &str) {
        let expected =
            if expected.is_empty() { Header::Bare } else { Header::Context(expected.to_owned()) };
        assert_eq!(parse(line), expected);
    }

    #[test]
    fn numbers_are_read_as_git_and_models_write_them() {
        check_numbered("@@ -1,2 +3,4 @@", (1, 2), "");
        check_numbered("@@ -1 +1 @@", (1, 1), "");
        check_numbered("@@ -0,0 +1,5 @@", (0, 0), "");
        check_numbered("@@ -7,3 +7,3 @@ fn main() {", (7, 3), "fn main() {");
        check_numbered("@@ -7,3 +7,3", (7, 3), "");
        check_numbered("@@ -7,3 @@", (7, 3), "");
        check_numbered("@@-7,3 +7,3@@ x", (7, 3), "x");
        check_numbered("@@ -99999999999999999999,1 +1 @@", (1 << 40, 1), "");
    }

    #[test]
    fn anything_else_is_a_line_of_the_file() {
        check_context("@@", "");
        check_context("@@ @@", "");
        check_context("@@ ... @@", "");
        check_context("@@ def f():", "def f():");
        check_context("@@ def f(): @@", "def f():");
        check_context("@@     def f():", "    def f():");
        check_context("@@ - item", "- item");
    }
}
