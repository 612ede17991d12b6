//! SVG writer: one file that renders well on its own, in a page and in dark mode.

use std::fmt::Write;

use super::card::{CALLS_MARK, CardSpan, SpanRole, is_centred};
use super::graph::Link;
use super::layout::{Layout, MARGIN, PlacedNode};
use super::node_text::NodeText;
use super::parts::{EdgeEnd, Heading, LABEL_LEADING, PlacedEdge, START_DOT, StartDot};
use super::path::{Point, rounded};
use super::shape::CORNER;
use super::style;
use super::text::clean;
use super::{DiagramNode, NodeShape, Theme};

/// Writes the picture.
pub(super) fn write(layout: &Layout, theme: Theme) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = document(&mut out, layout, theme);
    out
}

fn document(out: &mut String, layout: &Layout, theme: Theme) -> std::fmt::Result {
    let (width, height) = (rounded(layout.width), rounded(layout.height));
    let title = Some(clean(layout.graph.title)).filter(|title| !title.is_empty());
    let title = escaped(title.as_deref().unwrap_or("Workflow graph"));
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="ca-graph" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">"#
    )?;
    writeln!(out, "<title>{title}</title>")?;
    writeln!(out, "<desc>{}</desc>", escaped(&summary(layout)))?;
    writeln!(out, "<style>{}</style>", style::sheet(theme))?;
    writeln!(out, r#"<rect class="ca-page" width="{width}" height="{height}" rx="12"/>"#)?;

    let edges: Vec<_> = layout.graph.links.iter().zip(&layout.edges).collect();
    if let Some(start) = &layout.start {
        write_start(out, start)?;
    }
    // Heavier lines lie above where routes cross, and labels above all lines.
    for is_default in [false, true] {
        for (link, edge) in edges.iter().filter(|(link, _)| link.is_default == is_default) {
            write_edge(out, link, edge)?;
        }
    }
    for (at, (node, placed)) in layout.graph.nodes.iter().zip(&layout.nodes).enumerate() {
        write_node(out, node, placed, &resumed(layout, at))?;
    }
    for (link, edge) in edges {
        write_label(out, link, edge)?;
    }
    if layout.left_out > 0 {
        let (x, y) = (MARGIN, layout.height - MARGIN / 3.0);
        writeln!(
            out,
            r#"<text class="ca-id" x="{x}" y="{}">{}</text>"#,
            rounded(y),
            left_out(layout)
        )?;
    }
    out.push_str("</svg>\n");
    Ok(())
}

/// Returns a note that edges are missing, if any are.
fn left_out(layout: &Layout) -> String {
    format!("Too many edges for a picture: {} more are not shown.", layout.left_out)
}

/// Describes the picture for screen readers.
fn summary(layout: &Layout) -> String {
    let graph = &layout.graph;
    let count = |number: usize, one: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    };
    let mut text =
        format!("{}, {}.", count(graph.nodes.len(), "node"), count(graph.links.len(), "edge"));
    if layout.left_out > 0 {
        let _ = write!(text, " {}", left_out(layout));
    }
    if let Some(entry) = graph.entry.and_then(|entry| graph.nodes.get(entry)) {
        let _ = write!(text, " Starts at {}.", NodeText::of(entry).title);
    }
    text
}

