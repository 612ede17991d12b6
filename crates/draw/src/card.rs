//! Content and size of a node: title, id, agent chip, called workflow.

use super::node_text::NodeText;
use super::shape::Outline;
use super::text::{CODE, SMALL, TITLE, cut, wrap};
use super::{DiagramNode, NodeShape};

const TITLE_LEADING: f64 = 17.0;
const ROW: f64 = 16.0;
const ROW_GAP: f64 = 5.0;
const PIECE_GAP: f64 = 8.0;
/// Maximum width of the content; longer titles wrap, longer ids are cut.
const MAX_CONTENT: f64 = 208.0;
const MAX_AGENT: f64 = 120.0;
const CHIP_PAD: f64 = 6.0;
/// Sizes of the keys of a gate.
const MAX_KEY: f64 = 60.0;
const LEAST_KEY: f64 = 16.0;
const KEY_PAD: f64 = 4.0;
const KEY_GAP: f64 = 4.0;

/// Width of a node with a short title. A run shows its state in a node, so there is room for the longest one.
const LEAST_WIDTH: f64 = 200.0;

/// Width that one edge needs at the top or bottom border, for up to [`MOST_PORTS`] edges.
const PORT: f64 = 17.0;
const MOST_PORTS: usize = 24;

/// Space that the edges of a node need.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Traffic {
    pub(super) entering: usize,
    pub(super) leaving: usize,
    /// Height of the node's own loops at its side.
    pub(super) loops: f64,
    /// Number of edges that the card counts instead.
    pub(super) folded: usize,
}

/// Measured node: its outline and the text inside, relative to the top left corner.
#[derive(Debug, Clone)]
pub(super) struct Card {
    pub(super) outline: Outline,
    pub(super) spans: Vec<CardSpan>,
}

/// Text inside a card.
#[derive(Debug, Clone)]
pub(super) struct CardSpan {
    pub(super) role: SpanRole,
    /// Left end, or the middle of a centred title.
    pub(super) x: f64,
    /// Middle of the line.
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) text: String,
}

/// Role of a [`CardSpan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanRole {
    Title,
    Id,
    Agent,
    Calls,
    /// Key of an option of its gate.
    Key,
    /// Number of nodes that it resumes at.
    Folded,
}

/// Spans that share a line.
type SpanRow = Vec<(SpanRole, String, f64)>;

impl Card {
    /// Measures a node.
    pub(super) fn of(node: &DiagramNode, traffic: Traffic) -> Card {
        let words = NodeText::of(node);
        let title_lines = wrap(&words.title, TITLE, MAX_CONTENT, 3);
        let rows = meta_rows(&words, traffic.folded);

        let title_width = title_lines.iter().map(|line| TITLE.width(line)).fold(0.0, f64::max);
        let content_width = rows.iter().map(row_width).fold(title_width, f64::max);
        let content_height =
            TITLE_LEADING * title_lines.len() as f64 + (ROW_GAP + ROW) * rows.len() as f64;

        let outline = outline(node, content_width, content_height, traffic);
        let mut card = Card { outline, spans: Vec::new() };
        card.set(&title_lines, rows, content_height);
        card
    }

    fn set(&mut self, title: &[String], rows: Vec<SpanRow>, content_height: f64) {
        let Outline { kind, width, height } = self.outline;
        let left = side_padding(kind);
        let centred = is_centred(kind);
        let mut y = (height - content_height) / 2.0;
        for line in title {
            let x = if centred { width / 2.0 } else { left };
            let (role, text) = (SpanRole::Title, line.clone());
            self.spans.push(CardSpan {
                role,
                x,
                y: y + TITLE_LEADING / 2.0,
                width: TITLE.width(line),
                text,
            });
            y += TITLE_LEADING;
        }
        for row in rows {
            y += ROW_GAP;
            let mut x = if centred { (width - row_width(&row)) / 2.0 } else { left };
            // Keys stand in a column of their own, at the end of the line.
            let keys: f64 =
                row.iter().filter(|one| one.0 == SpanRole::Key).map(|one| one.2 + KEY_GAP).sum();
            let mut last = None;
            for (role, text, piece) in row {
                x += last.map_or(0.0, |last| gap(last, role));
                if role == SpanRole::Key && !centred && last.is_some_and(|last| last != role) {
                    x = x.max(width - left - keys + KEY_GAP);
                }
                self.spans.push(CardSpan { role, x, y: y + ROW / 2.0, width: piece, text });
                x += piece;
                last = Some(role);
            }
            y += ROW;
        }
    }
}

/// Returns true if text in this shape is centred; boxes read better from the left.
pub(super) fn is_centred(kind: NodeShape) -> bool {
    match kind {
        NodeShape::Step | NodeShape::Subworkflow => false,
        NodeShape::Decision | NodeShape::Merge | NodeShape::End => true,
    }
}

