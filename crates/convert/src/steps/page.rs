//! A Markdown text as lines: headings, list items, fences, and the sections that are no instructions.

use std::collections::BTreeSet;

/// A body, line by line.
#[derive(Debug)]
pub(super) struct MarkdownPage<'a> {
    pub(super) lines: Vec<PageLine<'a>>,
    /// Numbers of its headings, such as 5 for `### 5. Ask`.
    numbers: BTreeSet<&'a str>,
    /// First words of its headings, in lower case.
    first_words: BTreeSet<String>,
}

/// A line with its role.
#[derive(Clone, Debug)]
pub(super) struct PageLine<'a> {
    /// Line without its line ending.
    pub(super) raw: &'a str,
    /// Number in the file, counted from 1.
    pub(super) number: u32,
    /// Columns in front of the text; marks of a quotation do not count.
    pub(super) indent: usize,
    /// Level of a heading; 0 for everything else.
    pub(super) level: u8,
    pub(super) fence: FenceKind,
    /// True in a section about success and failure, and in a comment.
    pub(super) excluded: bool,
    /// True for an item of a list.
    pub(super) bullet: bool,
    /// Text without the marks of headings, lists and quotations.
    pub(super) content: &'a str,
}

/// Place of a line relative to fenced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FenceKind {
    Outside,
    /// Inside of a fence without a language: text that is shown to a person.
    Shown,
    /// Inside of a fence with a language, or a line that opens or closes one.
    Code,
}

impl PageLine<'_> {
    /// Returns true if nothing is on the line.
    pub(super) fn is_blank(&self) -> bool {
        self.content.is_empty()
    }

    /// Returns true for a line that may give instructions.
    pub(super) fn instructs(&self) -> bool {
        self.fence == FenceKind::Outside && !self.excluded
    }
}

impl<'a> MarkdownPage<'a> {
    /// Reads a body that begins on a line of its file.
    pub(super) fn read(body: &'a str, first_line: u32) -> Self {
        let raw: Vec<&str> = body.lines().collect();
        let fences = fences(&raw);
        let mut lines: Vec<PageLine<'a>> = Vec::with_capacity(raw.len());
        let mut excluded_level = 0;
        let mut comment = false;
        for (index, (raw, fence)) in raw.into_iter().zip(fences).enumerate() {
            let mut line = outline(raw, fence);
            line.number = first_line.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
            if fence == FenceKind::Outside {
                let opens = line.content.starts_with("<!--");
                let closes = line.content.contains("-->");
                line.excluded = comment || opens;
                comment = (comment || opens) && !closes;
            }
            if line.level > 0 && !line.excluded {
                if is_about_success(line.content) {
                    if excluded_level == 0 || line.level < excluded_level {
                        excluded_level = line.level;
                    }
                } else if line.level <= excluded_level {
                    excluded_level = 0;
                }
            }
            line.excluded |= excluded_level > 0;
            lines.push(line);
        }
        let numbers = lines
            .iter()
            .filter(|line| line.level > 0)
            .filter_map(|line| heading_number(line.content))
            .collect();
        let first_words = lines
            .iter()
            .filter(|line| line.level > 0 && !line.excluded)
            .filter_map(|line| first_word(line.content))
            .collect();
        Self { lines, numbers, first_words }
    }

    /// Iterates over the lines that may give instructions, with their indexes.
    pub(super) fn instructions(&self) -> impl Iterator<Item = (usize, &PageLine<'a>)> {
        self.lines.iter().enumerate().filter(|(_, line)| line.instructs())
    }

    /// Returns the number of a line in the file.
    pub(super) fn number(&self, index: usize) -> u32 {
        self.lines.get(index).or(self.lines.last()).map_or(1, |line| line.number)
    }

    /// Returns true if a heading of the text has this number, such as `### 5. Ask`.
    pub(super) fn has_numbered_heading(&self, number: &str) -> bool {
        self.numbers.contains(number)
    }

    /// Returns true if a heading of the text begins with this word, in lower case, behind its number.
    pub(super) fn has_heading_word(&self, word: &str) -> bool {
        self.first_words.contains(word)
    }
}

