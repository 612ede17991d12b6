//! Surroundings of each line: the condition that it stands under, and whether its section shows examples or what is next.

use super::page::{MarkdownPage, PageLine};
use super::words::{begins, has, has_any, tidy};

/// Surroundings of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineSetting {
    /// Line that holds the nearest condition above this one.
    pub(super) condition: Option<usize>,
    /// Last paragraph above this one that begins with bold words.
    pub(super) lead: Option<usize>,
    /// True below a line that announces an example.
    pub(super) example: bool,
    /// True in a section about what is next.
    pub(super) next: bool,
    /// True in a list below a line that tells to load or follow something.
    pub(super) told: bool,
}

/// Words with which a condition begins.
const CONDITIONS: &[&str] = &[
    "if",
    "when",
    "unless",
    "in case",
    "mode",
    "else",
    "else if",
    "otherwise",
    "scenario",
    "case",
    "path",
];

/// Words that lead on to a file.
pub(super) const GO: &[&str] = &[
    "advance",
    "back",
    "begin",
    "begins",
    "continue",
    "continues",
    "enter",
    "execute",
    "executes",
    "exit",
    "follow",
    "follows",
    "go",
    "goto",
    "invoke",
    "jump",
    "launch",
    "load",
    "loads",
    "loading",
    "move",
    "moves",
    "navigate",
    "next",
    "open",
    "opens",
    "proceed",
    "proceeds",
    "read",
    "resume",
    "return",
    "returns",
    "route",
    "routes",
    "run",
    "runs",
    "skip",
    "start",
    "starts",
    "switch",
    "transition",
];

/// Words of a condition that a user decides.
const OF_A_USER: &[&str] = &[
    "approve",
    "approved",
    "approves",
    "choice",
    "chooses",
    "chosen",
    "confirm",
    "confirmed",
    "confirms",
    "human",
    "picks",
    "select",
    "selected",
    "selection",
    "selects",
    "user",
];

/// Returns the surroundings of all lines, in one pass.
pub(super) fn settings(page: &MarkdownPage<'_>) -> Vec<LineSetting> {
    let mut tracker = SettingTracker::default();
    page.lines.iter().enumerate().map(|(index, line)| tracker.step(index, line)).collect()
}

/// Open blocks while lines are read from top to bottom.
#[derive(Default)]
struct SettingTracker {
    /// Headings that hold conditions, outermost first: level and line.
    headings: Vec<(u8, usize)>,
    /// Paragraph that holds a condition, and its indent.
    paragraph: Option<(usize, usize)>,
    lead: Option<usize>,
    example: bool,
    next: bool,
    told: bool,
    /// List items that hold conditions, outermost first: indent, line, and whether they announce an example.
    items: Vec<(usize, Option<usize>, bool)>,
}

impl SettingTracker {
    fn step(&mut self, index: usize, line: &PageLine<'_>) -> LineSetting {
        if !line.instructs() || line.is_blank() {
            return self.setting();
        }
        let text = tidy(line.content);
        let lower = text.to_ascii_lowercase();
        if line.level > 0 {
            self.headings.retain(|(level, _)| *level < line.level);
            if is_condition(&lower) || lower.contains("(if ") || lower.contains("(only if ") {
                self.headings.push((line.level, index));
            }
            (self.paragraph, self.lead, self.told) = (None, None, false);
            self.items.clear();
            self.next = has(&lower, "next");
            self.example = announces_example(&lower);
            return self.setting();
        }
        while self.items.last().is_some_and(|(indent, ..)| line.indent <= *indent) {
            self.items.pop();
        }
        if self.paragraph.is_some_and(|(_, indent)| line.indent < indent) {
            self.paragraph = None;
        }
        let setting = self.setting();
        let bold = line.content.starts_with("**") && line.content.ends_with("**");
        let opens = lower.ends_with([':', '：']) || bold;
        if line.bullet {
            let condition = is_condition(&lower).then_some(index);
            let example = announces_example(&lower);
            if condition.is_some() || example {
                self.items.push((line.indent, condition, example));
            }
            return setting;
        }
        if line.content.starts_with("**") {
            self.lead = Some(index);
        }
        if is_rule(&lower) {
            (self.paragraph, self.lead, self.example) = (None, None, false);
        } else if line.indent == 0 || opens {
            if opens && is_condition(&lower) {
                self.paragraph = Some((index, line.indent));
            }
            self.example = announces_example(&lower);
            self.told = opens && has_any(&lower, GO);
        }
        setting
    }

    fn setting(&self) -> LineSetting {
        let item = self.items.iter().rev().find_map(|(_, condition, _)| *condition);
        let heading = self.headings.last().map(|(_, index)| *index);
        LineSetting {
            condition: item.or(self.paragraph.map(|(index, _)| index)).or(heading),
            lead: self.lead,
            example: self.example || self.items.iter().any(|(_, _, example)| *example),
            next: self.next,
            told: self.told,
        }
    }
}

/// Returns true for a line that begins like a condition.
pub(super) fn is_condition(lower: &str) -> bool {
    begins(lower.trim_start_matches(|c: char| !c.is_alphanumeric()), CONDITIONS)
}

/// Returns true for a condition about what a user says.
pub(super) fn is_of_user(lower: &str) -> bool {
    has_any(lower, OF_A_USER)
}

fn announces_example(lower: &str) -> bool {
    let text = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    begins(text, &["example", "examples", "for example", "e.g"]) && lower.ends_with([':', '：'])
}

/// Returns true for a horizontal rule.
fn is_rule(text: &str) -> bool {
    text.len() >= 3 && text.bytes().all(|byte| matches!(byte, b'-' | b'_' | b' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the condition of the last line.
    fn check(text: &str, expected: Option<&str>) {
        let page = MarkdownPage::read(text, 1);
        let setting = settings(&page).pop().unwrap_or_default();
        let shown = setting.condition.and_then(|at| page.lines.get(at)).map(|line| line.content);
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn a_condition_holds_for_its_block() {
        check("- If a:\n  - b\n  - c", Some("If a:"));
        check("- If a:\n- c", None);
        check("**IF a:**\n\nb\n\n\"c\n\nd", Some("**IF a:**"));
        check("If a:\n\n**IF b:**\n\nc", Some("**IF b:**"));
        check("If a:\n\n---\n\nc", None);
        check("### When a\n#### x\n- c", Some("When a"));
        check("### When a\n### b\nc", None);
        check("### Go on (If it exists)\nc", Some("Go on (If it exists)"));
        check("1. a\n   If b:\n   c\n2. d", None);
        check("If a, then b.\n\nc", None);
        check("**Mode A: one**\n\n- c", Some("**Mode A: one**"));
    }

    #[test]
    fn a_section_shows_examples_or_what_is_next() {
        let of = |text: &str| settings(&MarkdownPage::read(text, 1)).pop().unwrap_or_default();
        assert!(of("**Example:**\n- a").example);
        assert!(!of("**Example:**\n- a\n\nDo this:\n- a").example);
        assert!(of("- Example:\n  - a").example && !of("- Example:\n  - a\n- b").example);
        assert!(of("## NEXT STEP:\n\na").next && !of("## NEXT STEP:\n# B\na").next);
        assert!(of("Load one of these:\n- a").told && !of("Look at:\n- a").told);
    }
}
