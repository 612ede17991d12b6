//! `workflow.md`: the template of a run's state document.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::versioned;
use crate::diagnostic::Findings;
use crate::frontmatter::Frontmatter;
use crate::shape::{self, Object, ShapeReader, Tolerance};
use crate::syntax::{Tree, Value};
use crate::version::{Minor, SchemaVersion};

/// The frontmatter of a workflow document, which is the state of a run. Other keys are kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowFront {
    /// Version of the package format.
    pub schema_version: SchemaVersion,
    /// Type of the workflow.
    #[schemars(length(min = 1))]
    pub workflow_type: String,
    /// Current node; blank before the start.
    #[schemars(schema_with = "blank_or_text")]
    pub current_node_id: String,
    /// The nodes that are done.
    #[schemars(schema_with = "blank_or_list")]
    pub steps_completed: Vec<String>,
    /// Values for conditions and later steps.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(default, with = "Option<Map<String, Json>>")]
    pub variables: Map<String, Json>,
    /// The branches that were taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Option<Vec<Decision>>")]
    pub decision_log: Vec<Decision>,
    /// Created files, from the root of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Option<Vec<String>>")]
    pub artifacts: Vec<String>,
    /// The run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The user's project.
    #[serde(rename = "project_name", skip_serializing_if = "Option::is_none")]
    pub project_name: Option<String>,
    /// The user.
    #[serde(rename = "user_name", skip_serializing_if = "Option::is_none")]
    pub user_name: Option<String>,
    /// A date, as the author likes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Time of the last change of the state; blank counts as absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "blank_or_date_time")]
    pub updated_at: Option<String>,
    /// External documents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Option<Vec<String>>")]
    pub input_documents: Vec<String>,
    /// The agent of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_agent_id: Option<String>,
    /// Workflow of the package that this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_ref: Option<String>,
    /// Manner in which a model is told to change the state: `document` for edits of this document, else a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_tools: Option<String>,
    /// Format 1.3: the body of this document is told to the model for the whole run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default, with = "Option<bool>")]
    pub brief: bool,
    /// Format 1.3: the document in which other tools read what is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<Mirror>,
    /// Format 1.3: names with the values that they have in this document.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default, with = "Option<BTreeMap<String, String>>")]
    pub bindings: BTreeMap<String, String>,
}

/// Document whose frontmatter lists what is done. The runtime writes it when a node is left.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Mirror {
    /// Path from the root of the project; it may name bindings and variables in braces.
    #[schemars(length(min = 1))]
    pub file: String,
    /// Key of the list in the frontmatter of that file.
    #[schemars(length(min = 1))]
    pub key: String,
    /// Number or text that is added when a node is left, by the node's id.
    #[schemars(with = "BTreeMap<String, NumberOrText>")]
    pub values: BTreeMap<String, Json>,
}

/// Schema of a value that a mirror adds.
#[derive(JsonSchema)]
#[schemars(inline, untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum NumberOrText {
    Number(f64),
    Text(String),
}

/// A branch that was taken.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Decision {
    /// The node that was left.
    pub from: String,
    /// The node that was entered.
    pub to: String,
    /// The edge's label.
    pub label: String,
    /// Reason of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Time of the decision; blank counts as absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "blank_or_date_time")]
    pub decided_at: Option<String>,
}

fn blank_or_text(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["string", "null"] })
}

fn blank_or_list(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["array", "null"], "items": { "type": "string" } })
}

fn blank_or_date_time(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "string", "pattern": r"^\s*$" }, { "type": "null" }]
    })
}

impl WorkflowFront {
    /// Returns true if a model is told to change the state by editing this document.
    pub fn tells_document_edits(&self) -> bool {
        self.state_tools.as_deref().is_some_and(|told| told.trim() == "document")
    }

    /// Returns the current node; `None` if the run has not started.
    pub fn current_node(&self) -> Option<&str> {
        Some(self.current_node_id.trim()).filter(|id| !id.is_empty())
    }

    /// Reads the frontmatter of a document that findings call `file`; `None` if it does not fit.
    pub fn from_frontmatter(
        document: &Frontmatter,
        file: &str,
        findings: &mut Findings,
    ) -> Option<Self> {
        let mut reader = ShapeReader::new(file, document.text(), Tolerance::Blank, findings);
        Self::read(document.tree(), &mut reader)
    }

