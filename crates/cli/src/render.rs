//! Findings as people read them: the source line, a mark under the place, what is wrong, and what to do.

use std::collections::BTreeMap;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use crewagent_core::diagnostic::{Code, Diagnostic, Findings, Place, Severity, Sources};

use crate::console::Console;
use crate::paint::{self, ERROR, GOOD, NAME, QUIET, WARNING};

/// How many findings of one code are shown in full, unless all are asked for.
const SHOWN_PER_CODE: usize = 5;
/// How many findings of one package are shown in full, unless all are asked for.
const SHOWN_PER_PACKAGE: usize = 40;
/// A longer source line is not shown; the renderer trims shorter ones to the terminal.
const LONGEST_LINE: usize = 20_000;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Enough to see what kinds of mistakes there are.
    Some,
    /// Every finding.
    All,
}

/// Prints the findings of one package, and how many there are.
pub(crate) fn findings(
    name: &str,
    findings: &Findings,
    sources: &Sources,
    amount: Amount,
    console: &mut Console,
) {
    let mut shown: BTreeMap<Code, usize> = BTreeMap::new();
    let mut total = 0;
    for found in findings.iter() {
        let of_code = shown.entry(found.code).or_default();
        let fits = *of_code < SHOWN_PER_CODE && total < SHOWN_PER_PACKAGE;
        if amount == Amount::All || fits {
            console.line(finding(found, sources));
            console.line("");
            *of_code += 1;
            total += 1;
        }
    }
    let hidden = findings.counts().iter().filter_map(|(code, count)| {
        let more = count - shown.get(code).copied().unwrap_or(0);
        (more > 0).then_some((code, more, count))
    });
    for (code, more, count) in hidden {
        let counts = format!("{} more of {}", paint::grouped(more), paint::grouped(*count));
        console.line(format_args!("… {} {}: {counts}", code.as_str(), code.summary()));
    }
    summary(name, findings, total, console);
}

fn summary(name: &str, findings: &Findings, shown: usize, console: &mut Console) {
    let (errors, warnings) = (findings.count(Severity::Error), findings.count(Severity::Warning));
    let name = paint::styled(NAME, paint::printable(name));
    if findings.is_empty() {
        console.line(format_args!("{} {name}: no errors, no warnings", paint::styled(GOOD, "ok")));
        return;
    }
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(paint::styled(ERROR, paint::counted(errors, "error")));
    }
    if warnings > 0 {
        parts.push(paint::styled(WARNING, paint::counted(warnings, "warning")));
    }
    let verdict =
        if errors > 0 { paint::styled(ERROR, "invalid") } else { paint::styled(GOOD, "ok") };
    console.line(format_args!("{verdict} {name}: {}", parts.join(", ")));
    if shown < errors + warnings {
        console.line(paint::styled(
            QUIET,
            "Fix these first, or see every finding with `--all` or `--format json`.",
        ));
    }
    if let Some(code) = findings.iter().next().map(|first| first.code) {
        console.line(paint::styled(
            QUIET,
            format_args!("More about a code: crewagent package explain {}", code.as_str()),
        ));
    }
}

/// One finding as a block of text.
pub(crate) fn finding(found: &Diagnostic, sources: &Sources) -> String {
    let level = match found.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let message = paint::printable(&found.message);
    let title = level.primary_title(message).id(found.code.as_str());
    let mut group = Group::with_title(title);
    group = match excerpt(&found.place, sources) {
        Some(excerpt) => group.element(excerpt.snippet(AnnotationKind::Primary, None)),
        None => group.element(origin(&found.place)),
    };
    if let Some(related) = &found.related
        && let Some(excerpt) = excerpt(&related.place, sources)
    {
        group =
            group.element(excerpt.snippet(AnnotationKind::Context, Some(related.message.clone())));
    }
    if let Some(help) = &found.help {
        group = group.element(Level::HELP.message(paint::printable(help)));
    }
    Renderer::styled().decor_style(DecorStyle::Ascii).render(&[group])
}

/// A place without a line to show.
fn origin(place: &Place) -> Origin<'static> {
    let file = if place.file.is_empty() { "(package)" } else { &place.file };
    let origin = Origin::path(paint::printable(file));
    match place.position {
        Some(position) => origin.line(position.line).char_column(position.column),
        None => origin,
    }
}

/// The line of a place.
struct Excerpt {
    file: String,
    line: String,
    number: usize,
    mark: std::ops::Range<usize>,
}

impl Excerpt {
    fn snippet(
        self,
        kind: AnnotationKind,
        label: Option<String>,
    ) -> Snippet<'static, annotate_snippets::Annotation<'static>> {
        let annotation = kind.span(self.mark).label(label);
        Snippet::source(self.line).line_start(self.number).path(self.file).annotation(annotation)
    }
}

fn excerpt(place: &Place, sources: &Sources) -> Option<Excerpt> {
    let (span, position, text) = (place.span?, place.position?, sources.get(&place.file)?);
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line = text.get(start..)?.lines().next().unwrap_or_default();
    let mark_start = (span.start - start).min(line.len());
    let mark = mark_start..(span.end - start).clamp(mark_start, line.len());
    (line.len() <= LONGEST_LINE).then(|| Excerpt {
        file: place.file.clone(),
        line: line.to_owned(),
        number: position.line,
        mark,
    })
}
