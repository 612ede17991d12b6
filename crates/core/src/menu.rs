//! Agent menus: the command that a line of the user means, and its action. No model is asked.
//!
//! [`route`] maps the line to a [`Command`]; [`resolve`] turns the target of a menu item into an [`Action`] whose
//! workflow, file or prompt exists.

mod error;
mod fuzzy;
mod resolve;
mod route;

use crewagent_format::package::agents::Surface;
use crewagent_format::package::agents::words::{self, Phrase, WordField, exact_words, normalised};
use crewagent_format::package::agents::{Agent, MenuItem, MenuTarget, Trigger};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use error::{MenuError, MenuErrorCode};
pub use resolve::{Action, DataFormat, DataRef, resolve, started_by, validate};
pub use route::route;

/// Interpretation of a line of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routed {
    pub command: Command,
    pub confidence: Confidence,
    /// Short reason, such as "number 2" or "trigger `create-story`".
    pub reason: String,
    /// Number of its menu item among the visible ones.
    pub item: Option<usize>,
    /// Text below the user's first line, passed on to the command.
    pub details: Option<String>,
}

/// Command that a line of the user means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    ShowMenu,
    Dismiss,
    Resume,
    /// Do the action of a menu item or one of its handlers; see [`resolve`].
    Item(Target),
    Clarify {
        why: Unclear,
        /// Never empty.
        candidates: Vec<Candidate>,
    },
    Chat,
}

/// Reason why a choice is ambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Unclear {
    /// The menu has no item with this number.
    OutOfRange,
    /// Several match equally well, or the chosen item has several handlers.
    SeveralMatch,
}

/// Option that the user can choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Number of its menu item among the visible ones.
    pub number: usize,
    pub label: String,
    /// Text that chooses it: the number, or the word of one of the item's handlers.
    pub answer: String,
}

/// Confidence that a line means a command.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Confidence {
    /// A guess.
    Low,
    /// Likely.
    Medium,
    /// Words of the item.
    High,
    /// Exactly as in the menu.
    Exact,
}

/// Target of a menu item or a handler, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub work: Work,
    /// File to load first.
    pub data: Option<String>,
    /// Checks that all files exist before it starts.
    pub validate: bool,
}

/// Work of a menu item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Starts a workflow: an id, or the path of its document.
    Workflow(String),
    /// Runs a Markdown script, or a workflow by its document.
    Exec(String),
    /// `#id` of a prompt, a builtin, or an instruction.
    Action(String),
}

impl Target {
    /// Reads a target; `None` if there is nothing to do. If an author names several targets, a workflow precedes a
    /// script, and a script precedes an action.
    pub fn of(target: &MenuTarget, validate: bool) -> Option<Self> {
        let text = |text: &Option<String>| {
            text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let work = text(&target.workflow)
            .map(Work::Workflow)
            .or_else(|| text(&target.exec).map(Work::Exec))
            .or_else(|| text(&target.action).map(Work::Action))?;
        Some(Self { work, data: text(&target.data), validate })
    }
}

/// A line of a menu, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MenuLine {
    /// Its number, from 1.
    #[schemars(with = "u32")]
    pub number: usize,
    /// The word to type instead of the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Purpose of the item.
    pub description: String,
}

/// Lists the visible items in the author's order.
pub fn menu_of(agent: &Agent, surface: Surface) -> Vec<MenuLine> {
    visible(agent, surface)
        .map(|(number, item)| MenuLine {
            number,
            trigger: typeable(item).into_iter().next().map(|(_, word)| word.to_owned()),
            description: item.description.trim().to_owned(),
        })
        .collect()
}

/// Lists the visible items with their work, for those that have one.
pub fn items_of(agent: &Agent, surface: Surface) -> Vec<(MenuLine, Work)> {
    let lines = menu_of(agent, surface).into_iter();
    let works = visible(agent, surface).map(|(_, item)| Target::of(&item.target, false));
    lines.zip(works).filter_map(|(line, target)| Some((line, target?.work))).collect()
}

/// Lists the words that choose a visible item or one of its handlers exactly, each once, for completion.
pub fn words(agent: &Agent, surface: Surface) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    visible(agent, surface)
        .flat_map(|(_, item)| {
            let own = typeable(item).into_iter().map(|(_, word)| word);
            own.chain(handlers(item).filter_map(|handler| words::typeable(handler.word?)))
        })
        .filter(|word| seen.insert(normalised(word)))
        .map(str::to_owned)
        .collect()
}

/// Iterates over the items of a surface with their numbers.
fn visible(agent: &Agent, surface: Surface) -> impl Iterator<Item = (usize, &MenuItem)> {
    let seen = agent.menu.iter().filter(move |item| surface.shows(item));
    seen.enumerate().map(|(index, item)| (index + 1, item))
}

/// Returns the words that choose an item exactly when typed.
fn typeable(item: &MenuItem) -> Vec<(WordField, &str)> {
    let words = exact_words(item).into_iter();
    words.filter_map(|(spot, word)| Some((spot, words::typeable(word)?))).collect()
}

/// Iterates over the handlers of an item that have a target.
fn able(item: &MenuItem) -> impl Iterator<Item = (&Trigger, Target)> {
    let validate = item.validate_workflow.is_some();
    let handlers = item.triggers.iter().filter(|trigger| trigger.is_handler());
    handlers.filter_map(move |trigger| Some((trigger, Target::of(&trigger.target, validate)?)))
}

/// Iterates over the texts that choose the handlers of an item.
fn handlers(item: &MenuItem) -> impl Iterator<Item = Phrase<'_>> {
    able(item).filter_map(|(trigger, _)| Some(Phrase::new(trigger.matches.as_deref()?)))
}
