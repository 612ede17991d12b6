//! Reads YAML 1.2 into a [`Tree`], within a budget. Only this module uses `granit-parser`.
//!
//! The library parses; the tree, the budget, and the core schema in `scalar` are ours.

mod scalar;
mod words;

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, ScanError, Tag};

use super::json::duplicate_key;
use super::{Entry, Keys, SyntaxError, Tree, Value};
use crate::code::Code;
use crate::text::Span;

/// Maximum nesting of collections.
pub const MAX_DEPTH: usize = 32;
/// Maximum nodes of a document, aliases expanded.
pub const MAX_NODES: usize = 20_000;
/// Maximum aliases of a document.
pub const MAX_ALIASES: usize = 16;

/// Parses one YAML document. Text without content is an empty map. Every duplicate key is reported, not only the
/// first.
pub fn parse(text: &str) -> Result<Tree, Vec<SyntaxError>> {
    let mut composer = Composer::default();
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| vec![explain(text, &error)])?;
        let range = span.byte_range().unwrap_or_default();
        composer.take(event, Span::new(range.start, range.end)).map_err(|error| vec![error])?;
    }
    if !composer.duplicates.is_empty() {
        return Err(composer.duplicates);
    }
    Ok(composer.root.unwrap_or(Tree { span: Span::default(), value: Value::Map(Vec::new()) }))
}

/// Checks that a text is YAML at all, including what [`parse`] refuses: several documents, merge keys, tags and any
/// number of aliases. It builds nothing, so it needs no budget.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut events = Parser::new_from_str_with_options(text, options);
    let error = events.find_map(Result::err);
    // A document that is too deep for the library may still be valid.
    let error = error.filter(|error| *error.kind() != ErrorKind::RecursionLimitExceeded);
    error.map_or(Ok(()), |error| Err(explain(text, &error)))
}

/// Open collection.
struct YamlFrame {
    span: Span,
    anchor: usize,
    /// Complete nodes when it was opened.
    nodes_before: usize,
    /// Depth of the deepest collection inside it so far.
    depth: usize,
    content: YamlItems,
}

enum YamlItems {
    List(Vec<Tree>),
    Map { entries: Vec<Entry>, keys: Keys, key: Option<(String, Span)> },
}

/// Node that an alias can repeat, with its cost.
struct YamlAnchor {
    tree: Tree,
    nodes: usize,
    depth: usize,
}

#[derive(Default)]
struct Composer {
    root: Option<Tree>,
    open: Vec<YamlFrame>,
    anchors: HashMap<usize, YamlAnchor>,
    nodes: usize,
    aliases: usize,
    documents: usize,
    duplicates: Vec<SyntaxError>,
}

