//! Steps that a text leads to, and the reason to believe it.

use super::page::PageLine;
use super::resolve::{FoundFile, Meant};
use super::setting::{GO, LineSetting, is_condition};
use super::words::{begins, cut, has, has_any, tidy};

/// Longest condition that is kept.
const MAX_CONDITION_CHARS: usize = 300;

/// Most mentions of a line that are looked at.
const MAX_MENTIONS: usize = 32;

/// Bytes in front of a mention that are looked at.
const MAX_SENTENCE_BYTES: usize = 1024;

/// Step that a text leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepLead {
    /// Path of the step.
    pub(super) step: String,
    /// Index of its line.
    pub(super) line: usize,
    /// True if the line names a key of the frontmatter instead of the path.
    pub(super) named: bool,
    /// Condition on the line itself.
    pub(super) condition: Option<String>,
}

/// Words that forbid what follows them.
const NEGATIONS: &[&str] = &[
    "avoid",
    "cannot",
    "can't",
    "do not",
    "don't",
    "forbidden",
    "must not",
    "never",
    "not",
    "prohibited",
];

/// Words in front of an example.
const EXAMPLES: &[&str] =
    &["e.g.", "e.g", "for example", "for instance", "such as", "example", "examples"];

/// Words with which a clause begins that says when, and not what.
const CLAUSES: &[&str] = &[
    "after",
    "as soon as",
    "if",
    "once",
    "only after",
    "only when",
    "unless",
    "until",
    "when",
    "whenever",
];

/// Finds the steps to which a line leads.
pub(super) fn leads(
    index: usize,
    line: &PageLine<'_>,
    setting: LineSetting,
    found: &[FoundFile<'_>],
) -> Vec<StepLead> {
    if setting.example || found.is_empty() {
        return Vec::new();
    }
    let text = line.content;
    let lower = text.to_ascii_lowercase();
    let mut leads: Vec<StepLead> = Vec::new();
    for found in found.iter().take(MAX_MENTIONS) {
        let Meant::Step(step) = &found.meant else { continue };
        let (start, end) = (found.mention.start, found.mention.end);
        if leads.iter().any(|lead| lead.step == *step) {
            continue;
        }
        let Some(segment) = instruction(&lower, start) else { continue };
        let alone = is_alone(text, start, end);
        let goes = has_any(segment, GO)
            || segment.contains('→')
            || segment.contains("->")
            || !leads.is_empty()
            || (setting.next && alone)
            || (setting.told && (alone || line.bullet))
            || is_foreign(segment);
        if goes {
            let named = matches!(found.mention.written, super::mention::Spelling::Name(_));
            let condition = condition_on(text, start);
            leads.push(StepLead { step: step.clone(), line: index, named, condition });
        }
    }
    leads
}

/// Returns the lower-case text of the sentence in front of a mention; `None` if it forbids it, or shows an example.
pub(super) fn instruction(lower: &str, start: usize) -> Option<&str> {
    let before = nearest(lower, start)?;
    if in_list_value(before) {
        return None;
    }
    let near = before.get(before.floor_char_boundary(before.len().saturating_sub(200))..)?;
    let near = near.trim_end_matches([' ', '`', '"', '\'', '(', ':', ',', '*']);
    if ["e.g.", "e.g", "for example", "for instance", "such as", "i.e."]
        .iter()
        .any(|words| near.ends_with(words))
    {
        return None;
    }
    let from = [". ", "! ", "? ", "; ", ".** ", "。", "；"]
        .iter()
        .filter_map(|stop| Some(before.rfind(stop)? + stop.len()))
        .max()
        .unwrap_or(0);
    let mut segment = before.get(from..)?;
    if is_clause(segment) {
        let comma = segment.find(',');
        let stop = [":", "→", "->"].iter().filter_map(|stop| segment.find(stop)).min();
        let end = comma.or(stop);
        segment = end.and_then(|end| segment.get(end..)).unwrap_or(segment);
    }
    let negated = has_any(segment, NEGATIONS) && !is_clause(segment);
    let example = has_any(segment, EXAMPLES);
    (!negated && !example).then_some(segment)
}

/// Returns the text in front of a mention, as far as it is looked at.
fn nearest(text: &str, start: usize) -> Option<&str> {
    text.get(text.floor_char_boundary(start.saturating_sub(MAX_SENTENCE_BYTES))..start)
}

/// Returns true for a clause that says when, with nothing that separates it from what follows.
fn is_clause(segment: &str) -> bool {
    begins(segment.trim_start_matches(|c: char| !c.is_alphanumeric()), CLAUSES)
}

/// Returns true inside of brackets that hold a value, such as `stepsCompleted = ["step-01.md"`.
fn in_list_value(before: &str) -> bool {
    let Some(open) = before.rfind('[') else { return false };
    let closed = before.rfind(']').is_some_and(|close| close > open);
    let double = open > 0 && before.as_bytes().get(open - 1) == Some(&b'[');
    !closed && !double
}

/// Returns true if nothing but marks stands around a mention, and words in brackets behind it.
fn is_alone(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let after = after.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '(');
    !before.chars().any(char::is_alphanumeric) && (after.is_empty() || after.starts_with('('))
}