    pub(crate) fn read(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Self> {
        let mut object = Object::open(tree, reader)?;
        let schema_version = object.required("schemaVersion", reader, versioned);
        let workflow_type = object.required("workflowType", reader, shape::text);
        // Both are required, but a template may leave their values blank.
        let current_node_id =
            blank_or_required(&mut object, "currentNodeId", reader, shape::string);
        let steps_completed =
            blank_or_required(&mut object, "stepsCompleted", reader, |tree, reader| {
                shape::list(tree, reader, shape::string)
            });
        let variables = object.optional("variables", reader, shape::open_map);
        let decision_log = object.list("decisionLog", reader, decision);
        let artifacts = object.list("artifacts", reader, shape::string);
        // Format 1.1 gives these keys no types, so other tools write other values.
        let run_id = object.ignorable("runId", reader, shape::string);
        let project_name = object.ignorable("project_name", reader, shape::string);
        let user_name = object.ignorable("user_name", reader, shape::string);
        let date = object.ignorable("date", reader, shape::string);
        let updated_at = object.optional("updatedAt", reader, shape::date_time);
        let input_documents = object.ignorable("inputDocuments", reader, |tree, reader| {
            Some(shape::items(tree, reader, shape::string)?.into_iter().flatten().collect())
        });
        let active_agent_id = object.ignorable("activeAgentId", reader, shape::string);
        let workflow_ref = object.ignorable("workflowRef", reader, shape::string);
        let state_tools = object.ignorable("stateTools", reader, shape::string);
        let brief = object.open_since(Minor::V1_3, "brief", reader, shape::boolean);
        let mirror = object.open_since(Minor::V1_3, "mirror", reader, mirror);
        let bindings = object.open_since(Minor::V1_3, "bindings", reader, |tree, reader| {
            shape::map(tree, reader, shape::string)
        });
        object.leave_open(reader);
        Some(Self {
            schema_version: schema_version?,
            workflow_type: workflow_type?,
            current_node_id: current_node_id?,
            steps_completed: steps_completed?,
            variables: variables?.unwrap_or_default(),
            decision_log: decision_log?,
            artifacts: artifacts?,
            run_id,
            project_name,
            user_name,
            date,
            updated_at: updated_at?.flatten(),
            input_documents: input_documents.unwrap_or_default(),
            active_agent_id,
            workflow_ref,
            state_tools,
            brief: brief?.unwrap_or_default(),
            mirror: mirror?,
            bindings: bindings?.unwrap_or_default(),
        })
    }
}

fn blank_or_required<T: Default>(
    object: &mut Object<'_>,
    key: &'static str,
    reader: &mut ShapeReader<'_>,
    read: impl FnOnce(&Tree, &mut ShapeReader<'_>) -> Option<T>,
) -> Option<T> {
    if object.has(key) {
        object.optional(key, reader, read).map(Option::unwrap_or_default)
    } else {
        object.required(key, reader, read)
    }
}

fn mirror(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Mirror> {
    let mut object = Object::open(tree, reader)?;
    let file = object.required("file", reader, shape::text);
    let key = object.required("key", reader, shape::text);
    let values = object.required("values", reader, |tree, reader| {
        shape::map(tree, reader, |tree, reader| match &tree.value {
            Value::Number(_) | Value::String(_) => Some(tree.to_json()),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
                reader.wrong_type(tree, "a number or a string")
            }
        })
    });
    object.close(reader);
    Some(Mirror { file: file?, key: key?, values: values? })
}

fn decision(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Decision> {
    let mut object = Object::open(tree, reader)?;
    let from = object.required("from", reader, shape::string);
    let to = object.required("to", reader, shape::string);
    let label = object.required("label", reader, shape::string);
    let reason = object.optional("reason", reader, shape::string);
    let decided_at = object.optional("decidedAt", reader, shape::date_time);
    object.close(reader)?;
    Some(Decision {
        from: from?,
        to: to?,
        label: label?,
        reason: reason?,
        decided_at: decided_at?.flatten(),
    })
}
