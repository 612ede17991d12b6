//! Entries: files that lead to step files, and the work that they do before the first step.

use std::collections::BTreeMap;

use crate::document::SourceDocument;

use super::page::{FenceKind, MarkdownPage};
use super::setting::is_condition;
use super::words::{begins, has_any, tidy};

/// Returns the names that bullets of the form `` `name` = `value` `` give a value.
pub(super) fn bullets(page: &MarkdownPage<'_>) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (_, line) in page.instructions() {
        let Some(rest) = line.content.strip_prefix('`') else { continue };
        let Some((name, rest)) = rest.split_once('`') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix('=') else { continue };
        let Some((value, _)) =
            rest.trim_start().strip_prefix('`').and_then(|rest| rest.split_once('`'))
        else {
            continue;
        };
        if is_name(name) && is_value(value) && names.len() < 1000 {
            names.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
    }
    names
}

/// Returns the scalars of frontmatter that can be bindings.
pub(super) fn scalars(document: &SourceDocument) -> BTreeMap<String, String> {
    let keys = document.keys.iter().filter(|key| is_name(&key.name));
    keys.filter_map(|key| Some((key.name.clone(), key.scalar()?)))
        .filter(|(_, value)| is_value(value) && !value.trim().is_empty())
        .collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_value(value: &str) -> bool {
    value.len() <= 1024 && !value.chars().any(char::is_control)
}

/// Returns true if an entry asks, creates or sets something before its first step.
pub(super) fn works(page: &MarkdownPage<'_>, first_lead: u32) -> bool {
    let mut quoted = false;
    for line in page.lines.iter().filter(|line| !line.excluded && line.fence != FenceKind::Code) {
        if line.number > first_lead && first_lead > 0 {
            break;
        }
        let text = line.content;
        let lower = tidy(text).to_ascii_lowercase();
        let plain = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
        let opens = text.trim_start_matches('*').starts_with(['"', '“']);
        let asks = (opens || quoted) && lower.contains('?');
        let closes = text.ends_with(['"', '”']);
        if opens {
            quoted = !closes || text.trim_matches('*').len() < 2;
        } else if closes {
            quoted = false;
        }
        if asks || (line.level == 0 && tells_work(plain)) {
            return true;
        }
    }
    false
}

/// Returns true for a line that tells to ask, create or set.
fn tells_work(plain: &str) -> bool {
    if is_condition(plain) {
        return false;
    }
    let asks = begins(
        plain,
        &[
            "ask the user",
            "ask user",
            "prompt for",
            "prompt the user",
            "prompt user",
            "wait for the user",
        ],
    ) || plain.starts_with("welcome {{user_name}}");
    let sets = plain.strip_prefix("set ").is_some_and(|rest| rest.contains('='));
    let creates = begins(plain, &["create the", "create a", "copy", "initialize the"])
        && (plain.contains(".md") || plain.contains(".y") || plain.contains('{'));
    asks || sets || (creates && !has_any(plain, &["workflow:", "goal"]))
}

/// Returns the first heading of a text.
pub(super) fn first_heading(page: &MarkdownPage<'_>) -> Option<String> {
    let line = page.instructions().find(|(_, line)| line.level > 0 && !line.is_blank())?.1;
    Some(tidy(line.content))
}

/// Returns the goal of a text: its description, else the first sentence under a heading that says goal or task.
pub(super) fn goal(document: &SourceDocument, page: &MarkdownPage<'_>, title: &str) -> String {
    if let Some(description) = document.scalar("description").or_else(|| document.scalar("goal")) {
        return one_line(&description);
    }
    let mut under = false;
    for (_, line) in page.instructions() {
        let lower = tidy(line.content).to_ascii_lowercase();
        if line.level > 0 {
            under = has_any(&lower, &["goal", "task", "objective", "purpose"]);
        } else if under && !line.is_blank() {
            return one_line(first_sentence(&tidy(line.content)));
        } else if let Some(goal) = lower.strip_prefix("goal:").filter(|goal| goal.len() > 3) {
            let text = tidy(line.content);
            let goal = text.get(text.len() - goal.len()..).unwrap_or_default().trim();
            return one_line(first_sentence(goal));
        }
    }
    one_line(title)
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text.get(..end).unwrap_or(text)
}

fn one_line(text: &str) -> String {
    super::words::cut(&tidy(text), 400)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_works(text: &str, expected: bool) {
        assert_eq!(works(&MarkdownPage::read(text, 1), 0), expected, "{text}");
    }

    #[test]
    fn an_entry_that_asks_creates_or_sets_does_work() {
        check_works("\"Welcome!\n\n**What do you want?**\"", true);
        check_works("Prompt for the path: \"Which one?\"", true);
        check_works("1. Set `kind = \"one\"`", true);
        check_works("4. Create the file `{out}/a.md`", true);
        check_works("- `a` = `b`\n- **NEVER** skip\n- **WAIT FOR INPUT**: halt", false);
        check_works("**Goal:** Create the best plans", false);
        check_works("Read fully and follow: `steps/step-01.md`", false);
    }

    #[test]
    fn bullets_give_values() {
        let page = MarkdownPage::read("- `a` = `x/{b}.md` (once)\n- `c`, `d`\n- `e` = words\n", 1);
        assert_eq!(
            bullets(&page).into_iter().collect::<Vec<_>>(),
            [("a".to_owned(), "x/{b}.md".to_owned())]
        );
    }

    #[test]
    fn a_goal_is_one_line() {
        let goal_of = |text: &str| {
            let document = SourceDocument::read(&text.into());
            let page = MarkdownPage::read(document.body(), document.body_line);
            goal(&document, &page, "Title")
        };
        assert_eq!(goal_of("---\ndescription: 'Do it'\n---\n# A\n"), "Do it");
        assert_eq!(goal_of("# A\n## STEP GOAL:\n\nMake **this**. And that."), "Make this.");
        assert_eq!(goal_of("**Goal:** Find it. Then go."), "Find it.");
        assert_eq!(goal_of("# A\nwords"), "Title");
    }
}