fn side_padding(kind: NodeShape) -> f64 {
    match kind {
        NodeShape::Subworkflow => 20.0,
        NodeShape::Step | NodeShape::Decision | NodeShape::Merge | NodeShape::End => 14.0,
    }
}

fn outline(
    node: &DiagramNode,
    content_width: f64,
    content_height: f64,
    traffic: Traffic,
) -> Outline {
    let kind = node.kind;
    let (least_width, least_height, padding) = match kind {
        // The run is over there without any work.
        NodeShape::End if node.auto => (72.0, 32.0, 8.0),
        NodeShape::Step | NodeShape::Subworkflow => (LEAST_WIDTH, 44.0, 10.0),
        NodeShape::Decision => (LEAST_WIDTH, 48.0, 11.0),
        NodeShape::Merge => (72.0, 32.0, 8.0),
        NodeShape::End => (144.0, 44.0, 11.0),
    };
    let height: f64 = content_height + 2.0 * padding;
    let height = height.max(least_height).max(traffic.loops);
    let bare = Outline { kind, width: 0.0, height };
    let sides = match kind {
        NodeShape::Step | NodeShape::Subworkflow => side_padding(kind),
        NodeShape::Decision => bare.point() + 6.0,
        // The text may extend into the round ends, but not to where they narrow.
        NodeShape::Merge | NodeShape::End => (height * 0.3).max(12.0),
    };
    let ports = traffic.entering.max(traffic.leaving).clamp(1, MOST_PORTS) - 1;
    let for_ports = ports as f64 * PORT + 2.0 * bare.cap();
    Outline { width: (content_width + 2.0 * sides).max(least_width).max(for_ports).ceil(), ..bare }
}

/// Lays out id and agent, on one line if they fit, and the called workflow below.
fn meta_rows(words: &NodeText, folded: usize) -> Vec<SpanRow> {
    let mut rows: Vec<SpanRow> = Vec::new();
    let id = words.id.as_deref().map(|id| piece(SpanRole::Id, cut(id, CODE, MAX_CONTENT)));
    let agent =
        words.agent.as_deref().map(|agent| piece(SpanRole::Agent, cut(agent, SMALL, MAX_AGENT)));
    match (id, agent) {
        (Some(id), Some(agent)) if id.2 + PIECE_GAP + agent.2 <= MAX_CONTENT => {
            rows.push(vec![id, agent]);
        }
        (id, agent) => rows.extend(id.into_iter().chain(agent).map(|piece| vec![piece])),
    }
    if let Some(calls) = words.calls.as_deref() {
        rows.push(vec![piece(SpanRole::Calls, cut(calls, CODE, MAX_CONTENT - CALLS_MARK))]);
    }
    let keys = key_pieces(&words.keys);
    if !keys.is_empty() {
        match rows.last_mut() {
            Some(row) if row_width(row) + PIECE_GAP + row_width(&keys) <= MAX_CONTENT => {
                row.extend(keys);
            }
            _ => rows.push(keys),
        }
    }
    if folded > 0 {
        rows.push(vec![piece(SpanRole::Folded, format!("resumes at {folded} steps"))]);
    }
    rows
}

/// Returns the keys of a gate as far as they fit on one line.
fn key_pieces(keys: &[String]) -> SpanRow {
    let mut row = SpanRow::new();
    for key in keys {
        let key = piece(SpanRole::Key, cut(key, CODE, MAX_KEY));
        let more = piece(SpanRole::Key, "…".to_owned());
        if row_width(&row) + key.2 + more.2 + 2.0 * KEY_GAP > MAX_CONTENT {
            row.push(more);
            break;
        }
        row.push(key);
    }
    row
}

/// Width of the small arrow in front of a called workflow.
pub(super) const CALLS_MARK: f64 = 16.0;

fn piece(role: SpanRole, text: String) -> (SpanRole, String, f64) {
    let width = match role {
        SpanRole::Title => TITLE.width(&text),
        SpanRole::Id => CODE.width(&text),
        SpanRole::Agent => SMALL.width(&text) + 2.0 * CHIP_PAD,
        SpanRole::Calls => CODE.width(&text) + CALLS_MARK,
        SpanRole::Key => (CODE.width(&text) + 2.0 * KEY_PAD).max(LEAST_KEY),
        SpanRole::Folded => SMALL.width(&text),
    };
    (role, text, width)
}

fn row_width(row: &SpanRow) -> f64 {
    let gaps = row.windows(2).map(|pair| gap(pair[0].0, pair[1].0)).sum::<f64>();
    row.iter().map(|(_, _, width)| width).sum::<f64>() + gaps
}

/// Returns the space between two pieces.
fn gap(one: SpanRole, next: SpanRole) -> f64 {
    if (one, next) == (SpanRole::Key, SpanRole::Key) { KEY_GAP } else { PIECE_GAP }
}
