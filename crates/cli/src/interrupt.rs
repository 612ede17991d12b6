//! Ctrl-C: once pauses a run after the call in hand, twice stops it now. Either way nothing is lost.

use std::io::Write as _;

use anyhow::Context as _;
use crewagent_engine::control::{Control, Wish};

/// From here on Ctrl-C is a wish about this run.
pub(crate) fn watch(control: Control) -> anyhow::Result<()> {
    ctrlc::set_handler(move || match control.wish() {
        Wish::Run => {
            control.pause();
            say("Pausing after the call in hand. Press Ctrl-C again to stop now.");
        }
        Wish::Pause => {
            control.stop();
            say("Stopping.");
        }
        // Whatever it hangs on: a run survives the death of its process.
        Wish::Stop => leave(),
    })
    .context("cannot listen for Ctrl-C")
}

#[allow(clippy::exit, reason = "the third Ctrl-C means now")]
fn leave() {
    std::process::exit(130);
}

/// Straight to standard error: the console belongs to another thread.
fn say(words: &str) {
    let _ = writeln!(std::io::stderr(), "\n{words}");
}