/// Returns the first word of a heading in lower case.
fn first_word(heading: &str) -> Option<String> {
    let text = heading.trim_start_matches(|c: char| !c.is_alphabetic());
    let word = text.split(|c: char| !c.is_alphanumeric()).next()?;
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

/// Returns the number at the start of a heading.
fn heading_number(heading: &str) -> Option<&str> {
    let rest = heading.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = heading.get(..heading.len() - rest.len())?;
    (!number.is_empty() && rest.starts_with(['.', ')', ':'])).then_some(number)
}

/// Reads the marks at the start of a line.
fn outline(raw: &str, fence: FenceKind) -> PageLine<'_> {
    let mut rest = raw;
    let mut indent = 0;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t']);
        indent += rest.len() - trimmed.len();
        match trimmed.strip_prefix('>') {
            Some(quoted) if fence != FenceKind::Code => {
                rest = quoted.strip_prefix(' ').unwrap_or(quoted)
            }
            _ => {
                rest = trimmed;
                break;
            }
        }
    }
    let mut line = PageLine {
        raw,
        number: 0,
        indent,
        level: 0,
        fence,
        excluded: false,
        bullet: false,
        content: rest.trim_end(),
    };
    if fence == FenceKind::Outside && indent < 4 {
        let marks = rest.bytes().take_while(|byte| *byte == b'#').count();
        let text = rest.get(marks..).unwrap_or_default();
        if (1..=6).contains(&marks) && (text.is_empty() || text.starts_with([' ', '\t'])) {
            line.level = u8::try_from(marks).unwrap_or(6);
            line.content = text.trim().trim_end_matches('#').trim_end();
            return line;
        }
    }
    if let Some(text) = list_item(rest) {
        line.bullet = true;
        line.content = text.trim();
    }
    line
}

/// Returns the text of a list item.
pub(super) fn list_item(text: &str) -> Option<&str> {
    let marks = ['-', '*', '+', '•'];
    if let Some(rest) = text.strip_prefix(marks) {
        return rest.starts_with([' ', '\t']).then_some(rest);
    }
    let digits = text.bytes().take(4).take_while(u8::is_ascii_alphanumeric).count();
    let (mark, rest) = text.split_at_checked(digits)?;
    let numbered = mark.bytes().all(|byte| byte.is_ascii_digit()) && digits > 0;
    let lettered = digits == 1 && mark.bytes().all(|byte| byte.is_ascii_lowercase());
    let rest = rest.strip_prefix(['.', ')'])?;
    ((numbered || lettered) && rest.starts_with([' ', '\t'])).then_some(rest)
}

/// Finds the fenced lines. A fence that is never closed is text.
fn fences(raw: &[&str]) -> Vec<FenceKind> {
    let marks: Vec<Option<(char, usize, &str)>> = raw.iter().map(|line| fence_mark(line)).collect();
    // Longest closing line behind each line, for both characters.
    let mut behind = vec![(0, 0); raw.len() + 1];
    for (index, mark) in marks.iter().enumerate().rev() {
        let (mut ticks, mut tildes) = behind.get(index + 1).copied().unwrap_or_default();
        if let Some((character, length, "")) = *mark {
            if character == '`' {
                ticks = ticks.max(length);
            } else {
                tildes = tildes.max(length);
            }
        }
        if let Some(place) = behind.get_mut(index) {
            *place = (ticks, tildes);
        }
    }
    let mut open: Option<(char, usize, FenceKind)> = None;
    let mut result = Vec::with_capacity(raw.len());
    for (index, mark) in marks.into_iter().enumerate() {
        let (ticks, tildes) = behind.get(index + 1).copied().unwrap_or_default();
        match (open, mark) {
            (Some((character, length, _)), Some((mark, marks, "")))
                if mark == character && marks >= length =>
            {
                open = None;
                result.push(FenceKind::Code);
            }
            (Some((_, _, kind)), _) => result.push(kind),
            (None, Some((character, length, language)))
                if length <= if character == '`' { ticks } else { tildes } =>
            {
                let shown = language.is_empty() || matches!(language, "text" | "txt" | "plaintext");
                let kind = if shown { FenceKind::Shown } else { FenceKind::Code };
                open = Some((character, length, kind));
                result.push(FenceKind::Code);
            }
            (None, _) => result.push(FenceKind::Outside),
        }
    }
    result
}

