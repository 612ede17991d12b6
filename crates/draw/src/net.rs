//! Boxes and arcs to place, and where they were placed.

/// Space between nodes of one band.
pub(super) const NODE_GAP: f64 = 40.0;
/// Space around edges and labels that pass a band.
pub(super) const EDGE_GAP: f64 = 24.0;

/// A graph without cycles, as the placing sees it.
#[derive(Debug)]
pub(super) struct Net {
    pub(super) widths: Vec<f64>,
    pub(super) arcs: Vec<Arc>,
}

/// A link of a [`Net`], with the width of its label.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: f64,
    /// How much this arc wants to be short and straight.
    pub(super) weight: i32,
}

/// Where a [`Net`] stands. Bands run from top to bottom; nodes leave at least one band free between them, for the
/// labels of the arcs.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) bands: usize,
    /// The band of every node.
    pub(super) band: Vec<usize>,
    /// The centre of every node.
    pub(super) x: Vec<f64>,
    /// Where every arc passes the bands strictly between its ends, from top to bottom; empty if it was too long to
    /// get places there.
    pub(super) bends: Vec<Vec<f64>>,
}

impl Placed {
    /// The band in which room was kept for the label of an arc.
    pub(super) fn label_band(&self, arc: &Arc) -> usize {
        middle_band(self.band[arc.from], self.band[arc.to])
    }
}

/// The band halfway between two; `dagre` keeps the room for a label there.
pub(super) fn middle_band(from: usize, to: usize) -> usize {
    from + to.saturating_sub(from) / 2
}
