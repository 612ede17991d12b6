//! Tables with aligned columns, also for wide scripts.

use anstream::adapter::strip_str;
use pulldown_cmark::Alignment;
use unicode_width::UnicodeWidthStr as _;

use super::wrap::{Long, StyledText, width, wrapped};
use crate::paint::{self, QUIET};

/// Minimum width of a column.
const NARROW: usize = 8;
/// Width of the separator between two columns.
const BETWEEN: usize = 3;

/// The cells of a table, row by row; the first row is its head.
#[derive(Debug, Default)]
pub(super) struct MarkdownTable {
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<Vec<StyledText>>>,
}

impl MarkdownTable {
    /// Returns the lines of the table, fitted to the width.
    pub(super) fn lines(&self, columns: usize) -> Vec<String> {
        let widths = self.widths(columns);
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            lines.extend(self.row(row, &widths));
            if at == 0 {
                let rule: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(paint::styled(QUIET, rule.join("─┼─")));
            }
        }
        lines
    }

    /// Returns the width of each column; the widest ones shrink until the table fits.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths = vec![1; count];
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                widths[at] = widths[at].max(width(cell));
            }
        }
        let room = columns.saturating_sub(BETWEEN * count.saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max().filter(|width| **width > NARROW) else {
                break;
            };
            *widest -= 1;
        }
        widths
    }

    fn row(&self, row: &[Vec<StyledText>], widths: &[usize]) -> Vec<String> {
        let empty = Vec::new();
        let cells: Vec<Vec<String>> = (0..widths.len())
            .map(|at| wrapped(row.get(at).unwrap_or(&empty), widths[at], Long::Break))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        let bar = paint::styled(QUIET, " │ ");
        let line = |number: usize| {
            let cells = cells.iter().enumerate().map(|(at, lines)| {
                let text = lines.get(number).map_or("", String::as_str);
                self.aligned(at, text, widths[at])
            });
            cells.collect::<Vec<_>>().join(&bar)
        };
        (0..height).map(line).collect()
    }

    fn aligned(&self, at: usize, text: &str, columns: usize) -> String {
        let free = columns.saturating_sub(strip_str(text).to_string().width());
        let left = match self.alignments.get(at) {
            Some(Alignment::Right) => free,
            Some(Alignment::Center) => free / 2,
            Some(Alignment::Left | Alignment::None) | None => 0,
        };
        format!("{}{text}{}", " ".repeat(left), " ".repeat(free - left))
    }
}
