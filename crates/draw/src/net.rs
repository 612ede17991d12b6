//! Boxes and arcs to place, and their positions.

/// Space between nodes of one band.
pub(super) const NODE_GAP: f64 = 40.0;
/// Space around edges and labels that pass a band.
pub(super) const EDGE_GAP: f64 = 24.0;

/// Graph without cycles, the input of the placement.
#[derive(Debug)]
pub(super) struct Net {
    pub(super) widths: Vec<f64>,
    pub(super) arcs: Vec<Arc>,
}

/// Link of a [`Net`], with the width of its label.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: f64,
    /// Priority of keeping this arc short and straight.
    pub(super) weight: i32,
}

/// Positions of a [`Net`]. Bands go from top to bottom; between nodes at least one band stays free for the labels of
/// the arcs.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) bands: usize,
    /// Band of every node.
    pub(super) band: Vec<usize>,
    /// Centre of every node.
    pub(super) x: Vec<f64>,
    /// The x of every arc in the bands strictly between its ends, from top to bottom; empty if it was too long to get
    /// cells there.
    pub(super) bends: Vec<Vec<f64>>,
}

impl Placed {
    /// Returns the band that reserves space for the label of an arc.
    pub(super) fn label_band(&self, arc: &Arc) -> usize {
        middle_band(self.band[arc.from], self.band[arc.to])
    }
}

/// Returns the band halfway between two, in which `dagre` reserves the space for a label.
pub(super) fn middle_band(from: usize, to: usize) -> usize {
    from + to.saturating_sub(from) / 2
}
