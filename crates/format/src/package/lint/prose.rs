//! Texts for the model: a path of the package that they name must be there, because the model will read it.

use std::collections::HashSet;

use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::package::agents::AgentsDraft;
use crate::package::check::{GraphRead, WorkflowDraft};
use crate::package::document::{Document, PathKey};
use crate::package::files::Files;
use crate::path::PackagePath;
use crate::text::Span;

/// Prefixes of paths below the root of the package.
const ROOTS: [&str; 2] = ["@pkg/", "{package-root}/"];

/// Check of all texts of a package.
pub(super) struct ProseCheck<'c> {
    files: &'c dyn Files,
    findings: &'c mut Findings,
}

impl<'c> ProseCheck<'c> {
    pub(super) fn new(files: &'c dyn Files, findings: &'c mut Findings) -> Self {
        Self { files, findings }
    }

    /// Checks the bodies of steps and workflow documents.
    pub(super) fn documents(&mut self, workflows: &[WorkflowDraft], graphs: &[&GraphRead]) {
        let templates = workflows.iter().filter_map(|workflow| workflow.template.as_deref());
        let templates = templates.map(|template| {
            // Another rule follows these links.
            let links = template.outline.index_links().map(|link| link.span).collect();
            (&template.document, template.body, links)
        });
        let steps = graphs.iter().flat_map(|graph| &graph.steps).flatten();
        let steps = steps.map(|step| (&step.document, step.body, Vec::new()));
        let mut seen = HashSet::new();
        for (document, body, links) in templates.chain(steps) {
            if seen.insert(&document.path) {
                let text = document.text.get(body.start..body.end).unwrap_or_default();
                self.text(text, &|span: Span| {
                    let span = span.shifted(body.start);
                    let is_link = |link: &Span| link.start <= span.start && span.end <= link.end;
                    let is_followed = links.iter().any(is_link);
                    (!is_followed).then(|| Location::at(document.path.as_str(), span))
                });
            }
        }
    }

    /// Checks what agents are told: their actions, prompts and system prompts.
    pub(super) fn agents(&mut self, document: &Document, draft: &AgentsDraft) {
        for (index, agent) in draft.agents.iter().enumerate() {
            let Some(agent) = agent else { continue };
            let mut check = |keys: &[PathKey<'_>], text: &str| {
                let place = document.place(&[&["agents".into(), index.into()], keys].concat());
                self.text(text, &|_| Some(place.clone()));
            };
            for (at, action) in agent.critical_actions.iter().enumerate() {
                check(&["critical_actions".into(), at.into()], action);
            }
            for (at, prompt) in agent.prompts.iter().enumerate() {
                check(&["prompts".into(), at.into(), "content".into()], &prompt.content);
            }
            if let Some(prompt) = &agent.system_prompt {
                check(&["systemPrompt".into()], prompt);
            }
        }
    }

    /// Checks the paths in a text that have a place.
    fn text(&mut self, text: &str, place: &dyn Fn(Span) -> Option<Location>) {
        let mut told = HashSet::new();
        for (path, span) in named_files(text) {
            let Ok(path) = PackagePath::new(path) else { continue };
            let Some(place) = place(span).filter(|_| !self.exists(&path)) else { continue };
            if !told.insert(path.clone()) {
                continue;
            }
            let files = self.files.sizes().keys().map(PackagePath::as_str);
            let help = match self.findings.nearest(path.as_str(), files) {
                Some(similar) => format!("did you mean `@pkg/{similar}`?"),
                None => "add the file, or correct the path".to_owned(),
            };
            let message =
                format!("the file `{path}`, which this text names, is not in the package");
            let finding = Diagnostic::new(Code::DeadPackagePath, place, message);
            self.findings.push(finding.help(help));
        }
    }

    /// Returns true for a file, and for a folder with files.
    fn exists(&self, path: &PackagePath) -> bool {
        let folder = format!("{path}/");
        let sizes = self.files.sizes();
        sizes.contains_key(path)
            || sizes
                .range(PackagePath::lower_bound(&folder)..)
                .next()
                .is_some_and(|(next, _)| next.as_str().starts_with(&folder))
    }
}

/// Iterates over the files of the package that a text names, with their spans. A path with a placeholder or a wildcard
/// names no single file.
fn named_files(text: &str) -> impl Iterator<Item = (&str, Span)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let (start, root) = ROOTS
                .iter()
                .filter_map(|root| Some((rest.find(root)?, *root)))
                .min_by_key(|(start, _)| *start)?;
            let before = rest.get(..start)?.chars().next_back();
            let start = at + start;
            let from = start + root.len();
            let written = written_path(text.get(from..)?, before);
            at = from + written.len();
            if let Some(path) = file_path(written) {
                return Some((path, Span::new(start, from + path.len())));
            }
        }
    })
}

/// Returns the beginning of a text up to where a path in it must end. A path in quotes may have blanks.
fn written_path(text: &str, before: Option<char>) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let quote = before.filter(|c| matches!(c, '`' | '"' | '\''));
    let end = match quote.and_then(|quote| line.find(quote)) {
        Some(end) => end,
        None => line
            .find(|c: char| {
                c.is_whitespace()
                    || matches!(c, '`' | '"' | '\'' | '(' | ')' | '[' | ']' | ',' | ';' | '|' | '#')
                    || (!c.is_alphanumeric()
                        && matches!(c, '\u{2000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}'))
            })
            .unwrap_or(line.len()),
    };
    line.get(..end).unwrap_or_default()
}

/// Returns the path of a file; `None` for a folder, a pattern, and what is no path.
fn file_path(written: &str) -> Option<&str> {
    let path = written.split('#').next()?.trim_end_matches(['.', ':', '!', '?', '*', '_']);
    let is_pattern = path.contains(['<', '>', '{', '}', '*', '?', '$', '…']) || path.contains("..");
    let name = path.rsplit('/').next()?;
    (!is_pattern && name.contains('.') && !written.ends_with("...")).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_named(text: &str, expected: &[&str]) {
        let found: Vec<_> = named_files(text).collect();
        assert_eq!(found.iter().map(|(path, _)| *path).collect::<Vec<_>>(), expected, "{text}");
        for (path, span) in found {
            assert!(text[span.start..span.end].ends_with(path));
        }
    }

    #[test]
    fn a_path_ends_where_the_sentence_goes_on() {
        check_named("Read `@pkg/assets/a.md`, then @pkg/b.md.", &["assets/a.md", "b.md"]);
        check_named("(see {package-root}/a.md) [x](@pkg/b.md#top)", &["a.md", "b.md"]);
        check_named("`@pkg/my file.md` and **@pkg/c.md**", &["my file.md", "c.md"]);
        check_named("读取 @pkg/assets/模板.md。然后", &["assets/模板.md"]);
    }

    #[test]
    fn folders_patterns_and_placeholders_name_no_file() {
        check_named("@pkg/ @pkg/assets @pkg/assets/ @pkg/assets/...", &[]);
        check_named("`@pkg/<name>.md` @pkg/{key}.md @pkg/*.md @pkg/../x.md", &[]);
    }
}
