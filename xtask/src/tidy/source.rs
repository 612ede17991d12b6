//! Parsed Rust files: their tokens, their lines of code, and which of those are tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::{TidyFinding, TidyRule};
use crate::repo::Repo;

/// Every Rust file of the repository that parses.
pub(super) struct RustSources(BTreeMap<String, RustSource>);

impl RustSources {
    /// Parses all files; one that does not parse is a finding.
    pub(super) fn parse(repo: &Repo) -> (Self, Vec<TidyFinding>) {
        let mut sources = BTreeMap::new();
        let mut findings = Vec::new();
        for (path, text) in repo.texts_ending(".rs") {
            match RustSource::parse(path, text) {
                Ok(source) => {
                    sources.insert(path.to_string(), source);
                }
                Err(error) => {
                    let line = error.span().start().line;
                    let message = format!("is not Rust: {error}; make it compile first");
                    findings.push(TidyRule::Parse.at(path, line, message));
                }
            }
        }
        mark_test_modules(&mut sources);
        (Self(sources), findings)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &RustSource)> {
        self.0.iter().map(|(path, source)| (path.as_str(), source))
    }
}

/// Marks files that a `#[cfg(test)] mod name;` of another file includes; they are tests whatever their name.
fn mark_test_modules(sources: &mut BTreeMap<String, RustSource>) {
    let mut test_stems = Vec::new();
    for (path, source) in &*sources {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        let folder = match stem.rsplit_once('/') {
            Some((folder, "lib" | "main")) => folder,
            Some(_) | None => stem,
        };
        test_stems.extend(source.test_modules().map(|name| format!("{folder}/{name}")));
    }
    for (path, source) in sources {
        let of_stem = |stem: &String| {
            path.strip_prefix(stem).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        source.is_test_file |= test_stems.iter().any(of_stem);
    }
}

/// Parsed Rust file.
pub(super) struct RustSource {
    pub(super) tree: syn::File,
    /// All tokens in order, without comments and documentation.
    pub(super) tokens: Vec<RustToken>,
    /// Doc comments, neighbouring lines joined.
    pub(super) docs: Vec<DocComment>,
    line_count: usize,
    /// Lines that hold code, tests included.
    code_lines: BTreeSet<usize>,
    is_test_file: bool,
    test_lines: Vec<RangeInclusive<usize>>,
}

/// Text of consecutive `///` or `//!` lines, and the line of the first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DocComment {
    pub(super) text: String,
    pub(super) line: usize,
}

/// Token and the line it starts on.
#[derive(Debug)]
pub(super) struct RustToken {
    pub(super) kind: TokenKind,
    pub(super) line: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word(String),
    /// One character of an operator, or one side of a pair of brackets.
    Mark(char),
    Literal,
}

impl RustToken {
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, TokenKind::Word(own) if own == word)
    }

    /// Returns the text of a word.
    pub(super) fn word(&self) -> Option<&str> {
        match &self.kind {
            TokenKind::Word(word) => Some(word),
            TokenKind::Mark(_) | TokenKind::Literal => None,
        }
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.kind == TokenKind::Mark(mark)
    }
}

impl RustSource {
    fn parse(path: &str, text: &str) -> syn::Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let stream: TokenStream = text.parse().map_err(syn::Error::from)?;
        let mut reader = TokenReader::new(text);
        reader.read(stream.clone());
        let tree: syn::File = syn::parse2(stream)?;
        let mut tests = TestFinder::default();
        tests.visit_file(&tree);
        let is_test_file = is_test_path(path) || tree.attrs.iter().any(marks_test);
        let TokenReader { tokens, code_lines, .. } = reader;
        Ok(Self {
            tree,
            tokens,
            docs: doc_comments(text),
            line_count: text.lines().count(),
            code_lines,
            is_test_file,
            test_lines: tests.lines,
        })
    }

    /// Counts the lines that belong to no test, including blank lines and comments.
    pub(super) fn count_lines(&self) -> usize {
        (1..=self.line_count).filter(|line| !self.is_test(*line)).count()
    }

    /// Returns true if the line belongs to a test.
    pub(super) fn is_test(&self, line: usize) -> bool {
        self.is_test_file || self.test_lines.iter().any(|range| range.contains(&line))
    }

    /// Counts the lines that hold code and belong to no test.
    pub(super) fn count_code(&self, lines: RangeInclusive<usize>) -> usize {
        self.code_lines.iter().filter(|line| lines.contains(line) && !self.is_test(**line)).count()
    }

    /// Returns the lines that name `parent::child`, also as `parent::{child, …}`.
    pub(super) fn lines_naming(&self, parent: &str, child: &str) -> BTreeSet<usize> {
        let mut lines = BTreeSet::new();
        for (index, window) in self.tokens.windows(4).enumerate() {
            let [first, colon, colon_2, next] = window else { continue };
            if !(first.is_word(parent) && colon.is_mark(':') && colon_2.is_mark(':')) {
                continue;
            }
            if next.is_word(child) {
                lines.insert(next.line);
            } else if next.is_mark('{') {
                let heads = Self::heads_in_braces(&self.tokens[index + 4..]).into_iter();
                lines.extend(heads.filter(|(head, _)| *head == child).map(|(_, line)| line));
            }
        }
        lines
    }

    /// Returns the first word of each entry of a `{a, b::c}` list, with its line; the tokens start after `{`.
    pub(super) fn heads_in_braces(tokens: &[RustToken]) -> Vec<(&str, usize)> {
        let mut heads = Vec::new();
        let mut depth = 0_usize;
        let mut at_head = true;
        for token in tokens {
            if token.is_mark('{') {
                depth += 1;
            } else if token.is_mark('}') {
                if depth == 0 {
                    break;
                }
                depth -= 1;
            } else if depth == 0 && at_head {
                heads.extend(token.word().map(|word| (word, token.line)));
            }
            at_head = token.is_mark(',');
        }
        heads
    }

    fn test_modules(&self) -> impl Iterator<Item = String> {
        self.tree.items.iter().filter_map(|item| {
            let syn::Item::Mod(module) = item else { return None };
            let in_other_file = module.content.is_none();
            (in_other_file && module.attrs.iter().any(marks_test)).then(|| module.ident.to_string())
        })
    }
}

