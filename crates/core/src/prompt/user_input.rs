//! `USER_INPUT`: the user's input, verbatim.

use super::line::line;

/// Maximum size of the wrapping around the input, in bytes. The input itself is not cut here.
pub const INPUT_SHELL_MAX_BYTES: usize = 512;

/// Maximum size of a node's id, in bytes.
const NODE_BYTES: usize = 256;

/// Renders the user's input, with its node while the workflow is not complete.
pub fn user_input(words: &str, for_node: Option<&str>) -> String {
    match for_node {
        Some(node) => format!("USER_INPUT\n- forNodeId: {}\n{words}", line(node, NODE_BYTES)),
        None => format!("USER_INPUT\n{words}"),
    }
}
