//! Removes crossings that the layout left: two neighbouring edges swap where that helps.

use super::net::{Arc, Net, Placed};

/// Maximum number of rounds. Every swap removes a crossing, so this only bounds the work.
const ROUNDS: usize = 8;

/// Swaps neighbouring arcs, over all bands in which they run side by side, while that reduces the crossings.
pub(super) fn uncross(net: &Net, placed: &mut Placed) {
    let mut rows = rows(net, placed);
    for _ in 0..ROUNDS {
        let mut is_better = false;
        for band in 0..placed.bands {
            for at in 1..rows[band].len() {
                let (BandCell::Arc(left), BandCell::Arc(right)) =
                    (rows[band][at - 1], rows[band][at])
                else {
                    continue;
                };
                let pair = Pair { net, left, right };
                if let Some(end) = pair.worth_swapping(placed, &rows, band) {
                    for (row, cells) in rows.iter_mut().enumerate().take(end + 1).skip(band) {
                        pair.swap(placed, row, cells);
                    }
                    is_better = true;
                }
            }
        }
        if !is_better {
            return;
        }
    }
}

/// Cell of a band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BandCell {
    Node,
    Arc(usize),
}

/// Returns all bands, each from left to right.
fn rows(net: &Net, placed: &Placed) -> Vec<Vec<BandCell>> {
    let mut rows: Vec<Vec<(f64, BandCell)>> = vec![Vec::new(); placed.bands];
    for (&band, &x) in placed.band.iter().zip(&placed.x) {
        rows[band].push((x, BandCell::Node));
    }
    for (at, (arc, bends)) in net.arcs.iter().zip(&placed.bends).enumerate() {
        for (row, &x) in bends.iter().enumerate() {
            rows[placed.band[arc.from] + 1 + row].push((x, BandCell::Arc(at)));
        }
    }
    let sorted = rows.into_iter().map(|mut row| {
        row.sort_by(|a, b| a.0.total_cmp(&b.0));
        row.into_iter().map(|(_, cell)| cell).collect()
    });
    sorted.collect()
}

/// Neighbouring arcs.
struct Pair<'n> {
    net: &'n Net,
    left: usize,
    right: usize,
}

impl Pair<'_> {
    /// Returns the last band of a swap from `band` on, if it removes a crossing.
    fn worth_swapping(
        &self,
        placed: &Placed,
        rows: &[Vec<BandCell>],
        band: usize,
    ) -> Option<usize> {
        let before = self.order(placed, band.checked_sub(1)?)?;
        let mut end = band;
        while rows.get(end + 1).is_some_and(|row| self.are_neighbours(row)) {
            end += 1;
        }
        let after = self.order(placed, end + 1)?;
        let crossed = |wrong: f64| usize::from(before == wrong) + usize::from(after == wrong);
        (crossed(-1.0) < crossed(1.0)).then_some(end)
    }

    fn are_neighbours(&self, row: &[BandCell]) -> bool {
        row.windows(2).any(|pair| pair == [BandCell::Arc(self.left), BandCell::Arc(self.right)])
    }

    /// Returns -1 if the arcs are in this order, 1 if in the other, 0 if they meet.
    fn order(&self, placed: &Placed, band: usize) -> Option<f64> {
        let [left, right] =
            [self.left, self.right].map(|arc| x_at(placed, arc, &self.net.arcs[arc], band));
        let apart = left? - right?;
        Some(if apart.abs() < 0.01 { 0.0 } else { apart.signum() })
    }

    /// Swaps the two arcs inside the space that they share.
    fn swap(&self, placed: &mut Placed, band: usize, row: &mut [BandCell]) {
        let (first, second) = (&self.net.arcs[self.left], &self.net.arcs[self.right]);
        let width = |arc: &Arc| if placed.label_band(arc) == band { arc.label } else { 0.0 };
        let (first_width, second_width) = (width(first), width(second));
        let first_at = band - placed.band[first.from] - 1;
        let second_at = band - placed.band[second.from] - 1;
        let from = placed.bends[self.left][first_at] - first_width / 2.0;
        let to = placed.bends[self.right][second_at] + second_width / 2.0;
        placed.bends[self.left][first_at] = to - first_width / 2.0;
        placed.bends[self.right][second_at] = from + second_width / 2.0;
        for cell in row {
            *cell = match *cell {
                BandCell::Arc(arc) if arc == self.left => BandCell::Arc(self.right),
                BandCell::Arc(arc) if arc == self.right => BandCell::Arc(self.left),
                same @ (BandCell::Arc(_) | BandCell::Node) => same,
            };
        }
    }
}

/// Returns the x of an arc in a band that it touches.
fn x_at(placed: &Placed, index: usize, arc: &Arc, band: usize) -> Option<f64> {
    let (top, bottom) = (placed.band[arc.from], placed.band[arc.to]);
    match band {
        _ if band == top => Some(placed.x[arc.from]),
        _ if band == bottom => Some(placed.x[arc.to]),
        _ => placed.bends[index].get(band.checked_sub(top + 1)?).copied(),
    }
}
