//! Formats the events of one group: of the run, of the model, of its tools.

use crewagent_core::event::{
    AssistantDelta, AssistantMessage, ContextCut, Event, ModelEvent, ModelFellBack, ModelNudged,
    ModelOverflowed, ModelRetried, ModelStopped, NudgeKind, PhaseChanged, RunEvent, RunFailed,
    RunFinished, ToolEvent, ToolFinished, ToolStarted, TurnStarted,
};
use crewagent_source::bytes;

use super::super::{summary, tool_server};
use super::{EventSource, Screen, ScreenSubject, next_try};
use crate::language::{say, text};
use crate::paint::{self, QUIET};

impl Screen {
    pub(super) fn run_event(&mut self, event: &Event, run: &RunEvent, out: &mut String) {
        match run {
            RunEvent::Started(_) => {}
            RunEvent::Resumed(_) => self.resumed(event, out),
            RunEvent::PhaseChanged(PhaseChanged { phase, reason, message }) => {
                self.phase(*phase, *reason, message.as_deref(), out);
            }
            RunEvent::Failed(RunFailed { message, partial }) => {
                self.failed(message, partial.as_deref(), out);
            }
            RunEvent::Finished(RunFinished { phase, reason, turns, usage, .. }) => {
                if self.view == EventSource::Record {
                    let spent = paint::styled(QUIET, summary::spent(*turns, usage, None));
                    let line = match self.subject {
                        ScreenSubject::Run => {
                            format!("{}  {spent}\n", summary::verdict(*phase, *reason))
                        }
                        // A conversation never ends.
                        ScreenSubject::Conversation => format!("{spent}\n"),
                    };
                    self.block(&line, out);
                }
            }
        }
    }

    pub(super) fn model_event(&mut self, model: &ModelEvent, out: &mut String) {
        match model {
            ModelEvent::TurnStarted(TurnStarted { node_id, agent_id, .. }) => {
                self.turn(node_id.as_deref(), agent_id.as_deref().unwrap_or_default(), out);
            }
            ModelEvent::Delta(AssistantDelta { turn, text, channel }) => {
                self.shown = Some(*turn);
                out.push_str(&self.speak(*channel, text));
            }
            ModelEvent::Replied(AssistantMessage { turn, reply }) => {
                self.message(*turn, reply, out);
            }
            ModelEvent::ContextCut(ContextCut { messages, bytes: size }) => {
                let what = paint::counted(*messages, ("message", "条消息"));
                let line = say!(
                    "  · {what} ({}) left the model's context\n",
                    "  · {what}（{}）已移出模型的上下文\n",
                    bytes(*size)
                );
                self.lines(&paint::styled(QUIET, line), out);
            }
            ModelEvent::Nudged(ModelNudged { kind, .. }) => {
                self.lines(&paint::styled(QUIET, format!("  · {}\n", nudge(*kind))), out);
            }
            ModelEvent::Retried(ModelRetried { turn, attempt, wait_ms, message }) => {
                let next = next_try(*attempt, *wait_ms);
                self.void(*turn, message, &next, out);
            }
            ModelEvent::FellBack(fell_back) => {
                self.lines(&paint::styled(QUIET, stand_in(fell_back)), out);
            }
            ModelEvent::Stopped(ModelStopped { partial, .. }) => {
                self.cut_off(partial.as_deref(), out);
            }
            ModelEvent::Overflowed(ModelOverflowed { turn, message }) => {
                self.void(*turn, message, "", out);
            }
        }
    }

    pub(super) fn tool_event(&mut self, tool: &ToolEvent, out: &mut String) {
        match tool {
            ToolEvent::Started(ToolStarted { call_id, subject, .. }) => {
                if let Some(subject) = subject {
                    self.subjects.insert(call_id.clone(), subject.clone());
                }
            }
            ToolEvent::Finished(ToolFinished { call_id, tool, answer, .. }) => {
                self.answered(call_id, tool, answer, out);
            }
            ToolEvent::Listed(listed) => self.lines(&tool_server::listed(listed), out),
            ToolEvent::Logged(logged) => {
                let text = match self.view {
                    EventSource::Live => String::new(),
                    EventSource::Record => tool_server::logged(logged),
                };
                self.lines(&text, out);
            }
        }
    }
}

/// Says why the model is reminded, and of what.
fn nudge(kind: NudgeKind) -> &'static str {
    match kind {
        NudgeKind::Empty => text!(
            "the reply was empty; the model is told to call a tool",
            "回复为空，已提醒模型调用工具",
        ),
        NudgeKind::NoCall => text!(
            "no tool was called; the model is told to call one",
            "没有调用工具，已提醒模型调用",
        ),
        NudgeKind::Finish => text!(
            "the model is shown the call that finishes the node",
            "已向模型展示结束该节点的调用",
        ),
        NudgeKind::GoOn => {
            text!("the model is told to go on without asking", "已提醒模型不必询问，继续工作")
        }
        NudgeKind::Cut => text!(
            "the reply was cut off; the model is told to say less",
            "回复被截断，已提醒模型写短一些",
        ),
        NudgeKind::Call => text!(
            "a call came as text; the model is told to call the tool",
            "调用写成了文字，已提醒模型真正调用工具",
        ),
        NudgeKind::Draft => text!(
            "the model is told to show its draft, or to write it again",
            "已提醒模型展示草稿，或重新写",
        ),
    }
}

/// Says that the run's model stands in for that of a tier.
fn stand_in(fell_back: &ModelFellBack) -> String {
    let ModelFellBack { tier, model, message, .. } = fell_back;
    let tier = tier.name();
    match model {
        None => say!(
            "  · no model is set for {tier} steps, so the run's model answers\n",
            "  · 没有为 {tier} 步骤设置模型，由本次运行的模型回答\n"
        ),
        Some(model) => {
            let why = message.as_deref().unwrap_or_default();
            say!(
                "  · the model {model} for {tier} steps failed, so the run's model answers: {why}\n",
                "  · {tier} 步骤的模型 {model} 出错，由本次运行的模型回答：{why}\n"
            )
        }
    }
}