impl Composer {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(mistake(
                        span,
                        "frontmatter must be one YAML document",
                        "remove the `...` or the second document",
                    ));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(text.into_owned(), style, anchor, tag.as_deref(), span)?
            }
            Event::SequenceStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "seq", span)?;
                self.begin(YamlItems::List(Vec::new()), anchor, span)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "map", span)?;
                self.begin(
                    YamlItems::Map { entries: Vec::new(), keys: Keys::default(), key: None },
                    anchor,
                    span,
                )?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
            Event::Alias(id) => self.alias(id, span)?,
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            // Not requested, or new in a later version of the parser: no value in either case.
            Event::Anchor(..) | Event::UnresolvedAlias(_) | _ => {}
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), SyntaxError> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES { Err(too_much(span)) } else { Ok(()) }
    }

    fn scalar(
        &mut self,
        text: String,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<(), SyntaxError> {
        self.count(1, span)?;
        let plain = style == ScalarStyle::Plain;
        if let Some(YamlFrame { content: YamlItems::Map { key: key @ None, .. }, .. }) =
            self.open.last_mut()
        {
            if plain && text == "<<" {
                return Err(mistake(span, "merge keys (`<<`) are not read", "write the keys out"));
            }
            *key = Some((text, span));
            return Ok(());
        }
        let value =
            scalar::resolve(text, plain, tag.map(|tag| (tag.is_yaml_core_schema(), tag.suffix())))
                .ok_or_else(|| unknown_tag(span))?;
        self.place(Tree { span, value }, anchor, 1, 0)
    }

    fn begin(&mut self, content: YamlItems, anchor: usize, span: Span) -> Result<(), SyntaxError> {
        self.count(1, span)?;
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(span));
        }
        self.refuse_as_key(span)?;
        self.open.push(YamlFrame { span, anchor, nodes_before: self.nodes - 1, depth: 0, content });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), SyntaxError> {
        let Some(frame) = self.open.pop() else { return Ok(()) };
        let value = match frame.content {
            YamlItems::List(items) => Value::List(items),
            YamlItems::Map { entries, .. } => Value::Map(entries),
        };
        let whole = Span::new(frame.span.start, span.end.max(frame.span.end));
        self.place(
            Tree { span: whole, value },
            frame.anchor,
            self.nodes - frame.nodes_before,
            frame.depth + 1,
        )
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), SyntaxError> {
        self.aliases += 1;
        if self.aliases > MAX_ALIASES {
            return Err(too_much(span));
        }
        self.refuse_as_key(span)?;
        let Some(YamlAnchor { tree, nodes, depth }) = self.anchors.get(&id) else {
            return Err(mistake(
                span,
                "this alias stands inside the value it repeats",
                "write the value out",
            ));
        };
        let (nodes, depth) = (*nodes, *depth);
        if self.open.len() + depth > MAX_DEPTH {
            return Err(too_deep(span));
        }
        let copy = Tree { span, value: tree.value.clone() };
        self.count(nodes, span)?;
        self.place(copy, 0, nodes, depth)
    }

    fn refuse_as_key(&self, span: Span) -> Result<(), SyntaxError> {
        match self.open.last() {
            Some(YamlFrame { content: YamlItems::Map { key: None, .. }, .. }) => Err(mistake(
                span,
                "a key must be a simple text",
                "write a word or a quoted text before the colon",
            )),
            _ => Ok(()),
        }
    }

    /// Adds a complete node to the open collection.
    fn place(
        &mut self,
        tree: Tree,
        anchor: usize,
        nodes: usize,
        depth: usize,
    ) -> Result<(), SyntaxError> {
        if anchor != 0 {
            // The copy stays in memory, so it counts.
            self.count(nodes, tree.span)?;
            self.anchors.insert(anchor, YamlAnchor { tree: tree.clone(), nodes, depth });
        }
        let Some(frame) = self.open.last_mut() else {
            self.root = Some(tree);
            return Ok(());
        };
        frame.depth = frame.depth.max(depth);
        match &mut frame.content {
            YamlItems::List(items) => items.push(tree),
            YamlItems::Map { entries, keys, key } => {
                let Some((key, key_span)) = key.take() else { return Ok(()) };
                if keys.is_new(&key, entries) {
                    entries.push(Entry { key, key_span, tree });
                } else {
                    self.duplicates.push(duplicate_key(&key, key_span));
                }
            }
        }
        Ok(())
    }
}

fn collection_tag(tag: Option<&Tag>, own: &str, span: Span) -> Result<(), SyntaxError> {
    match tag {
        Some(tag) if !(tag.is_yaml_core_schema() && tag.suffix() == own) => Err(unknown_tag(span)),
        _ => Ok(()),
    }
}

fn mistake(span: Span, message: &str, help: &str) -> SyntaxError {
    SyntaxError { code: Code::YamlSyntax, span, message: message.into(), help: Some(help.into()) }
}

fn unknown_tag(span: Span) -> SyntaxError {
    mistake(
        span,
        "this tag is unknown, or does not fit its value",
        "remove the tag (the word that begins with `!`)",
    )
}

fn too_deep(span: Span) -> SyntaxError {
    SyntaxError {
        code: Code::TooDeep,
        span,
        message: format!("this frontmatter is nested more than {MAX_DEPTH} levels deep"),
        help: Some("no part of a package needs such depth; flatten the value".into()),
    }
}

fn too_much(span: Span) -> SyntaxError {
    SyntaxError {
        code: Code::YamlLimit,
        span,
        message: format!(
            "this frontmatter has more than {MAX_NODES} values, or more than {MAX_ALIASES} aliases"
        ),
        help: Some(
            "write the values out instead of using aliases, and keep bulk content in the body"
                .into(),
        ),
    }
}