fn doc_comments(text: &str) -> Vec<DocComment> {
    let mut docs: Vec<DocComment> = Vec::new();
    let mut last_line = 0;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let Some(text) = start.strip_prefix("///").or_else(|| start.strip_prefix("//!")) else {
            continue;
        };
        match docs.last_mut() {
            Some(doc) if last_line == index => doc.text.push_str(text),
            Some(_) | None => docs.push(DocComment { text: text.to_owned(), line: index + 1 }),
        }
        last_line = index + 1;
    }
    docs
}

fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "benches" | "tests.rs"))
}

/// Returns true for `#[test]`, `#[cfg(test)]` and the like, but not for `#[cfg(not(test))]`.
fn marks_test(attribute: &syn::Attribute) -> bool {
    if attribute.path().is_ident("test") {
        return true;
    }
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let mut reader = TokenReader::new("");
    reader.read(list.tokens.clone());
    let has = |word| reader.tokens.iter().any(|token| token.is_word(word));
    list.path.is_ident("cfg") && has("test") && !has("not")
}

/// Reader that flattens a token stream and notes the lines that hold code.
struct TokenReader<'a> {
    text: &'a str,
    tokens: Vec<RustToken>,
    code_lines: BTreeSet<usize>,
    blank_lines: BTreeSet<usize>,
}

impl<'a> TokenReader<'a> {
    fn new(text: &'a str) -> Self {
        let blank = |(index, line): (usize, &str)| line.trim().is_empty().then_some(index + 1);
        let blank_lines = text.lines().enumerate().filter_map(blank).collect();
        Self { text, tokens: Vec::new(), code_lines: BTreeSet::new(), blank_lines }
    }

    fn read(&mut self, stream: TokenStream) {
        for tree in stream {
            if self.is_documentation(tree.span()) {
                continue;
            }
            match tree {
                TokenTree::Group(group) => {
                    let (open, close) = brackets(group.delimiter());
                    self.push(TokenKind::Mark(open), group.span_open());
                    self.read(group.stream());
                    self.push(TokenKind::Mark(close), group.span_close());
                }
                TokenTree::Ident(word) => {
                    self.push(TokenKind::Word(word.to_string()), word.span());
                }
                TokenTree::Punct(mark) => self.push(TokenKind::Mark(mark.as_char()), mark.span()),
                TokenTree::Literal(literal) => self.push(TokenKind::Literal, literal.span()),
            }
        }
    }

    fn push(&mut self, kind: TokenKind, span: Span) {
        let lines = span.start().line..=span.end().line;
        self.tokens.push(RustToken { kind, line: *lines.start() });
        // A long string literal is code; the blank lines inside it are not.
        self.code_lines.extend(lines.filter(|line| !self.blank_lines.contains(line)));
    }

    /// Returns true for a token of `#[doc = "…"]`, as which a doc comment arrives, with the comment's span.
    fn is_documentation(&self, span: Span) -> bool {
        let source = self.text.get(span.byte_range()).unwrap_or_default();
        source.starts_with("//") || source.starts_with("/*")
    }
}

fn brackets(delimiter: Delimiter) -> (char, char) {
    match delimiter {
        Delimiter::Parenthesis => ('(', ')'),
        Delimiter::Brace => ('{', '}'),
        Delimiter::Bracket => ('[', ']'),
        Delimiter::None => (' ', ' '),
    }
}

/// Collector of the lines that are compiled for tests only.
#[derive(Default)]
struct TestFinder {
    lines: Vec<RangeInclusive<usize>>,
}

