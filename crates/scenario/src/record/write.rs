//! Writes readable YAML: short values in one line, long texts as blocks, everything else in quotes.
//!
//! It never guesses: a text is written as a block only after the block was read back.

use crewagent_format::syntax::yaml;
use crewagent_format::text::is_unsafe_char;
use serde_json::{Map, Value as Json};

/// Maximum width of a line, if its text can be broken.
const WIDTH: usize = 120;
/// Maximum length of a text in one line that ends in a line break.
const SHORT: usize = 60;
/// Words that some readers of YAML take for another type than text.
const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// Value with its layout.
#[derive(Clone, Debug)]
pub(super) enum ValueNode {
    Text(String),
    /// Null, a boolean or a number.
    Bare(Json),
    List(Vec<ListItem>, CollectionLayout),
    Map(Vec<(String, ValueNode)>, CollectionLayout),
}

/// Layout of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollectionLayout {
    /// One line if it fits.
    Fit,
    /// One line per entry.
    Open,
}

/// Value in a list, with comments before it.
#[derive(Clone, Debug)]
pub(super) struct ListItem {
    pub(super) notes: Vec<String>,
    pub(super) node: ValueNode,
}

/// Form of long texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextForm {
    Blocks,
    Quoted,
}

impl From<ValueNode> for ListItem {
    fn from(node: ValueNode) -> Self {
        Self { notes: Vec::new(), node }
    }
}

impl ValueNode {
    /// Returns a whole number.
    pub(super) fn number(number: u64) -> Self {
        Self::Bare(number.into())
    }

    /// Returns a word or a sentence.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the value that a reader must find.
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => text.clone().into(),
            Self::Bare(value) => value.clone(),
            Self::List(items, _) => items.iter().map(|item| item.node.to_json()).collect(),
            Self::Map(entries, _) => {
                let entries = entries.iter().map(|(key, node)| (key.clone(), node.to_json()));
                Json::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    fn is_open(&self) -> bool {
        matches!(self, Self::List(_, CollectionLayout::Open) | Self::Map(_, CollectionLayout::Open))
    }

    /// Returns true for an empty collection, which can only be written in one line.
    fn is_empty(&self) -> bool {
        match self {
            Self::List(items, _) => items.is_empty(),
            Self::Map(entries, _) => entries.is_empty(),
            Self::Text(_) | Self::Bare(_) => false,
        }
    }

    /// Returns the value in one line, if it fits in one.
    fn line(&self) -> Option<String> {
        match self {
            Self::Text(text) if is_long(text) => None,
            Self::Text(text) => Some(scalar(text)),
            Self::Bare(value) => Some(value.to_string()),
            Self::List(items, _) if items.is_empty() => Some("[]".to_owned()),
            Self::Map(entries, _) if entries.is_empty() => Some("{}".to_owned()),
            Self::List(_, CollectionLayout::Open) | Self::Map(_, CollectionLayout::Open) => None,
            Self::List(items, CollectionLayout::Fit) => {
                let lines: Option<Vec<String>> =
                    items.iter().map(|item| item.node.line()).collect();
                Some(format!("[{}]", lines?.join(", ")))
            }
            Self::Map(entries, CollectionLayout::Fit) => {
                let line = |(key, node): &(String, Self)| {
                    Some(format!("{}: {}", scalar(key), node.line()?))
                };
                let lines: Option<Vec<String>> = entries.iter().map(line).collect();
                Some(format!("{{ {} }}", lines?.join(", ")))
            }
        }
    }
}

/// Writes the document: comments, then the entries of one map.
pub(super) fn document(head: &[String], root: &ValueNode, texts: TextForm) -> String {
    let mut writer = ScenarioWriter { out: String::new(), texts };
    writer.notes(head, 0);
    if let ValueNode::Map(entries, _) = root {
        writer.entries(entries, 0);
    }
    writer.out
}

struct ScenarioWriter {
    out: String,
    texts: TextForm,
}

impl ScenarioWriter {
    fn notes(&mut self, notes: &[String], indent: usize) {
        for note in notes {
            let line = format!("{}# {}", blanks(indent), harmless(note));
            self.out.push_str(line.trim_end());
            self.out.push('\n');
        }
    }

    fn entries(&mut self, entries: &[(String, ValueNode)], indent: usize) {
        for (at, (key, node)) in entries.iter().enumerate() {
            // A blank line separates the nodes. A text that ends in blank lines would take it as its own.
            if at > 0 && indent <= 2 && node.is_open() && !self.out.ends_with("\n\n") {
                self.out.push('\n');
            }
            let lead = format!("{}{}:", blanks(indent), scalar(key));
            self.value(&lead, node, indent);
        }
    }

