//! Layout of a diagram: measures the parts, places them, and collects the finished picture.

use super::Diagram;
use super::card::Card;
use super::columns::Columns;
use super::graph::DrawableGraph;
use super::levels::Levels;
use super::parts::{LabelContent, Parts, PlacedEdge, StartDot};
use super::path::Point;
use super::route;

/// Width of the empty border around the picture.
pub(super) const MARGIN: f64 = 28.0;

/// Maximum number of drawn edges, the first of the file. A picture with more is unreadable, and routing takes time that
/// grows with the square of their number.
pub(super) const MOST_EDGES: usize = 5_000;

/// Finished picture, from the top left corner (0, 0).
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub(super) graph: DrawableGraph<'a>,
    pub(super) width: f64,
    pub(super) height: f64,
    /// In the order of the graph's nodes.
    pub(super) nodes: Vec<PlacedNode>,
    /// In the order of the graph's links.
    pub(super) edges: Vec<PlacedEdge>,
    pub(super) start: Option<StartDot>,
    /// Number of edges beyond the maximum, which are not drawn.
    pub(super) left_out: usize,
}

/// Node and its top left corner.
#[derive(Debug)]
pub(super) struct PlacedNode {
    pub(super) card: Card,
    pub(super) corner: Point,
}

impl<'a> Layout<'a> {
    /// Lays a diagram out.
    pub(super) fn of(diagram: &'a Diagram, content: LabelContent) -> Layout<'a> {
        let mut graph = DrawableGraph::folded(diagram);
        let left_out = graph.links.len().saturating_sub(MOST_EDGES);
        graph.links.truncate(MOST_EDGES);
        let parts = Parts::of(&graph, content);
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
