//! Simple layered layout for graphs too large for `dagre`: longest paths, barycentres, evened columns.
//!
//! Every step is linear in the size of the picture and none recurses, so thousands of nodes are fine.

use super::net::{EDGE_GAP, NODE_GAP, Net, Placed, middle_band};
use super::spread::spread;

/// Maximum number of cells. Up to it, short arcs get cells in the bands they pass; the others run straight, behind the
/// nodes.
const MOST_CELLS: usize = 40_000;
const SWEEPS: usize = 6;

/// Counts the cells of a net: its nodes, and every band that an arc passes.
pub(super) fn cells(net: &Net) -> usize {
    let rank = ranks(net);
    let passed = net.arcs.iter().map(|arc| 2 * rank[arc.to].saturating_sub(rank[arc.from]));
    net.widths.len() + passed.sum::<usize>()
}

/// Places a net of any size.
pub(super) fn place(net: &Net) -> Placed {
    let rank = ranks(net);
    let band: Vec<usize> = rank.iter().map(|rank| rank * 2).collect();
    let bands = band.iter().max().map_or(0, |last| last + 1);
    let mut grid = Grid::of(net, &band, bands);
    for sweep in 0..SWEEPS {
        grid.sort_rows(sweep % 2 == 0);
    }
    grid.pack();
    for sweep in 0..2 * SWEEPS {
        grid.even_rows(sweep % 2 == 0);
    }
    let x: Vec<f64> = grid.cells[..net.widths.len()].iter().map(|cell| cell.x).collect();
    let column = |&cell: &usize| grid.cells[cell].x;
    let bends = grid.chains.iter().map(|chain| chain.iter().map(column).collect()).collect();
    Placed { bands, band, x, bends }
}

/// Returns the longest path from a source to every node; sources then move down towards their targets.
fn ranks(net: &Net) -> Vec<usize> {
    let count = net.widths.len();
    let mut waiting = vec![0usize; count];
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    for arc in &net.arcs {
        waiting[arc.to] += 1;
        leaving[arc.from].push(arc.to);
    }
    let is_source: Vec<bool> = waiting.iter().map(|&count| count == 0).collect();
    let mut ready: Vec<usize> = (0..count).filter(|&node| is_source[node]).collect();
    let mut rank = vec![0usize; count];
    while let Some(node) = ready.pop() {
        for &to in &leaving[node] {
            rank[to] = rank[to].max(rank[node] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
    for node in 0..count {
        let below = leaving[node].iter().map(|&to| rank[to]).min();
        if let (true, Some(below)) = (is_source[node], below) {
            rank[node] = below.saturating_sub(1);
        }
    }
    rank
}

/// Returns the length up to which all arcs together stay within [`MOST_CELLS`].
fn longest_with_cells(net: &Net, band: &[usize]) -> usize {
    let mut lengths: Vec<usize> =
        net.arcs.iter().map(|arc| band[arc.to] - band[arc.from]).collect();
    lengths.sort_unstable();
    let mut used = 0;
    let within = lengths.iter().take_while(|&&length| {
        used += length;
        used <= MOST_CELLS
    });
    let fitting = within.count();
    if fitting == lengths.len() {
        return usize::MAX;
    }
    // Arcs of one length are treated alike, so the first that does not fit sets the limit.
    lengths.get(fitting).map_or(usize::MAX, |&length| length.saturating_sub(1))
}

/// Cell of a band: a node, or an arc that passes.
struct StackCell {
    width: f64,
    gap: f64,
    x: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// All cells, and their order in every band. The first cells are the nodes.
struct Grid {
    cells: Vec<StackCell>,
    rows: Vec<Vec<usize>>,
    /// Cells of every arc, from top to bottom.
    chains: Vec<Vec<usize>>,
}

impl Grid {
    fn of(net: &Net, band: &[usize], bands: usize) -> Grid {
        let mut grid =
            Grid { cells: Vec::new(), rows: vec![Vec::new(); bands], chains: Vec::new() };
        for (node, &width) in net.widths.iter().enumerate() {
            grid.add(width, NODE_GAP, band[node]);
        }
        let longest = longest_with_cells(net, band);
        for arc in &net.arcs {
            let (top, bottom) = (band[arc.from], band[arc.to]);
            let passed = if bottom - top > longest { bottom..bottom } else { top + 1..bottom };
            let mut chain = Vec::with_capacity(passed.len());
            let mut last = arc.from;
            for row in passed {
                let width = if row == middle_band(top, bottom) { arc.label } else { 0.0 };
                let cell = grid.add(width, EDGE_GAP, row);
                grid.join(last, cell);
                chain.push(cell);
                last = cell;
            }
            grid.join(last, arc.to);
            grid.chains.push(chain);
        }
        grid
    }

    fn add(&mut self, width: f64, gap: f64, row: usize) -> usize {
        let cell = self.cells.len();
        // Until the columns are known, `x` is the index in the row.
        let x = self.rows[row].len() as f64;
        self.cells.push(StackCell { width, gap, x, above: Vec::new(), below: Vec::new() });
        self.rows[row].push(cell);
        cell
    }

    fn join(&mut self, upper: usize, lower: usize) {
        self.cells[upper].below.push(lower);
        self.cells[lower].above.push(upper);
    }

    /// Returns the x of a cell if only the neighbours on one side counted.
    fn target(&self, cell: usize, downwards: bool) -> f64 {
        let StackCell { above, below, x, .. } = &self.cells[cell];
        let near = if downwards { above } else { below };
        if near.is_empty() {
            return *x;
        }
        near.iter().map(|&other| self.cells[other].x).sum::<f64>() / near.len() as f64
    }

    fn order(&self, downwards: bool) -> Vec<usize> {
        if downwards {
            (0..self.rows.len()).collect()
        } else {
            (0..self.rows.len()).rev().collect()
        }
    }

    fn sort_rows(&mut self, downwards: bool) {
        for at in self.order(downwards) {
            let mut row: Vec<(f64, usize)> =
                self.rows[at].iter().map(|&cell| (self.target(cell, downwards), cell)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (place, &(_, cell)) in row.iter().enumerate() {
                self.cells[cell].x = place as f64;
            }
            self.rows[at] = row.into_iter().map(|(_, cell)| cell).collect();
        }
    }

    /// Sets the first columns: every row packed around the middle.
    fn pack(&mut self) {
        for row in &self.rows {
            let span = |left: &StackCell, right: &StackCell| distance(left, right);
            let mut x = 0.0;
            let mut last: Option<usize> = None;
            for &cell in row {
                if let Some(last) = last {
                    x += span(&self.cells[last], &self.cells[cell]);
                }
                self.cells[cell].x = x;
                last = Some(cell);
            }
            for &cell in row {
                self.cells[cell].x -= x / 2.0;
            }
        }
    }

    /// Moves every row towards its neighbours without changing its order.
    fn even_rows(&mut self, downwards: bool) {
        for at in self.order(downwards) {
            let row = &self.rows[at];
            let wanted: Vec<f64> = row.iter().map(|&cell| self.target(cell, downwards)).collect();
            // Passing arcs should be straight; nodes give way.
            let weight = |i: usize| if self.cells[row[i]].above.len() == 1 { 4.0 } else { 1.0 };
            let gap = |i: usize| distance(&self.cells[row[i - 1]], &self.cells[row[i]]);
            let placed = spread(&wanted, weight, gap);
            for (&cell, x) in self.rows[at].iter().zip(placed) {
                self.cells[cell].x = x;
            }
        }
    }
}

fn distance(left: &StackCell, right: &StackCell) -> f64 {
    (left.width + right.width + left.gap + right.gap) / 2.0
}
