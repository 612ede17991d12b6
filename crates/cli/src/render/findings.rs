//! Formats findings: the source line, a mark under the location, the problem, and the fix.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use crewagent_format::diagnostic::{Code, Diagnostic, Findings, Location, Severity, Sources};
use crewagent_format::text::is_unsafe_char;

use crate::console::{Console, Stream};
use crate::language::{say, text};
use crate::paint::{self, ERROR, GOOD, NAME, QUIET, WARNING};

/// Findings of one code that are shown in full, unless all are requested.
const SHOWN_PER_CODE: usize = 5;
/// Findings of one package that are shown in full, unless all are requested.
const SHOWN_PER_PACKAGE: usize = 40;
/// A longer source line is not shown; the renderer trims shorter ones to the terminal.
const LONGEST_LINE: usize = 20_000;

/// The options of a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportOptions {
    pub(crate) amount: Amount,
    pub(crate) stream: Stream,
    pub(crate) bar: Bar,
}

impl ReportOptions {
    /// A report beside the result of another command.
    pub(crate) const ASIDE: Self =
        Self { amount: Amount::Some, stream: Stream::Notes, bar: Bar::Errors };
    /// A report that is the result.
    pub(crate) const RESULT: Self = Self { stream: Stream::Result, ..Self::ASIDE };
}

/// The number of findings shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Enough to see the kinds of mistakes.
    Some,
    /// Every kept finding.
    All,
}

/// The severity that makes a package fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bar {
    Errors,
    /// Warnings too.
    Warnings,
}

/// Returns the path of a file of a package from the current folder, so that terminals can open it. The package is as the user
/// named it.
pub(crate) fn path_of(package: &str, file: &str) -> String {
    let folder = package.trim_start_matches("./").trim_end_matches('/');
    match (folder, file) {
        ("" | ".", file) => file.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, file) => format!("{folder}/{file}"),
    }
}

/// Returns the name of a package for its summary; the current folder has one, too.
fn title(package: &str) -> String {
    let current =
        || Some(std::env::current_dir().ok()?.file_name()?.to_string_lossy().into_owned());
    match package {
        "." | "./" => current().unwrap_or_else(|| package.to_owned()),
        package => package.to_owned(),
    }
}

/// Prints the findings of one package and their number.
pub(crate) fn findings(
    name: &str,
    findings: &Findings,
    sources: &Sources,
    options: ReportOptions,
    console: &mut Console,
) {
    let renderer =
        Renderer::styled().decor_style(DecorStyle::Ascii).term_width(paint::width().max(60));
    let mut shown: BTreeMap<Code, usize> = BTreeMap::new();
    let mut total = 0;
    for found in findings.iter() {
        let of_code = shown.entry(found.code).or_default();
        let fits = *of_code < SHOWN_PER_CODE
            && total < SHOWN_PER_PACKAGE
            && found.severity() != Severity::Note;
        if options.amount == Amount::All || fits {
            let group = group(found, name, sources);
            console.line_to(options.stream, renderer.render(&[group]));
            console.line_to(options.stream, "");
            *of_code += 1;
            total += 1;
        }
    }
    let told = findings
        .counts()
        .iter()
        .filter(|(code, _)| options.amount == Amount::All || code.severity() != Severity::Note);
    let hidden = told.filter_map(|(code, count)| {
        let more = count - shown.get(code).copied().unwrap_or(0);
        (more > 0).then_some((code, more, count))
    });
    for (code, more, count) in hidden {
        let counts = say!(
            "{more} more of {count}",
            "共 {count} 处，另有 {more} 处未显示",
            more = paint::grouped(more),
            count = paint::grouped(*count)
        );
        console.line_to(
            options.stream,
            format_args!("… {} {}: {counts}", code.as_str(), code.summary()),
        );
    }
    summary(name, findings, total, options, console);
}

fn summary(
    name: &str,
    findings: &Findings,
    shown: usize,
    options: ReportOptions,
    console: &mut Console,
) {
    let [errors, warnings, notes] =
        [Severity::Error, Severity::Warning, Severity::Note].map(|level| findings.count(level));
    let name = paint::styled(NAME, paint::printable(&title(name)));
    let mut print = |text: String| console.line_to(options.stream, text);
    let notes_word = paint::counted(notes, ("note", "个提示"));
    if !findings.needs_attention() {
        let ok = paint::styled(GOOD, text!("ok", "通过"));
        let more = match (notes, options.amount) {
            (0, _) => String::new(),
            (_, Amount::All) => say!(", {notes_word}", "，{notes_word}"),
            (_, Amount::Some) => {
                say!(", {notes_word} (`--all` shows them)", "，{notes_word}（用 `--all` 查看）")
            }
        };
        return print(say!(
            "{ok} {name}: no errors, no warnings{more}",
            "{ok} {name}：没有错误，没有警告{more}"
        ));
    }
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(paint::styled(ERROR, paint::counted(errors, ("error", "个错误"))));
    }
    if warnings > 0 {
        parts.push(paint::styled(WARNING, paint::counted(warnings, ("warning", "个警告"))));
    }
    if notes > 0 {
        parts.push(paint::styled(QUIET, notes_word));
    }
    let too_strict = errors == 0 && options.bar == Bar::Warnings;
    let verdict = if errors > 0 || too_strict {
        paint::styled(ERROR, text!("invalid", "无效"))
    } else {
        paint::styled(GOOD, text!("ok", "通过"))
    };
    let reason = if too_strict {
        text!(" (warnings count with `--deny-warnings`)", "（`--deny-warnings` 把警告算作错误）")
    } else {
        ""
    };
    print(say!(
        "{verdict} {name}: {parts}{reason}",
        "{verdict} {name}：{parts}{reason}",
        parts = parts.join(text!(", ", "，"))
    ));
    let told = errors + warnings + if options.amount == Amount::All { notes } else { 0 };
    if shown < told {
        let advice = match options.amount {
            Amount::Some => text!(
                "Fix these first, or see up to 10,000 of each severity with `--all` or `--format json`.",
                "请先修复这些；用 `--all` 或 `--format json` 可查看每个级别最多 10,000 条。",
            ),
            Amount::All => text!(
                "Only the first 10,000 of each severity are kept; fix these and run it again.",
                "每个级别只保留前 10,000 条；修复后请再检查一次。",
            ),
        };
        print(paint::styled(QUIET, advice));
    }
    if let Some(code) = findings.iter().next().map(|first| first.code) {
        print(paint::styled(
            QUIET,
            say!(
                "More about a code: crewagent package explain {}",
                "查看代码的说明：crewagent package explain {}",
                code.as_str()
            ),
        ));
    }
}

