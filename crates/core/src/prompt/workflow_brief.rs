//! `WORKFLOW_BRIEF`: the first paragraphs of the workflow's document, once at its beginning; or all of it, for the whole
//! run.

use crewagent_format::frontmatter::Frontmatter;
use crewagent_format::package::Workflow;

use super::line::{fence, folded, head};
use crate::bindings::{Bindings, of_workflow};
use crate::vpath::with_mounts;

/// Maximum size of the text, in bytes.
const TEXT_BYTES: usize = 512;
/// Maximum size of a brief for the whole run, in bytes.
pub const WHOLE_BRIEF_MAX_BYTES: usize = 16 * 1024;
/// Room for the fences and the note around a brief, in bytes.
const AROUND_BYTES: usize = 512;

/// Renders what the document says between its title and its first section; none if that is nothing.
pub fn workflow_brief(workflow: &Workflow) -> Option<String> {
    let document = Frontmatter::parse(workflow.document.clone()).ok()?;
    let body = document.body();
    let mut lines = body.lines().skip_while(|line| line.trim().is_empty()).peekable();
    if lines.peek().is_some_and(|line| line.starts_with("# ")) {
        lines.next();
    }
    let opening: Vec<&str> = lines.take_while(|line| !line.starts_with('#')).collect();
    let text = opening.join("\n");
    let text = sentences(text.trim());
    (!text.is_empty()).then(|| format!("WORKFLOW_BRIEF\n{text}"))
}

/// Renders the body of a document whose frontmatter says that it is told for the whole run.
pub fn whole_brief(workflow: &Workflow, bindings: &Bindings) -> Option<String> {
    if !workflow.front.brief {
        return None;
    }
    let document = Frontmatter::parse(workflow.document.clone()).ok()?;
    let bindings = of_workflow(workflow, bindings);
    let filled = bindings.fill(document.body().trim()).into_owned();
    let whole = with_mounts(&filled);
    let text = head(&whole, WHOLE_BRIEF_MAX_BYTES - AROUND_BYTES);
    let fence = fence(text).filter(|_| !text.is_empty())?;
    let rest = match text.len() < whole.len() {
        true => format!("\nIt goes on in @pkg/{}.", workflow.document_path),
        false => String::new(),
    };
    Some(format!("WORKFLOW_BRIEF\n{fence}\n{text}\n{fence}{rest}"))
}

/// Returns the text on one line, cut at the end of a sentence if it is too long.
fn sentences(text: &str) -> String {
    let whole = folded(text, TEXT_BYTES * 2);
    if whole.len() <= TEXT_BYTES {
        return whole;
    }
    let near = head(&whole, TEXT_BYTES);
    let ends = near.char_indices().zip(near.chars().skip(1).chain([' ']));
    let end = ends
        .filter(|((_, c), next)| {
            matches!(c, '。' | '！' | '？') || (matches!(c, '.' | '!' | '?') && *next == ' ')
        })
        .map(|((at, c), _)| at + c.len_utf8())
        .last();
    match end {
        Some(end) => head(near, end).to_owned(),
        None => folded(text, TEXT_BYTES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_with_a_sentence() {
        let text = format!("One. Two? {}", "x".repeat(600));
        assert_eq!(sentences(&text), "One. Two?");
        assert_eq!(sentences("Short\n  text"), "Short text");
        assert!(sentences(&"x".repeat(600)).ends_with('…'));
        let chinese = format!("一句话。{}", "长".repeat(300));
        assert_eq!(sentences(&chinese), "一句话。");
    }
}
