//! Classifies single lines: where blocks begin and end.

/// The fence of a code block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Fence {
    /// Returns the fence that a line opens.
    pub(super) fn opened_by(line: &str) -> Option<Self> {
        let indent = indent(line);
        let rest = line.trim_start_matches(' ');
        let mark = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let length = rest.chars().take_while(|c| *c == mark).count();
        let is_fence = length >= 3 && indent < 4 && !(mark == '`' && info(rest).contains('`'));
        is_fence.then_some(Self { mark, length, indent })
    }

    pub(super) fn is_closed_by(self, line: &str) -> bool {
        let rest = line.trim();
        indent(line) < 4 && rest.chars().count() >= self.length && self.is_made_of(rest)
    }

    /// Returns true if an incomplete line may become the closing fence.
    pub(super) fn may_be_closed_by(self, line: &str) -> bool {
        indent(line) < 4 && self.is_made_of(line.trim())
    }

    fn is_made_of(self, text: &str) -> bool {
        text.chars().all(|c| c == self.mark)
    }

    /// Returns a line of code without the indentation of its fence.
    pub(super) fn inner(self, line: &str) -> &str {
        let blanks = indent(line).min(self.indent);
        line.get(blanks..).unwrap_or(line)
    }
}

/// Returns the info string of an opening fence, mostly the language.
pub(super) fn info(line: &str) -> &str {
    line.trim().trim_start_matches(['`', '~']).trim()
}

/// Returns true for `# A heading`.
pub(super) fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && line.get(level..).is_some_and(|rest| rest.starts_with(' '))
}

/// Returns true for `- an item` and `1. an item`.
pub(super) fn is_item(line: &str) -> bool {
    let rest = line.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = rest.get(digits..).unwrap_or_default();
    let marks: &[&str] = if digits > 0 { &[". ", ") "] } else { &["- ", "* ", "+ "] };
    marks.iter().any(|it| mark.starts_with(it))
}

/// Returns true for `|---|---|`, the line below a table head.
pub(super) fn is_table_rule(line: &str) -> bool {
    line.contains('-') && line.contains('|') && line.trim().chars().all(|c| "|-: ".contains(c))
}

/// Returns the number of leading blanks.
pub(super) fn indent(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}
