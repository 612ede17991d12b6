//! `crewagent chats show`: prints the messages, with the runs where they were started.

use std::collections::HashSet;
use std::sync::Arc;

use crewagent_core::event::{ActiveRunChanged, ConversationEvent, Event, EventKind};
use crewagent_core::state::run_state::RunState;
use crewagent_engine::store::{RunId, RunView, Store};
use crewagent_format::package::Package;

use crate::args::ChatsShowArgs;
use crate::cmd::run_driver::{names_of, package_of};
use crate::console::Console;
use crate::language::say;
use crate::outcome::Outcome;
use crate::paint::{self, NAME, QUIET};
use crate::render::names::DisplayNames;
use crate::render::run::{EventSource, Screen};
use crate::resume_hint::ResumeHint;

pub(super) fn run(
    args: &ChatsShowArgs,
    store: &Store,
    resume_hint: &ResumeHint,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let id = super::find(&args.chat, store)?;
    let conversation = store.conversations().runs().look(&id)?;
    let package = package_of(&conversation.record, store);
    let title = store.conversations().title(&id)?;
    if !args.json {
        let title = title.as_deref().map(paint::printable).unwrap_or_default();
        console.line(paint::styled(NAME, title));
        console.line(paint::styled(QUIET, say!("conversation {id}", "对话 {id}")));
    }
    let names = package.as_deref().map(DisplayNames::of_package).unwrap_or_default();
    let mut page = Page { store, package, is_json: args.json, shown: HashSet::new(), console };
    let screen = Screen::for_conversation(EventSource::Record, paint::text_width(), names);
    page.print(&conversation, screen)?;
    if !args.json {
        let words =
            say!("Go on with it: {}", "继续对话：{}", resume_hint.command(&format!("chat {id}")));
        console.error(paint::styled(QUIET, words));
    }
    Ok(Outcome::Done)
}

struct Page<'p> {
    store: &'p Store,
    package: Option<Arc<Package>>,
    is_json: bool,
    /// The runs printed so far.
    shown: HashSet<String>,
    console: &'p mut Console,
}

impl Page<'_> {
    fn print(&mut self, view: &RunView, mut screen: Screen) -> anyhow::Result<()> {
        for event in &view.recovered.events {
            if self.is_json {
                self.console.line(paint::escaped(&serde_json::to_string(event)?));
            } else {
                self.console.text(&screen.event(event));
            }
            if let Some(run) = self.run_of(event) {
                if !self.is_json {
                    let line = say!("\n── run {} ──", "\n── 运行 {} ──", run.record.run_id);
                    self.console.line(paint::styled(QUIET, line));
                }
                let names = names_of(&run.record, self.package.as_deref());
                let agent = run.record.subject.agent_id().unwrap_or_default();
                let (width, run_state) = (paint::text_width(), RunState::default());
                self.print(&run, Screen::new(EventSource::Record, width, names, run_state, agent))?;
            }
        }
        Ok(())
    }

    /// Returns the run that an event starts, once.
    fn run_of(&mut self, event: &Event) -> Option<RunView> {
        let EventKind::Conversation(ConversationEvent::RunChanged(ActiveRunChanged {
            id: Some(id),
            ..
        })) = &event.kind
        else {
            return None;
        };
        if !self.shown.insert(id.clone()) {
            return None;
        }
        self.store.runs().look(&RunId::parse(id).ok()?).ok()
    }
}
