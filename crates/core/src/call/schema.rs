//! Tool schemas as sent to a model.
//!
//! They use only what all providers accept: one type per value, no references, objects with `properties` and `required`,
//! enums of strings. Much more is understood than is told, because every request pays for it.

#[cfg(test)]
mod tests;

use serde_json::{Value as Json, json};

use crate::policy::{Policy, StateTool};
use crate::tool::{Tool, ToolSpec};

/// Returns the tools that a policy offers, always in the same order. Their text depends on its switches alone, so agents
/// with equal switches have equal lists.
pub fn tools(policy: &Policy) -> Vec<ToolSpec> {
    let offered = Tool::ALL.into_iter().filter(|tool| policy.offers(*tool));
    offered
        .map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: description(tool).to_owned(),
            parameters: parameters(tool, policy),
        })
        .collect()
}

fn description(tool: Tool) -> &'static str {
    match tool {
        Tool::Read => "Read a text file; lines are numbered.",
        Tool::List => "List a folder.",
        Tool::Search => "Find lines in a folder or file.",
        Tool::Write => "Write a whole file.",
        Tool::Patch => "Change parts of a file.",
        Tool::Move => "Rename a file.",
        Tool::Delete => "Delete a file.",
        Tool::AskUser => {
            "Ask the user and wait: a question, options to choose from, or fields to fill in."
        }
        Tool::Gate => "Show your drafts to the user, who decides how the node goes on.",
        Tool::CompleteNode => {
            "Finish the node and go on: files are written, then variables set; all or nothing."
        }
        Tool::UpdateState => "Set variables without finishing the node.",
    }
}

fn parameters(tool: Tool, policy: &Policy) -> Json {
    match tool {
        Tool::Read => object(
            &["path"],
            json!({ "path": text(), "startLine": integer(), "endLine": integer() }),
        ),
        Tool::List => object(&["path"], json!({ "path": text(), "depth": integer() })),
        Tool::Search => object(
            &["query"],
            json!({ "query": text(), "path": text(), "regex": { "type": "boolean" } }),
        ),
        Tool::Write if policy.tells_gates => object(
            &["path"],
            json!({
                "path": text(),
                "content": text(),
                "from": described("File to copy instead of content"),
                "section": described("Placeholder to replace"),
                "mode": { "type": "string", "enum": ["overwrite", "append"] },
            }),
        ),
        Tool::Write => object(
            &["path", "content"],
            json!({
                "path": text(),
                "content": text(),
                "mode": { "type": "string", "enum": ["overwrite", "append"] },
            }),
        ),
        Tool::Patch => patch(policy.state_tool()),
        Tool::Move => object(&["path", "to"], json!({ "path": text(), "to": text() })),
        Tool::Delete => object(&["path"], json!({ "path": text() })),
        Tool::AskUser => object(
            &["question"],
            json!({ "question": text(), "options": list(text()), "fields": list(text()) }),
        ),
        Tool::Gate => object(
            &[],
            json!({
                "drafts": list(text()),
                "note": text(),
                "variables": object(&[], json!({})),
            }),
        ),
        Tool::CompleteNode => {
            let file = object(&["path", "content"], json!({ "path": text(), "content": text() }));
            object(
                &[],
                json!({
                    "variables": object(&[], json!({})),
                    "files": list(file),
                    "next": described("Where there are several ways on"),
                    "reason": text(),
                }),
            )
        }
        Tool::UpdateState => {
            object(&[], json!({ "variables": object(&[], json!({})), "artifacts": list(text()) }))
        }
    }
}

fn patch(state: StateTool) -> Json {
    let edit = object(
        &["old", "new"],
        json!({ "old": described("Exact text, no line numbers"), "new": text() }),
    );
    match state {
        StateTool::Runtime => {
            object(&["path", "edits"], json!({ "path": text(), "edits": list(edit) }))
        }
        StateTool::Patch => {
            object(&["path"], json!({ "path": text(), "edits": list(edit), "update": update() }))
        }
    }
}

/// Returns the schema of a change of the state document.
fn update() -> Json {
    object(
        &[],
        json!({
            "currentNodeId": object(&["set"], json!({ "set": text() })),
            "variables": object(&["set"], json!({ "set": object(&[], json!({})) })),
        }),
    )
}

fn object(required: &[&str], properties: Json) -> Json {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn text() -> Json {
    json!({ "type": "string" })
}

fn described(description: &str) -> Json {
    json!({ "type": "string", "description": description })
}

fn integer() -> Json {
    json!({ "type": "integer" })
}

fn list(items: Json) -> Json {
    json!({ "type": "array", "items": items })
}
