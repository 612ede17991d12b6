//! Formats the events of a run as lines, live or from the record.

mod event;
mod speech;

use std::collections::BTreeMap;
use std::time::Duration;

use crewagent_core::event::{
    Answer, Channel, ConversationEvent, Event, EventKind, Finish, FrameEntered, FrameEvent,
    FrameHeld, FrameLeft, ModelEvent, ModelInstructed, Phase, Reason, Reply, RunEvent, RunResumed,
    StateChange, StateEvent, UserAsked, UserEvent, UserInput,
};
use crewagent_core::payload::Payload;
use crewagent_core::question::Question;
use crewagent_core::run::history::Position;
use crewagent_core::state::frame::Caller;
use crewagent_core::state::run_state::RunState;
use crewagent_source::bytes;

use self::speech::{SpeechText, TextFormat};
use super::flow::{Width, indented};
use super::names::DisplayNames;
use super::question::{self, Asker};
use super::{summary, tool};
use crate::language::{say, text};
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET, WARNING};

/// The source of the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventSource {
    /// They happen now; the driving command reports how the run ended.
    Live,
    /// They come from the record.
    Record,
}

/// Formats events; keeps the state that decides what the next event prints.
#[derive(Debug)]
pub(crate) struct Screen {
    view: EventSource,
    width: Width,
    names: DisplayNames,
    position: Position,
    /// The reason why a workflow cannot be entered or left, if it was shown.
    held: Option<String>,
    /// The node of the last heading, if there was one; none after completion.
    heading: Option<Option<String>>,
    /// The agent that was named last.
    agent: String,
    /// The text that is streaming in.
    speech: Option<SpeechText>,
    /// The turn whose text was streamed.
    shown: Option<u64>,
    /// The subjects of the calls in progress.
    subjects: BTreeMap<String, String>,
    echo: Echo,
    last: Last,
    subject: ScreenSubject,
    form: TextFormat,
    /// The drafts in the text of the last reply, which are on the screen already.
    drafts: Vec<String>,
}

/// The kind of journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScreenSubject {
    Run,
    Conversation,
}

/// Controls whether the user's next message is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Echo {
    On,
    /// It is on the screen already, because the user typed it there.
    Off,
}

/// The kind of output printed last, which decides about a blank line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Nothing,
    Lines,
    Block,
}

impl Screen {
    /// Creates a screen for a run in this state, with this agent.
    pub(crate) fn new(
        view: EventSource,
        width: Width,
        names: DisplayNames,
        run_state: RunState,
        agent: &str,
    ) -> Self {
        Self {
            view,
            width,
            names,
            position: Position::from(run_state),
            held: None,
            heading: None,
            agent: agent.to_owned(),
            speech: None,
            shown: None,
            subjects: BTreeMap::new(),
            echo: Echo::On,
            last: Last::Nothing,
            subject: ScreenSubject::Run,
            form: TextFormat::Plain,
            drafts: Vec::new(),
        }
    }

    /// Sets the calling frames.
    pub(crate) fn inside(self, callers: &[Caller]) -> Self {
        Self { position: Position::new(self.position.state, callers.to_vec(), 0), ..self }
    }

    /// Advances past events without showing them.
    pub(crate) fn after(mut self, events: &[Event]) -> Self {
        events.iter().for_each(|event| self.position.take(&event.kind));
        self
    }

    /// Formats the model's Markdown; needs a terminal whose lines can be replaced.
    pub(crate) fn with_markdown(self) -> Self {
        Self { form: TextFormat::Markdown, ..self }
    }

    pub(crate) fn resize(&mut self, width: Width) {
        self.width = width;
    }

    /// Ends the preview, because something else was printed in the middle of the text.
    pub(crate) fn leave(&mut self) -> String {
        self.speech.as_mut().map(SpeechText::leave).unwrap_or_default()
    }