/// Builds the renderer's element for one finding.
fn group(found: &Diagnostic, package: &str, sources: &Sources) -> Group<'static> {
    let level = match found.severity() {
        Severity::Error => Level::ERROR.with_name(text!("error", "错误")),
        Severity::Warning => Level::WARNING.with_name(text!("warning", "警告")),
        Severity::Note => Level::NOTE.with_name(text!("note", "提示")),
    };
    let mut group = Group::with_title(
        level.primary_title(paint::printable(&found.message)).id(found.code.as_str()),
    );
    group = match excerpt(&found.place, package, sources) {
        Some(excerpt) => group.element(excerpt.snippet(AnnotationKind::Primary, None)),
        None => group.element(origin(&found.place, package)),
    };
    if let Some(related) = &found.related
        && let Some(excerpt) = excerpt(&related.place, package, sources)
    {
        group = group.element(
            excerpt.snippet(AnnotationKind::Context, Some(paint::printable(&related.message))),
        );
    }
    if let Some(help) = &found.help {
        group = group
            .element(Level::HELP.with_name(text!("help", "建议")).message(paint::printable(help)));
    }
    group
}

/// Formats a location without a source line.
fn origin(place: &Location, package: &str) -> Origin<'static> {
    let path = path_of(package, &place.file);
    let path =
        if path.is_empty() { text!("(package)", "（整个包）").to_owned() } else { path };
    let origin = Origin::path(paint::printable(&path));
    match place.position {
        Some(position) => origin.line(position.line).char_column(position.column),
        None => origin,
    }
}

/// The source line of a location.
struct Excerpt {
    file: String,
    line: String,
    number: usize,
    mark: Range<usize>,
}

impl Excerpt {
    fn snippet(
        self,
        kind: AnnotationKind,
        label: Option<String>,
    ) -> Snippet<'static, Annotation<'static>> {
        let annotation = kind.span(self.mark).label(label);
        Snippet::source(self.line).line_start(self.number).path(self.file).annotation(annotation)
    }
}

fn excerpt(place: &Location, package: &str, sources: &Sources) -> Option<Excerpt> {
    let (span, position, text) = (place.span?, place.position?, sources.get(&place.file)?);
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..)?.lines().next().unwrap_or_default();
    if line.len() > LONGEST_LINE {
        return None;
    }
    let mark_start = (span.start - start).min(line.len());
    let (line, mark) = cleaned(line, mark_start..(span.end - start).clamp(mark_start, line.len()));
    let file = paint::printable(&path_of(package, &place.file));
    Some(Excerpt { file, line, number: position.line, mark })
}

/// Replaces unsafe characters of the line and moves the mark accordingly. The renderer handles tabs.
fn cleaned(line: &str, mark: Range<usize>) -> (String, Range<usize>) {
    let clean = |part: &str| {
        part.chars()
            .map(|c| if c != '\t' && is_unsafe_char(c) { '\u{fffd}' } else { c })
            .collect::<String>()
    };
    let before = clean(line.get(..mark.start).unwrap_or_default());
    let marked = clean(line.get(mark.clone()).unwrap_or_default());
    let after = clean(line.get(mark.end..).unwrap_or_default());
    let range = before.len()..before.len() + marked.len();
    (before + &marked + &after, range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_can_be_opened_from_the_current_folder() {
        for (package, file, expected) in [
            (".", "bmad.json", "bmad.json"),
            ("./", "bmad.json", "bmad.json"),
            ("./my-flow/", "steps/a.md", "my-flow/steps/a.md"),
            ("../my-flow", "bmad.json", "../my-flow/bmad.json"),
            ("/tmp/x.bmad", "bmad.json", "/tmp/x.bmad/bmad.json"),
            ("x.bmad", "", "x.bmad"),
            (".", "", ""),
        ] {
            assert_eq!(path_of(package, file), expected);
        }
    }

    #[test]
    fn an_excerpt_cannot_steer_the_terminal_and_keeps_its_mark() {
        let (line, mark) = cleaned("a\u{9b}31m\u{202e}b\tc", 6..9);
        assert_eq!(line, "a\u{fffd}31m\u{fffd}b\tc");
        assert!(line.is_char_boundary(mark.start) && line.is_char_boundary(mark.end));
        assert_eq!(cleaned("ab中d", 2..5), ("ab中d".to_owned(), 2..5));
    }
}
