//! A run as a person at a terminal sees it: the screen, what is waited for, and what was changed.

use std::path::Path;

use anstream::adapter::strip_str;
use crewagent_core::event::{Event, EventKind, ModelEvent, ToolEvent, ToolStarted};
use crewagent_engine::blobs::Blobs;
use unicode_width::UnicodeWidthStr as _;

use super::ledger::Ledger;
use super::quiet::Quiet;
use super::spinner::Spinner;
use super::writes::Writes;
use crate::console::Console;
use crate::paint;
use crate::render::run::Screen;

/// Shows the events of a run. Where nobody watches, it is the screen alone.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) screen: Screen,
    spinner: Spinner,
    ledger: Ledger,
    live: Option<Live>,
    /// Where the cursor is in its line.
    column: usize,
}

/// What only a live terminal has.
#[derive(Debug)]
struct Live {
    /// What the model is called.
    model: String,
    blobs: Blobs,
    writes: Writes,
}

impl Stage {
    /// For a pipe or a file: every line is final.
    pub(crate) fn plain(screen: Screen) -> Self {
        let (spinner, ledger) = (Spinner::default(), Ledger::default());
        Self { screen, spinner, ledger, live: None, column: 0 }
    }

    /// For a person: Markdown, changes of files in this project, and the spinner.
    pub(crate) fn live(
        screen: Screen,
        spinner: Spinner,
        project: &Path,
        blobs: Blobs,
        model: &str,
    ) -> Self {
        let writes = Writes::new(blobs.clone(), project);
        let live = Some(Live { model: paint::printable(model), blobs, writes });
        let (screen, ledger) = (screen.with_markdown(), Ledger::default());
        Self { screen, spinner, ledger, live, column: 0 }
    }

    /// Shows an event as it happens.
    pub(crate) fn event(&mut self, event: &Event, console: &mut Console) {
        self.ledger.event(event);
        let Some(live) = &mut self.live else {
            return console.text(&self.screen.event(event));
        };
        let before = if self.spinner.has_interjected() {
            self.column = 0;
            self.screen.leave()
        } else {
            String::new()
        };
        self.screen.resize(paint::text_width());
        let text = before + &self.screen.event(event);
        if text.is_empty() && matches!(event.kind, EventKind::Model(ModelEvent::Delta(_))) {
            // The first word is not complete; the wait for it goes on.
            return;
        }
        let text = text + &live.writes.event(event).unwrap_or_default();
        self.spinner.hide();
        console.text(&text);
        console.show();
        self.column = column(self.column, &text);
        // Behind the last column of the window a terminal has no place to come back to.
        let place = self.column % paint::width().max(1);
        if let Some(what) = live.waits_for(event)
            && (place > 0 || self.column == 0)
        {
            self.spinner.wait_for(what, place);
        }
    }

    /// Makes room for something that is no event.
    pub(crate) fn hush(&mut self, console: &mut Console) {
        self.spinner.hide();
        if self.spinner.has_interjected() {
            console.text(&self.screen.leave());
        }
        console.text(&self.screen.hush());
        self.column = 0;
    }

    /// As long as this lives, keys are not written between the words of the model.
    pub(crate) fn work(&self) -> Option<Quiet> {
        self.live.is_some().then(Quiet::begin)
    }

    /// The last call of a tool, in full.
    pub(crate) fn last_call(&self) -> String {
        self.ledger.last(self.live.as_ref().map(|live| &live.blobs), paint::width())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.spinner.hide();
    }
}

impl Live {
    /// What comes next may take a while.
    fn waits_for(&self, event: &Event) -> Option<String> {
        if let EventKind::Tool(ToolEvent::Started(ToolStarted { tool, subject, .. })) = &event.kind
        {
            let subject = subject.as_deref().unwrap_or_default();
            return Some(paint::printable(format!("{tool} {subject}").trim_end()));
        }
        let is_asked = matches!(
            event.kind,
            EventKind::Model(
                ModelEvent::TurnStarted(_)
                    | ModelEvent::Delta(_)
                    | ModelEvent::Retried(_)
                    | ModelEvent::Overflowed(_)
            )
        );
        is_asked.then(|| format!("model {}", self.model))
    }
}

/// Where the cursor is after a text.
fn column(before: usize, text: &str) -> usize {
    let (before, line) = match text.rfind(['\n', '\r']) {
        Some(at) => (0, text.get(at + 1..).unwrap_or_default()),
        None => (before, text),
    };
    before + strip_str(line).to_string().width()
}