    /// Creates a screen for a conversation.
    pub(crate) fn for_conversation(view: EventSource, width: Width, names: DisplayNames) -> Self {
        let screen = Self::new(view, width, names, RunState::default(), "");
        Self { subject: ScreenSubject::Conversation, ..screen }
    }

    /// Formats an event; the result may be empty.
    pub(crate) fn event(&mut self, event: &Event) -> String {
        let mut out = if matches!(event.kind, EventKind::Model(ModelEvent::Delta(_))) {
            String::new()
        } else if breaks(&event.kind) {
            self.break_off()
        } else {
            self.end_text()
        };
        self.position.take(&event.kind);
        match &event.kind {
            EventKind::Run(run) => self.run_event(event, run, &mut out),
            EventKind::Conversation(event) => self.conversation_event(event, &mut out),
            EventKind::User(UserEvent::Input(UserInput { text, .. })) => {
                match std::mem::replace(&mut self.echo, Echo::On) {
                    Echo::On => self.block(&user(text), &mut out),
                    Echo::Off => self.last = Last::Block,
                }
            }
            EventKind::User(UserEvent::Asked(UserAsked { question, moved, .. })) => {
                let asker = if moved.is_some() { Asker::Runtime } else { Asker::Model };
                let block = question::question(question, asker, self.width, &self.drafts);
                self.block(&block, &mut out);
            }
            EventKind::Frame(event) => self.frame_changed(event, &mut out),
            EventKind::State(StateEvent::Entered(_)) => {}
            EventKind::State(StateEvent::Changed(change)) => self.changed(change, &mut out),
            EventKind::Model(model) => self.model_event(model, &mut out),
            EventKind::Tool(tool) => self.tool_event(tool, &mut out),
        }
        out
    }

    /// Formats a frame change, or why it could not happen.
    fn frame_changed(&mut self, event: &FrameEvent, out: &mut String) {
        match event {
            FrameEvent::Planned(_) => return,
            FrameEvent::Entered(FrameEntered { frame, .. }) => {
                let name = paint::styled(NAME, paint::printable(&frame.workflow_id));
                let call = paint::styled(QUIET, say!("(call {})", "（调用 {}）", frame.id));
                self.lines(&format!("  {} {name} {call}\n", paint::styled(ACCENT, "↳")), out);
            }
            FrameEvent::Left(FrameLeft { frame, failed, .. }) => {
                let name = paint::styled(NAME, paint::printable(&frame.workflow_id));
                let (mark, how) = match failed {
                    None => (paint::styled(GOOD, "↰"), text!("is complete", "已完成")),
                    Some(_) => {
                        (paint::styled(ERROR, "↰"), text!("could not be completed", "未能完成"))
                    }
                };
                self.lines(&format!("  {mark} {name} {}\n", paint::styled(QUIET, how)), out);
            }
            FrameEvent::Held(FrameHeld { message, .. }) => {
                if self.held.as_ref() != Some(message) {
                    let text = self.notice(WARNING, "!", message);
                    self.lines(&text, out);
                    self.held = Some(message.clone());
                }
                return;
            }
        }
        self.held = None;
        self.heading = None;
    }

    fn answered(&mut self, call_id: &str, tool: &str, answer: &Answer, out: &mut String) {
        let subject = self.subjects.remove(call_id);
        // The user's message was shown when it was sent.
        let is_question = matches!(tool, "ui.ask_user" | "ui.gate") && answer.saved.is_empty();
        if !is_question || answer.refused.is_some() {
            let line = tool::line(tool, subject.as_deref(), answer, self.width);
            self.lines(&line, out);
        }
    }

    /// Formats a failure from the record; live, the driving command reports it.
    fn failed(&mut self, message: &str, partial: Option<&str>, out: &mut String) {
        if self.view == EventSource::Live {
            return;
        }
        self.cut_off(partial, out);
        let text = self.notice(ERROR, "✗", message);
        self.lines(&text, out);
    }

