//! Formats a complete block of Markdown as lines for the screen.

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr as _;

use super::table::MarkdownTable;
use super::wrap::{Long, StyledText, wrapped};
use crate::paint::{self, NAME, QUIET};

pub(super) const CODE: Style = AnsiColor::Cyan.on_default();
/// The indentation of a code block.
pub(super) const INSET: &str = "  ";
/// Maximum width of a horizontal rule.
const RULE: usize = 40;
/// Minimum width of a text, however deep it is nested.
const ROOM: usize = 16;

/// Formats a text as lines that end with a newline. Returns none if a letter would be lost (cells beyond the last
/// column, link definitions).
pub(super) fn formatted(text: &str, margin: &str, columns: usize) -> Option<String> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let columns = columns.saturating_sub(margin.width());
    let mut formatter = Formatter { columns, ..Formatter::default() };
    for event in Parser::new_ext(text, options) {
        formatter.event(event);
    }
    formatter.flush();
    let line = |line: &String| format!("{margin}{line}").trim_end().to_owned() + "\n";
    let lines: String = formatter.lines.iter().map(line).collect();
    (letters(&strip_str(&lines).to_string()) >= letters(text)).then_some(lines)
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// The state of the formatter.
#[derive(Default)]
struct Formatter {
    columns: usize,
    lines: Vec<String>,
    /// The text of the current line.
    spans: Vec<StyledText>,
    styles: Vec<Style>,
    /// The enclosing quotes and list items, outermost first.
    frames: Vec<MarkdownContainer>,
    /// The next number of each enclosing list; none if it is not numbered.
    lists: Vec<Option<u64>>,
    code: Option<String>,
    table: Option<MarkdownTable>,
    /// The targets of the enclosing links.
    targets: Vec<String>,
}

/// A quote or list item, with the prefix of its lines.
struct MarkdownContainer {
    /// The marker of an item, until it was shown.
    mark: Option<String>,
    rest: String,
}

impl Formatter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.say(&text),
            },
            Event::Code(text) => self.say_in(CODE, &text),
            Event::SoftBreak | Event::HardBreak => self.say("\n"),
            Event::Rule => {
                let rule = "─".repeat(self.columns.min(RULE));
                self.line(&paint::styled(QUIET, rule));
            }
            Event::TaskListMarker(done) => self.say(if done { "[x] " } else { "[ ] " }),
            Event::Html(text)
            | Event::InlineHtml(text)
            | Event::FootnoteReference(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.say(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level: HeadingLevel::H1, .. } => self.styles.push(NAME.underline()),
            Tag::Heading { .. } | Tag::Strong => self.styles.push(Style::new().bold()),
            Tag::Emphasis => self.styles.push(Style::new().italic()),
            Tag::Strikethrough => self.styles.push(Style::new().strikethrough()),
            Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. } => {
                self.styles.push(Style::new().underline());
                let title = if title.is_empty() { String::new() } else { format!(" \"{title}\"") };
                self.targets.push(format!("{dest_url}{title}"));
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.frames
                    .push(MarkdownContainer { mark: None, rest: paint::styled(QUIET, "│ ") });
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::CodeBlock(kind) => {
                self.flush();
                if let CodeBlockKind::Fenced(language) = kind
                    && !language.is_empty()
                {
                    self.line(&format!("{INSET}{}", paint::styled(QUIET, harmless(&language))));
                }
                self.code = Some(String::new());
            }
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(MarkdownTable { alignments, rows: Vec::new() });
            }
            Tag::TableHead => {
                self.styles.push(Style::new().bold());
                self.new_row();
            }
            Tag::TableRow => self.new_row(),
            Tag::Paragraph
            | Tag::TableCell
            | Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.leave_link(),
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.frames.pop();
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                self.flush();
                if self.frames.last().is_some_and(|frame| frame.mark.is_some()) {
                    self.line("");
                }
                self.frames.pop();
            }
            TagEnd::CodeBlock => {
                for line in self.code.take().unwrap_or_default().lines() {
                    self.line(&format!("{INSET}{}", paint::styled(CODE, harmless(line))));
                }
            }
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let room = self.room();
                    table.lines(room).iter().for_each(|line| self.line(line));
                }
            }
            TagEnd::Paragraph
            | TagEnd::HtmlBlock
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => self.flush(),
            TagEnd::TableRow | TagEnd::Superscript | TagEnd::Subscript => {}
        }
    }

    fn item(&mut self) {
        self.flush();
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            Some(None) | None => "• ".to_owned(),
        };
        self.frames.push(MarkdownContainer { rest: " ".repeat(mark.width()), mark: Some(mark) });
    }

    fn new_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    /// Prints the target of a link, unless its text is the target.
    fn leave_link(&mut self) {
        self.styles.pop();
        let target = self.targets.pop().unwrap_or_default();
        let said = self.spans.last().is_some_and(|span| target.ends_with(span.text.as_str()));
        if !said && !target.is_empty() {
            self.say_in(QUIET, &format!(" ({target})"));
        }
    }

    fn say(&mut self, text: &str) {
        self.say_in(Style::new(), text);
    }

    /// Adds a text in a style, combined with the enclosing styles.
    fn say_in(&mut self, style: Style, text: &str) {
        let mut all = style;
        for outer in &self.styles {
            all = all.effects(all.get_effects() | outer.get_effects());
        }
        self.spans.push(StyledText { text: text.to_owned(), style: all });
    }

    /// Wraps the collected text into lines.
    fn flush(&mut self) {
        let mut spans = std::mem::take(&mut self.spans);
        // A block of HTML ends with its newline.
        if let Some(last) = spans.last_mut() {
            last.text.truncate(last.text.trim_end_matches('\n').len());
        }
        if !spans.is_empty() {
            let room = self.room();
            wrapped(&spans, room, Long::Keep).iter().for_each(|line| self.line(line));
        }
    }

    fn room(&self) -> usize {
        let used: usize = self.frames.iter().map(|frame| plain_width(&frame.rest)).sum();
        self.columns.saturating_sub(used).max(ROOM)
    }

    fn line(&mut self, words: &str) {
        let begin =
            |frame: &mut MarkdownContainer| frame.mark.take().unwrap_or_else(|| frame.rest.clone());
        let before: String = self.frames.iter_mut().map(begin).collect();
        self.lines.push(before + words);
    }
}

/// Returns a line of code without control characters and tabs.
pub(super) fn harmless(line: &str) -> String {
    paint::printable(&line.replace('\t', "    "))
}

fn plain_width(text: &str) -> usize {
    strip_str(text).to_string().width()
}
