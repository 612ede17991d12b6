//! Rows in columns, aligned by display width.

use anstyle::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::paint;

/// One cell: a text and its style.
#[derive(Clone, Debug)]
pub(crate) struct TableCell {
    text: String,
    style: Style,
    side: Alignment,
}

/// The alignment of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alignment {
    Left,
    Right,
}

impl TableCell {
    /// Creates a cell of any text; unsafe characters are replaced.
    pub(crate) fn new(style: Style, text: &str) -> Self {
        Self { text: paint::printable(text), style, side: Alignment::Left }
    }

    /// Creates a right-aligned cell for a number.
    pub(crate) fn right(style: Style, text: &str) -> Self {
        Self { side: Alignment::Right, ..Self::new(style, text) }
    }
}

/// Formats the rows under a heading.
pub(crate) fn table(heading: &[&str], rows: &[Vec<TableCell>]) -> String {
    let title = |(column, text): (usize, &&str)| {
        let side =
            rows.first().and_then(|row| row.get(column)).map_or(Alignment::Left, |cell| cell.side);
        TableCell { side, ..TableCell::new(paint::QUIET, text) }
    };
    let title = heading.iter().enumerate().map(title).collect();
    let all: Vec<&Vec<TableCell>> = std::iter::once(&title).chain(rows).collect();
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            all.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.text.width())
                .max()
                .unwrap_or(0)
        })
        .collect();
    all.iter().map(|row| line(row, &widths)).collect()
}

fn line(row: &[TableCell], widths: &[usize]) -> String {
    let mut line = String::new();
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        if at > 0 {
            line.push_str("  ");
        }
        let blanks = " ".repeat(width - cell.text.width());
        let text = paint::styled(cell.style, &cell.text);
        match cell.side {
            Alignment::Right => line.extend([blanks, text]),
            // The last column needs no padding.
            Alignment::Left if at + 1 == row.len() => line.push_str(&text),
            Alignment::Left => line.extend([text, blanks]),
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_is_in_them() {
        let cell = |text: &str| TableCell::new(Style::new(), text);
        let rows = [vec![cell("中文"), cell("1")], vec![cell("a"), cell("22")]];
        let text = anstream::adapter::strip_str(&table(&["NAME", "N"], &rows)).to_string();
        assert_eq!(text, "NAME  N\n中文  1\na     22\n");
        let number = |text: &str| TableCell::right(Style::new(), text);
        let rows = [vec![cell("a"), number("7")], vec![cell("b"), number("1,234")]];
        let text = anstream::adapter::strip_str(&table(&["NAME", "N"], &rows)).to_string();
        assert_eq!(text, "NAME      N\na         7\nb     1,234\n");
    }
}
