//! A diagram with coordinates: measures everything, places it, and collects the finished picture.

use super::Diagram;
use super::card::{Card, Traffic};
use super::columns::Columns;
use super::graph::{Flow, Graph};
use super::levels::Levels;
use super::path::{Path, Point};
use super::route;
use super::text::{SMALL, clean, wrap};

/// The free border around the picture.
pub(super) const MARGIN: f64 = 28.0;
const LABEL_LEADING: f64 = 14.0;
const MAX_LABEL: f64 = 168.0;
/// How far a loop of a node to itself reaches out of its side.
pub(super) const OWN_LOOP: f64 = 22.0;
/// The size of the start dot.
pub(super) const START_DOT: f64 = 14.0;

/// A picture shows so many edges, the first of the file: more are no picture to anybody, and looking for their ways
/// takes time that grows with the square of their number.
pub(super) const MOST_EDGES: usize = 5_000;

/// A finished picture, from the top left corner (0, 0).
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) graph: Graph<'a>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// Like the graph's nodes.
    pub(super) nodes: Vec<PlacedNode>,
    /// Like the graph's links.
    pub(super) edges: Vec<PlacedEdge>,
    pub(super) start: Option<Start>,
    /// How many edges are not shown, because there are too many.
    pub(super) left_out: usize,
}

/// A node and its top left corner.
#[derive(Debug)]
pub(super) struct PlacedNode {
    pub(super) card: Card,
    pub(super) corner: Point,
}

/// The way of an edge; the line ends shortly before the tip, inside the arrow head.
#[derive(Debug)]
pub(super) struct PlacedEdge {
    pub(super) path: Path,
    pub(super) tail: End,
    pub(super) tip: End,
    pub(super) label: Label,
    pub(super) label_at: Point,
}

/// An end of an edge at the border of a node, and the way the edge goes there.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) at: Point,
    pub(super) heading: Heading,
}

/// A direction along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heading {
    Down,
    Left,
    Right,
}

/// An edge label, measured.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) lines: Vec<String>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The dot a run starts from, and the arrow into the entry node.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) centre: Point,
    pub(super) path: Path,
    pub(super) tip: End,
}

impl Label {
    fn of(text: &str) -> Label {
        let text = clean(text);
        if text.is_empty() {
            return Label { lines: Vec::new(), width: 0.0, height: 0.0 };
        }
        let lines = wrap(&text, SMALL, MAX_LABEL, 2);
        let widest = lines.iter().map(|line| SMALL.width(line)).fold(0.0, f64::max);
        let height = LABEL_LEADING * lines.len() as f64 + 6.0;
        Label { lines, width: (widest + 16.0).ceil(), height }
    }
}

impl Label {
    /// The height a loop with this label takes at the side of its node.
    pub(super) fn loop_height(&self) -> f64 {
        self.height.max(20.0) + 6.0
    }
}

/// The measured parts of a picture.
pub(super) struct Parts<'g, 'a> {
    pub(super) graph: &'g Graph<'a>,
    pub(super) cards: Vec<Card>,
    pub(super) labels: Vec<Label>,
    /// The width the loops of a node to itself take at its right side.
    pub(super) own: Vec<f64>,
}

impl<'g, 'a> Parts<'g, 'a> {
    fn of(graph: &'g Graph<'a>) -> Parts<'g, 'a> {
        let labels: Vec<Label> =
            graph.links.iter().map(|link| Label::of(&link.edge.label)).collect();
        let mut traffic = vec![Traffic::default(); graph.nodes.len()];
        let mut own = vec![0.0f64; graph.nodes.len()];
        for (link, label) in graph.links.iter().zip(&labels) {
            match link.flow {
                Flow::Own => {
                    traffic[link.from].loops += label.loop_height();
                    own[link.from] = own[link.from].max(OWN_LOOP + 8.0 + label.width);
                }
                Flow::Forward => {
                    traffic[link.from].leaving += 1;
                    traffic[link.to].entering += 1;
                }
                // Most turn at the side.
                Flow::Back => {}
            }
        }
        let nodes = graph.nodes.iter().zip(traffic);
        let cards = nodes.map(|(node, traffic)| Card::of(node, traffic)).collect();
        Parts { graph, cards, labels, own }
    }
}

impl<'a> Layout<'a> {
    /// Lays a diagram out.
    pub(super) fn of(diagram: &'a Diagram) -> Layout<'a> {
        let mut graph = Graph::of(diagram);
        let left_out = graph.links.len().saturating_sub(MOST_EDGES);
        graph.links.truncate(MOST_EDGES);
        let parts = Parts::of(&graph);
        let mut columns = Columns::of(&parts);
        let (left, right) = columns.rows.extent(..).unwrap_or((0.0, 0.0));
        columns.shift(MARGIN - left);
        let levels = Levels::of(&parts, &columns, MARGIN);
        let (edges, start) = route::all(&parts, &columns, &levels);
        let Parts { cards, .. } = parts;
        let nodes = cards.into_iter().enumerate().map(|(node, card)| {
            let centre = Point::new(columns.x[node], levels.middle(columns.band[node]));
            let (width, height) = (card.outline.width, card.outline.height);
            PlacedNode { card, corner: Point::new(centre.x - width / 2.0, centre.y - height / 2.0) }
        });
        let nodes = nodes.collect();
        let width = (right - left + 2.0 * MARGIN).ceil();
        let height = (levels.bottom + MARGIN).ceil();
        Layout { graph, width, height, nodes, edges, start, left_out }
    }
}