    /// Formats a partial reply from the record; live, it was streamed.
    fn cut_off(&mut self, words: Option<&str>, out: &mut String) {
        if let Some(words) = words.filter(|words| !words.is_empty())
            && self.view == EventSource::Record
        {
            out.push_str(&self.speak(Channel::Text, words.trim_end()));
            out.push_str(&self.break_off());
        }
    }

    /// Formats the events of a conversation besides messages. The driving command answers commands.
    fn conversation_event(&mut self, event: &ConversationEvent, out: &mut String) {
        match event {
            ConversationEvent::Instructed(ModelInstructed { subject, .. }) => {
                let line = format!("  · {}\n", paint::printable(subject));
                self.lines(&paint::styled(QUIET, line), out);
            }
            ConversationEvent::CommandResolved(resolved)
                if self.view == EventSource::Record && !resolved.is_chat() =>
            {
                self.block(&user(&resolved.text), out);
            }
            ConversationEvent::CommandResolved(_)
            | ConversationEvent::Started(_)
            | ConversationEvent::AgentChanged(_)
            | ConversationEvent::RunChanged(_) => {}
        }
    }

    /// Ends the streaming text, if any.
    pub(crate) fn end_text(&mut self) -> String {
        match self.speech.take() {
            Some(mut speech) => {
                let text = speech.finish();
                if !text.is_empty() {
                    self.last = Last::Lines;
                }
                text
            }
            None => String::new(),
        }
    }

    /// Ends the streaming text with an ellipsis, because it is incomplete.
    fn break_off(&mut self) -> String {
        let more = match &mut self.speech {
            Some(speech) => speech.push("…"),
            None => String::new(),
        };
        more + &self.end_text()
    }

    /// Formats a failed request: the part of its reply that was shown is void.
    fn void(&mut self, turn: u64, message: &str, next: &str, out: &mut String) {
        let was_shown = self.shown == Some(turn);
        self.shown = None;
        let message = message.trim_end();
        let stop = if message.ends_with(['.', '!', '?', ':']) { "" } else { "." };
        let dropped = if was_shown {
            text!(" What the model said above is dropped.", " 上面模型说的内容作废。")
        } else {
            ""
        };
        let text = self.notice(WARNING, "!", &format!("{message}{stop}{dropped}{next}"));
        self.lines(&text, out);
    }

    /// Suppresses the user's next message, because they typed it at the terminal.
    pub(crate) fn suppress_echo(&mut self) {
        self.echo = Echo::Off;
    }

    /// Formats the position, the last reply and the reason of the rest, so that the user can answer after a break.
    pub(crate) fn recall(
        &mut self,
        words: Option<&str>,
        why: Option<&str>,
        asked: Option<(&Question, Asker)>,
    ) -> String {
        let mut out = String::new();
        if !self.position.state.complete {
            let node = self.position.state.current_node_id.clone();
            out.push_str(&format!("{}\n", self.node_heading(&node)));
            self.heading = Some(Some(node));
            self.last = Last::Lines;
        }
        if let Some(words) = words {
            out.push_str(&self.speak(Channel::Text, words));
            out.push_str(&self.end_text());
        }
        if let Some(why) = why {
            let text = self.notice(WARNING, "!", why);
            self.lines(&text, &mut out);
        }
        if let Some((asked, asker)) = asked {
            self.block(&question::question(asked, asker, self.width, &self.drafts), &mut out);
        }
        out
    }

    fn speak(&mut self, channel: Channel, text: &str) -> String {
        let mut out = String::new();
        if self.speech.as_ref().is_some_and(|speech| speech.channel() != channel) {
            out.push_str(&self.end_text());
        }
        let is_new = self.speech.is_none();
        let (width, form) = (self.width, self.form);
        let speech = self.speech.get_or_insert_with(|| SpeechText::new(channel, form, width));
        // Many models begin with empty lines.
        let text = if is_new { text.trim_start_matches('\n') } else { text };
        let pieces = speech.push(text);
        if is_new && self.last == Last::Block {
            out.push('\n');
        }
        out.push_str(&pieces);
        self.last = Last::Lines;
        out
    }

