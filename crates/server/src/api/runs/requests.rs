//! The requests of a run, rebuilt from its journal.

use crewagent_core::context::tokens_of;
use crewagent_core::message::Message;
use crewagent_engine::export::KeyMask;
use crewagent_engine::runtime::{PastRequest, Runtime};
use crewagent_engine::store::{Environment, RunId, RunPackage};
use crewagent_engine::tool_server::ToolServers;
use crewagent_format::integrity::Digest;
use crewagent_scenario::record;

use crate::api::{Id, TurnPath};
use crate::endpoint::ParsedRequest;
use crate::problem::Problem;
use crate::wire::{Code, Layer, RequestDetail, RequestItem, RequestMessage, Requests, TextFile};

pub(super) fn list(asked: ParsedRequest<Id>) -> Result<Requests, Problem> {
    let store = asked.app.store()?;
    let found =
        Runtime::new(&store, ToolServers::none()).requests(&RunId::parse(&asked.path.id)?)?;
    Ok(Requests { requests: found.iter().map(item).collect() })
}

pub(super) fn show(asked: ParsedRequest<TurnPath>) -> Result<RequestDetail, Problem> {
    let store = asked.app.store()?;
    let found =
        Runtime::new(&store, ToolServers::none()).requests(&RunId::parse(&asked.path.id)?)?;
    // A request that failed was repeated under the same number.
    let meant = found.iter().rev().find(|one| one.request.place.turn == asked.path.turn);
    let past = meant.ok_or_else(|| Problem::missing("there is no request with this number"))?;
    Ok(RequestDetail {
        item: item(past),
        messages: past.request.messages.iter().map(|message| shown(message)).collect(),
        tools: past.request.tools.iter().map(|tool| tool.name.to_string()).collect(),
    })
}

/// Returns the run as a scenario for the scripted model.
pub(super) fn scenario(asked: ParsedRequest<Id>) -> Result<TextFile, Problem> {
    let (store, id) = (asked.app.store()?, RunId::parse(&asked.path.id)?);
    let view = store.runs().look(&id)?;
    let package = view.record.subject.package().map(RunPackage::reference).unwrap_or_default();
    let title = format!("{package}, recorded {:.10}", view.record.created.to_string());
    let blobs = |digest: Digest| view.blobs.text(digest).ok();
    let keys = KeyMask::of(&store, &Environment::of_process())?;
    let mask = |text: &str| keys.text(text);
    let text = record::scenario(&title, &view.recovered.events, &blobs, &mask)
        .map_err(|error| Problem::new(Code::Refused, error.to_string()))?;
    Ok(TextFile { name: format!("{id}.yaml"), text })
}

fn item(past: &PastRequest) -> RequestItem {
    let request = &past.request;
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    RequestItem {
        turn: u32::try_from(request.place.turn).unwrap_or(u32::MAX),
        node_id: request.place.node_id.clone(),
        count: number(request.messages.len()),
        tokens: request.messages.iter().map(|message| tokens(message)).sum(),
        exact: past.recorded_sha256.as_ref() == Some(&request.sha256),
    }
}

fn shown(message: &Message) -> RequestMessage {
    RequestMessage { layer: layer(message), tokens: tokens(message), message: message.clone() }
}

/// Returns the prompt layer of a message, which the runtime marks with a heading.
fn layer(message: &Message) -> Layer {
    let content = match message {
        Message::System { .. } => return Layer::System,
        Message::Assistant { .. } | Message::Tool { .. } => return Layer::History,
        Message::User { content } => content,
    };
    let heading = content.lines().next().unwrap_or_default();
    [
        ("RUN_DIRECTIVE", Layer::Directive),
        ("NODE_BRIEF", Layer::Brief),
        ("STATE_SUMMARY", Layer::State),
        ("DATA_CONTEXT", Layer::Data),
        ("USER_INPUT", Layer::Input),
    ]
    .into_iter()
    .find(|(name, _)| heading.contains(name))
    .map_or(Layer::Runtime, |(_, layer)| layer)
}

fn tokens(message: &Message) -> u32 {
    u32::try_from(tokens_of(message.bytes())).unwrap_or(u32::MAX)
}
