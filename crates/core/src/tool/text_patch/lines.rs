//! A text as lines with their endings.

const BOM: &str = "\u{feff}";

/// Ending of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// End of the text without a line ending.
    Open,
    Lf,
    CrLf,
}

impl Ending {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "",
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// Returns the ending that most lines have; `None` if no line has one.
pub(super) fn dominant(endings: impl Iterator<Item = Ending>) -> Option<Ending> {
    let (mut lf, mut crlf) = (0_usize, 0_usize);
    for ending in endings {
        match ending {
            Ending::Open => {}
            Ending::Lf => lf += 1,
            Ending::CrLf => crlf += 1,
        }
    }
    match (lf, crlf) {
        (0, 0) => None,
        _ if crlf > lf => Some(Ending::CrLf),
        _ => Some(Ending::Lf),
    }
}

/// Line without its ending, and the ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    pub(super) text: &'t str,
    pub(super) ending: Ending,
}

/// Splits a text into lines.
pub(super) fn split(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split_inclusive('\n').map(|line| {
        if let Some(text) = line.strip_suffix("\r\n") {
            Line { text, ending: Ending::CrLf }
        } else if let Some(text) = line.strip_suffix('\n') {
            Line { text, ending: Ending::Lf }
        } else {
            Line { text: line, ending: Ending::Open }
        }
    })
}

/// Splits off the byte order mark: returns the text without it, and the mark.
pub(super) fn split_bom(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len() } else { 0 })
}

/// Text as lines, without its byte order mark.
pub(super) struct Lines<'t> {
    pub(super) bom: &'t str,
    pub(super) all: Vec<Line<'t>>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let (bom, rest) = split_bom(text);
        Self { bom, all: split(rest).collect() }
    }

    /// Returns the line with this index, without its ending.
    pub(super) fn text(&self, index: usize) -> Option<&'t str> {
        self.all.get(index).map(|line| line.text)
    }

    pub(super) fn ending(&self) -> Option<Ending> {
        dominant(self.all.iter().map(|line| line.ending))
    }
}
