//! Bands and columns: the band of every node and the x of everything, computed by `dagre`.

use dagre::graph::{Graph as DagreGraph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel};

use super::net::{Arc, EDGE_GAP, NODE_GAP, Net, Placed};
use super::stack;
use super::uncross::uncross;

/// Maximum size for `dagre`, which recurses along paths and takes more than linear time.
const MOST_NODES: usize = 400;
const MOST_CELLS: usize = 4_000;

/// Maximum number of cells for which several layouts are tried.
const SEVERAL_STARTS: usize = 600;

/// Places a net; large ones get the simpler layout of [`stack`].
pub(super) fn place(net: &Net) -> Placed {
    let cells = stack::cells(net);
    if net.widths.len() > MOST_NODES || cells > MOST_CELLS {
        return stack::place(net);
    }
    // The layout improves its start and may end in a local optimum, so a small picture gets several starts.
    let starts = if cells <= SEVERAL_STARTS { InitialOrder::ALL } else { &InitialOrder::ALL[..1] };
    let mut best: Option<(usize, Placed)> = None;
    for &start in starts {
        let Some(mut placed) = by_dagre(net, start) else { continue };
        uncross(net, &mut placed);
        let crossings = crossings(net, &placed);
        if best.as_ref().is_none_or(|(fewest, _)| crossings < *fewest) {
            best = Some((crossings, placed));
        }
        if crossings == 0 {
            break;
        }
    }
    best.map_or_else(|| stack::place(net), |(_, placed)| placed)
}

/// Initial order of a layout.
#[derive(Debug, Clone, Copy)]
struct InitialOrder {
    /// Takes the arcs from last to first.
    is_reversed: bool,
    /// Of equally good orders, keeps the first one found.
    keeps_first: bool,
}

impl InitialOrder {
    /// The first start keeps branches in the order of the file.
    const ALL: &[InitialOrder] = &[
        InitialOrder { is_reversed: false, keeps_first: true },
        InitialOrder { is_reversed: false, keeps_first: false },
        InitialOrder { is_reversed: true, keeps_first: true },
        InitialOrder { is_reversed: true, keeps_first: false },
    ];
}

fn node_name(index: usize) -> String {
    format!("n{index}")
}

fn by_dagre(net: &Net, start: InitialOrder) -> Option<Placed> {
    let options = GraphOptions { directed: true, multigraph: true, compound: false };
    let mut graph: DagreGraph<NodeLabel, EdgeLabel> = DagreGraph::with_options(options);
    for (index, &width) in net.widths.iter().enumerate() {
        let label = NodeLabel { width, height: 10.0, ..NodeLabel::default() };
        graph.set_node(node_name(index), Some(label));
    }
    let add = |(index, arc): (usize, &Arc)| {
        let label = EdgeLabel {
            width: arc.label.max(1.0),
            height: 10.0,
            weight: arc.weight,
            labelpos: LabelPos::Center,
            ..EdgeLabel::default()
        };
        let name = index.to_string();
        graph.set_edge(node_name(arc.from), node_name(arc.to), Some(label), Some(&name));
    };
    let arcs = net.arcs.iter().enumerate();
    if start.is_reversed {
        arcs.rev().for_each(add)
    } else {
        arcs.for_each(add)
    }
    let options = LayoutOptions {
        nodesep: NODE_GAP,
        edgesep: EDGE_GAP,
        ranksep: 40.0,
        tie_keep_first: start.keeps_first,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut graph, Some(options));
    read(net, &graph)
}

/// Counts the crossings of arcs between one band and the next.
fn crossings(net: &Net, placed: &Placed) -> usize {
    let mut gaps: Vec<Vec<(f64, f64)>> = vec![Vec::new(); placed.bands];
    for (arc, bends) in net.arcs.iter().zip(&placed.bends) {
        let mut last = placed.x[arc.from];
        for (at, &x) in bends.iter().chain([&placed.x[arc.to]]).enumerate() {
            gaps[placed.band[arc.from] + at].push((last, x));
            last = x;
        }
    }
    let mut count = 0;
    for gap in gaps {
        for (at, a) in gap.iter().enumerate() {
            count += gap[at + 1..].iter().filter(|b| (a.0 - b.0) * (a.1 - b.1) < 0.0).count();
        }
    }
    count
}

/// Reads bands and columns from a finished layout; `None` if it breaks an assumption of the later steps.
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
        // The first and last point are where `dagre` cuts the route at the two boxes.
        let inner = edge.points.get(1..edge.points.len().checked_sub(1)?)?;
        let between = band[arc.to].checked_sub(band[arc.from] + 1)?;
        if between == 0 || inner.len() != between || inner.iter().any(|point| !point.x.is_finite())
        {
            return None;
        }
        bends.push(inner.iter().map(|point| point.x).collect());
    }
    let bands = band.iter().max().map_or(0, |last| last + 1);
    Some(Placed { bands, band, x, bends })
}
