//! Conversations of the store: stored like runs, in a folder of their own, each with a title.

use std::cmp::Reverse;

use crewagent_core::event::{ConversationEvent, Event, EventKind, ModelEvent, Phase, UserEvent};
use crewagent_core::question::QuestionKind;
use crewagent_core::run::history::History;
use jiff::Timestamp;
use serde::Serialize;

use super::ids::{ProjectId, RunId};
use super::runs::lock::holder;
use super::runs::{Holder, Of, RunError, RunKind, RunRecord, Runs, glance, readable, written};
use super::{Flaw, Store, title};
use crate::blobs::Blobs;
use crate::disk::Folder;

/// Bytes of a journal that a search reads at a time.
const PIECE: usize = 1 << 20;

/// Access to the conversations of a store.
#[derive(Clone, Copy, Debug)]
pub struct Conversations<'s> {
    store: &'s Store,
}

/// Conversations of the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationListing {
    /// The most recently active one first.
    pub conversations: Vec<ConversationSummary>,
    /// Folders that should be conversations and are unreadable.
    pub damaged: Vec<Flaw>,
}

/// List entry of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationSummary {
    pub id: RunId,
    pub project_id: ProjectId,
    /// First text of the user, or the title that the user gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Package whose agents take part, as `name@version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Agent at its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    pub created: Timestamp,
    /// Time of the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Timestamp>,
    /// Phase of the conversation itself, once it has input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Kind of the open question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<QuestionKind>,
    /// Process that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
}

impl<'s> Conversations<'s> {
    pub(super) fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// Returns access to conversations as runs, which they are except for the workflow.
    pub fn runs(&self) -> Runs<'s> {
        Runs::new(self.store, RunKind::Conversations)
    }

    /// Lists the conversations of the store, or of one project.
    pub fn list(&self, of: Of<'_>) -> Result<ConversationListing, RunError> {
        Ok(listing(&self.runs().places_of(of)?))
    }

    /// Lists the `limit` conversations whose journals were written last, without reading the others. Also returns the
    /// total, counted by folders.
    pub fn newest(
        &self,
        of: Of<'_>,
        limit: usize,
    ) -> Result<(ConversationListing, usize), RunError> {
        let places = self.by_time(of)?;
        Ok((listing(places.get(..limit).unwrap_or(&places)), places.len()))
    }

    /// Returns all folders with their names, the most recently written first.
    fn by_time(&self, of: Of<'_>) -> Result<Vec<(Folder, String)>, RunError> {
        let mut places = self.runs().places_of(of)?;
        places.sort_by_cached_key(|(folder, name)| Reverse((written(folder), name.clone())));
        Ok(places)
    }

    /// Counts the conversations by their folders, without reading them.
    pub fn count(&self, of: Of<'_>) -> Result<usize, RunError> {
        self.runs().count(of)
    }

    /// Returns the list entry of a conversation.
    pub fn get(&self, id: &RunId) -> Result<ConversationSummary, RunError> {
        conversation(&self.runs().folder(id)?, id)
    }

    /// Reads its title, if it has one.
    pub fn title(&self, id: &RunId) -> Result<Option<String>, RunError> {
        title::read(&self.runs().folder(id)?)
    }

    /// Sets its title. A blank one changes nothing.
    pub fn rename(&self, id: &RunId, title: &str) -> Result<(), RunError> {
        self.runs().rename(id, title)
    }

    /// Returns the runs that were started from it, in order.
    pub fn runs_of(&self, id: &RunId) -> Result<Vec<RunId>, RunError> {
        Ok(self.runs().look(id)?.runs())
    }

    /// Returns the run that user input went to when the conversation was left, if any.
    pub fn active_run(&self, id: &RunId) -> Result<Option<RunId>, RunError> {
        Ok(self.runs().look(id)?.active_run())
    }

    /// Returns true if it has no input, no instruction and no run.
    pub fn is_empty(&self, id: &RunId) -> Result<bool, RunError> {
        let is_something = |event: &Event| {
            matches!(
                event.kind,
                EventKind::User(UserEvent::Input(_))
                    | EventKind::Conversation(
                        ConversationEvent::Instructed(_) | ConversationEvent::RunChanged(_)
                    )
            )
        };
        Ok(!self.runs().look(id)?.recovered.events.iter().any(is_something))
    }

    /// Removes it and the runs that were started from it, unless a process holds one of them.
    pub fn remove(&self, id: &RunId) -> Result<Vec<RunId>, RunError> {
        // The runs of an unreadable conversation are not known.
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

    /// Finds conversations that contain a text, ignoring case; returns each with the first excerpt.
    pub fn search(
        &self,
        of: Of<'_>,
        words: &str,
    ) -> Result<Vec<(ConversationSummary, String)>, RunError> {
        Ok(self.search_some(of, words, u64::MAX, &|| true)?.found)
    }

    /// Searches like [`Conversations::search`], but reads at most about `bytes`, and stops once `is_wanted` returns
    /// false. Titles are always searched.
    pub fn search_some(
        &self,
        of: Of<'_>,
        words: &str,
        bytes: u64,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Searched, RunError> {
        let wanted = words.trim().to_lowercase();
        let mut search = JournalSearch {
            store: self.store,
            wanted: &wanted,
            left: bytes,
            is_wanted,
            is_whole: true,
        };
        let mut found = Vec::new();
        for (folder, name) in self.by_time(of)? {
            if !is_wanted() {
                search.is_whole = false;
                break;
            }
            // Skip what cannot be read; `chats list` reports it.
            let Ok(id) = RunId::parse(&name) else { continue };
            let own = title::read(&folder).ok().flatten();
            let own = own.filter(|title| title.to_lowercase().contains(&wanted));
            let said = own.or_else(|| search.first_message(&folder));
            found.extend(said.and_then(|said| Some((conversation(&folder, &id).ok()?, said))));
        }
        found.sort_by_key(|(conversation, _)| Reverse(conversation.age()));
        Ok(Searched { found, is_whole: search.is_whole })
    }
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// Conversations, each with the first excerpt.
    pub found: Vec<(ConversationSummary, String)>,
    /// True if everything was searched.
    pub is_whole: bool,
}

/// Search through journals.
struct JournalSearch<'s> {
    store: &'s Store,
    wanted: &'s str,
    /// Bytes that may still be read.
    left: u64,
    is_wanted: &'s dyn Fn() -> bool,
    is_whole: bool,
}

