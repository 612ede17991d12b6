//! The long texts of an event.

use crewagent_core::event::{Event, Fact};
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::payload::Payload;

/// Passes on every payload of an event, in order, until one is refused.
pub(super) fn each<E>(
    event: &mut Event,
    mut take: impl FnMut(&mut Payload) -> Result<(), E>,
) -> Result<(), E> {
    match &mut event.fact {
        Fact::UserInput { text, .. } | Fact::SessionCommand { text, .. } => take(text),
        Fact::SessionInstructed { texts, .. } => texts.iter_mut().try_for_each(&mut take),
        Fact::RunStarted { data: Some(data), .. } => take(data),
        Fact::ToolsListed { tools, .. } => take(tools),
        Fact::TurnStarted { request, .. } => {
            request.added.iter_mut().try_for_each(|message| in_message(message, &mut take))
        }
        Fact::AssistantMessage { reply, .. } => in_calls(&mut reply.tool_calls, &mut take),
        Fact::ToolStarted { intent, .. } => match intent {
            Some(intent) => take(&mut intent.answer.result),
            None => Ok(()),
        },
        Fact::ToolFinished { answer, .. } => take(&mut answer.result),
        Fact::RunStarted { data: None, .. }
        | Fact::SessionStarted { .. }
        | Fact::SessionAgent { .. }
        | Fact::SessionRun { .. }
        | Fact::RunResumed { .. }
        | Fact::WorkflowPlanned { .. }
        | Fact::WorkflowEntered { .. }
        | Fact::WorkflowLeft { .. }
        | Fact::WorkflowHeld { .. }
        | Fact::ServerLogged { .. }
        | Fact::AssistantDelta { .. }
        | Fact::ModelRetried { .. }
        | Fact::ModelOverflowed { .. }
        | Fact::ModelStopped { .. }
        | Fact::StateChanged(_)
        | Fact::Question { .. }
        | Fact::PhaseChanged { .. }
        | Fact::ContextCut { .. }
        | Fact::Error { .. }
        | Fact::RunFinished { .. } => Ok(()),
    }
}

fn in_message<E>(
    message: &mut Message,
    take: &mut impl FnMut(&mut Payload) -> Result<(), E>,
) -> Result<(), E> {
    match message {
        Message::System { .. } | Message::User { .. } => Ok(()),
        Message::Assistant { tool_calls, .. } => in_calls(tool_calls, take),
        Message::Tool { content, .. } => take(content),
    }
}

fn in_calls<E>(
    calls: &mut [ToolCall],
    take: &mut impl FnMut(&mut Payload) -> Result<(), E>,
) -> Result<(), E> {
    calls.iter_mut().try_for_each(|call| take(&mut call.arguments))
}