fn explain(text: &str, error: &ScanError) -> SyntaxError {
    let mut start = error.marker().byte_offset().unwrap_or_default().min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let span = Span::new(start, text.len()).head(text);
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return too_deep(span);
    }
    let (message, help) = words::explain(error.kind(), &error.info());
    let help = hint(text, start).unwrap_or_else(|| help.to_owned());
    SyntaxError { code: Code::YamlSyntax, span, message, help: Some(help) }
}

/// Recognises the two most frequent mistakes in YAML.
fn hint(text: &str, at: usize) -> Option<String> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..)?.lines().next()?;
    if line.trim_start_matches(' ').starts_with('\t') {
        return Some("YAML is indented with spaces, never with tabs".into());
    }
    let value = line.split_once(": ").map(|(_, value)| value.trim());
    if value.is_some_and(|value| !value.starts_with(['"', '\'']) && value.contains(": ")) {
        return Some(
            "put the value in double quotes: it contains `: `, which begins a new map".into(),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn check_value(text: &str, expected: Json) {
        assert_eq!(parse(text).unwrap().to_json(), expected, "{text:?}");
    }

    fn check_refused(text: &str, code: Code, says: &str) {
        let errors = parse(text).unwrap_err();
        assert_eq!(errors[0].code, code, "{errors:?}");
        assert!(errors[0].message.contains(says), "{errors:?}");
    }

    #[test]
    fn collections_of_every_style_are_read() {
        check_value("", json!({}));
        check_value("# only a comment\n", json!({}));
        check_value(
            "a: {b: [1, 'x'], c: }\nd:\n- e\n- f: g\n  h: |\n    i\n    j\n",
            json!({"a": {"b": [1, "x"], "c": null}, "d": ["e", {"f": "g", "h": "i\nj\n"}]}),
        );
        check_value("a: &x [1, 2]\nb: *x\n", json!({"a": [1, 2], "b": [1, 2]}));
        check_value("1: a\ntrue: b\n", json!({"1": "a", "true": "b"}));
    }

    #[test]
    fn what_frontmatter_does_not_need_is_refused_with_a_reason() {
        check_refused("a: 1\n---\nb: 2\n", Code::YamlSyntax, "one YAML document");
        check_refused("a: &x {b: 1}\nc:\n  <<: *x\n", Code::YamlSyntax, "merge keys");
        check_refused("? [a, b]\n: c\n", Code::YamlSyntax, "simple text");
        check_refused("a: !custom 1\n", Code::YamlSyntax, "tag");
        check_refused("a: &x [*x]\n", Code::YamlSyntax, "inside the value");
        check_refused("a: *nowhere\n", Code::YamlSyntax, "anchor");
        let errors = parse("a: 1\na: 2\nb: {c: 1, c: 2}\n").unwrap_err();
        assert_eq!(
            errors.iter().map(|error| error.code).collect::<Vec<_>>(),
            [Code::DuplicateKey, Code::DuplicateKey]
        );
    }

    #[test]
    fn yaml_that_is_not_read_is_yaml_still() {
        let aliases = format!("a: &x 1\nb: [{}]\n", vec!["*x"; 100].join(", "));
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        for text in [
            "a: 1\n---\nb: 2\n",
            "a: &x {b: 1}\nc:\n  <<: *x\n",
            "? [a, b]\n: c\n",
            "a: !custom 1\n",
            &aliases,
            &deep,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for text in ["a: [1\n", "a: b: c\n", "a: *nowhere\n", "a: \"x\n"] {
            assert!(check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_copy_costs_as_much_as_what_it_copies() {
        let list = vec!["x"; 3000].join(", ");
        let copies: String = (0..10).map(|index| format!("c{index}: *x\n")).collect();
        check_refused(&format!("a: &x [{list}]\n{copies}"), Code::YamlLimit, "values");
        let nested = format!(
            "a: &x {}1{}\nb: {}*x{}\n",
            "[".repeat(20),
            "]".repeat(20),
            "[".repeat(20),
            "]".repeat(20)
        );
        check_refused(&nested, Code::TooDeep, "nested");
    }

    #[test]
    fn a_collection_knows_where_it_ends() {
        let text = "a: [1, 2]\nb:\n  c: d\n";
        let tree = parse(text).unwrap();
        let span = tree.get("a").unwrap().tree.span;
        assert_eq!(&text[span.start..span.end], "[1, 2]");
        let key = tree.get("b").unwrap().tree.get("c").unwrap();
        assert_eq!(&text[key.key_span.start..key.tree.span.end], "c: d");
    }
}