/// Reads a line of at least three ticks or tildes: its character, length and language.
fn fence_mark(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start_matches([' ', '\t', '>']);
    let character = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = text.trim_start_matches(character);
    let length = text.len() - rest.len();
    let language = rest.trim();
    (length >= 3 && !language.contains('`')).then_some((character, length, language))
}

/// Returns true for a heading that says what success and failure are, and nothing else.
fn is_about_success(heading: &str) -> bool {
    const COMPANY: &[&str] = &[
        "and",
        "avoid",
        "checklist",
        "conditions",
        "criteria",
        "failure",
        "failures",
        "indicators",
        "measures",
        "metrics",
        "modes",
        "or",
        "signals",
        "signs",
        "success",
        "successes",
        "system",
        "this",
        "to",
        "step",
    ];
    let mut found = false;
    let words = heading.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for word in words {
        let word = word.to_lowercase();
        if !COMPANY.contains(&word.as_str()) {
            return false;
        }
        found |= word.starts_with("success") || word.starts_with("failure");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_excluded(text: &str, expected: &str) {
        let page = MarkdownPage::read(text, 1);
        let kept: Vec<&str> = page.instructions().map(|(_, line)| line.content).collect();
        assert_eq!(kept.join("|"), expected, "{text}");
    }

    #[test]
    fn sections_about_success_are_no_instructions() {
        check_excluded("a\n## SUCCESS METRICS:\nb\n### Sub\nc\n## Next\nd", "a|Next|d");
        check_excluded("## 🚨 SYSTEM SUCCESS/FAILURE METRICS\n### ✅ SUCCESS:\na\n# T\nb", "T|b");
        check_excluded("## FAILURE MODES\na\n### ❌ FAILURE\nb\n### Other\nc\n## End", "End");
        check_excluded("## SUCCESS DISCOVERY SEQUENCE\na", "SUCCESS DISCOVERY SEQUENCE|a");
        check_excluded("## Success criteria\na\n## B", "B");
        check_excluded("a <!-- x -->\n<!-- b\nc -->\nd", "a <!-- x -->|d");
    }

    #[test]
    fn fences_hide_what_is_in_them() {
        check_excluded("a\n```md\n# b\n```\nc", "a|c");
        check_excluded("a\n```md\nb\n```yaml\nc\n```\nd\n```\ne", "a|d|```|e");
        check_excluded("~~~~\na\n~~~\nb\n~~~~\nc", "c");
        check_excluded("````\na\n```\nb", "````|a|```|b");
        check_excluded("> ```\n> a\n> ```\n> b", "b");
    }

    #[test]
    fn a_line_knows_its_marks() {
        let page = MarkdownPage::read(
            "## Title ##\n- item\n  > 2. quoted\na) letter\n-no\n#no\n    # code",
            7,
        );
        let seen: Vec<_> = page
            .lines
            .iter()
            .map(|line| (line.level, line.bullet, line.indent, line.content))
            .collect();
        assert_eq!(
            seen,
            [
                (2, false, 0, "Title"),
                (0, true, 0, "item"),
                (0, true, 2, "quoted"),
                (0, true, 0, "letter"),
                (0, false, 0, "-no"),
                (0, false, 0, "#no"),
                (0, false, 4, "# code"),
            ]
        );
        assert_eq!(page.lines.last().map(|line| line.number), Some(13));
    }

    #[test]
    fn a_numbered_heading_is_found() {
        let page = MarkdownPage::read("### 5. Ask\n## 10) Do\n", 1);
        assert!(page.has_numbered_heading("5") && page.has_numbered_heading("10"));
        assert!(!page.has_numbered_heading("1"));
    }
}
