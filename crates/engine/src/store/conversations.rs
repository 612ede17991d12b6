//! The conversations of the store: runs without a workflow, on a shelf of their own, each with a title.

use crewagent_core::event::{Event, Fact};
use jiff::Timestamp;
use serde::Serialize;

use super::ids::{ProjectId, RunId};
use super::runs::{Holder, Of, RunError, RunRecord, Runs, Shelf};
use super::{Flaw, Store};

/// The file with the title.
const TITLE: &str = "title";
/// A title has at most this many characters.
const MAX_TITLE: usize = 80;
/// More is no title of ours.
const MAX_FILE: u64 = 4096;

/// Access to the conversations of a store.
#[derive(Clone, Copy, Debug)]
pub struct Conversations<'s> {
    store: &'s Store,
}

/// What is in the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationListing {
    /// The one in which something happened last comes first.
    pub conversations: Vec<Conversation>,
    /// Folders that should be conversations and cannot be read.
    pub damaged: Vec<Flaw>,
}

/// What a list says about a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Its id.
    pub id: RunId,
    /// The project.
    pub project_id: ProjectId,
    /// What it is about: the first words of the user, or what they called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The package whose agents can be talked to, as `name@version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The agent it began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// When it was created.
    pub created: Timestamp,
    /// When something last happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Timestamp>,
    /// Who has it at this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
}

impl<'s> Conversations<'s> {
    pub(super) fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// The same as runs, which they are but for their workflow.
    pub fn runs(&self) -> Runs<'s> {
        Runs::new(self.store, Shelf::Conversations)
    }

    /// The conversations of the store, or of one project.
    pub fn list(&self, of: Of<'_>) -> Result<ConversationListing, RunError> {
        let mut listing = ConversationListing::default();
        for name in self.runs().names(of)? {
            let found = RunId::parse(&name)
                .map_err(|error| error.to_string())
                .and_then(|id| self.get(&id).map_err(|error| error.to_string()));
            match found {
                Ok(conversation) => listing.conversations.push(conversation),
                Err(reason) => listing.damaged.push(Flaw { name, reason }),
            }
        }
        listing.conversations.sort_by(|one, other| {
            let key = |of: &Conversation| (of.updated.unwrap_or(of.created), of.id.clone());
            key(other).cmp(&key(one))
        });
        Ok(listing)
    }

    /// What a list says about one of them.
    pub fn get(&self, id: &RunId) -> Result<Conversation, RunError> {
        let (facts, last) = self.runs().glance(id)?;
        let RunRecord { run_id, project_id, subject, created, .. } = facts;
        Ok(Conversation {
            title: self.title(&run_id)?,
            holder: self.runs().holder(&run_id)?,
            id: run_id,
            project_id,
            package: subject.package().map(super::RunPackage::reference),
            agent_id: subject.agent_id().map(str::to_owned),
            created,
            updated: last,
        })
    }

    /// Its title, if it has one.
    pub fn title(&self, id: &RunId) -> Result<Option<String>, RunError> {
        match self.runs().folder(id)?.read(TITLE, MAX_FILE) {
            Ok(bytes) => Ok(tidy(&String::from_utf8_lossy(&bytes))),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives it a title. A blank one changes nothing.
    pub fn rename(&self, id: &RunId, title: &str) -> Result<(), RunError> {
        let folder = self.runs().folder(id)?;
        if let Some(title) = tidy(title) {
            folder.replace(TITLE, format!("{title}\n").as_bytes())?;
        }
        Ok(())
    }

    /// The runs that were started from it, in their order.
    pub fn runs_of(&self, id: &RunId) -> Result<Vec<RunId>, RunError> {
        let events = self.runs().look(id)?.recovered.events;
        let mut runs: Vec<RunId> = Vec::new();
        for event in &events {
            if let Fact::SessionRun { id: Some(id) } = &event.fact
                && let Ok(run) = RunId::parse(id)
                && !runs.contains(&run)
            {
                runs.push(run);
            }
        }
        Ok(runs)
    }

    /// The run that the user's words went to when it was left, if they did.
    pub fn active_run(&self, id: &RunId) -> Result<Option<RunId>, RunError> {
        let events = self.runs().look(id)?.recovered.events;
        for event in events.iter().rev() {
            if let Fact::SessionRun { id } = &event.fact {
                return Ok(id.as_ref().and_then(|id| RunId::parse(id).ok()));
            }
        }
        Ok(None)
    }

    /// Whether nothing was said or done in it.
    pub fn is_empty(&self, id: &RunId) -> Result<bool, RunError> {
        let is_something = |event: &Event| {
            matches!(
                event.fact,
                Fact::UserInput { .. } | Fact::SessionInstructed { .. } | Fact::SessionRun { .. }
            )
        };
        Ok(!self.runs().look(id)?.recovered.events.iter().any(is_something))
    }

    /// Removes it, and the runs that were started from it, unless a process has one of them.
    pub fn remove(&self, id: &RunId) -> Result<Vec<RunId>, RunError> {
        // One that cannot be read has no runs that we know of.
        let runs = self.runs_of(id).unwrap_or_default();
        for run in &runs {
            if let Ok(Some(holder)) = self.store.runs().holder(run) {
                return Err(RunError::InUse { id: run.clone(), holder });
            }
        }
        let mut removed = Vec::new();
        for run in runs {
            match self.store.runs().remove(&run) {
                Ok(()) => removed.push(run),
                Err(RunError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.runs().remove(id)?;
        Ok(removed)
    }

    /// The conversations in which these words were said, with the place where they were said first. Case does not count.
    pub fn search(&self, of: Of<'_>, words: &str) -> Result<Vec<(Conversation, String)>, RunError> {
        let wanted = words.trim().to_lowercase();
        let mut found = Vec::new();
        for conversation in self.list(of)?.conversations {
            let said = match &conversation.title {
                Some(title) if title.to_lowercase().contains(&wanted) => Some(title.clone()),
                Some(_) | None => self.said(&conversation.id, &wanted),
            };
            found.extend(said.map(|said| (conversation, said)));
        }
        Ok(found)
    }

    fn said(&self, id: &RunId, wanted: &str) -> Option<String> {
        // What cannot be read is not found; `chats list` says what is wrong with it.
        let runs = self.runs_of(id).unwrap_or_default();
        let runs = runs.iter().filter_map(|run| self.store.runs().look(run).ok());
        let views: Vec<super::RunView> =
            self.runs().look(id).ok().into_iter().chain(runs).collect();
        let place = |view: &super::RunView| {
            view.recovered.events.iter().find_map(|event| excerpt(event, view, wanted))
        };
        views.iter().find_map(place)
    }
}

/// The words of an event around those that are looked for.
fn excerpt(event: &Event, view: &super::RunView, wanted: &str) -> Option<String> {
    let text = if let Fact::UserInput { text, .. } | Fact::SessionCommand { text, .. } = &event.fact
    {
        view.blobs.resolve(text).ok()?.to_string()
    } else if let Fact::AssistantMessage { reply, .. } = &event.fact {
        reply.content.clone()?
    } else {
        return None;
    };
    let line = text.lines().find(|line| line.to_lowercase().contains(wanted))?;
    tidy(line)
}

/// One line of words, not too long.
fn tidy(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let printable: String = line.chars().filter(|c| !c.is_control()).collect();
    match printable.char_indices().nth(MAX_TITLE) {
        None if printable.is_empty() => None,
        None => Some(printable),
        Some((end, _)) => {
            let words =
                printable[..end].rsplit_once(' ').map_or(&printable[..end], |(head, _)| head);
            Some(format!("{words}…"))
        }
    }
}
