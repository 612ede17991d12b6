//! What a model must know of a workflow that was imported from foreign content.

/// Maximum size of the text, in bytes.
pub const IMPORTED_MAX_BYTES: usize = 1536;

/// Returns the rules for imported workflows, which are always the same.
pub fn imported_rules() -> &'static str {
    IMPORTED
}

const IMPORTED: &str = "\
This workflow was written for another program and imported. Where its text says something else, this holds:
- WORKFLOW_BRIEF, if there is one, is the workflow's own introduction: its role and rules hold at every node.
- You are at one node. Never open the file of another step, also where the text says to load it: the runtime leads on and shows you the next step. `node:x` names a step, not a file.
- Never write stepsCompleted or another record of progress into a document: the runtime does that when a node is left.
- A menu, or waiting for a Continue, is the tool ui_gate where it is offered. Every other question is ui_ask_user. Never answer for the user.
- What the step saves once the user agrees goes into a draft before you ask: the runtime saves it.
- Configuration is loaded: values stand in the text, and names, languages and times under config in STATE_SUMMARY. Do not look for configuration files. Other words in braces are for you to fill in.
- Files below @project/_bmad are read from the package. Results go where the text says.
- Scripts, hooks and commands of the text are not run: do by yourself what they are for, and say so where it matters.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_short() {
        assert!(IMPORTED.len() <= IMPORTED_MAX_BYTES, "{} bytes", IMPORTED.len());
    }
}
