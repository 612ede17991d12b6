//! Layers and columns: which band every node stands in, and the x of everything, by the `dagre` layout.

use dagre::graph::{Graph as DagreGraph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};

use super::stack;

/// Space between nodes of one band.
pub(super) const NODE_GAP: f64 = 40.0;
/// Space around edges and labels that pass a band.
pub(super) const EDGE_GAP: f64 = 24.0;

/// `dagre` recurses along paths and takes more than linear time; both stay harmless below these.
const MOST_NODES: usize = 400;
const MOST_CELLS: usize = 4_000;

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
    /// Where every arc passes the bands strictly between its ends, from top to bottom: never empty.
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

/// Places a net; large ones get the simpler layout of [`stack`].
pub(super) fn place(net: &Net) -> Placed {
    let small = net.widths.len() <= MOST_NODES && stack::cells(net) <= MOST_CELLS;
    small.then(|| by_dagre(net)).flatten().unwrap_or_else(|| stack::place(net))
}

fn node_name(index: usize) -> String {
    format!("n{index}")
}

fn by_dagre(net: &Net) -> Option<Placed> {
    let options = GraphOptions { directed: true, multigraph: true, compound: false };
    let mut graph: DagreGraph<NodeLabel, EdgeLabel> = DagreGraph::with_options(options);
    for (index, &width) in net.widths.iter().enumerate() {
        let label = NodeLabel { width, height: 10.0, ..NodeLabel::default() };
        graph.set_node(node_name(index), Some(label));
    }
    for (index, arc) in net.arcs.iter().enumerate() {
        let label = EdgeLabel {
            width: arc.label.max(1.0),
            height: 10.0,
            weight: arc.weight,
            labelpos: LabelPos::Center,
            ..EdgeLabel::default()
        };
        let name = index.to_string();
        graph.set_edge(node_name(arc.from), node_name(arc.to), Some(label), Some(&name));
    }
    let spacing =
        LayoutOptions { nodesep: NODE_GAP, edgesep: EDGE_GAP, ranksep: 40.0, tie_keep_first: true, ..LayoutOptions::default() };
    dagre::layout(&mut graph, Some(spacing));
    read(net, &graph)
}

/// Takes bands and columns out of a finished layout; `None` if it is not what the rest relies on.
fn read(net: &Net, graph: &DagreGraph<NodeLabel, EdgeLabel>) -> Option<Placed> {
    let mut band = Vec::with_capacity(net.widths.len());
    let mut x = Vec::with_capacity(net.widths.len());
    for index in 0..net.widths.len() {
        let node = graph.node(&node_name(index))?;
        band.push(usize::try_from(node.rank?).ok()?);
        x.push(node.x.filter(|x| x.is_finite())?);
    }
    let mut bends = Vec::with_capacity(net.arcs.len());
    for (index, arc) in net.arcs.iter().enumerate() {
        let name = index.to_string();
        let edge = graph.edge(&node_name(arc.from), &node_name(arc.to), Some(&name))?;
        // The first and last point are where dagre cuts the way at the two boxes.
        let inner = edge.points.get(1..edge.points.len().checked_sub(1)?)?;
        let between = band[arc.to].checked_sub(band[arc.from] + 1)?;
        if between == 0 || inner.len() != between || inner.iter().any(|point| !point.x.is_finite()) {
            return None;
        }
        bends.push(inner.iter().map(|point| point.x).collect());
    }
    let bands = band.iter().max().map_or(0, |last| last + 1);
    Some(Placed { bands, band, x, bends })
}
