//! Mermaid writer: `flowchart TD` text that renders whatever the titles contain.

use std::fmt::Write;

use super::graph::{DrawableGraph, Link};
use super::node_text::NodeText;
use super::parts::{condition_lines, label_lines};
use super::text::{SMALL, TITLE, clean, cut, wrap};
use super::{DiagramNode, NodeShape};

/// Writes the graph. Nodes are named `n0`, `n1`, …: ids may contain anything, Mermaid names may not.
pub(super) fn write(graph: &DrawableGraph) -> String {
    let mut out = String::new();
    let title = clean(graph.title);
    if !title.is_empty() {
        // A JSON string is a YAML string.
        let quoted = serde_json::Value::String(title).to_string();
        out.push_str(&format!("---\ntitle: {quoted}\n---\n"));
    }
    out.push_str("flowchart TD\n");
    // Writing into a string cannot fail.
    let _ = body(&mut out, graph);
    out
}

fn body(out: &mut String, graph: &DrawableGraph) -> std::fmt::Result {
    for (index, node) in graph.nodes.iter().enumerate() {
        let (open, close) = brackets(node.kind);
        writeln!(out, "    n{index}{open}\"{}\"{close}", node_label(node))?;
    }
    if let Some(entry) = graph.entry {
        writeln!(out, "    start((\" \")) --> n{entry}")?;
    }
    for link in &graph.links {
        let label = edge_label(link);
        let arrow = arrow(link);
        match label.is_empty() {
            true => writeln!(out, "    n{} {arrow} n{}", link.from, link.to)?,
            false => writeln!(out, "    n{} {arrow}|\"{label}\"| n{}", link.from, link.to)?,
        }
    }
    if graph.entry.is_some() {
        writeln!(out, "    style start fill:#3b4fd8,stroke:#3b4fd8")?;
    }
    Ok(())
}

fn brackets(kind: NodeShape) -> (&'static str, &'static str) {
    match kind {
        NodeShape::Step => ("(", ")"),
        NodeShape::Decision => ("{", "}"),
        NodeShape::Merge => ("((", "))"),
        NodeShape::End => ("([", "])"),
        NodeShape::Subworkflow => ("[[", "]]"),
    }
}

/// Returns the arrow of a link: thick for the default, dotted for a condition.
fn arrow(link: &Link) -> &'static str {
    match (link.is_default, &link.edge.condition) {
        (true, _) => "==>",
        (false, Some(_)) => "-.->",
        (false, None) => "-->",
    }
}

/// Wraps the label of a node: Mermaid does not break long words.
fn node_label(node: &DiagramNode) -> String {
    let NodeText { title, id, agent, calls, keys } = NodeText::of(node);
    let calls = calls.map(|calls| format!("↳ {calls}"));
    let mut lines = wrap(&title, TITLE, 208.0, 3);
    let keys = (!keys.is_empty()).then(|| keys.join(" · "));
    lines.extend(
        [id, agent, calls, keys].into_iter().flatten().map(|line| cut(&line, SMALL, 208.0)),
    );
    escaped_lines(&lines)
}

/// Returns the name of a move, and below it the condition in italics.
fn edge_label(link: &Link) -> String {
    let name = escaped_lines(&label_lines(&clean(link.name())));
    let condition = escaped_lines(&condition_lines(link));
    match (name.is_empty(), condition.is_empty()) {
        (_, true) => name,
        (true, false) => format!("<i>{condition}</i>"),
        (false, false) => format!("{name}<br/><i>{condition}</i>"),
    }
}

fn escaped_lines(lines: &[String]) -> String {
    lines.iter().map(|line| escaped(line)).collect::<Vec<_>>().join("<br/>")
}

/// Escapes text for a quoted Mermaid label. Letters and digits stay; everything that could be a quote, HTML, Markdown
/// or one of Mermaid's own entities becomes an entity.
fn escaped(text: &str) -> String {
    // Mermaid resolves entities before it searches for line breaks, formulas and icons; an invisible joiner hides them.
    let text = text
        .replace("\\n", "\\\u{2060}n")
        .replace("$$", "$\u{2060}$")
        .replace(":fa-", ":\u{2060}fa-");
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if c.is_alphanumeric() || !c.is_ascii() || matches!(c, ' ' | ',' | '?' | '!') => {
                out.push(c)
            }
            '-' | '_' | '.' | ':' | '/' | '(' | ')' => out.push(c),
            _ => out.push_str(&format!("#{};", u32::from(c))),
        }
    }
    out
}
