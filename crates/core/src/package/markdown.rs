//! The two things we look at in Markdown: the headings of a step and the links of a Steps Index.
//! The only place that knows `pulldown-cmark`.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::text::Span;

/// The second-level headings of a text, and the links below each.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    sections: Vec<Section>,
}

#[derive(Clone, Debug)]
pub(super) struct Section {
    /// Lower case, without a trailing parenthesis.
    pub(super) title: String,
    pub(super) links: Vec<Link>,
}

#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) target: String,
    pub(super) span: Span,
}

impl Outline {
    /// Reads a Markdown text that stands `offset` bytes into its file.
    pub(super) fn read(text: &str, offset: usize) -> Self {
        let mut outline = Self::default();
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
            match (event, &mut heading) {
                (Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }), _) => {
                    heading = Some(String::new())
                }
                (Event::Text(part) | Event::Code(part), Some(title)) => title.push_str(&part),
                (Event::End(TagEnd::Heading(HeadingLevel::H2)), Some(title)) => {
                    outline.sections.push(Section { title: plain_title(title), links: Vec::new() });
                    heading = None;
                }
                (Event::Start(Tag::Link { dest_url, .. }), _) => {
                    if let Some(section) = outline.sections.last_mut() {
                        let span = Span::new(range.start, range.end).shifted(offset);
                        section.links.push(Link { target: dest_url.into_string(), span });
                    }
                }
                _ => {}
            }
        }
        outline
    }

    /// The section with this lower-case title.
    pub(super) fn section(&self, title: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.title == title)
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
        let outline = Outline::read(
            "# Goal\n\n## GOAL (what we want)\n\n```\n## Instructions\n```\n\nCompletion:\n---\n",
            0,
        );
        assert!(outline.section("goal").is_some());
        assert!(outline.section("instructions").is_none());
        assert!(outline.section("completion").is_some());
    }

    #[test]
    fn links_belong_to_their_section_and_know_their_place() {
        let text = "## Steps Index\n\n- [one](steps/one.md)\n";
        let outline = Outline::read(text, 100);
        let link = &outline.section("steps index").unwrap().links[0];
        assert_eq!(link.target, "steps/one.md");
        assert_eq!(&text[link.span.start - 100..link.span.end - 100], "[one](steps/one.md)");
    }
}
