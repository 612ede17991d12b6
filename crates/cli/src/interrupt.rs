//! Ctrl-C: once pauses a run after the call in hand, twice stops it now. Either way nothing is lost.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use crewagent_engine::control::Control;

use crate::terminal;
use crate::terminal::spinner::Spinner;

/// From here on Ctrl-C is a wish about this run.
pub(crate) fn watch(control: Control, spinner: Spinner) -> anyhow::Result<()> {
    let pressed = AtomicUsize::new(0);
    ctrlc::set_handler(move || match pressed.fetch_add(1, Ordering::SeqCst) {
        0 => {
            control.pause();
            spinner.pausing();
            spinner.say("Pausing after the call in hand. Press Ctrl-C again to stop now.");
        }
        1 => {
            control.stop();
            spinner.stopping();
            spinner.say("Stopping.");
        }
        // Whatever it hangs on: a run survives the death of its process.
        _ => leave(),
    })
    .context("cannot listen for Ctrl-C")
}

#[allow(clippy::exit, reason = "the third Ctrl-C means now")]
fn leave() {
    terminal::show_keys();
    std::process::exit(130);
}
