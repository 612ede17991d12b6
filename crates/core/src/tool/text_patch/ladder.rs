//! Ladder: four comparisons of lines, each more tolerant, each with an index of the file.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

use super::lines::Lines;

/// Comparison of lines. Endings never count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rung {
    Exact,
    /// Ignores blanks at the end.
    TrailingBlanks,
    /// Ignores blanks at both ends.
    Blanks,
    /// Also treats typographic punctuation as plain, and composes characters.
    Punctuation,
}

impl Rung {
    /// All comparisons, the strictest first.
    pub(super) const ALL: [Self; 4] =
        [Self::Exact, Self::TrailingBlanks, Self::Blanks, Self::Punctuation];

    /// Returns the form of a line for comparison.
    pub(super) fn form(self, line: &str) -> Cow<'_, str> {
        match self {
            Self::Exact => line.into(),
            Self::TrailingBlanks => line.trim_end().into(),
            Self::Blanks => line.trim().into(),
            Self::Punctuation => plain(line.trim()),
        }
    }
}

fn plain(line: &str) -> Cow<'_, str> {
    if line.is_ascii() {
        return line.into();
    }
    let mut text = String::with_capacity(line.len());
    for c in line.nfc() {
        match c {
            '\u{2018}'..='\u{201b}' | '\u{2032}' => text.push('\''),
            '\u{201c}'..='\u{201f}' | '\u{2033}' => text.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => text.push('-'),
            '\u{2026}' => text.push_str("..."),
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
                text.push(' ')
            }
            // Zero-width characters are invisible to a model.
            '\u{200b}' | '\u{feff}' => {}
            _ => text.push(c),
        }
    }
    text.trim().to_owned().into()
}

/// Indices of a file, built on demand.
pub(super) struct Ladder<'t> {
    lines: &'t Lines<'t>,
    indices: [OnceCell<Index<'t>>; 4],
}

impl<'t> Ladder<'t> {
    pub(super) fn new(lines: &'t Lines<'t>) -> Self {
        Self { lines, indices: Default::default() }
    }

    pub(super) fn index(&self, rung: Rung) -> &Index<'t> {
        let [exact, trailing, blanks, punctuation] = &self.indices;
        let cell = match rung {
            Rung::Exact => exact,
            Rung::TrailingBlanks => trailing,
            Rung::Blanks => blanks,
            Rung::Punctuation => punctuation,
        };
        cell.get_or_init(|| Index::new(self.lines, rung))
    }
}

/// Lines of a file as numbers, equal for lines that compare equal, with the positions of each number.
pub(super) struct Index<'t> {
    rung: Rung,
    numbers: HashMap<Cow<'t, str>, u32>,
    file: Vec<u32>,
    /// Offsets in `places` at which the places of each number begin, and one more.
    starts: Vec<usize>,
    places: Vec<usize>,
}

impl<'t> Index<'t> {
    fn new(lines: &'t Lines<'t>, rung: Rung) -> Self {
        let mut numbers = HashMap::new();
        let mut starts: Vec<usize> = vec![0];
        let mut file = Vec::with_capacity(lines.all.len());
        for line in &lines.all {
            // There are fewer lines than 2^32, see `MAX_LINES`.
            let fresh = numbers.len() as u32;
            let number = *numbers.entry(rung.form(line.text)).or_insert(fresh);
            if number == fresh {
                starts.push(0);
            }
            starts[number as usize + 1] += 1;
            file.push(number);
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut free = starts.clone();
        let mut places = vec![0; file.len()];
        for (at, number) in file.iter().enumerate() {
            let slot = &mut free[*number as usize];
            places[*slot] = at;
            *slot += 1;
        }
        Self { rung, numbers, file, starts, places }
    }

    /// Returns the numbers of these lines; `None` if one of them is not in the file.
    pub(super) fn pattern(&self, lines: &[&str]) -> Option<Vec<u32>> {
        lines.iter().map(|line| self.number(line)).collect()
    }

    fn number(&self, line: &str) -> Option<u32> {
        self.numbers.get(self.rung.form(line).as_ref()).copied()
    }

    /// Returns the positions of lines equal to this one, in order.
    pub(super) fn places(&self, line: &str) -> &[usize] {
        self.number(line).map_or(&[], |number| self.places_of(number))
    }

    /// Returns the positions of this number, in order.
    pub(super) fn places_of(&self, number: u32) -> &[usize] {
        let number = number as usize;
        let range = self.starts.get(number).copied().zip(self.starts.get(number + 1).copied());
        range.and_then(|(start, end)| self.places.get(start..end)).unwrap_or_default()
    }

    /// Returns true if the pattern is at this line.
    pub(super) fn matches(&self, pattern: &[u32], start: usize) -> bool {
        let end = start.saturating_add(pattern.len());
        self.file.get(start..end) == Some(pattern)
    }
}
