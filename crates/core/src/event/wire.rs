//! The flat list of all events, by their names in JSON: one row per event.

use schemars::JsonSchema;
use serde::Deserialize;

use super::*;

macro_rules! events {
    ($($name:tt $(($alias:tt))? $variant:ident($payload:ty) => $group:ident($event:ident::$kind:ident),)*) => {
        /// Events as JSON has them.
        #[derive(Deserialize, JsonSchema)]
        #[serde(tag = "type")]
        #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
        pub(super) enum Wire {
            $(#[serde(rename = $name $(, alias = $alias)?)] $variant($payload),)*
        }

        impl From<Wire> for EventKind {
            fn from(wire: Wire) -> Self {
                match wire {
                    $(Wire::$variant(payload) => payload.into(),)*
                }
            }
        }

        $(impl From<$payload> for EventKind {
            fn from(payload: $payload) -> Self {
                Self::$group($event::$kind(payload))
            }
        })*

        impl EventKind {
            /// Returns the name of the event in JSON, its `type`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$group($event::$kind(_)) => $name,)*
                }
            }
        }
    };
}

// A derived `as` cannot be flattened into `Event`.
#[cfg(feature = "ts")]
impl ts_rs::TS for EventKind {
    type WithoutGenerics = Self;
    type OptionInnerType = Self;

    fn name(config: &ts_rs::Config) -> String {
        <Wire as ts_rs::TS>::name(config)
    }

    fn inline(config: &ts_rs::Config) -> String {
        <Wire as ts_rs::TS>::inline(config)
    }

    fn inline_flattened(config: &ts_rs::Config) -> String {
        <Wire as ts_rs::TS>::inline_flattened(config)
    }

    fn visit_dependencies(visitor: &mut impl ts_rs::TypeVisitor) {
        <Wire as ts_rs::TS>::visit_dependencies(visitor);
    }
}

events! {
    "run.started" RunStarted(RunStarted) => Run(RunEvent::Started),
    "session.started" ConversationStarted(ConversationStarted) => Conversation(ConversationEvent::Started),
    "session.agent" AgentChanged(AgentChanged) => Conversation(ConversationEvent::AgentChanged),
    "command.resolved" ("session.command") CommandResolved(CommandResolved) => Conversation(ConversationEvent::CommandResolved),
    "session.instructed" ModelInstructed(ModelInstructed) => Conversation(ConversationEvent::Instructed),
    "session.run" ActiveRunChanged(ActiveRunChanged) => Conversation(ConversationEvent::RunChanged),
    "run.resumed" RunResumed(RunResumed) => Run(RunEvent::Resumed),
    "user.input" UserInput(UserInput) => User(UserEvent::Input),
    "workflow.planned" FramePlanned(FramePlanned) => Frame(FrameEvent::Planned),
    "workflow.entered" FrameEntered(FrameEntered) => Frame(FrameEvent::Entered),
    "workflow.left" FrameLeft(FrameLeft) => Frame(FrameEvent::Left),
    "workflow.held" FrameHeld(FrameHeld) => Frame(FrameEvent::Held),
    "tools.listed" ToolsListed(ToolsListed) => Tool(ToolEvent::Listed),
    "server.logged" ServerLogged(ServerLogged) => Tool(ToolEvent::Logged),
    "turn.started" TurnStarted(TurnStarted) => Model(ModelEvent::TurnStarted),
    "assistant.delta" AssistantDelta(AssistantDelta) => Model(ModelEvent::Delta),
    "model.retried" ModelRetried(ModelRetried) => Model(ModelEvent::Retried),
    "model.fellback" ModelFellBack(ModelFellBack) => Model(ModelEvent::FellBack),
    "model.overflowed" ModelOverflowed(ModelOverflowed) => Model(ModelEvent::Overflowed),
    "model.nudged" ModelNudged(ModelNudged) => Model(ModelEvent::Nudged),
    "model.stopped" ModelStopped(ModelStopped) => Model(ModelEvent::Stopped),
    "assistant.message" AssistantMessage(AssistantMessage) => Model(ModelEvent::Replied),
    "tool.started" ToolStarted(ToolStarted) => Tool(ToolEvent::Started),
    "tool.finished" ToolFinished(ToolFinished) => Tool(ToolEvent::Finished),
    "node.entered" NodeEntered(Box<NodeEntered>) => State(StateEvent::Entered),
    "state.changed" StateChanged(Box<StateChange>) => State(StateEvent::Changed),
    "question" UserAsked(UserAsked) => User(UserEvent::Asked),
    "phase.changed" PhaseChanged(PhaseChanged) => Run(RunEvent::PhaseChanged),
    "context.cut" ContextCut(ContextCut) => Model(ModelEvent::ContextCut),
    "error" RunFailed(RunFailed) => Run(RunEvent::Failed),
    "run.finished" RunFinished(RunFinished) => Run(RunEvent::Finished),
}