impl<'ast> Visit<'ast> for TestFinder {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if item_attributes(item).iter().any(marks_test) {
            self.lines.push(item.span().start().line..=item.span().end().line);
        } else {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if item.attrs.iter().any(marks_test) {
            self.lines.push(item.span().start().line..=item.span().end().line);
        } else {
            visit::visit_impl_item_fn(self, item);
        }
    }
}

/// Returns the attributes of the kinds of items that tests mark.
#[expect(clippy::wildcard_enum_match_arm, reason = "syn may add kinds of items")]
fn item_attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(path: &str, text: &str) -> RustSource {
        RustSource::parse(path, text).unwrap()
    }

    fn check_code(text: &str, expected: usize) {
        assert_eq!(parse("a.rs", text).count_code(1..=usize::MAX), expected, "{text}");
    }

    #[test]
    fn blank_lines_and_comments_are_no_code() {
        check_code("//! About.\n\n/// Doc.\nfn f() {\n    // why\n    g(); // here\n\n}\n", 3);
        check_code("/* a\n b */\n/** c\n d */\nfn f() {}\n", 1);
        check_code("fn f() {\n    /*! inner */\n}\n", 2);
    }

    #[test]
    fn a_string_over_lines_is_code_where_it_has_text() {
        check_code("const S: &str = \"a\n\n// b\n\";\n", 3);
    }

    #[test]
    fn an_attribute_is_code_and_its_documentation_is_not() {
        check_code("#[derive(Debug)]\n/// Doc.\nstruct S;\n", 2);
    }

    #[test]
    fn tests_do_not_count() {
        check_code("fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\n", 1);
        check_code("#[test]\nfn f() {\n}\n", 0);
        check_code("#[cfg(all(test, unix))]\nuse a::b;\n", 0);
        check_code("#[cfg(not(test))]\nfn f() {}\n", 2);
        check_code("struct S;\nimpl S {\n    #[cfg(test)]\n    fn f() {}\n}\n", 3);
        check_code("#![cfg(test)]\nfn f() {}\n", 0);
    }

    #[test]
    fn test_folders_and_files_are_tests() {
        for path in ["crates/a/tests/it.rs", "crates/a/benches/b.rs", "crates/a/src/b/tests.rs"] {
            assert!(parse(path, "fn f() {}").is_test(1), "{path}");
        }
        assert!(!parse("crates/testkit/src/lib.rs", "fn f() {}").is_test(1));
    }

    #[test]
    fn a_module_included_for_tests_is_a_test_file() {
        let repo = Repo::of(&[
            ("a/src/lib.rs", "#[cfg(test)]\nmod fixture;\nmod real;"),
            ("a/src/fixture.rs", "fn f() {}"),
            ("a/src/fixture/deep.rs", "fn f() {}"),
            ("a/src/real.rs", "#[cfg(test)] mod cases;"),
            ("a/src/real/cases.rs", "fn f() {}"),
            ("a/src/cases.rs", "fn f() {}"),
        ]);
        let (sources, findings) = RustSources::parse(&repo);
        assert_eq!(findings, []);
        let tests = sources.iter().filter(|(_, source)| source.is_test_file);
        let paths: Vec<_> = tests.map(|(path, _)| path).collect();
        assert_eq!(paths, ["a/src/fixture.rs", "a/src/fixture/deep.rs", "a/src/real/cases.rs"]);
    }

    #[test]
    fn neighbouring_doc_lines_are_one_comment() {
        let docs = parse("a.rs", "//! One.\n\n/// Two,\n/// and on.\nfn f() {} // no\n").docs;
        let docs: Vec<_> = docs.iter().map(|doc| (doc.line, doc.text.as_str())).collect();
        assert_eq!(docs, [(1, " One."), (3, " Two, and on.")]);
    }

    #[test]
    fn product_lines_are_all_lines_but_tests() {
        let source = parse("a.rs", "//! A.\n\nfn f() {}\n#[cfg(test)]\nmod tests {\n}\n");
        assert_eq!(source.count_lines(), 3);
    }

    #[test]
    fn a_path_is_named_in_one_piece_or_in_a_list() {
        let lines = |text: &str| {
            parse("a.rs", text).lines_naming("std", "fs").into_iter().collect::<Vec<_>>()
        };
        assert_eq!(lines("use std::fs;\nfn f() { m!(std::fs::read(x)); }"), [1, 2]);
        assert_eq!(lines("use std::{\n    fmt,\n    fs::File,\n};"), [3]);
        assert_eq!(lines("use std::{io::{self, fs}, fmt};"), [0; 0]);
        assert_eq!(lines("// std::fs\nconst S: &str = \"std::fs\";"), [0; 0]);
        assert_eq!(lines("use std::fmt; use crate::fs;"), [0; 0]);
    }

    #[test]
    fn a_file_that_is_not_rust_is_a_finding() {
        let (_, findings) = RustSources::parse(&Repo::of(&[("a.rs", "//! x\nfn f( {}\n")]));
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].path.as_str(), findings[0].rule), ("a.rs", TidyRule::Parse));
    }
}
