//! Explains the JSON parser's errors to authors who wrote the file by hand.

/// Returns a message and a remedy for a mistake at a known offset.
pub(super) fn explain_at(error: &str, body: &str, at: usize) -> (String, String) {
    if body.trim().is_empty() {
        let help = "write a JSON object here; `crewagent package new` makes a complete package to start from";
        return ("the file is empty".into(), help.into());
    }
    let rest = body.get(at..).unwrap_or_default();
    let before = body.get(..at).unwrap_or_default().trim_end();
    let (message, help) = if comma_too_much(body, at).is_some() {
        ("there is a comma after the last item", "JSON allows no comma there; remove it")
    } else if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
        ("JSON has no comments", "remove it, or use a `description`")
    } else if rest.starts_with('\'') {
        ("JSON strings stand in double quotes", "write \" instead of '")
    } else if rest.starts_with('"') && before.ends_with(['"', '}', ']']) {
        ("a comma is missing between two items", "add a comma before this one")
    } else {
        return explain(error);
    };
    (message.into(), help.into())
}

/// Returns the offset of a comma before the bracket at `at`, which closes what the comma continues.
pub(super) fn comma_too_much(body: &str, at: usize) -> Option<usize> {
    body.get(at..)?.starts_with(['}', ']']).then_some(())?;
    let before = body.get(..at)?.trim_end();
    before.ends_with(',').then(|| before.len() - 1)
}

/// Returns a message and a remedy.
pub(super) fn explain(error: &str) -> (String, String) {
    const WORDS: &[(&str, &str, &str)] = &[
        (
            "EOF while parsing a string",
            "the file ends inside a string",
            "close the string with \" and the rest with `]` and `}`",
        ),
        (
            "EOF",
            "the file ends too early",
            "something is not closed: look for a missing `}`, `]` or \"",
        ),
        (
            "expected ident",
            "this word is not a value",
            "only true, false and null stand without quotes; put other text in double quotes",
        ),
        (
            "expected value",
            "a value is expected here",
            "write a string in double quotes, a number, true, false, null, a list or an object",
        ),
        (
            "trailing characters",
            "something follows the end of the document",
            "a JSON file holds one value; remove the rest, or a bracket too many before it",
        ),
        ("key must be a string", "a key must be a text in double quotes", "write \"key\": value"),
        ("expected `:`", "a colon is missing after the key", "write \"key\": value"),
        (
            "expected `,` or `}`",
            "a comma or `}` is expected here",
            "separate entries with commas and close the object with `}`",
        ),
        (
            "expected `,` or `]`",
            "a comma or `]` is expected here",
            "separate items with commas and close the list with `]`",
        ),
        (
            "trailing comma",
            "there is a comma after the last item",
            "JSON allows no comma there; remove it",
        ),
        (
            "invalid escape",
            "this is not an escape that JSON knows",
            "a backslash itself is written as \\\\; the escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
        ),
        (
            "surrogate",
            "this escape is half of a character",
            "write the character itself, or both halves of the pair",
        ),
        (
            "hex escape",
            "this \\u escape does not make a character",
            "write the character itself, or four hexadecimal digits for each half",
        ),
        (
            "control character",
            "a string may not contain a line break or another control character",
            "write \\n for a line break and \\t for a tab",
        ),
        (
            "invalid number",
            "this is not a number",
            "write digits, with a dot for fractions; no leading zero, no plus sign",
        ),
        (
            "number out of range",
            "this number is too large",
            "write a smaller number, or put it in double quotes",
        ),
    ];
    match WORDS.iter().find(|(part, ..)| error.contains(part)) {
        Some((_, message, help)) => ((*message).into(), (*help).into()),
        None => (error.to_owned(), "see `crewagent package explain BM206`".into()),
    }
}
