//! One line that names what the run waits for and for how long. A thread of its own draws it; the printing thread hides
//! it first.

use std::io::Write as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthStr as _;

use crate::language::{say, text};
use crate::paint::{self, ACCENT, QUIET};

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Interval between two frames.
const TICK: Duration = Duration::from_millis(100);
/// A shorter wait is not shown.
const SHOW_DELAY: Duration = Duration::from_millis(150);
/// The delay in the middle of a line of text, where short pauses are normal.
const SHOW_DELAY_IN_TEXT: Duration = Duration::from_secs(1);

/// The status line. Clones share it; without a live terminal there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spinner(Option<Arc<SharedSpinner>>);

#[derive(Debug, Default)]
struct SharedSpinner {
    state: Mutex<SpinnerState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SpinnerState {
    wait: Option<SpinnerWait>,
    /// The effect of the next Ctrl-C.
    hint: Hint,
    frame: usize,
    drawn: Option<Drawn>,
    /// True after another thread printed a line between two events.
    interjected: bool,
    /// True while the thread sleeps until there is something to draw.
    asleep: bool,
}

#[derive(Debug)]
struct SpinnerWait {
    what: String,
    since: Instant,
    /// The cursor's column. In the middle of a text line the status goes to the line below.
    column: usize,
}

/// The status line on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Drawn {
    width: usize,
    /// The cursor's column before drawing.
    column: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hint {
    #[default]
    Pauses,
    Pausing,
    Stopping,
}

impl Spinner {
    /// Starts the drawing thread.
    pub(crate) fn start() -> Self {
        let shared = Arc::new(SharedSpinner::default());
        let drawer = Arc::clone(&shared);
        let draw = move || {
            loop {
                let mut state = drawer.lock();
                state.asleep = state.wait.is_none();
                let mut state = if state.wait.is_some() {
                    let waited = drawer.changed.wait_timeout(state, TICK);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                } else {
                    drawer.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
                };
                state.asleep = false;
                draw(state);
            }
        };
        // Without the thread the run works the same, only without a status line.
        let started = std::thread::Builder::new().name("spinner".to_owned()).spawn(draw);
        Self(started.is_ok().then_some(shared))
    }

    /// Sets what the run waits for; the cursor is in this column.
    pub(crate) fn wait_for(&self, what: String, column: usize) {
        self.change(|state| state.wait = Some(SpinnerWait { what, since: Instant::now(), column }));
    }

    /// Hides the line before something is printed.
    pub(crate) fn hide(&self) {
        self.change(|state| {
            state.wait = None;
            state.erase();
        });
    }

    /// Shows that the user asked for a pause.
    pub(crate) fn pausing(&self) {
        self.change(|state| state.hint = Hint::Pausing);
    }

    /// Shows that the user asked to stop.
    pub(crate) fn stopping(&self) {
        self.change(|state| state.hint = Hint::Stopping);
    }

    /// Prints a message from a thread other than the printing one.
    pub(crate) fn say(&self, words: &str) {
        let write = |before: &str| drop(writeln!(std::io::stderr(), "{before}{words}"));
        let Some(shared) = &self.0 else { return write("\n") };
        let mut state = shared.lock();
        state.erase();
        if state.wait.as_mut().is_some_and(|wait| std::mem::take(&mut wait.column) == 0) {
            write("");
        } else {
            write("\n");
            state.interjected = true;
        }
    }

    /// Returns true if a message was printed between two events since the last call.
    pub(crate) fn has_interjected(&self) -> bool {
        self.0.as_ref().is_some_and(|shared| std::mem::take(&mut shared.lock().interjected))
    }

    fn change(&self, change: impl FnOnce(&mut SpinnerState)) {
        if let Some(shared) = &self.0 {
            let mut state = shared.lock();
            change(&mut state);
            if state.asleep && state.wait.is_some() {
                shared.changed.notify_one();
            }
        }
    }
}

impl SharedSpinner {
    fn lock(&self) -> MutexGuard<'_, SpinnerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SpinnerState {
    /// Erases the line.
    fn erase(&mut self) {
        if let Some(drawn) = self.drawn.take() {
            put(&drawn.gone(paint::width()));
        }
    }

