//! Builds requests to the model from the machine's context, with all texts loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_core::call::schema;
use crewagent_core::context::tools_digest;
use crewagent_core::event::{EventKind, RequestSummary, TurnStarted};
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::payload::Payload;
use crewagent_core::policy::Policy;
use crewagent_core::policy::rules::Verdict;
use crewagent_core::run::machine::{Ask, Machine};
use crewagent_core::tool::ToolSpec;
use crewagent_core::tool::server_tool::{ServerName, ServerTool, is_server_tool};
use crewagent_dialect::names::ToolNames;
use crewagent_dialect::profile::NameForm;
use crewagent_format::integrity::Digest;

use crate::blobs::{BlobError, Blobs};
use crate::model::{Request, RequestOutline, TurnPosition};
use crate::step_log::Halt;

/// Tools of the current agent, rebuilt when its policy or the list of a server changes.
#[derive(Default)]
pub(crate) struct Toolbox {
    made: Option<AllowedTools>,
    server_tools: BTreeMap<ServerName, Vec<ServerTool>>,
}

/// Tools that a policy allows.
struct AllowedTools {
    policy: Policy,
    tools: Arc<[ToolSpec]>,
    digest: Digest,
    bytes: u64,
}

impl Toolbox {
    fn of(&mut self, policy: Policy) -> (Arc<[ToolSpec]>, Digest) {
        if let Some(made) = &self.made
            && made.policy == policy
        {
            return (made.tools.clone(), made.digest);
        }
        let mut tools = schema::tools(&policy);
        tools.extend(self.allowed(&policy).map(ServerTool::spec));
        let tools: Arc<[ToolSpec]> = tools.into();
        let digest = tools_digest(&tools);
        let bytes = serde_json::to_vec(&tools).map_or(0, |json| json.len() as u64);
        self.made = Some(AllowedTools { policy, tools: tools.clone(), digest, bytes });
        (tools, digest)
    }

    /// Returns the size in bytes of the last request's tools.
    pub(super) fn bytes(&self) -> u64 {
        self.made.as_ref().map_or(0, |made| made.bytes)
    }

    /// Sets the tools of a server.
    pub(super) fn list(&mut self, server: ServerName, tools: Vec<ServerTool>) {
        self.server_tools.insert(server, tools);
        self.made = None;
    }

    /// Returns the tools of a server, if they are known.
    pub(super) fn listed(&self, server: &ServerName) -> Option<&[ServerTool]> {
        self.server_tools.get(server).map(Vec::as_slice)
    }

    /// Returns the tools of servers that a policy allows, ordered by server name.
    pub(super) fn allowed<'t>(&'t self, policy: &Policy) -> impl Iterator<Item = &'t ServerTool> {
        let servers = self.server_tools.iter().filter(|(server, _)| policy.mcp.allows(server));
        let is_open = |tool: &&ServerTool| policy.outlook(&tool.name()).verdict != Verdict::Deny;
        servers.flat_map(|(_, tools)| tools).filter(is_open)
    }

    /// Returns the server's tool with this name, in its canonical form or as providers see it.
    pub(super) fn server_tool(&self, name: &str, policy: &Policy) -> Option<&ServerTool> {
        if !is_server_tool(name) {
            return None;
        }
        let tools: Vec<&ServerTool> = self.allowed(policy).collect();
        let is_meant = |name: &str| tools.iter().find(|tool| tool.name() == name).copied();
        is_meant(name).or_else(|| {
            let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec()).collect();
            is_meant(ToolNames::new(NameForm::Plain, &specs).canonical(name))
        })
    }
}

/// Builds the next request.
pub(crate) fn of(
    machine: &Machine,
    ask: &Ask,
    blobs: &Blobs,
    toolbox: &mut Toolbox,
) -> Result<Request, Halt> {
    let context = machine.context();
    let (tools, digest) = toolbox.of(machine.policy());
    let mut messages = context.messages();
    if !context.is_at_hand() {
        let fetched = messages.iter().map(|message| at_hand(message.clone(), blobs));
        messages = Arc::new(fetched.collect::<Result<_, BlobError>>()?);
    }
    Ok(Request {
        messages,
        tools,
        place: TurnPosition {
            turn: ask.turn,
            is_conversation: machine.workflow().is_none(),
            frame: machine.frame(),
            workflow: machine.workflow().and_then(|workflow| workflow.id.clone()),
            node_id: ask.node_id.clone(),
            node_turn: ask.node_turn,
            input: machine.input().cloned(),
            variables: machine.run_state().variables.clone(),
        },
        sha256: context.sha256(digest).to_string(),
    })
}

/// Checks that every call in the request has its answer, as providers demand.
pub(super) fn check(machine: &mut Machine) -> Result<(), Halt> {
    machine.context_mut().check().map_err(|problem| {
        Halt::Unfit(format!(
            "the request would not be valid: {problem}; this is a mistake of CrewAgent"
        ))
    })
}

/// Returns the event that announces the request.
pub(super) fn turn_started(
    machine: &mut Machine,
    ask: &Ask,
    request: &Request,
    outline: Option<RequestOutline>,
) -> EventKind {
    let frame = machine.frame();
    let context = machine.context_mut();
    EventKind::from(TurnStarted {
        turn: ask.turn,
        frame,
        node_id: ask.node_id.clone(),
        agent_id: ask.agent_id.as_ref().map(ToString::to_string),
        tier: ask.tier,
        rendered: outline.as_ref().map(|outline| outline.bytes),
        model: outline.map(|outline| outline.model),
        request: RequestSummary {
            messages: request.messages.len(),
            bytes: context.bytes(),
            sha256: request.sha256.clone(),
            added: context.take_added(),
        },
    })
}

fn at_hand(message: Arc<Message>, blobs: &Blobs) -> Result<Arc<Message>, BlobError> {
    let is_here = |payload: &Payload| payload.inline().is_some();
    match &*message {
        Message::System { .. } | Message::User { .. } => Ok(message),
        Message::Tool { content, .. } if is_here(content) => Ok(message),
        Message::Tool { tool_call_id, content } => Ok(Arc::new(Message::Tool {
            tool_call_id: tool_call_id.clone(),
            content: fetched(content, blobs)?,
        })),
        Message::Assistant { tool_calls, .. }
            if tool_calls.iter().all(|call| is_here(&call.arguments)) =>
        {
            Ok(message)
        }
        Message::Assistant { content, tool_calls, from, extra } => {
            let fetch = |call: &ToolCall| {
                Ok(ToolCall { arguments: fetched(&call.arguments, blobs)?, ..call.clone() })
            };
            Ok(Arc::new(Message::Assistant {
                content: content.clone(),
                tool_calls: tool_calls.iter().map(fetch).collect::<Result<_, BlobError>>()?,
                from: from.clone(),
                extra: extra.clone(),
            }))
        }
    }
}

fn fetched(payload: &Payload, blobs: &Blobs) -> Result<Payload, BlobError> {
    match payload {
        Payload::Inline(_) => Ok(payload.clone()),
        Payload::Blob { sha256, .. } => Ok(Payload::Inline(blobs.text(*sha256)?)),
    }
}

/// Returns the text of a payload.
pub(super) fn text(payload: &Payload, blobs: &Blobs) -> Result<Arc<str>, BlobError> {
    match payload {
        Payload::Inline(text) => Ok(text.clone()),
        Payload::Blob { sha256, .. } => blobs.text(*sha256),
    }
}
