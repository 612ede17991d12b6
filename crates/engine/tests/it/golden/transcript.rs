//! Renders a run as a text that people can read and compare.

use std::fmt::Write as _;

use crewagent_core::event::{
    ActiveRunChanged, AgentChanged, AssistantMessage, CommandResolved, ContextCut,
    ConversationEvent, ConversationStarted, Event, EventKind, FrameEntered, FrameEvent, FrameHeld,
    FrameLeft, ModelEvent, ModelInstructed, ModelNudged, ModelOverflowed, ModelRetried,
    ModelStopped, NodeEntered, PhaseChanged, Reply, RunEvent, RunFailed, RunFinished, RunResumed,
    RunStarted, ServerLogged, StateChange, StateEvent, ToolEvent, ToolFinished, ToolStarted,
    ToolsListed, TurnStarted, UserAsked, UserEvent, UserInput,
};
use crewagent_core::message::Message;
use crewagent_core::payload::Payload;
use crewagent_core::state::frame::Frame;
use serde_json::json;

/// Limit in characters of a text in one line.
const SHOWN: usize = 300;

pub(crate) fn of(events: &[Event]) -> String {
    let run_id = events.iter().find_map(|event| event.run_id.clone()).unwrap_or_default();
    let mut text = String::new();
    for event in events {
        line(&event.kind, &mut text);
    }
    // Ids and digests of the state document depend on the run's id.
    let text = if run_id.is_empty() { text } else { text.replace(&run_id, "RUN") };
    fold(&mask_digests(&text))
}

/// Folds consecutive lines that differ only in numbers into the first one.
fn fold(text: &str) -> String {
    let shape = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "");
    let lines: Vec<&str> = text.lines().collect();
    let mut folded = String::new();
    for alike in lines.chunk_by(|one, other| shape(one) == shape(other)) {
        let shown = if alike.len() > 5 { 1 } else { alike.len() };
        for line in &alike[..shown] {
            let _ = writeln!(folded, "{line}");
        }
        if shown < alike.len() {
            let _ = writeln!(folded, "  … and {} more of this kind", alike.len() - shown);
        }
    }
    folded
}

fn line(kind: &EventKind, text: &mut String) {
    let _ = match kind {
        EventKind::Run(RunEvent::Started(RunStarted {
            package,
            workflow,
            agent_id,
            state,
            ..
        })) => {
            let at = &state.current_node_id;
            writeln!(text, "run started: {package} {workflow} as {agent_id} at {at}")
        }
        EventKind::Conversation(_) => {
            session_line(kind, text);
            Ok(())
        }
        EventKind::Run(RunEvent::Resumed(RunResumed { epoch, fresh, state, notes, .. })) => {
            let at = state.as_ref().map_or("", |state| state.current_node_id.as_str());
            writeln!(text, "run resumed: epoch {epoch} fresh={fresh} {at} {notes:?}")
        }
        EventKind::User(UserEvent::Input(UserInput { text: words, for_node_id, call_id })) => {
            let words = shown(words);
            writeln!(text, "user (for {for_node_id:?}, call {call_id:?}): {words}")
        }
        EventKind::Frame(_) => {
            call_line(kind, text);
            Ok(())
        }
        EventKind::Model(model) => {
            model_line(model, text);
            Ok(())
        }
        EventKind::Tool(ToolEvent::Started(ToolStarted { tool, intent: Some(intent), .. })) => {
            for file in &intent.files {
                let old = if file.before.is_some() { "changes" } else { "creates" };
                let _ = writeln!(text, "  {tool} {old} {}", file.path);
            }
            Ok(())
        }
        EventKind::Tool(ToolEvent::Started(ToolStarted { intent: None, .. })) => Ok(()),
        EventKind::Tool(ToolEvent::Finished(ToolFinished { tool, answer, .. })) => {
            let verdict =
                answer.refused.map_or_else(|| "ok".to_owned(), |code| json!(code).to_string());
            writeln!(text, "  {tool} {verdict}: {}", shown(&answer.result))
        }
        EventKind::State(StateEvent::Entered(entered)) => {
            let NodeEntered { node_id, visit, step, of, inputs, outputs, again } = &**entered;
            let again = if *again { " again" } else { "" };
            writeln!(
                text,
                "node{again}: {node_id}, visit {visit}, step {step} of {of}, {} inputs, {} outputs",
                inputs.len(),
                outputs.len()
            )
        }
        EventKind::State(StateEvent::Changed(change)) => {
            state_line(change, text);
            Ok(())
        }
        EventKind::User(UserEvent::Asked(UserAsked { question, moved, .. })) => {
            let (kind, moves) = (question.kind, moved.is_some());
            writeln!(text, "question ({kind:?}, move {moves}): {}", question.question)
        }
        EventKind::Run(RunEvent::PhaseChanged(PhaseChanged { phase, reason, message })) => {
            writeln!(text, "phase: {phase:?} {reason:?} {}", message.as_deref().unwrap_or(""))
        }
        EventKind::Tool(ToolEvent::Listed(ToolsListed { server, names, .. })) => {
            writeln!(text, "tools of {server}: {names:?}")
        }
        EventKind::Tool(ToolEvent::Logged(ServerLogged { server, text: line, .. })) => {
            writeln!(text, "{server} logged: {line}")
        }
        EventKind::Run(RunEvent::Failed(RunFailed { message, .. })) => {
            writeln!(text, "error: {message}")
        }
        EventKind::Run(RunEvent::Finished(RunFinished { phase, artifacts, turns, .. })) => {
            writeln!(text, "run finished: {phase:?}, {turns} turns, artifacts {artifacts:?}")
        }
    };
}