    fn items(&mut self, items: &[ListItem], indent: usize) {
        for item in items {
            self.notes(&item.notes, indent);
            let lead = format!("{}-", blanks(indent));
            self.value(&lead, &item.node, indent);
        }
    }

    /// Writes a value after its key or dash.
    fn value(&mut self, lead: &str, node: &ValueNode, indent: usize) {
        let fits = |line: &String| columns(lead) + 1 + columns(line) <= WIDTH || node.is_empty();
        if let Some(line) = node.line().filter(fits) {
            self.out.push_str(&format!("{lead} {line}\n"));
            return;
        }
        match node {
            ValueNode::Text(text) => {
                let block = if self.texts == TextForm::Blocks { block(text, indent) } else { None };
                let value = block.unwrap_or_else(|| quoted(text) + "\n");
                self.out.push_str(&format!("{lead} {value}"));
            }
            ValueNode::Bare(value) => self.out.push_str(&format!("{lead} {value}\n")),
            ValueNode::List(items, _) => {
                self.out.push_str(&format!("{lead}\n"));
                self.items(items, indent + 2);
            }
            ValueNode::Map(entries, _) if lead.ends_with('-') => {
                // The first key follows the dash.
                let from = self.out.len();
                self.entries(entries, indent + 2);
                self.out.replace_range(from..from + indent + 2, &format!("{lead} "));
            }
            ValueNode::Map(entries, _) => {
                self.out.push_str(&format!("{lead}\n"));
                self.entries(entries, indent + 2);
            }
        }
    }
}

/// Writes a text in one line: bare if it is unambiguous, else in quotes.
fn scalar(text: &str) -> String {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_inner)
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if !is_printable(c) => match u32::from(c) {
                code @ ..0x100 => out.push_str(&format!("\\x{code:02x}")),
                code @ 0x100..0x10000 => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns a long text as a block, if it reads back as the same text.
fn block(text: &str, indent: usize) -> Option<String> {
    if !text.chars().all(|c| c == '\n' || c == '\t' || is_printable(c)) {
        return None;
    }
    let written = if text.contains('\n') { literal(text, indent) } else { folded(text, indent)? };
    let pad = blanks(indent);
    let tree = yaml::parse(&format!("{pad}text: {written}{pad}after: 1\n")).ok()?;
    let is_same = tree.get("text").is_some_and(|entry| entry.tree.as_str() == Some(text))
        && tree.get("after").is_some();
    is_same.then_some(written)
}

/// Writes a text line by line, unchanged.
fn literal(text: &str, indent: usize) -> String {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let chomp = match (text.ends_with('\n'), lines.ends_with('\n')) {
        (false, _) => "-",
        (true, false) => "",
        (true, true) => "+",
    };
    // An indented first line would be taken for the indentation of all.
    let step = if text.starts_with([' ', '\t', '\n']) { "2" } else { "" };
    let mut out = format!("|{step}{chomp}\n");
    for line in lines.split('\n') {
        if !line.is_empty() {
            out.push_str(&format!("{}{line}", blanks(indent + 2)));
        }
        out.push('\n');
    }
    out
}

/// Writes one long line, broken between words.
fn folded(text: &str, indent: usize) -> Option<String> {
    if text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']) {
        return None;
    }
    let room = WIDTH.saturating_sub(indent + 2).max(SHORT);
    let mut lines: Vec<String> = Vec::new();
    let mut is_open = false;
    for word in text.split(' ') {
        // Several blanks in a row stay together.
        let is_apart = !word.is_empty() && !word.starts_with('\t') && !is_open;
        is_open = word.is_empty() || word.ends_with('\t');
        match lines.last_mut() {
            Some(line) if !is_apart || columns(line) + 1 + columns(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    if lines.len() < 2 {
        return None;
    }
    let pad = blanks(indent + 2);
    let lines: String = lines.iter().map(|line| format!("{pad}{line}\n")).collect();
    Some(format!(">-\n{lines}"))
}

/// Returns true if a text is more readable over several lines.
fn is_long(text: &str) -> bool {
    match text.strip_suffix('\n') {
        Some(line) => line.contains('\n') || line.is_empty() || columns(line) > SHORT,
        None => text.contains('\n'),
    }
}

/// Returns true if the character is visible and every reader of YAML accepts it.
fn is_printable(c: char) -> bool {
    !is_unsafe_char(c) && c != '\u{fffe}' && c != '\u{ffff}'
}

/// Returns a text for a comment: one line without control characters.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_printable(c) { c } else { '\u{fffd}' }).collect()
}

fn blanks(columns: usize) -> String {
    " ".repeat(columns)
}

fn columns(text: &str) -> usize {
    text.chars().count()
}
