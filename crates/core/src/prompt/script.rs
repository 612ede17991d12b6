//! `SCRIPT_DIRECTIVE` and `PROMPT_DIRECTIVE`: the user's choice from the menu of an agent, for the model to carry out.

use super::ARTIFACTS_ROOT;
use super::line::line;
use crate::vpath::VPath;

/// Maximum size of names and paths, in bytes.
const FIELD_BYTES: usize = 4096 + 64;

/// Returns the message about a script that the model must follow.
pub fn script_directive(script: &VPath) -> String {
    format!(
        "SCRIPT_DIRECTIVE\n- script: {}\n- artifactsRoot: {ARTIFACTS_ROOT}\n\n{PROTOCOL}",
        line(&script.to_string(), FIELD_BYTES)
    )
}

/// Returns the message about a prompt of the agent that the model must follow.
pub fn prompt_directive(id: &str, text: &str) -> String {
    format!("PROMPT_DIRECTIVE\n- prompt: #{}\n\n{text}", line(id, FIELD_BYTES))
}

const PROTOCOL: &str = "\
Protocol:
1) Read the script with fs.read, all of it.
2) Follow its instructions exactly, as yourself. What it says about other files means files of the same mount.
3) If it requires user answers, ask the user and WAIT. Do not invent answers.
4) Write artifacts under @project/artifacts/, unless the script names another place in @project.
5) When it is done, tell the user in words what came of it.";
