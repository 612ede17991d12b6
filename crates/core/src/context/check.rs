//! The check of a request before it is sent: every call has its answer.

use std::collections::HashSet;

use thiserror::Error;

use crate::message::Message;

/// Reason why a list of messages cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ContextProblem {
    /// A call has no answer right after it.
    #[error("the call `{0}` has no answer")]
    Unanswered(String),
    /// An answer has no call right before it, or is a second answer.
    #[error("an answer names the call `{0}`, which is not open")]
    Orphan(String),
    #[error("two calls of one reply have the id `{0}`")]
    RepeatedId(String),
    /// A system message comes after other messages.
    #[error("a system message stands behind other messages")]
    LateSystem,
}

/// Checks messages in the order in which they are sent.
pub fn check_messages<'m>(
    messages: impl IntoIterator<Item = &'m Message>,
) -> Result<(), ContextProblem> {
    let mut open: Vec<&str> = Vec::new();
    let mut begun = false;
    for message in messages {
        if let Message::Tool { tool_call_id, .. } = message {
            let at = open.iter().position(|id| *id == tool_call_id.as_str());
            let at = at.ok_or_else(|| ContextProblem::Orphan(tool_call_id.clone()))?;
            open.remove(at);
            continue;
        }
        if let Some(id) = open.first() {
            return Err(ContextProblem::Unanswered((*id).to_owned()));
        }
        match message {
            Message::System { .. } if begun => return Err(ContextProblem::LateSystem),
            Message::System { .. } => {}
            Message::User { .. } | Message::Tool { .. } => begun = true,
            Message::Assistant { tool_calls, .. } => {
                begun = true;
                let mut seen = HashSet::new();
                for call in tool_calls {
                    if !seen.insert(call.id.as_str()) {
                        return Err(ContextProblem::RepeatedId(call.id.clone()));
                    }
                }
                open = tool_calls.iter().map(|call| call.id.as_str()).collect();
            }
        }
    }
    open.first().map_or(Ok(()), |id| Err(ContextProblem::Unanswered((*id).to_owned())))
}
