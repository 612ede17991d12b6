//! Tool schemas as sent to a model.
//!
//! They use only what all providers accept: one type per value, no references, closed objects with `properties` and
//! `required`, enums of strings.

#[cfg(test)]
mod tests;

use serde_json::{Value as Json, json};

use crate::policy::Policy;
use crate::tool::{Tool, ToolSpec};

/// Returns the tools that a policy allows, always in the same order.
pub fn tools(policy: &Policy) -> Vec<ToolSpec> {
    let allowed = Tool::ALL.into_iter().filter(|tool| policy.offers(*tool));
    allowed
        .map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: description(tool, policy),
            parameters: parameters(tool),
        })
        .collect()
}

fn description(tool: Tool, policy: &Policy) -> String {
    let (read, write) = (policy.fs.max_read_bytes, policy.fs.max_write_bytes);
    match tool {
        Tool::Read => format!(
            "Read a text file: path, bytes, sha256, content. A file over {read} bytes gives only a preview; find the \
             place with fs.search and read a window with startLine and endLine."
        ),
        Tool::List => {
            "List a folder. Folders end in `/`. More than 200 entries give a preview.".to_owned()
        }
        Tool::Search => "Search the lines of files for a text or a regular expression. Gives path, line, column and \
             the lines around each match. Ignored and binary files and hidden folders are skipped."
            .to_owned(),
        Tool::Write => format!(
            "Write a whole file below @project, up to {write} bytes; missing folders are created. To change parts of \
             a file use fs.apply_patch."
        ),
        Tool::Patch => format!(
            "Change parts of a file: operation `replace` with edits, `diff` with a diff, or `updateFrontmatter` with \
             update, which is for @state/workflow.md only{}. Made whole or not at all; the file may have up to {write} \
             bytes afterwards.{}",
            if policy.strict { " and switched off in this run" } else { "" },
            match policy.denial(tool) {
                Some(_) => " In this run it may change @state/workflow.md and nothing else.",
                None => "",
            }
        ),
        Tool::Move => {
            "Move or rename a file below @project. Refused if the new path exists; missing folders are created."
                .to_owned()
        }
        Tool::Delete => "Delete a file below @project. Folders stay.".to_owned(),
        Tool::AskUser => "Ask the user and wait; the answer comes back as the result of this call. Ask only for what \
             you cannot find out yourself, everything in one question."
            .to_owned(),
        Tool::CompleteNode => "Finish the current node and go on along one edge: files are written, then variables \
             set; all or nothing. The only way to move in this run."
            .to_owned(),
        Tool::UpdateState => "Set variables of the run, or name files that were made, without leaving the node."
            .to_owned(),
    }
}

fn parameters(tool: Tool) -> Json {
    match tool {
        Tool::Read => object(
            &["path"],
            json!({
                "path": text("The file"),
                "startLine": integer("First line of a window, from 1"),
                "endLine": integer("Last line of a window, included"),
            }),
        ),
        Tool::List => object(
            &["path"],
            json!({
                "path": text("The folder"),
                "depth": integer("1 for its own entries (default), more for those of the folders in it"),
            }),
        ),
        Tool::Search => search(),
        Tool::Write => object(
            &["path", "content"],
            json!({
                "path": text("The file, such as @project/artifacts/notes.md"),
                "content": text("The text"),
                "mode": word(&["overwrite", "append", "create"],
                    "overwrite (default), append to the end, or create: refused if the file exists"),
                "ifMatchSha256": digest(),
            }),
        ),
        Tool::Patch => patch(),
        Tool::Move => object(
            &["path", "to"],
            json!({
                "path": text("The file"),
                "to": text("The new path of the file, not of its folder"),
                "ifMatchSha256": digest(),
            }),
        ),
        Tool::Delete => {
            object(&["path"], json!({ "path": text("The file"), "ifMatchSha256": digest() }))
        }
        Tool::AskUser => ask(),
        Tool::CompleteNode => {
            let file = object(
                &["path", "content"],
                json!({ "path": text("The file"), "content": text("Its whole text") }),
            );
            object(
                &[],
                json!({
                    "variables": variables(),
                    "files": list("Files to write first", file),
                    "next": text("The label of the edge, where there are several ways on"),
                    "reason": text("Why this way"),
                }),
            )
        }
        Tool::UpdateState => {
            object(&[], json!({ "variables": variables(), "artifacts": artifacts() }))
        }
    }
}

