//! Answers to calls that are not carried out, because they came behind a call that ends a reply.

use crate::refusal::{Refusal, RefusalCode};

/// Call that ended the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotExecuted {
    /// A question, or a move that the user objected to.
    Answered,
    /// A call that ends a reply and was refused.
    Refused,
    /// A move. The model reads nothing of this, because the messages of the node that is left are dropped.
    Moved,
    /// The call that completed the workflow.
    Completed,
    /// A call that the user denied.
    Denied,
}

/// Returns the answer to a call that is not carried out.
pub fn not_executed(behind: NotExecuted) -> Refusal {
    let message = match behind {
        NotExecuted::Answered => "Not executed: the user has answered since (above). Decide anew.",
        NotExecuted::Refused => "Not executed: the call before it was refused. Correct that first.",
        NotExecuted::Moved => "Not executed: the call before it has left the node.",
        NotExecuted::Completed => "Not executed: the workflow is complete.",
        NotExecuted::Denied => "Not executed: the user has denied the call before it. Decide anew.",
    };
    Refusal::new(RefusalCode::NotExecuted, message)
}
