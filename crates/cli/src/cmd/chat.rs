//! `crewagent chat`: starts a conversation about a project, or continues one.

use std::path::PathBuf;

use crewagent_adapters::mcp::tool_servers;
use crewagent_engine::conversation::Conversation;
use crewagent_engine::runtime::{Runtime, StartConversation};
use crewagent_engine::store::Store;

use super::conversation::{self, ConversationDriver};
use super::resume::change;
use super::run::{chosen_settings, project_folder};
use crate::args::ChatArgs;
use crate::console::Console;
use crate::model;
use crate::outcome::Outcome;
use crate::resume_hint::ResumeHint;

pub(crate) fn run(
    args: ChatArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let resume_hint = ResumeHint::new(home.as_ref()).with_model(args.conversation.model.as_deref());
    let store = Store::open(home.clone())?;
    let id = match &args.chat {
        Some(reference) => Some(super::chats::find(reference, &store)?),
        None => None,
    };
    let asked = args.conversation.model.as_deref();
    let settings = chosen_settings(&args.conversation, &args.bounds, &store)?;
    let runtime = Runtime::new(&store, tool_servers(&store));
    let guest = conversation::guest(&store, settings.clone());
    let (conversation, model) = match id {
        Some(id) => {
            let change = change(&args.conversation, &args.bounds);
            let asked = model::asked(asked, &store)?;
            let conversation = Conversation::reopen(&store, runtime, &id, &change, guest)?;
            let model = model::or_own(asked, conversation.current(), &store)?;
            let model = model::tiered(model, conversation.current().settings(), &store);
            (conversation, model)
        }
        None => {
            let model = model::tiered(model::open(asked, &store)?, &settings, &store);
            let project = args.project.unwrap_or_else(|| PathBuf::from("."));
            project_folder(&project)?;
            let plan =
                StartConversation { id: None, package: None, agent: None, project, settings };
            (Conversation::begin(&store, runtime, &plan, guest)?, model)
        }
    };
    ConversationDriver::new(conversation, model, &args.conversation, resume_hint, &store, home)?
        .drive_to_end(console)
}