fn search() -> Json {
    object(
        &["query"],
        json!({
            "query": text("What to look for, within one line"),
            "path": text("A folder or a file; default @project"),
            "globs": texts("Which files, such as *.md or src/**/*.rs; a leading ! excludes"),
            "regex": flag("Whether query is a regular expression; default false"),
            "caseSensitive": flag("Default false"),
            "before": integer("Lines to show before a match; default 1"),
            "after": integer("Lines to show after a match; default 1"),
            "maxMatches": integer("Default 50, at most 500"),
        }),
    )
}

fn patch() -> Json {
    let edit = object(
        &["old", "new"],
        json!({
            "old": text("Text that stands in the file exactly once"),
            "new": text("What stands there afterwards"),
            "all": flag("Change every occurrence; default false"),
        }),
    );
    object(
        &["path", "operation"],
        json!({
            "path": text("The file"),
            "operation": word(&["updateFrontmatter", "replace", "diff"], "Which of update, edits or diff is given"),
            "update": update(),
            "edits": list("For replace: made one after the other", edit),
            "diff": text("For diff: a unified diff of this file, or the *** Begin Patch form"),
            "ifMatchSha256": digest(),
        }),
    )
}

/// Returns the schema of `update`.
fn update() -> Json {
    let set = |value: Json| object(&["set"], json!({ "set": value }));
    let append = |items: Json| object(&["append"], json!({ "append": items }));
    let decision = object(
        &["from", "to", "label"],
        json!({
            "from": text("The node that is left"),
            "to": text("The node that is entered"),
            "label": text("The label of the edge"),
            "reason": text("Why"),
            "decidedAt": text("RFC 3339; the runtime adds it"),
        }),
    );
    let mut update = object(
        &[],
        json!({
            "variables": set(variables()),
            "stepsCompleted": append(texts("The node that is left, or the end node that is reached")),
            "decisionLog": append(list("The branch that is taken", decision)),
            "artifacts": append(artifacts()),
            "currentNodeId": set(text("The next node, along one edge")),
            "workflowStatus": set(text("complete, at an end node")),
            "updatedAt": set(text("RFC 3339; the runtime adds it")),
        }),
    );
    update["description"] = "For updateFrontmatter: changes of the run's state, in one call".into();
    update
}

fn variables() -> Json {
    json!({
        "type": "object", "description": "Names and values; other variables stay", "properties": {}, "required": [],
    })
}

fn artifacts() -> Json {
    texts("Files from the root of the project, such as artifacts/notes.md")
}

fn ask() -> Json {
    let option = object(
        &["value"],
        json!({
            "value": text("What you get when it is chosen"),
            "label": text("What the user reads"),
            "description": text("More about it"),
        }),
    );
    let schema = json!({
        "type": "object", "description": "For form: a JSON Schema of one flat object. A property is a string (minLength, maxLength, pattern), number or integer (minimum, maximum), boolean, has an enum, or is an array whose items have an enum; with title, description, default", "properties": {}, "required": [],
    });
    object(
        &["question"],
        json!({
            "question": text("What the user reads"),
            "kind": word(&["text", "choice", "confirm", "form"], "Default text"),
            "options": list("For choice", option),
            "multi": flag("For choice: several may be chosen; default false"),
            "schema": schema,
        }),
    )
}

/// Returns the schema of a closed object.
fn object(required: &[&str], properties: Json) -> Json {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn text(description: &str) -> Json {
    json!({ "type": "string", "description": description })
}

fn digest() -> Json {
    text("The sha256 of the file as you read it; refused if it has changed since")
}

fn integer(description: &str) -> Json {
    json!({ "type": "integer", "description": description })
}

fn flag(description: &str) -> Json {
    json!({ "type": "boolean", "description": description })
}

fn word(words: &[&str], description: &str) -> Json {
    json!({ "type": "string", "enum": words, "description": description })
}

fn list(description: &str, items: Json) -> Json {
    json!({ "type": "array", "description": description, "items": items })
}

fn texts(description: &str) -> Json {
    json!({ "type": "array", "description": description, "items": { "type": "string" } })
}