    fn text(&self, wait: &SpinnerWait, columns: usize) -> String {
        let hint = match self.hint {
            Hint::Pauses => text!("Ctrl-C pauses", "Ctrl-C 暂停"),
            Hint::Pausing => text!("pausing, Ctrl-C stops now", "正在暂停，Ctrl-C 立即停止"),
            Hint::Stopping => text!("stopping", "正在停止"),
        };
        let text = format!("{}  {}  {hint}", wait.what, elapsed(wait.since.elapsed()));
        paint::fitted(&text, columns.saturating_sub(5))
    }
}

fn draw(mut state: MutexGuard<'_, SpinnerState>) {
    let is_due = |wait: &mut SpinnerWait| {
        wait.since.elapsed() >= if wait.column == 0 { SHOW_DELAY } else { SHOW_DELAY_IN_TEXT }
    };
    let Some(wait) = state.wait.take_if(is_due) else { return };
    let columns = paint::width();
    let text = state.text(&wait, columns);
    let frame = paint::styled(ACCENT, FRAMES[state.frame % FRAMES.len()]);
    let before = state.drawn.map(|drawn| drawn.gone(columns)).unwrap_or_default();
    let below = if wait.column == 0 { "" } else { "\n" };
    put(&format!("{before}{below}\r  {frame} {}", paint::styled(QUIET, &text)));
    state.drawn = Some(Drawn { width: 4 + text.width(), column: wait.column });
    state.frame = state.frame.wrapping_add(1);
    state.wait = Some(wait);
}

impl Drawn {
    /// Returns the escape sequence that erases the line and restores the cursor. A window that became narrower has
    /// wrapped the line.
    fn gone(self, columns: usize) -> String {
        let up = match self.width.saturating_sub(1) / columns.max(1) {
            0 => String::new(),
            rows => format!("\u{1b}[{rows}A"),
        };
        let back = match self.column {
            0 => String::new(),
            column => format!("\u{1b}[A\u{1b}[{column}C"),
        };
        format!("\r{up}\u{1b}[J{back}")
    }
}

/// Writes to the terminal directly: between two events the console's buffer is empty.
fn put(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => say!("{seconds} s", "{seconds} 秒"),
        seconds => say!("{}:{:02} min", "{}:{:02} 分", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use crewagent_testkit::screen::TerminalScreen;

    use super::*;

    #[test]
    fn time_is_short() {
        assert_eq!(elapsed(Duration::from_millis(900)), "0 s");
        assert_eq!(elapsed(Duration::from_secs(59)), "59 s");
        assert_eq!(elapsed(Duration::from_secs(125)), "2:05 min");
    }

    #[test]
    fn the_line_fits_the_window_and_says_what_ctrl_c_does() {
        let mut state = SpinnerState::default();
        let what = "fs.search 所有的东西".to_owned();
        let wait = SpinnerWait { what, since: Instant::now(), column: 0 };
        assert_eq!(state.text(&wait, 80), "fs.search 所有的东西  0 s  Ctrl-C pauses");
        assert!(state.text(&wait, 30).width() <= 25);
        state.hint = Hint::Pausing;
        assert!(state.text(&wait, 80).ends_with("Ctrl-C stops now"));
    }

    #[test]
    fn the_line_goes_and_the_words_above_it_stay() {
        for (before, column) in [("done\n", 0), ("some words", 10)] {
            let mut screen = TerminalScreen::new(2, 20);
            screen.write_lines(before);
            screen.write_lines(if column == 0 { "\r  x wait" } else { "\n\r  x wait" });
            assert!(screen.text().contains("wait"));
            screen.write_lines(&Drawn { width: 8, column }.gone(20));
            screen.write_lines("!");
            assert_eq!(screen.text().trim_end(), format!("{before}!"));
        }
    }

    #[test]
    fn where_nobody_watches_there_is_no_line() {
        let spinner = Spinner::default();
        spinner.wait_for("model".to_owned(), 0);
        spinner.hide();
        assert!(!spinner.has_interjected());
    }
}