fn model_line(model: &ModelEvent, text: &mut String) {
    let _ = match model {
        ModelEvent::TurnStarted(TurnStarted {
            turn, frame, node_id, agent_id, request, ..
        }) => {
            let node = node_id.as_deref().unwrap_or("completed");
            let node =
                frame.map_or_else(|| node.to_owned(), |frame| format!("{node} of call {frame}"));
            let count = request.messages;
            let agent_id = agent_id.as_deref().unwrap_or("nobody");
            let _ = writeln!(text, "turn {turn} at {node} as {agent_id}, {count} messages");
            request.added.iter().for_each(|message| added(message, text));
            Ok(())
        }
        ModelEvent::Replied(AssistantMessage { reply, .. }) => {
            reply_lines(reply, text);
            Ok(())
        }
        ModelEvent::Delta(_) => Ok(()),
        ModelEvent::ContextCut(ContextCut { messages, .. }) => {
            writeln!(text, "context: {messages} messages cut")
        }
        ModelEvent::Retried(ModelRetried { attempt, message, .. }) => {
            writeln!(text, "retry {attempt}: {message}")
        }
        ModelEvent::Overflowed(ModelOverflowed { message, .. }) => {
            writeln!(text, "overflow: {message}")
        }
        ModelEvent::Nudged(ModelNudged { kind, .. }) => {
            writeln!(text, "nudge: {kind:?}")
        }
        ModelEvent::FellBack(fell_back) => {
            writeln!(text, "the run's model stands in for {}", fell_back.tier.name())
        }
        ModelEvent::Stopped(ModelStopped { by, .. }) => {
            writeln!(text, "stopped by: {by:?}")
        }
    };
}

fn state_line(change: &StateChange, text: &mut String) {
    let StateChange { state, moved, recorded, .. } = change;
    let moved = moved.as_ref().map_or_else(
        || "not".to_owned(),
        |moved| format!("{} -> {} ({})", moved.from, moved.to, moved.label),
    );
    let (at, done) = (&state.current_node_id, &state.steps_completed);
    let complete = state.complete;
    let _ = writeln!(
        text,
        "state: at {at}, moved {moved}, completed {done:?}, complete {complete}, recorded {recorded:?}"
    );
}

