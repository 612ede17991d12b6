//! Tools of servers: which there are is recorded when it changes, and a call of one happens at most once.

use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_core::call::served;
use crewagent_core::event::{
    Answer, EventKind, ServerLogged, ToolEvent, ToolFinished, ToolStarted, ToolsListed,
};
use crewagent_core::payload::Payload;
use crewagent_core::policy::Policy;
use crewagent_core::policy::rules::Verdict;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::run::machine::{Job, Whole};
use crewagent_core::tool::served::{ServedTool, ServerName, is_served};

use super::call::{asked, cut_off, deadline, finished, started, would_need_closing};
use super::{Drive, World, approval, request, unrecorded};
use crate::cancel::Deadline;
use crate::step_log::{Halt, Moment, Once, Turn};
use crate::tool_server::{LogCursor, Offer, answer};

/// What this process knows of servers, beside what is recorded.
#[derive(Default)]
pub(crate) struct Acquaintance {
    /// What each offered when the list was last brought up to date.
    seen: BTreeMap<ServerName, Arc<Offer>>,
    heard: LogCursor,
    /// The call that was begun by another process, so that nobody knows how it ended.
    in_doubt: Option<String>,
}

impl Acquaintance {
    /// The call in hand is given up.
    pub(super) fn forget_call(&mut self) {
        self.in_doubt = None;
    }
}

impl<T: Turn> Drive<'_, T> {
    /// Records which tools servers have, where that has changed since it was last recorded.
    pub(super) fn list_tools(&mut self, world: &World<'_>) -> Result<(), Halt> {
        let policy = self.machine.policy().mcp;
        if !policy.enabled {
            return Ok(());
        }
        let cancel = world.control.cancel();
        // Each server has a time of its own to start.
        let offers = world.servers.offers(&policy, &Deadline::whenever(cancel));
        if cancel.is_cancelled() {
            return Err(Halt::Stopped);
        }
        for (server, offer) in offers {
            let seen = self.course.served.seen.insert(server.clone(), offer.clone());
            if seen.is_some_and(|seen| Arc::ptr_eq(&seen, &offer)) {
                continue;
            }
            if let Some(kind) = news(server, &offer, self.course.toolbox.listed(server)) {
                let signal = self.turn.signal(kind)?;
                self.signalled(signal);
            }
        }
        for (server, line) in world.servers.logged(&mut self.course.served.heard) {
            self.turn.note(logged(&server, line));
        }
        Ok(())
    }

    /// A server has these tools, as was just recorded or was recorded before.
    pub(super) fn listed(&mut self, server: &str, tools: &Payload) {
        let tools: Option<Vec<ServedTool>> =
            tools.inline().and_then(|text| serde_json::from_str(text).ok());
        if let Ok(server) = server.parse() {
            self.course.toolbox.list(server, tools.unwrap_or_default());
        }
    }

    /// Whether a call is one of a server's tool that the model was told of, or was one when it was begun.
    pub(super) fn is_served(&self, job: &Job) -> bool {
        self.is_in_doubt(job) || self.course.toolbox.served(&job.call.name, &job.policy).is_some()
    }

    fn is_in_doubt(&self, job: &Job) -> bool {
        self.course.served.in_doubt.as_ref() == Some(&job.call.id)
    }

    /// Why a call of a server's tool is none, if it is not offered.
    pub(super) fn not_offered(&self, job: &Job) -> Option<Refusal> {
        if !is_served(&job.call.name) || job.whole == Whole::CutOff {
            return None;
        }
        if let Some(refusal) = denied(&written(&job.call.name), &job.policy) {
            return Some(refusal);
        }
        let offered: Vec<String> =
            self.course.toolbox.allowed(&job.policy).map(ServedTool::name).collect();
        Some(served::not_offered(&job.call.name, &offered, &job.policy.mcp))
    }

    /// Gives back what is recorded of a call.
    pub(super) fn replay_served(&mut self, job: &Job, key: &str) -> Result<(), Halt> {
        if self.is_in_doubt(job) {
            let key = doubt(key);
            let recorded = self.turn.step(&key, &mut |_| Err(unrecorded(&key)))?;
            self.course.served.in_doubt = None;
            return self.planned(recorded, None);
        }
        let tool = self.course.toolbox.served(&job.call.name, &job.policy);
        if tool.is_some_and(|tool| approval::is_due(job, &tool.name())) {
            let key = question(key);
            let recorded = self.turn.step(&key, &mut |_| Err(unrecorded(&key)))?;
            return self.planned(recorded, None);
        }
        let intent = started(job, None, None);
        match self.turn.once(key, intent, &mut |_| Err(unrecorded(key)))? {
            Once::Done(recorded) => self.planned(*recorded, None),
            Once::InDoubt => {
                // Another process may have taken over in between, so what was made of it comes later.
                self.course.served.in_doubt = Some(job.call.id.clone());
                Ok(())
            }
        }
    }

    /// Has a server do what the model asked for. The intent is recorded first; if the process ends before the result is,
    /// the model is told so, and the call is not made again.
    pub(super) fn call_server(
        &mut self,
        job: &Job,
        key: &str,
        world: &World<'_>,
    ) -> Result<(), Halt> {
        let tool = self.course.toolbox.served(&job.call.name, &job.policy).cloned();
        if self.is_in_doubt(job) {
            // Whether it may be called now has nothing to do with what it may have done.
            let name = tool.map_or_else(|| written(&job.call.name), |tool| tool.name());
            let recorded = self.turn.step(&doubt(key), &mut |_| {
                Ok(named(finished(job, Answer::from(&answer::in_doubt(&name))), &name))
            })?;
            self.course.served.in_doubt = None;
            return self.planned(recorded, None);
        }
        let Some(tool) = tool else {
            return Err(Halt::Unfit(format!("{} is not offered any more", job.call.name)));
        };
        let text = request::text(&job.call.arguments, world.blobs)?;
        let arguments = match job.whole {
            Whole::CutOff => Err(cut_off()),
            Whole::Whole if would_need_closing(&text) => Err(cut_off()),
            Whole::Whole => served::arguments(&tool.name(), &text),
        };
        if let Some(approval) = approval::of_call(job, &tool.name(), world.blobs)? {
            let kind = asked(job, approval.question());
            let recorded = self.turn.step(&question(key), &mut |_| Ok(kind.clone()))?;
            return self.planned(recorded, None);
        }
        let subject = arguments.as_ref().ok().and_then(served::subject);
        let intent = named(started(job, subject, None), &tool.name());
        let heard = &mut self.course.served.heard;
        let mut work = |moment: &mut Moment<'_>| {
            let answer = match &arguments {
                Ok(arguments) => {
                    let deadline = deadline(job, world);
                    world.servers.call(&tool, arguments.clone(), &deadline, world.blobs)?
                }
                Err(refusal) => Answer::from(refusal),
            };
            for (server, line) in world.servers.logged(heard) {
                moment.note(logged(&server, line));
            }
            Ok(named(finished(job, answer), &tool.name()))
        };
        match self.turn.once(key, intent, &mut work)? {
            Once::Done(recorded) => self.planned(*recorded, None),
            Once::InDoubt => {
                self.course.served.in_doubt = Some(job.call.id.clone());
                self.call_server(job, key, world)
            }
        }
    }
}

