//! Headings of a step and links of a Steps Index, read from Markdown. Only this module uses `pulldown-cmark`.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::text::Span;

/// Headings of a text, and the links below each.
#[derive(Clone, Debug, Default)]
pub(super) struct MarkdownOutline {
    sections: Vec<HeadingSection>,
    links: Vec<MarkdownLink>,
}

#[derive(Clone, Debug)]
struct HeadingSection {
    level: HeadingLevel,
    /// Lower case, without a trailing parenthesis.
    title: String,
    span: Span,
    /// Its part of [`MarkdownOutline::links`], up to the next heading of the same or a higher level.
    links: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct MarkdownLink {
    pub(super) target: String,
    pub(super) span: Span,
}

/// Possible headings of a Steps Index.
const INDEX_TITLES: &[&str] = &["steps index", "step index", "steps-index", "step-index", "steps"];

impl MarkdownOutline {
    /// Reads a Markdown text that begins `offset` bytes into its file.
    pub(super) fn read(text: &str, offset: usize) -> Self {
        let mut outline = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
            match (event, &mut heading) {
                (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
                (Event::Text(part) | Event::Code(part), Some(title)) => title.push_str(&part),
                (Event::End(TagEnd::Heading(level)), Some(title)) => {
                    let title = plain_title(title);
                    heading = None;
                    let span = Span::new(range.start, range.end).shifted(offset);
                    outline.begin(level, title, span, &mut open);
                }
                (Event::Start(Tag::Link { dest_url, .. }), _) => {
                    let span = Span::new(range.start, range.end).shifted(offset);
                    outline.links.push(MarkdownLink { target: dest_url.into_string(), span });
                }
                _ => {}
            }
        }
        outline.end(HeadingLevel::H1, &mut open);
        outline
    }

    /// Begins a section and ends those at the same or a lower level. `open` are the sections that have not ended.
    fn begin(&mut self, level: HeadingLevel, title: String, span: Span, open: &mut Vec<usize>) {
        self.end(level, open);
        open.push(self.sections.len());
        let at = self.links.len();
        self.sections.push(HeadingSection { level, title, span, links: at..at });
    }

    fn end(&mut self, level: HeadingLevel, open: &mut Vec<usize>) {
        let at = self.links.len();
        while let Some(section) = open.last().and_then(|last| self.sections.get_mut(*last)) {
            if section.level < level {
                return;
            }
            section.links.end = at;
            open.pop();
        }
    }

    /// Returns true if there is a second-level heading with this lower-case title.
    pub(super) fn has_section(&self, title: &str) -> bool {
        let wanted =
            |section: &HeadingSection| section.level == HeadingLevel::H2 && section.title == title;
        self.sections.iter().any(wanted)
    }

    /// Returns the level and the span of the first heading with this lower-case title, whatever its level.
    pub(super) fn heading(&self, title: &str) -> Option<(usize, Span)> {
        let section = self.sections.iter().find(|section| section.title == title)?;
        Some((section.level as usize, section.span))
    }

    /// Iterates over the links below every heading of a Steps Index.
    pub(super) fn index_links(&self) -> impl Iterator<Item = &MarkdownLink> {
        let indexes =
            self.sections.iter().filter(|section| INDEX_TITLES.contains(&section.title.as_str()));
        let within: BTreeSet<usize> = indexes.flat_map(|section| section.links.clone()).collect();
        within.into_iter().filter_map(|at| self.links.get(at))
    }
}

fn plain_title(title: &str) -> String {
    let title = title.trim();
    let title = match title.strip_suffix([')', '）']).and_then(|open| open.rfind(['(', '（'])) {
        Some(start) => title.get(..start).unwrap_or(title).trim_end(),
        None => title,
    };
    title.trim_end_matches([':', '：']).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_found_whatever_their_case_and_never_inside_code() {
        let outline = MarkdownOutline::read(
            "# Goal\n\n## GOAL (what we want)\n\n```\n## Instructions\n```\n\nCompletion:\n---\n",
            0,
        );
        assert!(outline.has_section("goal"));
        assert!(!outline.has_section("instructions"));
        assert!(outline.has_section("completion"));
    }

    fn check_index(text: &str, expected: &[&str]) {
        let outline = MarkdownOutline::read(text, 0);
        let links: Vec<_> = outline.index_links().map(|link| link.target.as_str()).collect();
        assert_eq!(links, expected, "{text}");
    }

    #[test]
    fn an_index_ends_at_a_heading_of_its_own_or_a_higher_level() {
        check_index(
            "[a](a)\n\n## Steps Index\n[b](b)\n\n### More\n[c](c)\n\n## Else\n[d](d)\n",
            &["b", "c"],
        );
        check_index("### Steps-Index\n[a](a)\n\n# Top\n[b](b)\n", &["a"]);
        check_index("# Steps\n[a](a)\n\n## Step Index (all)\n[b](b)\n", &["a", "b"]);
        check_index("## Notes\n[a](a)\n", &[]);
    }

    #[test]
    fn links_know_their_place() {
        let text = "## Steps Index\n\n- [one](steps/one.md)\n";
        let outline = MarkdownOutline::read(text, 100);
        let link = outline.index_links().next().unwrap();
        assert_eq!(link.target, "steps/one.md");
        assert_eq!(&text[link.span.start - 100..link.span.end - 100], "[one](steps/one.md)");
    }
}
