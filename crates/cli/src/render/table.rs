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
    /// True if it is never cut, because users copy it.
    is_whole: bool,
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
        Self { text: paint::printable(text), style, side: Alignment::Left, is_whole: false }
    }

    /// Creates a cell that is never cut.
    pub(crate) fn whole(style: Style, text: &str) -> Self {
        Self { is_whole: true, ..Self::new(style, text) }
    }

    /// Creates a right-aligned cell for a number.
    pub(crate) fn right(style: Style, text: &str) -> Self {
        Self { side: Alignment::Right, ..Self::new(style, text) }
    }
}

/// Narrowest width of a column that is cut.
const NARROWEST: usize = 12;

/// Formats the rows under a heading. In a terminal they fit its width: long cells are cut, and where that is not enough each
/// row becomes a block of lines. In a pipe nothing is cut.
pub(crate) fn table(heading: &[&str], rows: &[Vec<TableCell>]) -> String {
    let window = terminal_size::terminal_size_of(std::io::stdout());
    fitted(heading, rows, window.map_or(usize::MAX, |(width, _)| usize::from(width.0)))
}

fn fitted(heading: &[&str], rows: &[Vec<TableCell>], columns: usize) -> String {
    let title = |(column, text): (usize, &&str)| {
        let first = rows.first().and_then(|row| row.get(column));
        let side = first.map_or(Alignment::Left, |cell| cell.side);
        TableCell { side, ..TableCell::new(paint::QUIET, text) }
    };
    let title = heading.iter().enumerate().map(title).collect();
    let all: Vec<&Vec<TableCell>> = std::iter::once(&title).chain(rows).collect();
    let widest = |column: usize| {
        let cells = all.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.text.width()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..heading.len()).map(widest).collect();
    let is_whole =
        |column: usize| rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.is_whole));
    let shrinkable: Vec<usize> = (0..heading.len()).filter(|column| !is_whole(*column)).collect();
    let gaps = 2 * heading.len().saturating_sub(1);
    let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(columns);
    while over > 0 {
        let widest = shrinkable.iter().copied().max_by_key(|column| widths[*column]);
        match widest.filter(|column| widths[*column] > NARROWEST) {
            Some(column) => widths[column] -= 1,
            None => return rows.iter().map(|row| block(heading, row, columns)).collect(),
        }
        over -= 1;
    }
    all.iter().map(|row| line(row, &widths)).collect()
}

/// Formats a row as lines: its first cell, and below it the others with their titles.
fn block(heading: &[&str], row: &[TableCell], columns: usize) -> String {
    let margin = heading.iter().skip(1).map(|text| text.width()).max().unwrap_or(0) + 4;
    let cut = |cell: &TableCell, used: usize| match cell.is_whole {
        true => cell.text.clone(),
        false => paint::fitted(&cell.text, columns.saturating_sub(used).max(NARROWEST)),
    };
    let mut text = String::new();
    for (at, (title, cell)) in heading.iter().zip(row).enumerate() {
        if at == 0 {
            text.push_str(&format!("{}\n", paint::styled(cell.style, cut(cell, 0))));
        } else if !cell.text.is_empty() {
            let title = paint::styled(paint::QUIET, paint::padded(title, margin - 4));
            let value = paint::styled(cell.style, cut(cell, margin));
            text.push_str(&format!("  {title}  {value}\n"));
        }
    }
    text
}

fn line(row: &[TableCell], widths: &[usize]) -> String {
    let mut line = String::new();
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        if at > 0 {
            line.push_str("  ");
        }
        let text = paint::fitted(&cell.text, *width);
        let blanks = " ".repeat(width.saturating_sub(text.width()));
        let text = paint::styled(cell.style, text);
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

    #[test]
    fn a_table_fits_the_window() {
        let row = |name: &str| {
            vec![
                TableCell::whole(Style::new(), "20261115-083015-k3f9w"),
                TableCell::new(Style::new(), name),
            ]
        };
        let rows = [row(&"n".repeat(200)), row("short")];
        let shown = |columns| {
            anstream::adapter::strip_str(&fitted(&["RUN", "WORKFLOW"], &rows, columns)).to_string()
        };
        let wide = shown(60);
        assert!(wide.lines().all(|line| line.width() <= 60), "{wide}");
        assert!(
            wide.lines()
                .all(|line| line.contains("20261115-083015-k3f9w") || line.starts_with("RUN"))
        );
        let narrow = shown(30);
        assert!(narrow.lines().all(|line| line.width() <= 30), "{narrow}");
        assert!(narrow.ends_with("20261115-083015-k3f9w\n  WORKFLOW  short\n"), "{narrow}");
        assert!(shown(usize::MAX).contains(&"n".repeat(200)));
    }
}
