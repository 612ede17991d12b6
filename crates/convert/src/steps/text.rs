//! A step file or an entry with everything that was read in it.

use std::collections::BTreeMap;

use crate::document::SourceDocument;
use crate::plan::NodeNeed;
use crate::references::References;
use crate::source_tree::SourceTree;

use super::choice::Menu;
use super::documents::{DocumentUse, Own, papers};
use super::effect::Familiar;
use super::entry::{bullets, first_heading, goal, scalars, works};
use super::needs::needs;
use super::page::MarkdownPage;
use super::reading::{Reading, read};
use super::resolve::{Meant, Resolver, stem};

/// A text with everything that was read in it.
#[derive(Clone, Debug)]
pub(super) struct StepText {
    pub(super) document: SourceDocument,
    pub(super) reading: Reading,
    pub(super) papers: DocumentUse,
    pub(super) needs: Vec<(NodeNeed, u32)>,
    pub(super) title: String,
    pub(super) goal: String,
    /// Scalars of the frontmatter.
    pub(super) keys: BTreeMap<String, String>,
    /// Files of the source that the keys name.
    pub(super) files: BTreeMap<String, Meant>,
    /// Values of bullets.
    pub(super) bullets: BTreeMap<String, String>,
    /// True for an entry that does work of its own.
    pub(super) works: bool,
    /// True if a heading of its own defines how to halt.
    pub(super) defines_halt: bool,
}

/// Place of a workflow: its folder and its names.
pub(super) struct Home<'a> {
    pub(super) base: &'a str,
    pub(super) names: &'a BTreeMap<String, String>,
    pub(super) familiar: &'a Familiar,
}

/// Reads a text of a workflow; `None` for a file that is none.
pub(super) fn read_text(
    tree: &SourceTree<'_>,
    references: &References<'_>,
    path: &str,
    home: &Home<'_>,
    may_resume: bool,
) -> Option<StepText> {
    let document = SourceDocument::read(tree.text(path)?.text());
    let body = document.body().to_owned();
    let page = MarkdownPage::read(&body, document.body_line);
    let keys = scalars(&document);
    let bullets = bullets(&page);
    let mut names = bullets.clone();
    names.extend(keys.clone());
    let resolver = Resolver::new(tree, references, (path, home.base), [names, home.names.clone()]);
    let reading = read(&document, &page, &resolver, home.familiar, may_resume);
    let menu = Menu::read(&page);
    let own = Own { keys: &keys, stem: stem(path).unwrap_or_default() };
    let papers = papers(&page, &menu, &resolver, own);
    let first_lead = reading.leads.iter().map(|lead| lead.line).min().unwrap_or(0);
    let title = first_heading(&page)
        .or_else(|| document.scalar("title"))
        .or_else(|| document.scalar("name"));
    let title = title.unwrap_or_else(|| stem(path).unwrap_or(path).to_owned());
    let goal = goal(&document, &page, &title);
    let all = keys.iter().chain(&bullets);
    let files = all
        .filter_map(|(name, value)| Some((name.clone(), resolver.path(value.trim())?)))
        .collect();
    let works = works(&page, first_lead) || !reading.options.is_empty();
    let defines_halt = page
        .instructions()
        .any(|(_, line)| line.level > 0 && line.content.trim_end_matches(':') == "HALT");
    let needs = needs(&page);
    Some(StepText {
        document,
        reading,
        papers,
        needs,
        title,
        goal,
        keys,
        files,
        bullets,
        works,
        defines_halt,
    })
}
