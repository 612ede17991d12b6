//! JSON writer: the diagram with the positions of its layout, for clients that draw it themselves.

use serde::Serialize;

use super::graph::{Link, LinkDirection};
use super::layout::{Layout, PlacedNode};
use super::parts::{EdgeLabel, PlacedEdge, StartDot};
use super::path::{Point, short};
use super::{DiagramCondition, DiagramNode, card::SpanRole};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PictureJson<'a> {
    title: &'a str,
    entry: Option<&'a str>,
    #[serde(serialize_with = "short")]
    width: f64,
    #[serde(serialize_with = "short")]
    height: f64,
    start: Option<StartMark<'a>>,
    nodes: Vec<NodeJson<'a>>,
    edges: Vec<EdgeJson<'a>>,
    #[serde(skip_serializing_if = "is_none")]
    left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_none(left_out: &usize) -> bool {
    *left_out == 0
}

#[derive(Serialize)]
struct StartMark<'a> {
    #[serde(flatten)]
    centre: Point,
    path: &'a str,
    tip: Point,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeJson<'a> {
    id: &'a str,
    kind: &'static str,
    title: Option<&'a str>,
    agent: Option<&'a str>,
    calls: Option<&'a str>,
    /// Keys of the options of its gate.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    keys: &'a [String],
    /// Nodes that it resumes at; no edges are drawn to them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resumes_at: Vec<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    auto: bool,
    /// Title as the layout wrapped it.
    lines: Vec<&'a str>,
    #[serde(serialize_with = "short")]
    x: f64,
    #[serde(serialize_with = "short")]
    y: f64,
    #[serde(serialize_with = "short")]
    width: f64,
    #[serde(serialize_with = "short")]
    height: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EdgeJson<'a> {
    from: &'a str,
    to: &'a str,
    label: &'a str,
    is_default: bool,
    condition: Option<String>,
    /// Key of the option of the gate that takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<&'a str>,
    /// `forward`, `back` (a loop) or `own` (from a node to itself).
    flow: &'static str,
    path: &'a str,
    points: &'a [Point],
    tip: Point,
    label_box: LabelJson<'a>,
}

#[derive(Serialize)]
struct LabelJson<'a> {
    #[serde(flatten)]
    centre: Point,
    #[serde(serialize_with = "short")]
    width: f64,
    #[serde(serialize_with = "short")]
    height: f64,
    lines: &'a [String],
}

/// Writes the picture.
pub(super) fn write(layout: &Layout) -> String {
    let graph = &layout.graph;
    let picture = PictureJson {
        title: graph.title,
        entry: graph.entry.and_then(|entry| graph.nodes.get(entry)).map(|node| node.id.as_str()),
        width: layout.width,
        height: layout.height,
        start: layout.start.as_ref().map(start),
        nodes: graph
            .nodes
            .iter()
            .zip(&layout.nodes)
            .zip(&graph.folded)
            .map(|((node, placed), folded)| {
                let resumes_at = folded.iter().map(|&to| graph.nodes[to].id.as_str()).collect();
                self::node(node, placed, resumes_at)
            })
            .collect(),
        edges: graph
            .links
            .iter()
            .zip(&layout.edges)
            .map(|(link, placed)| edge(link, placed))
            .collect(),
        left_out: layout.left_out,
    };
    // Strings and finite numbers always serialize.
    serde_json::to_string_pretty(&picture).unwrap_or_default()
}

fn start(start: &StartDot) -> StartMark<'_> {
    StartMark { centre: start.centre, path: &start.path.data, tip: start.tip.at }
}

fn node<'a>(
    node: &'a DiagramNode,
    placed: &'a PlacedNode,
    resumes_at: Vec<&'a str>,
) -> NodeJson<'a> {
    let spans = placed.card.spans.iter();
    NodeJson {
        id: &node.id,
        kind: node.kind.word(),
        title: node.title.as_deref(),
        agent: node.agent.as_deref(),
        calls: node.calls.as_deref(),
        keys: &node.keys,
        resumes_at,
        auto: node.auto,
        lines: spans
            .filter(|span| span.role == SpanRole::Title)
            .map(|span| span.text.as_str())
            .collect(),
        x: placed.corner.x,
        y: placed.corner.y,
        width: placed.card.outline.width,
        height: placed.card.outline.height,
    }
}

fn edge<'a>(link: &Link<'a>, placed: &'a PlacedEdge) -> EdgeJson<'a> {
    let EdgeLabel { lines, width, height, .. } = &placed.label;
    EdgeJson {
        from: &link.edge.from,
        to: &link.edge.to,
        label: &link.edge.label,
        is_default: link.edge.is_default,
        condition: link.edge.condition.as_ref().map(DiagramCondition::as_written),
        gate: link.edge.option.as_ref().map(|option| option.key.as_str()),
        flow: match link.flow {
            LinkDirection::Forward => "forward",
            LinkDirection::Back => "back",
            LinkDirection::Own => "own",
        },
        path: &placed.path.data,
        points: &placed.path.points,
        tip: placed.tip.at,
        label_box: LabelJson { centre: placed.label_at, width: *width, height: *height, lines },
    }
}
