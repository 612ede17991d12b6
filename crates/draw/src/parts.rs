//! Measured parts of a picture: labels and cards before the placement, edges and the start dot after it.

use super::card::{Card, Traffic};
use super::graph::{DrawableGraph, Link, LinkDirection};
use super::path::{Point, SvgPath};
use super::text::{SMALL, clean, wrap};

pub(super) const LABEL_LEADING: f64 = 14.0;
/// Maximum width of a line of a label; longer names and conditions wrap, then end in `…`.
const MAX_LABEL: f64 = 168.0;
/// Maximum number of lines of a name, and of a condition.
const LABEL_LINES: usize = 2;
/// Distance that a node's own loop extends from its side.
pub(super) const OWN_LOOP: f64 = 22.0;
/// Diameter of the start dot.
pub(super) const START_DOT: f64 = 14.0;

/// Route of an edge; the line ends shortly before the tip, inside the arrow head.
#[derive(Debug)]
pub(super) struct PlacedEdge {
    pub(super) path: SvgPath,
    pub(super) tail: EdgeEnd,
    pub(super) tip: EdgeEnd,
    pub(super) label: EdgeLabel,
    pub(super) label_at: Point,
}

/// End of an edge at the border of a node, and its direction there.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeEnd {
    pub(super) at: Point,
    pub(super) heading: Heading,
}

/// Direction along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heading {
    Down,
    Left,
    Right,
}

/// Measured edge label.
#[derive(Debug, Clone)]
pub(super) struct EdgeLabel {
    pub(super) lines: Vec<String>,
    /// Lines of the condition, below the others.
    pub(super) condition: Vec<String>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Dot that a run starts from, and the arrow into the entry node.
#[derive(Debug)]
pub(super) struct StartDot {
    pub(super) centre: Point,
    pub(super) path: SvgPath,
    pub(super) tip: EdgeEnd,
}

/// Content of the labels of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelContent {
    Name,
    NameAndCondition,
}

impl EdgeLabel {
    fn of(link: &Link, content: LabelContent) -> EdgeLabel {
        let lines = label_lines(&clean(link.name()));
        let condition = match content {
            LabelContent::Name => Vec::new(),
            LabelContent::NameAndCondition => condition_lines(link),
        };
        let count = lines.len() + condition.len();
        if count == 0 {
            return EdgeLabel { lines, condition, width: 0.0, height: 0.0 };
        }
        let all = lines.iter().chain(&condition);
        let widest = all.map(|line| SMALL.width(line)).fold(0.0, f64::max);
        let height = LABEL_LEADING * count as f64 + 6.0;
        EdgeLabel { lines, condition, width: (widest + 16.0).ceil(), height }
    }
}

/// Returns the lines of a clean text in a label; none if it is empty.
pub(super) fn label_lines(text: &str) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { wrap(text, SMALL, MAX_LABEL, LABEL_LINES) }
}

/// Returns the lines of a link's condition.
pub(super) fn condition_lines(link: &Link) -> Vec<String> {
    // The user decides at a gate: the key and the name of the option say enough.
    if link.edge.option.is_some() {
        return Vec::new();
    }
    link.condition().map(|text| label_lines(&text)).unwrap_or_default()
}

impl EdgeLabel {
    /// Returns the height of a loop with this label at the side of its node.
    pub(super) fn loop_height(&self) -> f64 {
        self.height.max(20.0) + 6.0
    }
}

/// Measured parts of a picture.
pub(super) struct Parts<'g, 'a> {
    pub(super) graph: &'g DrawableGraph<'a>,
    pub(super) cards: Vec<Card>,
    pub(super) labels: Vec<EdgeLabel>,
    /// Width of each node's own loops at its right side.
    pub(super) own: Vec<f64>,
}

impl<'g, 'a> Parts<'g, 'a> {
    pub(super) fn of(graph: &'g DrawableGraph<'a>, content: LabelContent) -> Parts<'g, 'a> {
        let labels: Vec<EdgeLabel> =
            graph.links.iter().map(|link| EdgeLabel::of(link, content)).collect();
        let mut traffic = vec![Traffic::default(); graph.nodes.len()];
        let mut own = vec![0.0f64; graph.nodes.len()];
        for (link, label) in graph.links.iter().zip(&labels) {
            match link.flow {
                LinkDirection::Own => {
                    traffic[link.from].loops += label.loop_height();
                    own[link.from] = own[link.from].max(OWN_LOOP + 8.0 + label.width);
                }
                LinkDirection::Forward => {
                    traffic[link.from].leaving += 1;
                    traffic[link.to].entering += 1;
                }
                // Most of them turn at the side.
                LinkDirection::Back => {}
            }
        }
        for (traffic, folded) in traffic.iter_mut().zip(&graph.folded) {
            traffic.folded = folded.len();
        }
        let nodes = graph.nodes.iter().zip(traffic);
        let cards = nodes.map(|(node, traffic)| Card::of(node, traffic)).collect();
        Parts { graph, cards, labels, own }
    }
}