    fn message(&mut self, turn: u64, reply: &Reply, out: &mut String) {
        let text = reply.content.as_deref().unwrap_or_default();
        let drafts = reply.drafts.iter().filter_map(|draft| text.get(draft.start..draft.end));
        self.drafts = drafts.map(str::to_owned).collect();
        let words = text.trim_end();
        if self.shown != Some(turn) && !words.is_empty() {
            out.push_str(&self.speak(Channel::Text, words));
            out.push_str(&self.end_text());
        }
        let trouble = match reply.finish {
            Finish::Stop => None,
            Finish::Length => Some(text!(
                "The reply was cut off because it became too long.",
                "回复过长，已被截断。",
            )),
            Finish::Filter => Some(text!(
                "The provider held back a part of the reply.",
                "服务商扣下了回复的一部分。",
            )),
        };
        if let Some(trouble) = trouble {
            let text = self.notice(WARNING, "!", trouble);
            self.lines(&text, out);
        }
    }

    fn turn(&mut self, node: Option<&str>, agent: &str, out: &mut String) {
        let is_same = self.heading.as_ref().is_some_and(|last| last.as_deref() == node);
        if is_same && self.agent == agent {
            return;
        }
        let mut line = match node {
            Some(node) => self.node_heading(node),
            None if self.subject == ScreenSubject::Conversation => {
                return self.speaker(agent, out);
            }
            None => format!(
                "{} {}{}",
                paint::styled(GOOD, "●"),
                self.frame_path(),
                text!("complete", "已完成")
            ),
        };
        if self.agent != agent {
            line.push_str(&format!("  {}", paint::styled(ACCENT, self.names.agent(agent))));
        }
        if self.last != Last::Nothing {
            out.push('\n');
        }
        out.push_str(&line);
        out.push('\n');
        self.heading = Some(node.map(str::to_owned));
        self.agent = agent.to_owned();
        self.last = Last::Lines;
    }

    /// Names the speaker in a conversation when it changes.
    fn speaker(&mut self, agent: &str, out: &mut String) {
        if self.agent != agent {
            self.agent = agent.to_owned();
            if !agent.is_empty() {
                let line = format!("{}\n", paint::styled(ACCENT, self.names.agent(agent)));
                self.block(&line, out);
            }
        }
        self.heading = Some(None);
    }

    /// Formats `● 1/6 step-01-select-story  Select the story`.
    fn node_heading(&self, node: &str) -> String {
        let called = self.position.subworkflow();
        let title = match self.names.title(called, node) {
            "" => String::new(),
            title => format!("  {title}"),
        };
        let place = match self.names.total(called) {
            0 => String::new(),
            total => {
                format!("{}/{total} ", place_of(node, &self.position.state.steps_completed))
            }
        };
        format!(
            "{} {}{}{}{title}",
            paint::styled(ACCENT, "●"),
            paint::styled(QUIET, place),
            self.frame_path(),
            paint::styled(NAME, paint::printable(node))
        )
    }

    /// Returns the prefix of entered workflows.
    fn frame_path(&self) -> String {
        let way: String =
            self.position.frames().map(|frame| format!("{} › ", frame.workflow_id)).collect();
        paint::styled(QUIET, paint::printable(&way))
    }

    fn changed(&mut self, change: &StateChange, out: &mut String) {
        if let Some(moved) = &change.moved {
            let to = paint::styled(ACCENT, paint::printable(&moved.to));
            let label = paint::styled(QUIET, format_args!("({})", paint::printable(&moved.label)));
            self.lines(&format!("  {} {to} {label}\n", paint::styled(ACCENT, "→")), out);
        }
        for path in &change.kept {
            let text = self.notice(QUIET, "=", &say!("kept {path} as it was", "{path} 保持原样"));
            self.lines(&text, out);
        }
        for warning in &change.warnings {
            let text = self.notice(WARNING, "!", warning);
            self.lines(&text, out);
        }
    }

