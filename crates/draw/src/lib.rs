//! Pictures of a workflow graph: Mermaid and DOT text, SVG, and JSON with positions for the web app.
//!
//! A picture is made in steps: [`Diagram`] → `graph` (clean indices, loops found) → `card` (the size of every node) →
//! `place` (bands and columns; `stack` for large graphs) → `columns` (labels, and `lanes` for loops) → `levels`
//! (heights) → `route` (ports and paths) → `svg` or `json`. Mermaid and DOT have their own layout and need only the
//! `graph`. Everything is pure: the same diagram always gives the same bytes.

mod card;
mod columns;
mod condition;
mod dot;
mod graph;
mod json;
mod lanes;
mod layout;
mod levels;
mod mermaid;
mod net;
mod node_text;
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
mod workflow;

pub use condition::DiagramCondition;

/// Workflow graph, reduced to what a picture shows.
///
/// It need not be valid: edges to unknown nodes and repeated node ids are left out of the picture, any text is escaped.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Diagram {
    /// Title for captions and screen readers.
    pub title: String,
    /// Id of the node that a run starts at.
    pub entry: String,
    /// Nodes; of several with one id, the first is drawn.
    pub nodes: Vec<DiagramNode>,
    /// Edges in the order of the file: branches go from left to right in this order where possible.
    pub edges: Vec<DiagramEdge>,
}

/// Node of a [`Diagram`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagramNode {
    /// Id that edges refer to.
    pub id: String,
    /// Text to show; the id if there is none.
    pub title: Option<String>,
    /// Kind, shown by the outline.
    pub kind: NodeShape,
    /// Agent that works on the node.
    pub agent: Option<String>,
    /// Workflow that a sub-workflow node calls.
    pub calls: Option<String>,
    /// Keys of the options of its gate.
    pub keys: Vec<String>,
    /// True if the node serves only to take up work again. Its many ways are listed in it instead of drawn.
    pub resumes: bool,
    /// True if the node completes itself.
    pub auto: bool,
}

/// Edge of a [`Diagram`].
#[derive(Debug, Clone, PartialEq)]
pub struct DiagramEdge {
    /// Id of the node it leaves.
    pub from: String,
    /// Id of the node it enters.
    pub to: String,
    /// Name of the move.
    pub label: String,
    /// True if this move is taken when no other applies.
    pub is_default: bool,
    /// Condition of the move, shown below its name.
    pub condition: Option<DiagramCondition>,
    /// Option of the node's gate that takes this move.
    pub option: Option<DiagramOption>,
}

/// Option of a gate on the [`DiagramEdge`] that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagramOption {
    /// Key that chooses it.
    pub key: String,
    /// Text that is shown instead of the name of the move.
    pub text: String,
}

/// Kinds of nodes, each with its own outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeShape {
    /// Work: a rounded box.
    Step,
    /// A choice between moves: a hexagon (a rhombus in text formats).
    Decision,
    /// Join of branches: a pill.
    Merge,
    /// End of the run: a stadium with a double border.
    End,
    /// Call of another workflow: a box with double side bars.
    Subworkflow,
}

impl NodeShape {
    /// Returns the name of this kind in the package format.
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

/// Colours of an SVG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Follows the reader's system setting.
    #[default]
    Auto,
    Light,
    Dark,
}

/// Returns the diagram as Mermaid `flowchart TD` text.
pub fn mermaid(diagram: &Diagram) -> String {
    mermaid::write(&graph::DrawableGraph::of(diagram))
}

/// Returns the diagram as Graphviz DOT text.
pub fn dot(diagram: &Diagram) -> String {
    dot::write(&graph::DrawableGraph::of(diagram))
}

/// Returns the diagram as a self-contained SVG: no scripts, no external fonts or images.
pub fn svg(diagram: &Diagram, theme: Theme) -> String {
    svg::write(&layout::Layout::of(diagram, parts::LabelContent::NameAndCondition), theme)
}

/// Returns the diagram as pretty-printed JSON with positions; the web app draws from it.
///
/// Labels have space for the names of moves alone, so that a screen shows more of the workflow than the SVG.
/// Node `x`, `y` are the top left corner, label `x`, `y` the centre; `path` is SVG path data, `points` the same path as
/// a polyline. `leftOut` is the number of edges that are not shown, if there are too many for a picture.
pub fn json(diagram: &Diagram) -> String {
    json::write(&layout::Layout::of(diagram, parts::LabelContent::Name))
}
