//! Pictures of a workflow graph: Mermaid and DOT text, a finished SVG, and JSON with positions for the web app.
//!
//! A picture is made in steps: [`Diagram`] → `graph` (clean indices, loops found) → `card` (the size of every node) →
//! `place` (bands and columns; `stack` for large graphs) → `columns` (labels, and `lanes` for loops) → `levels`
//! (heights) → `route` (ports and paths) → `svg` or `json`. Mermaid and DOT lay out for themselves and need only the
//! `graph`. Everything is pure: the same diagram always gives the same bytes.

mod card;
mod columns;
mod dot;
mod graph;
mod json;
mod lanes;
mod layout;
mod levels;
mod mermaid;
mod net;
mod parts;
mod path;
mod place;
mod ports;
mod route;
mod rows;
mod shape;
mod spread;
mod stack;
mod style;
mod svg;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_geometry;
mod text;
mod uncross;
mod words;
mod workflow;

/// A workflow graph, reduced to what a picture shows.
///
/// Nothing here needs to be valid: edges to unknown nodes and repeated node ids are left out of the picture, any
/// text is escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagram {
    /// What the picture is called, for captions and screen readers.
    pub title: String,
    /// The id of the node a run starts at.
    pub entry: String,
    /// The nodes; the first of several with one id is drawn.
    pub nodes: Vec<DiagramNode>,
    /// The edges, in the order of the file: branches stand from left to right in this order where possible.
    pub edges: Vec<DiagramEdge>,
}

/// One node of a [`Diagram`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagramNode {
    /// The node's id, as edges name it.
    pub id: String,
    /// The text to show; the id stands in when there is none.
    pub title: Option<String>,
    /// What the node is, shown by its outline.
    pub kind: NodeShape,
    /// The agent that works on it.
    pub agent: Option<String>,
    /// The workflow a sub-workflow node calls.
    pub calls: Option<String>,
}

/// One edge of a [`Diagram`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagramEdge {
    /// The id of the node it leaves.
    pub from: String,
    /// The id of the node it enters.
    pub to: String,
    /// The name of the move.
    pub label: String,
    /// Whether this is the move taken when no other applies.
    pub is_default: bool,
    /// When the move applies, in words or as an expression.
    pub condition: Option<String>,
}

/// The five kinds of node, each with an outline of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeShape {
    /// Work to do: a rounded box.
    Step,
    /// A choice between moves: a hexagon (a rhombus in text formats).
    Decision,
    /// Branches come together: a pill.
    Merge,
    /// The run is over: a stadium with a double border.
    End,
    /// Another workflow runs here: a box with double side bars.
    Subworkflow,
}

impl NodeShape {
    /// The word the package format uses for this kind.
    pub(crate) fn word(self) -> &'static str {
        match self {
            NodeShape::Step => "step",
            NodeShape::Decision => "decision",
            NodeShape::Merge => "merge",
            NodeShape::End => "end",
            NodeShape::Subworkflow => "subworkflow",
        }
    }
}

/// The colours of an SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Follows the reader's system setting.
    #[default]
    Auto,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

/// The diagram as Mermaid `flowchart TD` text.
pub fn mermaid(diagram: &Diagram) -> String {
    mermaid::write(&graph::Graph::of(diagram))
}

/// The diagram as Graphviz DOT text.
pub fn dot(diagram: &Diagram) -> String {
    dot::write(&graph::Graph::of(diagram))
}

/// The diagram as a self-contained SVG: no scripts, no fonts or images from elsewhere.
pub fn svg(diagram: &Diagram, theme: Theme) -> String {
    svg::write(&layout::Layout::of(diagram), theme)
}

/// The diagram as pretty-printed JSON with the positions the SVG uses; the web app draws from it.
///
/// Node `x`, `y` are the top left corner, label `x`, `y` the centre; `path` is SVG path data, `points` the same way
/// as a polyline. `leftOut` says how many edges are not shown, if there are too many for a picture.
pub fn json(diagram: &Diagram) -> String {
    json::write(&layout::Layout::of(diagram))
}
