//! Files of the web app: their identifiers and comments, without strings.

/// Word or comment, and the line it starts on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScriptPiece<'a> {
    pub(super) kind: PieceKind,
    pub(super) text: &'a str,
    pub(super) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Identifier,
    Comment,
}

/// Delimiters of strings and comments; a string ends at the end of its line at the latest.
const SPANS: [(&str, &str, Option<PieceKind>); 6] = [
    ("//", "\n", Some(PieceKind::Comment)),
    ("/*", "*/", Some(PieceKind::Comment)),
    ("<!--", "-->", Some(PieceKind::Comment)),
    ("\"", "\"", None),
    ("'", "'", None),
    ("`", "`", None),
];

/// Returns true for a script or component of the web app or its tests.
pub(super) fn is_ours(path: &str) -> bool {
    let known = [".ts", ".svelte", ".mjs"].iter().any(|end| path.ends_with(end));
    known && (path.starts_with("web/src/") || path.starts_with("web/tests/"))
}

/// Splits a file into identifiers and comments. The tokenizer is simple: an apostrophe in the text of a component hides
/// the rest of its line, no more.
pub(super) fn pieces(text: &str) -> Vec<ScriptPiece<'_>> {
    let mut pieces = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, kind) = if let Some(span) = span_at(rest) {
            span
        } else if first.is_alphabetic() || first == '_' || first == '$' {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            (rest.find(|c| !is_part(c)).unwrap_or(rest.len()), Some(PieceKind::Identifier))
        } else {
            (first.len_utf8(), None)
        };
        let (text, after) = rest.split_at(length);
        pieces.extend(kind.map(|kind| ScriptPiece { kind, text, line }));
        line += text.matches('\n').count();
        rest = after;
    }
    pieces
}

/// Returns the length of the comment or string that starts here.
fn span_at(text: &str) -> Option<(usize, Option<PieceKind>)> {
    let (open, close, kind) = SPANS.into_iter().find(|(open, ..)| text.starts_with(open))?;
    let inside = &text[open.len()..];
    let end = match close {
        "\"" | "'" => end_of_string(inside, close),
        _ => inside.find(close).map(|end| end + close.len()),
    };
    Some((open.len() + end.unwrap_or(inside.len()), kind))
}

fn end_of_string(inside: &str, quote: &str) -> Option<usize> {
    let mut is_escaped = false;
    inside.char_indices().find_map(|(index, letter)| {
        let ends = letter == '\n' || !is_escaped && quote.starts_with(letter);
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(index + letter.len_utf8())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_pieces(text: &str, expected: &[(&str, usize)]) {
        let found: Vec<_> = pieces(text).iter().map(|piece| (piece.text, piece.line)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn identifiers_and_comments_are_found_and_strings_are_not() {
        check_pieces("a.b(\"c\", 'd\\'e', `f ${g}`)", &[("a", 1), ("b", 1)]);
        check_pieces(
            "a // b c\nd /* e\nf */ g",
            &[("a", 1), ("// b c\n", 1), ("d", 2), ("/* e\nf */", 2), ("g", 3)],
        );
        check_pieces("<p>don't\nhere</p>", &[("p", 1), ("don", 1), ("here", 2), ("p", 2)]);
    }

    #[test]
    fn only_scripts_of_the_web_app_are_ours() {
        assert!(is_ours("web/src/a.svelte") && is_ours("web/tests/e2e/b.mjs"));
        assert!(!is_ours("web/vite.config.ts") && !is_ours("web/src/a.css"));
    }
}