impl JournalSearch<'_> {
    /// Finds the first excerpt in a conversation, or in the runs that were started from it.
    fn first_message(&mut self, folder: &Folder) -> Option<String> {
        let mut history = History::default();
        let own = self.read(folder, &mut history);
        own.or_else(|| {
            let runs = history.runs.iter().filter_map(|run| RunId::parse(run).ok());
            let mut folders = runs.filter_map(|run| self.store.runs().folder(&run).ok());
            folders.find_map(|folder| self.read(&folder, &mut History::default()))
        })
    }

    /// Finds the first excerpt in a journal, and folds the events up to it.
    fn read(&mut self, folder: &Folder, history: &mut History) -> Option<String> {
        let (mut reader, blobs) = readable(folder);
        loop {
            if self.left == 0 || !(self.is_wanted)() {
                self.is_whole = false;
                return None;
            }
            let before = reader.offset();
            let events = reader.next(PIECE).ok().filter(|events| !events.is_empty())?;
            self.left = self.left.saturating_sub(reader.offset() - before);
            for event in &events {
                if let Some(place) = excerpt(event, &blobs, self.wanted) {
                    return Some(place);
                }
                history.take(event);
            }
        }
    }
}

impl ConversationSummary {
    /// Returns the sort key of lists.
    fn age(&self) -> (Timestamp, RunId) {
        (self.updated.unwrap_or(self.created), self.id.clone())
    }
}

/// Reads the conversations in these folders.
fn listing(places: &[(Folder, String)]) -> ConversationListing {
    let mut listing = ConversationListing::default();
    for (folder, name) in places {
        let found = RunId::parse(name)
            .map_err(|error| error.to_string())
            .and_then(|id| conversation(folder, &id).map_err(|error| error.to_string()));
        match found {
            Ok(conversation) => listing.conversations.push(conversation),
            Err(reason) => listing.damaged.push(Flaw { name: name.clone(), reason }),
        }
    }
    listing.conversations.sort_by_key(|conversation| Reverse(conversation.age()));
    listing
}

fn conversation(folder: &Folder, id: &RunId) -> Result<ConversationSummary, RunError> {
    let (record, ending) = glance(folder, id)?;
    let RunRecord { run_id, project_id, subject, created, .. } = record;
    Ok(ConversationSummary {
        title: title::read(folder)?,
        holder: holder(folder)?,
        id: run_id,
        project_id,
        package: subject.package().map(super::RunPackage::reference),
        agent_id: subject.agent_id().map(str::to_owned),
        created,
        updated: ending.updated(),
        phase: ending.tail.phase,
        asks: ending.tail.asks,
    })
}

/// Returns the line of an event that contains the text.
fn excerpt(event: &Event, blobs: &Blobs, wanted: &str) -> Option<String> {
    let text = match &event.kind {
        EventKind::User(UserEvent::Input(input)) => blobs.resolve(&input.text).ok()?.to_string(),
        EventKind::Conversation(ConversationEvent::CommandResolved(resolved))
            if !resolved.is_chat() =>
        {
            blobs.resolve(&resolved.text).ok()?.to_string()
        }
        EventKind::Model(ModelEvent::Replied(replied)) => replied.reply.content.clone()?,
        EventKind::User(_)
        | EventKind::Conversation(_)
        | EventKind::Model(_)
        | EventKind::Run(_)
        | EventKind::Frame(_)
        | EventKind::State(_)
        | EventKind::Tool(_) => return None,
    };
    let line = text.lines().find(|line| line.to_lowercase().contains(wanted))?;
    title::tidy(line)
}
