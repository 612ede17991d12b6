//! Files that a line mentions: paths, names in braces, links and snapshots.

/// Longest text that can be a path or a name.
const MAX_BYTES: usize = 512;

/// A mention of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mention<'a> {
    /// Offset in the line.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) written: Spelling<'a>,
}

/// Spelling of a mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling<'a> {
    /// `{name}` or `{{name}}`.
    Name(&'a str),
    /// A path, or the bare name of a file.
    Path(&'a str),
    /// A single word in backticks, such as the name of a skill.
    Word(&'a str),
}

/// Finds the mentions of a line, in order. Linear in its length.
pub(super) fn mentions(line: &str) -> Vec<Mention<'_>> {
    if !line.contains(['{', '/', '.', '`']) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((start, end)) = token(line, at) {
        at = end.max(at + 1);
        let Some(token) = line.get(start..end) else { continue };
        let ticked = start > 0
            && line.as_bytes().get(start - 1) == Some(&b'`')
            && line.as_bytes().get(end) == Some(&b'`');
        if let Some((skip, written)) = classify(token, ticked) {
            let start = start + skip;
            found.push(Mention { start, end, written });
        }
    }
    found
}

/// Returns the next run of characters that can be in a path, from an offset on.
fn token(line: &str, from: usize) -> Option<(usize, usize)> {
    let rest = line.get(from..)?;
    let start = from + rest.find(|c: char| !is_border(c))?;
    let rest = line.get(start..)?;
    let length = rest.find(is_border).unwrap_or(rest.len());
    Some((start, start + length))
}

fn is_border(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '`' | '"'
                | '\''
                | '('
                | ')'
                | '<'
                | '>'
                | ','
                | ';'
                | '|'
                | '['
                | ']'
                | '“'
                | '”'
                | '‘'
                | '’'
                | '='
                | '→'
                | '«'
                | '»'
                | '（'
                | '）'
                | '，'
                | '。'
                | '：'
                | '；'
        )
}

/// Says what a token is, and how many of its first bytes do not belong to it.
fn classify(token: &str, ticked: bool) -> Option<(usize, Spelling<'_>)> {
    if token.len() > MAX_BYTES {
        return None;
    }
    let trimmed = token.trim_end_matches(['.', ':', '!', '?', '*', '_']);
    let start = trimmed.len() - trimmed.trim_start_matches(['*', '_', ':']).len();
    let text = trimmed.get(start..)?;
    if text.contains("://") || text.contains('*') {
        return None;
    }
    if let Some(name) = braced(text) {
        return Some((start, Spelling::Name(name)));
    }
    // A prefix in front of a path, as in `bmad-snapshot:step-01.md`.
    let prefix = match text.split_once(':') {
        Some((before, after)) if is_word(before) && !after.is_empty() => before.len() + 1,
        _ => 0,
    };
    let path = text.get(prefix..)?;
    let path = path.split_once('#').map_or(path, |(path, _)| path);
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_file = name
        .rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && is_extension(extension));
    if !path.starts_with('/') && (is_file || (path.contains('/') && path.len() > 2)) {
        return Some((start + prefix, Spelling::Path(path)));
    }
    (ticked && prefix == 0 && is_word(text)).then_some((start, Spelling::Word(text)))
}

/// Returns the name inside of `{name}` or `{{name}}`.
fn braced(text: &str) -> Option<&str> {
    let inside = text
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"))
        .or_else(|| text.strip_prefix('{')?.strip_suffix('}'))?;
    let plain = inside.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (plain && !inside.is_empty()).then_some(inside)
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_extension(text: &str) -> bool {
    (2..=5).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let shown: Vec<String> = mentions(line)
            .into_iter()
            .map(|mention| {
                let (sign, text) = match mention.written {
                    Spelling::Name(name) => ('=', name),
                    Spelling::Path(path) => ('/', path),
                    Spelling::Word(word) => ('~', word),
                };
                assert!(line.get(mention.start..mention.end).is_some(), "{line}");
                format!("{sign}{text}")
            })
            .collect();
        assert_eq!(shown, expected, "{line}");
    }

    #[test]
    fn every_spelling_of_a_file_is_a_mention() {
        check("follow: `./steps/step-01.md` now", &["/./steps/step-01.md"]);
        check("load {nextStepFile} (step-02.md).", &["=nextStepFile", "/step-02.md"]);
        check("**NEXT:** {project-root}/_bmad/a/b.md.", &["/{project-root}/_bmad/a/b.md"]);
        check("[Next](../steps/step-02.md#top)", &["/../steps/step-02.md"]);
        check("`[[snap-shot:step-03.md]]`", &["/step-03.md"]);
        check("Invoke the `party-mode` skill", &["~party-mode"]);
        check("{{date}} and {a.b}", &["=date", "=a.b"]);
        check("读取`steps/step-01.md`。", &["/steps/step-01.md"]);
    }

    #[test]
    fn other_text_is_none() {
        check("no file here, and/or nothing", &["/and/or"]);
        check("see https://example.com/a.md", &[]);
        check("all of steps/*.md and **/x.md", &[]);
        check("version 6.0.4, e.g. 1.5", &[]);
        check("a { hole } and {}", &[]);
    }

    #[test]
    fn a_hostile_line_is_read_in_one_pass() {
        let line = "[{`".repeat(300_000);
        assert!(mentions(&line).is_empty());
    }
}
