//! Calls tools of tool servers: a changed tool list is recorded, and a call happens at most once.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_core::call::{cut_off, server_tool};
use crewagent_core::event::{
    Answer, EventKind, ServerLogged, ToolEvent, ToolFinished, ToolStarted, ToolsListed,
};
use crewagent_core::payload::Payload;
use crewagent_core::policy::rules::Rule;
use crewagent_core::refusal::Refusal;
use crewagent_core::run::machine::{CallJob, Offered, Whole};
use crewagent_core::tool::server_tool::{ServerName, ServerTool, is_server_tool};
use serde_json::{Map, Value as Json};

use super::call::{asked, deadline, finished, started};
use super::request::{self, Toolbox};
use super::{Driver, World, approval};
use crate::cancel::Deadline;
use crate::step_log::{Halt, Once, StepLog};
use crate::tool_server::{LogCursor, LogLine, ServerOffer, answer};

/// This process's view of tool servers, beside the records.
#[derive(Default)]
pub(super) struct ToolServerView {
    /// Offer of each server at the last update of the list.
    seen: BTreeMap<ServerName, Arc<ServerOffer>>,
    logs: LogCursor,
    /// Id of a call that another process started, so that its outcome is unknown.
    in_doubt: Option<String>,
    /// Digest of each tool at its last call, by name.
    called: BTreeMap<String, String>,
}

impl ToolServerView {
    /// Abandons the current call.
    pub(super) fn abandon_call(&mut self) {
        self.in_doubt = None;
    }
}

impl<L: StepLog> Driver<'_, L> {
    /// Records the tools of the servers whose list has changed since the last record.
    pub(super) fn list_tools(&mut self, world: &World<'_>) -> Result<(), Halt> {
        let policy = self.machine.policy().mcp;
        if !policy.enabled {
            return Ok(());
        }
        let cancel = world.control.cancel();
        // Each server has its own start timeout.
        let offers = world.servers.offers(&policy, &Deadline::whenever(cancel));
        if cancel.is_cancelled() {
            return Err(Halt::Stopped);
        }
        for (server, offer) in offers {
            let seen = self.state.servers.seen.insert(server.clone(), offer.clone());
            if seen.is_some_and(|seen| Arc::ptr_eq(&seen, &offer)) {
                continue;
            }
            if let Some(kind) = news(server, &offer, self.state.toolbox.listed(server)) {
                self.signal(kind)?;
            }
        }
        for (server, line) in world.servers.logged(&mut self.state.servers.logs) {
            self.emit(logged(&server, line));
        }
        Ok(())
    }

    /// Applies the tool list of a server, which was just recorded or is replayed.
    pub(super) fn list(&mut self, server: &str, tools: &Payload) {
        let tools: Option<Vec<ServerTool>> =
            tools.inline().and_then(|text| serde_json::from_str(text).ok());
        if let Ok(server) = server.parse() {
            self.state.toolbox.list(server, tools.unwrap_or_default());
        }
    }

    /// Returns true if a call is for a server's tool that the model was offered, or that it was when the call started.
    pub(super) fn is_server_tool(&self, job: &CallJob) -> bool {
        self.is_in_doubt(job)
            || self.state.toolbox.server_tool(&job.call.name, &job.policy).is_some()
    }

    fn is_in_doubt(&self, job: &CallJob) -> bool {
        self.state.servers.in_doubt.as_ref() == Some(&job.call.id)
    }

    /// Lets a server execute a call. The intent is recorded first; if the process ends before the result is recorded,
    /// the model is told so, and the call is not repeated.
    pub(super) fn call_server(
        &mut self,
        job: &CallJob,
        key: &str,
        world: Option<&World<'_>>,
    ) -> Result<(), Halt> {
        let tool = self.state.toolbox.server_tool(&job.call.name, &job.policy).cloned();
        if self.is_in_doubt(job) {
            let name =
                tool.map_or_else(|| server_tool::written(&job.call.name), |tool| tool.name());
            return self.settle_doubt(job, key, &name, world);
        }
        let Some(tool) = tool else {
            return Err(Halt::Unfit(format!("{} is not offered any more", job.call.name)));
        };
        let (name, sha256) = (tool.name(), tool.digest().to_string());
        let called = self.state.servers.called.get(&name).map(String::as_str);
        if let Some(asking) = job.rule_to_approve_offer(&name, &sha256, called) {
            return self.ask_approval(job, key, &tool, asking, world);
        }
        self.state.servers.called.insert(name.clone(), sha256);
        let arguments = OnceCell::new();
        let logs = &mut self.state.servers.logs;
        let outcome = self.log.once(
            key,
            &mut || {
                let world = world.ok_or(Halt::CaughtUp)?;
                let read = read_arguments(job, &name, world)?;
                let subject = read.as_ref().ok().and_then(server_tool::subject);
                let _ = arguments.set(read);
                Ok(named(started(job, subject, None), &name))
            },
            &mut |context| {
                let world = world.ok_or(Halt::CaughtUp)?;
                let answer = match arguments.get() {
                    Some(Ok(arguments)) => {
                        let arguments: &Map<String, Json> = arguments;
                        let deadline = deadline(job, world);
                        world.servers.call(&tool, arguments.clone(), &deadline, world.blobs)?
                    }
                    Some(Err(refusal)) => Answer::from(refusal),
                    None => return Err(Halt::Unfit(format!("{name} has no intent"))),
                };
                for (server, line) in world.servers.logged(logs) {
                    context.emit(logged(&server, line));
                }
                Ok(named(finished(job, answer), &name))
            },
            self.listener,
        )?;
        match outcome {
            Once::Done(recorded) => self.planned(*recorded, None),
            Once::InDoubt => {
                // Another process may have resumed in between, so the answer for the model has a key of its own.
                self.state.servers.in_doubt = Some(job.call.id.clone());
                Ok(())
            }
        }
    }

    /// Answers a call whose outcome is unknown, whether or not the policy allows the tool now.
    fn settle_doubt(
        &mut self,
        job: &CallJob,
        key: &str,
        name: &str,
        world: Option<&World<'_>>,
    ) -> Result<(), Halt> {
        let recorded = self.log.step(
            &doubt(key),
            &mut |_| {
                world.ok_or(Halt::CaughtUp)?;
                Ok(named(finished(job, Answer::from(&answer::in_doubt(name))), name))
            },
            self.listener,
        )?;
        self.state.servers.in_doubt = None;
        self.planned(recorded, None)
    }

    /// Asks the user to approve a call.
    fn ask_approval(
        &mut self,
        job: &CallJob,
        key: &str,
        tool: &ServerTool,
        asking: (Rule, Offered),
        world: Option<&World<'_>>,
    ) -> Result<(), Halt> {
        let recorded = self.log.step(
            &question(key),
            &mut |_| {
                let world = world.ok_or(Halt::CaughtUp)?;
                let approval = approval::of_server_call(job, tool, asking.clone(), world.blobs)?;
                Ok(asked(job, approval.question()))
            },
            self.listener,
        )?;
        self.planned(recorded, None)
    }
}

