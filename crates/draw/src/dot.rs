//! DOT writer: Graphviz text with the same shapes and marks as the other pictures.

use std::fmt::Write;

use super::graph::{DrawableGraph, Link};
use super::node_text::NodeText;
use super::parts::{condition_lines, label_lines};
use super::text::{SMALL, TITLE, clean, cut, wrap};
use super::{DiagramNode, NodeShape};

/// Writes the graph. Nodes are named `n0`, `n1`, …; their ids are part of the labels.
pub(super) fn write(graph: &DrawableGraph) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = body(&mut out, graph);
    out
}

fn body(out: &mut String, graph: &DrawableGraph) -> std::fmt::Result {
    writeln!(out, "digraph workflow {{")?;
    writeln!(
        out,
        "  graph [label=\"{}\", labelloc=t, rankdir=TB, fontname=\"sans-serif\"];",
        escaped(&clean(graph.title))
    )?;
    writeln!(
        out,
        "  node [fontname=\"sans-serif\", fontsize=11, color=\"#8a94a3\", fillcolor=\"#ffffff\"];"
    )?;
    writeln!(
        out,
        "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#8a94a3\", fontcolor=\"#4a5361\"];"
    )?;
    for (index, node) in graph.nodes.iter().enumerate() {
        let tooltip = escaped(&NodeText::of(node).title);
        writeln!(
            out,
            "  n{index} [label=\"{}\", tooltip=\"{tooltip}\", {}];",
            node_label(node),
            shape(node.kind)
        )?;
    }
    if let Some(entry) = graph.entry {
        writeln!(
            out,
            "  start [shape=point, width=0.15, color=\"#3b4fd8\", fillcolor=\"#3b4fd8\"];"
        )?;
        writeln!(out, "  start -> n{entry} [color=\"#3b4fd8\"];")?;
    }
    for link in &graph.links {
        let text = clean(link.name());
        let label = edge_label(link, &text);
        let tooltip = link.condition().map_or(text.clone(), |when| format!("{text} if {when}"));
        let tooltip = escaped(tooltip.trim_start());
        writeln!(
            out,
            "  n{} -> n{} [label={label}, tooltip=\"{tooltip}\"{}];",
            link.from,
            link.to,
            line(link)
        )?;
    }
    writeln!(out, "}}")
}

fn shape(kind: NodeShape) -> &'static str {
    match kind {
        NodeShape::Step => "shape=box, style=\"rounded,filled\"",
        NodeShape::Decision => "shape=diamond, style=filled",
        NodeShape::Merge => "shape=ellipse, style=filled, fillcolor=\"#f0f2f5\"",
        NodeShape::End => "shape=box, style=\"rounded,filled\", peripheries=2",
        NodeShape::Subworkflow => "shape=box3d, style=filled",
    }
}

fn line(link: &Link) -> &'static str {
    match (link.is_default, &link.edge.condition) {
        (true, _) => ", style=bold, penwidth=2, color=\"#4a5361\"",
        (false, Some(_)) => ", style=dashed",
        (false, None) => "",
    }
}

fn node_label(node: &DiagramNode) -> String {
    let NodeText { title, id, agent, calls, keys } = NodeText::of(node);
    let calls = calls.map(|calls| format!("calls {calls}"));
    let mut lines = wrap(&title, TITLE, 208.0, 3);
    let keys = (!keys.is_empty()).then(|| keys.join(" · "));
    lines.extend(
        [id, agent, calls, keys].into_iter().flatten().map(|line| cut(&line, SMALL, 208.0)),
    );
    escaped_lines(&lines)
}

/// Returns the name of a move and below it the condition in italics, which only HTML-like labels can have.
fn edge_label(link: &Link, text: &str) -> String {
    let lines = label_lines(text);
    let condition = condition_lines(link);
    if condition.is_empty() {
        return format!("\"{}\"", escaped_lines(&lines));
    }
    let html = |lines: &[String]| {
        lines.iter().map(|line| escaped_html(line)).collect::<Vec<_>>().join("<BR/>")
    };
    let gap = if lines.is_empty() { "" } else { "<BR/>" };
    format!("<{}{gap}<I>{}</I>>", html(&lines), html(&condition))
}

/// Escapes text for an HTML-like label.
fn escaped_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Graphviz resolves the entity first, and then reads escapes such as `\G`.
            '\\' => out.push_str("&#92;&#92;"),
            _ => out.push(c),
        }
    }
    out
}

fn escaped_lines(lines: &[String]) -> String {
    lines.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("\\n")
}

/// Escapes text for a quoted DOT string, in which Graphviz also reads HTML entities.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            _ => out.push(c),
        }
    }
    out
}