fn write_start(out: &mut String, start: &StartDot) -> std::fmt::Result {
    let (x, y) = (rounded(start.centre.x), rounded(start.centre.y));
    writeln!(out, r#"<g class="ca-start"><title>Start</title>"#)?;
    writeln!(out, r#"<path class="ca-line" d="{}"/>"#, start.path.data)?;
    writeln!(out, r#"<path class="ca-tip" d="{}"/>"#, arrow(start.tip))?;
    writeln!(out, r#"<circle class="ca-ring" cx="{x}" cy="{y}" r="{}"/>"#, START_DOT / 2.0)?;
    writeln!(out, r#"<circle class="ca-dot" cx="{x}" cy="{y}" r="4"/></g>"#)
}

fn write_edge(out: &mut String, link: &Link, edge: &PlacedEdge) -> std::fmt::Result {
    let class = if link.is_default { "ca-edge ca-default" } else { "ca-edge" };
    writeln!(out, r#"<g class="{class}"><title>{}</title>"#, escaped(&edge_text(link)))?;
    write!(out, r#"<path class="ca-line" d="{}"/>"#, edge.path.data)?;
    if link.is_default {
        write!(out, r#"<path class="ca-slash" d="{}"/>"#, slash(edge.tail))?;
    }
    writeln!(out, r#"<path class="ca-tip" d="{}"/></g>"#, arrow(edge.tip))
}

/// Describes an edge, for its tooltip.
fn edge_text(link: &Link) -> String {
    let edge = link.edge;
    let mut text = format!("{}: {} → {}", clean(link.name()), clean(&edge.from), clean(&edge.to));
    if link.is_default {
        text.push_str(" (default)");
    }
    if let Some(condition) = link.condition() {
        let _ = write!(text, " if {condition}");
    }
    text
}

fn unit(heading: Heading) -> (f64, f64) {
    match heading {
        Heading::Down => (0.0, 1.0),
        Heading::Left => (-1.0, 0.0),
        Heading::Right => (1.0, 0.0),
    }
}

fn pair(at: Point) -> String {
    format!("{} {}", rounded(at.x), rounded(at.y))
}

/// Returns a closed triangle whose point touches the border.
fn arrow(tip: EdgeEnd) -> String {
    let (ux, uy) = unit(tip.heading);
    let corner =
        |side: f64| Point::new(tip.at.x - 8.0 * ux - side * uy, tip.at.y - 8.0 * uy + side * ux);
    format!("M{}L{}L{}Z", pair(tip.at), pair(corner(3.8)), pair(corner(-3.8)))
}

/// Returns the BPMN mark of a default: a stroke across the start of the line.
fn slash(tail: EdgeEnd) -> String {
    let (ux, uy) = unit(tail.heading);
    let at = Point::new(tail.at.x + 7.0 * ux, tail.at.y + 7.0 * uy);
    let end = |way: f64| {
        Point::new(at.x + way * (3.0 * ux - 4.5 * uy), at.y + way * (3.0 * uy - 4.5 * ux))
    };
    format!("M{}L{}", pair(end(-1.0)), pair(end(1.0)))
}

fn write_label(out: &mut String, link: &Link, edge: &PlacedEdge) -> std::fmt::Result {
    let label = &edge.label;
    let count = label.lines.len() + label.condition.len();
    if count == 0 {
        return Ok(());
    }
    let class = match (&link.edge.option, link.is_default) {
        (Some(_), _) => "ca-label ca-option",
        (None, true) => "ca-label ca-default",
        (None, false) => "ca-label",
    };
    let (left, top) = (edge.label_at.x - label.width / 2.0, edge.label_at.y - label.height / 2.0);
    write!(out, r#"<g class="{class}"><title>{}</title>"#, escaped(&edge_text(link)))?;
    write!(
        out,
        r#"<rect x="{}" y="{}" width="{}" height="{}" rx="{}"/>"#,
        rounded(left),
        rounded(top),
        rounded(label.width),
        rounded(label.height),
        if count > 1 { 8.0 } else { label.height / 2.0 }
    )?;
    let lines = label.lines.iter().map(|line| ("", line));
    let lines = lines.chain(label.condition.iter().map(|line| (r#" class="ca-if""#, line)));
    for (at, (class, line)) in lines.enumerate() {
        let y = top + 3.0 + LABEL_LEADING * (at as f64 + 0.5) + 3.9;
        write!(
            out,
            r#"<text{class} x="{}" y="{}">{}</text>"#,
            rounded(edge.label_at.x),
            rounded(y),
            escaped(line)
        )?;
    }
    out.push_str("</g>\n");
    Ok(())
}

/// Names the nodes that a node resumes at, for its tooltip; empty if it has none.
fn resumed(layout: &Layout, at: usize) -> String {
    let targets = layout.graph.folded[at].iter();
    let titles: Vec<String> =
        targets.map(|&to| NodeText::of(layout.graph.nodes[to]).title).collect();
    if titles.is_empty() { String::new() } else { format!(" · resumes at {}", titles.join(", ")) }
}

fn write_node(
    out: &mut String,
    node: &DiagramNode,
    placed: &PlacedNode,
    resumed: &str,
) -> std::fmt::Result {
    let id = escaped(&clean(&node.id));
    writeln!(out, r#"<g class="ca-node ca-{}" data-node="{id}">"#, node.kind.word())?;
    writeln!(out, "<title>{}</title>", escaped(&(node_text(node) + resumed)))?;
    write_outline(out, placed)?;
    for span in &placed.card.spans {
        write_span(out, node.kind, placed.corner, span)?;
    }
    out.push_str("</g>\n");
    Ok(())
}

/// Describes a node, for its tooltip.
fn node_text(node: &DiagramNode) -> String {
    let NodeText { mut title, agent, calls, keys, .. } = NodeText::of(node);
    let keys = (!keys.is_empty()).then(|| keys.join(", "));
    let _ = write!(title, " · {} {}", node.kind.word(), clean(&node.id));
    for (word, value) in [("agent", agent), ("calls", calls), ("gate", keys)] {
        if let Some(value) = value {
            let _ = write!(title, " · {word} {value}");
        }
    }
    title
}

fn write_outline(out: &mut String, placed: &PlacedNode) -> std::fmt::Result {
    let outline = placed.card.outline;
    let Point { x, y } = placed.corner;
    let (width, height) = (outline.width, outline.height);
    match outline.kind {
        NodeShape::Step => write_box(out, "ca-shape", [x, y, width, height], CORNER),
        NodeShape::Subworkflow => {
            write_box(out, "ca-shape", [x, y, width, height], CORNER)?;
            for bar in [x + 7.0, x + width - 7.0] {
                let (bar, top, end) = (rounded(bar), rounded(y), rounded(y + height));
                writeln!(out, r#"<path class="ca-inner" d="M{bar} {top}V{end}"/>"#)?;
            }
            Ok(())
        }
        NodeShape::Decision => {
            let (point, middle) = (outline.point(), y + height / 2.0);
            let (left, right) = (x + point, x + width - point);
            let corners = [(x, middle), (left, y), (right, y), (x + width, middle)];
            let rest = [(right, y + height), (left, y + height)];
            let corners = corners.iter().chain(&rest).map(|&(x, y)| pair(Point::new(x, y)));
            writeln!(
                out,
                r#"<path class="ca-shape" d="M{}Z"/>"#,
                corners.collect::<Vec<_>>().join("L")
            )
        }
        NodeShape::Merge => write_box(out, "ca-shape", [x, y, width, height], height / 2.0),
        NodeShape::End => {
            write_box(out, "ca-shape", [x, y, width, height], height / 2.0)?;
            let inner = [x + 4.0, y + 4.0, width - 8.0, height - 8.0];
            write_box(out, "ca-inner", inner, height / 2.0 - 4.0)
        }
    }
}

fn write_box(out: &mut String, class: &str, rect: [f64; 4], radius: f64) -> std::fmt::Result {
    let [x, y, width, height] = rect.map(rounded);
    let radius = rounded(radius);
    writeln!(
        out,
        r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}"/>"#
    )
}

fn write_span(
    out: &mut String,
    kind: NodeShape,
    corner: Point,
    span: &CardSpan,
) -> std::fmt::Result {
    let (x, middle) = (corner.x + span.x, corner.y + span.y);
    let text = escaped(&span.text);
    let line = |class: &str, x: f64, drop: f64| {
        let (x, y) = (rounded(x), rounded(middle + drop));
        format!(r#"<text class="{class}" x="{x}" y="{y}">{text}</text>"#)
    };
    match span.role {
        SpanRole::Title if is_centred(kind) => writeln!(out, "{}", line("ca-title ca-mid", x, 4.6)),
        SpanRole::Title => writeln!(out, "{}", line("ca-title", x, 4.6)),
        SpanRole::Id => writeln!(out, "{}", line("ca-id", x, 3.9)),
        SpanRole::Agent => {
            write_box(out, "ca-chip", [x, middle - 8.0, span.width, 16.0], 8.0)?;
            writeln!(out, "{}", line("ca-agent", x + span.width / 2.0, 3.9))
        }
        SpanRole::Key => {
            write_box(out, "ca-key", [x, middle - 8.0, span.width, 16.0], 4.0)?;
            writeln!(out, "{}", line("ca-keytext", x + span.width / 2.0, 3.9))
        }
        SpanRole::Folded => writeln!(out, "{}", line("ca-folded", x, 3.9)),
        SpanRole::Calls => {
            // A small arrow that turns into the other workflow.
            let start = pair(Point::new(x + 1.5, middle - 5.0));
            writeln!(
                out,
                r#"<path class="ca-into" d="M{start}v3.5q0 3 3 3h5m-2.8-2.8l2.8 2.8l-2.8 2.8"/>"#
            )?;
            writeln!(out, "{}", line("ca-calls", x + CALLS_MARK, 3.9))
        }
    }
}

/// Escapes XML text or an attribute value; [`clean`] has removed the characters that XML forbids.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}
