//! `crewagent chat`: a conversation about a project, or one that goes on.

use std::path::PathBuf;

use crewagent_engine::model::OpenedModel;
use crewagent_engine::runtime::{Runtime, SettingsChange, StartTalk};
use crewagent_engine::session::Session;
use crewagent_engine::store::Store;

use super::resume::change;
use super::run::{bounded, project_folder};
use super::talk::{self, Talk};
use crate::again::Again;
use crate::args::Chat;
use crate::console::Console;
use crate::model;
use crate::outcome::Outcome;

pub(crate) fn run(
    args: Chat,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let again = Again::new(home.as_ref()).with_model(args.conversation.model.as_deref());
    let store = Store::open(home.clone())?;
    let id = match &args.chat {
        Some(reference) => Some(super::chats::find(reference, &store)?),
        None => None,
    };
    let OpenedModel { model, window } = model::open(args.conversation.model.as_deref(), &store)?;
    let window = store.settings().run.window(window);
    let mut settings = bounded(store.settings().for_runs(), &args.bounds);
    settings.window_tokens = window;
    let runtime = Runtime::new(&store);
    let guest = talk::guest(&store, settings.clone());
    let session = match id {
        Some(id) => {
            let change = SettingsChange { window: Some(window), ..change(&args.bounds) };
            Session::reopen(&store, runtime, &id, &change, guest)?
        }
        None => {
            let project = args.project.unwrap_or_else(|| PathBuf::from("."));
            project_folder(&project)?;
            let plan = StartTalk { id: None, package: None, agent: None, project, settings };
            Session::begin(&store, runtime, &plan, guest)?
        }
    };
    Talk::new(session, model, &args.conversation, again, &store, home)?.play(console)
}
