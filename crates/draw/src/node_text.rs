//! Texts of a node, cleaned: every picture shows the same ones.

use super::DiagramNode;
use super::text::clean;

/// Texts of a node. Absent and blank are the same.
#[derive(Debug)]
pub(super) struct NodeText {
    /// Title, or the id if there is none.
    pub(super) title: String,
    /// Id, if the title differs from it.
    pub(super) id: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) calls: Option<String>,
    /// Keys of its gate.
    pub(super) keys: Vec<String>,
}

impl NodeText {
    pub(super) fn of(node: &DiagramNode) -> NodeText {
        let said =
            |text: &Option<String>| text.as_deref().map(clean).filter(|text| !text.is_empty());
        let id = clean(&node.id);
        let title = said(&node.title).unwrap_or_else(|| id.clone());
        let id = Some(id).filter(|id| *id != title && !id.is_empty() && !node.auto);
        let keys = node.keys.iter().map(|key| clean(key)).filter(|key| !key.is_empty()).collect();
        NodeText { title, id, agent: said(&node.agent), calls: said(&node.calls), keys }
    }
}
