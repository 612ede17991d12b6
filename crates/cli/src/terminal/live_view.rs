//! The terminal view of a run: the screen, the status line, and the changes of files.

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
use crate::language::say;
use crate::paint;
use crate::render::run::Screen;

/// Shows the events of a run. Without a live terminal it is the screen alone.
#[derive(Debug)]
pub(crate) struct LiveView {
    pub(crate) screen: Screen,
    spinner: Spinner,
    ledger: Ledger,
    live: Option<Live>,
    /// The cursor's column.
    column: usize,
}

/// The parts that only a live terminal has.
#[derive(Debug)]
struct Live {
    /// The name of the model.
    model: String,
    blobs: Blobs,
    writes: Writes,
}

impl LiveView {
    /// Creates a view for a pipe or a file: every line is final.
    pub(crate) fn plain(screen: Screen) -> Self {
        let (spinner, ledger) = (Spinner::default(), Ledger::default());
        Self { screen, spinner, ledger, live: None, column: 0 }
    }

    /// Creates a view for a live terminal: Markdown, changes of project files, and the spinner.
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
            // The first word is not complete yet; the spinner keeps waiting for it.
            return;
        }
        let text = text + &live.writes.event(event).unwrap_or_default();
        self.spinner.hide();
        console.text(&text);
        console.show();
        self.column = column(self.column, &text);
        // Behind the last column a terminal has no position that the cursor could return to.
        let place = self.column % paint::width().max(1);
        if let Some(what) = live.waits_for(event)
            && (place > 0 || self.column == 0)
        {
            self.spinner.wait_for(what, place);
        }
    }

    /// Ends the current text before something is printed that is not an event.
    pub(crate) fn end_text(&mut self, console: &mut Console) {
        self.spinner.hide();
        if self.spinner.has_interjected() {
            console.text(&self.screen.leave());
        }
        console.text(&self.screen.end_text());
        self.column = 0;
    }

    /// Hides typed keys until the guard is dropped, so that they do not mix with the output.
    pub(crate) fn hide_keys(&self) -> Option<Quiet> {
        self.live.is_some().then(Quiet::begin)
    }

    /// Formats the last tool call in full.
    pub(crate) fn last_call(&self) -> String {
        self.ledger.last(self.live.as_ref().map(|live| &live.blobs), paint::width())
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.spinner.hide();
    }
}

impl Live {
    /// Returns the label of the wait that this event starts.
    fn waits_for(&self, event: &Event) -> Option<String> {
        match &event.kind {
            EventKind::Tool(ToolEvent::Started(ToolStarted { tool, subject, .. })) => {
                let subject = subject.as_deref().unwrap_or_default();
                Some(paint::printable(format!("{tool} {subject}").trim_end()))
            }
            EventKind::Model(
                ModelEvent::TurnStarted(_)
                | ModelEvent::Delta(_)
                | ModelEvent::Retried(_)
                | ModelEvent::Overflowed(_),
            ) => Some(say!("model {}", "模型 {}", self.model)),
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => None,
        }
    }
}

/// Returns the cursor's column after a text.
fn column(before: usize, text: &str) -> usize {
    let (before, line) = match text.rfind(['\n', '\r']) {
        Some(at) => (0, text.get(at + 1..).unwrap_or_default()),
        None => (before, text),
    };
    before + strip_str(line).to_string().width()
}