/// The name of a tool as we write it, however the model did.
fn written(name: &str) -> String {
    name.replace("__", ".")
}

/// The key of the question whether a call may be made.
fn question(key: &str) -> String {
    format!("{key}/ask")
}

/// Why a tool of a server may not be called, if a rule denies it.
fn denied(tool: &str, policy: &Policy) -> Option<Refusal> {
    let outlook = policy.outlook(tool);
    let rule = outlook.rule.filter(|_| outlook.verdict == Verdict::Deny)?;
    let message = format!("The tool `{tool}` is denied by the rule {rule}.");
    let refusal = Refusal::new(RefusalCode::ToolNotAvailable, message);
    Some(refusal.hint("Do without it, or tell the user what you would need and why."))
}

/// The key of what was made of a call that nobody knows the outcome of.
fn doubt(key: &str) -> String {
    format!("{key}/doubt")
}

/// What is to be recorded of an offer. A server that fails keeps the tools it had: a call of one starts it again.
fn news(server: &ServerName, offer: &Offer, known: Option<&[ServedTool]>) -> Option<EventKind> {
    let (tools, left_out, error) = match &offer.listed {
        Ok(listed) => (listed.tools.as_slice(), listed.left_out.clone(), None),
        Err(_) if known.is_some() => return None,
        Err(fault) => (&[][..], Vec::new(), Some(fault.to_string())),
    };
    if known == Some(tools) {
        return None;
    }
    Some(EventKind::from(ToolsListed {
        server: server.to_string(),
        names: tools.iter().map(ServedTool::name).collect(),
        left_out,
        error,
        tools: serde_json::to_string(tools).unwrap_or_default().into(),
    }))
}

fn logged(server: &ServerName, line: crate::tool_server::LogLine) -> EventKind {
    EventKind::from(ServerLogged { server: server.to_string(), level: line.level, text: line.text })
}

/// The event with the canonical name of the tool, however the model wrote it.
fn named(mut kind: EventKind, name: &str) -> EventKind {
    if let EventKind::Tool(ToolEvent::Started(ToolStarted { tool, .. }))
    | EventKind::Tool(ToolEvent::Finished(ToolFinished { tool, .. })) = &mut kind
    {
        name.clone_into(tool);
    }
    kind
}
