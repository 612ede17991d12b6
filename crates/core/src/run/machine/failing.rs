//! Calls that fail again and again.

use crewagent_format::integrity::Digest;

use crate::event::Answer;
use crate::message::ToolCall;
use crate::refusal::RefusalCode;

/// Number of replies in a row with the same failing call that ends the turn.
const MOST_FAILURES: u32 = 3;

/// Failing calls, counted by replies: a call that succeeds beside them does not hide them.
#[derive(Clone, Debug, Default)]
pub(super) struct Failing {
    calls: Vec<FailingCall>,
}

/// Call that was refused in the current reply, or in the one before it.
#[derive(Clone, Debug)]
struct FailingCall {
    name: String,
    arguments: Digest,
    /// Number of replies in a row in which it was refused.
    times: u32,
    /// True if it was refused in the current reply.
    is_current: bool,
}

impl Failing {
    /// Counts the answer of a call. A call that was not carried out counts neither way.
    pub(super) fn count(&mut self, call: &ToolCall, answer: &Answer) {
        if answer.refused.is_none_or(|code| code == RefusalCode::NotExecuted) {
            return;
        }
        let arguments = call.arguments.digest();
        let known = self
            .calls
            .iter_mut()
            .find(|known| known.name == call.name && known.arguments == arguments);
        match known {
            // The same call twice in one reply is a repetition, too.
            Some(known) => {
                known.times += 1;
                known.is_current = true;
            }
            None => self.calls.push(FailingCall {
                name: call.name.clone(),
                arguments,
                times: 1,
                is_current: true,
            }),
        }
    }

    /// Returns true if the same call was refused once, in this reply or the one before.
    pub(super) fn was_refused(&self, call: &ToolCall) -> bool {
        let mut alike = self
            .calls
            .iter()
            .filter(|known| known.name == call.name && known.times == 1)
            .peekable();
        // The arguments of a call may be long.
        alike.peek().is_some() && {
            let arguments = call.arguments.digest();
            alike.any(|known| known.arguments == arguments)
        }
    }

    /// Returns true if a call failed so often that the turn ends.
    pub(super) fn is_loop(&self) -> bool {
        self.calls.iter().any(|call| call.times >= MOST_FAILURES)
    }

    /// Ends a reply: forgets the calls that were not refused in it. Returns a message if a call failed too often.
    pub(super) fn end_reply(&mut self) -> Option<String> {
        if let Some(call) = self.calls.iter().find(|call| call.times >= MOST_FAILURES) {
            let name = &call.name;
            let message = format!(
                "The model made the same failing call of {name} {MOST_FAILURES} times in a row."
            );
            *self = Self::default();
            return Some(message);
        }
        self.calls.retain(|call| call.is_current);
        self.calls.iter_mut().for_each(|call| call.is_current = false);
        None
    }
}
