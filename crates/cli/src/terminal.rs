//! The terminal as a place to work in: a line to type on, words of the model with their form, and one line that says
//! what is waited for. Only where a person sits at it; pipes and files get plain text.

pub(crate) mod commands;
pub(crate) mod completion;
pub(crate) mod desk;
mod diff;
pub(crate) mod editor;
mod ledger;
pub(crate) mod markdown;
mod quiet;
pub(crate) mod spinner;
pub(crate) mod stage;
mod writes;

use std::io::IsTerminal as _;

use anstream::{AutoStream, ColorChoice};

pub(crate) use self::quiet::{Quiet, show_keys};

/// Whether lines on the screen may be replaced: a person watches, and the terminal knows how to. `NO_COLOR` and
/// `TERM=dumb` say that it does not.
pub(crate) fn is_live() -> bool {
    std::io::stdout().is_terminal() && AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// How many lines the window has.
pub(crate) fn rows() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0))
}
