//! `SCRIPT_DIRECTIVE` and `PROMPT_DIRECTIVE`: what the user chose from the menu of an agent, for the model to do.

use super::ARTIFACTS_ROOT;
use super::line::line;
use crate::vpath::VPath;

/// Names and paths have at most this many bytes.
const FIELD_BYTES: usize = 4096 + 64;

/// A script that the model is to follow.
pub fn script_directive(script: &VPath) -> String {
    format!(
        "SCRIPT_DIRECTIVE\n- script: {}\n- artifactsRoot: {ARTIFACTS_ROOT}\n\n{PROTOCOL}",
        line(&script.to_string(), FIELD_BYTES)
    )
}

/// A prompt of the agent that the model is to follow.
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
