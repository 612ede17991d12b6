//! Nudges: what a model reads whose reply brought nothing forward.

use super::line::{joined, line, value};
use crate::state::guard::MissingParts;

/// Maximum size of a nudge, but for the one that holds the finishing call, in bytes.
pub const NUDGE_MAX_BYTES: usize = 12 * 1024;

/// Maximum size of a file's or a variable's name, in bytes.
const NAME_BYTES: usize = 512;
/// Maximum size of a list, in bytes.
const LIST_BYTES: usize = 4 * 1024;
/// Maximum size of a reason, in bytes.
const WHY_BYTES: usize = 256;

/// Opening of the message after an empty reply.
const EMPTY: &str = "Your reply was empty.";

/// Answer to a model that asks if it may go on, although the user lets it.
pub const GO_ON: &str = "Nobody confirms steps on autopilot. Go on. If the step itself demands this decision of the user, ask with ui_ask_user.";

/// Message to a model whose reply was cut off before it called a tool.
pub const REPLY_CUT: &str = "Your reply was cut off at the output limit, and nothing was done. Say less; write long files with fs_write in pieces (mode append).";

/// Node that a reply without a call left as it was.
#[derive(Clone, Copy, Debug)]
pub struct OpenNode<'a> {
    pub node: &'a str,
    /// True if no way leads on from the node.
    pub is_end: bool,
    pub missing: &'a MissingParts,
}

/// Returns the message to a model that answered in words.
pub fn nothing_done(open: OpenNode<'_>) -> String {
    let open_part = match open.is_end {
        true => "The workflow is not complete yet.".to_owned(),
        false => format!("{} is still open.", line(open.node, NAME_BYTES)),
    };
    let named = |one: &str, many: &str, names: &[String]| {
        let word = if names.len() == 1 { one } else { many };
        let list = joined(names.iter().map(|name| value(name, NAME_BYTES)), ", ", LIST_BYTES);
        (!names.is_empty()).then(|| format!("{word} {list}"))
    };
    let MissingParts { files, variables } = open.missing;
    let parts = [named("file", "files", files), named("variable", "variables", variables)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let missing =
        if parts.is_empty() { "only the finishing call".to_owned() } else { parts.join("; ") };
    format!(
        "Nothing was done: a reply without a tool call changes nothing. {open_part} Missing: {missing}. Call a tool now, or ui_ask_user if only the user can help."
    )
}

/// Returns the message to a model whose reply was empty.
pub fn empty_reply(open: OpenNode<'_>) -> String {
    format!("{EMPTY} {}", nothing_done(open))
}

/// Returns the message to a model that was told before and still calls nothing that helps. `call` finishes the node.
pub fn finish_now(call: &str) -> String {
    let values = if call.contains('<') { ", with your own values for <…>" } else { "" };
    format!("Still nothing was done. Reply with this call and nothing else{values}: {call}")
}

/// Returns the message to a model whose reply has a call in its text that cannot be carried out.
pub fn unreadable_call(why: &str) -> String {
    let why = line(why, WHY_BYTES);
    format!(
        "Your reply has a tool call written as text that cannot be carried out ({why}). Use the tool interface, with the same arguments."
    )
}

/// Returns the message to the user when the model does not go on.
pub fn stalled(node: &str) -> String {
    format!(
        "The model does not go on at {node}: it answers in words instead of calling tools. Say what to do, or resume with another model."
    )
}
