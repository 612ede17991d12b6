//! The mirror: a document of the user in whose frontmatter other tools read which steps are done.

use crewagent_format::frontmatter::{Edit, Frontmatter};
use crewagent_format::package::Workflow;
use crewagent_format::package::workflow::Mirror;
use serde_json::{Map, Value as Json};

use super::guard::{Completion, StateTransition};
use super::output::Output;
use super::project_path::ProjectPath;

/// Entry that a mirror's document gets when nodes are left.
#[derive(Clone, Debug, PartialEq)]
pub struct MirrorEntry {
    /// Document that gets it.
    pub file: ProjectPath,
    /// Key of the list in its frontmatter.
    pub key: String,
    /// Values of the nodes that were left, in order.
    pub values: Vec<Json>,
}

impl MirrorEntry {
    /// Returns the entry of a transition; none if no node with a value is left, or the name of the document is not known
    /// yet.
    pub fn of(workflow: &Workflow, transition: &StateTransition) -> Option<Self> {
        let left = transition.moved().map(|moved| moved.from.as_str());
        let is_end = transition.completion() == Completion::Reached;
        let ended = is_end.then(|| transition.document().current_node_id(&workflow.graph));
        Self::of_nodes(workflow, &[left, ended], transition.document().variables())
    }

    /// Returns the entry for nodes that are left.
    pub fn of_nodes(
        workflow: &Workflow,
        nodes: &[Option<&str>],
        variables: &Map<String, Json>,
    ) -> Option<Self> {
        let mirror = workflow.front.mirror.as_ref()?;
        let values = nodes.iter().flatten().filter_map(|node| mirror.values.get(*node));
        let mut entry =
            Self { file: file(mirror, variables)?, key: mirror.key.clone(), values: Vec::new() };
        for value in values {
            if !entry.values.contains(value) {
                entry.values.push(value.clone());
            }
        }
        (!entry.values.is_empty()).then_some(entry)
    }

    /// Returns the text of the document with the values that its list lacks, and every other byte as it is. None if
    /// nothing is missing, or the document has no frontmatter with such a list.
    pub fn added_to(&self, text: &str) -> Option<String> {
        let front = Frontmatter::parse(text).ok()?;
        let recorded = recorded(&front, &self.key)?;
        let missing = self.values.iter().filter(|value| !holds(&recorded, value));
        let edits: Vec<Edit> = missing
            .map(|value| Edit::Push { path: vec![self.key.clone()], value: value.clone() })
            .collect();
        if edits.is_empty() {
            return None;
        }
        Some(front.edited(&edits).ok()?.text().to_string())
    }
}

/// Returns the document of a mirror; none if its name is not known yet, or leads out of the project.
pub fn file(mirror: &Mirror, variables: &Map<String, Json>) -> Option<ProjectPath> {
    match Output::of(&mirror.file, variables) {
        Output::File(path) => Some(path),
        Output::Open(_) | Output::Pattern(_) | Output::Outside(_) => None,
    }
}

/// Returns the nodes that a document records, in the order of the graph; none if it has no such list.
pub fn recorded_nodes(workflow: &Workflow, text: &str) -> Option<Vec<String>> {
    let mirror = workflow.front.mirror.as_ref()?;
    let front = Frontmatter::parse(text).ok()?;
    front.tree().get(&mirror.key)?;
    let recorded = recorded(&front, &mirror.key)?;
    let is_done = |id: &str| mirror.values.get(id).is_some_and(|value| holds(&recorded, value));
    let nodes = workflow.graph.nodes().iter().map(|node| node.id.as_str());
    Some(nodes.filter(|id| is_done(id)).map(str::to_owned).collect())
}

/// Returns the values of the list; an absent or empty key is an empty list. None if it is something else.
fn recorded(front: &Frontmatter, key: &str) -> Option<Vec<Json>> {
    match front.tree().get(key).map(|entry| entry.tree.to_json()) {
        None | Some(Json::Null) => Some(Vec::new()),
        Some(Json::Array(values)) => Some(values),
        Some(Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_)) => None,
    }
}

/// Returns true if a list holds a value; a number counts also as a text.
fn holds(recorded: &[Json], value: &Json) -> bool {
    let plain = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    recorded.iter().any(|one| one == value || plain(one).trim() == plain(value).trim())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn added(text: &str, values: &[Json]) -> Option<String> {
        let entry = MirrorEntry {
            file: ProjectPath::parse("docs/prd.md").unwrap(),
            key: "stepsCompleted".to_owned(),
            values: values.to_vec(),
        };
        entry.added_to(text)
    }

    fn check_added(text: &str, value: Json, expected: &str) {
        assert_eq!(added(text, &[value]).as_deref(), Some(expected), "{text}");
    }

    fn check_left(text: &str, value: Json) {
        assert_eq!(added(text, &[value]), None, "{text}");
    }

    #[test]
    fn a_value_is_added_and_every_other_byte_stays() {
        check_added(
            "---\nstepsCompleted: []\n---\n# X\n",
            json!(1),
            "---\nstepsCompleted:\n  - 1\n---\n# X\n",
        );
        check_added(
            "---\nstepsCompleted: [1, 2]  # kept\ndate: x\n---\n\n  body  \n",
            json!(3),
            "---\nstepsCompleted: [1, 2, 3]  # kept\ndate: x\n---\n\n  body  \n",
        );
        check_added(
            "---\r\nstepsCompleted:\r\n  - step-01\r\nuser: \"Ana\"\r\n---\r\nbody\r\n",
            json!("step-02"),
            "---\r\nstepsCompleted:\r\n  - step-01\r\n  - step-02\r\nuser: \"Ana\"\r\n---\r\nbody\r\n",
        );
        check_added("---\na: 1\n---\n", json!(1), "---\na: 1\nstepsCompleted:\n- 1\n---\n");
    }

    #[test]
    fn a_value_that_is_there_is_not_added_again() {
        check_left("---\nstepsCompleted: [1]\n---\n", json!(1));
        check_left("---\nstepsCompleted: ['1']\n---\n", json!(1));
        check_left("---\nstepsCompleted: [step-01]\n---\n", json!("step-01"));
    }

    #[test]
    fn a_document_without_such_a_list_stays() {
        check_left("# Just text\n", json!(1));
        check_left("---\nstepsCompleted: [1\n---\n", json!(1));
        check_left("---\nstepsCompleted: done\n---\n", json!(1));
        check_left("---\nstepsCompleted: {a: 1}\n---\n", json!(1));
        check_left("---\n- a\n---\n", json!(1));
        check_left("", json!(1));
    }

    #[test]
    fn several_values_are_added_in_order() {
        let text = added("---\nstepsCompleted: [2]\n---\n", &[json!(1), json!(2), json!(3)]);
        assert_eq!(text.unwrap(), "---\nstepsCompleted: [2, 1, 3]\n---\n");
    }
}