    fn resumed(&mut self, event: &Event, out: &mut String) {
        let EventKind::Run(RunEvent::Resumed(RunResumed { state, notes, epoch, .. })) = &event.kind
        else {
            return;
        };
        if state.is_some() {
            self.heading = None;
        }
        if self.view == EventSource::Record {
            let time = paint::printable(&event.time);
            let line = say!(
                "resumed {time}, process {epoch} of this run\n",
                "{time} 继续，本次运行的第 {epoch} 个进程\n"
            );
            self.block(&paint::styled(QUIET, line), out);
        }
        for note in notes {
            let text = self.notice(WARNING, "!", note);
            self.lines(&text, out);
        }
    }

    fn phase(
        &mut self,
        phase: Phase,
        reason: Option<Reason>,
        message: Option<&str>,
        out: &mut String,
    ) {
        // The reason may have been shown when the frame was held.
        let Some(message) = message.filter(|why| self.held.as_deref() != Some(*why)) else {
            return;
        };
        let (style, mark) = match phase {
            Phase::Failed if self.view == EventSource::Live => return,
            Phase::Failed => (ERROR, "✗"),
            Phase::Running | Phase::WaitingUser | Phase::Paused | Phase::Completed => {
                (WARNING, "!")
            }
        };
        // A failure is printed as an error of its own.
        if phase != Phase::Failed || reason.is_none() {
            let text = self.notice(style, mark, &summary::why(reason, message));
            self.lines(&text, out);
        }
    }

    fn notice(&self, style: anstyle::Style, mark: &str, message: &str) -> String {
        format!("  {} {}\n", paint::styled(style, mark), indented(message, 4, self.width))
    }

    fn lines(&mut self, text: &str, out: &mut String) {
        if self.last == Last::Block {
            out.push('\n');
        }
        out.push_str(text);
        self.last = Last::Lines;
    }

    /// Prints a text with a blank line before and after.
    fn block(&mut self, text: &str, out: &mut String) {
        if self.last != Last::Nothing {
            out.push('\n');
        }
        out.push_str(text);
        self.last = Last::Block;
    }
}

/// Returns the number of a node: its own if it was completed before, else the next one.
pub(crate) fn place_of(node: &str, completed: &[String]) -> usize {
    let mut distinct: Vec<&str> = Vec::new();
    for done in completed {
        if !distinct.contains(&done.as_str()) {
            distinct.push(done);
        }
    }
    distinct.iter().position(|done| *done == node).unwrap_or(distinct.len()) + 1
}

/// Returns true if the event ends an incomplete reply.
fn breaks(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Model(
            ModelEvent::Retried(_)
                | ModelEvent::FellBack(_)
                | ModelEvent::Overflowed(_)
                | ModelEvent::Stopped(_)
        ) | EventKind::Run(RunEvent::Failed(_))
    )
}

/// Says when a request is retried, and which attempt that is.
fn next_try(attempt: u32, wait_ms: u64) -> String {
    let tries = attempt.saturating_add(1);
    match wait_ms {
        0 => say!(" Trying again (try {tries}).", " 正在重试（第 {tries} 次）。"),
        _ => {
            let wait = summary::duration(Duration::from_millis(wait_ms));
            say!(" Trying again in {wait} (try {tries}).", " {wait}后重试（第 {tries} 次）。")
        }
    }
}

/// Formats the user's message.
fn user(text: &Payload) -> String {
    let words = match text.inline() {
        Some(words) => paint::printable_lines(words.trim()),
        None => say!("({} of text)", "（{} 文本）", bytes(text.bytes())),
    };
    let mut lines = words.lines();
    let first = lines.next().unwrap_or_default();
    let mut shown = format!("  {} {}\n", paint::styled(ACCENT, "›"), paint::styled(NAME, first));
    for line in lines {
        shown.push_str(&format!("    {}\n", paint::styled(NAME, line)));
    }
    shown
}

#[cfg(test)]
mod tests;
