//! `USER_INPUT`: the words of the user, verbatim.

use super::line::line;

/// The shell around the words has at most this many bytes. The words are the user's own and are not cut here.
pub const INPUT_SHELL_MAX_BYTES: usize = 512;

/// The id of a node has at most this many bytes.
const NODE_BYTES: usize = 256;

/// The user's words, and the node they are for while the workflow is not complete.
pub fn user_input(words: &str, for_node: Option<&str>) -> String {
    match for_node {
        Some(node) => format!("USER_INPUT\n- forNodeId: {}\n{words}", line(node, NODE_BYTES)),
        None => format!("USER_INPUT\n{words}"),
    }
}