/// Returns true for words in another language than that of [`GO`].
fn is_foreign(segment: &str) -> bool {
    segment.chars().any(|c| c.is_alphabetic() && !c.is_ascii())
        && !segment.chars().any(|c| c.is_ascii_alphabetic())
}

/// Returns the condition that a line states for a mention: the words in front of an arrow, or the line itself.
pub(super) fn condition_on(text: &str, start: usize) -> Option<String> {
    let before = nearest(text, start)?;
    let lower = tidy(before).to_ascii_lowercase();
    let clause_at = [", ", ": ", "; ", ". ", " | "]
        .iter()
        .filter_map(|stop| Some(before.rfind(stop)? + stop.len()))
        .max()
        .unwrap_or(0);
    let clause = before.get(clause_at..).unwrap_or_default();
    let arrow = clause.find('→').or_else(|| clause.find("->"));
    if let Some(arrow) = arrow {
        let words = tidy(clause.get(..arrow).unwrap_or_default());
        if words.chars().any(char::is_alphanumeric) && !has(&words.to_ascii_lowercase(), "exit") {
            return Some(cut(&words, MAX_CONDITION_CHARS));
        }
    }
    // `When all is done, load …` says when, and not whether.
    let when = begins(lower.trim_start_matches(|c: char| !c.is_alphanumeric()), &["when"]);
    let plain = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let routes = (before.contains('→') || before.contains("->"))
        && !begins(plain, &["early exit", "exit", "next"]);
    let states = (is_condition(&lower) && !when) || (routes && !plain.is_empty());
    states.then(|| cut(&tidy(text), MAX_CONDITION_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: bool) {
        let lower = line.to_ascii_lowercase();
        let start = lower.find("step-02").unwrap_or_default();
        let segment = instruction(&lower, start);
        assert_eq!(
            segment.is_some_and(|segment| has_any(segment, GO)),
            expected,
            "{line}: {segment:?}"
        );
    }

    #[test]
    fn a_sentence_leads_to_a_step() {
        check("Read fully and follow: `step-02.md`", true);
        check("If the document does not exist, load `step-02.md`", true);
        check("If not found: go to step-02.md", true);
        check("Do not wait. Load step-02.md", true);
        check("**NEXT:** read step-02.md", true);
        check("ONLY WHEN [C continue option] is selected, will you then follow: step-02.md", true);
        check("After it is not needed, load step-02.md", true);
    }

    #[test]
    fn a_sentence_forbids_or_shows_a_step() {
        check("Do NOT load step-02.md", false);
        check("NEVER proceed to `step-02.md`", false);
        check("It is FORBIDDEN to load step-02.md", false);
        check("- Example: If done, load step-02.md", false);
        check("Load the next file (e.g., step-02.md)", false);
        check("If `stepsCompleted = [\"step-01.md\", \"step-02.md\"]`", false);
        check("Build it with the same convention as step-02.md", false);
    }

    #[test]
    fn a_condition_is_the_clause_in_front() {
        let check = |line: &str, expected: Option<&str>| {
            let start = line.find("step-02").unwrap_or_default();
            assert_eq!(condition_on(line, start).as_deref(), expected, "{line}");
        };
        check("If `last = 1` → Load `step-02.md`", Some("If last = 1"));
        check("Route: `draft` → `[[step-02.md]]`, `done` → x", Some("draft"));
        check("If it is new, load step-02.md", Some("If it is new, load step-02.md"));
        check("Load step-02.md", None);
        check("When all is done, load step-02.md", None);
        check("**NEXT:** Load step-02.md", None);
    }
}