/// Renders a change of the active workflow.
fn call_line(kind: &EventKind, text: &mut String) {
    let _ = match kind {
        EventKind::Frame(FrameEvent::Entered(FrameEntered { frame, depth, agent_id, state })) => {
            let Frame { workflow_id, node_id, id } = frame;
            let at = &state.current_node_id;
            writeln!(
                text,
                "entered: call {id} of {workflow_id} by {node_id}, depth {depth}, as {agent_id} at {at}"
            )
        }
        EventKind::Frame(FrameEvent::Left(FrameLeft { frame, failed, change })) => {
            let at = &change.state.current_node_id;
            writeln!(
                text,
                "left: call {} of {} {failed:?}, back at {at}",
                frame.id, frame.workflow_id
            )
        }
        EventKind::Frame(FrameEvent::Held(FrameHeld { frame, message })) => {
            writeln!(text, "held: call {} of {}: {message}", frame.id, frame.workflow_id)
        }
        _ => Ok(()),
    };
}

fn session_line(kind: &EventKind, text: &mut String) {
    let _ = match kind {
        EventKind::Conversation(ConversationEvent::Started(ConversationStarted {
            package,
            agent_id,
            ..
        })) => {
            writeln!(text, "session started: {package:?} with {agent_id:?}")
        }
        EventKind::Conversation(ConversationEvent::AgentChanged(AgentChanged { agent_id })) => {
            writeln!(text, "session agent: {agent_id:?}")
        }
        EventKind::Conversation(ConversationEvent::CommandResolved(CommandResolved {
            command,
            confidence,
            reason,
            item,
            choices,
            error,
            ..
        })) => {
            let _ = writeln!(text, "command {command} ({confidence:?}): {reason}, item {item:?}");
            for choice in choices {
                let _ = writeln!(text, "  {}: {}", choice.answer, choice.label);
            }
            error.iter().for_each(|error| {
                let _ = writeln!(text, "  {:?}: {} {}", error.code, error.message, error.hint);
            });
            Ok(())
        }
        EventKind::Conversation(ConversationEvent::Instructed(ModelInstructed {
            subject,
            texts,
        })) => {
            let _ = writeln!(text, "instructed: {subject}");
            texts.iter().for_each(|one| {
                let _ = writeln!(text, "  {}", shown(one));
            });
            Ok(())
        }
        EventKind::Conversation(ConversationEvent::RunChanged(ActiveRunChanged { id, .. })) => {
            writeln!(text, "session run: {}", if id.is_some() { "entered" } else { "left" })
        }
        other => writeln!(text, "{other:?}"),
    };
}

fn added(message: &Message, text: &mut String) {
    let (role, content) = match message {
        Message::System { content } => ("system", content.as_ref()),
        Message::User { content } => ("user", content.as_ref()),
        Message::Assistant { .. } => ("assistant", ""),
        Message::Tool { .. } => ("tool", ""),
    };
    let _ = writeln!(text, "  + {role}: {}", short(content.lines().next().unwrap_or_default()));
}

fn reply_lines(reply: &Reply, text: &mut String) {
    if let Some(content) = &reply.content {
        let _ = writeln!(text, "assistant: {}", short(content));
    }
    for call in &reply.tool_calls {
        let _ = writeln!(text, "  call {} {}", call.name, shown(&call.arguments));
    }
}

fn shown(payload: &Payload) -> String {
    match payload {
        Payload::Inline(text) => short(text),
        Payload::Blob { bytes, .. } => format!("(blob, {bytes} bytes)"),
    }
}

fn short(text: &str) -> String {
    let line = text.replace('\n', "\\n");
    if line.chars().count() <= SHOWN {
        return line;
    }
    let head: String = line.chars().take(SHOWN).collect();
    format!("{head}… ({} bytes)", text.len())
}

/// Masks digests, because those of the state document differ from run to run.
pub(super) fn mask_digests(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut digits = String::new();
    for c in text.chars().chain(Some('\0')) {
        if c.is_ascii_hexdigit() {
            digits.push(c);
            continue;
        }
        masked.push_str(if digits.len() == 64 { "SHA256" } else { &digits });
        digits.clear();
        if c != '\0' {
            masked.push(c);
        }
    }
    masked
}
