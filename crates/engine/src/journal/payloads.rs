//! Visitor of the payloads of an event.

use crewagent_core::event::{
    AssistantMessage, CommandResolved, ConversationEvent, Event, EventKind, ModelEvent,
    ModelInstructed, RunEvent, RunStarted, ToolEvent, ToolFinished, ToolStarted, ToolsListed,
    TurnStarted, UserEvent, UserInput,
};
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::payload::Payload;

/// Calls `take` with every payload of an event, in order, until one call fails.
pub(super) fn each<E>(
    event: &mut Event,
    mut take: impl FnMut(&mut Payload) -> Result<(), E>,
) -> Result<(), E> {
    match &mut event.kind {
        EventKind::User(UserEvent::Input(UserInput { text, .. }))
        | EventKind::Conversation(ConversationEvent::CommandResolved(CommandResolved {
            text,
            ..
        })) => take(text),
        EventKind::Conversation(ConversationEvent::Instructed(ModelInstructed {
            texts, ..
        })) => texts.iter_mut().try_for_each(&mut take),
        EventKind::Run(RunEvent::Started(RunStarted { data: Some(data), .. })) => take(data),
        EventKind::Tool(ToolEvent::Listed(ToolsListed { tools, .. })) => take(tools),
        EventKind::Model(ModelEvent::TurnStarted(TurnStarted { request, .. })) => {
            request.added.iter_mut().try_for_each(|message| in_message(message, &mut take))
        }
        EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) => {
            in_calls(&mut reply.tool_calls, &mut take)?;
            let repaired = reply.repaired_calls.iter_mut();
            repaired.filter_map(|call| call.arguments.as_mut()).try_for_each(&mut take)
        }
        EventKind::Tool(ToolEvent::Started(ToolStarted { intent, .. })) => match intent {
            Some(intent) => take(&mut intent.answer.result),
            None => Ok(()),
        },
        EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) => {
            take(&mut answer.result)
        }
        EventKind::Run(RunEvent::Started(RunStarted { data: None, .. }))
        | EventKind::Conversation(
            ConversationEvent::Started(_)
            | ConversationEvent::AgentChanged(_)
            | ConversationEvent::RunChanged(_),
        )
        | EventKind::Run(
            RunEvent::Resumed(_)
            | RunEvent::PhaseChanged(_)
            | RunEvent::Failed(_)
            | RunEvent::Finished(_),
        )
        | EventKind::Frame(_)
        | EventKind::Tool(ToolEvent::Logged(_))
        | EventKind::Model(
            ModelEvent::Delta(_)
            | ModelEvent::Retried(_)
            | ModelEvent::Overflowed(_)
            | ModelEvent::Stopped(_)
            | ModelEvent::Nudged(_)
            | ModelEvent::FellBack(_)
            | ModelEvent::ContextCut(_),
        )
        | EventKind::State(_) => Ok(()),
        EventKind::User(UserEvent::Asked(asked)) => {
            asked.question.show.iter_mut().try_for_each(|shown| take(&mut shown.text))
        }
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
