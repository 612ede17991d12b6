//! The interactive terminal: an input line, formatted Markdown, and a status line. Pipes and files get plain text.

pub(crate) mod commands;
pub(crate) mod completion;
mod diff;
pub(crate) mod editor;
mod ledger;
pub(crate) mod live_view;
pub(crate) mod markdown;
pub(crate) mod prompt;
mod quiet;
pub(crate) mod spinner;
mod writes;

use std::io::IsTerminal as _;

use anstream::{AutoStream, ColorChoice};

pub(crate) use self::quiet::{Quiet, show_keys};

/// Returns true if lines on the screen may be replaced: standard output is a terminal, and neither `NO_COLOR` nor
/// `TERM=dumb` is set.
pub(crate) fn is_live() -> bool {
    std::io::stdout().is_terminal() && AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Returns the number of rows of the window.
pub(crate) fn rows() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0))
}