/// Returns the refusal of a call of a server's tool that is not offered.
pub(super) fn not_offered(job: &CallJob, toolbox: &Toolbox) -> Option<Refusal> {
    if !is_server_tool(&job.call.name) || job.whole == Whole::CutOff {
        return None;
    }
    let offered: Vec<String> = toolbox.allowed(&job.policy).map(ServerTool::name).collect();
    Some(server_tool::refusal(&job.call.name, &offered, &job.policy))
}

/// Parses the arguments of a call, or returns the refusal.
fn read_arguments(
    job: &CallJob,
    tool: &str,
    world: &World<'_>,
) -> Result<Result<Map<String, Json>, Refusal>, Halt> {
    let text = request::text(&job.call.arguments, world.blobs)?;
    Ok(match job.whole {
        Whole::CutOff => Err(cut_off(tool, &text)),
        Whole::Whole => server_tool::arguments(tool, &text),
    })
}

/// Returns the key of the question for approval.
fn question(key: &str) -> String {
    format!("{key}/ask")
}

/// Returns the key of the answer to a call whose outcome is unknown.
fn doubt(key: &str) -> String {
    format!("{key}/doubt")
}

/// Returns the event that records an offer, if it is new. A server that fails keeps its tools: the next call restarts
/// it.
fn news(
    server: &ServerName,
    offer: &ServerOffer,
    known: Option<&[ServerTool]>,
) -> Option<EventKind> {
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
        names: tools.iter().map(ServerTool::name).collect(),
        left_out,
        error,
        tools: serde_json::to_string(tools).unwrap_or_default().into(),
    }))
}

fn logged(server: &ServerName, line: LogLine) -> EventKind {
    EventKind::from(ServerLogged { server: server.to_string(), level: line.level, text: line.text })
}

/// Returns the event with the canonical name of the tool, however the model wrote it.
fn named(mut kind: EventKind, name: &str) -> EventKind {
    if let EventKind::Tool(ToolEvent::Started(ToolStarted { tool, .. }))
    | EventKind::Tool(ToolEvent::Finished(ToolFinished { tool, .. })) = &mut kind
    {
        name.clone_into(tool);
    }
    kind
}
